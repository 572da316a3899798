/**
 * What a follower of one conversation reads, each time on one snapshot (`spec/live-turns.md` 7.3): where the conversation stands at
 * first, and from then on only what moved.
 */
import { idList, type StoreConnection } from './connection.ts';
import { type RowCopy, rowCopies } from './live-copies.ts';
import { type DelegatesProbe, type DelegatesReading, readDelegates } from './live-delegates.ts';
import {
  type LiveRow,
  NO_DIGEST,
  type RowPrint,
  type RowsDigest,
  rowCounts,
  rowDigests,
  rowPrints,
  rowsAfter,
  rowsOf,
  tailOf,
  youngPrints,
} from './live-rows.ts';
import { ancestorsOf, continuationsOf, type LiveSession, sessionsById } from './live-segments.ts';
import { type Hold, holds } from './liveness.ts';

export interface BaselineProbe {
  readonly kind: 'BASELINE';
  /** Any session of the conversation; what came before it is read too. */
  readonly sessionId: string;
  /** Whether what continues it is read too. */
  readonly followContinuations: boolean;
  /** Only rows up to this id are looked at; null: all. */
  readonly upTo: string | null;
  /** Null: delegates are not looked at. */
  readonly delegates: DelegatesProbe | null;
}

export interface PassProbe {
  readonly kind: 'PASS';
  /** The session that was asked for; looked for while no segment is known. */
  readonly sessionId: string;
  /** Root first, each with the digest of its rows up to `after`. */
  readonly segments: readonly KnownSegment[];
  readonly after: string;
  /** Look for a continuation of the last segment. */
  readonly continuations: boolean;
  /** Compare the lengths of all rows and the hashes of young ones, in every segment; else the counts of the last one. */
  readonly thorough: boolean;
  readonly delegates: DelegatesProbe | null;
  /** Rows that came back from being hidden, as far as a first try has found: their copies are wanted. */
  readonly back: readonly string[];
  /** The stamp of the reading before: when nothing was committed since, the answer is null. */
  readonly stamp: string | null;
}

export interface KnownSegment {
  readonly sessionId: string;
  readonly digest: RowsDigest;
}

export interface SegmentReading {
  readonly session: LiveSession;
  /** Not among the segments of the probe. */
  readonly isNew: boolean;
  /** Every row as it is now; null when nothing says that rows up to `after` were touched. */
  readonly prints: readonly RowPrint[] | null;
}

export interface RowsReading {
  /** Names the state of the store; equal stamps mean that nothing was committed in between. */
  readonly stamp: string;
  /** Names the file. */
  readonly generation: string;
  /** Epoch seconds by this machine's clock. */
  readonly at: number;
  /** The highest row id that the store ever gave. */
  readonly highestRowId: string;
  /** Of a pass only those that were looked at. Root first. */
  readonly segments: readonly SegmentReading[];
  /** Segments of the probe whose session isn't there any more. */
  readonly gone: readonly string[];
  /** Of a pass: rows with ids above `after`, and all rows of new segments, in id order. Of a baseline: the end of the last segment. */
  readonly rows: readonly LiveRow[];
  /** There are more; the rest comes with the next pass. */
  readonly more: boolean;
  readonly copies: readonly RowCopy[];
  /** Of a thorough pass: rows of the last minute. */
  readonly young: readonly RowPrint[];
  /** The newest time of a row of the last segment; of a baseline only. */
  readonly newestAt: number | null;
  readonly lease: Hold | null;
  /** The store has leases at all. */
  readonly keepsLeases: boolean;
  /** Compression locks of the segments. */
  readonly locks: readonly Hold[];
  readonly delegates: DelegatesReading | null;
}

const MOST_ROWS = 500;
/** When rows were rewritten, everything new is needed to tell how. */
const MOST_REWRITTEN_ROWS = 100_000;
const YOUNG_SECONDS = 60;

