/**
 * Cheap answers about the rows of sessions: counts, the newest time, and what proves that a tail can be read alone
 * (`spec/webui-transcript.md` 6.3). Null means that it can't be proven, which is not zero.
 */
import { idList } from '../../state-db/connection.ts';
import type { SqlRow } from '../../state-db/decode.ts';
import type { StoreReading } from '../../state-db/store-reading.ts';
import { MessageKeys } from './message-keys.ts';
import { stateMessage } from './state-message.ts';
import { liveOnly } from './state-messages.ts';
import { withoutBytes } from './structured-content.ts';
import { finiteNumber } from './values.ts';

export interface SessionSummary {
  /** With inactive rows, as the Web UI counts. */
  readonly messageCount: number;
  /** Without (hazard H10). */
  readonly activeCount: number;
  /** Epoch seconds; 0 without rows or times. */
  readonly lastMessageAt: number;
}

export interface PrefixSummary {
  /** Live rows before the time. */
  readonly count: number;
  /** Live rows without a time. */
  readonly nullTimestampCount: number;
}

const NOTHING: SessionSummary = { messageCount: 0, activeCount: 0, lastMessageAt: 0 };

/** Summaries of many sessions in one statement; zeros for those without rows, and where the newest time is no number. */
export function sessionSummaries(store: StoreReading, sessionIds: readonly string[]): Map<string, SessionSummary> {
  const { shape } = store;
  const found = new Map(sessionIds.map((id) => [id, NOTHING]));
  if (!shape.hasColumn('messages', 'session_id')) return found;
  const newest = shape.hasColumn('messages', 'timestamp') ? 'MAX(timestamp)' : '0';
  const live = shape.hasColumn('messages', 'active') ? 'SUM(active IS NULL OR active <> 0)' : 'COUNT(*)';
  const sql = `SELECT session_id, COUNT(*) AS n, ${live} AS live, ${newest} AS newest FROM messages
    WHERE session_id IN (SELECT value FROM json_each(?)) GROUP BY session_id`;
  for (const row of store.all(sql, [idList(sessionIds)])) found.set(String(row.session_id), summaryOf(row));
  return found;
}

function summaryOf({ n, live, newest }: SqlRow): SessionSummary {
  const lastMessageAt = newest === null ? 0 : finiteNumber(withoutBytes(newest ?? null));
  return lastMessageAt === null ? NOTHING : { messageCount: Number(n), activeCount: Number(live), lastMessageAt };
}

/** Those of the ids that have a row in `sessions`, in one statement. */
export function sessionsWithRows(store: StoreReading, sessionIds: readonly string[]): Set<string> {
  const rows = store.all('SELECT id FROM sessions WHERE id IN (SELECT value FROM json_each(?))', [idList(sessionIds)]);
  return new Set(rows.map(({ id }) => String(id)));
}

/** How many live rows lie before a time (epoch seconds). Null for a time that isn't finite, a blank id or a store without times. */
export function prefixSummary(store: StoreReading, sessionId: string, before: number): PrefixSummary | null {
  return prefixSummaries(store, [sessionId], before).get(sessionId) ?? null;
}

/** The same of many sessions, in one statement; those whose prefix can't be told are missing. */
export function prefixSummaries(store: StoreReading, sessionIds: readonly string[], before: number): Map<string, PrefixSummary> {
  const { shape } = store;
  const isTellable = Number.isFinite(before) && ['session_id', 'timestamp'].every((column) => shape.hasColumn('messages', column));
  const wanted = isTellable ? sessionIds.filter((id) => id !== '') : [];
  const found = new Map(wanted.map((id) => [id, NO_PREFIX]));
  if (wanted.length === 0) return found;
  const sql = `SELECT session_id, SUM(timestamp < ?) AS earlier, SUM(timestamp IS NULL) AS timeless FROM messages
    WHERE session_id IN (SELECT value FROM json_each(?))${liveOnly(shape)} GROUP BY session_id`;
  for (const { session_id, earlier, timeless } of store.all(sql, [before, idList(wanted)])) {
    found.set(String(session_id), { count: Number(earlier ?? 0), nullTimestampCount: Number(timeless ?? 0) });
  }
  return found;
}

const NO_PREFIX: PrefixSummary = { count: 0, nullTimestampCount: 0 };
const KEY_COLUMNS = ['id', 'session_id', 'role', 'content', 'timestamp', 'tool_calls'] as const;

/**
 * The visible keys of all rows before a time, inactive ones too, by time (hazard H9: not those of `regenerationTail`). Null for a blank id,
 * NaN or a store without the columns.
 */
export function prefixKeys(store: StoreReading, sessionId: string, before: number): string[] | null {
  return prefixKeysOf(store, [sessionId], before).get(sessionId) ?? null;
}

/** The same of many sessions, in one statement; those whose keys can't be told are missing. */
export function prefixKeysOf(store: StoreReading, sessionIds: readonly string[], before: number): Map<string, string[]> {
  const { shape } = store;
  const isTellable = !Number.isNaN(before) && KEY_COLUMNS.every((column) => shape.hasColumn('messages', column));
  const found = new Map<string, string[]>(isTellable ? sessionIds.flatMap((id) => (id === '' ? [] : [[id, []]])) : []);
  if (found.size === 0) return found;
  const sql = `SELECT ${shape.selectList('messages', [...KEY_COLUMNS, 'api_content'], 'm')} FROM messages m
    WHERE m.session_id IN (SELECT value FROM json_each(?)) AND m.timestamp < ? ORDER BY m.timestamp, m.id`;
  for (const row of store.all(sql, [idList([...found.keys()]), before])) found.get(String(row.session_id))?.push(visibleKeyOf(row));
  return found;
}

export function visibleKeyOf(row: SqlRow): string {
  return new MessageKeys(stateMessage(row), 'STATE').visible.key;
}
