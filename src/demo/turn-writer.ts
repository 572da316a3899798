/**
 * The commits of a turn, each as the owning agent makes it (`spec/live-turns.md` 6.2 to 6.4, `spec/state-db-writes.md` A, C, F, G).
 * Every method is one transaction.
 */
import { randomBytes } from 'node:crypto';
import type Database from 'better-sqlite3';
import { type Handoff, handoffRows } from './handoff.ts';
import { modelNamed } from './models.ts';
import { SeededRandom } from './random.ts';
import { type Columns, stamp } from './session-draft.ts';

const LEASE_SECONDS = 300;
const LEASE_KEPT_SECONDS = 86_400;
const HEARTBEAT_SECONDS = 60;
const MAX_SEGMENTS = 1000;

/** The session that a turn writes to is gone, or was closed by somebody else: the turn ends without an answer. */
export class TurnLost extends Error {
  override readonly name = 'TurnLost';
}

export interface WriterIdentity {
  readonly pid: number;
  /** Epoch seconds. */
  readonly now: () => number;
  readonly random: SeededRandom;
}

export class TurnWriter {
  private readonly db: Database.Database;
  private readonly identity: WriterIdentity;

  constructor(db: Database.Database, identity: Partial<WriterIdentity> = {}) {
    this.db = db;
    const now = identity.now ?? (() => Date.now() / 1000);
    this.identity = { pid: process.pid, random: new SeededRandom(randomBytes(4).readUInt32LE()), ...identity, now };
  }

  now(): number {
    return stamp(this.identity.now());
  }

  /** A token such as a turn id: `digits` hexadecimal digits. */
  token(digits: number): string {
    return this.identity.random.hex(digits);
  }

  /** `pid=…:turn=…:platform=…` */
  leaseHolder(turn: string, platform: string): string {
    return `pid=${this.identity.pid}:turn=${turn}:platform=${platform}`;
  }

  /** Takes the lease of the conversation that `sessionId` belongs to (G-4); false when somebody else holds it. */
  acquireLease(sessionId: string, holder: string): boolean {
    return this.commit(() => {
      const now = this.now();
      const key = this.leaseKey(sessionId);
      this.run('DELETE FROM session_turn_leases WHERE expires_at < ?', now - LEASE_KEPT_SECONDS);
      this.run('DELETE FROM session_turn_leases WHERE conversation_id = ? AND expires_at <= ?', key, now);
      const sql = 'INSERT OR IGNORE INTO session_turn_leases (conversation_id, holder, acquired_at, expires_at) VALUES (?, ?, ?, ?)';
      this.run(sql, key, holder, now, now + LEASE_SECONDS);
      return this.value('SELECT holder FROM session_turn_leases WHERE conversation_id = ?', key) === holder;
    });
  }

  renewLease(holder: string): void {
    this.commit(() => this.run('UPDATE session_turn_leases SET expires_at = ? WHERE holder = ?', this.now() + LEASE_SECONDS, holder));
  }

  releaseLease(holder: string): void {
    this.commit(() => this.run('DELETE FROM session_turn_leases WHERE holder = ?', holder));
  }

  /** A new session and its first rows, in one commit; gives the ids of the rows. */
  beginSession(columns: Columns, rows: readonly Columns[]): number[] {
    return this.commit(() => {
      this.insert('sessions', { started_at: this.now(), profile_name: 'default', ...columns });
      return rows.map((row) => this.insertRow(String(columns.id), row));
    });
  }

  /** One row of the transcript, with the counters in the same commit (W16). Gives the row's id. */
  append(sessionId: string, row: Columns): number {
    return this.commit(() => this.insertRow(sessionId, row));
  }

  /** Several rows in one commit; gives their ids. */
  appendAll(sessionId: string, rows: readonly Columns[]): number[] {
    return this.commit(() => rows.map((row) => this.insertRow(sessionId, row)));
  }

