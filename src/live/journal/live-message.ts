/**
 * The message that a run has written so far (`spec/webui-recovery.md` 3.11): the fold of live turns as one text. For showing, never for
 * repair.
 */
import { foldRecord } from './fold.ts';
import { runJournalPath } from './ids.ts';
import { type JournalRecord, parseLine, type RunName, recordMarker } from './line.ts';
import { emptyTurn, type LiveTool, type LiveTurn } from './live-turn.ts';
import { word } from './payload.ts';
import { Reorder } from './reorder.ts';
import { scanJournal } from './scan.ts';

/** Of a longer message only the beginning is given. */
const LONGEST_TEXT = 8 * 1024 * 1024;
const MOST_PARTS = 4096;
const TOOL_EVENTS: ReadonlySet<string> = new Set(['tool', 'tool_complete']);

export interface LiveMessage {
  readonly runId: string;
  readonly content: string;
  readonly reasoning: string;
  /** In the order in which they began. */
  readonly toolCalls: readonly LiveTool[];
  /** The number of the last record that is in it. */
  readonly lastSeq: number;
  /** Over 8 Mi units of text, or 4,096 segments and calls: what came later is left out. */
  readonly truncated: boolean;
}

/** Null where there is no such run, none of its lines is a record, and where a line says that it is over. Throws `JournalUnreadable`. */
export async function readLiveMessage(root: string, run: RunName): Promise<LiveMessage | null> {
  const path = runJournalPath(root, run.sessionId, run.runId);
  if (path === null) return null;
  const draft = new Draft(run);
  const reorder = new Reorder<JournalRecord>();
  for await (const { lines } of scanJournal(path, recordMarker(run))) {
    for (const line of lines) {
      const { record } = parseLine(line, run);
      if (record !== null) for (const delivery of reorder.push(record, 0)) draft.add(delivery.record);
    }
    if (draft.isFull) break;
  }
  // Nothing more comes: what waits for missing numbers is taken as it is.
  reorder.reachedEnd();
  reorder.reachedEnd();
  for (const { record } of reorder.expire(Number.POSITIVE_INFINITY)) draft.add(record);
  return draft.message();
}

class Draft {
  #turn: LiveTurn;
  #length = 0;
  /** Records of calls that nobody named. */
  readonly #unnamed = new Set<number>();
  /** Segments that end with an interim text which was not streamed, and whether they are nothing else: a blank line parts these. */
  readonly #interim = new Map<number, boolean>();

  constructor(run: RunName) {
    this.#turn = emptyTurn(run, '');
  }

  get isFull(): boolean {
    const { segments, reasoning, tools } = this.#turn;
    return this.#length > LONGEST_TEXT || segments.length + reasoning.length + tools.length > MOST_PARTS;
  }

  add(record: JournalRecord): void {
    if (this.isFull) return;
    const before = this.#turn.tools.length;
    const { state, events } = foldRecord(this.#turn, record);
    this.#turn = state;
    for (const event of events) {
      if (event.kind === 'TextDelta' || event.kind === 'ReasoningDelta') this.#length += event.text.length;
      if (event.kind !== 'SegmentSealed' || event.text === null) continue;
      this.#interim.set(event.segment, state.segments[event.segment]?.seq === record.seq);
    }
    if (state.tools.length > before && TOOL_EVENTS.has(record.event) && word(record.payload, 'name') === null)
      this.#unnamed.add(record.seq);
  }

  message(): LiveMessage | null {
    const { runId, segments, reasoning, tools, lastSeq, end } = this.#turn;
    if (lastSeq === 0 || end !== null) return null;
    return {
      runId,
      content: segments.reduce((text, segment) => this.#joined(text, segment.index, segment.text), ''),
      reasoning: reasoning.map(({ text }) => text).join(''),
      toolCalls: tools.filter(({ seq }) => !this.#unnamed.has(seq)),
      lastSeq,
      truncated: this.isFull,
    };
  }

  #joined(before: string, index: number, text: string): string {
    const apart = before !== '' && (this.#interim.get(index) === true || this.#interim.has(index - 1));
    return before + (apart ? '\n\n' : '') + text;
  }
}
