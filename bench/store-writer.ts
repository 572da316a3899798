/**
 * Writes planned sessions as if months went by: a handful of them at work at any time, a turn here and a turn there, so that the rows of a
 * session lie between those of others, and ids and times grow together.
 */
import { createHash } from 'node:crypto';
import type Database from 'better-sqlite3';
import { modelNamed } from '../src/demo/models.ts';
import { ownerJson } from '../src/demo/owner-json.ts';
import type { SeededRandom } from '../src/demo/random.ts';
import { type MessageDraft, RowMaker } from './rows.ts';
import { LONG_SESSION, type PlannedSession } from './session-plan.ts';
import { prepareStatements, type Statements } from './store-statements.ts';
import { RARE_WORD, TextPool } from './text-pool.ts';

/** About when the newest row is written, in epoch seconds: 2026-09-21. */
const NOW = 1_790_000_000;
const SPAN_SECONDS = 300 * 86_400;
const SESSIONS_AT_WORK = 8;
const ROWS_PER_TRANSACTION = 4000;
/** Means, as they come out. */
const ROWS_PER_TURN = 5.8;
const SECONDS_PER_ROW = 4.5;
/** Rows that a branch, a continuation or a compaction in place takes over as copies, with their times. */
const COPIED_ROWS = 6;
const SMALLEST_COMPACTED = 60;
const RARE_ROWS = 12;
const CHINESE_SHARE = 0.04;
const LIVE_LEASES = 5;
/** People who write through the gateway. */
const PEERS = 40;
const LATER = 4_102_444_800;

const MODELS = ['anthropic/claude-opus-4', 'anthropic/claude-sonnet-4.5', 'openai/gpt-5', 'nous/hermes-4-405b', 'local/qwen3-32b'] as const;
const PROMPT_CHARACTERS = 12_000;
const END_REASONS: Readonly<Record<string, readonly (string | null)[]>> = {
  cli: ['cli_close', 'cli_close', null],
  webui: [null, null, null, 'session_switch'],
  telegram: ['idle', 'daily', 'session_reset', null],
  discord: ['idle', 'daily', null],
  cron: ['cron_complete'],
  subagent: ['agent_close'],
};
/** Mean rounds of tools in a turn. */
const TOOL_DEPTH: Readonly<Record<string, number>> = { cli: 3.2, webui: 2.4, telegram: 1, discord: 0.8, cron: 2, subagent: 4 };

interface StoredRow extends MessageDraft {
  readonly timestamp: number;
}

/** What a continuation takes over from the session that was compressed. */
interface Setting {
  readonly model: string;
  readonly isChinese: boolean;
  readonly userId: string | null;
  readonly sessionKey: string | null;
  readonly chatId: string | null;
  readonly cwd: string | null;
  readonly gitBranch: string | null;
  readonly promptHash: string | null;
}

interface OpenSession {
  readonly plan: PlannedSession;
  readonly id: string;
  readonly setting: Setting;
  readonly startedAt: number;
  left: number;
  written: number;
  live: number;
  calls: number;
  toolCalls: number;
  output: number;
  lastAt: number;
  firstRowId: number;
  /** The newest rows, for copies. */
  tail: StoredRow[];
}

export class StoreWriter {
  readonly #db: Database.Database;
  readonly #random: SeededRandom;
  readonly #text: TextPool;
  readonly #maker: RowMaker;
  readonly #statements: Statements;
  readonly #ids = new Map<PlannedSession, string>();
  readonly #prompts: readonly string[];
  readonly #work: OpenSession[] = [];
  readonly #meanGap: number;
  readonly #rareEvery: number;
  #clock = NOW - SPAN_SECONDS;
  #rows = 0;
  #titles = 0;

  constructor(db: Database.Database, random: SeededRandom, messages: number) {
    this.#db = db;
    this.#random = random;
    this.#text = new TextPool(random);
    this.#maker = new RowMaker(this.#text, random);
    this.#statements = prepareStatements(db);
    this.#prompts = this.#writePrompts();
    this.#meanGap = SPAN_SECONDS / (messages / ROWS_PER_TURN) - ROWS_PER_TURN * SECONDS_PER_ROW;
    this.#rareEvery = Math.floor(messages / RARE_ROWS);
  }

  /** Writes all of it, `onProgress` with the number of rows so far after each transaction. */
  write(starts: readonly PlannedSession[], onProgress: (rows: number) => void): void {
    const queue = [...starts].reverse();
    while (queue.length > 0 || this.#work.length > 0) {
      this.#db.transaction(() => {
        const until = this.#rows + ROWS_PER_TRANSACTION;
        while (this.#rows < until && this.#step(queue));
      })();
      onProgress(this.#rows);
    }
    this.#db.transaction(() => this.#writeLeases())();
  }

