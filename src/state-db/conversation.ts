/**
 * From stored rows to the messages of a conversation (`spec/state-db.md` 9.1 to 9.3): what a model would be given again, and what a
 * person who resumes the session sees. Stored rows never change.
 */
import type { Content } from './content.ts';
import { isJsonObject, parseJson } from './decode.ts';
import { canonicalJson, projectLogicalMessages, sortByRowId } from './logical-message.ts';
import type { MessageRecord } from './message-row.ts';
import { splitComposite } from './summary-markers.ts';
import { trimSpace, trimStartSpace } from './whitespace.ts';

/** NEWEST is what the server does. V26 repeats the upstream of 2026-08, which the golden answers come from. */
export type ConversationRules = 'NEWEST' | 'V26';

/** Uids of a message's tool calls by the provider's call id; an array has one slot for each repeated occurrence of the id. */
export type ToolCallUids = Readonly<Record<string, string | readonly (string | null)[]>>;

/** One message of a conversation. Scalars are null when upstream's dictionary would not have the key. */
export interface ConversationMessage {
  /** The stored rows that it stands for: first the one whose values it carries, then copies and merged rows. */
  readonly rowIds: readonly string[];
  /** The segment that the first of those rows belongs to. */
  readonly sessionId: string;
  readonly role: string;
  readonly content: Content;
  /** The exact text that was sent to the provider; may hold injected memory, never for display. */
  readonly apiContent: string | null;
  readonly displayKind: string | null;
  readonly displayMetadata: Readonly<Record<string, unknown>> | null;
  /** Only in replays, see 9.1. */
  readonly compressedSummary: boolean;
  /** Epoch seconds; null also for 0. */
  readonly timestamp: number | null;
  readonly toolCallId: string | null;
  readonly toolName: string | null;
  readonly effectDisposition: string | null;
  /** Empty: the column held something, but no list. */
  readonly toolCalls: readonly unknown[] | null;
  readonly platformMessageId: string | null;
  readonly observed: boolean;
  readonly finishReason: string | null;
  readonly reasoning: string | null;
  /** '' and null differ here. */
  readonly reasoningContent: string | null;
  /** Parsed; null: not JSON; undefined: nothing stored. The same holds for the two below. */
  readonly reasoningDetails: unknown;
  readonly codexReasoningItems: unknown;
  readonly codexMessageItems: unknown;
  readonly messageUid: string | null;
  readonly absorbedMessageUids: readonly string[];
  readonly toolCallUids: ToolCallUids | null;
  readonly toolCallUid: string | null;
}

export interface AssemblyOptions {
  /**
   * true: the rows of one segment as a model gets them again, one message a row (9.1, 9.3). Choose the live rows, and repair the
   * alternation afterwards (9.5).
   * false: the rows of all segments of a lineage as a person sees them. Rewound and model-only rows are left out, copies of a message
   * are shown once, and what the person asked is not repeated where a segment takes over (8.3, 9.1 to 9.3).
   */
  readonly replay: boolean;
  /** Default NEWEST. V26 shows the rows it is given without looking for copies, and compares user messages with their neighbours only. */
  readonly rules?: ConversationRules;
}

/** The messages of a conversation, in the order of their first row (9.1 to 9.3). Never throws, whatever the rows hold. */
export function assembleConversation(rows: readonly MessageRecord[], options: AssemblyOptions): ConversationMessage[] {
  const { replay, rules = 'NEWEST' } = options;
  if (replay) return withoutResidue(sortByRowId(rows).map((row) => toMessage(row, [row.rowId], true)));
  const messages =
    rules === 'V26'
      ? sortByRowId(rows).map((row) => toMessage(row, [row.rowId], false))
      : projectLogicalMessages(rows).map(({ representative, rowIds }) => toMessage(representative, rowIds, false));
  return withoutResidue(dedupeUserMessages(messages, rules));
}

function withoutResidue(messages: readonly ConversationMessage[]): ConversationMessage[] {
  return clearStaleToolMarkers(stripReviewPrompts(messages));
}

