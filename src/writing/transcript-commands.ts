/**
 * What a client can ask of the append path: append, look at what waits, try it again, give it up (`spec/state-db-writes.md` 5, 6).
 */
import { createHash } from 'node:crypto';
import type { StoreReading } from '../state-db/store-reading.ts';
import type { Lease } from '../state-db/write/admission.ts';
import { appendBatch } from '../state-db/write/append-batch.ts';
import { conversationIds } from '../state-db/write/conversation-ids.ts';
import { KnownMessages } from '../state-db/write/known-messages.ts';
import type { TranscriptMessage } from '../state-db/write/message-encoding.ts';
import { recoverBatch } from '../state-db/write/recover-batch.ts';
import { storedRow } from '../state-db/write/stored-row.ts';
import { contentCell, nonEmptyString } from '../state-db/write/stored-value.ts';
import type { AppendOutcome, QueuedEntry } from '../transcript/append-queue.ts';
import { drainSession } from '../transcript/spool-drain.ts';
import type { SpoolEntry } from '../transcript/spool-entry.ts';
import { recoverSpool } from '../transcript/spool-recovery.ts';
import { retireSpoolEntry as retire } from '../transcript/spool-retirement.ts';
import { WriteRefused } from '../write-refused.ts';
import { type Command, type CommandHost, once, operationCommand, operationContext, reading } from './command.ts';

export interface AppendCommand {
  readonly sessionId: string;
  readonly message: TranscriptMessage;
  readonly lease: Lease | null;
}

/** A8 to A12 say what becomes of it. With a clientMutationId a repeat gets the first answer, in stores without uids too. */
export const appendMessage: Command<AppendCommand, AppendOutcome> = async (host, input, { clientMutationId }) => {
  await requireSession(host, input.sessionId);
  const given = nonEmptyString(input.message.message_uid);
  const derived = clientMutationId === null ? null : uidOf(host.profile, clientMutationId);
  const uid = given ?? derived ?? host.mintUid();
  // Taken when it was said, however long it has to wait; a time that can't be trusted is put right when it is written (V6).
  const message = { ...input.message, message_uid: uid, timestamp: input.message.timestamp ?? host.now() };
  const append = (beforeCommit?: (row: { readonly rowId: string }) => void) =>
    host.transcript().queue.append(input.sessionId, {
      message,
      uid,
      isMinted: given === null && derived === null,
      lease: input.lease,
      beforeCommit,
      onKept: (outcome) => {
        if (clientMutationId !== null) host.receipts().done(clientMutationId, outcome);
      },
    });
  if (clientMutationId === null) return append();
  return once(
    host,
    { id: clientMutationId, name: 'appendMessage', input },
    (planned) => append(({ rowId }) => planned(committed(input.sessionId, uid, rowId))),
    (planned) => reading(host, (store) => wasAppended(store, input.sessionId, message, rowIdOf(planned))),
    // What waits in memory alone is lost with the process: then a repeat has to send it again.
    ({ status }) => status !== 'QUEUED' || !host.transcript().queue.holds(input.sessionId, uid),
  );
};

const batch = operationCommand('appendMessages', appendBatch, { excludesAppends: true });

/** A whole batch, behind what waits for the session; while that can't be written the batch can't either. */
export const appendMessages: typeof batch = async (host, input, envelope) => {
  if (!envelope.dryRun) {
    const { remaining, problem } = await host.transcript().queue.flush(input.sessionId);
    if (remaining > 0) throw problem ?? new WriteRefused('STORE_BUSY');
  }
  return batch(host, input, envelope);
};

export interface WaitingMessages {
  readonly depth: number;
  readonly failures: number;
  readonly entries: readonly QueuedEntry[];
}

/** What waits in memory for a session. */
export const retryQueue: Command<{ readonly sessionId: string }, WaitingMessages> = async (host, { sessionId }) =>
  host.transcript().queue.waiting(sessionId);

export interface FlushedQueue {
  readonly committed: number;
  readonly remaining: number;
  readonly lastError: { readonly code: string; readonly message: string } | null;
}

/** Tries what waits for a session now. */
export const flushRetryQueue: Command<{ readonly sessionId: string }, FlushedQueue> = async (host, { sessionId }, { dryRun }) => {
  const { queue } = host.transcript();
  const { depth } = queue.waiting(sessionId);
  if (dryRun) return { committed: 0, remaining: depth, lastError: null };
  const { remaining, problem } = await queue.flush(sessionId);
  const lastError = problem === null ? null : { code: problem.code, message: problem.message };
  return { committed: Math.max(0, depth - remaining), remaining, lastError };
};

/** Throws CONFLICT when more or less waits than was confirmed. */
export const discardRetryQueue: Command<
  { readonly sessionId: string; readonly confirmDepth: number },
  { readonly discarded: number }
> = async (host, { sessionId, confirmDepth }, { dryRun }) => {
  const { queue } = host.transcript();
  return queue.exclusive(async () => {
    const { depth } = queue.waiting(sessionId);
    if (depth !== confirmDepth) throw new WriteRefused('CONFLICT', `${depth} messages wait.`, { details: { depth } });
    return { discarded: dryRun ? depth : queue.forget(sessionId) };
  });
};

export interface DrainCommand {
  /** Null: the whole spool. */
  readonly sessionId: string | null;
  readonly limit: number | null;
}

export interface DrainedSpool {
  readonly replayed: readonly { readonly spoolId: string; readonly messageId: string | null; readonly duplicate: boolean }[];
  readonly remaining: number;
  /** Why it stopped, or what kept a session back. */
  readonly stoppedBy: readonly { readonly code: string; readonly spoolId: string | null; readonly sessionId: string | null }[];
}

