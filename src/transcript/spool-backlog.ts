/** From the queues in memory to disk (`spec/state-db-writes.md` A3, A8, A12; K5, K12): a message leaves memory only once a file has it. */
import { appendDiverted } from './divert-file.ts';
import type { SpoolDirectory, WrittenSpool } from './spool-directory.ts';
import { SpoolUnwritable } from './spool-files.ts';
import type { SpooledMessage } from './spool-payload.ts';

export interface MovedBacklog {
  /** What was moved, oldest first. */
  readonly written: readonly WrittenSpool[];
  /** Why the rest stays in memory; null when nothing was to stay. */
  readonly stoppedBy: SpoolUnwritable | null;
}

export interface DivertedBacklog extends MovedBacklog {
  /** Why the divert file lacks the messages; null when it has them. */
  readonly divertFailed: SpoolUnwritable | null;
}

/**
 * Moves the oldest `count` entries of a queue to the spool and out of the array, stopping at the first failure, so that what is in the spool
 * is always older than what is in memory. `messageOf` gives an entry's message, with its uid.
 */
export function moveToSpool<T>(
  spool: SpoolDirectory,
  sessionId: string,
  queue: T[],
  messageOf: (entry: T) => SpooledMessage,
  count = queue.length,
): MovedBacklog {
  const written: WrittenSpool[] = [];
  for (let moved = 0; moved < count; moved++) {
    const head = queue[0];
    if (head === undefined) break;
    try {
      written.push(spool.write(sessionId, messageOf(head)));
    } catch (error) {
      if (!(error instanceof SpoolUnwritable)) throw error;
      return { written, stoppedBy: error };
    }
    queue.shift();
  }
  return { written, stoppedBy: null };
}

/**
 * A8: moves a whole queue to the spool and also appends it to the session's divert file, for a store that must not be written to any more.
 * Messages that the spool could not take stay in the queue; the divert file is tried with all of them. Both carry the same uids when
 * the messages have theirs.
 */
export function divertBacklog<T>(
  spool: SpoolDirectory,
  sessionId: string,
  queue: T[],
  messageOf: (entry: T) => SpooledMessage,
): DivertedBacklog {
  const messages = queue.map(messageOf);
  const moved = moveToSpool(spool, sessionId, queue, messageOf);
  const identified = messages.map((message, index) => {
    const uid = moved.written[index]?.messageUid;
    return uid === undefined ? message : { ...message, message_uid: uid };
  });
  try {
    appendDiverted(spool.home, sessionId, identified, spool.files);
    return { ...moved, divertFailed: null };
  } catch (error) {
    if (!(error instanceof SpoolUnwritable)) throw error;
    return { ...moved, divertFailed: error };
  }
}
