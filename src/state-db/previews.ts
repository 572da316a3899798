/**
 * First words of sessions, read for many sessions at once.
 */
import { idList, rowIdList } from './connection.ts';
import { RowReader, type SqlRow } from './decode.ts';
import { type Preview, type PreviewRow, previewOf } from './preview.ts';
import type { StoreReading } from './store-reading.ts';

/** User rows looked at first; sessions whose first rows are all scaffolds are looked at again. */
const FIRST_LOOK = 3;
const SECOND_LOOK = 50;
/** Rows above this size are read apart, so that a pasted file doesn't make a list slow. */
const LARGE_CONTENT = 64 * 1024;

/** The preview of each session (`spec/state-db.md` 7.5). At most four statements for any number of sessions, one as a rule. */
export function previews(connection: StoreReading, sessionIds: readonly string[]): Map<string, Preview> {
  const found = look(connection, sessionIds, FIRST_LOOK);
  const undecided = sessionIds.filter((id) => found.get(id)?.full === true && found.get(id)?.preview.source === 'NONE');
  const again = undecided.length === 0 ? new Map() : look(connection, undecided, SECOND_LOOK);
  return new Map(sessionIds.map((id) => [id, (again.get(id) ?? found.get(id))?.preview ?? previewOf([])]));
}

function look(connection: StoreReading, sessionIds: readonly string[], depth: number): Map<string, { preview: Preview; full: boolean }> {
  const { shape } = connection;
  const rows = connection.all(
    `SELECT m.session_id AS session_id, CAST(m.id AS TEXT) AS id, octet_length(m.content) > ${LARGE_CONTENT} AS large,
       CASE WHEN octet_length(m.content) <= ${LARGE_CONTENT} THEN m.content END AS content, ${shape.columnOr('messages', 'display_kind', 'm', 'NULL')} AS display_kind
     FROM json_each(?) s CROSS JOIN messages m ON m.id IN (
       SELECT x.id FROM messages x WHERE x.session_id = s.value AND x.role = 'user' AND x.content IS NOT NULL ORDER BY x.timestamp, x.id LIMIT ?)
     ORDER BY m.timestamp, m.id`,
    [idList(sessionIds), depth],
  );
  const large = rows.filter((row) => row.large === 1).map((row) => String(row.id));
  const contents = large.length === 0 ? new Map<string, SqlRow>() : largeContents(connection, large);
  const bySession = new Map<string, PreviewRow[]>();
  for (const row of rows) {
    const cells = new RowReader(row.large === 1 ? { ...row, content: contents.get(String(row.id))?.content } : row);
    const preview = { rowId: String(row.id), content: cells.quietText('content'), displayKind: cells.quietText('display_kind') };
    const known = bySession.get(String(row.session_id));
    if (known === undefined) bySession.set(String(row.session_id), [preview]);
    else known.push(preview);
  }
  return new Map([...bySession].map(([id, candidates]) => [id, { preview: previewOf(candidates), full: candidates.length === depth }]));
}

function largeContents(connection: StoreReading, rowIds: readonly string[]): Map<string, SqlRow> {
  const rows = connection.all('SELECT CAST(id AS TEXT) AS id, content FROM messages WHERE id IN (SELECT value FROM json_each(?))', [
    rowIdList(rowIds),
  ]);
  return new Map(rows.map((row) => [String(row.id), row]));
}