/** S5, S7, S9, S10: a file is removed once its message is in the store. */
export const drainSpool: Command<DrainCommand, DrainedSpool> = (host, { sessionId, limit }, { dryRun }) => {
  const { queue, spool, store } = host.transcript();
  return queue.exclusive(async () => {
    if (sessionId === null) return drainAll(host, dryRun);
    const result = await drainSession(
      spool,
      sessionId,
      {
        resolveTarget: (id) => store.openTip(id),
        append: async (id, message) => {
          const { rowId, duplicate } = await store.commit({ sessionId: id, message, lease: null, mayBeKnown: true });
          return { messageId: rowId, duplicate };
        },
      },
      { dryRun, ...(limit === null ? {} : { limit }), ancestors: await store.ancestors(sessionId) },
    );
    const stop = result.stoppedBy;
    const stoppedBy = stop === null ? [] : [{ code: stop.code, spoolId: stop.spoolId, sessionId }];
    return { replayed: result.replayed, remaining: result.remaining, stoppedBy };
  });
};

async function drainAll(host: CommandHost, dryRun: boolean): Promise<DrainedSpool> {
  const { spool, store } = host.transcript();
  if (dryRun) {
    const { entries } = spool.list(['PENDING', 'CLAIMED']);
    const replayed = entries
      .filter(({ reason, state }) => reason === 'transcript_cap_drop' && state !== 'INVALID')
      .map(({ spoolId }) => ({ spoolId, messageId: null, duplicate: false }));
    return { replayed, remaining: entries.length, stoppedBy: [] };
  }
  const { recovered, blocked, stoppedBy } = await recoverSpool(spool, {
    resolveTarget: (id) => store.openTip(id),
    appendBatch: (sessionId, messages) =>
      host.writer.write((transaction) => recoverBatch(transaction, sessionId, messages, operationContext(host)), {
        patience: 'TRANSCRIPT',
        touchesMessages: true,
      }),
  });
  return {
    replayed: recovered.flatMap(({ spoolIds, inserted }) =>
      spoolIds.map((spoolId) => ({ spoolId, messageId: null, duplicate: inserted === 0 })),
    ),
    remaining: spool.list(['PENDING', 'CLAIMED']).entries.length,
    stoppedBy: [
      ...(stoppedBy === null ? [] : [{ code: stoppedBy.code, spoolId: stoppedBy.spoolId, sessionId: null }]),
      ...blocked.map(({ sessionId, stoppedBy: stop }) => ({ code: stop.code, spoolId: stop.spoolId, sessionId })),
    ],
  };
}

/** Every file of the spool, in order; changes nothing. */
export const spoolEntries: Command<{ readonly sessionId: string | null }, readonly SpoolEntry[]> = async (host, { sessionId }) => {
  const { entries } = host.transcript().spool.list();
  return sessionId === null ? entries : entries.filter((entry) => entry.sessionId === sessionId);
};

/** Throws NOT_FOUND, and CONFLICT when the file is not the one that was looked at. */
export const retireSpoolEntry: Command<{ readonly spoolId: string; readonly expectedDigest: string }, SpoolEntry> = async (
  host,
  { spoolId, expectedDigest },
  { dryRun },
) => {
  const { spool } = host.transcript();
  if (!dryRun) return retire(spool, spoolId, expectedDigest);
  const entry = spool.find(spoolId);
  if (entry === null) throw new WriteRefused('NOT_FOUND');
  if (entry.digest !== expectedDigest) throw new WriteRefused('CONFLICT');
  return entry;
};

/** A session that was never there is a mistake of the caller and not an outage; one that was written to may come back (T56). */
async function requireSession(host: CommandHost, sessionId: string): Promise<void> {
  if (host.transcript().written.has(sessionId)) return;
  let isThere: boolean;
  try {
    isThere = await reading(host, (store) => store.get('SELECT 1 FROM sessions WHERE id = ?', [sessionId]) !== undefined);
  } catch (error) {
    // Nothing can be said while the store can't be read: the message is taken, and waits.
    if (error instanceof WriteRefused) return;
    throw error;
  }
  if (!isThere) throw new WriteRefused('NOT_FOUND', 'There is no such session; create it first.');
}

function uidOf(profile: string, clientMutationId: string): string {
  return createHash('sha256')
    .update(JSON.stringify(['append', profile, clientMutationId]))
    .digest('hex')
    .slice(0, 32);
}

function committed(sessionId: string, messageUid: string, rowId: string): AppendOutcome {
  return { status: 'COMMITTED', messageUid, rowId, sessionId, queueDepth: 0, failureCount: 0, problem: null };
}

/** By its uid, which nothing else has; an older store tells by the row, whose id another message may have got after a rollback. */
function wasAppended(store: StoreReading, sessionId: string, message: TranscriptMessage, rowId: string): boolean {
  if (store.shape.hasColumn('messages', 'message_uid')) return KnownMessages.read(store, sessionId, [message]).find(message) !== null;
  const row = storedRow(store, rowId);
  if (row === null || !conversationIds(store, sessionId).includes(row.sessionId) || row.role !== message.role) return false;
  if (row.cells.content === contentCell(message.content)) return true;
  throw new WriteRefused('INDETERMINATE', 'The row was changed since, or is another message.');
}

function rowIdOf(planned: unknown): string {
  return typeof planned === 'object' && planned !== null && 'rowId' in planned ? String(planned.rowId) : '';
}
