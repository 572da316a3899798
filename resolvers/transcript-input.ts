/**
 * Messages as clients give them, checked before anything else sees them (`spec/state-db-writes.md` V1, V2): the keys of the owning programs,
 * and nothing that a store could not hold or that those programs keep for themselves.
 */
import { isJsonObject } from '../src/state-db/decode.ts';
import type { TranscriptMessage } from '../src/state-db/write/message-encoding.ts';
import { WriteRefused } from '../src/write-refused.ts';

/** The fields of `TranscriptMessageInput`; absent and null mean the same. */
export interface TranscriptMessageArguments {
  readonly role: string;
  readonly content?: unknown;
  readonly toolCalls?: unknown;
  readonly toolCallId?: string | null | undefined;
  readonly toolName?: string | null | undefined;
  readonly effectDisposition?: string | null | undefined;
  /** Epoch seconds. */
  readonly timestamp?: number | null | undefined;
  readonly tokenCount?: number | null | undefined;
  readonly finishReason?: string | null | undefined;
  readonly reasoning?: string | null | undefined;
  readonly reasoningContent?: string | null | undefined;
  readonly reasoningDetails?: unknown;
  readonly codexReasoningItems?: unknown;
  readonly codexMessageItems?: unknown;
  readonly platformMessageId?: string | null | undefined;
  readonly observed?: boolean | null | undefined;
  readonly compressedSummary?: boolean | null | undefined;
  readonly apiContent?: string | null | undefined;
  readonly displayKind?: string | null | undefined;
  readonly displayMetadata?: unknown;
  readonly messageUid?: string | null | undefined;
}

/** The roles that the owning programs write. */
export const ROLES = ['user', 'assistant', 'tool', 'system', 'session_meta'] as const;
/** Of a message's JSON, in UTF-8. */
export const LARGEST_MESSAGE_BYTES = 8 * 1024 * 1024;
const LONGEST_ID = 512;
const DEEPEST = 200;
const NAMES = [
  'toolCallId',
  'toolName',
  'effectDisposition',
  'finishReason',
  'platformMessageId',
  'displayKind',
  'messageUid',
] as const satisfies readonly (keyof TranscriptMessageArguments)[];
const ODD_CHARACTER = /\p{Cc}/u;

/** The message as the writers take it. Throws `WriteRefused` with VALIDATION, which names the field and never tells its value. */
export function transcriptMessage(input: TranscriptMessageArguments, name = 'message'): TranscriptMessage {
  check(input, name);
  const message: Record<string, unknown> = {
    role: input.role,
    content: input.content,
    tool_calls: input.toolCalls,
    tool_call_id: input.toolCallId,
    tool_name: input.toolName,
    effect_disposition: input.effectDisposition,
    timestamp: input.timestamp,
    token_count: input.tokenCount,
    finish_reason: input.finishReason,
    reasoning: input.reasoning,
    reasoning_content: input.reasoningContent,
    reasoning_details: input.reasoningDetails,
    codex_reasoning_items: input.codexReasoningItems,
    codex_message_items: input.codexMessageItems,
    platform_message_id: input.platformMessageId,
    observed: input.observed,
    _compressed_summary: input.compressedSummary,
    api_content: input.apiContent,
    display_kind: input.displayKind,
    display_metadata: input.displayMetadata,
    message_uid: input.messageUid,
  };
  return Object.fromEntries(Object.entries(message).filter(([, value]) => value !== undefined && value !== null));
}

/** The same for a list; what is wrong is told with its place. */
export function transcriptMessages(inputs: readonly TranscriptMessageArguments[]): TranscriptMessage[] {
  return inputs.map((input, index) => transcriptMessage(input, `messages[${index}]`));
}

function check(input: TranscriptMessageArguments, name: string): void {
  const refuse = (what: string): never => {
    throw new WriteRefused('VALIDATION', `${name}: ${what}`);
  };
  if (!ROLES.some((role) => role === input.role)) refuse(`role is one of ${ROLES.join(', ')}.`);
  for (const field of NAMES) {
    const value = input[field] ?? '';
    if (value.length > LONGEST_ID) refuse(`${field} has at most ${LONGEST_ID} characters.`);
    if (ODD_CHARACTER.test(value) || !value.isWellFormed()) refuse(`${field} holds a control character or half of one.`);
  }
  if (isTooDeep(input, DEEPEST)) refuse(`its values nest more than ${DEEPEST} levels.`);
  if (Buffer.byteLength(JSON.stringify(input)) > LARGEST_MESSAGE_BYTES) refuse(`it is larger than ${LARGEST_MESSAGE_BYTES} bytes of JSON.`);
  if (input.toolCalls != null && !isListOrItsText(input.toolCalls)) refuse('toolCalls is a list, or the JSON text of one.');
  if (input.displayMetadata == null) return;
  if (!isJsonObject(input.displayMetadata)) refuse('displayMetadata is an object.');
  else if (Object.keys(input.displayMetadata).some((key) => key.startsWith('_'))) {
    refuse('keys of displayMetadata that start with _ are reserved.');
  }
}

/** Whether a value nests deeper than its writing as JSON is to follow. */
function isTooDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isTooDeep(item, levels - 1));
}

function isListOrItsText(value: unknown): boolean {
  if (typeof value !== 'string') return Array.isArray(value);
  try {
    return Array.isArray(JSON.parse(value));
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
