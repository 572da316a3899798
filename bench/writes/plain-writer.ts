/**
 * The plainest way to append: one process, one prepared statement, the counters, one commit a message, with the settings and the triggers that
 * ours writes under. Told by message how much, and tells back how long each took.
 *
 * The same process is also the neighbour that commits now and then while ours is measured.
 */
import Database from 'better-sqlite3';

export interface PlainOrder {
  readonly path: string;
  readonly sessionId: string;
  readonly content: string;
  /** Appends as fast as it can. */
  readonly count?: number;
  /** Rows of one transaction. */
  readonly batch?: number;
  /** Until the process is ended: so many commits a second. */
  readonly hz?: number;
}

const INSERT = `INSERT INTO messages (session_id, role, content, timestamp, observed, active) VALUES (?, 'user', ?, ?, 0, 1)`;
const COUNT = 'UPDATE sessions SET message_count = COALESCE(message_count, 0) + ? WHERE id = ?';

process.on('message', (order: PlainOrder) => {
  const db = new Database(order.path, { timeout: 5000 });
  db.pragma('foreign_keys = 1');
  db.pragma('synchronous = 2');
  const insert = db.prepare(INSERT);
  const counters = db.prepare(COUNT);
  const { sessionId, content, batch = 1 } = order;
  const commit = db.transaction(() => {
    for (let row = 0; row < batch; row++) insert.run(sessionId, content, Date.now() / 1000);
    counters.run(batch, sessionId);
  });
  if (order.hz !== undefined) {
    setInterval(() => commit.immediate(), 1000 / order.hz);
    return;
  }
  const latenciesMs: number[] = [];
  for (let done = 0; done < (order.count ?? 0); done++) {
    const start = performance.now();
    commit.immediate();
    latenciesMs.push(performance.now() - start);
  }
  db.close();
  process.send?.(latenciesMs, () => process.exit(0));
});
