/**
 * Messages: pages of conversations, rows by id, neighbours, results of tool calls, row versions (`spec/state-db.md` 8).
 * Every function answers any number of requests with a constant number of statements.
 */
import { decodeCursor, encodeCursor } from '../cursor.ts';
import { InvalidInput } from '../errors.ts';
import { LazyItem, type Page, type PageRequest } from '../paging.ts';
import { rowIdList, type StoreConnection } from './connection.ts';
import { type DisplayPlan, displayPlans, messageColumns } from './display-plan.ts';
import { decodeMessage, type MessageRecord } from './message-row.ts';
import type { StoreReading } from './store-reading.ts';
import { inViewSql, type MessageView } from './visibility.ts';
import { digestColumns, rowVersion } from './write/row-digest.ts';

export interface MessagePageRequest {
  /** The segments whose rows form the list, root first; usually one conversation. */
  readonly sessionIds: readonly string[];
  readonly view: MessageView;
  readonly page: PageRequest;
}

/** A message with what a display page knows about it. */
export interface PagedMessage extends MessageRecord {
  /** Rows that hold this logical message, the shown one included. */
  readonly copies: number;
}

const LOWEST = -(2n ** 63n);
const HIGHEST = 2n ** 63n - 1n;

interface Candidate {
  readonly position: bigint;
  readonly rowId: string;
  /** The row itself, where a page is cut from one session and shows its rows in their own places. */
  readonly record: MessageRecord | null;
}

/** Pages in the order of the requests. */
export function messagePages(
  connection: StoreConnection,
  requests: readonly MessagePageRequest[],
  generation: string,
): Page<PagedMessage>[] {
  const plans = plansFor(connection, requests);
  const taken = requests.map((request, index) => bounds(request, plans[index], generation));
  const candidates = [...candidatesOf(connection, taken, 'FORWARD'), ...candidatesOf(connection, taken, 'BACKWARD')];
  const byRequest = new Map(candidates);
  const chosen = taken.map((request, index) => {
    const found = byRequest.get(index) ?? [];
    const forward = request.page.direction === 'FORWARD';
    found.sort((a, b) => (forward ? compare(a.position, b.position) : compare(b.position, a.position)));
    const rows = found.slice(0, request.page.size);
    return { rows: forward ? rows : rows.reverse(), more: found.length > request.page.size };
  });
  const shown = chosen.map(({ rows }, index) =>
    rows.map((row) => ({ ...row, shown: taken[index]?.plan?.shownAt.get(row.rowId) ?? row.rowId })),
  );
  const unread = shown.flat().filter((row) => row.record === null);
  const records = messagesByRowId(connection, new Set(unread.map((row) => row.shown)));
  return taken.map((request, index) => {
    const { page, list } = request;
    const forward = page.direction === 'FORWARD';
    const more = chosen[index]?.more ?? false;
    return {
      items: (shown[index] ?? []).flatMap((row) => {
        const record = row.record ?? records.get(row.shown);
        if (record === undefined) return [];
        const node = { ...record, copies: request.plan?.copies.get(row.shown) ?? 1 };
        return [new LazyItem(node, () => encodeCursor(list, generation, [String(row.position)]))];
      }),
      hasNextPage: forward ? more : page.before !== null,
      hasPreviousPage: forward ? page.after !== null : more,
    };
  });
}

/** How many messages all pages of each request together hold. */
export function messageCounts(connection: StoreConnection, requests: readonly Pick<MessagePageRequest, 'sessionIds' | 'view'>[]): number[] {
  const counts = requests.map(() => 0);
  for (const view of ['LIVE', 'DISPLAY', 'AUDIT'] as const) {
    const indexes = requests.flatMap((request, index) => (request.view === view ? [index] : []));
    if (indexes.length === 0) continue;
    const pairs = indexes.flatMap((index) => (requests[index]?.sessionIds ?? []).map((id) => ({ r: index, s: id })));
    const rows = connection.all(
      `SELECT r.value ->> 'r' AS request, COUNT(*) AS n FROM json_each(?) r CROSS JOIN messages m ON m.session_id = r.value ->> 's'
       WHERE ${inViewSql(connection.shape, view, 'm')} GROUP BY 1`,
      [JSON.stringify(pairs)],
    );
    for (const row of rows) counts[Number(row.request)] = Number(row.n);
  }
  plansFor(connection, requests).forEach((plan, index) => {
    if (plan !== null) counts[index] = (counts[index] ?? 0) - plan.suppressed.size;
  });
  return counts;
}

