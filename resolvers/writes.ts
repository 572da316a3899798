/**
 * How mutations reach the process that writes to a store.
 */
import type { StoredMessage, StoredSession } from '../src/session-store.ts';
import type { CommandInput, CommandName, CommandResult } from '../src/writing/commands.ts';
import type { Context } from './context.ts';

/** What every input may carry. */
export interface WriteArguments {
  readonly profile?: string | null | undefined;
  readonly clientMutationId?: string | null | undefined;
  readonly dryRun?: boolean | null | undefined;
}

/** What every payload has: the profile that it is about, for the fields that read from it, and the caller's own id. */
export interface WritePayload {
  readonly profile: string;
  readonly clientMutationId: string | null;
}

/** Runs a command on the store of the input's profile; everything that was loaded before it is forgotten. Throws `WriteRefused`. */
export async function write<K extends CommandName>(
  ctx: Context,
  command: K,
  args: WriteArguments,
  input: CommandInput<K>,
): Promise<CommandResult<K> & WritePayload> {
  const store = await ctx.store(args.profile);
  const clientMutationId = args.clientMutationId ?? null;
  try {
    const envelope = { dryRun: args.dryRun ?? false, clientMutationId };
    const result = await ctx.services.writers.run({ profile: store.profile, path: store.path }, command, input, envelope);
    return Object.assign({}, result, { profile: store.profile, clientMutationId });
  } finally {
    ctx.reset();
  }
}

/** The session that a payload names, as it is after the change; null when it is gone. */
export function sessionOf(payload: WritePayload & { readonly sessionId: string }, _: unknown, ctx: Context): Promise<StoredSession | null> {
  return ctx.loaders(payload.profile).session.load(payload.sessionId);
}

export async function sessionsOf(
  payload: WritePayload & { readonly sessionIds: readonly string[] },
  _: unknown,
  ctx: Context,
): Promise<StoredSession[]> {
  const found = await ctx.loaders(payload.profile).session.loadMany(payload.sessionIds);
  return found.flatMap((session) => (session === null ? [] : [orThrow(session)]));
}

export async function messagesOf(
  payload: WritePayload & { readonly rowIds: readonly string[] },
  _: unknown,
  ctx: Context,
): Promise<StoredMessage[]> {
  const found = await ctx.loaders(payload.profile).message.loadMany(payload.rowIds);
  return found.flatMap((message) => (message === null ? [] : [orThrow(message)]));
}

function orThrow<T>(value: T | Error): T {
  if (value instanceof Error) throw value;
  return value;
}