/** One row, decoded (9.1). */
function toMessage(row: MessageRecord, rowIds: readonly string[], replay: boolean): ConversationMessage {
  const assistant = row.role === 'assistant';
  const cleaned = assistant || row.role === 'user';
  return {
    rowIds: [row.rowId, ...rowIds.filter((id) => id !== row.rowId)],
    sessionId: row.sessionId,
    role: row.role,
    content: cleaned && typeof row.content === 'string' ? trimSpace(stripMemoryBlocks(row.content)) : row.content,
    apiContent: row.apiContent || null,
    displayKind: row.displayKind || null,
    displayMetadata: row.displayMetadata,
    compressedSummary: replay && row.compressedSummary,
    timestamp: row.timestamp || null,
    toolCallId: row.toolCallId || null,
    toolName: row.toolName || null,
    effectDisposition: row.effectDisposition || null,
    toolCalls: row.rawToolCalls ? row.toolCalls : null,
    platformMessageId: row.platformMessageId || null,
    observed: row.observed,
    finishReason: (assistant && row.finishReason) || null,
    reasoning: (assistant && row.reasoning) || null,
    reasoningContent: assistant ? row.reasoningContent : null,
    reasoningDetails: assistant ? parsedField(row.rawReasoningDetails) : undefined,
    codexReasoningItems: assistant ? parsedField(row.rawCodexReasoningItems) : undefined,
    codexMessageItems: assistant ? parsedField(row.rawCodexMessageItems) : undefined,
    messageUid: row.messageUid || null,
    absorbedMessageUids: uidList(row.rawAbsorbedMessageUids),
    toolCallUids: uidsOfCalls(row.rawToolCallUids),
    toolCallUid: row.toolCallUid || null,
  };
}

function parsedField(raw: string | null): unknown {
  return raw ? (parseJson(raw) ?? null) : undefined;
}

/** A list without blanks, else nothing (9.1, identity). */
function uidList(raw: string | null): readonly string[] {
  const value = raw ? parseJson(raw) : undefined;
  return Array.isArray(value) && value.every(isUid) ? value : [];
}

/** A map whose values are uids, or arrays with at least one uid among nulls, else nothing (9.1, identity). */
function uidsOfCalls(raw: string | null): ToolCallUids | null {
  const value = raw ? parseJson(raw) : undefined;
  if (!isJsonObject(value)) return null;
  const slots = Object.values(value);
  const wellFormed = slots.length > 0 && slots.every((slot) => isUid(slot) || isUidSlots(slot));
  return wellFormed ? (value as ToolCallUids) : null;
}

function isUid(value: unknown): value is string {
  return typeof value === 'string' && trimSpace(value) !== '';
}

function isUidSlots(value: unknown): boolean {
  return Array.isArray(value) && value.some(isUid) && value.every((uid) => uid === null || isUid(uid));
}

const OPENING_TAG = /<\s*memory-context\s*>/gi;
const CLOSING_TAG = /<\/\s*memory-context\s*>/gi;
const ANY_TAG = /<\/?\s*memory-context\s*>/gi;
const MEMORY_NOTE =
  /\[System note:\s*The following is recalled memory context,\s*NOT new user input\.\s*Treat as (?:informational background data|authoritative reference data[^\]]*|advisory context[^\]]*)(?:\.\]|\]\.)\s*/gi;

/** The text without injected memory: whole blocks, then the note that introduces them, then single tags (9.1). Not trimmed. */
export function stripMemoryBlocks(text: string): string {
  return withoutBlocks(text).replace(MEMORY_NOTE, '').replace(ANY_TAG, '');
}

/** One pass over the text: a single pattern for the block would look for a missing end again at every opening tag. */
function withoutBlocks(text: string): string {
  let result = '';
  let position = 0;
  for (;;) {
    OPENING_TAG.lastIndex = position;
    const opening = OPENING_TAG.exec(text);
    if (opening === null) break;
    CLOSING_TAG.lastIndex = OPENING_TAG.lastIndex;
    if (CLOSING_TAG.exec(text) === null) break;
    result += text.slice(position, opening.index);
    position = CLOSING_TAG.lastIndex;
  }
  return result + text.slice(position);
}

const REVIEW_PROMPTS = [
  'Review the conversation above and update the skill library',
  'Review the conversation above and consider saving to memory',
];

/** Drops the prompts of background reviews, each with the answer directly after it; two prompts in a row have one answer (9.3). */
export function stripReviewPrompts(messages: readonly ConversationMessage[]): ConversationMessage[] {
  const kept: ConversationMessage[] = [];
  let answerExpected = false;
  for (const message of messages) {
    if (isReviewPrompt(message)) {
      answerExpected = true;
      continue;
    }
    if (!(answerExpected && message.role === 'assistant')) kept.push(message);
    answerExpected = false;
  }
  return kept;
}

