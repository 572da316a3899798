/**
 * What a turn tells besides text and tools (`spec/live-turns.md` 3.6): todos, title, goal, warnings and the like.
 */
import { isJsonObject } from '../../state-db/decode.ts';
import { boundJson } from './bounded-json.ts';
import type { Todo } from './events.ts';
import type { FoldStep } from './fold-step.ts';
import { number, text, word } from './payload.ts';

const MOST_TODOS = 256;
/** A payload that nobody knows is passed on up to this length. */
const LONGEST_UNKNOWN = 8 * 1024;

/** A whole list each time; one that is older by the owner's clock is left alone. */
export function foldTodos(step: FoldStep): void {
  const { payload, turn, record } = step;
  const ts = number(payload, 'ts');
  const before = turn.todos;
  if (before !== null) {
    const isOlder = ts !== null && before.ts !== null ? ts < before.ts : record.seq < before.seq;
    if (isOlder) return;
  }
  const items = Array.isArray(payload.todos) ? payload.todos.slice(0, MOST_TODOS) : [];
  const todos = items.filter(isJsonObject).map(
    (item): Todo => ({
      id: typeof item.id === 'number' ? String(item.id) : (text(item, 'id') ?? ''),
      content: text(item, 'content') ?? '',
      status: text(item, 'status') ?? '',
    }),
  );
  const told = { todos, summary: boundJson(payload.summary ?? null), version: number(payload, 'version') };
  step.set({ todos: { ...told, ts, seq: record.seq } });
  step.emit('TodoChanged', told);
}

export function foldTitle(step: FoldStep): void {
  const { payload, record } = step;
  if (record.seq < step.turn.titleSeq) return;
  const title = word(payload, 'title');
  if (title !== null) step.set({ title, titleSeq: record.seq });
  step.emit('TitleChanged', { title, status: word(payload, 'status'), reason: word(payload, 'reason'), automatic: true });
}

export function foldContextStatus(step: FoldStep): void {
  step.emit('ContextStatus', { prefill: boundJson(step.payload.prefill ?? null) });
}

export function foldCompressing(step: FoldStep): void {
  step.emit('CompressionStarted', { message: word(step.payload, 'message') });
  step.enter('COMPRESSING');
}

/** Comes with the end of the turn, not with the compaction: only the session that goes on is worth keeping. */
export function foldCompressed(step: FoldStep): void {
  const next = word(step.payload, 'new_session_id') ?? word(step.payload, 'continuation_session_id');
  if (next !== null && next !== step.turn.sessionId) step.set({ continuationSessionId: next });
}

export function foldWarning(step: FoldStep): void {
  step.emit('RunWarning', { type: word(step.payload, 'type'), message: word(step.payload, 'message') });
}

export function foldStateSaved(step: FoldStep): void {
  const { payload } = step;
  step.emit('StateSaved', { what: word(payload, 'kind'), action: word(payload, 'action'), name: word(payload, 'name') });
}

export function foldSteerLeftover(step: FoldStep): void {
  step.emit('SteerLeftover', { text: text(step.payload, 'text') ?? '' });
}

export function foldGoal(step: FoldStep): void {
  step.emit('GoalChanged', { state: word(step.payload, 'state'), ...goalFields(step) });
  step.enter('FINALIZING');
}

export function foldGoalContinue(step: FoldStep): void {
  const { payload } = step;
  const prompt = { continuationPrompt: word(payload, 'continuation_prompt'), text: word(payload, 'text') };
  step.emit('GoalContinuation', { ...prompt, ...goalFields(step) });
}

function goalFields({ payload }: FoldStep) {
  return {
    message: word(payload, 'message'),
    messageKey: word(payload, 'message_key'),
    messageArgs: boundJson(payload.message_args ?? null),
    decision: boundJson(payload.decision ?? null),
  };
}

/** An event of a later version, or a line that was too long to be read. */
export function foldUnknown(step: FoldStep): void {
  const { event: name, truncated, payload } = step.record;
  const bounded = truncated ? null : boundJson(payload);
  const fits = !truncated && JSON.stringify(bounded).length <= LONGEST_UNKNOWN;
  step.emit('UnknownRunEvent', { name, payload: fits ? bounded : null, truncated: !fits });
}
