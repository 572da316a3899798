/**
 * The newest turns that a person took in a session, as one line each (`spec/state-db.md` 8.1).
 */
import { idList, type StoreConnection } from './connection.ts';
import { inWindow, RowReader } from './decode.ts';
import { isRecentTurn, recentTurnPreview } from './preview.ts';
import { isLiveSql } from './visibility.ts';

export interface RecentTurn {
  readonly rowId: string;
  readonly sessionId: string;
  /** Epoch seconds. */
  readonly timestamp: number | null;
  /** At most 80 characters. */
  readonly preview: string;
}

export interface RecentTurnsOptions {
  readonly limit: number;
  /** Rewound and archived turns too. */
  readonly includeInactive?: boolean;
}

/** Rows read for each turn that is asked for: summaries among them are told by their text, and don't count. */
const ROWS_PER_TURN = 3;
const FEWEST_ROWS = 20;

/** Turns of each session, newest first. One statement; among summaries only, an answer can be shorter than the limit. */
export function recentTurns(
  connection: StoreConnection,
  sessionIds: readonly string[],
  { limit, includeInactive = false }: RecentTurnsOptions,
): Map<string, RecentTurn[]> {
  const { shape } = connection;
  const kind = shape.columnOr('messages', 'display_kind', 'x', 'NULL');
  const rows = connection.all(
    `SELECT CAST(m.id AS TEXT) AS id, m.session_id AS session_id, m.timestamp AS timestamp, m.content AS content,
       ${shape.columnOr('messages', 'display_kind', 'm', 'NULL')} AS display_kind
     FROM json_each(?) s CROSS JOIN messages m ON m.id IN (
       SELECT x.id FROM messages x WHERE x.session_id = s.value AND x.role = 'user' AND ${includeInactive ? '1' : isLiveSql(shape, 'x')}
       AND (${kind} IS NULL OR ${kind} IN ('', 'steer')) ORDER BY x.id DESC LIMIT ?)
     ORDER BY m.id DESC`,
    [idList(sessionIds), Math.max(FEWEST_ROWS, limit * ROWS_PER_TURN)],
  );
  const turns = new Map<string, RecentTurn[]>(sessionIds.map((id) => [id, []]));
  for (const row of rows) {
    const cells = new RowReader(row);
    const content = cells.quietText('content');
    const found = turns.get(String(row.session_id));
    if (found === undefined || found.length >= limit || !isRecentTurn({ content, displayKind: cells.quietText('display_kind') })) continue;
    found.push({
      rowId: String(row.id),
      sessionId: String(row.session_id),
      timestamp: inWindow(row.timestamp),
      preview: recentTurnPreview(content),
    });
  }
  return turns;
}
