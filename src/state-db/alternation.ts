/**
 * Providers want user and assistant to alternate, and every tool result right behind its call. A replayed conversation is repaired to
 * that (`spec/state-db.md` 9.5); the messages that come in, and the rows, stay as they are.
 */
import type { ConversationMessage, ConversationRules, ToolCallUids } from './conversation.ts';
import { isJsonObject } from './decode.ts';
import { DELIM, isSummaryCarrier, isSummaryContent } from './summary-markers.ts';
import { isBlank, trimSpace } from './whitespace.ts';

export interface RepairedConversation {
  readonly messages: readonly ConversationMessage[];
  /** Merges, drops and prunings made; 0 when the list was in order. */
  readonly repairCount: number;
}

export interface RepairOptions {
  /**
   * Default NEWEST: passes A to D until nothing is left to repair. V26 runs A, B and D once; it drops tool results without an id, keeps
   * unanswered calls, and merges summaries and steering texts with the user message that follows.
   */
  readonly rules?: ConversationRules;
}

interface Pass {
  readonly messages: readonly ConversationMessage[];
  readonly repairs: number;
}

/** Repairs the alternation of an assembled conversation (9.5). Under the newest rules a second run makes no repairs. */
export function repairAlternation(messages: readonly ConversationMessage[], options: RepairOptions = {}): RepairedConversation {
  const newest = (options.rules ?? 'NEWEST') === 'NEWEST';
  let current = messages;
  let repairCount = 0;
  for (;;) {
    let repairs = 0;
    for (const pass of newest ? NEWEST_PASSES : V26_PASSES) {
      const done = pass(current);
      current = done.messages;
      repairs += done.repairs;
    }
    repairCount += repairs;
    if (repairs === 0 || !newest) return { messages: current, repairCount };
  }
}

type RunPass = (messages: readonly ConversationMessage[]) => Pass;

const NEWEST_PASSES: readonly RunPass[] = [
  mergeAssistants,
  (messages) => dropStrayToolResults(messages, true),
  pruneUnansweredCalls,
  (messages) => mergeUsers(messages, true),
];
const V26_PASSES: readonly RunPass[] = [
  mergeAssistants,
  (messages) => dropStrayToolResults(messages, false),
  (messages) => mergeUsers(messages, false),
];

/** A message under construction: others are folded into it. */
interface Draft extends Omit<ConversationMessage, 'content' | 'apiContent' | 'reasoningContent' | 'toolCalls' | 'toolCallUids'> {
  content: ConversationMessage['content'];
  apiContent: string | null;
  reasoningContent: string | null;
  toolCalls: unknown[] | null;
  toolCallUids: ToolCallUids | null;
  readonly rowIds: string[];
  readonly absorbedMessageUids: string[];
}

function draftOf(message: ConversationMessage): Draft {
  const { rowIds, absorbedMessageUids, toolCalls } = message;
  return { ...message, rowIds: [...rowIds], absorbedMessageUids: [...absorbedMessageUids], toolCalls: toolCalls && [...toolCalls] };
}

/** An answer that a check sent back; the answer that follows takes its place. */
const SUPERSEDED_BY_NEXT: ReadonlySet<string | null> = new Set(['verification_required', 'verify_hook_continue']);

/** Pass A: assistant messages in a row become one; codex interims stay alone. */
function mergeAssistants(messages: readonly ConversationMessage[]): Pass {
  const result: ConversationMessage[] = [];
  let draft: Draft | null = null;
  for (const message of messages) {
    const last = result.at(-1);
    if (last === undefined || !isMergeable(last) || !isMergeable(message)) {
      result.push(message);
      draft = null;
    } else if (SUPERSEDED_BY_NEXT.has(last.finishReason)) {
      result[result.length - 1] = message;
      draft = null;
    } else if (draft === null) {
      draft = draftOf(last);
      if (typeof draft.content === 'string') draft.content = trimSpace(draft.content);
      foldAssistant(draft, message);
      if (draft.content !== last.content) draft.apiContent = null;
      result[result.length - 1] = draft;
    } else {
      const before: ConversationMessage['content'] = draft.content;
      foldAssistant(draft, message);
      if (draft.content !== before) draft.apiContent = null;
    }
  }
  return { messages: result, repairs: messages.length - result.length };
}

function isMergeable(message: ConversationMessage): boolean {
  return message.role === 'assistant' && !isCodexInterim(message);
}

/** An interim turn of the Responses API carries its own state and is sent again as it was. */
function isCodexInterim(message: ConversationMessage): boolean {
  return isTruthy(message.codexReasoningItems) || isTruthy(message.codexMessageItems) || message.finishReason === 'incomplete';
}

function foldAssistant(draft: Draft, later: ConversationMessage): void {
  const calls = draft.toolCalls ?? [];
  for (const call of later.toolCalls ?? []) calls.push(call);
  draft.toolCalls = calls.length > 0 ? calls : null;
  draft.toolCallUids = mergedUids(draft.toolCallUids, later.toolCallUids);
  if (!draft.reasoningContent) draft.reasoningContent = later.reasoningContent || draft.reasoningContent;
  absorb(draft, later);
  if (typeof draft.content === 'string' && typeof later.content === 'string') {
    draft.content = joined(draft.content, '\n', trimSpace(later.content));
  } else if (!isTruthy(draft.content) && later.content !== null) {
    draft.content = later.content;
  }
}

/** Notes which rows and which messages a merged one stands for (4.2, absorbed_message_uids). */
function absorb(draft: Draft, later: ConversationMessage): void {
  for (const id of later.rowIds) draft.rowIds.push(id);
  if (later.messageUid !== null) draft.absorbedMessageUids.push(later.messageUid);
  for (const uid of later.absorbedMessageUids) draft.absorbedMessageUids.push(uid);
}

