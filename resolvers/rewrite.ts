/**
 * A transcript written anew.
 */
import type { RewriteMode, RewrittenTranscript } from '../src/state-db/write/rewrite-transcript.ts';
import type { Context } from './context.ts';
import { type TranscriptMessageArguments, transcriptMessages } from './transcript-input.ts';
import { type WriteArguments, type WritePayload, write } from './writes.ts';

export interface RewriteArguments extends WriteArguments {
  readonly sessionId: string;
  readonly mode: RewriteMode;
  readonly messages: readonly TranscriptMessageArguments[];
  readonly expectedRevision?: string | null | undefined;
  readonly expectedActiveIds?: readonly string[] | null | undefined;
  readonly force?: boolean | null | undefined;
  readonly leaseToken?: string | null | undefined;
}

export type RewritePayload = RewrittenTranscript & WritePayload;

export async function rewriteTranscript(args: RewriteArguments, ctx: Context): Promise<RewritePayload> {
  const { sessionId, mode } = args;
  return write(ctx, 'rewriteTranscript', args, {
    sessionId,
    mode,
    messages: transcriptMessages(args.messages),
    expectedRevision: args.expectedRevision ?? null,
    expectedActiveIds: args.expectedActiveIds ?? null,
    force: args.force ?? false,
    leaseToken: args.leaseToken ?? null,
  });
}

export function deletedCount({ deletedIds }: RewritePayload): number {
  return deletedIds.length;
}
