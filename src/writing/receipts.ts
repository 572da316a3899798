/**
 * What became of mutations, by the id that their client gave them (`spec/state-db-writes.md` 13.3): a repeat gets the first answer, and the work
 * is not done twice. Kept in a file of this server, never in a store.
 *
 * A receipt is PENDING before the store is touched, PLANNED with its result right before the commit, DONE after it, SETTLED once the files
 * that belong to the change followed. Whoever finds a PLANNED one whose process is gone looks into the store for what was planned.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';

export type ReceiptState = 'PENDING' | 'PLANNED' | 'DONE' | 'SETTLED';

export interface Receipt {
  readonly clientMutationId: string;
  readonly mutation: string;
  readonly profile: string;
  readonly inputHash: string;
  readonly state: ReceiptState;
  /** As JSON; null while PENDING. */
  readonly result: string | null;
  /** Of the process that does the work. */
  readonly owner: string;
  /** Epoch seconds. */
  readonly createdAt: number;
}

const SCHEMA = `CREATE TABLE IF NOT EXISTS receipts (
  client_mutation_id TEXT PRIMARY KEY, mutation TEXT NOT NULL, profile TEXT NOT NULL, input_hash TEXT NOT NULL,
  state TEXT NOT NULL, result TEXT, owner TEXT NOT NULL, created_at REAL NOT NULL) STRICT`;
const COLUMNS =
  'client_mutation_id AS clientMutationId, mutation, profile, input_hash AS inputHash, state, result, owner, created_at AS createdAt';
const SELECT = `SELECT ${COLUMNS} FROM receipts WHERE client_mutation_id = ?`;
/** Results hold what was said. */
const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;
const KEPT_SECONDS = 90 * 86_400;
const BUSY_TIMEOUT_MS = 5000;
const SYNCHRONOUS_FULL = 2;

export class Receipts {
  readonly #db: Database.Database;
  readonly #owner = ownerToken(process.pid) ?? `${process.pid}:`;

  /** Makes the file and its folder where there are none, for their owner alone. Receipts older than 90 days are forgotten. */
  static open(path: string, now: number): Receipts {
    mkdirSync(dirname(path), { recursive: true, mode: PRIVATE_FOLDER });
    const db = new Database(path, { timeout: BUSY_TIMEOUT_MS });
    // SQLite gives the files beside it the same mode.
    chmodSync(path, PRIVATE_FILE);
    db.pragma('journal_mode = wal');
    // What is planned has to be on the disk before the store commits.
    db.pragma(`synchronous = ${SYNCHRONOUS_FULL}`);
    db.exec(SCHEMA);
    db.prepare('DELETE FROM receipts WHERE created_at < ?').run(now - KEPT_SECONDS);
    return new Receipts(db);
  }

  private constructor(db: Database.Database) {
    this.#db = db;
  }

  find(clientMutationId: string): Receipt | null {
    return this.#db.prepare<[string], Receipt>(SELECT).get(clientMutationId) ?? null;
  }

