/**
 * JSON as the owning programs write it into spool and divert files (`spec/state-db-writes.md` S2, J1), and read so that no digit of a
 * large number is lost.
 */
interface NumberSource {
  readonly source?: string;
}
type Reviver = (key: string, value: unknown, context: NumberSource) => unknown;

// The library's types lag behind: both came with V8 11.4, and Node.js 22 has them.
const parse = JSON.parse as (text: string, reviver?: Reviver) => unknown;
const { rawJSON } = JSON as unknown as { rawJSON(text: string): object };

/** Fewer digits than this are exact as a JavaScript number. */
const MANY_DIGITS = /[0-9]{16}/;
const WHOLE = /^-?[0-9]+$/;

/** Parses; whole numbers past 2^53 come as bigint. Throws SyntaxError, or RangeError for text that is nested too deep. */
export function parseSpoolJson(text: string): unknown {
  return MANY_DIGITS.test(text) ? parse(text, exactWhole) : parse(text);
}

/** Parses for writing back: numbers whose text JavaScript would change (`1.0`, `1e-07`) are kept as text. Throws as `parseSpoolJson`. */
export function parseLexemes(text: string): unknown {
  return parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? rawJSON(source) : value,
  );
}

/** The form of spool files: indented by 2, non-ASCII as it is, values that JSON lacks as strings. Throws TypeError for a cycle. */
export function spoolText(value: unknown): string {
  return JSON.stringify(value, expressible, 2);
}

/** The form of a line of a divert file: one line, `, ` and `: ` between, otherwise as `spoolText`. */
export function lineText(value: unknown): string {
  // Within strings a line feed is always escaped, so the ones that are here came from the indentation.
  return JSON.stringify(value, expressible, 1).replace(/(,?)\n */g, (_all, comma: string) => (comma === '' ? '' : ', '));
}

function exactWhole(_key: string, value: unknown, { source }: NumberSource): unknown {
  const isCut = typeof value === 'number' && source !== undefined && WHOLE.test(source) && !Number.isSafeInteger(value);
  return isCut ? BigInt(source) : value;
}

function expressible(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return rawJSON(String(value));
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'function' || typeof value === 'symbol') return String(value);
  return isForeign(value) ? String(value) : value;
}

/** Objects such as a Map, which JSON would tell as empty. */
function isForeign(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== null && prototype !== Object.prototype;
}
