/**
 * The doctor over a copy of the home that the Web UI itself wrote: every finding, and no other. And what it costs: a quick look parses no
 * transcript, whatever the number of files.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { examine } from '../../src/doctor/examine.ts';
import { parseSidecar } from '../../src/web-ui/sidecar/parse-sidecar.ts';
import { examined, sourcesOf, told } from '../support/doctor.ts';
import { sidecarText } from '../support/sidecars.ts';
import { healthyHome, webUiFixture } from './damages.ts';

vi.mock('../../src/web-ui/sidecar/parse-sidecar.ts', { spy: true });
afterEach(() => vi.clearAllMocks());

/** The clock of the fixture: 20 s after `mw_fresh_pending` was sent. */
const NOW = 1_782_002_232;

const QUICK = [
  'SIDECAR_CORRUPT mw_damaged',
  'SIDECAR_CORRUPT mw_damaged_empty',
  'SIDECAR_CORRUPT mw_damaged_list',
  'SIDECAR_CORRUPT mw_damaged_nul',
  'BACKUP_HAS_MORE mw_shrunk',
  'SESSION_INDEX_LACKS mw_legacy',
  'SESSION_INDEX_LACKS mw_legacy_scenes',
  'SESSION_INDEX_LACKS mw_mismatched_id',
  'SIDECAR_BEHIND_STORE mw_db_newer_stuck',
  'SIDECAR_ID_MISMATCH mw_mismatched_id',
  'SIDECAR_MISSING mw_dbonly_webui',
  'STALE_PENDING_TURN mw_stale_apperror',
  'STALE_PENDING_TURN mw_stale_cancel',
  'STALE_PENDING_TURN mw_stale_checkpointed',
  'STALE_PENDING_TURN mw_stale_completed',
  'STALE_PENDING_TURN mw_stale_core',
  'STALE_PENDING_TURN mw_stale_empty',
  'STALE_PENDING_TURN mw_stale_partial',
  'PENDING_TURN_CONTINUED mw_parent_plain',
  'PENDING_TURN_CONTINUED mw_parent_snapshot',
  'SESSION_INDEX_BEHIND mw_db_newer_idle',
];

const DEEP = [
  'JOURNAL_RETRY_WAITING mw_retry_old',
  'JOURNAL_RETRY_WAITING mw_retry_ready',
  'JOURNAL_RETRY_WAITING mw_retry_useless',
  'JOURNAL_RETRY_WAITING mw_retry_waiting',
  'JOURNAL_MALFORMED mw_stale_partial/stream-torn',
  'JOURNAL_WITHOUT_END mw_retry_ready/stream-rr',
  'JOURNAL_WITHOUT_END mw_stale_core/stream-stale_core',
  'JOURNAL_WITHOUT_END mw_stale_partial/stream-stale_partial',
  'JOURNAL_WITHOUT_END mw_stale_partial/stream-torn',
  'TURN_JOURNAL_MALFORMED mw_stale_partial',
  'TURN_NOT_ENDED mw_stale_partial',
];

describe('a home that the Web UI wrote', () => {
  it('has these findings at a quick look', async () => {
    const report = await examined(webUiFixture(), { now: NOW });
    expect(told(report)).toEqual(QUICK);
    expect(report.checks.filter(({ state }) => state === 'SKIPPED').map(({ name }) => name)).toEqual([
      'all-rows',
      'whole-session-files',
      'run-journals',
      'turn-journals',
    ]);
  });

  it('has these more at a deep look', async () => {
    const report = await examined(webUiFixture(), { now: NOW, deep: true });
    expect([...told(report)].sort()).toEqual([...QUICK, ...DEEP].sort());
  });

  it('takes a turn for left behind once its 30 seconds are over and nobody runs it', async () => {
    const fresh = 'STALE_PENDING_TURN mw_fresh_pending';
    expect(told(await examined(webUiFixture(), { now: NOW + 5 }))).not.toContain(fresh);
    expect(told(await examined(webUiFixture(), { now: NOW + 600 }))).toContain(fresh);
  });

  it('reads the same bytes before and after', async () => {
    const home = webUiFixture();
    const before = contents(home);
    await examined(home, { now: NOW, deep: true });
    expect(contents(home)).toEqual(before);
  });
});

/** Of every file but those that SQLite makes beside a store that is read. */
function contents(home: string): Record<string, string> {
  const files = readdirSync(home, { recursive: true, encoding: 'utf8' }).sort();
  const own = files.filter((name) => statSync(join(home, name)).isFile() && !/-(?:wal|shm)$/.test(name));
  return Object.fromEntries(own.map((name) => [name, `${statSync(join(home, name)).mtimeMs} ${readFileSync(join(home, name), 'hex')}`]));
}

describe('a home with thousands of session files', () => {
  it('is looked at quickly without parsing one of them', async () => {
    const home = healthyHome();
    const sessionsDir = join(home, 'webui', 'sessions');
    const messages = Array.from({ length: 20 }, (_, at) => ({ role: 'user', content: 'x'.repeat(2000), timestamp: at }));
    const ids = Array.from({ length: 3000 }, (_, at) => `many${at}`);
    for (const id of ids)
      writeFileSync(join(sessionsDir, `${id}.json`), sidecarText(id, { created_at: 1, workspace: '/srv/work' }, messages));
    writeFileSync(join(sessionsDir, 'ok.json'), sidecarText('ok', { created_at: 1, workspace: '/srv/work' }, messages));
    const sources = sourcesOf(home);
    const asked = vi.spyOn(sources.store, 'examineFiles');
    const report = await examine(sources, { budgetMs: 30_000 });
    expect(report.checks.every(({ state }) => state === 'DONE' || state === 'SKIPPED')).toBe(true);
    expect(parseSidecar).not.toHaveBeenCalled();
    expect(asked.mock.calls).toEqual([[expect.objectContaining({ deep: false, backups: [], sessions: [] })]]);
  });

  it('has no more findings of one kind than are read, and says how many there are', async () => {
    const home = healthyHome(Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`torn${at}`, '{'])));
    const ids = Array.from({ length: 80 }, (_, at) => ({ session_id: `ghost${at}` }));
    writeFileSync(join(home, 'webui', 'sessions', '_index.json'), JSON.stringify(ids));
    const { findings } = await examined(home);
    for (const [code, total] of [
      ['SESSION_INDEX_GHOST', 80],
      ['SIDECAR_CORRUPT', 70],
    ] as const) {
      const found = findings.filter((each) => each.code === code);
      expect([code, found.length, found.reduce((sum, { count }) => sum + count, 0)]).toEqual([code, 51, total]);
      expect(found.at(-1)).toMatchObject({ subject: null, count: total - 50 });
    }
  });
});
