/**
 * Lists and lineage of a store with more sessions than are kept in memory: plain SQL finds the conversations in their order, and a small
 * catalogue is made of the families of a batch alone. Slower than the catalogue, with the same answers; run as a job with a time limit.
 */
import { decodeCursor, encodeCursor } from '../cursor.ts';
import { InvalidInput } from '../errors.ts';
import type { Page, PageRequest } from '../paging.ts';
import { Catalogue, type PlacedSession } from './catalogue.ts';
import { CatalogueSync } from './catalogue-sync.ts';
import type { StoreShape } from './columns.ts';
import { idList } from './connection.ts';
import { inWindow, type SqlRow } from './decode.ts';
import { RESET_REASONS } from './lineage.ts';
import type { ListItem } from './list-item.ts';
import type { OrderKey, SessionOrder } from './list-order.ts';
import { cursorKey, type ListQuery, type ListTotals, listName, matcher, orderKeyOf, totalsCounter } from './listing.ts';
import { orderKey } from './ordered-items.ts';
import type { StoreReading } from './store-reading.ts';

/** Sessions of all families that one call may look at. */
const FAMILY_ROWS = 50_000;
/** Conversations that one statement offers; what SQL doesn't tell of a filter is applied to them. */
const BATCH = 500;

/** A catalogue of the sessions named and of everyone related to them by parent pointers, up and down. */
export function familyCatalogue(connection: StoreReading, ids: readonly string[]): Catalogue {
  const related = connection.all(
    `WITH RECURSIVE up(id) AS (
       SELECT value FROM json_each(?)
       UNION SELECT s.parent_session_id FROM up JOIN sessions s ON s.id = up.id WHERE s.parent_session_id IS NOT NULL LIMIT ${FAMILY_ROWS}),
     family(id) AS (SELECT id FROM up UNION SELECT c.id FROM family JOIN sessions c ON c.parent_session_id = family.id LIMIT ${FAMILY_ROWS})
     SELECT id FROM family`,
    [idList(ids)],
  );
  const catalogue = new Catalogue();
  new CatalogueSync(connection, catalogue).load(related.map((row) => String(row.id)));
  return catalogue;
}

/** The page that `listPage` would give. Throws `InvalidInput` for the order by title, which SQL can't tell without the tips. */
export function sqlListPage(connection: StoreReading, query: ListQuery, page: PageRequest, generation: string): Page<PlacedSession> {
  const list = listName(query);
  const matches = matcher(query.filter);
  const forward = page.direction === 'FORWARD';
  const bounds = {
    after: page.after && orderKeyOf(decodeCursor(page.after, list, generation)),
    before: page.before && orderKeyOf(decodeCursor(page.before, list, generation)),
  };
  const found: { cursor: string; node: PlacedSession }[] = [];
  for (const { item, graph } of walk(connection, query, bounds, forward, page.inclusive === true)) {
    if (matches(item) !== null) continue;
    const node = graph.placed(item.tip);
    found.push({ cursor: encodeCursor(list, generation, cursorKey(orderKey(item))), node });
    if (found.length > page.size) break;
  }
  const more = found.length > page.size;
  const items = found.slice(0, page.size);
  if (!forward) items.reverse();
  return { items, hasNextPage: forward ? more : page.before !== null, hasPreviousPage: forward ? page.after !== null : more };
}

/** What `listTotals` would give. */
export function sqlListTotals(connection: StoreReading, query: ListQuery): ListTotals {
  const counter = totalsCounter(query);
  for (const { item } of walk(connection, { ...query, order: 'STARTED' }, {}, true, false)) counter.add(item);
  return counter.totals;
}

interface Bounds {
  readonly after?: ReturnType<typeof orderKeyOf> | null | '';
  readonly before?: ReturnType<typeof orderKeyOf> | null | '';
}

