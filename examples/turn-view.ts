/**
 * What a reader of a conversation sees, folded from live frames (`docs/live-protocol.md`): the turn under way as an overlay behind the
 * settled rows. No text is compared: the events say what belongs where and what is covered by a row.
 *
 *   const view = emptyView();
 *   applyFrame(view, frame);           // for each frame, in order; keep frame.cursor
 *   if (view.mustReread) takeMessages(view, rows);
 *   openTurn(view), liveIds(view.transcript), shownIds(view.transcript)
 *
 * A view is changed in place. Frames are taken as a whole: between two of them the view is right for the cursor of the first.
 */
import type { EventOf, Frame, LiveEvent, Snapshot } from './live-documents.ts';
import { applyToTranscript, emptyTranscript, type Row, type Transcript, takeRows } from './transcript-view.ts';

/** A stretch of text or of reasoning. */
export interface Part {
  readonly index: number;
  /** UTF-16 units that are left out before `text`. */
  offset: number;
  text: string;
  sealed: boolean;
  /** A settled row shows it: the overlay doesn't. */
  covered: boolean;
}

export interface Tool {
  readonly toolCallId: string;
  name: string;
  args: unknown;
  /** The text segment that it follows. */
  segment: number | null;
  done: boolean;
  result: string | null;
  isError: boolean | null;
  durationMs: number | null;
  covered: boolean;
  /** Ids of the events that told of it; null when a snapshot did. */
  startedBy: string | null;
  finishedBy: string | null;
}

export interface Question {
  readonly id: string;
  readonly kind: string;
  readonly question: string | null;
}

export interface Turn {
  turnId: string;
  runId: string | null;
  /** The id of the event that began it; null when a snapshot told of it. */
  startedBy: string | null;
  phase: string;
  phaseDetail: string | null;
  /** What was submitted. To be shown while there is no row of it. */
  userText: string | null;
  userMessageId: string | null;
  readonly text: Part[];
  readonly reasoning: Part[];
  readonly tools: Tool[];
  todos: readonly { readonly id: string; readonly content: string; readonly status: string }[];
  questions: readonly Question[];
  /** ALIVE, SUSPECT, DEAD or UNKNOWN. */
  liveness: string;
  ended: { readonly eventId: string; readonly outcome: string; readonly certainty: string; readonly error: string | null } | null;
}

export interface View {
  readonly transcript: Transcript;
  /** That under way, and those that ended since it began: an end that was inferred can be taken back. */
  turns: Turn[];
  /** The rows have to be read: nothing is known of them, or what is known doesn't hold any more. */
  mustReread: boolean;
  title: string | null;
}

/** The view lacks text before a delta: some frame was not applied. Subscribe again without a cursor. */
export class TextMissing extends Error {
  override readonly name = 'TextMissing';
}

export function emptyView(): View {
  return { transcript: emptyTranscript(), turns: [], mustReread: false, title: null };
}

/** Applies a frame and gives the view back. Throws `TextMissing`. */
export function applyFrame(view: View, { events }: Pick<Frame, 'events'>): View {
  let rowsHold = false;
  for (const event of events) {
    applyToTranscript(view.transcript, event);
    if (event.__typename === 'StreamReset') rowsHold = event.scope === 'RUN';
    else if (event.__typename === 'LiveSnapshot') takeSnapshot(view, event, rowsHold);
    else if (event.depth === 0) applyToTurns(view, event);
  }
  return view;
}

/** All rows of the conversation (`messages(view: AUDIT)`), read after the frame that asked for it. */
export function takeMessages(view: View, rows: readonly Pick<Row, 'id' | 'sessionId' | 'state'>[]): void {
  takeRows(view.transcript, rows);
  view.mustReread = false;
}

/** The turn under way, null when none is. */
export function openTurn(view: View): Turn | null {
  return view.turns.findLast(({ ended }) => ended === null) ?? null;
}

