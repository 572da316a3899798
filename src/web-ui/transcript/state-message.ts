/**
 * A row of `messages` as the Web UI's message (`spec/webui-transcript.md` 3): exactly these keys, in this order, since they are compared with
 * what sidecars hold.
 */
import { parseJson, type SqlRow, type SqlValue } from '../../state-db/decode.ts';
import { trimSpace } from '../../state-db/whitespace.ts';
import { storedContent, withoutBytes } from './structured-content.ts';
import { isBlankValue, type Message } from './values.ts';

/** Private: the durable row behind a message. */
export const ROW_ID_FIELD = '_state_db_row_id';
export const SCREENSHOT = '[screenshot]';

/** Without these columns there are no messages. */
export const REQUIRED_COLUMNS = ['role', 'content', 'timestamp'] as const;
/** Read where the store has them. */
export const OPTIONAL_COLUMNS = [
  'tool_call_id',
  'tool_calls',
  'tool_name',
  'reasoning',
  'reasoning_details',
  'codex_reasoning_items',
  'reasoning_content',
  'codex_message_items',
  'api_content',
] as const;

const JSON_COLUMNS: ReadonlySet<string> = new Set(['tool_calls', 'reasoning_details', 'codex_reasoning_items', 'codex_message_items']);

/**
 * The message of a row. The row id comes along, privately, only with a provider payload or where the content may be the text projection of an
 * image. Bytes become text; bytes as a payload are left out, since no text that was sent can be known from them.
 */
export function stateMessage(row: SqlRow): Message {
  const role = withoutBytes(row.role ?? null);
  const content = storedContent(row.content ?? null);
  const message: Record<string, unknown> = { role, content, timestamp: withoutBytes(row.timestamp ?? null) };
  for (const column of OPTIONAL_COLUMNS) {
    const value = row[column] ?? null;
    if (isBlankValue(value) || (column === 'api_content' && typeof value !== 'string')) continue;
    message[column] = JSON_COLUMNS.has(column) ? jsonCell(value) : withoutBytes(value);
  }
  const isProjection = role === 'user' && typeof content === 'string' && content.includes(SCREENSHOT);
  if (isProjection || message.api_content !== undefined) {
    const id = withoutBytes(row.id ?? null);
    if (id !== null) message[ROW_ID_FIELD] = id;
  }
  if (role === 'tool' && message.tool_name !== undefined) message.name = message.tool_name;
  return message;
}

/** The message without what is for this server alone, for files. */
export function withoutRowId({ [ROW_ID_FIELD]: _, ...message }: Message): Message {
  return message;
}

/** Parsed JSON; null for blank text, the text itself when it is no JSON (3.4). */
function jsonCell(value: SqlValue): unknown {
  const cell = withoutBytes(value);
  if (typeof cell !== 'string') return cell;
  const text = trimSpace(cell);
  if (text === '') return null;
  const parsed = parseJson(text);
  return parsed === undefined ? cell : parsed;
}
