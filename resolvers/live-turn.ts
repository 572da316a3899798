/**
 * One conversation as it goes on: subscription and its twins for pollers.
 */
import { InvalidInput } from '../src/errors.ts';
import type { LiveEvent, LiveEventOf } from '../src/live/conversation/events.ts';
import type { LiveFrame } from '../src/live/conversation/frame-group.ts';
import { DEFAULT_OPTIONS, type DelegateMode, type LiveOptions, type MessageMode, type TextMode } from '../src/live/conversation/options.ts';
import type { LiveTurnsStatus } from '../src/live/live-turns.ts';
import type { StoredMessage, StoredSession } from '../src/session-store.ts';
import type { Liveness } from '../src/state-db/liveness.ts';
import type { Context } from './context.ts';
import { checkedCount } from './numbers.ts';
import { GONE_LIVENESS } from './stores.ts';

export interface LiveOptionsInput {
  readonly coalesceMs?: number | null | undefined;
  readonly text?: TextMode | null | undefined;
  readonly reasoning?: TextMode | null | undefined;
  readonly toolArgs?: boolean | null | undefined;
  readonly metering?: boolean | null | undefined;
  readonly messages?: MessageMode | null | undefined;
  readonly delegates?: DelegateMode | null | undefined;
  readonly followContinuations?: boolean | null | undefined;
  readonly maxFrameBytes?: number | null | undefined;
}

interface SessionArguments {
  readonly sessionId: string;
  readonly profile?: string | null | undefined;
}

const LONGEST_COALESCE_MS = 1000;
const SMALLEST_FRAME = 4096;
const LARGEST_FRAME = 4 * 1024 * 1024;
const MOST_EVENTS = 2000;

export async function liveTurn(
  _: unknown,
  args: SessionArguments & { after?: string | null | undefined; options?: LiveOptionsInput | null | undefined },
  ctx: Context,
): Promise<AsyncIterable<LiveFrame>> {
  const options = optionsOf(args.options ?? {});
  return ctx.services.liveTurns.follow(await ctx.store(args.profile), args.sessionId, args.after ?? null, options, ctx.signal);
}

/** Null for a session that neither the store nor the Web UI has. */
export async function liveState(_: unknown, args: SessionArguments, ctx: Context): Promise<LiveEventOf<'LiveSnapshot'> | null> {
  const event = await ctx.services.liveTurns.snapshot(await ctx.store(args.profile), args.sessionId);
  return event.snapshot.head === null && event.snapshot.turn === null ? null : event;
}

export async function liveEvents(
  _: unknown,
  args: SessionArguments & { after: string; first?: number | null | undefined },
  ctx: Context,
): Promise<LiveFrame> {
  const most = checkedCount('first', args.first ?? 200, MOST_EVENTS);
  return ctx.services.liveTurns.eventsAfter(await ctx.store(args.profile), args.sessionId, args.after, most);
}

export function liveStatus(_: unknown, __: unknown, ctx: Context): LiveTurnsStatus {
  return ctx.services.liveTurns.status;
}

export async function appendedMessages(event: LiveEventOf<'MessagesAppended'>, _: unknown, ctx: Context): Promise<StoredMessage[] | null> {
  if (!event.full) return null;
  const found = await Promise.all(event.ids.map((id) => ctx.loaders(event.profile).message.load(id)));
  return found.filter((message) => message !== null);
}

export function eventSession(event: LiveEvent, _: unknown, ctx: Context): Promise<StoredSession | null> {
  return ctx.loaders(event.profile).session.load(event.sessionId);
}

export async function snapshotLiveness({ snapshot }: LiveEventOf<'LiveSnapshot'>, _: unknown, ctx: Context): Promise<Liveness> {
  return (await ctx.loaders(snapshot.profile).liveness.load(snapshot.sessionId)) ?? GONE_LIVENESS;
}

/** What a reader would show behind the settled messages. */
export function snapshotText({ snapshot }: LiveEventOf<'LiveSnapshot'>): string {
  const open = snapshot.turn?.segments.filter(({ messageId }) => messageId === null) ?? [];
  return open.map(({ text }) => text).join('\n\n');
}

function optionsOf(input: LiveOptionsInput): LiveOptions {
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value != null));
  const options: LiveOptions = { ...DEFAULT_OPTIONS, ...given };
  checkRange('coalesceMs', options.coalesceMs, 0, LONGEST_COALESCE_MS);
  checkRange('maxFrameBytes', options.maxFrameBytes, SMALLEST_FRAME, LARGEST_FRAME);
  return options;
}

function checkRange(name: string, value: number, from: number, to: number): void {
  if (!(value >= from && value <= to)) throw new InvalidInput(`${name} must be between ${from} and ${to}; it was ${value}.`);
}
