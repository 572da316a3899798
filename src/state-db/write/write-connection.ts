/**
 * What a write needs of the connection that it runs on; each call is one statement on the open transaction.
 */
import type { StoreShape } from '../columns.ts';
import type { SqlRow, SqlValue } from '../decode.ts';

/** By position for `?`, by name for `:name`. Every number is bound as a REAL: whole numbers are given as bigints. */
export type WriteParameters = readonly SqlValue[] | Readonly<Record<string, SqlValue>>;

/** Rows are read with safe integers (`spec/state-db-writes.md` W14): a bigint is an INTEGER, a number is a REAL. */
export interface WriteConnection {
  readonly shape: StoreShape;
  all(sql: string, parameters?: WriteParameters): SqlRow[];
  get(sql: string, parameters?: WriteParameters): SqlRow | undefined;
  run(sql: string, parameters?: WriteParameters): { readonly changes: number; readonly lastInsertRowid: bigint };
}
