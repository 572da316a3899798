/**
 * The errors that this server raises on purpose. Each has a stable `code` that clients may rely on, and a message for people that
 * says what happened and what to do next. Anything else that is thrown is a defect: the outer layers mask it and log it.
 */
export class CaduceusError extends Error {
  override readonly name: string = 'CaduceusError';
  readonly code: string;
  /** More facts for a program, for example the limit that was passed. Never content of messages, never a path outside the store. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, options: { cause?: unknown; details?: Record<string, unknown> } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** The caller's arguments can't be used: a bad cursor, page size, id, profile or query. */
export class InvalidInput extends CaduceusError {
  override readonly name = 'InvalidInput';
  constructor(message: string, details: Record<string, unknown> = {}, code = 'BAD_USER_INPUT') {
    super(code, message, { details });
  }
}

/** What can be wrong with a store as a whole (`spec/state-db.md` 2.3). */
export type StoreHealth =
  | 'OK'
  | 'EMPTY'
  | 'NOT_FOUND'
  | 'NOT_A_DATABASE'
  | 'SCHEMA_MALFORMED'
  | 'CORRUPT'
  | 'BUSY'
  | 'IO_ERROR'
  | 'REPLACED'
  | 'WAL_GENERATION_LOST';

/** A store, or the part of it that was asked for, can't be read. The code is the store's health (`spec/state-db.md` 2.3). */
export class StoreUnreadable extends CaduceusError {
  override readonly name = 'StoreUnreadable';
  readonly health: Exclude<StoreHealth, 'OK'>;
  constructor(health: Exclude<StoreHealth, 'OK'>, message: string, cause?: unknown) {
    super(health, message, { cause });
    this.health = health;
  }
}

/** A bounded piece of work passed its time limit and was stopped; the server goes on. */
export class TimeLimitExceeded extends CaduceusError {
  override readonly name = 'TimeLimitExceeded';
  constructor(what: string, limitMs: number, setting: string) {
    super('TIME_LIMIT', `${what} took longer than ${limitMs} ms and was stopped. Narrow it down, or raise ${setting}.`, {
      details: { limitMs, setting },
    });
  }
}
