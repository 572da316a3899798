/**
 * Values of messages as the Web UI compares them (`spec/webui-transcript.md` 1.2). Sidecars and rows are untrusted: nothing here throws,
 * whatever a field holds.
 */
import { isJsonObject } from '../../state-db/decode.ts';
import { collapseSpace, trimSpace } from '../../state-db/whitespace.ts';

/** One message of either store: a row as `stateMessage` makes it, or an element of a sidecar's list that is an object. */
export type Message = Readonly<Record<string, unknown>>;

/** Deeper values exist only to break readers; they equal nothing, not even themselves. */
const DEEPEST = 500;
let deepValues = 0;

export const isMessage = isJsonObject;

/** Null, undefined or "": where the specification says "null-or-blank". */
export function isBlankValue(value: unknown): boolean {
  return value === null || value === undefined || value === '';
}

/** What counts as empty: null, "", 0, false, an empty list, an empty object. */
export function isEmpty(value: unknown): boolean {
  if (!value) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** A string as it is, nothing for what is empty, and a spelling of its own for anything else. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (isEmpty(value)) return '';
  return typeof value === 'object' ? `\0${canonicalJson(value)}` : String(value);
}

/** Deterministic text of a JSON value, the keys of objects in order. */
export function canonicalJson(value: unknown, depth = 0): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (depth > DEEPEST) return `<deep:${++deepValues}>`;
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item, depth + 1)).join(',')}]`;
  const fields = value as Readonly<Record<string, unknown>>;
  const members = Object.keys(fields)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(fields[key], depth + 1)}`);
  return `{${members.join(',')}}`;
}

const DIGITS = '\\d+(?:_\\d+)*';
const DECIMAL = new RegExp(`^[+-]?(?:${DIGITS}(?:\\.(?:${DIGITS})?)?|\\.${DIGITS})(?:e[+-]?${DIGITS})?$`, 'i');
const NOT_FINITE = /^([+-]?)(?:inf|infinity|nan)$/i;
/** No number is written longer; a pasted text is none. */
const LONGEST_NUMBER = 400;

/** A number, a boolean or numeric text as a number (it may be infinite or NaN); null for anything else. Unlike `Number`, no hexadecimal and no "". */
export function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean' || typeof value === 'bigint') return Number(value);
  if (typeof value !== 'string') return null;
  const text = value.length > LONGEST_NUMBER ? '' : trimSpace(value);
  if (DECIMAL.test(text)) return Number(text.replaceAll('_', ''));
  const special = NOT_FINITE.exec(text);
  if (special === null) return null;
  if (/nan$/i.test(text)) return Number.NaN;
  return special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** A finite number, else null. */
export function finiteNumber(value: unknown): number | null {
  const number = numberOf(value);
  return number !== null && Number.isFinite(number) ? number : null;
}

/** The role for comparisons that ignore its spelling: trimmed, in lower case. */
export function roleOf(message: unknown): string {
  return isMessage(message) ? trimSpace(textOf(message.role)).toLowerCase() : '';
}

/** The text that was sent to the provider when it differs from the transcript; null when there is none. */
export function payloadOf(message: Message): string | null {
  const payload = message.api_content;
  return typeof payload === 'string' && payload !== '' ? payload : null;
}

/** Whether payloads don't contradict each other: equal, or one is missing. */
export function arePayloadsCompatible(a: Message, b: Message): boolean {
  const [one, other] = [payloadOf(a), payloadOf(b)];
  return one === null || other === null || one === other;
}

export function toolCallsKey(message: Message): string {
  return isEmpty(message.tool_calls) ? '' : canonicalJson(message.tool_calls);
}

export function hasToolCalls(message: Message): boolean {
  return !isEmpty(message.tool_calls);
}

export function toolName(message: Message): string {
  return textOf(message.tool_name) || textOf(message.name);
}

const TEXT_TYPES: ReadonlySet<unknown> = new Set(['text', 'input_text', 'output_text']);

/** The plain text of a message: its string, or the `text`/`content` of its text parts, a line each (14). */
export function plainText(message: Message): string {
  const { content } = message;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const texts = content.flatMap((part: unknown) => {
    if (!isMessage(part) || !TEXT_TYPES.has(part.type)) return [];
    return textOf(part.text) || textOf(part.content) || [];
  });
  return texts.join('\n');
}

export function collapsed(value: unknown): string {
  return collapseSpace(textOf(value));
}
