/**
 * The end of a turn (`spec/live-turns.md` 3.5, 12): the last terminal line that isn't `stream_end` has the word, and one that tells
 * another outcome than was told corrects it.
 */
import { boundJson, cutText } from './bounded-json.ts';
import type { RunError } from './events.ts';
import { closeByEnd } from './fold-interactions.ts';
import type { FoldStep } from './fold-step.ts';
import { seal } from './fold-text.ts';
import { foldFinalUsage } from './fold-usage.ts';
import { firstWord, flag, object, type Payload, word } from './payload.ts';
import { outcomeOf, overrules } from './terminal.ts';

const LONGEST_DETAILS = 1200;
const ERRORS: ReadonlySet<string> = new Set(['apperror', 'error']);
const RECOVERY_KEYS = [
  'terminal_reason',
  'compression_recovery',
  'recommended_recovery_action',
  'terminal_session_persisted',
  'terminal_session_persisted_session_id',
] as const;

export function foldEnd(step: FoldStep): void {
  const { record, payload } = step;
  seal(step, 'TERMINAL');
  closeByEnd(step);
  if (record.event === 'done') foldFinalUsage(step);
  const before = step.turn.end;
  if (!overrules(record, before)) return;
  const continuation = continuationOf(payload, step.turn.sessionId) ?? step.turn.continuationSessionId;
  const outcome = outcomeOf(record.terminalState);
  const error = ERRORS.has(record.event) && outcome !== 'CANCELLED' ? errorOf(payload) : null;
  const tells = before === null || before.outcome !== outcome;
  const eventId = tells
    ? step.emit('TurnEnded', {
        outcome,
        certainty: 'CERTAIN',
        error,
        usage: step.turn.usage,
        recovery: recoveryOf(payload),
        continuationSessionId: continuation,
        ephemeral: flag(payload, 'ephemeral') ?? false,
        corrects: before?.eventId ?? null,
      })
    : before.eventId;
  const { seq, event, terminalState } = record;
  step.set({ continuationSessionId: continuation, end: { seq, event, terminal: true, terminalState, outcome, error, eventId } });
  step.enter('FINALIZING');
}

function errorOf(payload: Payload): RunError {
  const details = word(payload, 'details');
  return {
    type: word(payload, 'type'),
    label: word(payload, 'label'),
    message: word(payload, 'message'),
    hint: word(payload, 'hint'),
    details: details === null ? null : cutText(details, LONGEST_DETAILS),
  };
}

/** The session that the end names, when it is another than the one that began. */
function continuationOf(payload: Payload, sessionId: string): string | null {
  const session = object(payload, 'session');
  const named = firstWord(payload, ['new_session_id', 'continuation_session_id']) ?? (session && word(session, 'session_id'));
  return named === sessionId ? null : named;
}

function recoveryOf(payload: Payload): unknown {
  const told = RECOVERY_KEYS.filter((key) => payload[key] !== undefined && payload[key] !== null);
  return told.length === 0 ? null : boundJson(Object.fromEntries(told.map((key) => [key, payload[key]])));
}
