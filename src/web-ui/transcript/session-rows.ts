/**
 * The live rows of sessions, twice: as the Web UI compares them, and as the graph shows them.
 */
import { idList } from '../../state-db/connection.ts';
import { messageColumns } from '../../state-db/display-plan.ts';
import { decodeMessage, type MessageRecord } from '../../state-db/message-row.ts';
import type { StoreReading } from '../../state-db/store-reading.ts';
import { inViewSql } from '../../state-db/visibility.ts';
import { isReadable, readManyStateMessages, type StateSnapshot } from './state-messages.ts';

/** The rows that the model is sent, as the Web UI reads them and as they are stored. */
export interface SessionRows {
  readonly state: StateSnapshot;
  readonly records: readonly MessageRecord[];
}

export interface RowsRequest {
  readonly sessionIds: readonly string[];
  /** Rows that they may have together; 0 is no limit. */
  readonly largest: number;
}

const COUNTS = (inView: string) =>
  `SELECT m.session_id, COUNT(*) AS n FROM messages m WHERE m.session_id IN (SELECT value FROM json_each(?)) AND ${inView} GROUP BY 1`;
const RECORDS = (columns: string, inView: string) =>
  `SELECT ${columns} FROM messages m WHERE m.session_id IN (SELECT value FROM json_each(?)) AND ${inView} ORDER BY m.id`;

/** Three statements; sessions with more rows than a request of theirs may have are missing. */
export function readRows(connection: StoreReading, requests: readonly RowsRequest[]): Map<string, SessionRows> {
  const found = new Map<string, SessionRows>();
  if (requests.length === 0) return found;
  return connection.snapshot(() => {
    const { shape } = connection;
    if (!isReadable(shape)) return new Map(requests.flatMap(({ sessionIds }) => sessionIds).map((id) => [id, NO_ROWS]));
    const inView = inViewSql(shape, 'LIVE', 'm');
    const all = [...new Set(requests.flatMap(({ sessionIds }) => sessionIds))];
    const counts = new Map(connection.all(COUNTS(inView), [idList(all)]).map((row) => [String(row.session_id), Number(row.n)]));
    const isSmall = ({ sessionIds, largest }: RowsRequest) =>
      largest === 0 || sessionIds.reduce((sum, id) => sum + (counts.get(id) ?? 0), 0) <= largest;
    const ids = [...new Set(requests.filter(isSmall).flatMap(({ sessionIds }) => sessionIds))];
    const states = readManyStateMessages(connection, ids);
    const records = connection.all(RECORDS(messageColumns(connection, 'm'), inView), [idList(ids)]).map(decodeMessage);
    const bySession = Map.groupBy(records, ({ sessionId }) => sessionId);
    for (const [id, state] of states) found.set(id, { state, records: bySession.get(id) ?? [] });
    return found;
  });
}

const NO_ROWS: SessionRows = { state: { messages: [], rowIds: [], revision: null, degraded: false, truncated: false }, records: [] };

/** Of sessions that have none. */
export function noRows(requests: readonly RowsRequest[]): Map<string, SessionRows> {
  return new Map(requests.flatMap(({ sessionIds }) => sessionIds.map((id) => [id, NO_ROWS] as const)));
}

/** The rows of a request, those of several segments in their order; null: too many. */
export function rowsOf(rows: ReadonlyMap<string, SessionRows>, { sessionIds, largest }: RowsRequest): SessionRows | null {
  const found = sessionIds.map((id) => rows.get(id));
  const records = found.flatMap((session) => session?.records ?? []);
  const [first = NO_ROWS] = found;
  if (found.includes(undefined) || (largest > 0 && records.length > largest)) return null;
  return found.length === 1 ? first : { ...NO_ROWS, records };
}
