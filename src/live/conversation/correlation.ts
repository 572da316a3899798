/**
 * Which settled rows tell the same as which lines of a run's journal (`spec/live-turns.md` 12 `supersedes`, 13 M9): tools pair by the
 * call's id, else by name and order; texts by being equal, or one the beginning of the other, in their order.
 */
import type { EventOf } from '../journal/events.ts';
import type { LiveTurn, TextSegment } from '../journal/live-turn.ts';
import type { AppendedRow, RowEventOf } from '../rows/events.ts';
import type { LiveEventFields, SegmentRef } from './events.ts';

type Started = LiveEventFields['ToolStarted'];
type Finished = LiveEventFields['ToolFinished'];

/** `update`: the fact was told before, by the other source; the fields are what is known of it now. */
export interface Correlated<T> {
  readonly id: string;
  readonly update: boolean;
  readonly fields: T;
}

export interface CorrelatedTool {
  /** As it was told. */
  readonly toolCallId: string;
  /** As the journal's fold has it; null while only rows know the tool. */
  journalId: string | null;
  started: { readonly id: string; fields: Started; byRow: boolean } | null;
  finished: { readonly id: string; fields: Finished; byRow: boolean; byJournal: boolean } | null;
}

export class Correlation {
  readonly #runId: string;
  readonly #tools: CorrelatedTool[] = [];
  readonly #texts = new Map<number, string>();
  readonly #thoughts = new Map<number, string>();

  constructor(runId: string) {
    this.#runId = runId;
  }

  /** What the fold calls a tool, and what is known of it beyond the fold. */
  toolOf(journalId: string): CorrelatedTool | null {
    return this.#tools.findLast((tool) => tool.journalId === journalId) ?? null;
  }

  /** Tools that only rows know so far. */
  get rowTools(): readonly CorrelatedTool[] {
    return this.#tools.filter(({ journalId }) => journalId === null);
  }

  /** The row that covers a segment, null while none does. */
  textRow(segment: number): string | null {
    return this.#texts.get(segment) ?? null;
  }

  reasoningRow(segment: number): string | null {
    return this.#thoughts.get(segment) ?? null;
  }

  journalStarted(event: EventOf<'ToolStarted'>): Correlated<Started> {
    const { toolCallId, name, argsPreview, argsComplete, segment } = event;
    const known = this.#tools.find((tool) => tool.journalId === null && isSame(tool, toolCallId, name));
    if (known === undefined) {
      const fields = { toolCallId, name, argsPreview, argsComplete, segment, messageId: null };
      const id = hasOwnId(toolCallId) ? this.#factId('ToolStarted', toolCallId) : event.id;
      this.#tools.push({ toolCallId, journalId: toolCallId, started: { id, fields, byRow: false }, finished: null });
      return { id, update: false, fields };
    }
    known.journalId = toolCallId;
    return this.#start(known, event.id, { segment });
  }

  rowStarted(event: RowEventOf<'ToolStarted'>): Correlated<Started> {
    const { toolCallId, name, argsPreview, argsComplete, messageId } = event;
    const known = this.#tools.find((tool) => tool.started?.byRow !== true && isSame(tool, toolCallId, name));
    if (known === undefined) {
      const fields = { toolCallId, name, argsPreview, argsComplete, segment: null, messageId };
      const id = this.#factId('ToolStarted', toolCallId);
      this.#tools.push({ toolCallId, journalId: null, started: { id, fields, byRow: true }, finished: null });
      return { id, update: false, fields };
    }
    if (known.started !== null) known.started.byRow = true;
    return this.#start(known, event.id, { argsPreview, argsComplete, messageId });
  }

  journalFinished(event: EventOf<'ToolFinished'>): Correlated<Finished> {
    const { toolCallId, name, resultPreview, isError, durationMs } = event;
    const tool = this.#tools.findLast((each) => each.journalId === toolCallId && each.finished?.byJournal !== true);
    const fields = { toolCallId: tool?.toolCallId ?? toolCallId, name, resultPreview, isError, durationMs, messageId: null };
    if (tool === undefined) return { id: event.id, update: false, fields };
    if (tool.finished === null) {
      const id = hasOwnId(toolCallId) ? this.#factId('ToolFinished', tool.toolCallId) : event.id;
      tool.finished = { id, fields, byRow: false, byJournal: true };
      return { id, update: false, fields };
    }
    const before = tool.finished.fields;
    // The row has the whole result and knows whether it is an error; only the journal knows how long it took.
    const joined = { ...before, isError: before.isError ?? isError, durationMs: durationMs ?? before.durationMs };
    tool.finished = { ...tool.finished, fields: joined, byJournal: true };
    return { id: tool.finished.id, update: true, fields: joined };
  }

