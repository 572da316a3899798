/** The order of a live turn: which commit follows which (`spec/live-turns.md` 2, 6.4, 11.2). Who plays it decides about the pauses. */
import type Database from 'better-sqlite3';
import { stampedId } from './performed-scripts.ts';
import type { Script, ScriptStep } from './script.ts';
import { type Columns, stamp } from './session-draft.ts';
import { TurnWriter, type WriterIdentity } from './turn-writer.ts';

export type TurnStepName =
  | 'waiting'
  | 'lease'
  | 'session'
  | 'user'
  | 'heartbeat'
  | 'calls'
  | 'tool'
  | 'usage'
  | 'lock'
  | 'rotation'
  | 'unlock'
  | 'answer'
  | 'labels'
  | 'release'
  | 'title'
  | 'end';

/** A commit that was just made. */
export interface TurnStep {
  readonly name: TurnStepName;
  readonly sessionId: string;
  /** How long it lasts until the next one, in beats of the player. */
  readonly beats: number;
}

export interface TurnOptions extends Partial<WriterIdentity> {
  /** What is said and done; only the first thing that the user says counts. */
  readonly script: Script;
  /** The session to go on with (its tip, when it was compressed); without it the turn begins a new one. */
  readonly sessionId?: string | undefined;
  /** Compress in the middle of the turn, and go on in a child session; not when the conversation has 20 segments already. */
  readonly rotate?: boolean;
  /** End the session after the turn, with this reason. */
  readonly end?: string | undefined;
}

const RENEW_SECONDS = 60;
/** A player that runs for days must not make a chain that no reader follows to its end. */
const MAX_SEGMENTS = 20;

/**
 * Plays one turn on an open read-write connection: each `next()` makes one commit and says which; the value at the end is the id of the
 * session where the turn ended. When the generator is closed early the lease is given back, as an agent does that is asked to stop.
 * Throws TurnLost when the session vanished meanwhile, SqliteError when the store can't be written.
 */
export function* playTurn(db: Database.Database, options: TurnOptions): Generator<TurnStep, string, undefined> {
  const writer = new TurnWriter(db, options);
  const turn = new Turn(writer, options);
  try {
    yield* turn.begin(options.sessionId === undefined ? null : tipOf(db, options.sessionId));
    yield* turn.work();
    yield* turn.finish();
  } finally {
    turn.release();
  }
  return turn.sessionId;
}

/** Where a compressed conversation goes on: the newest child that isn't a fork, repeatedly (`spec/live-turns.md` 11.2). */
export function tipOf(db: Database.Database, sessionId: string): string {
  const child = db.prepare<[string], { id: string }>(`
    SELECT c.id FROM sessions c JOIN sessions p ON p.id = c.parent_session_id
    WHERE p.id = ? AND p.end_reason = 'compression' AND c.source <> 'tool' AND NOT EXISTS (
      SELECT 1 FROM json_each(CASE WHEN json_valid(c.model_config) THEN c.model_config ELSE '{}' END) AS marker
      WHERE marker.key IN ('_branched_from', '_delegate_from', '_reset_from') AND marker.value = p.id)
    ORDER BY c.ended_at IS NOT NULL, c.started_at DESC LIMIT 1`);
  const seen = new Set([sessionId]);
  let tip = sessionId;
  for (let next = child.get(tip); next !== undefined && !seen.has(next.id); next = child.get(tip)) {
    seen.add(next.id);
    tip = next.id;
  }
  return tip;
}

class Turn {
  sessionId = '';
  private readonly writer: TurnWriter;
  private readonly options: TurnOptions;
  private readonly holder: string;
  private leasedAt: number | null = null;
  private firstRow = 0;
  private calls = 0;
  private rotated = false;

  constructor(writer: TurnWriter, options: TurnOptions) {
    this.writer = writer;
    this.options = options;
    this.holder = writer.leaseHolder(writer.token(8), options.script.source);
  }

  /** The lease and the user's row; a new session has no lease in its first turn, since its row didn't exist before. */
  *begin(sessionId: string | null): Generator<TurnStep> {
    const { script } = this.options;
    const asked = script.steps.find((step) => step.kind === 'user');
    const row: Columns = { role: 'user', content: asked?.kind === 'user' ? asked.text : '' };
    if (sessionId === null) {
      this.sessionId = stampedId(this.writer.now(), this.writer.token(16));
      this.writer.beginSession({ id: this.sessionId, source: script.source, model: script.model, cwd: '/home/ada' }, row);
      yield this.step('session', 1);
    } else {
      this.sessionId = sessionId;
      while (!this.writer.acquireLease(sessionId, this.holder)) yield this.step('waiting', 1);
      this.leasedAt = this.writer.now();
      yield this.step('lease', 0.2);
      this.writer.reopen(sessionId);
      this.firstRow = this.writer.append(sessionId, row);
      yield this.step('user', 1);
    }
  }