/** The items in their order, or in the reverse of it, from one bound to the other. */
function* walk(
  connection: StoreReading,
  query: ListQuery,
  bounds: Bounds,
  forward: boolean,
  inclusive: boolean,
): Generator<{ item: ListItem; graph: Catalogue }> {
  let position = forward ? bounds.after : bounds.before;
  const end = forward ? bounds.before : bounds.after;
  const loops = query.collapse === 'LINEAGE' ? loopRoots(connection) : [];
  for (let first = true; ; first = false) {
    const roots = connection.all(rootsSql(connection.shape, query, forward, bound(position, inclusive && first), bound(end, inclusive)), [
      ...(query.collapse === 'LINEAGE' ? [idList(loops)] : []),
      ...(position ? keyValues(query.order, position) : []),
      ...(end ? keyValues(query.order, end) : []),
    ]);
    if (roots.length === 0) return;
    const graph = familyCatalogue(
      connection,
      roots.map((row) => String(row.id)),
    );
    for (const row of roots) {
      const id = String(row.id);
      position = keyOf(row);
      const item = query.collapse === 'NONE' ? graph.rowItem(id) : graph.itemOf(id);
      if (item !== undefined) yield { item, graph };
    }
    if (roots.length < BATCH) return;
  }
}

/** Where the next batch goes on, by what SQL sorted by. */
function keyOf(row: SqlRow): OrderKey {
  return { id: String(row.id), recency: inWindow(row.recency), startedAt: inWindow(row.started), pinned: row.pinned === 1, title: null };
}

/** Conversations whose segments form a loop have no first one: the catalogue of those few says which stands for each. */
function loopRoots(connection: StoreReading): string[] {
  const unreached = connection.all(
    `WITH RECURSIVE ${edgesSql(connection.shape)},
     reached(id) AS (SELECT parent FROM edge WHERE parent NOT IN (SELECT child FROM edge)
       UNION SELECT edge.child FROM reached JOIN edge ON edge.parent = reached.id)
     SELECT DISTINCT child AS id FROM edge WHERE child NOT IN (SELECT id FROM reached) LIMIT ${FAMILY_ROWS}`,
  );
  if (unreached.length === 0) return [];
  const ids = unreached.map((row) => String(row.id));
  const graph = familyCatalogue(connection, ids);
  return [...new Set(ids.flatMap((id) => graph.get(id) ?? []).map((entry) => graph.conversationIdOf(entry)))];
}

/** Key expressions of each order, all descending; times are never negative, so -1 stands for an unknown one and comes last. */
const KEYS: Record<Exclude<SessionOrder, 'TITLE'>, readonly string[]> = {
  RECENT_ACTIVITY: ['recency', 'started', 'id'],
  STARTED: ['started', 'id'],
  PINNED_THEN_RECENT: ['pinned', 'recency', 'started', 'id'],
};

function keyValues(order: SessionOrder, key: ReturnType<typeof orderKeyOf>): (string | number)[] {
  const values = { id: key.id, recency: key.recency ?? -1, started: key.startedAt ?? -1, pinned: Number(key.pinned) };
  return keysOf(order).map((name) => values[name as keyof typeof values]);
}

function keysOf(order: SessionOrder): readonly string[] {
  if (order === 'TITLE') {
    throw new InvalidInput(
      'This store has too many sessions to be ordered by title. Choose another order, or raise --largest-catalogue.',
      {},
      'ORDER_UNAVAILABLE',
    );
  }
  return KEYS[order];
}

/** Whether a walk is bounded there, and whether the item at the bound belongs to it. */
type Bound = 'NONE' | 'OPEN' | 'CLOSED';

function bound(position: Bounds['after'], inclusive: boolean): Bound {
  if (!position) return 'NONE';
  return inclusive ? 'CLOSED' : 'OPEN';
}

