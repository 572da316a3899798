/**
 * The Web UI's share of one turn: what it streams into the run journal, and how it settles (`spec/live-turns.md` 2, 3.6). Every method
 * that writes is a generator which pauses after each line, for so many beats; the store's rows in between are the caller's.
 */
import type { SeededRandom } from './random.ts';
import type { ToolUse } from './script.ts';
import type { Columns } from './session-draft.ts';
import { type SidecarFields, type SidecarMessage, sidecarObject } from './sidecar-files.ts';
import type { TurnError, WebUiFiles } from './web-ui-files.ts';

type Beats = Generator<number, void, undefined>;
type Payload = Readonly<Record<string, unknown>>;

/** At the player's usual pace of 1500 ms a token comes every 10 to 30 ms, and reasoning at most ten times a second. */
const TOKEN_BEATS = { low: 10 / 1500, high: 30 / 1500 } as const;
const REASONING_BEATS = 100 / 1500;
const FILE_BEATS = 5 / 1500;
const LINE_BEATS = 2 / 1500;
/** The result of a tool is cut in the journal; the row has all of it (3.6). */
const LONGEST_PREVIEW = 4000;
const LONGEST_ARGUMENT = 120;
const WHOLE_ARGUMENTS = /command|cmd|script|code|patch|diff|string|content|path/;
const TOKENS_PER_METERING = 12;

export class WebUiRun {
  readonly runId: string;
  private readonly files: WebUiFiles;
  private readonly random: SeededRandom;
  /** At submission: journal and terminal lines stay under it, wherever the turn goes on (11.2). */
  private sessionId = '';
  private childId: string | undefined;
  private compacted = false;
  private state: 'BEFORE' | 'RUNNING' | 'SETTLED' = 'BEFORE';
  private startedAt = 0;
  private readonly messages: SidecarMessage[] = [];
  private readonly tokens = { input: 1400, output: 0 };

  constructor(files: WebUiFiles, random: SeededRandom, runId: string = random.hex(32)) {
    this.files = files;
    this.random = random;
    this.runId = runId;
  }

  hasSidecar(sessionId: string): boolean {
    return this.files.sidecars.load(sessionId) !== undefined;
  }

  /** A session that the Web UI didn't know gets its sidecar. */
  adopt(sessionId: string, fields: SidecarFields, rows: readonly Columns[]): void {
    this.files.create(sessionId, fields, rows.map(sidecarMessage));
  }

  /** Steps 1 to 5: the sidecar is taken over, the turn recorded, the journal begun. */
  *begin(sessionId: string, text: string): Beats {
    this.sessionId = sessionId;
    this.startedAt = this.files.now();
    this.state = 'RUNNING';
    for (const _ of this.files.submit({ ...this.run, text })) yield FILE_BEATS;
    const prefill = { status: 'ok', source: 'history', label: 'History', message_count: this.saved().messages.length };
    yield* this.line('context_status', { session_id: sessionId, prefill });
  }

  /** Step 10: what the model thinks and says. The pieces are exactly the text. */
  *stream(reasoning: string, text: string): Beats {
    for (const piece of this.pieces(reasoning, 30)) yield* this.line('reasoning', { text: piece }, REASONING_BEATS);
    for (const [index, piece] of this.pieces(text, 8).entries()) {
      this.tokens.output += 2;
      yield* this.line('token', { text: piece }, this.random.between(TOKEN_BEATS.low, TOKEN_BEATS.high));
      if (index % TOKENS_PER_METERING === TOKENS_PER_METERING - 1) yield* this.metering();
    }
  }

  /** After the row with the calls (step 11). */
  *calls(text: string, uses: readonly ToolUse[], ids: readonly string[]): Beats {
    this.tokens.input += 180;
    if (text !== '') yield* this.line('interim_assistant', { text: text.trim(), already_streamed: true });
    for (const [index, use] of uses.entries()) {
      const preview = String(Object.values(use.args)[0] ?? '').slice(0, LONGEST_ARGUMENT);
      yield* this.line('tool', { event_type: 'tool.started', name: use.tool, preview, args: shownArguments(use.args), tid: ids[index] });
    }
  }

  /** After the row with the result (step 12). With an id, the journal knows neither failure nor duration. */
  *toolDone(use: ToolUse, id: string | undefined): Beats {
    const args = shownArguments(use.args);
    const preview = use.result.slice(0, LONGEST_PREVIEW);
    yield* this.line('tool_complete', { event_type: 'tool.completed', name: use.tool, preview, args, tid: id, is_error: false });
    yield* this.metering();
  }

  *compressing(): Beats {
    this.compacted = true;
    yield* this.line('compressing', { session_id: this.sessionId, message: 'Compressing context…' });
  }