  rowFinished(event: RowEventOf<'ToolFinished'>): Correlated<Finished> {
    const { toolCallId, name, resultPreview, isError, messageId } = event;
    const tool = this.#toolOfRow(toolCallId, name);
    if (tool === null)
      return { id: event.id, update: false, fields: { toolCallId, name, resultPreview, isError, durationMs: null, messageId } };
    const before = tool.finished;
    const id = before?.id ?? this.#factId('ToolFinished', tool.toolCallId);
    const fields = {
      toolCallId: tool.toolCallId,
      name: before?.fields.name ?? name,
      resultPreview: resultPreview ?? before?.fields.resultPreview ?? null,
      isError: isError ?? before?.fields.isError ?? null,
      durationMs: before?.fields.durationMs ?? null,
      messageId,
    };
    tool.finished = { id, fields, byRow: true, byJournal: before?.byJournal ?? false };
    return { id, update: before !== null, fields };
  }

  /** The parts of the overlay that a row takes the place of, each once. */
  cover(row: AppendedRow, turn: LiveTurn): SegmentRef[] {
    const part = (kind: SegmentRef['part'], segment: number | null, toolCallId: string | null = null): SegmentRef => {
      return { runId: this.#runId, part: kind, segment, toolCallId };
    };
    if (row.role === 'tool') {
      const tool = this.#toolOfRow(row.toolCallId ?? `row ${row.id}`, row.toolName ?? '');
      return tool === null ? [] : [part('TOOL', null, tool.toolCallId)];
    }
    if (row.role !== 'assistant') return [];
    const text = this.#segmentOf(row, turn);
    if (text !== null) this.#texts.set(text.index, row.id);
    const bound = text?.seq ?? this.#firstCall(row, turn);
    const thoughts = turn.reasoning.filter(({ index, seq }) => seq < bound && !this.#thoughts.has(index));
    for (const { index } of thoughts) this.#thoughts.set(index, row.id);
    return [...thoughts.map(({ index }) => part('REASONING', index)), ...(text === null ? [] : [part('TEXT', text.index)])];
  }

  #start(tool: CorrelatedTool, id: string, more: Partial<Started>): Correlated<Started> {
    const fields: Started = {
      toolCallId: tool.toolCallId,
      name: '',
      argsPreview: null,
      argsComplete: false,
      segment: null,
      messageId: null,
      ...tool.started?.fields,
      ...more,
    };
    tool.started = { id: tool.started?.id ?? id, byRow: tool.started?.byRow ?? false, fields };
    return { id: tool.started.id, update: true, fields };
  }

  /** The tool that a result's row belongs to, while no other row has told its result. */
  #toolOfRow(toolCallId: string, name: string): CorrelatedTool | null {
    const open = (tool: CorrelatedTool) => tool.finished?.byRow !== true;
    const byId = this.#tools.findLast((tool) => open(tool) && tool.toolCallId === toolCallId);
    return byId ?? this.#tools.find((tool) => open(tool) && isSame(tool, toolCallId, name)) ?? null;
  }

  #segmentOf(row: AppendedRow, turn: LiveTurn): TextSegment | null {
    const wanted = normalized(row.text ?? '');
    if (wanted === '') return null;
    const next = Math.max(-1, ...this.#texts.keys()) + 1;
    return (
      turn.segments.slice(next).find(({ text }) => {
        const told = normalized(text);
        return told !== '' && (told.startsWith(wanted) || wanted.startsWith(told));
      }) ?? null
    );
  }

  /** Where the first call of a row begins in the journal: what was thought before it belongs to the row. */
  #firstCall({ calls }: AppendedRow, turn: LiveTurn): number {
    if (calls.length === 0) return 0;
    const ids = new Set(calls.map(({ id }) => id));
    return turn.tools.find(({ toolCallId }) => ids.has(toolCallId))?.seq ?? Number.POSITIVE_INFINITY;
  }

  /** Some providers give the same id to calls of different steps. */
  #factId(kind: 'ToolStarted' | 'ToolFinished', toolCallId: string): string {
    const told = kind === 'ToolStarted' ? 'started' : 'finished';
    const times = this.#tools.filter((tool) => tool.toolCallId === toolCallId && tool[told] !== null).length;
    return `d:${kind}:${this.#runId}:${toolCallId}${times === 0 ? '' : `.${times + 1}`}`;
  }
}

/** Same id; without one on either side the same name. */
function isSame(tool: CorrelatedTool, toolCallId: string, name: string): boolean {
  if (tool.toolCallId === toolCallId) return true;
  return (!hasOwnId(tool.toolCallId) || !hasOwnId(toolCallId)) && (tool.started?.fields.name ?? tool.finished?.fields.name) === name;
}

/** Ids that this server made up begin so. */
function hasOwnId(toolCallId: string): boolean {
  return !/^(?:journal-\d+|row \d+)/.test(toolCallId);
}

function normalized(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