/** Null when nothing was committed since the probe's stamp. */
export function readRows(
  connection: StoreConnection,
  probe: BaselineProbe | PassProbe,
  now: number,
  generation: string,
): RowsReading | null {
  // Read before the snapshot: a commit in between makes the next pass look again for nothing, never miss anything.
  const stamp = stampOf(connection);
  if (probe.kind === 'PASS' && probe.stamp === stamp) return null;
  return connection.snapshot(() => ({
    stamp,
    generation,
    at: now,
    ...(probe.kind === 'PASS' ? readPass(connection, probe, now) : readBaseline(connection, probe, now)),
  }));
}

type Contents = Omit<RowsReading, 'stamp' | 'generation' | 'at'>;

function readBaseline(connection: StoreConnection, probe: BaselineProbe, now: number): Contents {
  const before = ancestorsOf(connection, probe.sessionId);
  const last = before.at(-1);
  const sessions =
    probe.followContinuations && last !== undefined ? [...before, ...continuationsOf(connection, last, idsOf(before))] : before;
  const ids = idsOf(sessions);
  const tip = ids.at(-1);
  const highestRowId = highestRow(connection);
  const prints = rowPrints(connection, ids, now - YOUNG_SECONDS);
  const upTo = probe.upTo ?? highestRowId;
  return {
    highestRowId,
    segments: sessions.map((session) => ({ session, isNew: true, prints: prints.get(session.id) ?? [] })),
    gone: [],
    rows: tip === undefined ? [] : tailOf(connection, tip, upTo, now - YOUNG_SECONDS),
    more: false,
    copies: [],
    young: [],
    newestAt: tip === undefined ? null : newestTime(connection, tip, upTo),
    ...coordination(connection, ids, now),
    delegates: probe.delegates === null ? null : readDelegates(connection, ids, probe.delegates),
  };
}

function readPass(connection: StoreConnection, probe: PassProbe, now: number): Contents {
  const youngSince = now - YOUNG_SECONDS;
  const known = probe.segments.map(({ sessionId }) => sessionId);
  const first = rowsAfter(connection, known, probe.after, MOST_ROWS + 1, youngSince);
  // The archived twin of a pruned row, and the summary of a compaction, say that older rows were changed with them.
  const telling = new Set(first.filter(({ live, summary }) => !live || summary).map(({ sessionId }) => sessionId));
  const looked = known.filter((id, index) => probe.thorough || index === known.length - 1 || telling.has(id));
  const sessions = sessionsById(connection, looked);
  const present = looked.flatMap((id) => sessions.get(id) ?? []);
  const fresh = newSegments(connection, probe, sessions);
  const freshIds = idsOf(fresh);
  const ids = [...known, ...freshIds];
  const touched = new Set([...touchedSegments(connection, probe, present), ...telling]);
  const prints = rowPrints(connection, [...touched, ...freshIds], youngSince);
  const limit = prints.size > 0 ? MOST_REWRITTEN_ROWS : MOST_ROWS;
  const appended = first.length > MOST_ROWS && limit > MOST_ROWS ? rowsAfter(connection, known, probe.after, limit + 1, youngSince) : first;
  const rows = [...appended.slice(0, limit), ...rowsOf(connection, freshIds, youngSince)];
  const rowIds = rows.map(({ rowId }) => rowId);
  return {
    highestRowId: highestRow(connection),
    segments: [
      ...present.map((session) => ({ session, isNew: false, prints: prints.get(session.id) ?? null })),
      ...fresh.map((session) => ({ session, isNew: true, prints: prints.get(session.id) ?? [] })),
    ],
    gone: looked.filter((id) => !sessions.has(id)),
    rows,
    more: appended.length > limit,
    copies: rowCopies(connection, ids, rowIds, probe.back),
    young: probe.thorough ? youngPrints(connection, known, youngSince) : [],
    newestAt: null,
    ...coordination(connection, ids, now),
    delegates: probe.delegates === null ? null : readDelegates(connection, ids, probe.delegates),
  };
}

/** What continues the last segment; the session itself while there was none. */
function newSegments(connection: StoreConnection, probe: PassProbe, sessions: ReadonlyMap<string, LiveSession>): LiveSession[] {
  const last = probe.segments.at(-1);
  if (last === undefined) return [...sessionsById(connection, [probe.sessionId]).values()];
  const session = sessions.get(last.sessionId);
  const known = probe.segments.map(({ sessionId }) => sessionId);
  return session === undefined || !probe.continuations ? [] : continuationsOf(connection, session, known);
}

