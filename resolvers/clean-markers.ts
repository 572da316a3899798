/**
 * The clean-up of texts that are only the name of a tool.
 */
import type { CleanMarkersResult } from '../src/writing/clean-markers.ts';
import type { Context } from './context.ts';
import { checkedRowId } from './row-input.ts';
import { type WriteArguments, type WritePayload, write } from './writes.ts';

interface CleanMarkersArguments extends WriteArguments {
  readonly backup?: boolean | null | undefined;
  readonly expectedRowIds?: readonly string[] | null | undefined;
}

export type CleanMarkersPayload = CleanMarkersResult & WritePayload;

export async function cleanMarkers(args: CleanMarkersArguments, ctx: Context): Promise<CleanMarkersPayload> {
  const expectedRowIds = args.expectedRowIds?.map((rowId) => checkedRowId(rowId, 'expectedRowIds')) ?? null;
  return write(ctx, 'cleanMarkers', args, { backup: args.backup ?? true, expectedRowIds });
}
