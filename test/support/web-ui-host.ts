/** What the process behind `web-ui-turn.ts` can do: single steps of a Web UI turn, each as the owning programs make it. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { ownerJson } from '../../src/demo/owner-json.ts';
import { type RunJournalLine, runJournalText } from '../../src/demo/run-journal-writer.ts';
import type { Columns } from '../../src/demo/session-draft.ts';
import { NOTHING_PENDING, type SidecarFields, type SidecarMessage } from '../../src/demo/sidecar-files.ts';
import { setWriterPragmas } from '../../src/demo/state-db-schema.ts';
import type { TurnJournalEntry } from '../../src/demo/turn-journal-writer.ts';
import { TurnWriter } from '../../src/demo/turn-writer.ts';
import { type Submission, type TurnError, WebUiFiles } from '../../src/demo/web-ui-files.ts';
import { sidecarMessage } from '../../src/demo/web-ui-run.ts';
import { type Played, type PlayOptions, playWebUiTurn } from './web-ui-play.ts';

export interface UiRow {
  readonly role: 'user' | 'assistant' | 'tool' | 'system';
  readonly content?: string | null;
  readonly reasoning?: string;
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly args?: Readonly<Record<string, unknown>> }[];
  readonly toolCallId?: string;
  readonly toolName?: string;
  /** Epoch seconds; without it now. */
  readonly timestamp?: number;
  /** Any other column of `messages`. */
  readonly columns?: Columns;
}

export interface UiEntry extends RunJournalLine {
  /** After the entry before it. */
  readonly afterMs?: number;
}

export interface NewSession {
  readonly title?: string;
  /** Default `webui`. */
  readonly source?: string;
  readonly model?: string;
  readonly rows?: readonly UiRow[];
  /** Other columns of `sessions`. */
  readonly columns?: Columns;
  /** Default true; without it the session is in the store only, as those of other surfaces are. */
  readonly sidecar?: boolean;
  /** Default true; without it the store doesn't know the session, as before the first turn of a new one. */
  readonly stored?: boolean;
  readonly fields?: SidecarFields;
}

export interface SettleOptions {
  readonly sessionId: string;
  readonly runId: string;
  readonly cancelled?: boolean;
  readonly error?: TurnError;
  /** After a rotation: the child gets the sidecar, the parent becomes a snapshot. */
  readonly childId?: string;
  /** Writes no line into the turn journal, as a relay to the gateway does. */
  readonly relayed?: boolean;
}

export interface CompactOptions {
  /** A summary's text, or rows. */
  readonly handoff: string | readonly UiRow[];
  /** The first row that is carried over; without it none is. */
  readonly carryFrom?: number;
}

const BUSY_TIMEOUT_MS = 20_000;
const NOBODY = Number.MAX_SAFE_INTEGER;

export class WebUiHost {
  readonly #db: Database.Database;
  readonly #writer: TurnWriter;
  readonly #files: WebUiFiles;
  readonly #profile: string;
  /** The lease that each session's turn holds. */
  readonly #holders = new Map<string, string>();
  readonly #locks = new Map<string, string>();
  /** What the turn under way has said in a session: the sidecar gets it when the turn is settled. */
  readonly #said = new Map<string, SidecarMessage[]>();

