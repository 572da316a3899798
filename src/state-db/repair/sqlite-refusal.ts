/** What SQLite says during maintenance, as the refusal that a client is given (`spec/state-db-writes.md` 19). */
import { type RefusalCode, WriteRefused } from '../../write-refused.ts';
import { isBusy, sqliteCode } from '../health.ts';
import { isDamage } from './own-connection.ts';

const BY_PREFIX: readonly (readonly [prefix: string, code: RefusalCode])[] = [
  ['SQLITE_NOTADB', 'STORE_INVALID'],
  ['SQLITE_FULL', 'STORE_FULL'],
  ['SQLITE_READONLY', 'STORE_READONLY'],
  ['SQLITE_CANTOPEN', 'STORE_READONLY'],
  ['SQLITE_IOERR', 'STORE_UNREADABLE'],
];

/** The error itself where SQLite has no part in it. */
export function refusalOf(error: unknown): unknown {
  const code = sqliteCode(error);
  if (code === null) return error;
  if (isBusy(error)) return new WriteRefused('STORE_BUSY', '', { cause: error });
  const known = BY_PREFIX.find(([prefix]) => code.startsWith(prefix));
  if (known !== undefined) return new WriteRefused(known[1], '', { cause: error });
  return isDamage(error) ? new WriteRefused('STORE_CORRUPT', '', { cause: error }) : error;
}