function rootsSql(shape: StoreShape, query: ListQuery, forward: boolean, start: Bound, end: Bound): string {
  const keys = keysOf(query.order);
  const tuple = `(${keys.join(', ')})`;
  const places = `(${keys.map(() => '?').join(', ')})`;
  const beyond = (where: Bound, operator: '<' | '>') =>
    where === 'NONE' ? '1' : `${tuple} ${operator}${where === 'CLOSED' ? '=' : ''} ${places}`;
  const conditions = [beyond(start, forward ? '<' : '>'), beyond(end, forward ? '>' : '<')];
  return `WITH RECURSIVE ${edgesSql(shape)},
    ${query.collapse === 'LINEAGE' ? MEMBERS_BY_CHAIN : MEMBERS_BY_ROW},
    keyed AS (
      SELECT r.id AS id, ifnull((SELECT MAX(${recencySql(shape)}) FROM member JOIN sessions s ON s.id = member.id WHERE member.root = r.id), -1) AS recency,
        ${windowSql('r.started_at')} AS started, ${flagSql(shape.columnOr('sessions', 'pinned', 'r', '0'))} AS pinned
      FROM (SELECT DISTINCT root FROM member) JOIN sessions r ON r.id = root)
    SELECT id, recency, started, pinned FROM keyed WHERE ${conditions.join(' AND ')} ORDER BY ${keys.map((key) => `${key} ${forward ? 'DESC' : 'ASC'}`).join(', ')} LIMIT ${BATCH}`;
}

/** Chain edges by presence of markers, as `lineage.ts` has them (6.2). */
function edgesSql(shape: StoreShape): string {
  const marker = (name: string) => `(CASE WHEN json_valid(c.model_config) THEN json_extract(c.model_config, '$.${name}') END)`;
  const reasons = [...RESET_REASONS].map((reason) => `'${reason}'`).join(', ');
  const key = shape.columnOr('sessions', 'session_key', 'c', 'NULL');
  const parentKey = shape.columnOr('sessions', 'session_key', 'p', 'NULL');
  return `edge(parent, child) AS MATERIALIZED (
    SELECT p.id, c.id FROM sessions c JOIN sessions p ON p.id = c.parent_session_id
    WHERE p.end_reason = 'compression' AND c.source <> 'tool' AND ${marker('_branched_from')} IS NULL AND ${marker('_delegate_from')} IS NULL
      AND ${marker('_reset_from')} IS NULL AND NOT (p.end_reason IN (${reasons}) AND ${key} <> '' AND ${key} = ${parentKey}))`;
}

const MEMBERS_BY_CHAIN = `member(root, id) AS (
  SELECT s.id, s.id FROM sessions s WHERE NOT EXISTS (SELECT 1 FROM edge WHERE edge.child = s.id) OR s.id IN (SELECT value FROM json_each(?))
  UNION SELECT member.root, edge.child FROM member JOIN edge ON edge.parent = member.id)`;
const MEMBERS_BY_ROW = 'member(root, id) AS (SELECT s.id, s.id FROM sessions s)';

function recencySql(shape: StoreShape): string {
  const newest =
    '(SELECT MAX(CASE WHEN m.timestamp BETWEEN 0.0 AND 4200000000.0 THEN m.timestamp END) FROM messages m WHERE m.session_id = s.id)';
  const heartbeat = shape.hasColumn('sessions', 'last_activity_at') ? windowSql('s.last_activity_at') : '-1';
  return `CASE WHEN max(${heartbeat}, ifnull(${newest}, -1)) >= 0 THEN max(${heartbeat}, ifnull(${newest}, -1)) ELSE ${windowSql('s.started_at')} END`;
}

/** A time inside the window, else -1. */
function windowSql(column: string): string {
  return `(CASE WHEN ${column} BETWEEN 0.0 AND 4200000000.0 THEN ${column} ELSE -1 END)`;
}

/** A flag as it is decoded: any number but 0 is set. */
function flagSql(column: string): string {
  return `(typeof(${column}) IN ('integer', 'real') AND ${column} <> 0)`;
}
