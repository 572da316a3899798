/**
 * JSON text as the owning programs write it, byte for byte (`spec/state-db-writes.md` V4): `, ` and `: `, all but ASCII escaped, keys in
 * their order, floats told apart from integers. Digests and identities are made over this text.
 */
import { pythonFloat } from './python-float.ts';
import { IntegralFloat, keyOrder, MAX_DEPTH, parsePythonJson } from './python-json-value.ts';

/** What has no JSON text: a function, a symbol, a value that holds itself or is nested too deep. */
export class NotJson extends TypeError {
  override readonly name = 'NotJson';
}

/**
 * The JSON text of a value. Safe whole numbers and bigints are integers, other numbers and `IntegralFloat`s are floats; fields without a
 * value are left out. Throws `NotJson`.
 */
export function pythonJson(value: unknown): string {
  const out: string[] = [];
  write(value, out, 0);
  return out.join('');
}

/** JSON text in the same form, each number in its own kind and each key in its own place; null when the text isn't JSON. */
export function canonicalJson(text: string): string | null {
  const parsed = parsePythonJson(text);
  return parsed === undefined ? null : pythonJson(parsed);
}

function write(value: unknown, out: string[], depth: number): void {
  if (typeof value === 'string') out.push(quoted(value));
  else if (typeof value === 'number') out.push(Number.isSafeInteger(value) && !Object.is(value, -0) ? String(value) : float(value));
  else if (typeof value === 'bigint') out.push(String(value));
  else if (typeof value === 'boolean') out.push(String(value));
  else if (value === null || value === undefined) out.push('null');
  else if (value instanceof IntegralFloat) out.push(float(value.value));
  else if (typeof value !== 'object') throw new NotJson(`A ${typeof value} has no JSON text.`);
  else if (depth >= MAX_DEPTH) throw new NotJson(`The value is nested more than ${MAX_DEPTH} levels deep.`);
  else if (Array.isArray(value)) writeList(value, out, depth);
  else writeObject(value, out, depth);
}

function writeList(list: readonly unknown[], out: string[], depth: number): void {
  out.push('[');
  for (let index = 0; index < list.length; index += 1) {
    if (index > 0) out.push(', ');
    write(list[index], out, depth + 1);
  }
  out.push(']');
}

function writeObject(object: object, out: string[], depth: number): void {
  const fields = object as Readonly<Record<string, unknown>>;
  let separator = '{';
  for (const key of keyOrder(object)) {
    const value = fields[key];
    if (value === undefined) continue;
    out.push(separator, quoted(key), ': ');
    write(value, out, depth + 1);
    separator = ', ';
  }
  out.push(separator === '{' ? '{}' : '}');
}

/** A float as the owning programs write it in JSON, also one that JSON doesn't have. */
export function float(n: number): string {
  if (Number.isNaN(n)) return 'NaN';
  if (Number.isFinite(n)) return pythonFloat(n);
  return n > 0 ? 'Infinity' : '-Infinity';
}

/** JSON.stringify escapes control characters and lone surrogates just so; what it leaves is written out here. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
