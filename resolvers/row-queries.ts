/**
 * What a program asks before it writes: whether its rows are still as it read them, whether a message was stored already.
 */
import { StoreUnreadable } from '../src/errors.ts';
import { WriteRefused } from '../src/write-refused.ts';
import type { Context } from './context.ts';
import { atMost, checkedRowId } from './row-input.ts';
import { MOST_ROWS } from './rows.ts';

interface HeldRowArguments {
  readonly rowId?: string | null | undefined;
  readonly messageUid?: string | null | undefined;
  readonly role?: string | null | undefined;
  readonly rowVersion: string;
}

type Profiled = { readonly profile?: string | null | undefined };

export async function staleHeldRows(
  _: unknown,
  args: Profiled & { readonly sessionId: string; readonly held: readonly HeldRowArguments[] },
  ctx: Context,
): Promise<readonly string[]> {
  const held = atMost('held', args.held, MOST_ROWS).map(({ rowId, messageUid, role, rowVersion }) => {
    if (rowId == null && (messageUid == null || role == null)) {
      throw new WriteRefused('VALIDATION', 'A held row is named by its rowId, or by its messageUid and role.');
    }
    return {
      rowId: rowId == null ? null : checkedRowId(rowId),
      messageUid: messageUid ?? null,
      role: role ?? null,
      rowVersion,
    };
  });
  const store = await ctx.store(args.profile);
  return ctx.loaders(store.profile).staleRows.load({ sessionId: args.sessionId, held });
}

/** Throws TRANSCRIPT_UNREADABLE: no answer must not be taken for "no" (`spec/state-db-writes.md` L2). */
export async function inputOwnerExists(
  _: unknown,
  args: Profiled & { readonly sessionId: string; readonly owner: string },
  ctx: Context,
): Promise<boolean> {
  const { sessionId, owner } = args;
  try {
    const store = await ctx.store(args.profile);
    return await ctx.loaders(store.profile).inputOwner.load({ sessionId, owner });
  } catch (error) {
    if (!(error instanceof StoreUnreadable)) throw error;
    throw new WriteRefused('TRANSCRIPT_UNREADABLE', '', { cause: error, details: { health: error.health } });
  }
}

export async function platformMessageExists(
  _: unknown,
  args: Profiled & { readonly sessionId: string; readonly platformMessageId: string },
  ctx: Context,
): Promise<boolean> {
  const { sessionId, platformMessageId } = args;
  const store = await ctx.store(args.profile);
  return ctx.loaders(store.profile).platformMessage.load({ sessionId, platformMessageId });
}
