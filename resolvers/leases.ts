/**
 * Turn leases, so that a program of one's own can run a turn in a conversation.
 */
import { randomUUID } from 'node:crypto';
import { DEFAULT_TTL_SECONDS } from '../src/state-db/write/admission.ts';
import { WriteRefused } from '../src/write-refused.ts';
import { waitForLease } from '../src/writing/wait-for-lease.ts';
import type { Context } from './context.ts';
import { type WriteArguments, type WritePayload, write } from './writes.ts';

export interface LeasePayload extends WritePayload {
  readonly sessionId: string;
  readonly conversationId: string;
  readonly leaseToken: string;
  readonly expiresAt: number;
  readonly waitedMs: number;
}

interface AcquireArguments extends WriteArguments {
  readonly sessionId: string;
  readonly holderLabel?: string | null | undefined;
  readonly ttlSeconds?: number | null | undefined;
  readonly waitSeconds?: number | null | undefined;
}

const LONGEST_TTL_SECONDS = 3600;
const LONGEST_WAIT_SECONDS = 1800;
const LABEL = /^[A-Za-z0-9_.-]{1,64}$/;

export async function acquireTurnLease(args: AcquireArguments, ctx: Context): Promise<LeasePayload> {
  const { sessionId } = args;
  const label = args.holderLabel ?? 'client';
  if (!LABEL.test(label)) throw new WriteRefused('VALIDATION', 'holderLabel is up to 64 letters, digits, _, . and -.');
  const ttlSeconds = within('ttlSeconds', args.ttlSeconds ?? DEFAULT_TTL_SECONDS, LONGEST_TTL_SECONDS);
  const waitSeconds = within('waitSeconds', args.waitSeconds ?? 0, LONGEST_WAIT_SECONDS);
  const store = await ctx.store(args.profile);
  // Tokens of the owning programs are written the same way: parts with colons between, the process first (G-7).
  const holder = `pid=${process.pid}:turn=${randomUUID().replaceAll('-', '')}:platform=caduceus:label=${label}`;
  const clientMutationId = args.clientMutationId ?? null;
  const lease = await waitForLease(
    ctx.services.writers,
    { profile: store.profile, path: store.path },
    { sessionId, holder, ttlSeconds },
    { envelope: { dryRun: args.dryRun ?? false, clientMutationId }, waitSeconds, signal: ctx.signal },
  );
  ctx.reset();
  return { ...lease, sessionId, leaseToken: lease.holder, profile: store.profile, clientMutationId };
}

interface TokenArguments extends WriteArguments {
  readonly sessionId: string;
  readonly leaseToken: string;
  readonly ttlSeconds?: number | null | undefined;
}

export async function renewTurnLease(args: TokenArguments, ctx: Context): Promise<LeasePayload> {
  const { sessionId, leaseToken: holder } = args;
  const ttlSeconds = within('ttlSeconds', args.ttlSeconds ?? DEFAULT_TTL_SECONDS, LONGEST_TTL_SECONDS);
  const lease = await write(ctx, 'renewTurnLease', args, { sessionId, holder, ttlSeconds });
  return { ...lease, sessionId, leaseToken: holder, waitedMs: 0 };
}

export interface ReleasePayload extends WritePayload {
  readonly released: boolean;
}

export function releaseTurnLease(args: WriteArguments & { readonly leaseToken: string }, ctx: Context): Promise<ReleasePayload> {
  return write(ctx, 'releaseTurnLease', args, { holder: args.leaseToken });
}

function within(name: string, value: number, most: number): number {
  if (value >= 0 && value <= most) return value;
  throw new WriteRefused('VALIDATION', `${name} is between 0 and ${most}.`);
}
