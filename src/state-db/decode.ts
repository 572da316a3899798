/**
 * Values of a store, decoded at one seam. Rows are untrusted (`spec/state-db.md` 4.10, 5): nothing here throws, whatever a cell
 * holds. A value that can't be trusted becomes null (or its documented default), and a warning says which column and why.
 */

/** What better-sqlite3 hands out for a cell. */
export type SqlValue = number | bigint | string | Uint8Array | null;
export type SqlRow = Readonly<Record<string, SqlValue | undefined>>;

/** One value that could not be trusted, and what was done about it. */
export interface DataWarning {
  readonly code:
    | 'TIME_OUT_OF_RANGE'
    | 'NOT_A_NUMBER'
    | 'NOT_TEXT'
    | 'UNDECODABLE_TEXT'
    | 'INVALID_JSON'
    | 'NEGATIVE_COUNT'
    | 'NUMBER_TOO_LARGE'
    | 'UNKNOWN_ROLE'
    | 'UNSAFE_ID'
    | 'MISSING_PARENT'
    | 'PARENT_CYCLE'
    | 'COUNT_MISMATCH'
    | 'FOREIGN_PROFILE'
    | 'ROWS_MISSING'
    | 'RESCUED_MESSAGEFUL_HIDDEN_SESSION'
    | 'SIDECAR_CORRUPT'
    | 'SIDECAR_DAMAGED_ENCODING'
    | 'SIDECAR_TOO_LARGE'
    | 'SIDECAR_UNREADABLE'
    | 'SIDECAR_VALUE'
    | 'SIDECAR_GONE'
    | 'TRANSCRIPT_CUT'
    | 'NOT_A_MESSAGE'
    | 'PAYLOAD_ONLY_LOCAL'
    | 'DANGLING_TOOL_CALL'
    | 'OUT_OF_ORDER'
    | 'LATE_ROWS_DROPPED'
    | 'CONTEXT_FAIL_CLOSED'
    | 'STORE_UNREADABLE';
  readonly message: string;
  readonly field: string | null;
}

/** Epoch seconds that are accepted as a time; everything outside is NULL (`spec/state-db.md`, notation `win`). */
export const EARLIEST_TIME = 0;
export const LATEST_TIME = 4_200_000_000;

/** `win(x)` of the specification: x when it is a number inside the accepted window, else null. */
export function inWindow(value: SqlValue | undefined): number | null {
  const number = typeof value === 'bigint' ? Number(value) : value;
  return typeof number === 'number' && number >= EARLIEST_TIME && number <= LATEST_TIME ? number : null;
}

const REPLACEMENT = '�';
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Reads the cells of one row and remembers what was wrong with them. */
export class RowReader {
  readonly warnings: DataWarning[] = [];
  readonly #row: SqlRow;

  constructor(row: SqlRow) {
    this.#row = row;
  }

  raw(column: string): SqlValue {
    return this.#row[column] ?? null;
  }

  warn(code: DataWarning['code'], field: string | null, message: string): void {
    this.warnings.push({ code, field, message });
  }

  /** Text; numbers are written out, bytes are decoded with replacement characters. */
  text(column: string): string | null {
    const value = this.raw(column);
    if (value === null) return null;
    if (typeof value === 'string') {
      if (value.includes(REPLACEMENT)) {
        this.warn('UNDECODABLE_TEXT', column, `${column} holds characters that could not be decoded; they show as ${REPLACEMENT}.`);
      }
      return value;
    }
    if (value instanceof Uint8Array) {
      this.warn('NOT_TEXT', column, `${column} holds bytes where text belongs; they were decoded as UTF-8.`);
      return utf8.decode(value);
    }
    return String(value);
  }

  /** Text without a warning for replacement characters, for values that are not shown. */
  quietText(column: string): string | null {
    const value = this.raw(column);
    if (value === null) return null;
    if (typeof value === 'string') return value;
    return value instanceof Uint8Array ? utf8.decode(value) : String(value);
  }

  /** Epoch seconds inside the accepted window, else null with a warning. */
  time(column: string): number | null {
    const value = this.raw(column);
    if (value === null) return null;
    const number = numeric(value);
    if (number !== null && number >= EARLIEST_TIME && number <= LATEST_TIME) return number;
    this.warn('TIME_OUT_OF_RANGE', column, `${column} is not a time between 1970 and 2103; it shows as null.`);
    return null;
  }

  /** A flag; NULL and what is not a number give `whenNull`, any non-zero number is true. */
  flag(column: string, whenNull = false): boolean {
    const value = this.raw(column);
    if (value === null) return whenNull;
    const number = numeric(value);
    return number === null ? whenNull : number !== 0;
  }

  /** A counter: NULL and what is not a number give 0, negatives are clamped to 0. */
  count(column: string): number {
    const value = this.raw(column);
    if (value === null) return 0;
    const number = numeric(value);
    if (number === null || !Number.isFinite(number)) {
      this.warn('NOT_A_NUMBER', column, `${column} is not a number; it counts as 0.`);
      return 0;
    }
    if (number < 0) {
      this.warn('NEGATIVE_COUNT', column, `${column} is negative; it counts as 0.`);
      return 0;
    }
    if (number > Number.MAX_SAFE_INTEGER) {
      this.warn('NUMBER_TOO_LARGE', column, `${column} is larger than can be shown exactly.`);
    }
    return Math.trunc(number);
  }

  /** A finite number, else null (money, optional counters). */
  number(column: string): number | null {
    const value = this.raw(column);
    if (value === null) return null;
    const number = numeric(value);
    if (number === null || !Number.isFinite(number)) {
      this.warn('NOT_A_NUMBER', column, `${column} is not a number; it shows as null.`);
      return null;
    }
    return number;
  }

  /** Parsed JSON of any shape; undefined when the cell is NULL or not JSON (with a warning). */
  json(column: string): unknown {
    const text = this.quietText(column);
    if (text === null) return undefined;
    const parsed = parseJson(text);
    if (parsed === undefined) this.warn('INVALID_JSON', column, `${column} is not valid JSON; it shows as null.`);
    return parsed;
  }
}

function numeric(value: SqlValue): number | null {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'string' && value.trim() !== '') {
    const number = Number(value);
    return Number.isNaN(number) ? null : number;
  }
  return null;
}

/** JSON.parse that gives undefined instead of an exception. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
