/**
 * Settles a turn that was cut off: what the session's messages come to (`spec/webui-recovery.md` 11.3 with D2 to D5, D16). Pure; whether it may
 * be done at all is for `repair-guards.ts`.
 */
import { isBlank } from '../../state-db/whitespace.ts';
import { type Fields, listOf, truthy, word } from '../sidecar/coercions.ts';
import { ContextRows } from './context-rows.ts';
import { type InterruptionCause, newMarker } from './markers.ts';
import { normalised, type PendingPrompt, rowOfPrompt } from './matching.ts';
import { hasVisibleOutput, type RebuiltOutput, rebuildOutput } from './rebuild-output.ts';
import type { RunJournal } from './run-lines.ts';
import { DraftRow, SessionDraft } from './session-draft.ts';
import { placeError, type UnsavedError, unsavedError } from './terminal-error.ts';
import { wakeupMeta } from './wakeup-meta.ts';

export type RepairOutcome =
  | 'CLEARED_COMPLETED'
  | 'RECOVERED_OUTPUT'
  | 'RECOVERED_TERMINAL_ERROR'
  | 'CORE_SYNCED'
  | 'MARKED_RETRY'
  | 'MARKED_NO_OUTPUT';

export interface TurnEvidence {
  readonly sessionId: string;
  /** Null: there is none, or it can't be read. */
  readonly journal: RunJournal | null;
  /** The agent's own transcript of the session; null: there is none, or it is to be left alone. */
  readonly core: Fields | null;
  readonly cause: InterruptionCause;
  /** Epoch seconds. */
  readonly now: number;
}

export interface RepairedTurn {
  readonly outcome: RepairOutcome;
  readonly draft: SessionDraft;
  /** Members of the file that change beside the lists. */
  readonly set: Fields;
  readonly source: 'SIDECAR' | 'CORE';
  readonly promptAppended: boolean;
  readonly recovered: readonly DraftRow[];
  readonly marker: DraftRow | null;
  readonly error: DraftRow | null;
}

/** What a settled turn leaves of itself in the file (2.1). */
export const CLEARED: Fields = {
  active_stream_id: null,
  pending_user_message: null,
  pending_attachments: [],
  pending_started_at: null,
  pending_user_source: null,
  _webui_pending_user_timestamp_identity: null,
};

/** Null without a prompt that waits. */
export function promptOf(fields: Fields): PendingPrompt | null {
  const text = word(fields.pending_user_message);
  if (text === null) return null;
  return {
    text,
    attachments: listOf(fields.pending_attachments),
    startedAt: fields.pending_started_at,
    source: word(fields.pending_user_source) ?? 'webui',
  };
}

/** `fields`: the file; they stay as they are. `draft`: its lists, where something was done to them before. */
export function repairTurn(
  fields: Fields,
  prompt: PendingPrompt,
  evidence: TurnEvidence,
  draft: SessionDraft = new SessionDraft(fields),
): RepairedTurn {
  const { journal, now } = evidence;
  const streamId = word(fields.active_stream_id);
  const core = draft.messages.length === 0 && listOf(evidence.core?.messages).length > 0 ? evidence.core : null;
  const set: Record<string, unknown> = { ...CLEARED, ...(core === null ? {} : adopt(draft, core)) };
  const lines = streamId === null ? [] : (journal?.lines ?? []);
  const error = streamId === null ? null : unsavedError(journal, evidence.sessionId, streamId);

  const context = new ContextRows(draft, null);
  const present = rowOfPrompt(draft.messages, prompt);
  const isAsked = core === null || (!isBlank(prompt.text) && (hasVisibleOutput(lines) || error !== null));
  const promptAppended = present === null && isAsked;
  const turn = promptAppended ? promptRow(prompt, now) : present;
  if (promptAppended && turn !== null) draft.insert(turn, null);
  // A prompt that was saved as the last row may have another time than the turn that the model is to see.
  const said = turn !== null && present === draft.messages.at(-1) ? promptRow(prompt, now) : turn;
  if (said !== null) context.addPrompt(said);
  if (promptAppended && truthy(fields.truncation_watermark)) set.truncation_watermark = turn?.fields?.timestamp;

  const options = { draft, context, turn, before: null, prompt, now };
  const rebuilt = streamId === null || turn === null ? NOTHING : rebuildOutput(lines, { ...options, streamId });
  const end = endOf({ draft, turn, error, rebuilt, streamId, isFromCore: core !== null }, evidence);
  return { ...end, draft, set, source: core === null ? 'SIDECAR' : 'CORE', promptAppended, recovered: rebuilt.rows };
}