/** Rows by id; ids without a row are missing in the answer. */
export function messagesByRowId(connection: StoreReading, rowIds: ReadonlySet<string>): Map<string, MessageRecord> {
  if (rowIds.size === 0) return new Map();
  const rows = connection.all(`SELECT ${messageColumns(connection, 'm')} FROM messages m WHERE m.id IN (SELECT value FROM json_each(?))`, [
    rowIdList(rowIds),
  ]);
  return new Map(rows.map((row) => [String(row.id), decodeMessage(row)]));
}

export interface Anchor {
  readonly sessionId: string;
  readonly rowId: string;
  /** Rows on each side. */
  readonly window: number;
}

/**
 * Up to `window` rows before and after each anchor within its session, the anchor included, whatever their state. ROW: by id (8.1).
 * CLOCK: by timestamp, then id, as search shows what surrounds a hit (10.4). Empty where the anchor is no row of the session.
 */
export function messagesAround(connection: StoreConnection, anchors: readonly Anchor[], order: 'ROW' | 'CLOCK'): MessageRecord[][] {
  const list = anchors.map(({ sessionId, rowId }, index) => `{"n":${index},"s":${JSON.stringify(sessionId)},"a":${rowId}}`).join(',');
  const longest = Math.max(0, ...anchors.map((anchor) => anchor.window));
  const own = (alias: string) => (order === 'ROW' ? `${alias}.id` : `(${alias}.timestamp, ${alias}.id)`);
  const key = order === 'ROW' ? "r.value ->> 'a'" : "((SELECT o.timestamp FROM messages o WHERE o.id = r.value ->> 'a'), r.value ->> 'a')";
  const sorted = (alias: string, direction: 'ASC' | 'DESC') =>
    `${order === 'ROW' ? '' : `${alias}.timestamp ${direction}, `}${alias}.id ${direction}`;
  const rows = connection.all(
    `SELECT r.value ->> 'n' AS n, ${messageColumns(connection, 'm')} FROM json_each(:anchors) r CROSS JOIN messages m ON m.id IN (
       SELECT id FROM (SELECT b.id AS id FROM messages b WHERE b.session_id = r.value ->> 's' AND ${own('b')} <= ${key} ORDER BY ${sorted('b', 'DESC')} LIMIT :longest + 1)
       UNION ALL
       SELECT id FROM (SELECT f.id AS id FROM messages f WHERE f.session_id = r.value ->> 's' AND ${own('f')} > ${key} ORDER BY ${sorted('f', 'ASC')} LIMIT :longest))
     ORDER BY ${sorted('m', 'ASC')}`,
    { anchors: `[${list}]`, longest },
  );
  const windows: MessageRecord[][] = anchors.map(() => []);
  for (const row of rows) windows[Number(row.n)]?.push(decodeMessage(row));
  return windows.map((rowsAround, index) => {
    const { rowId, window } = anchors[index] ?? { rowId: '', window: 0 };
    const at = rowsAround.findIndex((message) => message.rowId === rowId);
    return at === -1 ? [] : rowsAround.slice(Math.max(0, at - window), at + window + 1);
  });
}

export interface ToolCallKey {
  readonly sessionId: string;
  /** The row of the assistant message that made the call. */
  readonly rowId: string;
  readonly toolCallId: string;
  /** Whether that row is live: a copy of the call is answered by the copy of the result. */
  readonly live: boolean;
}