  /** The label of what goes on: at most once a minute, unless a compaction begins or ends, and never backwards (6.3). */
  heartbeat(sessionId: string, description: string, provenance = 'unknown'): boolean {
    return this.commit(() => {
      const now = this.now();
      const latest = provenance === 'unknown' ? now - HEARTBEAT_SECONDS : now;
      const sql = `UPDATE sessions SET last_activity_at = ?, last_activity_description = ?, last_activity_provenance = ?
        WHERE id = ? AND (last_activity_at IS NULL OR last_activity_at <= ?)`;
      return this.run(sql, now, description.slice(0, 120), provenance, sessionId, latest) > 0;
    });
  }

  /** At the end of a turn the labels are emptied; the time stays. */
  clearLabels(sessionId: string): void {
    const sql = `UPDATE sessions SET last_activity_description = '', last_activity_provenance = ''
      WHERE id = ? AND last_activity_description <> ''`;
    this.commit(() => this.run(sql, sessionId));
  }

  /** What a call to the model cost: totals of the session, and the row of its model and route. */
  addUsage(sessionId: string, modelName: string, task: string, input: number, output: number): void {
    const model = modelNamed(modelName);
    const dollars = model.price === null ? null : (input * model.price.input + output * model.price.output) / 1e6;
    const status = dollars === null ? 'unknown' : 'estimated';
    this.commit(() => {
      const now = this.now();
      if (this.value('SELECT 1 FROM sessions WHERE id = ?', sessionId) === undefined) throw new TurnLost(`session ${sessionId} is gone`);
      if (task === '') {
        const sql = `UPDATE sessions SET api_call_count = api_call_count + 1, input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
          estimated_cost_usd = CASE WHEN ? IS NULL THEN estimated_cost_usd ELSE COALESCE(estimated_cost_usd, 0) + ? END, cost_status = ?,
          billing_provider = COALESCE(billing_provider, ?), billing_base_url = COALESCE(billing_base_url, ?),
          billing_mode = COALESCE(billing_mode, ?) WHERE id = ?`;
        this.run(sql, input, output, dollars, dollars, status, model.provider, model.baseUrl, model.mode, sessionId);
      }
      const upsert = `INSERT INTO session_model_usage (session_id, model, billing_provider, billing_base_url, billing_mode, task, api_call_count,
          input_tokens, output_tokens, estimated_cost_usd, cost_status, cost_source, first_seen, last_seen)
        VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (session_id, model, billing_provider, billing_base_url, billing_mode, task) DO UPDATE SET
          api_call_count = api_call_count + 1, input_tokens = input_tokens + excluded.input_tokens,
          output_tokens = output_tokens + excluded.output_tokens, estimated_cost_usd = estimated_cost_usd + excluded.estimated_cost_usd,
          cost_status = excluded.cost_status, last_seen = excluded.last_seen`;
      const route = [model.provider, model.baseUrl, model.mode];
      this.run(
        upsert,
        sessionId,
        modelName,
        ...route,
        task,
        input,
        output,
        dollars ?? 0,
        status,
        dollars === null ? null : 'table',
        now,
        now,
      );
    });
  }

  /** Announces a compaction of the session; gives the holder, by which it is taken back. */
  lockForCompression(sessionId: string): string {
    const holder = `pid=${this.identity.pid}:tid=1:agent=${this.token(8)}:nonce=${this.token(8)}`;
    this.commit(() => {
      const now = this.now();
      this.run('DELETE FROM compression_locks WHERE session_id = ? AND expires_at < ?', sessionId, now);
      this.insert('compression_locks', { session_id: sessionId, holder, acquired_at: now, expires_at: now + LEASE_SECONDS });
    });
    return holder;
  }

  unlockCompression(sessionId: string, holder: string): void {
    this.commit(() => this.run('DELETE FROM compression_locks WHERE session_id = ? AND holder = ?', sessionId, holder));
  }

