/**
 * Which cells of a stored row a new version of its message changes (`spec/state-db-writes.md` P8, V11).
 */
import type { StoreShape } from '../columns.ts';
import { inWindow, type SqlValue } from '../decode.ts';
import { encodeMessage, type TranscriptMessage } from './message-encoding.ts';
import type { Cells } from './row-in-place.ts';
import type { StoredRow } from './stored-row.ts';

/** What a row is and where it stands; no rewrite touches it. */
const FIXED: ReadonlySet<string> = new Set(['session_id', 'role', 'tool_call_id', 'timestamp', 'active', 'display_identity']);

/**
 * The cells that differ between two versions of a message. They are compared with each other and not with the row: what both agree on stays
 * as it is stored. The text that a provider was given is dropped with the content that it stood for. Throws VALIDATION.
 */
export function changedCells(
  shape: StoreShape,
  row: StoredRow,
  { original, replacement }: { readonly original: TranscriptMessage; readonly replacement: TranscriptMessage },
  mintUid: () => string,
): Cells {
  const minted: string[] = [];
  const encode = (message: TranscriptMessage) => {
    const timestamp = inWindow(row.cells.timestamp) ?? 0;
    const whole = { ...idsOf(row), ...message, role: row.role, timestamp };
    const mint = replayed(minted, mintUid);
    const { columns, values } = encodeMessage(whole, { sessionId: row.sessionId, shape, now: timestamp, path: 'BATCH', mintUid: mint });
    return new Map(columns.map((column, index) => [column, values[index] ?? null]));
  };
  const before = encode(original);
  const after = encode(replacement);
  const changed = [...after].filter(([column, cell]) => !FIXED.has(column) && !sameCell(before.get(column) ?? null, cell));
  const cells: Record<string, SqlValue> = Object.fromEntries(changed);
  const hasApiContent = (row.cells.api_content ?? null) !== null;
  if ('content' in cells && hasApiContent && !('api_content' in cells)) cells.api_content = null;
  return cells;
}

/** The message that a row holds, with the cells as they are. */
export function messageOf(row: StoredRow): TranscriptMessage {
  return row.cells;
}

/** The lasting ids of a message belong to its row: a version that doesn't name them doesn't change them. */
function idsOf({ cells }: StoredRow): TranscriptMessage {
  return { message_uid: cells.message_uid, tool_call_uids: cells.tool_call_uids, tool_call_uid: cells.tool_call_uid };
}

/** The same uids in the same order for both versions, so that what is made up is no difference. */
function replayed(minted: string[], mintUid: () => string): () => string {
  let next = 0;
  return () => {
    const known = minted[next++];
    if (known !== undefined) return known;
    const uid = mintUid();
    minted.push(uid);
    return uid;
  };
}

function sameCell(left: SqlValue, right: SqlValue): boolean {
  return left instanceof Uint8Array && right instanceof Uint8Array ? Buffer.compare(left, right) === 0 : left === right;
}
