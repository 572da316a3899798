/**
 * A connection to write a test's store with: rows come with safe integers, every statement commits by itself.
 */
import Database from 'better-sqlite3';
import { afterAll } from 'vitest';
import { readShape } from '../../src/state-db/columns.ts';
import type { SqlRow } from '../../src/state-db/decode.ts';
import type { WriteConnection } from '../../src/state-db/write/write-connection.ts';

const open: Database.Database[] = [];

afterAll(() => {
  for (const db of open.splice(0)) db.close();
});

export function writeConnection(path: string): WriteConnection {
  const db = new Database(path);
  open.push(db);
  const prepared = (sql: string) => db.prepare<unknown[], SqlRow>(sql).safeIntegers(true);
  return {
    shape: readShape(db),
    all: (sql, parameters = []) => prepared(sql).all(parameters),
    get: (sql, parameters = []) => prepared(sql).get(parameters),
    run(sql, parameters = []) {
      const { changes, lastInsertRowid } = prepared(sql).run(parameters);
      return { changes, lastInsertRowid: BigInt(lastInsertRowid) };
    },
  };
}
