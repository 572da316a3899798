/**
 * Homes with one thing wrong each, made for real, and the finding that says so. `deep`: only a deep look finds it.
 */
import {
  chmodSync,
  closeSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { CodeName } from '../../src/doctor/catalogue.ts';
import { copyStore, fixturesDir } from '../support/golden.ts';
import { type Fields, sidecarText, writeTurns } from '../support/sidecars.ts';
import { capDrop, putFile, user } from '../support/spool.ts';
import { buildStore, M, type Row, S, type StoreSpec, T, temporaryFolder } from '../support/stores.ts';

export interface Damage {
  readonly code: CodeName;
  readonly subject: string | null;
  readonly deep?: true;
  /** Gives the home. */
  readonly make: () => string;
}

/** A process id that no system gives. */
const NOBODY = 4_194_999;
const NOW = Date.now() / 1000;
const LONG_AGO = 1_780_000_000;
const MESSAGES = [
  { role: 'user', content: 'Hello', timestamp: LONG_AGO },
  { role: 'assistant', content: 'Good day', timestamp: LONG_AGO + 1 },
];

function stored(rows: readonly Row[], spec: StoreSpec = {}): string {
  const path = buildStore({ schema: 31, rows, ...spec });
  chmodSync(path, 0o600);
  return dirname(path);
}

function fixture(name: string): string {
  const home = temporaryFolder();
  const copy = copyStore(name);
  copyFileSync(copy, join(home, 'state.db'));
  return home;
}

/** A session in the store and in a file, with an index that tells of it: nothing is wrong. */
export function healthyHome(files: Readonly<Record<string, Fields | string>> = {}, rows: readonly Row[] = []): string {
  const own = [
    S('ok', { source: 'webui', message_count: 2 }),
    M('ok', { content: 'Hello' }),
    M('ok', { role: 'assistant', content: 'Good day' }),
  ];
  const home = stored([...own, ...rows]);
  const sessionsDir = join(home, 'webui', 'sessions');
  mkdirSync(sessionsDir, { recursive: true });
  chmodSync(sessionsDir, 0o700);
  const all: Record<string, Fields | string> = { ok: {}, ...files };
  for (const [id, file] of Object.entries(all)) {
    const path = join(sessionsDir, `${id}.json`);
    writeFileSync(path, typeof file === 'string' ? file : text(id, file));
    // What changed just now may be in the hands of a worker.
    utimesSync(path, LONG_AGO, LONG_AGO);
  }
  const index = Object.keys(all).map((id) => ({ session_id: id, message_count: 2, updated_at: 1_782_000_000 }));
  writeFileSync(join(sessionsDir, '_index.json'), JSON.stringify(index));
  return home;
}

function text(id: string, fields: Fields = {}, messages: readonly unknown[] = MESSAGES): string {
  return sidecarText(id, { created_at: LONG_AGO, workspace: '/srv/work', ...fields }, messages);
}

/** A healthy home with one more thing in the Web UI's folder. */
function beside(name: string, content: string | Buffer, old = false): string {
  const home = healthyHome();
  const path = join(home, 'webui', 'sessions', name);
  writeFileSync(path, content);
  if (old) utimesSync(path, LONG_AGO, LONG_AGO);
  return home;
}

/** As the README shows it. */
export function shownHome(): string {
  const torn = text('recipes').slice(0, 60);
  const home = healthyHome({ recipes: torn, 'trip-plan': pending }, [S('ledger', { message_count: 38 })]);
  writeFileSync(join(home, 'webui', 'sessions', 'recipes.json.bak'), text('recipes'));
  putFile(home, drop(LONG_AGO), ID);
  return home;
}

/** A copy of the home that the Web UI itself wrote. */
export const webUiFixture = () => {
  const home = join(temporaryFolder(), 'home');
  cpSync(join(fixturesDir(), 'stores', 'webui-home'), home, { recursive: true });
  // What changed just now may be in the hands of a worker.
  for (const name of readdirSync(home, { recursive: true, encoding: 'utf8' })) utimesSync(join(home, name), LONG_AGO, LONG_AGO);
  return home;
};

const pending = { active_stream_id: 'run-1', pending_user_message: 'and then?', pending_started_at: LONG_AGO };
const held = (pid: number, expiresAt: number) => ({ holder: `cli:pid=${pid}:turn`, acquired_at: NOW, expires_at: expiresAt });
const route = (sessionId: string) =>
  T('gateway_routing', { scope: '', session_key: 'telegram:1', entry_json: JSON.stringify({ session_id: sessionId }), updated_at: NOW });
const manifest = '.cleanup_manifest_0123456789abcdef0123456789abcdef.json';

function withManifest(content: string): string {
  const home = stored([S('a')]);
  mkdirSync(join(home, 'sessions'));
  writeFileSync(join(home, 'sessions', manifest), content);
  return home;
}

function withSpool(payload: unknown, suffix = ''): string {
  const home = stored([S('a')]);
  putFile(home, payload, ID, suffix);
  return home;
}

const ID = 'f'.repeat(32);
const drop = (ts: number) => capDrop('a', Math.trunc(ts), 1, user('kept'));

const OF_STORES: readonly Damage[] = [
  { code: 'STORE_MISSING', subject: null, make: temporaryFolder },
  { code: 'STORE_EMPTY', subject: null, make: () => inStorePlace('') },
  { code: 'STORE_NOT_A_DATABASE', subject: null, make: () => fixture('zeroed') },
  { code: 'STORE_CORRUPT', subject: null, make: () => fixture('truncated') },
  {
    code: 'STORE_SCHEMA_MALFORMED',
    subject: null,
    make: () =>
      stored([S('a')], {
        extra: (db) => {
          db.unsafeMode();
          db.pragma('writable_schema = ON');
          db.exec("INSERT INTO sqlite_master SELECT * FROM sqlite_master WHERE name = 'messages_fts'");
        },
      }),
  },
  {
    code: 'STORE_UNREADABLE',
    subject: null,
    make: () => {
      const home = temporaryFolder();
      mkdirSync(join(home, 'state.db'));
      return home;
    },
  },
  { code: 'STORE_SCHEMA_OLD', subject: null, make: () => fixture('legacy-04') },
  {
    code: 'STORE_SCHEMA_NEWER',
    subject: null,
    make: () => stored([S('a')], { extra: (db) => db.exec('ALTER TABLE sessions ADD COLUMN tomorrow') }),
  },
  {
    code: 'STORE_WAL_LARGE',
    subject: null,
    make: () => {
      const home = stored([S('a')]);
      writeFileSync(join(home, 'state.db-wal'), '');
      truncateSync(join(home, 'state.db-wal'), 200 * 1024 * 1024);
      return home;
    },
  },
  { code: 'SEARCH_INDEX_DAMAGED', subject: null, make: () => fixture('fts-damaged') },
  { code: 'SEARCH_INDEX_DAMAGED', subject: null, make: () => fixture('fts-damaged-write') },
  { code: 'SEARCH_INDEX_DAMAGED', subject: null, make: () => fixture('fts-damaged-trigram') },
  { code: 'SEARCH_INDEX_DAMAGED', subject: null, make: () => fixture('fts-damaged-latent') },
  { code: 'SEARCH_INDEX_DAMAGED', subject: null, deep: true, make: withOtherContent },
  { code: 'STORE_CORRUPT', subject: null, deep: true, make: withLostPage },
  { code: 'SEARCH_INDEX_MISSING', subject: null, make: () => stored([S('a')], { fts: 'none' }) },
  { code: 'SEARCH_INDEX_STALE', subject: null, make: () => stored([S('a')], { meta: { fts_stale: '1' } }) },
  {
    code: 'SEARCH_INDEX_REBUILDING',
    subject: null,
    make: () => stored([S('a')], { meta: { fts_rebuild_high_water: '100', fts_rebuild_progress: '10' } }),
  },
  {
    code: 'SEARCH_TRIGGERS_MISSING',
    subject: null,
    make: () => stored([S('a')], { extra: (db) => db.exec('DROP TRIGGER messages_fts_insert') }),
  },
  {
    code: 'READABLE_BY_OTHERS',
    subject: 'state.db',
    make: () => {
      const home = stored([S('a')]);
      chmodSync(join(home, 'state.db'), 0o644);
      return home;
    },
  },
];

/** The index says something else than the text that it was made from. */
function withOtherContent(): string {
  return stored([S('a'), M('a', { content: 'hello' })], {
    schema: 16,
    fts: 'I',
    extra: (db) => {
      db.unsafeMode();
      db.exec("UPDATE messages_fts_content SET c0 = 'something else'");
    },
  });
}

/** A page that only the check of all pages reads: that of an index. */
function withLostPage(): string {
  let at = 0;
  const home = stored([S('a'), M('a')], {
    extra: (db) => {
      const root =
        db.prepare<[], number>("SELECT rootpage FROM sqlite_master WHERE name = 'idx_sessions_handoff_state'").pluck().get() ?? 0;
      at = (root - 1) * Number(db.pragma('page_size', { simple: true }));
    },
  });
  const file = openSync(join(home, 'state.db'), 'r+');
  writeSync(file, Buffer.alloc(4096), 0, 4096, at);
  closeSync(file);
  return home;
}

function inStorePlace(content: string): string {
  const home = temporaryFolder();
  writeFileSync(join(home, 'state.db'), content);
  return home;
}

const OF_ROWS: readonly Damage[] = [
  { code: 'MODEL_CONFIG_INVALID', subject: 'm_bc1', make: () => fixture('badconfig') },
  { code: 'PARENT_MISSING', subject: 'm_parent_missing', make: () => fixture('hostile') },
  { code: 'PARENT_CYCLE', subject: 'm_cycle_a', make: () => fixture('hostile') },
  { code: 'PARENT_CYCLE', subject: 'm_self_parent', make: () => fixture('hostile') },
  { code: 'MESSAGES_WITHOUT_SESSION', subject: null, make: () => fixture('hostile') },
  { code: 'SESSION_TIME_UNUSABLE', subject: null, make: () => fixture('hostile') },
  { code: 'TEXT_NOT_UTF8', subject: 'm_surrogate', deep: true, make: () => fixture('hostile') },
  { code: 'MESSAGE_JSON_INVALID', subject: 'm_json_bad', deep: true, make: () => fixture('hostile') },
  { code: 'COUNTERS_OFF', subject: 'm_REW', deep: true, make: () => fixture('lineage') },
  { code: 'COMPRESSION_ORPHANED', subject: 'm_E0', make: () => fixture('lineage') },
  { code: 'COMPRESSION_CHILD_EMPTY', subject: 'm_H1', make: () => fixture('lineage') },
  { code: 'DELEGATION_UNDELIVERED', subject: 'm_dlg_1', make: () => fixture('lineage') },
  { code: 'TRANSCRIPT_ROWS_MISSING', subject: 'gone', make: () => stored([S('gone', { message_count: 38 })]) },
  {
    code: 'ROUTE_TO_COMPRESSED',
    subject: 'a',
    make: () =>
      stored([
        S('a', { ended_at: 200, end_reason: 'compression' }),
        S('b', { parent_session_id: 'a', started_at: 200 }),
        M('b'),
        route('a'),
      ]),
  },
  { code: 'ROUTE_TO_MISSING', subject: 'nowhere', make: () => stored([S('a'), route('nowhere')]) },
  { code: 'LEASE_EXPIRED', subject: 'm_LEASE', make: () => fixture('lineage') },
  {
    code: 'LEASE_HOLDER_DEAD',
    subject: 'a',
    make: () => stored([S('a'), T('session_turn_leases', { conversation_id: 'a', ...held(NOBODY, NOW + 9000) })]),
  },
  { code: 'LOCK_EXPIRED', subject: 'm_E0', make: () => fixture('lineage') },
  {
    code: 'LOCK_HOLDER_DEAD',
    subject: 'a',
    make: () => stored([S('a'), T('compression_locks', { session_id: 'a', ...held(NOBODY, NOW + 9000) })]),
  },
];

const OF_FILES: readonly Damage[] = [
  { code: 'SIDECAR_CORRUPT', subject: 'torn', make: () => healthyHome({ torn: text('torn').slice(0, 60) }) },
  { code: 'SIDECAR_CORRUPT', subject: 'torn', deep: true, make: () => healthyHome({ torn: text('torn').slice(0, -80) }) },
  {
    code: 'SIDECAR_ENCODING',
    subject: 'odd',
    make: () =>
      beside('odd.json', Buffer.concat([Buffer.from('{"title": "'), Buffer.from([0xff]), Buffer.from(text('odd').replace('{', '", '))])),
  },
  {
    code: 'SIDECAR_TOO_LARGE',
    subject: 'vast',
    make: () => {
      const home = healthyHome({ vast: {} });
      truncateSync(join(home, 'webui', 'sessions', 'vast.json'), 65 * 1024 * 1024);
      return home;
    },
  },
  { code: 'SIDECAR_ID_MISMATCH', subject: 'copy', make: () => healthyHome({ copy: { session_id: 'other' } }) },
  { code: 'SIDECAR_ODD_VALUES', subject: 'odd', make: () => healthyHome({ odd: { title: 7, updated_at: 'yesterday' } }) },
  { code: 'SIDECAR_DUPLICATE', subject: 'session_ok', make: () => healthyHome({ session_ok: { session_id: 'ok' } }) },
  { code: 'FILE_IGNORED', subject: '.hidden.json', make: () => beside('.hidden.json', '{}') },
  { code: 'SIDECAR_MISSING', subject: 'lost', make: () => healthyHome({}, [S('lost', { source: 'webui' }), M('lost', { content: 'hi' })]) },
  { code: 'STORE_ORPHAN', subject: 'blank', make: () => healthyHome({}, [S('blank', { source: 'webui' })]) },
  { code: 'STALE_PENDING_TURN', subject: 'left', make: () => healthyHome({ left: pending }) },
  { code: 'STALE_PENDING_TURN', subject: 'left', make: () => healthyHome({ left: { ...pending, active_stream_id: null } }) },
  { code: 'STALE_STREAM', subject: 'left', make: () => healthyHome({ left: { ...pending, pending_user_message: null } }) },
  { code: 'PENDING_TURN_CONTINUED', subject: 'left', make: () => healthyHome({ left: pending, next: { parent_session_id: 'left' } }) },
  {
    code: 'SIDECAR_BEHIND_STORE',
    subject: 'left',
    make: () =>
      healthyHome({ left: pending }, [S('left', { source: 'webui' }), ...['a', 'b', 'c'].map((content) => M('left', { content }))]),
  },
  { code: 'SESSION_INDEX_MISSING', subject: null, make: () => indexed(null) },
  { code: 'SESSION_INDEX_CORRUPT', subject: null, make: () => indexed('{"not": "a list"}') },
  {
    code: 'SESSION_INDEX_GHOST',
    subject: 'ghost',
    make: () => indexed('[{"session_id": "ok", "message_count": 2}, {"session_id": "ghost"}]'),
  },
  { code: 'SESSION_INDEX_LACKS', subject: 'ok', make: () => indexed('[]') },
  { code: 'SESSION_INDEX_BEHIND', subject: 'ok', make: () => indexed('[{"session_id": "ok", "message_count": 1}]') },
  { code: 'SESSION_INDEX_DOUBLE', subject: 'ok', make: () => indexed('[{"session_id": "ok"}, {"session_id": "ok"}]') },
  { code: 'BACKUP_HAS_MORE', subject: 'ok', make: () => beside('ok.json.bak', text('ok', {}, [...MESSAGES, ...MESSAGES])) },
  {
    code: 'BACKUP_HAS_MORE',
    subject: 'ok',
    deep: true,
    make: () => beside('ok.json.bak', JSON.stringify({ session_id: 'ok', messages: [1, 2, 3] })),
  },
  {
    code: 'BACKUP_ORPHAN',
    subject: 'cli',
    make: () => {
      const home = healthyHome({}, [S('cli'), M('cli')]);
      writeFileSync(join(home, 'webui', 'sessions', 'cli.json.bak'), text('cli'));
      return home;
    },
  },
  { code: 'BACKUP_UNUSABLE', subject: 'stranger', make: () => beside('stranger.json.bak', text('stranger')) },
  { code: 'TOMBSTONES_NEWER', subject: 'DELETED', make: () => beside('_deleted_webui_sessions.json', '{"version": 2, "ids": []}') },
  { code: 'TOMBSTONES_UNREADABLE', subject: 'ORPHAN', make: () => beside('_pruned_webui_orphans.json', '{') },
  {
    code: 'PROJECTS_UNREADABLE',
    subject: null,
    make: () => {
      const home = healthyHome();
      writeFileSync(join(home, 'webui', 'projects.json'), '{"projects": 1');
      return home;
    },
  },
  { code: 'SESSION_DATABASE', subject: null, make: () => beside('_sessions.sqlite3', '') },
];

function indexed(content: string | null): string {
  const home = healthyHome();
  const path = join(home, 'webui', 'sessions', '_index.json');
  if (content === null) rmSync(path);
  else writeFileSync(path, content);
  return home;
}

const OF_WORK: readonly Damage[] = [
  { code: 'JOURNAL_RETRY_WAITING', subject: 'mw_retry_waiting', deep: true, make: webUiFixture },
  { code: 'JOURNAL_MALFORMED', subject: 'mw_stale_partial/stream-torn', deep: true, make: webUiFixture },
  { code: 'JOURNAL_WITHOUT_END', subject: 'mw_stale_partial/stream-stale_partial', deep: true, make: webUiFixture },
  {
    code: 'JOURNAL_ORPHAN',
    subject: 'stranger',
    make: () => {
      const home = healthyHome();
      mkdirSync(join(home, 'webui', 'sessions', '_run_journal', 'stranger'), { recursive: true });
      writeFileSync(join(home, 'webui', 'sessions', '_run_journal', 'stranger', 'run-1.jsonl'), '');
      return home;
    },
  },
  {
    code: 'TURN_NOT_ENDED',
    subject: 'ok',
    deep: true,
    make: () => {
      const home = healthyHome();
      const submitted = { event: 'submitted', turn_id: 't1', stream_id: 'run-1', created_at: LONG_AGO, terminal: false };
      writeTurns(join(home, 'webui', 'sessions'), 'ok', 1, [submitted]);
      return home;
    },
  },
  { code: 'TURN_JOURNAL_MALFORMED', subject: 'mw_stale_partial', deep: true, make: webUiFixture },
  { code: 'SPOOL_WAITING', subject: null, make: () => withSpool(drop(NOW)) },
  { code: 'SPOOL_OLD', subject: null, make: () => withSpool(drop(LONG_AGO)) },
  { code: 'SPOOL_INVALID', subject: ID, make: () => withSpool('{torn') },
  {
    code: 'SPOOL_UNREADABLE',
    subject: null,
    make: () => {
      const home = stored([S('a')]);
      writeFileSync(join(home, 'pending_messages'), '');
      return home;
    },
  },
  { code: 'SPOOL_DEAD', subject: ID, make: () => withSpool(drop(LONG_AGO), '.dead') },
  { code: 'SPOOL_SUPERSEDED', subject: null, make: () => withSpool(drop(LONG_AGO), '.superseded') },
  { code: 'TEMPORARY_FILE', subject: 'ok.tmp.1.2', make: () => beside('ok.tmp.1.2', '{}', true) },
  { code: 'RESTORE_LEFTOVER', subject: 'ok.json.recover.tmp', make: () => beside('ok.json.recover.tmp', '{}', true) },
  { code: 'CLEANUP_PENDING', subject: manifest, make: () => withManifest('["a", "b"]') },
  { code: 'CLEANUP_MALFORMED', subject: manifest, make: () => withManifest('{"a": 1}') },
];

export const DAMAGES: readonly Damage[] = [...OF_STORES, ...OF_ROWS, ...OF_FILES, ...OF_WORK];
