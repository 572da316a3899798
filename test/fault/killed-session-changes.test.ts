/**
 * Changes of sessions as a whole, killed before each of their statements and after their commit: the store is as it was or wholly changed, and a
 * repeat with the same id gives what doing it once gives (`spec/state-db-writes.md` K29, K30, K37, K38).
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, vi } from 'vitest';
import type { CommandInput, CommandName } from '../../src/writing/commands.ts';
import { changes, photograph } from '../golden/store-changes.ts';
import { commandHost } from '../support/command-host.ts';
import { copyOf, killedWrite } from '../support/killed-writer.ts';
import { someAtOnce } from '../support/program-start.ts';
import { buildStore, M, S, T } from '../support/stores.ts';

vi.setConfig({ testTimeout: 120_000 });

const ID = 'killed';
const ENDED = { ended_at: 150, end_reason: 'compression' };
const TABLES =
  "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'messages\\_fts%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY 1";

function store(): string {
  return buildStore({
    schema: 31,
    display: 'filled',
    rows: [
      T('system_prompts', { hash: 'own', prompt: 'x' }),
      S('p', { ...ENDED, title: 'Tea', session_key: 'k', system_prompt_hash: 'own' }),
      S('c', { parent_session_id: 'p', session_key: 'k', source: 'telegram' }),
      S('d', { parent_session_id: 'p', model_config: '{"_delegate_from":"p"}' }),
      S('b', { parent_session_id: 'p', model_config: '{"_branched_from":"p"}' }),
      S('idle', { ended_at: 150, end_reason: 'idle', session_key: 'i', archived: 1, auto_archived: 1 }),
      S('next', { parent_session_id: 'idle', session_key: 'i', started_at: 160 }),
      S('orphan', { ...ENDED }),
      ...['p', 'c', 'd', 'b'].flatMap((id) => [M(id, { content: `words of ${id}` }), M(id, { content: 'gone', active: 0 })]),
      T('compression_locks', { session_id: 'orphan', holder: 'h', acquired_at: 0, expires_at: 1 }),
      T('session_turn_leases', { conversation_id: 'd', holder: 'h', acquired_at: 0, expires_at: 1 }),
      T('gateway_routing', { session_key: 'k', entry_json: '{"session_id": "p"}', updated_at: 1 }),
    ],
  });
}

type Case = { readonly [K in CommandName]: { readonly command: K; readonly input: CommandInput<K> } }[CommandName];

/** Killed before their reads too; the others before whatever changes something. */
const EVERY_STATEMENT: ReadonlySet<CommandName> = new Set(['createSession', 'deleteSession', 'importSessions']);
const CREATED = {
  id: 'n',
  source: 'cli',
  model: 'm',
  parentSessionId: 'p',
  title: 'Tea',
  cwd: null,
  kind: 'ROOT',
  modelConfig: { a: 1 },
  systemPrompt: 'new',
} as const;
const IMPORTED = [
  { id: 'i1', parent_session_id: 'i2', system_prompt: 'y', messages: [{ role: 'user', content: 'hello', message_uid: 'u1' }] },
  { id: 'i2', messages: [{ role: 'user', content: 'there', timestamp: 7, message_uid: 'u2' }] },
];
const CASES: readonly Case[] = [
  { command: 'createSession', input: CREATED },
  { command: 'endSession', input: { sessionId: 'c', reason: 'session_reset' } },
  { command: 'markSessionReset', input: { sessionId: 'c', reason: 'daily' } },
  { command: 'reopenSession', input: { sessionId: 'idle', explicitCloseOnly: false, expectedEndReason: null } },
  { command: 'reopenOrphanedCompressionParent', input: { sessionId: 'orphan' } },
  { command: 'setSessionTitle', input: { sessionId: 'c', title: 'Tea', source: 'user', expected: null } },
  { command: 'setSessionArchived', input: { sessionId: 'c', archived: true, expectedCascade: null } },
  { command: 'setSessionFlags', input: { sessionId: 'c', pinned: true, hidden: true, read: true } },
  { command: 'deleteSession', input: { sessionId: 'p', scope: 'SEGMENT', expectedDeleteIds: ['p', 'd'], onlyIfEmpty: false } },
  { command: 'deleteSessions', input: { ids: ['b', 'd'], expectedDeleteIds: null } },
  { command: 'clearSession', input: { sessionId: 'c', confirm: true } },
  {
    command: 'pruneSessions',
    input: { filter: 'INACTIVE', olderThanDays: 0, source: null, closeStale: true, expectedIds: null },
  },
  {
    command: 'pruneSessions',
    input: { filter: 'GHOSTS', olderThanDays: 0, source: null, closeStale: true, expectedIds: [] },
  },
  { command: 'archiveStaleSessions', input: { idleDays: 0, expectedIds: null } },
  { command: 'healCompressionRoute', input: { sessionKey: 'k', expectedSessionId: 'p', scope: null } },
  { command: 'importSessions', input: { sessions: IMPORTED } },
];

