import { describe, expect, it } from 'vitest';
import { END, SUM } from '../../../src/state-db/summary-markers.ts';
import { completeDisplayIndex, lacksDisplayIndex } from '../../../src/state-db/write/display-index.ts';
import type { WriteTransaction } from '../../../src/state-db/write/write-connection.ts';
import { buildStore, M, type Row, S } from '../../support/stores.ts';
import { writeConnection } from '../../support/write-connection.ts';

const RETIRED = { active: 0, compacted: 0 };
const ARCHIVED = { active: 0, compacted: 1 };

function store(rows: readonly Row[], schema: 26 | 30 | 31 = 31): WriteTransaction {
  return writeConnection(buildStore({ schema, rows: [S('s'), S('t'), ...rows] }));
}

function slots(connection: WriteTransaction, session = 's'): (number | null)[] {
  const rows = connection.all('SELECT display_order AS slot FROM messages WHERE session_id = ? ORDER BY id', [session]);
  return rows.map(({ slot }) => (slot === null ? null : Number(slot)));
}

/** Counts the statements that write. */
function counted(connection: WriteTransaction): { readonly connection: WriteTransaction; readonly writes: () => number } {
  let writes = 0;
  const run: WriteTransaction['run'] = (sql, parameters) => {
    writes += 1;
    return connection.run(sql, parameters);
  };
  return { connection: { ...connection, run }, writes: () => writes };
}

describe('the completion of display columns (D12)', () => {
  it('gives copies of one message the slot of the first, and every visible row an identity', () => {
    const connection = store([
      M('s', { content: 'a', timestamp: 5, ...ARCHIVED }),
      M('s', { content: 'b', timestamp: 6 }),
      M('t', { content: 'a', timestamp: 5 }),
      M('s', { content: 'a', timestamp: 5 }),
      M('s', { content: `${SUM}body ${END} a`, timestamp: 5 }),
      M('s', { content: 'a', timestamp: 5, ...RETIRED }),
    ]);
    expect(lacksDisplayIndex(connection, 's')).toBe(true);
    expect(completeDisplayIndex(connection, 's')).toBe(4);
    expect(slots(connection)).toEqual([1, 2, 1, 1, null]);
    expect(slots(connection, 't')).toEqual([null]);
    const [missing] = connection.exact(
      `SELECT COUNT(*) AS n FROM messages WHERE session_id = 's' AND active = 1 AND length(display_identity) IS NOT 32`,
    );
    expect(missing?.n).toBe(0n);
  });

  it('mends what the triggers emptied after a change, and writes nothing but that', () => {
    const connection = store([
      M('s', { content: 'a', timestamp: 5, ...ARCHIVED }),
      M('s', { content: 'b' }),
      M('s', { content: 'a', timestamp: 5 }),
    ]);
    completeDisplayIndex(connection, 's');
    connection.run("UPDATE messages SET content = 'changed' WHERE id = 3");
    expect(slots(connection)).toEqual([null, 2, null]);
    const { connection: watched, writes } = counted(connection);
    expect(completeDisplayIndex(watched, 's')).toBe(2);
    expect(writes()).toBe(2);
    expect(slots(connection)).toEqual([1, 2, 3]);
  });

  it('does nothing the second time, and nothing where nothing is missing', () => {
    const connection = store([M('s', { content: 'a' }), M('s', { content: 'a', timestamp: 1 })]);
    expect(completeDisplayIndex(connection, 's')).toBe(2);
    connection.run('UPDATE messages SET display_order = 7 WHERE id = 2');
    const { connection: watched, writes } = counted(connection);
    expect(completeDisplayIndex(watched, 's')).toBe(0);
    expect(writes()).toBe(0);
    expect(slots(connection)).toEqual([1, 7]);
  });

  it('repairs the whole of a session in which one row lacks something', () => {
    const connection = store([M('s', { content: 'a' }), M('s', { content: 'b' })]);
    completeDisplayIndex(connection, 's');
    connection.run("UPDATE messages SET display_order = 7, display_identity = x'00' WHERE id = 1");
    connection.run('UPDATE messages SET display_order = NULL WHERE id = 2');
    expect(completeDisplayIndex(connection, 's')).toBe(2);
    expect(slots(connection)).toEqual([1, 2]);
  });

  it('agrees with the triggers on rows that are inserted with the identity of another', () => {
    const connection = store([M('s', { content: 'a', timestamp: 5 })]);
    completeDisplayIndex(connection, 's');
    connection.run(
      `INSERT INTO messages (session_id, role, content, timestamp, active, display_identity)
       SELECT session_id, role, content, timestamp, 1, display_identity FROM messages WHERE id = 1`,
    );
    expect(slots(connection)).toEqual([1, 1]);
    connection.run('UPDATE messages SET display_identity = NULL WHERE id = 2');
    expect(completeDisplayIndex(connection, 's')).toBe(1);
    expect(slots(connection)).toEqual([1, 1]);
    connection.run('UPDATE messages SET active = 0 WHERE id = 1');
    expect(slots(connection)[1]).toBe(2);
  });

  it('goes through a long session in batches, copies far apart included', () => {
    const rows = Array.from({ length: 2500 }, (_, index) => M('s', { content: `row ${index % 2400}`, timestamp: index % 2400 }));
    const connection = store(rows);
    let reads = 0;
    const watched: WriteTransaction = {
      ...connection,
      exact(sql, parameters) {
        const found = connection.exact(sql, parameters);
        reads += 1;
        expect(found.length).toBeLessThanOrEqual(1000);
        return found;
      },
    };
    expect(completeDisplayIndex(watched, 's')).toBe(2500);
    expect(reads).toBe(3);
    expect(slots(connection)).toEqual(Array.from({ length: 2500 }, (_, index) => (index % 2400) + 1));
    expect(lacksDisplayIndex(connection, 's')).toBe(false);
  });

  it('leaves a store without the columns alone', () => {
    const connection = store([M('s', { content: 'a' })], 26);
    expect(lacksDisplayIndex(connection, 's')).toBe(false);
    expect(completeDisplayIndex(connection, 's')).toBe(0);
  });
});