  constructor(home: string, profile: string, storePath: string) {
    this.#db = new Database(storePath, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
    setWriterPragmas(this.#db);
    knowMessages(this.#db);
    this.#writer = new TurnWriter(this.#db);
    this.#files = new WebUiFiles(join(home, 'webui'));
    this.#profile = profile;
  }

  createSession(sessionId: string, options: NewSession = {}): number[] {
    const { source = 'webui', title = null, model = 'openai/gpt-5', rows = [], columns = {}, stored = true, sidecar = true } = options;
    const named = title === null ? {} : { title, title_source: 'user' };
    const session = { id: sessionId, source, model, profile_name: this.#profile, ...named, ...columns };
    const said = rows.map((row) => ({ timestamp: this.#writer.now(), ...toColumns(row) }));
    const ids = stored ? this.#writer.beginSession(session, said) : [];
    const profile = this.#profile === 'default' ? null : this.#profile;
    const fields = { profile, model, ...(title === null ? {} : { title }), ...options.fields };
    if (sidecar) this.#files.create(sessionId, fields, said.map(sidecarMessage));
    return ids;
  }

  /** Sidecar, intent and worker in the order that is asked for (`spec/live-turns.md` 2, steps 1 to 3). */
  submit(submission: Submission): void {
    this.#said.set(submission.sessionId, []);
    Array.from(this.#files.submit(submission));
  }

  /** Lines of a run, each after its pause; gives the number of the last. `stamp` puts the time of writing (epoch ms) into `payload.at`. */
  async journal(sessionId: string, runId: string, entries: readonly UiEntry[], options: { afterMs?: number; stamp?: boolean } = {}) {
    const run = { sessionId, runId };
    let due = performance.now();
    for (const { afterMs = options.afterMs ?? 0, ...entry } of entries) {
      due += afterMs;
      const wait = due - performance.now();
      if (wait > 0) await sleep(wait);
      const payload = options.stamp ? { ...entry.payload, at: performance.timeOrigin + performance.now() } : (entry.payload ?? {});
      this.#files.runs.append(run, { ...entry, payload });
    }
    return this.#files.runs.lastSeq(run);
  }

  /** Numbers that no line will have. */
  hole(sessionId: string, runId: string, count = 1): void {
    this.#files.runs.skip({ sessionId, runId }, count);
  }

  /** The first `cut` bytes of a line, and the rest after a while; without `delayMs` never. */
  async torn(sessionId: string, runId: string, entry: RunJournalLine, cut: number, delayMs?: number): Promise<void> {
    const run = { sessionId, runId };
    const seq = entry.seq ?? this.#files.runs.lastSeq(run) + 1;
    this.#files.runs.skip(run, Math.max(0, seq - this.#files.runs.lastSeq(run)));
    const line = Buffer.from(`${runJournalText(run, { createdAt: Date.now() / 1000, ...entry, seq })}\n`);
    this.#files.runs.write(run, line.subarray(0, cut));
    if (delayMs === undefined) return;
    await sleep(delayMs);
    this.#files.runs.write(run, line.subarray(cut));
  }

  turnJournal(sessionId: string, runId: string, entry: Omit<TurnJournalEntry, 'createdAt'> & { readonly createdAt?: number }): void {
    this.#files.turns.append({ sessionId, runId }, { createdAt: this.#files.now(), ...entry });
  }

  /** Replaces the sidecar with these changes. */
  sidecar(sessionId: string, fields: SidecarFields, messages?: readonly SidecarMessage[]): void {
    this.#files.sidecars.save(sessionId, fields, messages);
  }

  /** One commit; gives the ids of the rows. */
  rows(sessionId: string, rows: readonly UiRow[]): number[] {
    const columns = rows.map((row) => ({ timestamp: this.#writer.now(), ...toColumns(row) }));
    const ids = this.#writer.appendAll(sessionId, columns);
    this.#said.set(sessionId, [...(this.#said.get(sessionId) ?? []), ...columns.map(sidecarMessage)]);
    return ids;
  }

  /** False when somebody else holds the lease. `platform`: default webui. */
  lease(sessionId: string, action: 'acquire' | 'renew' | 'release', platform = 'webui'): boolean {
    const holder = this.#holders.get(sessionId) ?? this.#writer.leaseHolder(this.#writer.token(8), platform);
    if (action === 'acquire') {
      if (!this.#writer.acquireLease(sessionId, holder)) return false;
      this.#holders.set(sessionId, holder);
    } else if (action === 'renew') this.#writer.renewLease(holder);
    else {
      this.#writer.releaseLease(holder);
      this.#holders.delete(sessionId);
    }
    return true;
  }

  /** False when the last one was less than a minute ago (6.3). An empty description clears the labels, as the end of a turn does. */
  heartbeat(sessionId: string, description: string, provenance?: string): boolean {
    if (description !== '') return this.#writer.heartbeat(sessionId, description, provenance);
    this.#writer.clearLabels(sessionId);
    return true;
  }

  usage(sessionId: string, input: number, output: number, model = 'openai/gpt-5'): void {
    this.#writer.addUsage(sessionId, model, '', input, output);
  }

  /** The lock of a compaction. `expiresAt` (epoch seconds) gives it another end. */
  lock(sessionId: string, action: 'acquire' | 'release', expiresAt?: number): void {
    if (action === 'release') this.#writer.unlockCompression(sessionId, this.#locks.get(sessionId) ?? '');
    else this.#locks.set(sessionId, this.#writer.lockForCompression(sessionId));
    if (expiresAt === undefined) return;
    this.#db.prepare('UPDATE compression_locks SET expires_at = ? WHERE session_id = ?').run(expiresAt, sessionId);
  }

  /** Step 16, or the cancel or error path: the turn's messages go into the sidecar, which is cleared. */
  settle({ sessionId, runId, cancelled = false, error, childId, relayed = false }: SettleOptions): void {
    const said = [sessionId, childId].flatMap((id) => (id === undefined ? [] : (this.#said.get(id) ?? [])));
    this.#said.delete(sessionId);
    const outcome = cancelled ? 'CANCELLED' : (error ?? 'COMPLETED');
    if (relayed) {
      const before = this.#files.sidecars.load(sessionId)?.messages ?? [];
      this.#files.sidecars.save(sessionId, { ...NOTHING_PENDING, updated_at: this.#files.now() }, [...before, ...said]);
    } else Array.from(this.#files.settle({ sessionId, runId, messages: said, childId, outcome }));
  }

  /** Rotation in one commit; gives the ids of the child's rows: the handoff, then clones of the parent's rows from `cloneFrom` on. */
  rotate(parentId: string, childId: string, options: { handoff?: string | readonly UiRow[]; cloneFrom?: number } = {}): number[] {
    const { handoff = 'What was said so far, in short.', cloneFrom = NOBODY } = options;
    return this.#writer.rotate(parentId, childId, typeof handoff === 'string' ? handoff : handoff.map(toColumns), cloneFrom);
  }

  /** In-place compaction in one commit; the lock around it is the caller's. */
  compact(sessionId: string, { handoff, carryFrom = NOBODY }: CompactOptions) {
    return this.#writer.compact(sessionId, typeof handoff === 'string' ? handoff : handoff.map(toColumns), carryFrom);
  }

  /** Takes the rows from this one on back (6.4); gives their ids. */
  rewind(sessionId: string, fromRowId: number): number[] {
    return this.#commit(() => {
      const ids = this.#idsOf(sessionId).filter((id) => id >= fromRowId);
      this.#db.prepare('UPDATE messages SET active = 0 WHERE session_id = ? AND active = 1 AND id >= ?').run(sessionId, fromRowId);
      this.#db.prepare('UPDATE sessions SET rewind_count = rewind_count + 1 WHERE id = ?').run(sessionId);
      return ids;
    });
  }

  restore(sessionId: string, ids: readonly number[]): void {
    const restore = this.#db.prepare('UPDATE messages SET active = 1 WHERE session_id = ? AND id = ?');
    this.#commit(() => {
      for (const id of ids) restore.run(sessionId, id);
    });
  }

  /** Replace (6.4): the live rows are deleted and these put in their place, in one commit; gives the new ids. */
  replace(sessionId: string, rows: readonly UiRow[]): number[] {
    return this.#commit(() => {
      this.#db.prepare('DELETE FROM messages WHERE session_id = ? AND active = 1').run(sessionId);
      const ids = this.#writer.appendAll(sessionId, rows.map(toColumns));
      this.#writer.recount(sessionId);
      return ids;
    });
  }

  /** The Web UI removes its files first, then the store's rows; children become roots. */
  deleteSession(sessionId: string): void {
    this.#files.remove(sessionId);
    this.#commit(() => {
      this.#db.prepare('UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = ?').run(sessionId);
      for (const table of ['messages', 'session_model_usage']) this.#db.prepare(`DELETE FROM ${table} WHERE session_id = ?`).run(sessionId);
      this.#db.prepare('DELETE FROM sessions WHERE id = ?').run(sessionId);
    });
  }

  /** A whole turn at a pace. */
  play(sessionId: string, script: PlayOptions = {}): Promise<Played> {
    return playWebUiTurn(this.#db, this.#files, sessionId, script);
  }

  close(): void {
    this.#db.close();
  }

  #idsOf(sessionId: string): number[] {
    const sql = 'SELECT id FROM messages WHERE session_id = ? AND active = 1 ORDER BY id';
    return this.#db.prepare<[string], number>(sql).pluck().all(sessionId);
  }

  #commit<Result>(work: () => Result): Result {
    return this.#db.transaction(work).immediate();
  }
}

function toColumns(row: UiRow): Columns {
  const { role, content = null, reasoning, toolCalls, toolCallId, toolName, timestamp, columns } = row;
  const calls = toolCalls?.map(({ id, name, args = {} }) => ({ id, type: 'function', function: { name, arguments: ownerJson(args) } }));
  const finish = role === 'assistant' ? { finish_reason: calls === undefined ? 'stop' : 'tool_calls' } : {};
  return {
    role,
    content,
    ...finish,
    ...(reasoning === undefined ? {} : { reasoning, reasoning_content: reasoning }),
    ...(calls === undefined ? {} : { tool_calls: ownerJson(calls) }),
    ...(toolCallId === undefined ? {} : { tool_call_id: toolCallId }),
    ...(toolName === undefined ? {} : { tool_name: toolName }),
    ...(timestamp === undefined ? {} : { timestamp }),
    ...columns,
  };
}

/**
 * Rows of the newest stores say which message they are, which the owner computes (`spec/state-db-writes.md` D6). Nobody else can render
 * its key, so this is a digest over another rendering: equal messages still get equal ones.
 */
function knowMessages(db: Database.Database): void {
  const columns = db.prepare<[], string>("SELECT name FROM pragma_table_info('messages')").pluck().all();
  if (!columns.includes('display_identity')) return;
  const key = 'role, content, timestamp, tool_call_id, tool_calls, tool_name';
  db.function('message_identity', { varargs: true }, (...values) => createHash('sha256').update(JSON.stringify(values)).digest());
  db.exec(`CREATE TEMP TRIGGER know_message AFTER INSERT ON main.messages WHEN new.display_identity IS NULL
    BEGIN
      UPDATE messages SET display_identity = message_identity(${key.replaceAll(/\w+/g, 'new.$&')}) WHERE id = new.id;
    END`);
}
