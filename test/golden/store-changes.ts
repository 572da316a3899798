/**
 * What a call changed in a store, in the shape of `after` in `golden/STORE/mutations.json`: two photographs are taken and compared.
 *
 *     const before = photograph(path, ['m_long']);
 *     ...
 *     const found = changes(before, photograph(path, ['m_long']));
 */
import Database from 'better-sqlite3';
import { FTS_INDEXES, type FtsIndex, INDEXED_COLUMNS, unsoundRows } from './index-soundness.ts';

const OBJECTS = "SELECT type || ' ' || name AS object, coalesce(sql, '') AS sql FROM sqlite_master ORDER BY 1";
/** Tables whose rows are told by number: all but those that SQLite and FTS5 keep for themselves. */
const TABLES =
  "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'messages\\_fts%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";

type Cell = string | number | bigint | Uint8Array | null;
export type Row = Readonly<Record<string, Cell>>;

/** One moment of a store. */
export interface StorePhotograph {
  /** The sessions that `changes` tells of. */
  readonly sessionIds: readonly string[];
  /** Every session of the store by id, and every message row by row id. */
  readonly sessions: ReadonlyMap<string, Row>;
  readonly messages: ReadonlyMap<number, Row>;
  readonly totals: ReadonlyMap<string, number>;
  /** The CREATE text by type and name. */
  readonly schema: ReadonlyMap<string, string>;
  /** By index, the rows that it does not hold as they are; null for an index that is missing or unreadable. */
  readonly unsound: ReadonlyMap<FtsIndex, ReadonlySet<number> | null>;
}

/** A session whose columns changed; one that came (its whole row); one that went. */
export type SessionChange = { readonly id: string; readonly changed: Row } | { readonly id: string; readonly row: Row | null };

export interface StoreChanges {
  /** In the order in which the sessions were named. */
  readonly sessions: readonly SessionChange[];
  /** By row id. Columns that are NULL are left out of added rows; changed rows have their id and the columns that changed. */
  readonly messages: { readonly removed: readonly number[]; readonly added: readonly Row[]; readonly changed: readonly Row[] };
  /** The number of rows of the tables where it is another one than before; null for a table that went. */
  readonly totals: Readonly<Record<string, number | null>>;
  /** Whether both full-text indexes exist and hold exactly what the rows say, but for rows that were at fault before and are the same. */
  readonly fts_integrity_ok: boolean;
  /** Tables, indexes and triggers that came, went or were altered: never in a golden answer. */
  readonly schema?: readonly string[];
}

/** Reads a whole store on a connection of its own. Throws when another connection holds the write lock. */
export function photograph(path: string, sessionIds: readonly string[]): StorePhotograph {
  const db = new Database(path, { fileMustExist: true });
  try {
    const tables = db.prepare<[], { name: string }>(TABLES).all();
    const objects = db.prepare<[], { object: string; sql: string }>(OBJECTS).all();
    return {
      sessionIds,
      sessions: new Map(rows(db, 'SELECT * FROM sessions').map((row) => [String(row.id), row])),
      messages: new Map(rows(db, 'SELECT * FROM messages ORDER BY id').map((row) => [Number(row.id), row])),
      totals: new Map(tables.map(({ name }) => [name, rowCount(db, name)])),
      schema: new Map(objects.map(({ object, sql }) => [object, sql])),
      unsound: new Map(FTS_INDEXES.map((index) => [index, unsoundRows(db, index)])),
    };
  } finally {
    db.close();
  }
}