  /** Calls to the model and to tools, up to and including the answer. */
  *work(): Generator<TurnStep> {
    let thought: Columns = {};
    for (const step of this.options.script.steps) {
      if (step.kind === 'thought') thought = { reasoning: step.text, reasoning_content: step.text };
      if (step.kind !== 'calls' && step.kind !== 'answer') continue;
      this.renew();
      this.calls += 1;
      yield* this.label(`starting API call #${this.calls}`);
      if (step.kind === 'calls') yield* this.useTools(step, thought);
      else yield* this.answer(step.text, thought);
      thought = {};
      if (this.mayRotate() && step.kind === 'calls') yield* this.rotate();
    }
  }

  /** Labels, lease, and what comes after the turn. */
  *finish(): Generator<TurnStep> {
    this.writer.clearLabels(this.sessionId);
    yield this.step('labels', 0.1);
    if (this.leasedAt !== null) {
      this.release();
      yield this.step('release', 0.5);
    }
    const title = this.options.script.title;
    if (this.options.sessionId === undefined && title !== null) {
      this.writer.setTitle(this.sessionId, title);
      yield this.step('title', 0.3);
      this.writer.addUsage(this.sessionId, 'openai/gpt-5-mini', 'title_generation', 280, 8);
      yield this.step('usage', 1);
    }
    if (this.options.end !== undefined) {
      this.writer.end(this.sessionId, this.options.end);
      yield this.step('end', 1);
    }
  }

  release(): void {
    if (this.leasedAt === null) return;
    this.leasedAt = null;
    this.writer.releaseLease(this.holder);
  }

  private *useTools(step: Extract<ScriptStep, { kind: 'calls' }>, thought: Columns): Generator<TurnStep> {
    const ids = this.writer.appendCalls(this.sessionId, step.calls, step.text, thought);
    yield this.step('calls', 0.3);
    yield* this.account(step.text.length + 80 * step.calls.length);
    for (const [index, use] of step.calls.entries()) {
      yield* this.label(`executing tool: ${use.tool}`);
      this.writer.append(this.sessionId, { role: 'tool', content: use.result, tool_call_id: ids[index] ?? null, tool_name: use.tool });
      yield this.step('tool', 1);
    }
  }

  private *answer(text: string, thought: Columns): Generator<TurnStep> {
    const tokens = Math.ceil(text.length / 4);
    this.writer.append(this.sessionId, { role: 'assistant', content: text, finish_reason: 'stop', token_count: tokens, ...thought });
    yield this.step('answer', 0.3);
    yield* this.account(text.length);
  }

  private mayRotate(): boolean {
    return this.options.rotate === true && !this.rotated && this.writer.segments(this.sessionId) < MAX_SEGMENTS;
  }

  private *rotate(): Generator<TurnStep> {
    this.rotated = true;
    const parentId = this.sessionId;
    const title = this.writer.titleOf(parentId);
    const lock = this.writer.lockForCompression(parentId);
    this.writer.heartbeat(parentId, 'compressing context', 'agent.compression');
    yield this.step('lock', 2);
    const childId = stampedId(this.writer.now(), this.writer.token(16));
    this.writer.rotate(
      parentId,
      childId,
      'The conversation so far, in short: what was asked is done; the last request is under way.',
      this.firstRow,
    );
    this.sessionId = childId;
    yield this.step('rotation', 0.1);
    this.writer.unlockCompression(parentId, lock);
    this.writer.clearLabels(parentId);
    yield this.step('unlock', 0.5);
    if (title === undefined) return;
    this.writer.setTitle(childId, title);
    yield this.step('title', 0.5);
  }

  /** The background writer's share: the usage of a call, a moment after its row. */
  private *account(characters: number): Generator<TurnStep> {
    this.writer.addUsage(this.sessionId, this.options.script.model, '', 1400 + 180 * this.calls, Math.ceil(characters / 4));
    yield this.step('usage', 0.7);
  }

  private *label(description: string): Generator<TurnStep> {
    if (this.writer.heartbeat(this.sessionId, description)) yield this.step('heartbeat', 1);
  }

  private renew(): void {
    if (this.leasedAt === null || this.writer.now() - this.leasedAt < RENEW_SECONDS) return;
    this.leasedAt = stamp(this.writer.now());
    this.writer.renewLease(this.holder);
  }

  private step(name: TurnStepName, beats: number): TurnStep {
    return { name, sessionId: this.sessionId, beats };
  }
}
