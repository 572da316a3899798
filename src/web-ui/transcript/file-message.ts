/**
 * A message of a file as the graph shows messages: with the fields of a row, without what is private (`spec/webui-transcript.md` 11).
 * Everything in it is untrusted; nothing here throws.
 */
import { createHash } from 'node:crypto';
import { type Content, decodeContent, STRUCTURED_PREFIX } from '../../state-db/content.ts';
import { type DataWarning, inWindow, isJsonObject, parseJson } from '../../state-db/decode.ts';
import type { MessageRecord } from '../../state-db/message-row.ts';
import { withoutPrivateFields } from './display-metadata.ts';
import { type KeyVariant, MessageKeys } from './message-keys.ts';
import { exactTimestamp } from './timestamps.ts';
import { isEmpty, isMessage, textOf, toolName } from './values.ts';

/** Digits of the digest that names what a message says. */
const MARK_LENGTH = 16;

/** The record of a message of a file; `rowId` is '', since no row holds it. */
export function fileRecord(message: unknown, sessionId: string): MessageRecord {
  const shown = withoutPrivateFields(message);
  if (!isMessage(shown))
    return { ...EMPTY, sessionId, content: contentOf(shown), rawContent: rawOf(contentOf(shown)), warnings: [NO_MESSAGE] };
  const content = contentOf(shown.content);
  const toolCalls = callsOf(shown.tool_calls);
  const name = toolName(shown);
  const { value, valid } = exactTimestamp(shown);
  const timestamp = value === null ? null : inWindow(value);
  return {
    ...EMPTY,
    sessionId,
    role: textOf(shown.role),
    content,
    rawContent: rawOf(content),
    toolCallId: textOrNull(shown.tool_call_id),
    toolCalls,
    rawToolCalls: toolCalls.length === 0 ? null : JSON.stringify(toolCalls),
    toolName: name === '' ? null : name,
    timestamp,
    tokenCount: typeof shown.token_count === 'number' ? shown.token_count : null,
    finishReason: textOrNull(shown.finish_reason),
    reasoning: textOrNull(shown.reasoning),
    reasoningContent: textOrNull(shown.reasoning_content),
    platformMessageId: textOrNull(shown.platform_message_id),
    observed: !isEmpty(shown.observed),
    compressedSummary: !isEmpty(shown._compressed_summary),
    displayKind: textOrNull(shown.display_kind),
    displayMetadata: isJsonObject(shown.display_metadata) && !isTooDeep(shown.display_metadata, 0) ? shown.display_metadata : null,
    messageUid: textOrNull(shown.message_uid),
    warnings: timestamp === value && valid ? [] : [BAD_TIME],
  };
}

/** The row's own record, with what the file says of the message that both have: the local copy wins (15.1, I2). */
export function heldRecord(message: MessageRecord, row: MessageRecord): MessageRecord {
  const { role, content, rawContent, toolCallId, toolCalls, rawToolCalls, toolName: name, timestamp, warnings } = message;
  return {
    ...row,
    role,
    content,
    rawContent,
    toolCallId,
    toolCalls,
    rawToolCalls,
    toolName: name ?? row.toolName,
    timestamp: timestamp ?? row.timestamp,
    reasoning: message.reasoning ?? row.reasoning,
    reasoningContent: message.reasoningContent ?? row.reasoningContent,
    displayKind: message.displayKind ?? row.displayKind,
    displayMetadata: message.displayMetadata ?? row.displayMetadata,
    platformMessageId: message.platformMessageId ?? row.platformMessageId,
    warnings,
  };
}

/** What a message says, as a short digest: its role, content and calls, whatever its time and its place. */
export function markOf(message: unknown, variant: KeyVariant): string {
  const shown = withoutPrivateFields(message);
  const answered = isMessage(shown) ? textOf(shown.tool_call_id) : '';
  const { key } = new MessageKeys(shown, variant).visible;
  return createHash('sha256')
    .update(JSON.stringify([answered, key]))
    .digest('base64url')
    .slice(0, MARK_LENGTH);
}

const NO_MESSAGE: DataWarning = { code: 'NOT_A_MESSAGE', field: null, message: 'The file holds something else than a message here.' };
const BAD_TIME: DataWarning = {
  code: 'TIME_OUT_OF_RANGE',
  field: 'timestamp',
  message: 'The time of the message is no time; it shows as null.',
};

const EMPTY: MessageRecord = {
  rowId: '',
  sessionId: '',
  role: '',
  rawContent: null,
  content: null,
  toolCallId: null,
  rawToolCalls: null,
  toolCalls: [],
  toolName: null,
  effectDisposition: null,
  timestamp: null,
  tokenCount: null,
  finishReason: null,
  reasoning: null,
  reasoningContent: null,
  rawReasoningDetails: null,
  rawCodexReasoningItems: null,
  rawCodexMessageItems: null,
  platformMessageId: null,
  observed: false,
  compressedSummary: false,
  active: true,
  compacted: false,
  state: 'LIVE',
  apiContent: null,
  displayKind: null,
  displayMetadata: null,
  displayOrder: null,
  messageUid: null,
  rawAbsorbedMessageUids: null,
  rawToolCallUids: null,
  toolCallUid: null,
  warnings: [],
};

function contentOf(value: unknown): Content {
  if (typeof value === 'string') return decodeContent(value);
  return value === undefined ? null : isTooDeep(value, 0) ? TOO_DEEP : (value as Content);
}

/** Deeper values exist only to break whoever writes them out. */
const DEEPEST = 200;
const TOO_DEEP = '[content nested too deeply to be shown]';

/** Whether a value is nested deeper than is written out; `depth` is where it stands itself. */
export function isTooDeep(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth > DEEPEST || Object.values(value).some((item) => isTooDeep(item, depth + 1));
}

function rawOf(content: Content): string | null {
  return typeof content === 'string' || content === null ? content : STRUCTURED_PREFIX + JSON.stringify(content);
}

/** The Web UI's older files hold a list as text. */
function callsOf(value: unknown): readonly unknown[] {
  const list = typeof value === 'string' ? parseJson(value) : value;
  return Array.isArray(list) && !isTooDeep(list, 0) ? list : [];
}

function textOrNull(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : null;
}
