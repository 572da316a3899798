/**
 * Failures of SQLite on demand: what a writer's statement throws, and when.
 */
import Database from 'better-sqlite3';

export class Faults {
  /** The error for each statement that begins like the text; null: none. */
  readonly #rules: { readonly matches: string; readonly make: () => Error; left: number }[] = [];

  /** For `StoreWriterOptions`. */
  readonly onStatement = (sql: string): void => {
    const rule = this.#rules.find(({ matches, left }) => left > 0 && sql.startsWith(matches));
    if (rule === undefined) return;
    rule.left--;
    throw rule.make();
  };

  /** Makes statements that begin like this fail, so many times. */
  fail(matches: string, code: string, times = Number.POSITIVE_INFINITY, message = 'injected'): void {
    this.#rules.push({ matches, make: () => new Database.SqliteError(message, code), left: times });
  }

  heal(): void {
    this.#rules.length = 0;
  }
}
