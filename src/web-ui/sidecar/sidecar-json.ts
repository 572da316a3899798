/**
 * The JSON of the Web UI's files (`spec/webui-sidecars.md` 0, 3.7): also NaN and Infinity; indented by 2, `": "`, non-ASCII as it is.
 */
import { isJsonObject, parseJson } from '../../state-db/decode.ts';
import { float, NotJson } from '../../state-db/write/python-json.ts';
import { IntegralFloat, keyOrder, MAX_DEPTH, parsePythonJson } from '../../state-db/write/python-json-value.ts';

/**
 * The value for reading, each number as a JavaScript number; undefined when the text is no JSON, or is nested so deep that the owner can't
 * read it either.
 */
export function parseSidecarJson(text: string): unknown {
  const value = parseJson(text);
  if (value === undefined) return plain(parsePythonJson(text));
  return isTooDeep(text) ? undefined : value;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = endOfString(text, at);
    else if (unit === 0x7b || unit === 0x5b) {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (unit === 0x7d || unit === 0x5d) depth -= 1;
  }
  return false;
}

function endOfString(text: string, from: number): number {
  let end = text.indexOf('"', from + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let start = at;
  while (text.charCodeAt(start - 1) === BACKSLASH) start -= 1;
  return (at - start) % 2 === 1;
}

function plain(value: unknown): unknown {
  if (value instanceof IntegralFloat) return value.value;
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}

/** Text of a value as it stands in a file at this depth of nesting. Numbers as in `pythonJson`. Throws `NotJson`. */
export function sidecarJson(value: unknown, depth = 0): string {
  const out: string[] = [];
  write(value, out, depth);
  return out.join('');
}

function write(value: unknown, out: string[], depth: number): void {
  if (typeof value === 'string') out.push(quoted(value));
  else if (typeof value === 'number') out.push(Number.isSafeInteger(value) && !Object.is(value, -0) ? String(value) : float(value));
  else if (typeof value === 'bigint' || typeof value === 'boolean') out.push(String(value));
  else if (value === null || value === undefined) out.push('null');
  else if (value instanceof IntegralFloat) out.push(float(value.value));
  else if (typeof value !== 'object') throw new NotJson(`A ${typeof value} has no JSON text.`);
  else if (depth >= MAX_DEPTH) throw new NotJson(`The value is nested more than ${MAX_DEPTH} levels deep.`);
  else if (Array.isArray(value))
    writeItems(
      '[]',
      value.map((item) => ['', item] as const),
      out,
      depth,
    );
  else writeItems('{}', entriesOf(value), out, depth);
}

function entriesOf(object: object): (readonly [string, unknown])[] {
  const fields = object as Readonly<Record<string, unknown>>;
  return keyOrder(object).flatMap((key) => (fields[key] === undefined ? [] : [[`${quoted(key)}: `, fields[key]] as const]));
}

function writeItems(brackets: '[]' | '{}', items: readonly (readonly [string, unknown])[], out: string[], depth: number): void {
  if (items.length === 0) {
    out.push(brackets);
    return;
  }
  let separator = brackets.charAt(0);
  for (const [label, item] of items) {
    out.push(separator, '\n', '  '.repeat(depth + 1), label);
    write(item, out, depth + 1);
    separator = ',';
  }
  out.push('\n', '  '.repeat(depth), brackets.charAt(1));
}

/** Non-ASCII stays as it is; half a surrogate pair, which UTF-8 can't hold, is escaped. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