  /** Takes the id for this process: a new receipt, or one of a process that is gone. False where somebody else was faster. */
  take(receipt: Pick<Receipt, 'clientMutationId' | 'mutation' | 'profile' | 'inputHash'>, abandoned: Receipt | null, now: number): boolean {
    const { clientMutationId, mutation, profile, inputHash } = receipt;
    if (abandoned !== null) {
      const { changes } = this.#db
        .prepare("UPDATE receipts SET state = 'PENDING', result = NULL, owner = ? WHERE client_mutation_id = ? AND owner = ? AND state = ?")
        .run(this.#owner, clientMutationId, abandoned.owner, abandoned.state);
      return changes === 1;
    }
    const { changes } = this.#db
      .prepare("INSERT OR IGNORE INTO receipts VALUES (?, ?, ?, ?, 'PENDING', NULL, ?, ?)")
      .run(clientMutationId, mutation, profile, inputHash, this.#owner, now);
    return changes === 1;
  }

  planned(clientMutationId: string, result: unknown): void {
    this.#db
      .prepare("UPDATE receipts SET state = 'PLANNED', result = ? WHERE client_mutation_id = ?")
      .run(JSON.stringify(result), clientMutationId);
  }

  done(clientMutationId: string, result: unknown): void {
    this.#db
      .prepare("UPDATE receipts SET state = 'DONE', result = ? WHERE client_mutation_id = ?")
      .run(JSON.stringify(result), clientMutationId);
  }

  /** What follows a change, on files beside the store, is done too. */
  settled(clientMutationId: string): void {
    this.#db.prepare("UPDATE receipts SET state = 'SETTLED' WHERE client_mutation_id = ?").run(clientMutationId);
  }

  /** Changes of a profile, of these mutations, after which something is left to do. */
  unsettled(profile: string, mutations: readonly string[]): Receipt[] {
    return this.#db
      .prepare<[string, string], Receipt>(
        `SELECT ${COLUMNS} FROM receipts WHERE profile = ? AND state = 'DONE' AND mutation IN (SELECT value FROM json_each(?))`,
      )
      .all(profile, JSON.stringify(mutations));
  }

  /** Changes of a profile, of one mutation, that were planned and whose process is gone: some of it may be done. */
  abandoned(profile: string, mutation: string): Receipt[] {
    const planned = this.#db
      .prepare<[string, string], Receipt>(`SELECT ${COLUMNS} FROM receipts WHERE profile = ? AND mutation = ? AND state = 'PLANNED'`)
      .all(profile, mutation);
    return planned.filter((receipt) => !this.isOwnerAlive(receipt));
  }

  /** After a refusal that left the store as it was: the same id may be used again. */
  forget(clientMutationId: string): void {
    this.#db.prepare("DELETE FROM receipts WHERE client_mutation_id = ? AND state IN ('PENDING', 'PLANNED')").run(clientMutationId);
  }

  /** Whether the process that took the receipt can still be at work on it; doubt counts as yes. */
  isOwnerAlive(receipt: Receipt): boolean {
    return receipt.owner === this.#owner || isAlive(receipt.owner);
  }

  isOwn(receipt: Receipt): boolean {
    return receipt.owner === this.#owner;
  }

  close(): void {
    this.#db.close();
  }
}

/** Field 22 of `/proc/<pid>/stat`; the fields after the program's name begin with number 3. */
const START_FIELD = 19;

/** A process by its id and start, which no later process has together; null for one that isn't there. */
function ownerToken(pid: number): string | null {
  if (process.platform !== 'linux') return isThere(pid) ? `${pid}:` : null;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold anything.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 1)
      .trim()
      .split(/\s+/);
    return fields[0] === 'Z' ? null : `${pid}:${fields[START_FIELD] ?? ''}`;
  } catch {
    return null;
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A receipt for who asks for it. */
export interface FoundReceipt {
  readonly clientMutationId: string;
  readonly mutation: string;
  readonly profile: string;
  /** INDETERMINATE: its process is gone; a repeat of the mutation with the same id finds out. */
  readonly state: 'RUNNING' | 'DONE' | 'INDETERMINATE';
  readonly result: unknown;
  readonly createdAt: number;
}

/** Reads one receipt and leaves no connection open; null where there is none, or no file yet. */
export function findReceipt(path: string, clientMutationId: string): FoundReceipt | null {
  if (!existsSync(path)) return null;
  const db = new Database(path, { readonly: true, timeout: 0 });
  try {
    const receipt = db.prepare<[string], Receipt>(SELECT).get(clientMutationId);
    if (receipt === undefined) return null;
    const { mutation, profile, createdAt } = receipt;
    const isDone = receipt.state === 'DONE' || receipt.state === 'SETTLED';
    const state = isDone ? 'DONE' : isAlive(receipt.owner) ? 'RUNNING' : 'INDETERMINATE';
    const result: unknown = isDone && receipt.result !== null ? JSON.parse(receipt.result) : null;
    return { clientMutationId, mutation, profile, state, result, createdAt };
  } finally {
    db.close();
  }
}

function isAlive(owner: string): boolean {
  return ownerToken(Number(owner.split(':')[0])) === owner;
}
