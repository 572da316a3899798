/**
 * Looking sessions up and listing them.
 */
import { decodeCursor, encodeCursor } from '../src/cursor.ts';
import { CaduceusError, InvalidInput } from '../src/errors.ts';
import { type PageArguments, type PageRequest, pageRequest } from '../src/paging.ts';
import type { SessionPage, SessionStore, StoredSession } from '../src/session-store.ts';
import type { LineageCollapse } from '../src/state-db/list-item.ts';
import { COMPARE, type SessionOrder } from '../src/state-db/list-order.ts';
import {
  type HiddenReason,
  type ListQuery,
  type ListTotals,
  listName,
  orderKeyOf,
  type SessionFilter,
  type SurfaceCounts,
} from '../src/state-db/listing.ts';
import type { Context } from './context.ts';
import { unlessGone } from './lost-files.ts';

export interface SessionsArguments extends PageArguments {
  readonly profile?: string | null | undefined;
  readonly allProfiles?: boolean | null | undefined;
  readonly filter?: SessionFilter | null | undefined;
  readonly orderBy?: SessionOrder | null | undefined;
  readonly collapse?: LineageCollapse | null | undefined;
}

export interface HiddenCount {
  readonly reason: HiddenReason;
  readonly count: number;
}

/** A page, and what is counted only when it is asked for. */
export interface SessionConnection extends SessionPage {
  readonly totals: () => Promise<ListTotals>;
  /** Archived conversations are entries of it. */
  readonly hasArchived: boolean;
}

export async function sessions(_: unknown, args: SessionsArguments, ctx: Context): Promise<SessionConnection> {
  const page = pageRequest(args);
  const query: ListQuery = {
    filter: checked(args.filter ?? {}),
    order: args.orderBy ?? 'RECENT_ACTIVITY',
    collapse: args.collapse ?? 'LINEAGE',
  };
  const stores = args.allProfiles ? await readable(ctx, query) : [await ctx.store(args.profile)];
  const totals = async () => sum(await Promise.all(stores.map((store) => store.totals(query))));
  const hasArchived = query.filter.archived === true || query.filter.includeArchived === true;
  const [only] = stores;
  if (stores.length === 1 && only !== undefined && !args.allProfiles) return { ...(await only.list(query, page)), totals, hasArchived };
  return { ...(await mergedPage(stores, query, page)), totals, hasArchived };
}

export async function session(
  _: unknown,
  args: { sessionId: string; profile?: string | null | undefined },
  ctx: Context,
): Promise<StoredSession | null> {
  const store = await ctx.store(args.profile);
  return unlessGone(await ctx.loaders(store.profile).session.load(args.sessionId));
}

export async function resolveSession(
  _: unknown,
  args: { reference: string; profile?: string | null | undefined; followTip?: boolean | null | undefined },
  ctx: Context,
): Promise<StoredSession | null> {
  const store = await ctx.store(args.profile);
  const found = await store.resolve(args.reference);
  if (found.kind === 'NONE') return null;
  if (found.kind === 'AMBIGUOUS') {
    throw new InvalidInput('Several sessions start like this. Give more of the id.', { candidates: found.candidates }, 'AMBIGUOUS_ID');
  }
  if (args.followTip === false || unlessGone(found.session) === null) return unlessGone(found.session);
  return (await ctx.loaders(store.profile).conversation.load(found.session.id))?.tip ?? found.session;
}

export async function totalCount(connection: SessionConnection): Promise<number> {
  return (await connection.totals()).visible;
}

export async function hiddenCounts(connection: SessionConnection): Promise<HiddenCount[]> {
  return [...(await connection.totals()).hidden].map(([reason, count]) => ({ reason, count }));
}

export async function surfaceCounts(connection: SessionConnection): Promise<SurfaceCounts> {
  return (await connection.totals()).surfaces;
}

const LONGEST_TEXT = 500;

