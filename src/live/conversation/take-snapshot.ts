/**
 * Takes a snapshot of the turn under way: the journal's turn with what rows know of it, or the turn that rows alone tell of.
 */
import type { TurnPhase } from '../journal/events.ts';
import type { LiveTool } from '../journal/live-turn.ts';
import type { OpenTurn } from '../rows/turn-state.ts';
import type { CorrelatedTool } from './correlation.ts';
import type { RunTurn } from './run-turn.ts';
import type { SnapshotSegment, SnapshotTool, SnapshotTurn } from './snapshot.ts';

/** Over this much text only the ends of the segments are given (15.2; live-protocol 3.5). */
const LARGE = 256 * 1024;
const KEPT = 64 * 1024;

/** The turn of a run. `whole`: keep all of its text. */
export function runSnapshot(run: RunTurn, phase: TurnPhase | null, whole: boolean): { turn: SnapshotTurn; hasEarlier: boolean } {
  const { turn, correlation } = run;
  const size = [...turn.segments, ...turn.reasoning].reduce((sum, { text }) => sum + text.length, 0);
  const cut = !whole && size > LARGE;
  const segments = turn.segments.map((each) => segmentOf(each, each.sealed, correlation.textRow(each.index), cut));
  const reasoning = turn.reasoning.map((each) => segmentOf(each, each.closed, correlation.reasoningRow(each.index), cut));
  const told = {
    turnId: run.runId,
    startedEventId: run.startedId,
    runId: run.runId,
    phase: phase ?? turn.phase,
    phaseDetail: phase === null ? turn.phaseDetail : null,
    startedAt: run.startedAt,
    userText: run.pending?.text ?? null,
    userAttachments: run.pending?.attachments ?? null,
    userMessageId: run.userMessageId,
    baseMessageId: run.baseMessageId,
    segments,
    reasoning,
    tools: [...turn.tools.map((tool) => toolOf(tool, correlation.toolOf(tool.toolCallId))), ...correlation.rowTools.map(rowToolOf)],
    todos: turn.todos,
    interactions: turn.interactions,
    usage: turn.usage,
    liveness: run.liveness,
  };
  return { turn: told, hasEarlier: [...segments, ...reasoning].some(({ offset }) => offset > 0) };
}

function segmentOf(
  { index, seq, text }: { readonly index: number; readonly seq: number; readonly text: string },
  sealed: boolean,
  messageId: string | null,
  cut: boolean,
): SnapshotSegment {
  const offset = cut ? startOfEnd(text) : 0;
  return { index, seq, offset, text: text.slice(offset), sealed, messageId };
}

/** Where the last 64 Ki units begin, not between the halves of a pair. */
function startOfEnd(text: string): number {
  const start = Math.max(0, text.length - KEPT);
  const code = text.charCodeAt(start);
  return start > 0 && code >= 0xdc00 && code <= 0xdfff ? start + 1 : start;
}

function toolOf(tool: LiveTool, known: CorrelatedTool | null): SnapshotTool {
  const { name, argsPreview, segment, done, resultPreview, isError, durationMs } = tool;
  const finished = known?.finished?.fields ?? null;
  return {
    toolCallId: known?.toolCallId ?? tool.toolCallId,
    name,
    seq: tool.seq,
    argsPreview: known?.started?.fields.argsPreview ?? argsPreview,
    segment,
    done: done || finished !== null,
    resultPreview: finished?.resultPreview ?? resultPreview,
    isError: finished?.isError ?? isError,
    durationMs: finished?.durationMs ?? durationMs,
    callMessageId: known?.started?.fields.messageId ?? null,
    messageId: finished?.messageId ?? null,
  };
}

function rowToolOf({ toolCallId, started, finished }: CorrelatedTool): SnapshotTool {
  return {
    toolCallId,
    name: started?.fields.name ?? finished?.fields.name ?? '',
    seq: null,
    argsPreview: started?.fields.argsPreview ?? null,
    segment: null,
    done: finished !== null,
    resultPreview: finished?.fields.resultPreview ?? null,
    isError: finished?.fields.isError ?? null,
    durationMs: null,
    callMessageId: started?.fields.messageId ?? null,
    messageId: finished?.fields.messageId ?? null,
  };
}

/** The turn that only rows and leases tell of. */
export function rowSnapshot(open: OpenTurn, phase: TurnPhase, startedEventId: string): SnapshotTurn {
  return {
    turnId: open.turnId,
    startedEventId,
    runId: null,
    phase,
    phaseDetail: null,
    startedAt: open.startedAt,
    userText: null,
    userAttachments: null,
    userMessageId: open.userMessageId,
    baseMessageId: null,
    segments: [],
    reasoning: [],
    tools: [],
    todos: null,
    interactions: [],
    usage: null,
    liveness: 'ALIVE',
  };
}
