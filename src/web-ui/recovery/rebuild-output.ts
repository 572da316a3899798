/**
 * The answer of a run that was not saved, from its journal (`spec/webui-recovery.md` 8): rows of text with the tools between them, none of what
 * the transcript has already. Pure, over a draft.
 */
import { firstWord, type Payload, text, word } from '../../live/journal/payload.ts';
import { isBlank, trimSpace } from '../../state-db/whitespace.ts';
import { truthy } from '../sidecar/coercions.ts';
import type { ContextRows } from './context-rows.ts';
import { answersWith, checkpointMatches, isUser, type PendingPrompt } from './matching.ts';
import { completeCard, newCard, RebuiltCard, toolIsThere } from './recovered-tools.ts';
import type { RunLine } from './run-lines.ts';
import { DraftRow, type SessionDraft } from './session-draft.ts';

export interface RebuildOptions {
  readonly draft: SessionDraft;
  readonly context: ContextRows;
  readonly streamId: string;
  /** The turn's own row of the prompt, or the last before it; only rows behind it can be this answer (D5). Null: all rows can. */
  readonly turn: DraftRow | null;
  /** Recovered rows go before it; null: to the end. */
  readonly before: DraftRow | null;
  /** Of a turn that is not settled yet. */
  readonly prompt: PendingPrompt | null;
  /** Epoch seconds. */
  readonly now: number;
}

export interface RebuiltOutput {
  /** Rows that are new; empty ones that only tools hang on too. */
  readonly rows: readonly DraftRow[];
  readonly cards: number;
  /** Something was added, be it reasoning to a row that was there. */
  readonly changed: boolean;
  /** Something of the answer was there already. */
  readonly found: boolean;
}

const REASONING_KEYS = ['text', 'reasoning', 'thinking'];
const ENDS = new Set(['done', 'stream_end', 'cancel', 'apperror', 'error']);

/** Adds to the draft what the lines tell of the answer. */
export function rebuildOutput(lines: readonly RunLine[], options: RebuildOptions): RebuiltOutput {
  const rebuild = new Rebuild(options);
  for (const line of lines) rebuild.take(line);
  return rebuild.finish();
}

/** Whether there is anything of an answer to see, without building it (8.2). White space counts as output. */
export function hasVisibleOutput(lines: readonly RunLine[]): boolean {
  return lines.some(({ event, payload }) => {
    if (event === 'token') return word(payload, 'text') !== null;
    if (event === 'interim_assistant') return !truthy(payload.already_streamed) && !isBlank(text(payload, 'text') ?? '');
    if (event === 'reasoning') return !isBlank(firstWord(payload, REASONING_KEYS) ?? '');
    return event === 'tool';
  });
}

class Rebuild {
  readonly #options: RebuildOptions;
  /** Rows that can be this answer, as they were before anything was added. */
  readonly #window: readonly DraftRow[];
  readonly #claimed = new Set<DraftRow>();
  readonly #rows: DraftRow[] = [];
  readonly #cards: RebuiltCard[] = [];
  #text: string[] = [];
  #reasoning: string[] = [];
  #startedAt: number | null = null;
  #current: DraftRow | null = null;
  /** What the last segment said: an interim text that was streamed repeats it. */
  #lastSegment = '';
  #changed = false;
  #found = false;

  constructor(options: RebuildOptions) {
    this.#options = options;
    const { draft, turn, before } = options;
    const rows = draft.messages.slice(turn === null ? 0 : draft.messages.indexOf(turn) + 1);
    const end = before === null ? rows.length : rows.indexOf(before);
    const next = rows.slice(end).findIndex((row) => isUser(row.fields));
    this.#window = next === -1 ? rows : rows.slice(0, end + next);
  }

