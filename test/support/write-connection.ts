/**
 * A connection to write a test's store with: every statement commits by itself.
 */
import { afterAll } from 'vitest';
import { WriteConnection, type WriteTransaction } from '../../src/state-db/write/write-connection.ts';

const open: WriteConnection[] = [];

afterAll(() => {
  for (const connection of open.splice(0)) connection.close();
});

/** With its methods as properties, so that a test can put others in their place. */
export function writeConnection(path: string): WriteTransaction {
  const connection = WriteConnection.open(path);
  open.push(connection);
  return {
    shape: connection.shape,
    all: (sql, parameters) => connection.all(sql, parameters),
    get: (sql, parameters) => connection.get(sql, parameters),
    exact: (sql, parameters) => connection.exact(sql, parameters),
    run: (sql, parameters) => connection.run(sql, parameters),
    snapshot: (work) => connection.snapshot(work),
  };
}
