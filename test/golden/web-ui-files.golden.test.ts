/** The Web UI's index, projects, tombstones and audit against upstream's functions; other parts of these golden files are compared elsewhere. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { inspectBackup, restoreBackup } from '../../src/web-ui/backup.ts';
import { rebuildIndex } from '../../src/web-ui/index-file/rebuild-index.ts';
import { migrateProjects, readProjects } from '../../src/web-ui/projects/projects-file.ts';
import { auditRecovery } from '../../src/web-ui/recovery-audit.ts';
import { SidecarCatalogue } from '../../src/web-ui/sidecar/sidecar-catalogue.ts';
import { readTombstones } from '../../src/web-ui/tombstones.ts';
import { goldenDifference, loadGolden } from '../support/golden.ts';
import { openWebUiHome, type WebUiHome } from './session-files.ts';

type Fields = Readonly<Record<string, unknown>>;

const STORE = 'webui-home';
/** Its file says another id, under which upstream lists it. */
const MISNAMED = { stem: 'mw_mismatched_id', inner: 'mw_other_id' };

let home: WebUiHome;
beforeEach(() => {
  home = openWebUiHome(STORE);
});
afterEach(() => home.close());

function goldenCases(file: string, name: string) {
  const cases = loadGolden(STORE, file).cases.filter((golden) => golden.function === name);
  expect(cases.length, name).toBeGreaterThan(0);
  return cases;
}

it('an index built anew has upstream\u2019s rows, the misnamed file under its own name, partial answers counted once', async () => {
  const [golden] = goldenCases('all_sessions', '_write_session_index');
  await rebuildIndex(home.sessionsDir);
  const rows = JSON.parse(readFileSync(join(home.sessionsDir, '_index.json'), 'utf8')) as Fields[];
  const theirs = ((golden?.result ?? []) as Fields[]).map((row) => ({
    ...row,
    session_id: row.session_id === MISNAMED.inner ? MISNAMED.stem : row.session_id,
    message_count: row.session_id === 'mw_dup_partials' ? 3 : row.message_count,
  }));
  const byId = (list: readonly Fields[]) => Object.fromEntries(list.map((row) => [String(row.session_id), row]));
  expect(goldenDifference(byId(rows), byId(theirs))).toBeNull();
  const times = (list: readonly Fields[]) => list.map((row) => row.updated_at);
  expect(times(rows)).toEqual(times(theirs));
});

it('projects are upstream\u2019s once their owners are written', async () => {
  const [golden] = goldenCases('all_sessions', 'load_projects');
  const { rows } = await new SidecarCatalogue({ sessionsDir: home.sessionsDir }).snapshot();
  expect((await readProjects(home.stateDir)).projects.map(({ profile }) => profile)).toEqual(['default', null]);
  expect(await migrateProjects(home.stateDir, [...rows.values()])).toBe(1);
  expect(goldenDifference(JSON.parse(readFileSync(join(home.stateDir, 'projects.json'), 'utf8')), golden?.result)).toBeNull();
});

it.each([
  ['_load_webui_deleted_session_tombstone', 'DELETED'],
  ['_load_webui_zero_message_orphan_tombstone', 'ORPHAN'],
] as const)('tombstones are upstream\u2019s: %s', async (name, kind) => {
  const [golden] = goldenCases('all_sessions', name);
  expect([...(await readTombstones(home.sessionsDir, kind)).ids]).toEqual(golden?.result);
});

it('the advice on every backup is upstream\u2019s', async () => {
  for (const { args, result } of goldenCases('recovery_ops', 'inspect_session_recovery_status')) {
    const sid = String(args.sid);
    const found = await inspectBackup(home.sessionsDir, sid);
    const ours = {
      session_id: sid,
      live_messages: found?.liveMessages,
      bak_messages: found?.backupMessages,
      recommend: found?.recommendation.toLowerCase(),
    };
    expect(goldenDifference(ours, result), sid).toBeNull();
  }
});

it('a restore gives upstream\u2019s session, and none is restored without a backup', async () => {
  for (const { args, result } of goldenCases('recovery_ops', 'recover_session')) {
    const sid = String(args.sid);
    const { restored, before, messages } = await restoreBackup(home.sessionsDir, sid);
    const returned = {
      session_id: sid,
      live_messages: before.liveMessages,
      bak_messages: before.backupMessages,
      recommend: before.recommendation.toLowerCase(),
      restored,
    };
    expect(goldenDifference({ returned, message_count: messages }, result)).toBeNull();
  }
});

it('the audit finds what upstream finds', async () => {
  const [golden] = goldenCases('recovery_ops', 'audit_session_recovery');
  const webUiSessions = new Map([
    ['mw_dbonly_webui', 8],
    ['mw_dbonly_webui_deleted', 4],
  ]);
  const audit = await auditRecovery(home.sessionsDir, { webUiSessions, has: (id) => webUiSessions.has(id) });
  const ours = {
    status: audit.status.toLowerCase(),
    summary: { ok: audit.liveSidecars, repairable: audit.repairable, unsafe_to_repair: audit.unsafeToRepair },
    items: audit.items.map((item) => ({
      session_id: item.sessionId,
      kind: item.kind.toLowerCase(),
      category: item.category.toLowerCase(),
      recommendation: item.recommendation.toLowerCase(),
      live_messages: item.liveMessages,
      bak_messages: item.backupMessages,
      turn_id: item.turnId ?? undefined,
      event: item.event ?? undefined,
    })),
  };
  const sorted = (items: readonly Fields[]) =>
    [...items].sort((a, b) => JSON.stringify([a.kind, a.session_id]).localeCompare(JSON.stringify([b.kind, b.session_id])));
  const theirs = golden?.result as { items: readonly Fields[] };
  expect(goldenDifference({ ...ours, items: sorted(ours.items) }, { ...theirs, items: sorted(theirs.items) })).toBeNull();
});
