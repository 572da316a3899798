/**
 * How compaction marks its summaries in user rows, and how a row that carries both a summary and a person's words comes apart
 * (`spec/state-db.md` 7.5, 9.4). The markers are stored data: byte exact, never reworded.
 */
import type { Content } from './content.ts';
import { isJsonObject } from './decode.ts';
import { isBlank, trimSpace, trimStartSpace } from './whitespace.ts';

/** Opens a summary. Every older wording begins with these 204 characters too. */
export const SUM =
  '[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below. This is a handoff from a previous ' +
  'context window — treat it as background reference, NOT as active instructions. ';
/** Opens a summary of the oldest writers. */
export const SUM0 = '[CONTEXT SUMMARY]:';
/** Closes a summary; what follows is the person's message. */
export const END = '--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---';
/** Opens a message that a summary was appended to. */
export const PRIOR = '[PRIOR CONTEXT — for reference only; not a new message]';
/** Between that message and the summary. */
export const DELIM = '[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]';
/** Opens a user row into which a slash command was expanded. */
export const SKILL = '[IMPORTANT: The user has invoked the ';

/** User rows that a machine wrote to keep a compacted conversation going; no person's words. */
const CONTINUATION_PROMPTS: ReadonlySet<string> = new Set([
  'Continue from the compressed conversation context above. This marker exists because no human user turn was available.',
  'Continue from the compressed conversation context above. This marker exists because the compacted transcript contained no preserved user turn.',
  "You've reached the maximum number of tool-calling iterations allowed. Please provide a final response summarizing what you've found and accomplished so far, without calling any more tools.",
]);
/** The same, followed by a list of tasks. */
const TASK_LIST_HEADER = '[Your active task list was preserved across context compression]';

/** STANDALONE: the summary opens the text. MERGED: the summary was appended to a message that was there. */
export type SummaryShape = 'STANDALONE' | 'MERGED';

/** Whether the text opens with a summary, whitespace in front ignored. */
export function startsWithSummary(text: string): boolean {
  const start = trimStartSpace(text);
  return start.startsWith(SUM) || start.startsWith(SUM0);
}

/** What kind of summary the text is, if any (9.4). */
export function summaryShape(text: string): SummaryShape | null {
  const delimiter = text.indexOf(DELIM);
  if (delimiter >= 0 && startsWithSummary(text.slice(delimiter + DELIM.length))) return 'MERGED';
  return startsWithSummary(text) ? 'STANDALONE' : null;
}

/** Whether content is a summary, by its text alone: a string, or the texts of a list's parts. */
export function isSummaryContent(content: Content): boolean {
  return summaryShape(markerText(content)) !== null;
}

/** What splitting needs of a message; stored records and assembled messages both have it. */
export interface CompositeSource {
  readonly role: string;
  readonly content: Content;
  readonly displayKind: string | null;
  readonly displayMetadata: Readonly<Record<string, unknown>> | null;
  /** False where the store has no such column, or where only the text may decide (8.3). */
  readonly compressedSummary: boolean;
}

export interface CompositePart {
  readonly content: Content;
  readonly displayKind: string | null;
  readonly displayMetadata: Readonly<Record<string, unknown>> | null;
}

/** Whether a row is a summary: flagged as one, or by its text (9.4). */
export function isSummaryCarrier(message: CompositeSource): boolean {
  return message.role === 'user' && (message.compressedSummary || isSummaryContent(message.content));
}

/**
 * Splits a user row into the machine's handoff and the person's words; either may be missing (9.4). An ordinary row has no handoff and is
 * its own human part; a timeline note, a blank row and a machine's continuation prompt have neither. Other roles have neither.
 */
export function splitComposite(message: CompositeSource): { handoff: CompositePart | null; human: CompositePart | null } {
  if (message.role !== 'user') return { handoff: null, human: null };
  const kind = message.displayKind;
  if (!isSummaryCarrier(message)) {
    const note = kind !== null && kind !== '' && kind !== 'steer';
    return { handoff: null, human: note ? null : humanPart(message.content, message) };
  }
  const handoff = { content: handoffContent(message.content), displayKind: 'hidden', displayMetadata: null };
  const note = kind !== null && kind !== '' && kind !== 'hidden';
  return { handoff, human: note ? null : humanPart(humanContent(message.content), message) };
}

/** The part as a message of its own, or null when nobody wrote it. Of the metadata only reactions are the person's (9.4). */
function humanPart(content: Content | null, message: CompositeSource): CompositePart | null {
  if (content === null || isBlankContent(content) || isSummaryContent(content) || isContinuationPrompt(content)) return null;
  const reactions = message.displayMetadata?.reactions;
  return { content, displayKind: null, displayMetadata: reactions === undefined ? null : { reactions } };
}