  take({ seq, event, createdAt, payload }: RunLine): void {
    if (event === 'reasoning') this.#push(this.#reasoning, firstWord(payload, REASONING_KEYS), createdAt);
    else if (event === 'token') this.#push(this.#text, word(payload, 'text'), createdAt);
    else if (event === 'interim_assistant') this.#interim(payload, createdAt);
    else if (event === 'tool') this.#tool(seq, payload, createdAt);
    else if (event === 'tool_complete') completeCard(this.#cards, payload);
    else if (ENDS.has(event)) this.#flush();
  }

  finish(): RebuiltOutput {
    this.#flush();
    for (const { row, host } of this.#cards) this.#options.draft.hang(row, host);
    const cards = this.#cards.length;
    return { rows: this.#rows, cards, changed: this.#changed || cards > 0, found: this.#found };
  }

  #push(buffer: string[], part: string | null, createdAt: number | null): void {
    if (part === null) return;
    const begins = buffer === this.#text ? this.#text.length === 0 : this.#text.length === 0 && this.#reasoning.length === 0;
    if (begins) this.#startedAt ??= createdAt || this.#options.now;
    buffer.push(part);
  }

  #interim(payload: Payload, createdAt: number | null): void {
    const said = trimSpace(text(payload, 'text') ?? '');
    const isStreamed = truthy(payload.already_streamed);
    // Its tokens may not be in the journal (D17).
    const isLost = isStreamed && this.#text.length === 0 && said !== '' && !this.#lastSegment.includes(said);
    if (said !== '' && (!isStreamed || isLost)) {
      const last = this.#text.at(-1);
      if (last !== undefined && !/[\n ]$/.test(last)) this.#text.push('\n\n');
      this.#push(this.#text, said, createdAt);
    } else if (!isStreamed) return;
    this.#flush();
  }

  #tool(seq: number, payload: Payload, createdAt: number | null): void {
    const { draft, streamId, turn } = this.#options;
    this.#flush();
    if (toolIsThere(draft, payload, streamId, turn)) {
      this.#found = true;
      return;
    }
    const host = this.#current ?? this.#anchor(createdAt);
    this.#cards.push(new RebuiltCard(newCard(seq, payload, streamId), payload, host));
  }

  /** The row that what was collected stands in now. */
  #flush(): void {
    const content = trimSpace(this.#text.join(''));
    const reasoning = trimSpace(this.#reasoning.join(''));
    this.#text = [];
    this.#reasoning = [];
    if (content === '' && reasoning === '') return;
    this.#lastSegment = content;
    this.#current =
      (content === '' ? this.#sameReasoning(reasoning) : this.#sameAnswer(content, reasoning)) ?? this.#add(content, reasoning);
  }

  #sameAnswer(content: string, reasoning: string): DraftRow | null {
    const free = this.#window.filter((row) => !this.#claimed.has(row));
    const row = answersWith(free, content).find((each) => reasoning === '' || this.#mayReceiveReasoning(each));
    if (row === undefined) return null;
    this.#claim(row);
    this.#options.context.add(row);
    if (reasoning !== '' && !truthy(row.fields?.reasoning)) {
      row.change({ reasoning });
      this.#changed = true;
    }
    return row;
  }

  #sameReasoning(reasoning: string): DraftRow | null {
    const row = this.#window.find(
      (each) => !this.#claimed.has(each) && this.#isOwn(each) && !truthy(each.fields?.content) && each.fields?.reasoning === reasoning,
    );
    if (row !== undefined) this.#claim(row);
    return row ?? null;
  }

  #claim(row: DraftRow): void {
    this.#claimed.add(row);
    this.#found = true;
  }

  #add(content: string, reasoning: string): DraftRow {
    const row = this.#insert(content, this.#startedAt, reasoning === '' ? {} : { reasoning });
    this.#options.context.add(row);
    this.#startedAt = null;
    return row;
  }

  /** Tools before any text hang on one empty row of the run, however often a recovery is tried. */
  #anchor(createdAt: number | null): DraftRow {
    const isEmpty = (row: DraftRow) => this.#isOwn(row) && !truthy(row.fields?.content) && !truthy(row.fields?.reasoning);
    this.#current = this.#options.draft.messages.findLast(isEmpty) ?? this.#insert('', createdAt, {});
    return this.#current;
  }

  #insert(content: string, at: number | null, more: Readonly<Record<string, unknown>>): DraftRow {
    const { draft, streamId, now, before } = this.#options;
    const row = new DraftRow({
      role: 'assistant',
      content,
      timestamp: Math.trunc(at || now),
      _recovered_from_run_journal: true,
      _recovered_stream_id: streamId,
      ...more,
    });
    draft.insert(row, before);
    this.#rows.push(row);
    this.#changed = true;
    return row;
  }

  #isOwn({ fields }: DraftRow): boolean {
    return (
      fields?.role === 'assistant' && truthy(fields._recovered_from_run_journal) && fields._recovered_stream_id === this.#options.streamId
    );
  }

  /** Reasoning belongs to the turn it was made in (8.1). */
  #mayReceiveReasoning(row: DraftRow): boolean {
    const { draft, prompt } = this.#options;
    const at = draft.messages.indexOf(row);
    const owner = draft.messages.slice(0, at).findLast(({ fields }) => isUser(fields));
    if (owner === undefined || (prompt !== null && !checkpointMatches(owner.fields, prompt))) return false;
    const isOfPrompt = ({ fields }: DraftRow) => prompt !== null && checkpointMatches(fields, prompt) && truthy(fields?._recovered);
    return this.#window.every((each) => !isUser(each.fields) || draft.messages.indexOf(each) < at || isOfPrompt(each));
  }
}
