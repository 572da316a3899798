/**
 * What must hold after a race, checked with a connection of its own once everybody is done.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import type { Acknowledged } from './race-client.ts';
import { LOGS, PRUNED, REWRITTEN, ROTATING, UNDONE } from './race-writers.ts';
import { storeFaults } from './store-faults.ts';

interface StoredRow {
  readonly id: number;
  readonly sessionId: string;
  readonly uid: string;
  readonly content: string;
  readonly active: number;
  readonly compacted: number;
}

const ROWS = `SELECT id, session_id AS sessionId, message_uid AS uid, content, active, compacted FROM messages ORDER BY id`;
/** Where a message that waits may be given up, because what it was said to is not there any more. */
const FORGETFUL: ReadonlySet<string> = new Set(UNDONE);

/** Everything that is wrong, in words. */
export function raceFindings(path: string, clients: readonly (readonly Acknowledged[])[]): string[] {
  const db = new Database(path, { readonly: true });
  try {
    const rows = db.prepare<[], StoredRow>(ROWS).all();
    const ids = db.prepare<[], string>('SELECT id FROM sessions').pluck().all();
    const held = ['session_turn_leases', 'compression_locks'].filter((table) => db.prepare(`SELECT 1 FROM ${table}`).get() !== undefined);
    const known = new Set(ids);
    return [
      ...storeFaults(path, ids),
      ...held.map((table) => `${table} is not empty`),
      ...rows.flatMap(({ id, sessionId }) => (known.has(sessionId) ? [] : [`row ${id} is of the session ${sessionId}, which is gone`])),
      ...repeatedUids(rows),
      ...clients.flatMap((acknowledged) => missing(rows, acknowledged, known)),
      ...waitingFiles(path, known),
    ];
  } finally {
    db.close();
  }
}

/** Copies of a message in another segment, or archived twins of it, carry its uid; beside those a uid is on one row. */
function repeatedUids(rows: readonly StoredRow[]): string[] {
  const seen = new Map<string, StoredRow>();
  return rows.flatMap((row) => {
    if (row.compacted === 1) return [];
    const before = seen.get(row.uid);
    seen.set(row.uid, row);
    return before === undefined ? [] : [`rows ${before.id} and ${row.id} are both ${row.uid}: ${row.content}`];
  });
}

function missing(rows: readonly StoredRow[], acknowledged: readonly Acknowledged[], sessions: ReadonlySet<string>): string[] {
  const byUid = new Map(rows.filter(({ compacted }) => compacted === 0).map((row) => [row.uid, row]));
  const lasting = acknowledged.filter(
    ({ sessionId, status }) => sessions.has(sessionId) && sessionId !== REWRITTEN && !(status === 'QUEUED' && FORGETFUL.has(sessionId)),
  );
  const last = new Map<string, number>();
  return lasting.flatMap(({ client, sessionId, messageUid, content, status }) => {
    const row = byUid.get(messageUid);
    if (row === undefined) return [`${client} was told ${status} of "${content}" in ${sessionId}, which is not there`];
    const before = last.get(sessionId) ?? 0;
    last.set(sessionId, row.id);
    const isElsewhere = row.sessionId !== sessionId && !(sessionId === ROTATING && row.sessionId.startsWith(`${ROTATING}-`));
    const isChanged = sessionId !== PRUNED && !FORGETFUL.has(sessionId) && row.content !== content;
    return [
      ...(isElsewhere ? [`"${content}" is in ${row.sessionId} instead of ${sessionId}`] : []),
      ...(isChanged ? [`"${content}" became "${row.content}"`] : []),
      ...(row.active !== 1 && LOGS.some((id) => id === sessionId) ? [`"${content}" is not live in ${sessionId}`] : []),
      ...(row.id < before
        ? [`"${content}" (row ${row.id}) came before an earlier message of ${client} (row ${before}) in ${sessionId}`]
        : []),
    ];
  });
}

/** Files that wait for a session which is there: a drain takes them all. */
function waitingFiles(path: string, sessions: ReadonlySet<string>): string[] {
  const folder = join(dirname(path), 'pending_messages');
  return readdirSync(dirname(path)).includes('pending_messages')
    ? readdirSync(folder)
        .filter((name) => name.endsWith('.json') || name.includes('.claim-'))
        .flatMap((name) => {
          const { session_key: sessionId } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { session_key: string };
          return sessions.has(sessionId) ? [`the spool has ${name} for ${sessionId}`] : [];
        })
    : [];
}
