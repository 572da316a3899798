/**
 * Markers of interrupted turns in a file's messages, and whether the Web UI will look into the run's journal again
 * (`spec/webui-recovery.md` 6, 13.1). Pure; only reads.
 */
import { inWindow } from '../state-db/decode.ts';
import { finiteNumber, isEmpty, type Message, textOf } from './transcript/values.ts';

/** UNKNOWN also for a cause of later versions. */
export type InterruptionCause = 'PROCESS_RESTART' | 'STREAM_RUN_SPLIT_BRAIN' | 'LOST_WORKER_BOOKKEEPING' | 'UNKNOWN';

export interface JournalRetry {
  readonly streamId: string | null;
  readonly attempts: number;
  /** Epoch seconds; null where the marker does not say. */
  readonly firstSeenAt: number | null;
  /** When the Web UI stops trying, whatever the number of attempts. */
  readonly givesUpAt: number | null;
}

export interface Interruption {
  readonly cause: InterruptionCause;
  /** Null once nothing more is tried. */
  readonly retry: JournalRetry | null;
}

/** Attempts and seconds after which the Web UI gives up. */
export const MOST_RETRIES = 12;
export const LONGEST_RETRY_SECONDS = 86_400;

const CAUSES: Readonly<Record<string, InterruptionCause>> = {
  process_restart: 'PROCESS_RESTART',
  stream_run_split_brain: 'STREAM_RUN_SPLIT_BRAIN',
  lost_worker_bookkeeping: 'LOST_WORKER_BOOKKEEPING',
};

/** What a marker says; null for any other message. Its text says nothing. */
export function interruptionOf(message: Message): Interruption | null {
  if (message.role !== 'assistant' || message.type !== 'interrupted' || isEmpty(message._error)) return null;
  const written = textOf(message.interruption_cause);
  return { cause: Object.hasOwn(CAUSES, written) ? (CAUSES[written] ?? 'UNKNOWN') : 'UNKNOWN', retry: retryOf(message) };
}

/** The retry that the newest messages leave queued: an answer that is no error ends it. `messages` in their order. */
export function queuedRetry(messages: readonly Message[]): JournalRetry | null {
  for (const message of messages.toReversed()) {
    const retry = retryOf(message);
    if (retry !== null) return retry;
    if (message.role === 'assistant' && isEmpty(message._error)) return null;
  }
  return null;
}

/** Without the flag other keys of a retry mean nothing. */
function retryOf(message: Message): JournalRetry | null {
  if (isEmpty(message._pending_journal_recovery)) return null;
  const attempts = finiteNumber(message._journal_retry_attempts) ?? 0;
  const firstSeenAt = inWindow(finiteNumber(message._journal_retry_first_seen_ts));
  return {
    streamId: textOf(message._journal_retry_stream_id) || null,
    attempts: Math.max(0, Math.trunc(attempts)),
    firstSeenAt,
    givesUpAt: firstSeenAt === null ? null : inWindow(firstSeenAt + LONGEST_RETRY_SECONDS),
  };
}
