/**
 * Results of delegated work, delivered into a conversation.
 */
import type { Delivery } from '../src/state-db/write/deliver-result.ts';
import { WriteRefused } from '../src/write-refused.ts';
import type { Context } from './context.ts';
import { transcriptMessage } from './transcript-input.ts';
import { type WriteArguments, type WritePayload, write } from './writes.ts';

interface DeliverArguments extends WriteArguments {
  readonly sessionId: string;
  readonly delegationId: string;
  readonly notice?: string | null | undefined;
  readonly content?: unknown;
  readonly suppressed?: boolean | null | undefined;
}

export type DeliveryPayload = Delivery & WritePayload;

const LONGEST_ID = 512;

export async function deliverDelegationResult(args: DeliverArguments, ctx: Context): Promise<DeliveryPayload> {
  const { sessionId, delegationId, content } = args;
  const notice = args.notice ?? null;
  if (delegationId === '' || delegationId.length > LONGEST_ID || (notice ?? '').length > LONGEST_ID) {
    throw new WriteRefused('VALIDATION', `delegationId and notice have 1 to ${LONGEST_ID} characters.`);
  }
  transcriptMessage({ role: 'user', content }, 'content');
  return write(ctx, 'deliverDelegationResult', args, {
    sessionId,
    delegationId,
    notice,
    content: content ?? null,
    suppressed: args.suppressed ?? false,
  });
}