  /**
   * Rotation (C2): the child with the handoff and copies of the rows from `fromRow` on, and the end of the parent, in one commit.
   * Gives the ids of the child's rows. Throws TurnLost when the parent isn't open any more.
   */
  rotate(parentId: string, childId: string, handoff: Handoff, fromRow: number): number[] {
    return this.commit(() => {
      const now = this.now();
      const ended = "UPDATE sessions SET ended_at = ?, end_reason = 'compression' WHERE id = ? AND ended_at IS NULL";
      if (this.run(ended, now, parentId) !== 1) throw new TurnLost(`session ${parentId} isn't open`);
      const sql = `INSERT INTO sessions (id, parent_session_id, started_at, ${INHERITED})
        SELECT ?, id, ?, ${INHERITED} FROM sessions WHERE id = ?`;
      this.run(sql, childId, now, parentId);
      const clones = this.liveFrom(parentId, fromRow).map(cloned);
      return [...handoffRows(handoff), ...clones].map((row) => this.insertRow(childId, row));
    });
  }

  /**
   * Compaction in place (C1): what was live is archived, the handoff and copies of the rows from `fromRow` on follow under new ids, and
   * the counters say what is live now. Gives the ids of the handoff's rows, and of the copies by those of their originals.
   */
  compact(sessionId: string, handoff: Handoff, fromRow: number): { readonly handoff: number[]; readonly carried: [number, number][] } {
    return this.commit(() => {
      const rows = this.liveFrom(sessionId, fromRow);
      this.run('UPDATE messages SET active = 0, compacted = 1 WHERE session_id = ? AND active = 1', sessionId);
      // Where copies know which message they are, the originals aren't shown beside them (6.1).
      const retired = 'UPDATE messages SET compacted = 0 WHERE id = ?';
      for (const row of rows) if ('display_identity' in row) this.run(retired, row.id);
      const ids = handoffRows(handoff).map((row) => this.insertRow(sessionId, row));
      const carried = rows.map((row): [number, number] => [row.id, this.insertRow(sessionId, cloned(row))]);
      this.recount(sessionId);
      return { handoff: ids, carried };
    });
  }

  /** Sets a title that the agent found. An ancestor of the same conversation gives it up; anybody else makes it get a number (F7). */
  setTitle(sessionId: string, title: string): void {
    this.commit(() => {
      const owner = this.value('SELECT id FROM sessions WHERE title = ? AND id <> ?', title, sessionId);
      let free = title;
      if (typeof owner === 'string' && this.ancestors(sessionId).includes(owner))
        this.run('UPDATE sessions SET title = NULL WHERE id = ?', owner);
      else
        for (let number = 2; this.value('SELECT 1 FROM sessions WHERE title = ?', free) !== undefined; number += 1)
          free = `${title} #${number}`;
      this.run("UPDATE sessions SET title = ?, title_source = 'llm' WHERE id = ?", free, sessionId);
    });
  }

  end(sessionId: string, reason: string): void {
    const sql = 'UPDATE sessions SET ended_at = ?, end_reason = ? WHERE id = ? AND ended_at IS NULL';
    this.commit(() => this.run(sql, this.now(), reason, sessionId));
  }

  /** A session that had ended goes on (F3). */
  reopen(sessionId: string): void {
    const sql = `UPDATE sessions SET ended_at = NULL, end_reason = NULL
      WHERE id = ? AND ended_at IS NOT NULL AND end_reason IS NOT 'compression'`;
    this.commit(() => this.run(sql, sessionId));
  }

  /** The title nearest to the tip of a conversation, or undefined. */
  titleOf(sessionId: string): string | undefined {
    for (const id of this.ancestors(sessionId)) {
      const title = this.value('SELECT title FROM sessions WHERE id = ?', id);
      if (typeof title === 'string') return title;
    }
    return undefined;
  }