/** Segments of which rows up to `after` changed, as far as the counts or, in a thorough pass, the lengths tell. */
function touchedSegments(connection: StoreConnection, probe: PassProbe, present: readonly LiveSession[]): string[] {
  const ids = idsOf(present);
  const expected = new Map(probe.segments.map(({ sessionId, digest }) => [sessionId, digest]));
  if (!probe.thorough) {
    const counts = rowCounts(connection, ids, probe.after);
    return ids.filter((id) => {
      const [before, now] = [expected.get(id) ?? NO_DIGEST, counts.get(id) ?? NO_DIGEST];
      return before.rows !== now.rows || before.live !== now.live || before.liveMarks !== now.liveMarks;
    });
  }
  const digests = rowDigests(connection, ids, probe.after);
  return ids.filter((id) => !isSameDigest(expected.get(id) ?? NO_DIGEST, digests.get(id) ?? NO_DIGEST));
}

export function isSameDigest(a: RowsDigest, b: RowsDigest): boolean {
  return (
    a.rows === b.rows &&
    a.live === b.live &&
    a.archived === b.archived &&
    a.liveMarks === b.liveMarks &&
    a.archivedMarks === b.archivedMarks &&
    a.contentBytes === b.contentBytes &&
    a.callsBytes === b.callsBytes &&
    a.displayBytes === b.displayBytes
  );
}

/** The turn lease of the conversation, which lies at its root, and the compression locks of its segments (6.2). */
function coordination(connection: StoreConnection, ids: readonly string[], now: number): Pick<Contents, 'lease' | 'keepsLeases' | 'locks'> {
  const held = (table: string, key: string, wanted: readonly string[]) =>
    connection.all(`SELECT ${key} AS key, holder, acquired_at, expires_at FROM ${table} WHERE ${key} IN (SELECT value FROM json_each(?))`, [
      idList(wanted),
    ]);
  const keepsLeases = connection.shape.hasTable('session_turn_leases');
  const keepsLocks = connection.shape.hasTable('compression_locks');
  const leases = keepsLeases ? held('session_turn_leases', 'conversation_id', ids.slice(0, 1)) : [];
  const locks = keepsLocks ? held('compression_locks', 'session_id', ids) : [];
  return {
    lease: [...holds(leases, (expiresAt) => expiresAt > now).values()][0] ?? null,
    keepsLeases,
    locks: [...holds(locks, (expiresAt) => expiresAt >= now).values()],
  };
}

/** Ids are given once: the table's counter knows the highest one even when its row is gone. */
function highestRow(connection: StoreConnection): string {
  const largest = BigInt(String(connection.get('SELECT CAST(MAX(id) AS TEXT) AS id FROM messages')?.id ?? 0));
  if (!connection.shape.hasTable('sqlite_sequence')) return String(largest);
  const given = connection.get("SELECT CAST(seq AS TEXT) AS seq FROM sqlite_sequence WHERE name = 'messages'")?.seq;
  const counter = typeof given === 'string' && /^\d+$/.test(given) ? BigInt(given) : 0n;
  return String(counter > largest ? counter : largest);
}

function newestTime(connection: StoreConnection, sessionId: string, upTo: string): number | null {
  const row = connection.get(
    `SELECT MAX(m.timestamp) AS newest FROM messages m WHERE m.session_id = ? AND m.timestamp BETWEEN 0.0 AND 4200000000.0 AND +m.id <= ?`,
    [sessionId, BigInt(upTo)],
  );
  return typeof row?.newest === 'number' ? row.newest : null;
}

function idsOf(sessions: readonly LiveSession[]): string[] {
  return sessions.map(({ id }) => id);
}

const connections = new WeakMap<StoreConnection, number>();
let lastConnection = 0;

/** `data_version` compares on one connection only, so the connection belongs to the name. */
export function stampOf(connection: StoreConnection): string {
  const known = connections.get(connection) ?? ++lastConnection;
  connections.set(connection, known);
  return `${known}.${connection.dataVersion()}`;
}