interface BeforeEnd {
  readonly draft: SessionDraft;
  readonly turn: DraftRow | null;
  readonly error: UnsavedError | null;
  readonly rebuilt: RebuiltOutput;
  readonly streamId: string | null;
  readonly isFromCore: boolean;
}

/** What stands behind the answer: nothing, the error, or a marker. */
function endOf(
  { draft, turn, error, rebuilt, streamId, isFromCore }: BeforeEnd,
  { journal, cause, now }: TurnEvidence,
): Pick<RepairedTurn, 'outcome' | 'marker' | 'error'> {
  const nothing = { marker: null, error: null };
  if (journal?.terminalState === 'completed' && streamId !== null) return { ...nothing, outcome: 'CLEARED_COMPLETED' };
  if (error !== null)
    return { marker: null, error: placeError(draft, error, { turn, before: null }).row, outcome: 'RECOVERED_TERMINAL_ERROR' };
  if (isFromCore && !rebuilt.changed) return { ...nothing, outcome: 'CORE_SYNCED' };
  if (!rebuilt.changed && turn !== null && isAnswered(draft, turn)) return { ...nothing, outcome: 'CLEARED_COMPLETED' };
  const hasOutput = rebuilt.changed || rebuilt.found;
  const kind = hasOutput ? 'RECOVERED' : streamId === null ? 'NOTHING' : 'RETRY';
  const marker = newMarker({ cause, outcome: kind, streamId, now });
  draft.insert(marker, null);
  return { marker, error: null, outcome: OUTCOMES[kind] };
}

const OUTCOMES = { RECOVERED: 'RECOVERED_OUTPUT', RETRY: 'MARKED_RETRY', NOTHING: 'MARKED_NO_OUTPUT' } as const;
const NOTHING: RebuiltOutput = { rows: [], cards: 0, changed: false, found: false };

/** Puts the agent's transcript into the empty session; gives what goes with it. */
function adopt(draft: SessionDraft, core: Fields): Fields {
  draft.adopt(listOf(core.messages), listOf(core.tool_calls));
  const usage = ['input_tokens', 'output_tokens', 'estimated_cost'].filter((key) => core[key] != null);
  return Object.fromEntries(usage.map((key) => [key, core[key]]));
}

/** The prompt as a message (9). */
function promptRow({ text, startedAt, source, attachments }: PendingPrompt, now: number): DraftRow {
  const at = typeof startedAt === 'number' && startedAt > 0 ? startedAt : now;
  const meta = source === 'process_wakeup' ? wakeupMeta(text) : null;
  return new DraftRow({
    role: 'user',
    content: text,
    timestamp: Math.trunc(at),
    _recovered: true,
    ...(source === 'webui' ? {} : { _source: source }),
    ...(meta === null ? {} : { _wakeup_meta: meta }),
    ...(attachments.length === 0 ? {} : { attachments }),
  });
}

/** The turn has a whole answer behind its prompt: it was saved, and only the end of the turn was not. */
function isAnswered(draft: SessionDraft, turn: DraftRow): boolean {
  const behind = draft.messages.slice(draft.messages.indexOf(turn) + 1);
  const last = behind.findLast(({ fields }) => fields?.role !== 'tool')?.fields ?? null;
  return last?.role === 'assistant' && ![last._error, last._partial, last.tool_calls].some(truthy) && normalised(last.content) !== '';
}