/** What a snapshot shows of its turn. */
export function turnOf(turn: NonNullable<Snapshot['turn']>): Turn {
  const { turnId, runId, phase, phaseDetail, userText, userMessageId, todos } = turn;
  const part = ({ index, offset, text, sealed, messageId }: (typeof turn)['segments'][number]): Part => {
    return { index, offset, text, sealed, covered: messageId !== null };
  };
  return {
    turnId,
    runId,
    startedBy: null,
    phase,
    phaseDetail,
    userText,
    userMessageId,
    text: turn.segments.map(part),
    reasoning: turn.reasoning.map(part),
    tools: turn.tools.map(({ argsPreview, resultPreview, messageId, ...tool }) => {
      // The row of its call doesn't show its result.
      const covered = messageId !== null;
      return { ...tool, args: argsPreview, result: resultPreview, covered, startedBy: null, finishedBy: null };
    }),
    todos,
    questions: turn.interactions.map(({ interactionId, kind, question }) => ({ id: interactionId, kind, question })),
    liveness: turn.turnState,
    ended: null,
  };
}

function takeSnapshot(view: View, snapshot: EventOf<'LiveSnapshot'>, rowsHold: boolean): void {
  view.turns = snapshot.turn === null ? [] : [turnOf(snapshot.turn)];
  view.transcript.tip = snapshot.head?.sessionId ?? snapshot.sessionId;
  if (!rowsHold) view.mustReread = true;
}

function applyToTurns(view: View, event: LiveEvent): void {
  if (event.__typename === 'TurnStarted') {
    startTurn(view, event);
    return;
  }
  if (event.__typename === 'TurnEnded') {
    endTurn(view, event);
    return;
  }
  if (event.__typename === 'TitleChanged') view.title = event.title ?? view.title;
  if (event.__typename === 'MessagesAppended') {
    for (const ref of event.supersedes) cover(view.turns.find(({ runId }) => runId === ref.runId) ?? null, ref);
    return;
  }
  const turn = event.runId === null ? openTurn(view) : view.turns.find(({ runId }) => runId === event.runId);
  if (turn != null) applyToTurn(turn, event);
}

function startTurn(view: View, event: EventOf<'TurnStarted'>): void {
  const { id, turnId, runId, userMessageId, pendingText } = event;
  const known = view.turns.find((turn) => turn.startedBy === id || turn.turnId === turnId) ?? null;
  // Of a turn that a snapshot told of, more is known now.
  const turn = known ?? (event.class === 'STATE' ? openTurn(view) : null);
  if (turn !== null) {
    Object.assign(turn, { turnId, runId, startedBy: id, userMessageId, userText: pendingText ?? turn.userText });
    return;
  }
  const begun = { turnId, runId, startedBy: id, phase: 'STARTING', phaseDetail: null, userText: pendingText, userMessageId };
  const nothing = { text: [], reasoning: [], tools: [], todos: [], questions: [], liveness: 'ALIVE', ended: null };
  view.turns = [...view.turns.filter(({ ended }) => ended === null), { ...begun, ...nothing }];
}

function endTurn(view: View, { id, turnId, outcome, certainty, error }: EventOf<'TurnEnded'>): void {
  const turn = view.turns.find((each) => each.turnId === turnId);
  if (turn === undefined) return;
  turn.ended = { eventId: id, outcome, certainty, error: error?.message ?? error?.label ?? null };
  turn.questions = [];
}

function applyToTurn(turn: Turn, event: LiveEvent): void {
  switch (event.__typename) {
    case 'TurnPhaseChanged':
      turn.phase = event.phase;
      turn.phaseDetail = event.detail;
      return;
    case 'TextDelta':
      if (!event.late) endThought(turn);
      write(turn.text, event);
      return;
    case 'ReasoningDelta':
      write(turn.reasoning, event);
      return;
    case 'SegmentSealed':
      seal(turn, event);
      return;
    case 'ToolStarted':
      endThought(turn);
      startTool(turn, event);
      return;
    case 'ToolFinished':
      finishTool(turn, event);
      return;
    case 'TodoChanged':
      turn.todos = event.todos;
      return;
    case 'ApprovalRequested':
      turn.questions = [...turn.questions, { id: event.approvalId, kind: 'APPROVAL', question: event.command }];
      return;
    case 'ClarifyRequested':
      turn.questions = [...turn.questions, { id: event.clarifyId, kind: 'CLARIFY', question: event.question }];
      return;
    case 'InteractionClosed':
      turn.questions = turn.questions.filter(({ id }) => id !== event.interactionId);
      return;
    case 'LivenessChanged':
      turn.liveness = event.turnState;
      // An end that was only inferred is taken back.
      if (event.turnState === 'ALIVE' && turn.ended?.certainty !== 'CERTAIN') turn.ended = null;
      return;
    default:
      return;
  }
}

