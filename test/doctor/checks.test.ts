/** Every finding of the doctor, with the damage that it is about (`field-cases` D to K; `spec/webui-sidecars.md` 7; `spec/webui-recovery.md` 11). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { CODES, type CodeName } from '../../src/doctor/catalogue.ts';
import { machineCheck } from '../../src/doctor/checks/machine.ts';
import { examine } from '../../src/doctor/examine.ts';
import type { StoreHealth } from '../../src/errors.ts';
import { SidecarUnreadable } from '../../src/web-ui/sidecar-file.ts';
import { examined, sourcesOf, told } from '../support/doctor.ts';
import { buildStore, S } from '../support/stores.ts';
import { DAMAGES, healthyHome } from './damages.ts';

/** Those that the tests below reach, since they need another process, disk or user. */
const ELSEWHERE: readonly CodeName[] = [
  'STORE_BUSY',
  'STORE_REPLACED',
  'STORE_WAL_LOST',
  'SIDECAR_UNREADABLE',
  'FILES_UNLISTABLE',
  'DISK_FULL',
  'FLOCK_MISSING',
  'CHECK_FAILED',
];

describe('the doctor', () => {
  it('finds nothing in a home in which nothing is wrong', async () => {
    const report = await examined(healthyHome(), { deep: true });
    expect(told(report)).toEqual([]);
    expect(report).toMatchObject({ healthy: true, deep: true, profile: 'default' });
    expect(report.checks.every(({ state }) => state === 'DONE')).toBe(true);
  });

  it.each(DAMAGES.map((damage) => [damage.code, damage.subject ?? 'the whole', damage] as const))(
    'says %s of %s',
    async (_, __, damage) => {
      const deep = damage.deep === true;
      const home = damage.make();
      const { findings, healthy } = await examined(home, { deep });
      expect(findings).toContainEqual(expect.objectContaining({ code: damage.code, subject: damage.subject }));
      expect(healthy).toBe(findings.every(({ severity }) => severity === 'INFO'));
      if (deep)
        expect((await examined(home)).findings).not.toContainEqual(expect.objectContaining({ code: damage.code, subject: damage.subject }));
    },
  );

  it('has a damage for every code', () => {
    expect([...new Set([...DAMAGES.map(({ code }) => code), ...ELSEWHERE])].sort()).toEqual([...CODES].sort());
  });

  it('says STORE_BUSY while another program holds the store locked', async () => {
    const path = buildStore({ rows: [S('a')], journal: 'delete' });
    const other = new Database(path);
    other.exec('BEGIN EXCLUSIVE');
    try {
      expect(told(await examined(join(path, '..')))).toEqual(['STORE_BUSY']);
    } finally {
      other.close();
    }
  });

  it.each([
    ['REPLACED', 'STORE_REPLACED'],
    ['WAL_GENERATION_LOST', 'STORE_WAL_LOST'],
  ] as const)('says of a store that is %s: %s', async (health: StoreHealth, code) => {
    const sources = sourcesOf(healthyHome());
    const status = async () => ({ ...(await sources.store.status()), health });
    expect(told(await examine({ ...sources, status }, { budgetMs: 30_000 }))).toContain(code);
  });

  it('says what files the system refuses', async () => {
    const sources = sourcesOf(healthyHome());
    const files = await sources.webUi();
    const row = files?.own.get('ok');
    if (files === null || row === undefined) throw new Error('there is no such file');
    const webUi = async () => ({ ...files, own: new Map([['ok', { ...row, health: 'UNREADABLE' as const }]]) });
    expect(told(await examine({ ...sources, webUi }, { budgetMs: 30_000 }))).toEqual(['SIDECAR_UNREADABLE ok']);
    const refused = () => Promise.reject(new SidecarUnreadable(Object.assign(new Error('no'), { code: 'EACCES' })));
    expect(told(await examine({ ...sources, webUi: refused }, { budgetMs: 30_000 }))).toEqual(['FILES_UNLISTABLE']);
  });

  it('says what is missing on the machine', async () => {
    const home = healthyHome();
    const full = { volume: () => ({ free: 1024, total: 1e12 }), programs: () => '' };
    const { findings } = await examined(home, {}, { checks: [machineCheck(full)] });
    expect(findings.map(({ code }) => code)).toEqual(['DISK_FULL', 'FLOCK_MISSING']);
  });

  it('goes on when a check fails or takes too long, and says which', async () => {
    const errors: unknown[] = [];
    const broken = { name: 'broken', area: 'ROWS', run: () => Promise.reject(new Error('secret /path')) } as const;
    const slow = { name: 'slow', area: 'FILES', run: () => new Promise<never>(() => {}) } as const;
    const fine = { name: 'fine', area: 'FILES', run: async () => [] } as const;
    const report = await examined(
      healthyHome(),
      {},
      { checks: [broken, slow, fine], budgetMs: 20, onError: (...args) => errors.push(args) },
    );
    expect(report.checks.map(({ name, state }) => [name, state])).toEqual([
      ['broken', 'FAILED'],
      ['slow', 'TIMED_OUT'],
      ['fine', 'DONE'],
    ]);
    expect(report.findings).toMatchObject([
      { code: 'CHECK_FAILED', severity: 'WARNING', subject: 'broken' },
      { code: 'CHECK_FAILED', severity: 'WARNING', subject: 'slow' },
    ]);
    expect(JSON.stringify(report)).not.toContain('secret');
    expect(errors).toMatchObject([['broken', { message: 'secret /path' }]]);
  });

  it('skips what a store that can not be read can not tell, and looks at the files all the same', async () => {
    const home = healthyHome({ torn: '{' });
    const sources = sourcesOf(home);
    const report = await examine(sourcesOf(home), { budgetMs: 30_000 });
    expect(told(report)).toEqual(['SIDECAR_CORRUPT torn']);
    expect(readFileSync(sources.storePath).length).toBeGreaterThan(0);
  });
});
