/** The order of a live turn: which commit follows which (`spec/live-turns.md` 2, 6.4, 11.2). Who plays it decides about the pauses. */
import type Database from 'better-sqlite3';
import { ownerJson } from './owner-json.ts';
import { stampedId } from './performed-scripts.ts';
import type { Script, ScriptStep, ToolUse } from './script.ts';
import { type Columns, stamp } from './session-draft.ts';
import { TurnWriter, type WriterIdentity } from './turn-writer.ts';
import type { TurnError } from './web-ui-files.ts';
import type { WebUiRun } from './web-ui-run.ts';

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
  | 'compaction'
  | 'unlock'
  | 'answer'
  | 'labels'
  | 'release'
  | 'title'
  | 'end'
  | 'file'
  | 'pause';

/** A commit that was just made, a file of the Web UI that was just written, or time that passes. */
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
  /** Compress in the middle of the turn, in place (`spec/live-turns.md` 11.1). */
  readonly compact?: boolean;
  /** The Web UI runs the turn and writes its files; without it only the store shows the turn. */
  readonly webUi?: WebUiRun | undefined;
  /** End the session after the turn, with this reason. */
  readonly end?: string | undefined;
}

const SUMMARY = 'The conversation so far, in short: what was asked is done; the last request is under way.';
const RENEW_SECONDS = 60;
/** A player that runs for days must not make a chain that no reader follows to its end. */
const MAX_SEGMENTS = 20;

/**
 * Plays one turn on an open read-write connection: each `next()` makes one commit and says which; the value at the end is the id of the
 * session where the turn ended. When the generator is closed early the lease is given back, as an agent does that is asked to stop, and
 * the Web UI's run counts as cancelled.
 * Throws TurnLost when the session vanished meanwhile, SqliteError when the store can't be written.
 */