  /** The conversation goes on in a child; the files hear of it when the turn is settled. */
  rotatedTo(childId: string): void {
    this.childId = childId;
  }

  /** A row that the turn has put into the store. */
  said(row: Columns): void {
    this.messages.push(sidecarMessage(row));
  }

  /** Steps 16 to 18. */
  *settle(): Beats {
    for (const _ of this.files.settle({ ...this.run, messages: this.messages, childId: this.childId })) yield FILE_BEATS;
    this.state = 'SETTLED';
    const id = this.childId ?? this.sessionId;
    if (this.compacted) {
      const ids = { session_id: id, old_session_id: this.sessionId, new_session_id: id, continuation_session_id: id };
      yield* this.line('compressed', { ...ids, message: 'Context compressed', usage: this.usage() });
    }
    const usage = { ...this.usage(), duration_seconds: round(this.files.now() - this.startedAt) };
    yield* this.line('done', { session: sidecarObject(this.saved()), usage });
    yield* this.metering();
  }

  /** Step 19, in the background: the title that a model found. */
  *titled(title: string): Beats {
    const id = this.childId ?? this.sessionId;
    yield* this.line('title_status', { session_id: id, status: 'generating' });
    this.files.sidecars.save(id, { title, llm_title_generated: true });
    yield FILE_BEATS;
    yield* this.line('title', { session_id: id, title });
  }

  *close(): Beats {
    yield* this.line('stream_end', { session_id: this.sessionId });
  }

  /** Ends a run that is given up: the sidecar first, then the worker's own last line. Does nothing before the turn or after its end. */
  abandon(outcome: 'CANCELLED' | TurnError): void {
    if (this.state !== 'RUNNING') return;
    this.state = 'SETTLED';
    if (this.hasSidecar(this.sessionId))
      Array.from(this.files.settle({ ...this.run, messages: this.messages, childId: this.childId, outcome }));
    if (outcome === 'CANCELLED') this.write('cancel', { message: 'Cancelled by user', type: 'cancelled', status: 'cancelled' });
    else this.write('apperror', { ...outcome, label: 'Error', session_id: this.sessionId });
  }

  private get run(): { sessionId: string; runId: string } {
    return { sessionId: this.sessionId, runId: this.runId };
  }

  private saved() {
    return this.files.sidecars.load(this.childId ?? this.sessionId) ?? { fields: {}, messages: [] };
  }

  private *metering(): Beats {
    const tps = round(this.random.between(35, 60));
    const rates = { tps, tps_available: true, estimated: false, high: 60, low: 35, active: true };
    yield* this.line('metering', { session_id: this.sessionId, ...rates, usage: this.usage() });
  }

  private usage(): Payload {
    const { input, output } = this.tokens;
    return { input_tokens: input, output_tokens: output, estimated_cost: null, context_length: 200_000, last_prompt_tokens: input };
  }

  private *line(event: string, payload: Payload, beats = LINE_BEATS): Beats {
    this.write(event, payload);
    yield beats;
  }

  private write(event: string, payload: Payload): void {
    this.files.runs.append(this.run, { event, payload, createdAt: this.files.now() });
  }

  /** Cuts a text into pieces of up to `longest` characters, none of them inside a character. */
  private pieces(text: string, longest: number): string[] {
    const characters = Array.from(text);
    const pieces: string[] = [];
    while (characters.length > 0) pieces.push(characters.splice(0, Math.ceil(this.random.between(0, longest))).join(''));
    return pieces.filter((piece) => piece !== '');
  }
}

/** A row as the sidecar's transcript has it. */
export function sidecarMessage(row: Columns): SidecarMessage {
  const { role, content = null, reasoning, tool_calls: calls, tool_call_id: callId, tool_name: tool, timestamp } = row;
  return {
    role,
    content: content ?? '',
    ...(typeof calls === 'string' ? { tool_calls: JSON.parse(calls) as unknown } : {}),
    ...(typeof callId === 'string' ? { tool_call_id: callId } : {}),
    ...(typeof tool === 'string' ? { name: tool } : {}),
    timestamp,
    ...(typeof reasoning === 'string' ? { reasoning } : {}),
  };
}

/** The display copy of a call's arguments: the first four, cut, but for those that hold code or a path (3.6). */
function shownArguments(args: Payload): Payload {
  return Object.fromEntries(
    Object.entries(args)
      .slice(0, 4)
      .map(([name, value]) => {
        const text = typeof value === 'string' ? value : JSON.stringify(value);
        return [name, text.slice(0, WHOLE_ARGUMENTS.test(name) ? LONGEST_PREVIEW : LONGEST_ARGUMENT)];
      }),
  );
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