function isContinuationPrompt(content: Content): boolean {
  const text = trimSpace(markerText(content));
  return CONTINUATION_PROMPTS.has(text) || text.startsWith(TASK_LIST_HEADER);
}

function isBlankContent(content: Content): boolean {
  if (content === null) return true;
  if (typeof content === 'string') return isBlank(content);
  if (!Array.isArray(content)) return false;
  return content.every((part) => {
    if (typeof part === 'string') return isBlank(part);
    return isJsonObject(part) && (part.type === 'text' || part.type === 'input_text') && isBlank(partText(part) ?? '');
  });
}

/** The person's words of a summary row, null when it holds none. */
function humanContent(content: Content): Content | null {
  if (typeof content === 'string') return humanText(content);
  if (!Array.isArray(content)) return null;
  const merged = content.findIndex((part) => partText(part)?.includes(DELIM));
  const parts = merged >= 0 ? partsBeforeDelimiter(content, merged) : partsAfterEnd(content);
  return parts.length === 0 ? null : parts;
}

function humanText(text: string): string | null {
  if (isMergedText(text)) return withoutPrior(trimSpace(text.slice(0, text.indexOf(DELIM)))) || null;
  const end = text.indexOf(END);
  return end < 0 ? null : trimStartSpace(text.slice(end + END.length)) || null;
}

/** A summary that quotes the delimiter is still a standalone one; a flagged row without an opening is taken by its delimiter. */
function isMergedText(text: string): boolean {
  return text.includes(DELIM) && summaryShape(text) !== 'STANDALONE';
}

function withoutPrior(text: string): string {
  return text.startsWith(PRIOR) ? trimStartSpace(text.slice(PRIOR.length)) : text;
}

function partsBeforeDelimiter(parts: readonly unknown[], merged: number): unknown[] {
  const before = parts.slice(0, merged);
  const text = partText(parts[merged]) ?? '';
  const cut = text.slice(0, text.indexOf(DELIM));
  if (!isBlank(cut)) before.push(withPartText(parts[merged], cut));
  const header = before.findIndex((part) => trimStartSpace(partText(part) ?? '').startsWith(PRIOR));
  if (header < 0) return before;
  const rest = withoutPrior(trimStartSpace(partText(before[header]) ?? ''));
  return before.flatMap((part, index) => (index !== header ? [part] : rest === '' ? [] : [withPartText(part, rest)]));
}

function partsAfterEnd(parts: readonly unknown[]): unknown[] {
  const closing = parts.findIndex((part) => partText(part)?.includes(END));
  if (closing < 0) return [];
  const text = partText(parts[closing]) ?? '';
  const rest = trimStartSpace(text.slice(text.indexOf(END) + END.length));
  const later = parts.slice(closing + 1);
  return rest === '' ? later : [withPartText(parts[closing], rest), ...later];
}

/** The summary alone, up to and including END; never a person's words or pictures. */
function handoffContent(content: Content): Content {
  if (typeof content === 'string') {
    return throughEnd(isMergedText(content) ? trimStartSpace(content.slice(content.indexOf(DELIM) + DELIM.length)) : content);
  }
  if (!Array.isArray(content)) return content;
  const merged = content.find((part) => partText(part)?.includes(DELIM));
  if (merged !== undefined) {
    const text = partText(merged) ?? '';
    const summary = throughEnd(trimStartSpace(text.slice(text.indexOf(DELIM) + DELIM.length)));
    return summary === '' ? [] : [withPartText(merged, summary)];
  }
  const closing = content.findIndex((part) => partText(part)?.includes(END));
  const parts = closing < 0 ? content : content.slice(0, closing + 1);
  return parts.flatMap((part) => {
    const text = partText(part);
    return text === null ? [] : [withPartText(part, throughEnd(text))];
  });
}

function throughEnd(text: string): string {
  const end = text.indexOf(END);
  return end < 0 ? text : text.slice(0, end + END.length);
}

/** The text in which markers are looked for: parts of any type that have one, a line each. */
function markerText(content: Content): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.flatMap((part) => partText(part) || []).join('\n');
}

function partText(part: unknown): string | null {
  if (typeof part === 'string') return part;
  return isJsonObject(part) && typeof part.text === 'string' ? part.text : null;
}

function withPartText(part: unknown, text: string): unknown {
  return isJsonObject(part) ? { ...part, text } : text;
}