export function* playTurn(db: Database.Database, options: TurnOptions): Generator<TurnStep, string, undefined> {
  const writer = new TurnWriter(db, options);
  const turn = new Turn(writer, options);
  let outcome: 'CANCELLED' | TurnError = 'CANCELLED';
  try {
    yield* turn.begin(options.sessionId === undefined ? null : tipOf(db, options.sessionId));
    yield* turn.work();
    yield* turn.finish();
  } catch (error) {
    outcome = { type: 'error', message: String(error) };
    throw error;
  } finally {
    turn.release();
    options.webUi?.abandon(outcome);
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
  private compressed = false;

  constructor(writer: TurnWriter, options: TurnOptions) {
    this.writer = writer;
    this.options = options;
    this.holder = writer.leaseHolder(writer.token(8), options.script.source);
  }

  /** The lease and the user's row; a new session has no lease in its first turn, since its row didn't exist before. */
  *begin(sessionId: string | null): Generator<TurnStep> {
    const { script, webUi } = this.options;
    const asked = script.steps.find((step) => step.kind === 'user');
    const text = asked?.kind === 'user' ? asked.text : '';
    this.sessionId = sessionId ?? this.newId();
    if (webUi?.hasSidecar(this.sessionId) === false) this.adopt(webUi, sessionId);
    yield* this.files(webUi?.begin(this.sessionId, text));
    const row: Columns = { role: 'user', content: text, timestamp: this.writer.now() };
    webUi?.said(row);
    if (sessionId === null) {
      const columns = { id: this.sessionId, source: script.source, model: script.model, cwd: '/home/ada' };
      [this.firstRow = 0] = this.writer.beginSession(columns, [row]);
      yield this.step('session', 1);
    } else {
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
    let thought = '';
    for (const step of this.options.script.steps) {
      if (step.kind === 'thought') thought = step.text;
      if (step.kind !== 'calls' && step.kind !== 'answer') continue;
      this.renew();
      this.calls += 1;
      yield* this.label(`starting API call #${this.calls}`);
      yield* this.files(this.options.webUi?.stream(thought, step.text));
      if (step.kind === 'calls') yield* this.useTools(step, thoughtColumns(thought));
      else yield* this.answer(step.text, thoughtColumns(thought));
      thought = '';
      if (this.mayCompress() && step.kind === 'calls') yield* this.compress();
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
    const { webUi, script } = this.options;
    const { title } = script;
    yield* this.files(webUi?.settle());
    if (this.options.sessionId === undefined && title !== null) {
      yield* this.files(webUi?.titled(title));
      this.writer.setTitle(this.sessionId, title);
      yield this.step('title', 0.3);
      this.writer.addUsage(this.sessionId, 'openai/gpt-5-mini', 'title_generation', 280, 8);
      yield this.step('usage', 1);
    }
    yield* this.files(webUi?.close());
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
    const { webUi } = this.options;
    const ids = step.calls.map(() => `call_${this.writer.token(10)}`);
    const calls = toolCalls(step.calls, ids);
    this.append({ role: 'assistant', content: step.text, tool_calls: calls, finish_reason: 'tool_calls', ...thought });
    yield* this.commit('calls', 0.3, webUi?.calls(step.text, step.calls, ids));
    yield* this.account(step.text.length + 80 * step.calls.length);
    for (const [index, use] of step.calls.entries()) {
      yield* this.label(`executing tool: ${use.tool}`);
      this.append({ role: 'tool', content: use.result, tool_call_id: ids[index] ?? null, tool_name: use.tool });
      yield* this.commit('tool', 1, webUi?.toolDone(use, ids[index]));
    }
  }

  private *answer(text: string, thought: Columns): Generator<TurnStep> {
    const tokens = Math.ceil(text.length / 4);
    this.append({ role: 'assistant', content: text, finish_reason: 'stop', token_count: tokens, ...thought });
    yield this.step('answer', 0.3);
    yield* this.account(text.length);
  }

  private mayCompress(): boolean {
    const { rotate = false, compact = false } = this.options;
    return !this.compressed && (compact || (rotate && this.writer.segments(this.sessionId) < MAX_SEGMENTS));
  }

  private *compress(): Generator<TurnStep> {
    const { webUi, compact } = this.options;
    this.compressed = true;
    const sessionId = this.sessionId;
    const lock = this.writer.lockForCompression(sessionId);
    const title = this.writer.titleOf(sessionId);
    try {
      this.writer.heartbeat(sessionId, 'compressing context', 'agent.compression');
      yield* this.commit('lock', 2, webUi?.compressing());
      if (compact === true) this.compact();
      else this.rotate();
      yield this.step(compact === true ? 'compaction' : 'rotation', 0.1);
    } finally {
      // Also when the turn is cancelled in the middle (11.1).
      this.writer.unlockCompression(sessionId, lock);
    }
    this.writer.clearLabels(sessionId);
    yield this.step('unlock', 0.5);
    if (title === undefined || sessionId === this.sessionId) return;
    this.writer.setTitle(this.sessionId, title);
    yield this.step('title', 0.5);
  }

  /** The turn's rows are carried over, and the rest of it has new ids. */
  private compact(): void {
    const { carried } = this.writer.compact(this.sessionId, SUMMARY, this.firstRow);
    this.firstRow = carried[0]?.[1] ?? this.firstRow;
  }

  private rotate(): void {
    const childId = stampedId(this.writer.now(), this.writer.token(16));
    this.writer.rotate(this.sessionId, childId, SUMMARY, this.firstRow);
    this.sessionId = childId;
    this.options.webUi?.rotatedTo(childId);
  }

  private append(columns: Columns): void {
    const row = { timestamp: this.writer.now(), ...columns };
    this.writer.append(this.sessionId, row);
    this.options.webUi?.said(row);
  }

  /** The Web UI names its sessions by twelve digits, the agent by the time. */
  private newId(): string {
    return this.options.script.source === 'webui' ? this.writer.token(12) : stampedId(this.writer.now(), this.writer.token(16));
  }

  private adopt(webUi: WebUiRun, sessionId: string | null): void {
    const { model } = this.options.script;
    const source = sessionId === null ? 'webui' : this.writer.sourceOf(sessionId);
    const title = sessionId === null ? undefined : this.writer.titleOf(sessionId);
    const origin = source === 'cli' ? { session_source: 'cli', is_cli_session: true, source_label: 'CLI' } : {};
    const fields = { title, model, source_tag: source, raw_source: source, ...origin };
    webUi.adopt(this.sessionId, fields, this.writer.liveFrom(this.sessionId, 0));
  }

  /** A commit with the lines that follow it at once, and then the time until the next one. */
  private *commit(name: TurnStepName, beats: number, lines: Iterable<number> | undefined): Generator<TurnStep> {
    if (lines === undefined) return yield this.step(name, beats);
    yield this.step(name, 0);
    yield* this.files(lines);
    yield this.step('pause', beats);
  }

  private *files(written: Iterable<number> = []): Generator<TurnStep> {
    for (const beats of written) yield this.step('file', beats);
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

function thoughtColumns(text: string): Columns {
  return text === '' ? {} : { reasoning: text, reasoning_content: text };
}

function toolCalls(uses: readonly ToolUse[], ids: readonly string[]): string {
  return ownerJson(
    uses.map((use, index) => ({ id: ids[index], type: 'function', function: { name: use.tool, arguments: ownerJson(use.args) } })),
  );
}
