/**
 * The append path for clients: append, what waits, the spool, receipts.
 */
import { decodeCursor, encodeCursor } from '../src/cursor.ts';
import { InvalidInput } from '../src/errors.ts';
import { type Page, pageRequest } from '../src/paging.ts';
import type { StoredMessage } from '../src/session-store.ts';
import type { AppendOutcome, QueuedEntry } from '../src/transcript/append-queue.ts';
import type { SpoolEntry } from '../src/transcript/spool-entry.ts';
import { WriteRefused } from '../src/write-refused.ts';
import { type FoundReceipt, findReceipt } from '../src/writing/receipts.ts';
import type { DrainedSpool, FlushedQueue } from '../src/writing/transcript-commands.ts';
import type { Context } from './context.ts';
import { leaseOf } from './row-input.ts';
import { type TranscriptMessageArguments, transcriptMessage } from './transcript-input.ts';
import { type WriteArguments, type WritePayload, write } from './writes.ts';

export type AppendPayload = AppendOutcome & WritePayload;

interface AppendArguments extends WriteArguments {
  readonly sessionId: string;
  readonly message: TranscriptMessageArguments;
  readonly messageUid?: string | null | undefined;
  readonly leaseToken?: string | null | undefined;
}

export async function appendMessage(args: AppendArguments, ctx: Context): Promise<AppendPayload> {
  const { sessionId, messageUid } = args;
  if (messageUid != null && args.message.messageUid != null && messageUid !== args.message.messageUid) {
    throw new WriteRefused('VALIDATION', 'messageUid is given twice, and differs.');
  }
  const message = transcriptMessage({ ...args.message, messageUid: messageUid ?? args.message.messageUid });
  return write(ctx, 'appendMessage', args, { sessionId, message, lease: leaseOf(args) });
}

/** The row as it is stored; null while it waits. */
export function appendedMessage(payload: AppendPayload, _: unknown, ctx: Context): Promise<StoredMessage | null> | null {
  return payload.rowId === null ? null : ctx.loaders(payload.profile).message.load(payload.rowId);
}

export interface RetryQueue {
  readonly depth: number;
  readonly failures: number;
  readonly oldestEnqueuedAt: number | null;
  readonly entries: readonly QueuedEntry[];
}

interface OfSession {
  readonly sessionId: string;
  readonly profile?: string | null | undefined;
}

export async function retryQueue(_: unknown, { sessionId, profile }: OfSession, ctx: Context): Promise<RetryQueue> {
  const found = await look(ctx, 'retryQueue', profile, { sessionId });
  return { ...found, oldestEnqueuedAt: found.entries[0]?.enqueuedAt ?? null };
}

export type FlushPayload = FlushedQueue & WritePayload;

export function flushRetryQueue(args: WriteArguments & OfSession, ctx: Context): Promise<FlushPayload> {
  return write(ctx, 'flushRetryQueue', args, { sessionId: args.sessionId });
}

export interface DiscardPayload extends WritePayload {
  readonly discarded: number;
}

export function discardRetryQueue(
  args: WriteArguments & OfSession & { readonly confirmDepth: number },
  ctx: Context,
): Promise<DiscardPayload> {
  return write(ctx, 'discardRetryQueue', args, { sessionId: args.sessionId, confirmDepth: args.confirmDepth });
}

export type DrainPayload = DrainedSpool & WritePayload;

const MOST_DRAINED = 10_000;

export async function drainSpool(
  args: WriteArguments & { readonly sessionId?: string | null | undefined; readonly limit?: number | null | undefined },
  ctx: Context,
): Promise<DrainPayload> {
  const limit = args.limit ?? null;
  if (limit !== null && (limit < 1 || limit > MOST_DRAINED))
    throw new WriteRefused('VALIDATION', `limit is between 1 and ${MOST_DRAINED}.`);
  if (limit !== null && args.sessionId == null) throw new WriteRefused('VALIDATION', 'limit goes with a sessionId.');
  return write(ctx, 'drainSpool', args, { sessionId: args.sessionId ?? null, limit });
}

export interface RetirePayload extends WritePayload {
  readonly entry: SpoolEntry;
}

export async function retireSpoolEntry(
  args: WriteArguments & { readonly spoolId: string; readonly expectedDigest: string },
  ctx: Context,
): Promise<RetirePayload> {
  const { profile, clientMutationId, ...entry } = await write(ctx, 'retireSpoolEntry', args, {
    spoolId: args.spoolId,
    expectedDigest: args.expectedDigest,
  });
  return { profile, clientMutationId, entry };
}

interface SpoolArguments {
  readonly sessionId?: string | null | undefined;
  readonly profile?: string | null | undefined;
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

export async function spoolEntries(_: unknown, args: SpoolArguments, ctx: Context): Promise<Page<SpoolEntry> & { readonly total: number }> {
  const page = pageRequest({ first: args.first, after: args.after });
  const entries = await look(ctx, 'spoolEntries', args.profile, { sessionId: args.sessionId ?? null });
  const start = page.after === null ? 0 : startAfter(page.after, entries);
  const items = entries.slice(start, start + page.size).map((node) => ({ cursor: encodeCursor('spool', '', [node.spoolId]), node }));
  return { items, hasNextPage: start + page.size < entries.length, hasPreviousPage: start > 0, total: entries.length };
}

function startAfter(cursor: string, entries: readonly SpoolEntry[]): number {
  const [spoolId] = decodeCursor(cursor, 'spool', '');
  const at = entries.findIndex((entry) => entry.spoolId === spoolId);
  if (at === -1) throw new InvalidInput('The file of this cursor is gone. Start again without it.', {}, 'STALE_CURSOR');
  return at + 1;
}

/** What became of a mutation, by the id that its client gave it; null where there is no receipt. */
export function mutationReceipt(_: unknown, args: { readonly clientMutationId: string }, ctx: Context): FoundReceipt | null {
  return findReceipt(ctx.services.writers.receiptsPath, args.clientMutationId);
}

/** Asks the writing process for something that changes nothing; allowed on servers that only read. */
async function look<K extends 'retryQueue' | 'spoolEntries'>(
  ctx: Context,
  command: K,
  profile: string | null | undefined,
  input: Parameters<typeof ctx.services.writers.run<K>>[2],
) {
  const store = await ctx.store(profile);
  return ctx.services.writers.run({ profile: store.profile, path: store.path }, command, input, { dryRun: true, clientMutationId: null });
}