/** What is different in the second photograph, of the sessions that it names. */
export function changes(before: StorePhotograph, after: StorePhotograph): StoreChanges {
  const named = new Set(after.sessionIds);
  const [old, now] = [before, after].map(({ messages }) => [...messages.values()].filter((row) => named.has(String(row.session_id))));
  const oldIds = new Set(old?.map(({ id }) => id));
  const nowIds = new Set(now?.map(({ id }) => id));
  const schema = differingKeys(before.schema, after.schema);
  return {
    sessions: after.sessionIds.flatMap((id) => sessionChange(id, before.sessions.get(id), after.sessions.get(id))),
    messages: {
      removed: (old ?? []).flatMap(({ id }) => (nowIds.has(id ?? null) ? [] : [Number(id)])),
      added: (now ?? []).filter(({ id }) => !oldIds.has(id ?? null)).map(withoutNulls),
      changed: (now ?? []).flatMap((row) => messageChange(before.messages.get(Number(row.id)), row)),
    },
    totals: Object.fromEntries(differingKeys(before.totals, after.totals).map((table) => [table, after.totals.get(table) ?? null])),
    fts_integrity_ok: FTS_INDEXES.every((index) => indexIsAsSound(index, before, after)),
    ...(schema.length > 0 && { schema }),
  };
}

/** Ids of sessions that are not named and whose row or messages are different in the second photograph; sorted. */
export function changedElsewhere(before: StorePhotograph, after: StorePhotograph): string[] {
  const ids = new Set<string>();
  for (const id of new Set([...before.sessions.keys(), ...after.sessions.keys()])) {
    if (!sameRow(before.sessions.get(id), after.sessions.get(id))) ids.add(id);
  }
  for (const id of new Set([...before.messages.keys(), ...after.messages.keys()])) {
    const [old, now] = [before.messages.get(id), after.messages.get(id)];
    if (sameRow(old, now)) continue;
    for (const row of [old, now]) if (row !== undefined) ids.add(String(row.session_id));
  }
  return [...ids].filter((id) => !after.sessionIds.includes(id)).sort();
}

function indexIsAsSound(index: FtsIndex, before: StorePhotograph, after: StorePhotograph): boolean {
  const known = before.unsound.get(index);
  const unsound = after.unsound.get(index) ?? null;
  if (unsound === null) return false;
  return [...unsound].every((id) => {
    const [old, now] = [before.messages.get(id), after.messages.get(id)];
    return known?.has(id) === true && INDEXED_COLUMNS.every((column) => sameCell(old?.[column], now?.[column]));
  });
}

function sessionChange(id: string, before: Row | undefined, after: Row | undefined): SessionChange[] {
  if (before === undefined && after === undefined) return [];
  if (before === undefined || after === undefined) return [{ id, row: after ?? null }];
  const changed = changedColumns(before, after);
  return Object.keys(changed).length === 0 ? [] : [{ id, changed }];
}

function messageChange(before: Row | undefined, after: Row): Row[] {
  if (before === undefined) return [];
  const changed = changedColumns(before, after);
  return Object.keys(changed).length === 0 ? [] : [{ id: after.id ?? null, ...changed }];
}

function changedColumns(before: Row, after: Row): Row {
  return Object.fromEntries(Object.entries(after).filter(([column, cell]) => !sameCell(before[column], cell)));
}

function withoutNulls(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, cell]) => cell !== null));
}

function sameRow(left: Row | undefined, right: Row | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return Object.keys(changedColumns(left, right)).length === 0;
}

function sameCell(left: Cell | undefined, right: Cell | undefined): boolean {
  return left instanceof Uint8Array && right instanceof Uint8Array ? Buffer.from(left).equals(right) : left === right;
}

function differingKeys<V>(before: ReadonlyMap<string, V>, after: ReadonlyMap<string, V>): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((key) => before.get(key) !== after.get(key)).sort();
}

/** Integers past 2^53 stay bigints, so that none is rounded into another. */
function rows(db: Database.Database, sql: string): Row[] {
  const all = db.prepare<[], Row>(sql).safeIntegers(true).all();
  return all.map((row) => Object.fromEntries(Object.entries(row).map(([column, cell]) => [column, exact(cell)])));
}

function exact(cell: Cell): Cell {
  return typeof cell === 'bigint' && Number.isSafeInteger(Number(cell)) ? Number(cell) : cell;
}

function rowCount(db: Database.Database, table: string): number {
  return db.prepare<[], { n: number }>(`SELECT count(*) AS n FROM "${table.replaceAll('"', '""')}"`).get()?.n ?? 0;
}
