/**
 * What the Web UI keeps beside a message for showing it, and what no answer may hold (`spec/webui-transcript.md` 11).
 */
import { isBlankValue, isMessage, type Message } from './values.ts';

export const DISPLAY_METADATA = [
  '_turnDuration',
  '_turnTps',
  '_turnUsage',
  '_firstTokenMs',
  '_usedModel',
  '_gatewayRouting',
  '_statusCard',
  '_anchor_stream_id',
  '_anchor_activity_scene',
  '_media_snapshots',
] as const;

/** Set on a row of the agent that only looks like the text of a turn with images (16). */
export const UNMATCHED_MIRROR = '_webui_unmatched_native_image_mirror';

export const PRIVATE_FIELDS: ReadonlySet<string> = new Set([
  'api_content',
  '_row_id',
  '_state_db_row_id',
  '_db_row_id',
  'state_db_row_id',
  '_active_turn_token',
  '_active_turn_user',
  '_fork_child_turn',
  '_pending_journal_recovery',
  '_journal_retry_stream_id',
  '_journal_retry_attempts',
  '_journal_retry_first_seen_ts',
  '_journal_retry_kind',
  '_journal_retry_owner_token',
  '_journal_retry_process_token',
  '_webui_trusted_agent_input_text',
  UNMATCHED_MIRROR,
]);

/** Copies what the target lacks; 0 and false are something. Nothing is overwritten, and no other field moves. */
export function addDisplayMetadata(target: Record<string, unknown>, source: Message): void {
  for (const key of DISPLAY_METADATA) {
    const value = source[key];
    if (!isMissing(value) && isMissing(target[key])) target[key] = structuredClone(value);
  }
}

function isMissing(value: unknown): boolean {
  if (isBlankValue(value)) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** The message without private fields, in its parts and tool calls too; the arguments of a call are the user's data and stay. */
export function withoutPrivateFields(message: unknown): unknown {
  if (!isMessage(message)) return message;
  const shown = withoutPrivate(message);
  for (const list of ['content', 'tool_calls']) {
    const items = shown[list];
    if (Array.isArray(items)) shown[list] = items.map((item: unknown) => (isMessage(item) ? withoutPrivateCall(item) : item));
  }
  return shown;
}

/** A call names its function in an object of its own. */
function withoutPrivateCall(item: Message): Message {
  const shown = withoutPrivate(item);
  if (isMessage(shown.function)) shown.function = withoutPrivate(shown.function);
  return shown;
}

function withoutPrivate(message: Message): Record<string, unknown> {
  return Object.fromEntries(Object.entries(message).filter(([key]) => !PRIVATE_FIELDS.has(key)));
}