  /** One turn of one session; false when there is nothing left. */
  #step(queue: PlannedSession[]): boolean {
    while (this.#work.length < SESSIONS_AT_WORK) {
      const next = queue.pop();
      if (next === undefined) break;
      this.#start(next);
    }
    const session = this.#work[Math.floor(this.#random.next() * this.#work.length)];
    if (session === undefined) return false;
    this.#clock += -Math.log(1 - this.#random.next()) * this.#meanGap;
    if (session.left > 0) this.#turn(session);
    if (session.left === 0) this.#finish(session);
    return true;
  }

  /** Begins a session; one that goes on from another one takes over its newest rows, and a continuation its setting too. */
  #start(plan: PlannedSession, from: OpenSession | null = null): void {
    const { parent } = plan;
    const parentId = parent === null ? null : (this.#ids.get(parent) ?? null);
    const id = plan.isLong ? LONG_SESSION.id : this.#sessionId(plan);
    const setting = plan.kind === 'SEGMENT' && from !== null ? from.setting : this.#setting(plan);
    const startedAt = stamp(this.#clock);
    const counts = { left: plan.rows, written: 0, live: 0, calls: 0, toolCalls: 0, output: 0 };
    const session: OpenSession = { plan, id, setting, startedAt, ...counts, lastAt: startedAt, firstRowId: this.#rows + 1, tail: [] };
    this.#ids.set(plan, id);
    const marker =
      plan.kind === 'BRANCH'
        ? { _branched_from: parentId }
        : plan.kind === 'DELEGATE'
          ? { _delegate_from: parentId, max_iterations: 20 }
          : {};
    this.#statements.session.run({
      id,
      source: plan.source,
      user_id: setting.userId,
      session_key: setting.sessionKey,
      chat_id: setting.chatId,
      model: setting.model,
      model_config: ownerJson({ model: setting.model, max_tokens: 8192, temperature: 0.3, reasoning_effort: 'medium', ...marker }),
      system_prompt_hash: setting.promptHash,
      parent_session_id: parentId,
      started_at: startedAt,
      cwd: setting.cwd,
      git_branch: setting.gitBranch,
      archived: Number(plan.archived),
      pinned: Number(plan.pinned),
      hidden: Number(plan.hidden),
    });
    this.#work.push(session);
    if (plan.kind === 'SEGMENT') this.#insert(session, { ...this.#maker.summary(), timestamp: this.#tick() });
    for (const row of from?.tail ?? []) this.#insert(session, row);
  }

  #setting(plan: PlannedSession): Setting {
    const peer = Math.floor(this.#random.next() * PEERS);
    const isGateway = plan.source === 'telegram' || plan.source === 'discord';
    const isTerminal = plan.source === 'cli';
    return {
      model: MODELS[Math.floor(this.#random.next() ** 1.5 * MODELS.length)] ?? MODELS[0],
      isChinese: !plan.isLong && this.#random.next() < CHINESE_SHARE,
      userId: isGateway ? `user-${peer}` : null,
      sessionKey: isGateway ? `agent:main:${plan.source}:dm:${peer}` : null,
      chatId: isGateway ? String(70_000 + peer) : null,
      cwd: isTerminal ? `/home/ada/src/${this.#text.word()}` : null,
      gitBranch: isTerminal ? `feat/${this.#text.word()}` : null,
      promptHash: this.#prompts[Math.floor(this.#random.next() * this.#prompts.length)] ?? null,
    };
  }

  #turn(session: OpenSession): void {
    const { plan } = session;
    const compactsNow =
      plan.compactsInPlace && plan.rows >= SMALLEST_COMPACTED && session.written >= plan.rows / 2 && session.live === session.written;
    if (compactsNow) this.#compactInPlace(session);
    const turn = this.#maker.turn(TOOL_DEPTH[plan.source] ?? 1, session.setting.isChinese);
    const before = this.#rows;
    for (const row of turn) this.#insert(session, { ...row, timestamp: this.#tick() });
    if (session.left === 0 && plan.rewinds && before >= session.firstRowId) {
      session.live -= this.#statements.rewind.run(session.id, BigInt(before)).changes;
    }
  }

  /** Everything so far becomes history, a summary and copies of the newest rows are what is live. */
  #compactInPlace(session: OpenSession): void {
    this.#statements.archive.run(session.id);
    session.live = 0;
    this.#insert(session, { ...this.#maker.summary(), timestamp: this.#tick() });
    for (const row of session.tail.slice(-COPIED_ROWS)) this.#insert(session, row);
  }

  #insert(session: OpenSession, row: StoredRow): void {
    if (session.left === 0) return;
    session.left--;
    session.written++;
    session.live++;
    this.#rows++;
    const rare = this.#rows % this.#rareEvery === 0 ? ` ${RARE_WORD} ${this.#text.word()}.` : '';
    this.#statements.message.run(
      session.id,
      row.role,
      row.content + rare,
      row.toolCallId,
      row.toolCalls,
      row.toolName,
      row.timestamp,
      row.tokenCount,
      row.finishReason,
      row.reasoning,
      row.displayKind,
    );
    if (row.role === 'assistant') session.calls++;
    session.toolCalls += row.calls;
    session.output += row.tokenCount ?? 0;
    session.lastAt = Math.max(session.lastAt, row.timestamp);
    session.tail.push(row);
    if (session.tail.length > COPIED_ROWS) session.tail.shift();
  }

  /** What becomes of a session that has all its rows: its totals, its end, and who goes on from it. */
  #finish(session: OpenSession): void {
    this.#work.splice(this.#work.indexOf(session), 1);
    const { plan } = session;
    const reasons = END_REASONS[plan.source] ?? [null];
    const reason =
      plan.next !== null ? 'compression' : plan.isLong ? null : (reasons[Math.floor(this.#random.next() * reasons.length)] ?? null);
    const usage = this.#usage(session);
    this.#statements.close.run({
      id: session.id,
      ended_at: reason === null ? null : stamp(this.#clock + 5),
      end_reason: reason,
      message_count: session.live,
      tool_call_count: session.toolCalls,
      title: plan.next === null && plan.kind !== 'DELEGATE' && this.#random.next() < 0.85 ? this.#title() : null,
      last_activity_at: session.written > 0 && this.#random.next() < 0.7 ? session.lastAt : null,
      ...usage,
    });
    if (plan.next !== null) this.#start(plan.next, session);
    for (const branch of plan.branches) this.#start(branch, session);
  }

  /** Usage rows of the session; gives what its own columns say. */
  #usage(session: OpenSession): Readonly<Record<string, string | number | null>> {
    const model = modelNamed(session.setting.model);
    const input = session.calls * 1800;
    const cached = session.calls * 9000;
    const cost = model.price === null ? null : ((input + cached / 10) * model.price.input + session.output * model.price.output) / 1e6;
    const columns = {
      api_call_count: session.calls,
      input_tokens: input,
      output_tokens: session.output,
      cache_read_tokens: cached,
      estimated_cost_usd: cost,
      cost_status: cost === null ? 'unknown' : 'estimated',
      billing_provider: model.provider,
      billing_base_url: model.baseUrl,
      billing_mode: model.mode,
    };
    if (session.calls === 0) return columns;
    const row = { ...columns, id: session.id, model: session.setting.model, task: '', estimated_cost_usd: cost ?? 0 };
    const times = { first_seen: session.startedAt, last_seen: session.lastAt };
    this.#statements.usage.run({ ...row, ...times });
    if (session.plan.source !== 'cron') {
      const aux = { ...row, model: 'openai/gpt-5-mini', task: 'title_generation', api_call_count: 1, input_tokens: 320, output_tokens: 9 };
      this.#statements.usage.run({ ...aux, cache_read_tokens: 0, estimated_cost_usd: 0.0001, ...times });
    }
    return columns;
  }

  #sessionId(plan: PlannedSession): string {
    if (plan.source === 'webui') return this.#random.hex(12);
    const time = new Date(this.#clock * 1000).toISOString().replace(/[-:]/g, '').replace('T', '_').slice(0, 15);
    return `${time}_${this.#random.hex(6)}`;
  }

  #title(): string {
    const words = this.#text.prose(30).split(' ').slice(0, 6).join(' ');
    return `${words} #${++this.#titles}`;
  }

  #tick(): number {
    this.#clock += this.#random.between(0.5, 2 * SECONDS_PER_ROW - 0.5);
    return stamp(this.#clock);
  }

  #writePrompts(): string[] {
    return Array.from({ length: 5 }, () => {
      const prompt = this.#text.prose(PROMPT_CHARACTERS);
      const hash = createHash('sha256').update(prompt, 'utf8').digest('hex');
      this.#db.prepare('INSERT INTO system_prompts (hash, prompt) VALUES (?, ?)').run(hash, prompt);
      return hash;
    });
  }

  /** Leases that ran out with their turns, and a few that are held. */
  #writeLeases(): void {
    const insert = this.#db.prepare(
      'INSERT INTO session_turn_leases (conversation_id, holder, acquired_at, expires_at) VALUES (?, ?, ?, ?)',
    );
    const roots = [...this.#ids].filter(([plan]) => plan.kind === 'ROOT' && plan.source !== 'cron').slice(-40);
    roots.forEach(([, id], index) => {
      const at = stamp(this.#clock - index);
      insert.run(id, `pid=${4000 + index}:turn=${this.#random.hex(8)}:platform=cli`, at, index < LIVE_LEASES ? LATER : at + 300);
    });
  }
}

/** Microseconds, as the owner's clock has them. */
function stamp(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6;
}
