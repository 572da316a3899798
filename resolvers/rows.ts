/**
 * Rows of a transcript, many at a time: a batch that is appended, rows that are rewritten in place.
 */
import type { AppendedBatch } from '../src/state-db/write/append-batch.ts';
import type { PrunedRows, RowChange } from '../src/state-db/write/prune-rows.ts';
import { WriteRefused } from '../src/write-refused.ts';
import type { Context } from './context.ts';
import { atMost, checkedRowId, leaseOf } from './row-input.ts';
import { checkedPatch } from './session-config.ts';
import { type TranscriptMessageArguments, transcriptMessage, transcriptMessages } from './transcript-input.ts';
import { type WriteArguments, type WritePayload, write } from './writes.ts';

/** Messages or rows of one request. */
export const MOST_ROWS = 1000;

interface HeldMessageArguments {
  readonly index: number;
  readonly rowId?: string | null | undefined;
  readonly rowVersion?: string | null | undefined;
}

interface AppendArguments extends WriteArguments {
  readonly sessionId: string;
  readonly messages: readonly TranscriptMessageArguments[];
  readonly held?: readonly HeldMessageArguments[] | null | undefined;
  readonly leaseToken?: string | null | undefined;
}

export type AppendPayload = AppendedBatch & WritePayload;

export function appendMessages(args: AppendArguments, ctx: Context): Promise<AppendPayload> {
  const messages = transcriptMessages(atMost('messages', args.messages, MOST_ROWS));
  for (const { index, rowId, rowVersion } of args.held ?? []) {
    const message = messages[index];
    if (message === undefined) throw new WriteRefused('VALIDATION', 'held names a message that is not there.');
    messages[index] = {
      ...message,
      ...(rowId != null && { _row_id: checkedRowId(rowId) }),
      ...(rowVersion != null && { _db_row_snapshot: rowVersion }),
    };
  }
  return write(ctx, 'appendMessages', args, { sessionId: args.sessionId, messages, lease: leaseOf(args) });
}

interface RowChangeArguments {
  readonly rowId: string;
  readonly rowVersion: string;
  readonly content?: unknown;
  readonly toolCalls?: unknown;
}

interface PruneArguments extends WriteArguments {
  readonly sessionId: string;
  readonly changes: readonly RowChangeArguments[];
  readonly modelConfigPatch?: unknown;
  readonly leaseToken?: string | null | undefined;
}

export type PrunePayload = PrunedRows & WritePayload & { readonly rowIds: readonly string[] };

export async function pruneRows(args: PruneArguments, ctx: Context): Promise<PrunePayload> {
  const { sessionId } = args;
  const changes = atMost('changes', args.changes, MOST_ROWS).map(toChange);
  const modelConfigPatch = args.modelConfigPatch == null ? null : checkedPatch(args.modelConfigPatch, 'modelConfigPatch');
  const pruned = await write(ctx, 'pruneRows', args, { sessionId, changes, modelConfigPatch, lease: leaseOf(args) });
  return { ...pruned, rowIds: changes.map(({ rowId }) => rowId) };
}

/** A field that is left out stays as it is, one that is null is emptied. */
function toChange({ rowId, rowVersion, content, toolCalls }: RowChangeArguments, index: number): RowChange {
  // Only its checks are of use here: what it gives leaves nulls out.
  transcriptMessage({ role: 'assistant', content, toolCalls }, `changes[${index}]`);
  return {
    rowId: checkedRowId(rowId),
    rowVersion,
    ...(content !== undefined && { content }),
    ...(toolCalls !== undefined && { toolCalls }),
  };
}