function checked(filter: SessionFilter): SessionFilter {
  for (const name of ['titleContains', 'titleOrIdContains'] as const) {
    if ((filter[name]?.length ?? 0) > LONGEST_TEXT) throw new InvalidInput(`${name} may have at most ${LONGEST_TEXT} characters.`);
  }
  return filter;
}

function sum(parts: readonly ListTotals[]): ListTotals {
  const hidden = new Map<HiddenReason, number>();
  for (const part of parts) for (const [reason, count] of part.hidden) hidden.set(reason, (hidden.get(reason) ?? 0) + count);
  const total = (countOf: (part: ListTotals) => number) => parts.reduce((all, part) => all + countOf(part), 0);
  const surfaces = {
    webUi: total((part) => part.surfaces.webUi),
    terminal: total((part) => part.surfaces.terminal),
    archivedWebUi: total((part) => part.surfaces.archivedWebUi),
    archivedTerminal: total((part) => part.surfaces.archivedTerminal),
  };
  return { visible: total((part) => part.visible), hidden, surfaces };
}

/** The stores that have such a list; one that has none fails only its own part. When none can, the first problem is the answer. */
async function readable(ctx: Context, query: ListQuery): Promise<SessionStore[]> {
  const stores = await ctx.services.profiles.stores();
  const states = await Promise.all(
    stores.map((store) =>
      store.listGeneration(query).then(
        () => null,
        (error: unknown) => error,
      ),
    ),
  );
  const good = stores.filter((_, index) => states[index] === null);
  if (good.length > 0) return good;
  throw states[0] instanceof Error ? states[0] : new CaduceusError('NOT_FOUND', 'There is no store on this machine.');
}

/**
 * Several stores as one list: a page of each, put together by their keys; equal keys by profile. A cursor of the whole list holds the key
 * and the profile of its item, from which the place in every store's own list follows.
 */
async function mergedPage(stores: readonly SessionStore[], query: ListQuery, page: PageRequest): Promise<SessionPage> {
  const list = `all:${listName(query)}`;
  const parts = await Promise.all(stores.map(async (store) => ({ store, generation: await store.listGeneration(query) })));
  const lists = await Promise.all(
    parts.map(async ({ store, generation }) => {
      const own = (cursor: string | null, includes: (profile: string) => boolean) => {
        if (cursor === null) return { cursor: null, inclusive: false };
        const [profile, ...key] = decodeCursor(cursor, list, '');
        return { cursor: encodeCursor(listName(query), generation, key), inclusive: includes(String(profile)) };
      };
      const after = own(page.after, (profile) => store.profile > profile);
      const before = own(page.before, (profile) => store.profile < profile);
      // One flag serves both bounds: a page between two cursors is asked for from one end only.
      const inclusive = page.direction === 'FORWARD' ? after.inclusive : before.inclusive;
      const part = await store.list(query, { ...page, after: after.cursor, before: before.cursor, inclusive });
      const items = part.items.map(({ cursor, node }) => ({ node, key: decodeCursor(cursor, listName(query), generation) }));
      return { part, items: items.map((item) => ({ ...item, profile: store.profile, order: orderKeyOf(item.key) })) };
    }),
  );
  const compare = COMPARE[query.order];
  const all = lists.flatMap(({ items }) => items).sort((a, b) => compare(a.order, b.order) || (a.profile < b.profile ? -1 : 1));
  const forward = page.direction === 'FORWARD';
  const taken = forward ? all.slice(0, page.size) : all.slice(-page.size);
  const more = all.length > taken.length || lists.some(({ part }) => (forward ? part.hasNextPage : part.hasPreviousPage));
  return {
    items: taken.map(({ node, key, profile }) => ({ cursor: encodeCursor(list, '', [profile, ...key]), node })),
    hasNextPage: forward ? more : page.before !== null,
    hasPreviousPage: forward ? page.after !== null : more,
    isDegraded: lists.some(({ part }) => part.isDegraded),
  };
}