/** Rows after a call in which its result is looked for; results follow their calls within the same turn. */
const RESULT_DISTANCE = 2000;

/** The row that answers each call, or null. */
export function toolResults(connection: StoreConnection, keys: readonly ToolCallKey[]): (MessageRecord | null)[] {
  const first = new Map<string, bigint>();
  for (const { sessionId, rowId } of keys) {
    const known = first.get(sessionId);
    if (known === undefined || BigInt(rowId) < known) first.set(sessionId, BigInt(rowId));
  }
  const sessions = `[${[...first].map(([id, rowId]) => `{"s":${JSON.stringify(id)},"a":${rowId}}`).join(',')}]`;
  const rows = connection.all(
    `SELECT ${messageColumns(connection, 'm')} FROM json_each(?) r CROSS JOIN messages m ON m.id IN (
       SELECT x.id FROM messages x WHERE x.session_id = r.value ->> 's' AND x.id > r.value ->> 'a' ORDER BY x.id LIMIT ${RESULT_DISTANCE})
     WHERE m.role = 'tool' AND m.tool_call_id IN (SELECT value FROM json_each(?)) ORDER BY m.id`,
    [sessions, JSON.stringify([...new Set(keys.map((key) => key.toolCallId))])],
  );
  const answers = new Map<string, MessageRecord[]>();
  for (const row of rows) {
    const record = decodeMessage(row);
    const key = `${record.toolCallId}\u0000${record.sessionId}`;
    const known = answers.get(key);
    if (known === undefined) answers.set(key, [record]);
    else known.push(record);
  }
  return keys.map((key) => {
    const after = (answers.get(`${key.toolCallId}\u0000${key.sessionId}`) ?? []).filter((row) => BigInt(row.rowId) > BigInt(key.rowId));
    return after.find((row) => row.active === key.live) ?? after[0] ?? null;
  });
}

/** The version of each live row (`spec/state-db-writes.md` D5); other rows can't be rewritten and are missing. */
export function rowVersions(connection: StoreConnection, rowIds: ReadonlySet<string>): Map<string, string> {
  const { shape } = connection;
  const columns = shape.selectList('messages', digestColumns(shape), 'm');
  const rows = connection.exact(
    `SELECT m.id, ${columns} FROM messages m WHERE m.id IN (SELECT value FROM json_each(?)) AND ${inViewSql(shape, 'LIVE', 'm')}`,
    [rowIdList(rowIds)],
  );
  return new Map(rows.map((row) => [String(row.id), rowVersion(row, shape)]));
}

/** A row id as digits within 64 bits; throws `InvalidInput` for anything else (`spec/state-db.md` 14). */
export function parseRowId(text: string): string {
  if (/^\d{1,19}$/.test(text) && BigInt(text) <= HIGHEST) return String(BigInt(text));
  throw new InvalidInput('A row id is a whole number between 0 and 9223372036854775807, written in digits.', {}, 'BAD_ROW_ID');
}

interface BoundedRequest extends MessagePageRequest {
  readonly list: string;
  readonly plan: DisplayPlan | null;
  readonly after: bigint;
  readonly before: bigint;
}

function plansFor(
  connection: StoreConnection,
  requests: readonly Pick<MessagePageRequest, 'sessionIds' | 'view'>[],
): (DisplayPlan | null)[] {
  const indexes = requests.flatMap((request, index) => (request.view === 'DISPLAY' ? [index] : []));
  const plans: (DisplayPlan | null)[] = requests.map(() => null);
  if (indexes.length === 0) return plans;
  const made = displayPlans(
    connection,
    indexes.map((index) => requests[index]?.sessionIds ?? []),
  );
  indexes.forEach((request, index) => {
    plans[request] = made[index] ?? null;
  });
  return plans;
}

