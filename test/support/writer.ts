/**
 * Writing "by another process": a child with a connection of its own to the store.
 *
 *   const writer = await startWriter(path);
 *   await writer.exec('UPDATE sessions SET title = ? WHERE id = ?', ['Tea', 'a']);
 *   await writer.close();
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { COMPILE_CACHE } from './program-start.ts';
import type { Cell } from './stores.ts';

export interface SqlStatement {
  readonly sql: string;
  readonly params: readonly Cell[];
}

export interface WriterRequest {
  readonly id: number;
  readonly kind: 'exec' | 'transaction';
  readonly statements: readonly SqlStatement[];
}

export interface WriterAnswer {
  readonly id: number;
  readonly results?: readonly unknown[];
  readonly error?: { readonly message: string; readonly code: string | null };
}

/** An error of the other process; `code` is SQLite's, for example SQLITE_BUSY. */
export class WriterError extends Error {
  override readonly name = 'WriterError';
  readonly code: string | null;
  constructor(message: string, code: string | null) {
    super(message);
    this.code = code;
  }
}

interface Waiting {
  resolve(results: readonly unknown[]): void;
  reject(error: Error): void;
}

export class Writer {
  private readonly child: ChildProcess;
  private readonly waiting = new Map<number, Waiting>();
  private lastId = 0;

  constructor(child: ChildProcess) {
    this.child = child;
    child.on('message', (answer: WriterAnswer) => {
      const waiting = this.waiting.get(answer.id);
      this.waiting.delete(answer.id);
      if (answer.error === undefined) waiting?.resolve(answer.results ?? []);
      else waiting?.reject(new WriterError(answer.error.message, answer.error.code));
    });
    child.on('exit', (code, signal) => {
      for (const { reject } of this.waiting.values()) reject(new WriterError(`the writer ended (${code ?? signal})`, null));
      this.waiting.clear();
    });
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /**
   * Runs one statement: rows of a query, `{ changes, lastInsertRowid }` of anything else. `BEGIN IMMEDIATE` in one call and `COMMIT` in a
   * later one hold a transaction open in between. Rejects with WriterError.
   */
  async exec(sql: string, params: readonly Cell[] = []): Promise<unknown> {
    const [result] = await this.request('exec', [{ sql, params }]);
    return result;
  }

  /** Runs the statements in one `BEGIN IMMEDIATE` transaction, all or none. */
  transaction(statements: readonly (string | readonly [sql: string, ...params: Cell[]])[]): Promise<readonly unknown[]> {
    const parts = statements.map((statement): SqlStatement => {
      if (typeof statement === 'string') return { sql: statement, params: [] };
      const [sql, ...params] = statement;
      return { sql, params };
    });
    return this.request('transaction', parts);
  }

  /** Closes the connection properly and waits for the end of the process; a transaction that was left open is rolled back. */
  async close(): Promise<void> {
    if (!this.isRunning()) return;
    this.child.disconnect();
    await once(this.child, 'exit');
  }

  /** Ends the process at once, as a crash would. */
  async kill(): Promise<void> {
    if (!this.isRunning()) return;
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
  }

  private isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  private request(kind: WriterRequest['kind'], statements: readonly SqlStatement[]): Promise<readonly unknown[]> {
    this.lastId += 1;
    const id = this.lastId;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.child.send({ id, kind, statements } satisfies WriterRequest, (error) => {
        if (error === null) return;
        this.waiting.delete(id);
        reject(error);
      });
    });
  }
}

/** Starts the process and opens the store. `timeout`: how long it waits for a lock, in milliseconds (default 1000, as the owner does). */
export async function startWriter(path: string, timeout = 1000): Promise<Writer> {
  const child = fork(new URL('./writer-process.ts', import.meta.url), [path, String(timeout)], {
    execArgv: [],
    serialization: 'advanced',
    env: { ...process.env, ...COMPILE_CACHE },
  });
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve());
    child.once('exit', (code) => reject(new WriterError(`the writer couldn't start (exit code ${code})`, null)));
  });
  return new Writer(child);
}