function isReviewPrompt({ role, content }: ConversationMessage): boolean {
  if ((role !== 'user' && role !== 'system') || typeof content !== 'string') return false;
  const text = trimStartSpace(content);
  return REVIEW_PROMPTS.some((prompt) => text.startsWith(prompt));
}

const TOOL_MARKER = /^\[[A-Za-z_][A-Za-z0-9_.-]*\]$/;

/** Empties the text of assistant messages that is only a bracketed tool name beside the calls themselves (9.3). */
export function clearStaleToolMarkers(messages: readonly ConversationMessage[]): ConversationMessage[] {
  return messages.map((message) => {
    const calls = message.role === 'assistant' && message.toolCalls !== null && message.toolCalls.length > 0;
    if (!calls || typeof message.content !== 'string') return message;
    return isToolMarker(message.content) ? { ...message, content: '' } : message;
  });
}

/** Whether a text is nothing but the name of a tool in brackets. */
export function isToolMarker(text: string): boolean {
  return TOOL_MARKER.test(trimSpace(text));
}

interface UserEntry {
  message: ConversationMessage;
  readonly composite: boolean;
  replaced: boolean;
}

/** The user messages of equal content since the last answer: the latest, and the latest that is a composite carrier. */
interface Neighbours {
  readonly latest: UserEntry;
  readonly carrier: UserEntry | null;
}

/**
 * Keeps one of the user messages that a rotation repeats (9.2). By time and content wherever the copies stand (not in V26), else by content
 * within the stretch since the last assistant message with text or calls. A later composite carrier replaces the earlier message.
 */
function dedupeUserMessages(messages: readonly ConversationMessage[], rules: ConversationRules): ConversationMessage[] {
  const kept: UserEntry[] = [];
  const byTimeAndContent = new Map<string, UserEntry>();
  const stretch = new Map<string, Neighbours>();
  for (const message of messages) {
    if (endsStretch(message)) stretch.clear();
    const { key, composite } = canonicalContent(message);
    const entry: UserEntry = { message, composite, replaced: false };
    if (key === null) {
      kept.push(entry);
      continue;
    }
    const exactKey = message.timestamp === null || rules === 'V26' ? null : `${message.timestamp} ${key}`;
    const exact = exactKey === null ? undefined : byTimeAndContent.get(exactKey);
    const isExact = exact !== undefined && !exact.replaced;
    const earlier = isExact ? exact : sameAmong(stretch.get(key), entry);
    if (earlier !== null && !isExact && !composite) {
      earlier.message = standingFor(earlier.message, message);
      continue;
    }
    if (earlier !== null) {
      earlier.replaced = true;
      entry.message = standingFor(message, earlier.message);
    }
    kept.push(entry);
    stretch.set(key, { latest: entry, carrier: composite ? entry : (stretch.get(key)?.carrier ?? null) });
    if (exactKey !== null) byTimeAndContent.set(exactKey, entry);
  }
  return kept.flatMap((entry) => (entry.replaced ? [] : [entry.message]));
}

/** Strings of equal content are always the same message, other content only when one of the two is a carrier. */
function sameAmong(neighbours: Neighbours | undefined, current: UserEntry): UserEntry | null {
  const always = current.composite || typeof current.message.content === 'string';
  const candidate = always ? neighbours?.latest : neighbours?.carrier;
  return candidate === undefined || candidate === null || candidate.replaced ? null : candidate;
}

function endsStretch({ role, content, toolCalls }: ConversationMessage): boolean {
  const hasContent = typeof content === 'string' || Array.isArray(content) ? content.length > 0 : Boolean(content);
  return role === 'assistant' && (hasContent || (toolCalls !== null && toolCalls.length > 0));
}

/** A user message's content to compare, for a carrier the person's words (9.2); the key is null when there is nothing to compare. */
function canonicalContent(message: ConversationMessage): { key: string | null; composite: boolean } {
  if (message.role !== 'user') return { key: null, composite: false };
  const { handoff, human } = splitComposite(message);
  const composite = handoff !== null && human !== null;
  const content = composite ? human.content : message.content;
  const empty = content === null || content === '' || (Array.isArray(content) && content.length === 0);
  return { key: empty ? null : canonicalJson(content), composite };
}

function standingFor(message: ConversationMessage, other: ConversationMessage): ConversationMessage {
  return { ...message, rowIds: [...message.rowIds, ...other.rowIds] };
}
