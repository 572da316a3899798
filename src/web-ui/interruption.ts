/**
 * Markers of interrupted turns as they are told: why, and how the Web UI goes on (`spec/webui-recovery.md` 6, 13.1). Pure; only reads.
 */
import { inWindow } from '../state-db/decode.ts';
import { causeOf, type InterruptionCause, queuedRetry, RETRY_SECONDS } from './recovery/markers.ts';
import type { Message } from './transcript/values.ts';

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

/** What a marker says; null for any other message. */
export function interruptionOf(message: Message): Interruption | null {
  const cause = message.role === 'assistant' ? causeOf(message) : null;
  return cause === null ? null : { cause, retry: journalRetryOf([message]) };
}

/** The retry that the newest messages leave queued. `messages` in their order. */
export function journalRetryOf(messages: readonly Message[]): JournalRetry | null {
  const queued = queuedRetry(messages.map((fields) => ({ fields })));
  if (queued === null) return null;
  const firstSeenAt = inWindow(queued.firstSeenAt);
  const givesUpAt = firstSeenAt === null ? null : inWindow(firstSeenAt + RETRY_SECONDS);
  return { streamId: queued.streamId, attempts: queued.attempts, firstSeenAt, givesUpAt };
}