function bounds(request: MessagePageRequest, plan: DisplayPlan | null | undefined, generation: string): BoundedRequest {
  // Named by its first segment, which stays when the session id rotates.
  const list = `messages:${request.view}:${request.sessionIds[0] ?? ''}`;
  const position = (cursor: string) => {
    const [key] = decodeCursor(cursor, list, generation);
    if (typeof key !== 'string' || !/^-?\d{1,19}$/.test(key))
      throw new InvalidInput('The cursor is damaged. Start again without it.', {}, 'BAD_CURSOR');
    return BigInt(key);
  };
  const { after, before } = request.page;
  return {
    ...request,
    list,
    plan: plan ?? null,
    after: after === null ? LOWEST : position(after),
    before: before === null ? HIGHEST : position(before),
  };
}

/**
 * Rows that can be on a page: of every segment as many as the page is long, and one more. Ids alone where several segments are put together
 * or copies stand in other places, since most of them are not shown; else the rows themselves.
 */
function candidatesOf(
  connection: StoreConnection,
  requests: readonly BoundedRequest[],
  direction: PageRequest['direction'],
): Map<number, Candidate[]> {
  const found = new Map<number, Candidate[]>();
  // SQLite takes no limit from an outer row: all requests get the longest, and each keeps what it asked for.
  const longest = Math.max(0, ...requests.map((request) => request.page.size));
  for (const view of ['LIVE', 'DISPLAY', 'AUDIT'] as const) {
    for (const order of ['ROW', 'SLOT'] as const) {
      const group = requests.flatMap((request, index) =>
        request.page.direction === direction && request.view === view && (request.plan?.order ?? 'ROW') === order
          ? [{ request, index }]
          : [],
      );
      if (group.length === 0) continue;
      const whole = group.every(({ request }) => request.sessionIds.length === 1 && (request.plan?.shownAt.size ?? 0) === 0);
      const suppressed = group.some(({ request }) => (request.plan?.suppressed.size ?? 0) > 0);
      const parts = group.flatMap(({ request, index }) => request.sessionIds.map((id) => segmentOf(request, index, id)));
      const sql = candidateSql(connection, { view, order, direction, suppressed, whole });
      for (const row of connection.all(sql, [`[${parts.join(',')}]`, longest + 1])) {
        const index = Number(row.request);
        const candidate = { position: BigInt(String(row.position)), rowId: String(row.id), record: whole ? decodeMessage(row) : null };
        const known = found.get(index);
        if (known === undefined) found.set(index, [candidate]);
        else known.push(candidate);
      }
    }
  }
  return found;
}

/** One segment of a request as JSON: its bounds, and the rows that are left out. */
function segmentOf({ after, before, plan }: BoundedRequest, index: number, id: string): string {
  return `{"r":${index},"s":${JSON.stringify(id)},"a":${after},"b":${before},"x":[${[...(plan?.suppressed ?? [])].join(',')}]}`;
}

interface CandidateQuery {
  readonly view: MessageView;
  readonly order: DisplayPlan['order'];
  readonly direction: PageRequest['direction'];
  /** Some request leaves rows out. */
  readonly suppressed: boolean;
  /** The rows themselves, not their ids alone. */
  readonly whole: boolean;
}

function candidateSql(connection: StoreConnection, { view, order, direction, suppressed, whole }: CandidateQuery): string {
  const position = order === 'SLOT' ? 'display_order' : 'id';
  return `SELECT r.value ->> 'r' AS request, CAST(m.${position} AS TEXT) AS position, ${whole ? messageColumns(connection, 'm') : 'CAST(m.id AS TEXT) AS id'}
    FROM json_each(?) r CROSS JOIN messages m ON m.id IN (
      SELECT x.id FROM messages x WHERE x.session_id = r.value ->> 's' AND x.${position} > r.value ->> 'a' AND x.${position} < r.value ->> 'b'
      AND ${inViewSql(connection.shape, view, 'x')} ${suppressed ? "AND x.id NOT IN (SELECT value FROM json_each(r.value -> 'x'))" : ''}
      ORDER BY x.${position} ${direction === 'FORWARD' ? 'ASC' : 'DESC'} LIMIT ?)`;
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
