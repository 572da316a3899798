/**
 * Tool calls of a turn (`spec/live-turns.md` 3.6, 3.7): lines pair by the call's id, else the latest open call of the same name; the
 * clarify tool shows as a question instead.
 */
import { boundArgs, cutText } from './bounded-json.ts';
import { CLARIFY_TOOL } from './fold-interactions.ts';
import type { FoldStep } from './fold-step.ts';
import { lastSegment, seal } from './fold-text.ts';
import type { LiveTool } from './live-turn.ts';
import { firstWord, flag, number, text, word } from './payload.ts';

/** Keys under which a line may name its call, the first that is there counts. */
export const CALL_ID_KEYS = ['tid', 'id', 'tool_call_id', 'tool_use_id', 'call_id'] as const;
const LONGEST_PREVIEW = 4000;
const UNNAMED = 'tool';

export function foldToolStarted(step: FoldStep): void {
  const name = word(step.payload, 'name') ?? UNNAMED;
  if (name === CLARIFY_TOOL) return;
  const id = firstWord(step.payload, CALL_ID_KEYS);
  seal(step, 'TOOL');
  // The same call told twice; an id that is used again after its call ended is another call.
  if (id !== null && step.turn.tools.some((tool) => !tool.done && tool.toolCallId === id)) return;
  addTool(step, name, id, '');
  step.enter('TOOL', name);
}

export function foldToolFinished(step: FoldStep): void {
  const name = word(step.payload, 'name');
  if (name !== CLARIFY_TOOL) finish(step, name);
  const running = step.turn.tools.findLast(({ done }) => !done);
  if (running === undefined) step.enter('THINKING');
  else step.enter('TOOL', running.name);
}

function finish(step: FoldStep, name: string | null): void {
  const { payload } = step;
  const id = firstWord(payload, CALL_ID_KEYS);
  const tool = openTool(step.turn.tools, id, name) ?? addTool(step, name ?? UNNAMED, id, 'start');
  const preview = text(payload, 'preview');
  const duration = number(payload, 'duration');
  const finished: LiveTool = {
    ...tool,
    done: true,
    resultPreview: preview === null ? null : cutText(preview, LONGEST_PREVIEW),
    isError: toldError(step, duration),
    durationMs: duration === null ? null : Math.round(duration * 1000),
  };
  step.set({ tools: step.turn.tools.with(step.turn.tools.indexOf(tool), finished) });
  const { toolCallId, resultPreview, isError, durationMs } = finished;
  step.emit('ToolFinished', { toolCallId, name: tool.name, resultPreview, isError, durationMs });
}

/** The local worker says false whatever happened, and no duration then: the tool's row knows. */
function toldError({ payload }: FoldStep, duration: number | null): boolean | null {
  const told = flag(payload, 'is_error');
  return told === false && word(payload, 'tid') !== null && duration === null ? null : told;
}

function openTool(tools: readonly LiveTool[], id: string | null, name: string | null): LiveTool | null {
  const open = (matches: (tool: LiveTool) => boolean) => tools.findLast((tool) => !tool.done && matches(tool)) ?? null;
  const sameName = (tool: LiveTool) => name === null || tool.name === name;
  if (id === null) return open(sameName);
  return open((tool) => tool.toolCallId === id) ?? open((tool) => !tool.hasOwnId && sameName(tool));
}

function addTool(step: FoldStep, name: string, id: string | null, part: string): LiveTool {
  const { seq } = step.record;
  const toolCallId = id ?? `journal-${seq}`;
  const argsPreview = boundArgs(step.payload.args);
  const segment = lastSegment(step);
  const result = { done: false, resultPreview: null, isError: null, durationMs: null };
  const tool: LiveTool = { toolCallId, hasOwnId: id !== null, name, seq, argsPreview, segment, ...result };
  step.set({ tools: [...step.turn.tools, tool] });
  // The journal has a copy for display, cut by the owner.
  step.emit('ToolStarted', { toolCallId, name, argsPreview, argsComplete: false, segment }, part);
  return tool;
}
