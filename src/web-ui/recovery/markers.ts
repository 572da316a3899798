/**
 * The message that tells people that a turn was cut off (`spec/webui-recovery.md` 6), and the retries that it asks for (13.1). Pure. A marker
 * is known by its members, never by its text; the text has what a worker of the Web UI looks for that comes back late (6.3).
 */
import { type Fields, lowered, truthy } from '../sidecar/coercions.ts';
import { wholeSeconds } from './matching.ts';
import { DraftRow } from './session-draft.ts';

/** Why a turn ended without an end (5.1). */
export type InterruptionCause = 'PROCESS_RESTART' | 'STREAM_RUN_SPLIT_BRAIN' | 'LOST_WORKER_BOOKKEEPING' | 'UNKNOWN';

export const MOST_ATTEMPTS = 12;
export const RETRY_SECONDS = 86_400;

const RETRY_KEYS = ['_pending_journal_recovery', '_journal_retry_stream_id', '_journal_retry_attempts', '_journal_retry_first_seen_ts'];

const HEADER = '**Response interrupted.**';
const STOP = 'Streaming ended before this turn finished.';
const CAUSES = {
  PROCESS_RESTART: 'The Web UI was started after this turn began, so a crash or restart most likely cut it off.',
  STREAM_RUN_SPLIT_BRAIN: 'The browser channel was closed while the worker table still listed the run; the two records disagree.',
  LOST_WORKER_BOOKKEEPING: 'Neither a channel nor a worker entry is left for the run, and no final event was recorded.',
  UNKNOWN: 'The cause could not be narrowed down.',
} as const satisfies Record<InterruptionCause, string>;
const OUTCOMES = {
  RECOVERED: 'The partial output above was rebuilt from the run journal; the run itself was not resumed.',
  RETRY: 'The run journal cannot be read yet; recovery is tried again when this session is next opened.',
  NOTHING: 'Your message was kept, but no output of the run was found.',
  NEUTRAL: 'Some of the output may be lost.',
} as const;

export interface NewMarker {
  readonly cause: InterruptionCause;
  /** RETRY arms a retry for the run. */
  readonly outcome: 'RECOVERED' | 'RETRY' | 'NOTHING';
  readonly streamId: string | null;
  /** Epoch seconds. */
  readonly now: number;
}

export function newMarker({ cause, outcome, streamId, now }: NewMarker): DraftRow {
  const at = Math.trunc(now);
  const retry = {
    _pending_journal_recovery: true,
    _journal_retry_stream_id: streamId,
    _journal_retry_attempts: 0,
    _journal_retry_first_seen_ts: at,
  };
  return new DraftRow({
    role: 'assistant',
    content: textOf(outcome, cause),
    timestamp: at,
    _error: true,
    type: 'interrupted',
    interruption_cause: cause.toLowerCase(),
    ...(outcome === 'RETRY' ? retry : {}),
  });
}

/** The output came after all; or nothing more is to be hoped for. The cause stays as a member. */
export function settleMarker(marker: DraftRow, outcome: 'RECOVERED' | 'NEUTRAL'): void {
  marker.change(
    { content: textOf(outcome, null) },
    RETRY_KEYS.filter((key) => marker.fields !== null && key in marker.fields),
  );
}

function textOf(outcome: keyof typeof OUTCOMES, cause: InterruptionCause | null): string {
  return `${HEADER}\n\n${[STOP, ...(cause === null ? [] : [CAUSES[cause]]), OUTCOMES[outcome]].join(' ')}`;
}

export interface QueuedRetry<Row> {
  readonly marker: Row;
  readonly streamId: string | null;
  readonly attempts: number;
  /** Epoch seconds. */
  readonly firstSeenAt: number | null;
}

/** The marker whose retry is due; none behind it an answer of a later turn, which ends a retry for good. */
export function queuedRetry<Row extends { readonly fields: Fields | null }>(rows: readonly Row[]): QueuedRetry<Row> | null {
  for (const marker of rows.toReversed()) {
    const { fields } = marker;
    if (fields === null) continue;
    if (truthy(fields._pending_journal_recovery)) {
      if (fields.type !== 'interrupted') continue;
      return {
        marker,
        streamId: truthy(fields._journal_retry_stream_id) ? String(fields._journal_retry_stream_id) : null,
        attempts: Math.max(0, wholeSeconds(fields._journal_retry_attempts) ?? 0),
        firstSeenAt: wholeSeconds(fields._journal_retry_first_seen_ts) || null,
      };
    }
    if (fields.role === 'assistant' && !truthy(fields._error)) return null;
  }
  return null;
}

const CAUSE_NAMES = new Set<string>(Object.keys(CAUSES));

/** As a marker tells it; null for any other row. */
export function causeOf(fields: Fields): InterruptionCause | null {
  if (fields.type !== 'interrupted' || !truthy(fields._error)) return null;
  const name = lowered(fields.interruption_cause).toUpperCase();
  return CAUSE_NAMES.has(name) ? (name as InterruptionCause) : 'UNKNOWN';
}