function mergedUids(earlier: ToolCallUids | null, later: ToolCallUids | null): ToolCallUids | null {
  if (earlier === null || later === null) return earlier ?? later;
  const merged = new Map(Object.entries(earlier));
  for (const [id, slots] of Object.entries(later)) merged.set(id, merged.has(id) ? [merged.get(id) ?? null, slots].flat() : slots);
  return Object.fromEntries(merged);
}

function joined(earlier: string, separator: string, later: string): string {
  return earlier !== '' && later !== '' ? earlier + separator + later : earlier || later;
}

/** Pass B: a tool result stays only behind a call that it answers, before the next user message; each call takes one result. */
function dropStrayToolResults(messages: readonly ConversationMessage[], keepWithoutId: boolean): Pass {
  let calls: ReadonlySet<string>[] = [];
  const result = messages.filter((message) => {
    if (message.role === 'assistant') calls = (message.toolCalls ?? []).map(callIds);
    if (message.role === 'user') calls = [];
    if (message.role !== 'tool') return true;
    const ids = idSpellings([message.toolCallId]);
    if (ids.size === 0) return keepWithoutId;
    const answered = calls.findIndex((call) => shareAnId(call, ids));
    if (answered >= 0) calls.splice(answered, 1);
    return answered >= 0;
  });
  return { messages: result, repairs: messages.length - result.length };
}

/** Pass C: calls without a result in the tool run directly behind go; a message that held nothing else goes with them. */
function pruneUnansweredCalls(messages: readonly ConversationMessage[]): Pass {
  let repairs = 0;
  const result = messages.flatMap((message, index) => {
    if (message.role !== 'assistant' || message.toolCalls === null || message.toolCalls.length === 0 || isCodexInterim(message)) {
      return [message];
    }
    const answered = new Set<string>();
    for (let next = index + 1; messages[next]?.role === 'tool'; next += 1) {
      for (const id of idSpellings([messages[next]?.toolCallId])) answered.add(id);
    }
    const kept = message.toolCalls.filter((call) => shareAnId(callIds(call), answered));
    if (kept.length === message.toolCalls.length) return [message];
    repairs += 1;
    if (kept.length > 0) return [{ ...message, toolCalls: kept }];
    return hasPayload(message) ? [{ ...message, toolCalls: null }] : [];
  });
  return { messages: result, repairs };
}

/** Every spelling under which a call can be answered: call id, item id, and the two joined by a pipe. */
function callIds(call: unknown): ReadonlySet<string> {
  return isJsonObject(call) ? idSpellings([call.call_id, call.id, call.response_item_id]) : new Set();
}

function idSpellings(ids: readonly unknown[]): ReadonlySet<string> {
  const spellings = new Set<string>();
  for (const id of ids) {
    if (typeof id !== 'string') continue;
    for (const spelling of [id, ...id.split('|')]) spellings.add(trimSpace(spelling));
  }
  spellings.delete('');
  return spellings;
}

function shareAnId(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  for (const id of some) if (others.has(id)) return true;
  return false;
}

/** Whether an assistant message says anything beside its tool calls. */
function hasPayload(message: ConversationMessage): boolean {
  return (
    hasContent(message.content) ||
    !isBlank(message.reasoningContent ?? '') ||
    isTruthy(message.reasoning) ||
    isTruthy(message.reasoningDetails) ||
    isTruthy(message.codexMessageItems) ||
    isTruthy(message.codexReasoningItems)
  );
}

function hasContent(content: ConversationMessage['content']): boolean {
  if (typeof content === 'string') return !isBlank(content);
  if (!Array.isArray(content)) return content !== null;
  return content.some((part) => {
    if (!isJsonObject(part)) return isTruthy(part);
    return part.type !== 'text' || (typeof part.text === 'string' && !isBlank(part.text));
  });
}

/** Pass D: plain-text user messages in a row become one, a blank line between them. */
function mergeUsers(messages: readonly ConversationMessage[], protectCarriers: boolean): Pass {
  const result: ConversationMessage[] = [];
  let draft: Draft | null = null;
  let probe = '';
  let isProtected = false;
  for (const message of messages) {
    const last: ConversationMessage | undefined = result.at(-1);
    const mergeable = last?.role === 'user' && message.role === 'user' && !isProtected;
    if (!mergeable || typeof last.content !== 'string' || typeof message.content !== 'string') {
      result.push(message);
      draft = null;
      probe = typeof message.content === 'string' ? message.content : '';
      isProtected = protectCarriers && (message.displayKind === 'steer' || isSummaryCarrier(message));
      continue;
    }
    draft ??= draftOf(last);
    draft.content = joined(last.content, '\n\n', message.content);
    draft.apiContent = null;
    absorb(draft, message);
    result[result.length - 1] = draft;
    probe = `${abridged(probe)}\n\n${message.content}`;
    isProtected = protectCarriers && isSummaryContent(probe);
  }
  return { messages: result, repairs: messages.length - result.length };
}

/**
 * A short text in place of one that is no summary: whatever is appended to either, both read as a summary or both don't. Without it each
 * merge would have to read the whole merged text again.
 */
function abridged(text: string): string {
  if (isBlank(text)) return '';
  const delimiter = text.indexOf(DELIM);
  if (delimiter < 0) return '-';
  return isBlank(text.slice(delimiter + DELIM.length)) ? `-${DELIM}` : `-${DELIM}-`;
}

/** Truth as the writers' language has it: empty text, lists and objects are false. */
function isTruthy(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isJsonObject(value)) return Object.keys(value).length > 0;
  return Boolean(value);
}