describe.each(CASES)('$command', ({ command, input }) => {
  it('is done wholly or not at all, wherever the process dies, and once', async () => {
    const original = store();
    const before = content(original);
    const reference = copyOf(original);
    const statements: string[] = [];
    const result = await repeat(reference, command, input, (sql) => statements.push(sql));
    const after = content(reference);
    expect(after).not.toEqual(before);
    const commit = statements.indexOf('COMMIT') + 1;
    expect(commit).toBeGreaterThan(2);
    const isPoint = (sql: string) => EVERY_STATEMENT.has(command) || !sql.trimStart().startsWith('SELECT');
    const numbered = statements.slice(0, commit).flatMap((sql, index) => (isPoint(sql) ? [index + 1] : []));
    const points: (number | 'REPLY')[] = [...numbered, 'REPLY'];
    await someAtOnce(points, async (killAt) => {
      const path = copyOf(original);
      leaveFiles(path);
      await killedWrite({ path, command, input: input as never, clientMutationId: ID, killAt });
      expect(content(path), `killed at ${killAt}`).toEqual(killAt === 'REPLY' ? after : before);
      expect(isSound(original, path), `sound after ${killAt}`).toBe(true);
      expect(await repeat(path, command, input), `repeated after ${killAt}`).toEqual(result);
      expect(content(path), `repeated after ${killAt}`).toEqual(after);
      expectNoLitter(path);
    });
  });
});

async function repeat(path: string, command: CommandName, input: unknown, onStatement = (_: string) => {}): Promise<unknown> {
  const host = commandHost(path, { onStatement });
  try {
    return await host.run(command, input as never, { clientMutationId: ID });
  } finally {
    host.close();
  }
}

function leaveFiles(path: string): void {
  const folder = join(dirname(path), 'sessions');
  mkdirSync(folder);
  for (const id of ['p', 'd', 'b', 'c']) writeFileSync(join(folder, `${id}.jsonl`), '{}');
}

/** Transcripts are there for the sessions that are. */
function expectNoLitter(path: string): void {
  const db = new Database(path);
  const ids = new Set(db.prepare<[], string>('SELECT id FROM sessions').pluck().all());
  db.close();
  const there = ['p', 'd', 'b', 'c'].filter((id) => existsSync(join(dirname(path), 'sessions', `${id}.jsonl`)));
  expect(there).toEqual(['p', 'd', 'b', 'c'].filter((id) => ids.has(id)));
}

/** Every row of every table but those that SQLite and the indexes keep for themselves. */
function content(path: string): unknown {
  const db = new Database(path);
  try {
    const tables = db.prepare<[], string>(TABLES).pluck().all();
    return tables.map((name) => [name, db.prepare(`SELECT * FROM "${name}" ORDER BY 1`).all()]);
  } finally {
    db.close();
  }
}

function isSound(original: string, path: string): boolean {
  const db = new Database(path);
  const isWhole = db.pragma('integrity_check', { simple: true }) === 'ok' && (db.pragma('foreign_key_check') as unknown[]).length === 0;
  db.close();
  return isWhole && changes(photograph(original, []), photograph(path, [])).fts_integrity_ok;
}
