/**
 * Copies: rows that compaction, rotation and pruning made of older ones (`spec/live-turns.md` 7.3, `spec/state-db.md` 8.3).
 */
import { idList, rowIdList } from './connection.ts';
import type { SqlRow } from './decode.ts';
import { isArchivedSql } from './live-rows.ts';
import { logicalKey } from './logical-message.ts';
import { messagesByRowId } from './messages.ts';
import type { StoreReading } from './store-reading.ts';
import { isLiveSql } from './visibility.ts';

/** Two rows that hold one message (SAME, 7.3 rule 2), or a row and the archived TWIN that keeps its earlier body (rule 1). */
export interface RowCopy {
  readonly rowId: string;
  /** The older one, unless the row came back from being hidden. */
  readonly otherId: string;
  readonly otherSessionId: string;
  readonly relation: 'SAME' | 'TWIN';
}

/** Rows of one time are few; a store where they aren't is damaged, and copies in it are not worth a long read. */
const MOST_PAIRS = 20_000;

/**
 * Older rows of the sessions that the rows named are copies of, newest first for each row; of rows that came `back` the newer copies
 * too. Copies keep their time, so only rows of the same time are compared: by message_uid, display_identity, or value, where of a composite carrier only the person's words count. One of
 * them is enough: a writer that is older than the store's columns leaves them to triggers, which take a copy for a new message.
 */
export function rowCopies(
  connection: StoreReading,
  sessionIds: readonly string[],
  rowIds: readonly string[],
  back: readonly string[],
): RowCopy[] {
  if (rowIds.length + back.length === 0) return [];
  const { shape } = connection;
  const told = ['message_uid', 'display_identity'].filter((column) => shape.hasColumn('messages', column));
  const isNamedAlike = told.map((column) => `ifnull(n.${column} = o.${column}, 0) OR `).join('');
  const isEqual = ['content', 'tool_call_id', 'tool_calls', 'tool_name'].map((column) => `n.${column} IS o.${column}`).join(' AND ');
  const mayBeComposite = "n.role = 'user' AND (instr(n.content, 'CONTEXT SUMMARY') > 0 OR instr(n.content, 'PRIOR CONTEXT') > 0)";
  const pairs = connection.all(
    `SELECT CAST(n.id AS TEXT) AS id, CAST(o.id AS TEXT) AS other, o.session_id AS session_id,
       (${isNamedAlike}(${isEqual})) AS same,
       o.session_id = n.session_id AND n.tool_call_id IS o.tool_call_id AND ${isLiveSql(shape, 'o')} AND ${isArchivedSql(shape, 'n')} AS twin,
       ${mayBeComposite} AS composite
     FROM json_each(:rows) r CROSS JOIN messages n ON n.id = r.value
     CROSS JOIN json_each(:sessions) s CROSS JOIN messages o ON o.session_id = s.value AND o.timestamp = n.timestamp
     WHERE (o.id < n.id OR (o.id > n.id AND n.id IN (SELECT value FROM json_each(:back)))) AND o.role IS n.role ORDER BY n.id, o.id DESC LIMIT ${MOST_PAIRS}`,
    { rows: rowIdList([...rowIds, ...back]), back: rowIdList(back), sessions: idList(sessionIds) },
  );
  const composites = comparedAsComposites(connection, pairs);
  return pairs.flatMap((pair): RowCopy[] => {
    const copy = { rowId: String(pair.id), otherId: String(pair.other), otherSessionId: String(pair.session_id) };
    const same = pair.same === 1 || composites.has(`${copy.rowId} ${copy.otherId}`);
    if (pair.twin === 1) return [{ ...copy, relation: 'TWIN' }];
    return same ? [{ ...copy, relation: 'SAME' }] : [];
  });
}

function comparedAsComposites(connection: StoreReading, pairs: readonly SqlRow[]): Set<string> {
  const doubtful = pairs.filter((pair) => pair.composite === 1 && pair.same !== 1);
  const rows = messagesByRowId(connection, new Set(doubtful.flatMap((pair) => [String(pair.id), String(pair.other)])));
  const keyOf = (id: string) => {
    const row = rows.get(id);
    return row === undefined ? id : logicalKey(row);
  };
  return new Set(
    doubtful.filter(({ id, other }) => keyOf(String(id)) === keyOf(String(other))).map(({ id, other }) => `${String(id)} ${String(other)}`),
  );
}