/** A delta goes to its offset, late ones in between; a state is the whole segment. */
function write(parts: Part[], { class: eventClass, segment, offset, text }: EventOf<'TextDelta'> | EventOf<'ReasoningDelta'>): void {
  const known = parts.find(({ index }) => index === segment);
  const part = known ?? { index: segment, offset: 0, text: '', sealed: false, covered: false };
  if (known === undefined) {
    parts.push(part);
    parts.sort((a, b) => a.index - b.index);
  }
  if (eventClass === 'STATE') {
    part.offset = offset;
    part.text = text;
    return;
  }
  const at = offset - part.offset;
  if (at > part.text.length)
    throw new TextMissing(`segment ${segment} has ${part.offset + part.text.length} units; a delta is for ${offset}`);
  // Late text before what the snapshot left out only moves what is here.
  if (at < 0) part.offset += text.length;
  else part.text = part.text.slice(0, at) + text + part.text.slice(at);
}

function seal(turn: Turn, { segment, dropReasoningTail }: EventOf<'SegmentSealed'>): void {
  endThought(turn);
  const part = turn.text.find(({ index }) => index === segment);
  if (part !== undefined) part.sealed = true;
  const thought = turn.reasoning.at(-1);
  if (dropReasoningTail === null || thought === undefined) return;
  // With `reasoning: SNAPSHOT` it may be gone already.
  if (thought.text.endsWith(dropReasoningTail)) thought.text = thought.text.slice(0, thought.text.length - dropReasoningTail.length);
}

/** Nothing says that reasoning is over but what comes after it. */
function endThought({ reasoning }: Turn): void {
  for (const part of reasoning) part.sealed = true;
}

/** As a STATE the same fact, with more known of it. */
function startTool({ tools }: Turn, { id, class: eventClass, toolCallId, name, argsPreview, afterSegment }: EventOf<'ToolStarted'>): void {
  const known =
    tools.find((tool) => tool.startedBy === id) ??
    (eventClass === 'STATE' ? tools.findLast((tool) => tool.toolCallId === toolCallId) : null);
  if (known != null) {
    Object.assign(known, { name, args: argsPreview, segment: afterSegment ?? known.segment, startedBy: id });
    return;
  }
  tools.push({ ...newTool(toolCallId, name), args: argsPreview, segment: afterSegment, startedBy: id });
}

function finishTool({ tools }: Turn, { id, class: eventClass, toolCallId, name, ...told }: EventOf<'ToolFinished'>): void {
  const known =
    tools.find((tool) => tool.finishedBy === id) ??
    tools.findLast((tool) => tool.toolCallId === toolCallId && (!tool.done || eventClass === 'STATE'));
  const tool = known ?? newTool(toolCallId, name);
  if (known === undefined) tools.push(tool);
  const { resultPreview: result, isError, durationMs } = told;
  Object.assign(tool, { done: true, result, isError, durationMs, finishedBy: id });
}

function newTool(toolCallId: string, name: string): Tool {
  const nothing = { args: null, segment: null, done: false, result: null, isError: null, durationMs: null };
  return { toolCallId, name, ...nothing, covered: false, startedBy: null, finishedBy: null };
}

/** A row shows the part from now on. */
function cover(turn: Turn | null, { part, segment, toolCallId }: EventOf<'MessagesAppended'>['supersedes'][number]): void {
  const covered =
    part === 'TOOL'
      ? turn?.tools.findLast((tool) => tool.toolCallId === toolCallId && !tool.covered)
      : (part === 'TEXT' ? turn?.text : turn?.reasoning)?.find(({ index }) => index === segment);
  if (covered !== undefined) covered.covered = true;
}