  /** The surface that a session came from. */
  sourceOf(sessionId: string): string {
    return String(this.value('SELECT source FROM sessions WHERE id = ?', sessionId) ?? '');
  }

  /** How many segments a conversation has, up to this one. */
  segments(sessionId: string): number {
    return this.ancestors(sessionId).length;
  }

  /** The key of a session's lease: the root of its compressed chain (G-2). */
  private leaseKey(sessionId: string): string {
    return this.ancestors(sessionId).at(-1) ?? sessionId;
  }

  /** The session and those that were compressed into it, nearest first; a fork begins a conversation of its own. */
  private ancestors(sessionId: string): string[] {
    const seen = [sessionId];
    const step = this.db.prepare<[string], { id: string }>(`
      SELECT p.id FROM sessions c JOIN sessions p ON p.id = c.parent_session_id
      WHERE c.id = ? AND p.end_reason = 'compression' AND c.source <> 'tool' AND NOT EXISTS (
        SELECT 1 FROM json_each(CASE WHEN json_valid(c.model_config) THEN c.model_config ELSE '{}' END) AS marker
        WHERE marker.key IN ('_branched_from', '_delegate_from', '_reset_from') AND marker.value = p.id)`);
    for (let parent = step.get(sessionId); parent !== undefined && seen.length < MAX_SEGMENTS; parent = step.get(parent.id)) {
      if (seen.includes(parent.id)) break;
      seen.push(parent.id);
    }
    return seen;
  }

  /** The live rows of a session from this one on. */
  liveFrom(sessionId: string, fromRow: number): (Columns & { id: number })[] {
    const sql = 'SELECT * FROM messages WHERE session_id = ? AND active = 1 AND id >= ? ORDER BY id';
    return this.db.prepare<[string, number], Columns & { id: number }>(sql).all(sessionId, fromRow);
  }

  /** What a rewrite leaves counts for live rows only. */
  recount(sessionId: string): void {
    const live = 'FROM messages WHERE session_id = sessions.id AND active = 1';
    const sql = `UPDATE sessions SET message_count = (SELECT COUNT(*) ${live}),
      tool_call_count = (SELECT COALESCE(SUM(json_array_length(tool_calls)), 0) ${live}) WHERE id = ?`;
    this.run(sql, sessionId);
  }

  private insertRow(sessionId: string, columns: Columns): number {
    const calls = typeof columns.tool_calls === 'string' ? (JSON.parse(columns.tool_calls) as unknown[]).length : 0;
    const count = `UPDATE sessions SET message_count = message_count + 1, tool_call_count = tool_call_count + ?
      WHERE id = ? AND end_reason IS NOT 'compression'`;
    if (this.run(count, calls, sessionId) !== 1) throw new TurnLost(`session ${sessionId} is gone or was compressed`);
    return this.insert('messages', { timestamp: this.now(), ...columns, session_id: sessionId });
  }

  private insert(table: string, columns: Columns): number {
    const names = Object.keys(columns);
    const sql = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
    return Number(this.db.prepare(sql).run(...Object.values(columns)).lastInsertRowid);
  }

  private run(sql: string, ...values: unknown[]): number {
    return this.db.prepare(sql).run(...values).changes;
  }

  private value(sql: string, ...values: unknown[]): unknown {
    return this.db
      .prepare(sql)
      .pluck()
      .get(...values);
  }

  private commit<Result>(work: () => Result): Result {
    return this.db.transaction(work).immediate();
  }
}

/** A copy gets an id and a place of its own; what it says, and when, stays. */
function cloned({ id: _, display_order: _order, ...columns }: Columns): Columns {
  return { ...columns, active: 1, compacted: 0 };
}

/** What a continuation takes over from its parent. */
const INHERITED = `source, user_id, session_key, chat_id, chat_type, thread_id, display_name, origin_json, model, model_config,
  system_prompt, system_prompt_hash, cwd, git_branch, git_repo_root, profile_name, archived, pinned, hidden, last_read_at`;
