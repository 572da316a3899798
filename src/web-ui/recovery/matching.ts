/**
 * When two rows of a transcript are one (`spec/webui-recovery.md` 7). Pure; rows may be anything.
 */
import { isJsonObject } from '../../state-db/decode.ts';
import { collapseSpace } from '../../state-db/whitespace.ts';
import { type Fields, listOf, truthy } from '../sidecar/coercions.ts';

/** The prompt of the turn, as the file keeps it while the turn runs (2.1). */
export interface PendingPrompt {
  readonly text: string;
  readonly attachments: readonly unknown[];
  /** As stored. */
  readonly startedAt: unknown;
  readonly source: string;
}

/** In so many code points a text may be found inside another. */
const SHORTEST_PART = 24;
const DECIMAL = /^[+-]?\d+(?:_\d+)*$/;
/** Seconds by which a row of the prompt may be older than the turn (D4). */
const CLOCK_SLACK = 2;

/** Text with single blanks; of a list its canonical JSON. Nothing for what is falsy to the owner. */
export function normalised(value: unknown): string {
  if (!truthy(value)) return '';
  if (typeof value === 'string') return collapseSpace(value);
  return typeof value === 'object' ? canonicalJson(value) : collapseSpace(String(value));
}

/** Keys in order, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    isJsonObject(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))) : item,
  );
}

/** A time as a whole number, cut towards zero; null for what is none. */
export function wholeSeconds(value: unknown): number | null {
  if (typeof value === 'string') {
    const text = value.trim();
    return DECIMAL.test(text) ? Number(text.replaceAll('_', '')) : null;
  }
  if (typeof value === 'boolean') return Number(value);
  // Adding 0 makes a positive zero of a negative one.
  return typeof value === 'number' && Number.isFinite(value) ? Math.trunc(value) + 0 : null;
}

export function isUser(row: Fields | null): row is Fields {
  return row?.role === 'user';
}

function textMatches(row: Fields | null, text: string): boolean {
  return isUser(row) && normalised(row.content) === normalised(text);
}

/** The row is this very prompt: text, second, source and attachments. */
export function checkpointMatches(row: Fields | null, { text, startedAt, source, attachments }: PendingPrompt): boolean {
  return isSamePrompt(row, { role: 'user', content: text, timestamp: startedAt, _source: source, attachments });
}

/** Two rows are one prompt. */
export function isSamePrompt(row: Fields | null, other: Fields): boolean {
  if (!isUser(row) || normalised(row.content) !== normalised(other.content)) return false;
  const second = wholeSeconds(row.timestamp);
  if (second === null || second !== wholeSeconds(other.timestamp)) return false;
  return sourceOf(row) === sourceOf(other) && canonicalJson(listOf(row.attachments)) === canonicalJson(listOf(other.attachments));
}

function sourceOf({ _source: source }: Fields): unknown {
  return truthy(source) ? source : 'webui';
}

/**
 * The user row that is the prompt (D4): one that is it to the second, or the last row, or the last user row when it isn't older than the turn.
 * `rows`: oldest first. Null: the prompt is not in the transcript.
 */
export function rowOfPrompt<Row extends { readonly fields: Fields | null }>(rows: readonly Row[], prompt: PendingPrompt): Row | null {
  const exact = rows.findLast(({ fields }) => checkpointMatches(fields, prompt));
  if (exact !== undefined) return exact;
  const last = rows.at(-1);
  if (last !== undefined && textMatches(last.fields, prompt.text)) return last;
  const lastUser = rows.findLast(({ fields }) => isUser(fields));
  if (lastUser === undefined || !textMatches(lastUser.fields, prompt.text)) return null;
  const [said, started] = [Number(lastUser.fields?.timestamp), wholeSeconds(prompt.startedAt)];
  return started !== null && said >= started - CLOCK_SLACK ? lastUser : null;
}

/** Answers that say the text: the same first, then those that contain it where it is long enough to mean something. */
export function answersWith<Row extends { readonly fields: Fields | null }>(rows: readonly Row[], text: string): Row[] {
  const wanted = normalised(text);
  const answers = rows
    .filter(({ fields }) => fields?.role === 'assistant' && !truthy(fields._error))
    .map((row) => [row, normalised(row.fields?.content)] as const);
  const same = answers.filter(([, content]) => content === wanted);
  const containing = isLongEnough(wanted) ? answers.filter(([, content]) => content !== wanted && content.includes(wanted)) : [];
  return [...same, ...containing].map(([row]) => row);
}

function isLongEnough(text: string): boolean {
  return text.length >= SHORTEST_PART && [...text.slice(0, 2 * SHORTEST_PART)].length >= SHORTEST_PART;
}
