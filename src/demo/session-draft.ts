/**
 * One session of the demo while it is being written: rows with times that move on by themselves, and totals that agree with the rows.
 */
import { type Model, modelNamed } from './models.ts';
import { ownerJson } from './owner-json.ts';
import { SeededRandom, seedOf } from './random.ts';
import type { ToolUse } from './script.ts';

export type Cell = string | number | bigint | Buffer | null;
export type Columns = Readonly<Record<string, Cell>>;

export interface DraftRow {
  readonly columns: Record<string, Cell>;
  /** When the row was stored, which decides about its id; a copied row keeps an older `timestamp`. */
  readonly storedAt: number;
}

export type CostKind = 'estimated' | 'actual' | 'unknown';

interface Tokens {
  calls: number;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  reasoning: number;
}

const TITLE_MODEL = 'openai/gpt-5-mini';

export class SessionDraft {
  readonly id: string;
  readonly columns: Record<string, Cell>;
  readonly rows: DraftRow[] = [];
  readonly usage: Columns[] = [];
  /** Epoch seconds: where the conversation is now. */
  clock: number;
  /** The size of the context so far, in characters: what the next call to the model has to read. */
  private context = 6000;
  private readonly random: SeededRandom;
  private readonly main: Tokens = { calls: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

  /** A session of `source` that starts at `startedAt` (epoch seconds). `columns` may set or replace any column. */
  constructor(id: string, source: string, startedAt: number, columns: Columns = {}) {
    this.id = id;
    this.clock = stamp(startedAt);
    this.random = new SeededRandom(seedOf(id));
    this.columns = { id, source, started_at: this.clock, profile_name: 'default', ...columns };
  }

  /** Lets between `low` and `high` seconds pass. */
  wait(low: number, high = low): void {
    this.clock = stamp(this.clock + this.random.between(low, high));
  }

  /** A row as it is given; role, time and owner are filled in. */
  row(role: string, content: Cell, columns: Columns = {}): DraftRow {
    const row: DraftRow = {
      columns: { session_id: this.id, role, content, timestamp: this.clock, ...columns },
      storedAt: Math.max(this.clock, this.rows.at(-1)?.storedAt ?? 0),
    };
    this.rows.push(row);
    this.context += String(content ?? '').length + String(columns.tool_calls ?? '').length;
    return row;
  }

  user(content: string, columns: Columns = {}): DraftRow {
    this.wait(15, 90);
    return this.row('user', content, columns);
  }

  /** An answer of the model: one call, which counts. */
  answer(text: string, columns: Columns = {}): DraftRow {
    this.wait(2, 7);
    const tokens = this.countCall(text, columns);
    return this.row('assistant', text, { token_count: tokens, finish_reason: 'stop', ...columns });
  }

  /** One assistant row that asks for tools, and the row of each result; `answered: false` stops before the results. */
  calls(uses: readonly ToolUse[], text = '', columns: Columns = {}, answered = true): void {
    const ids = uses.map(() => `call_${this.random.hex(10)}`);
    const toolCalls = ownerJson(
      uses.map((use, index) => ({ id: ids[index], type: 'function', function: { name: use.tool, arguments: ownerJson(use.args) } })),
    );
    this.answer(text, { tool_calls: toolCalls, finish_reason: 'tool_calls', ...columns });
    if (!answered) return;
    for (const [index, use] of uses.entries()) {
      this.wait(0.3, 4);
      this.row('tool', use.result, { tool_call_id: ids[index] ?? null, tool_name: use.tool });
    }
  }

  /** Stores copies of rows of this session or another; they keep their times. */
  copy(rows: readonly DraftRow[]): void {
    for (const { columns } of rows) this.row(String(columns.role), columns.content ?? null, { ...columns, ...LIVE, session_id: this.id });
  }

  end(reason: string, afterSeconds = 20): void {
    this.wait(afterSeconds);
    this.columns.ended_at = this.clock;
    this.columns.end_reason = reason;
  }

  /** Usage beside the main loop, for example of `vision`; never part of the session's totals (`spec/state-db.md` 11). */
  auxiliary(task: string, model: string, input: number, output: number): void {
    const tokens: Tokens = { calls: 1, input, output, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
    this.usage.push(usageRow(this, model, task, tokens, modelNamed(model), 'estimated'));
  }

  /** The counters, totals and usage rows that follow from what was written. To be called once, last. */
  settle(cost: CostKind = 'estimated'): void {
    const live = this.rows.filter(({ columns }) => (columns.active ?? 1) === 1);
    const calls = live.reduce((sum, { columns }) => sum + countCalls(columns.tool_calls ?? null), 0);
    Object.assign(this.columns, { message_count: live.length, tool_call_count: calls, ...this.columns });
    if (this.columns.title_source === 'llm') this.auxiliary('title_generation', TITLE_MODEL, 320, 9);
    const modelName = this.columns.model;
    if (typeof modelName !== 'string' || this.main.calls === 0) return;
    const model = modelNamed(modelName);
    const kind = model.price === null ? 'unknown' : cost;
    const usage = usageRow(this, modelName, '', this.main, model, kind);
    this.usage.unshift(usage);
    Object.assign(this.columns, totals(usage, kind), { ...this.columns });
  }

  private countCall(text: string, columns: Columns): number {
    const read = Math.round(this.context / 4);
    const written = Math.max(1, Math.round((text.length + String(columns.tool_calls ?? '').length) / 4));
    const cached = this.main.calls === 0 ? 0 : Math.round(read * 0.8);
    this.main.calls += 1;
    this.main.input += read - cached;
    this.main.cacheRead += cached;
    this.main.cacheWrite += this.main.calls === 1 ? read : 0;
    this.main.output += written;
    this.main.reasoning += Math.round(String(columns.reasoning ?? '').length / 4);
    return written;
  }
}

const LIVE: Columns = { active: 1, compacted: 0 };

/** Microseconds, as the owner's clock has them. */
export function stamp(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6;
}

function countCalls(toolCalls: Cell): number {
  return typeof toolCalls === 'string' ? toolCalls.split('"type": "function"').length - 1 : 0;
}

function usageRow(draft: SessionDraft, name: string, task: string, tokens: Tokens, model: Model, cost: CostKind): Columns {
  const dollars =
    model.price === null ? 0 : ((tokens.input + tokens.cacheRead / 10) * model.price.input + tokens.output * model.price.output) / 1e6;
  return {
    session_id: draft.id,
    model: name,
    billing_provider: model.provider,
    billing_base_url: model.baseUrl,
    billing_mode: model.mode,
    task,
    api_call_count: tokens.calls,
    input_tokens: tokens.input,
    output_tokens: tokens.output,
    cache_read_tokens: tokens.cacheRead,
    cache_write_tokens: tokens.cacheWrite,
    reasoning_tokens: tokens.reasoning,
    estimated_cost_usd: stamp(dollars),
    actual_cost_usd: cost === 'actual' ? stamp(dollars * 0.97) : 0,
    cost_status: cost,
    cost_source: cost === 'actual' ? 'provider' : cost === 'estimated' ? 'table' : null,
    first_seen: draft.columns.started_at ?? draft.clock,
    last_seen: draft.clock,
  };
}

/** The session's own columns; what isn't known stays NULL there, while usage rows can only say 0. */
function totals(usage: Columns, cost: CostKind): Columns {
  const { session_id: _, model: _model, task: _task, first_seen: _first, last_seen: _last, ...columns } = usage;
  return {
    ...columns,
    estimated_cost_usd: cost === 'unknown' ? null : (usage.estimated_cost_usd ?? null),
    actual_cost_usd: cost === 'actual' ? (usage.actual_cost_usd ?? null) : null,
    pricing_version: cost === 'estimated' ? 'demo-1' : null,
  };
}
