/**
 * Questions that wait for a person (`spec/live-turns.md` 3.6, 9): only the request is journaled, that it was answered follows from what
 * comes after it.
 */
import { createHash } from 'node:crypto';
import { EVENT_CLASS, type EventFields, type EventOf, type JournalEvent } from './events.ts';
import type { FoldStep } from './fold-step.ts';
import type { Interaction, LiveTurn } from './live-turn.ts';
import { firstWord, flag, number, texts, word } from './payload.ts';

/** The tool that asks; its calls show as questions. */
export const CLARIFY_TOOL = 'clarify';

export function foldApproval(step: FoldStep): void {
  const { payload, record } = step;
  const approvalId = firstWord(payload, ['approval_id', 'request_id']) ?? `approval-${record.seq}`;
  const description = word(payload, 'description');
  const tool = word(payload, 'tool');
  open(step, { interactionId: approvalId, kind: 'APPROVAL', seq: record.seq, question: description, tool, expiresAt: null });
  step.emit('ApprovalRequested', {
    approvalId,
    command: word(payload, 'command'),
    description,
    patternKeys: texts(payload, 'pattern_keys') ?? [word(payload, 'pattern_key')].filter((key) => key !== null),
    choices: texts(payload, 'choices') ?? [],
    allowSession: flag(payload, 'allow_session'),
    allowPermanent: flag(payload, 'allow_permanent'),
    pendingCount: number(payload, 'pending_count'),
    tool,
    riskLevel: word(payload, 'risk_level'),
  });
  step.enter('AWAITING_APPROVAL');
}

export function foldClarify(step: FoldStep): void {
  const { payload, record } = step;
  const clarifyId = word(payload, 'clarify_id') ?? `clarify-${record.seq}`;
  const question = word(payload, 'question');
  const expiresAt = number(payload, 'expires_at');
  open(step, { interactionId: clarifyId, kind: 'CLARIFY', seq: record.seq, question, tool: null, expiresAt });
  step.emit('ClarifyRequested', { clarifyId, question, choices: texts(payload, 'choices_offered') ?? [], expiresAt });
  step.enter('AWAITING_CLARIFY');
}

function open(step: FoldStep, interaction: Interaction): void {
  const others = step.turn.interactions.filter(({ interactionId }) => interactionId !== interaction.interactionId);
  step.set({ interactions: [...others, interaction] });
}

/** The model goes on, so nothing waits any more. */
export function closeByProgress(step: FoldStep): void {
  if (step.late) return;
  for (const interaction of step.turn.interactions) close(step, interaction, howClosed(step, interaction));
}

/** A tool is done: of several questions that wait, its own or the first was answered. */
export function closeByTool(step: FoldStep, tool: string | null): void {
  if (step.late) return;
  const { interactions } = step.turn;
  const isOwn = (each: Interaction) => (each.kind === 'CLARIFY' ? tool === CLARIFY_TOOL : each.tool !== null && each.tool === tool);
  const answered = interactions.find(isOwn) ?? interactions[0];
  if (answered !== undefined) close(step, answered, howClosed(step, answered));
}

/** What should have been answered before this record had run out. */
function howClosed({ record }: FoldStep, { expiresAt }: Interaction): 'PROGRESS' | 'EXPIRED' {
  return expiresAt !== null && record.createdAt !== null && record.createdAt >= expiresAt ? 'EXPIRED' : 'PROGRESS';
}

export function closeByEnd(step: FoldStep): void {
  for (const interaction of step.turn.interactions) close(step, interaction, 'TURN_ENDED');
}

function close(step: FoldStep, { interactionId }: Interaction, how: EventFields['InteractionClosed']['how']): void {
  step.set({ interactions: step.turn.interactions.filter((each) => each.interactionId !== interactionId) });
  step.derive(closedId(step.turn, interactionId), 'InteractionClosed', { interactionId, how });
}

/** An interaction closes once, whatever the evidence: the id is that of the fact. */
function closedId({ runId, generation }: LiveTurn, interactionId: string): string {
  const hash = createHash('sha256').update(`${generation}:${interactionId}`).digest('hex').slice(0, 8);
  return `d:InteractionClosed:${runId}:${hash}`;
}

/**
 * Closes what has run out by the clock (epoch seconds), or the one interaction that another source saw answered. The phase stays until
 * the next record tells it.
 */
export function closeInteractions(
  turn: LiveTurn,
  evidence: { readonly now: number } | { readonly answered: string },
): { readonly state: LiveTurn; readonly events: readonly JournalEvent[] } {
  const isClosed = ({ interactionId, expiresAt }: Interaction) =>
    'now' in evidence ? expiresAt !== null && expiresAt <= evidence.now : interactionId === evidence.answered;
  const closed = turn.interactions.filter(isClosed);
  if (closed.length === 0) return { state: turn, events: [] };
  const events = closed.map(({ interactionId, expiresAt }): EventOf<'InteractionClosed'> => {
    const how = 'now' in evidence ? 'EXPIRED' : 'PROGRESS';
    return {
      id: closedId(turn, interactionId),
      kind: 'InteractionClosed',
      class: EVENT_CLASS.InteractionClosed,
      sessionId: turn.sessionId,
      runId: turn.runId,
      seqFrom: turn.lastSeq,
      seqTo: turn.lastSeq,
      at: how === 'EXPIRED' ? expiresAt : turn.lastAt,
      origin: 'DERIVED',
      late: false,
      interactionId,
      how,
    };
  });
  return { state: { ...turn, interactions: turn.interactions.filter((each) => !isClosed(each)) }, events };
}
