/**
 * What is measured: each read as a client of ours would ask, and the same question to the plain server.
 */
import type { Client, Target } from './load.ts';
import { LONG_SESSION } from './session-plan.ts';
import { COMMON_WORD, RARE_WORD, VERY_COMMON_WORD } from './text-pool.ts';

export interface Read {
  /** Unique; also the operation's name, by which the server's log lines are told apart. */
  readonly id: string;
  readonly title: string;
  readonly ours: Target;
  readonly plain: Target;
  /** Requests in one burst, as a share of the usual number: slow reads get fewer. */
  readonly share: number;
  /** What the project aims at: times the plain server's CPU. */
  readonly aim?: number;
}

export interface ReadOptions {
  /** Which page the deep page is; the list must be that long. */
  readonly deepPage: number;
}

const LIST_FIELDS = 'id sessionId title provider model startedAt lastActiveAt messageCount archived pinned endReason';
const MESSAGE_FIELDS = 'rowId role text timestamp toolCallId toolName finishReason tokenCount state displayKind';
const HIT_FIELDS = 'route nodes { snippet message { rowId role } session { sessionId title } }';
const PAGE = 50;
const HITS = 20;

/** The list by itself, which is also measured on the small store. */
export const LIST: Read = {
  id: 'List',
  title: '`sessions(first: 50)`, eleven fields',
  ours: operation('List', `{ sessions(first: ${PAGE}) { nodes { ${LIST_FIELDS} } } }`),
  plain: { path: 'sessions' },
  share: 1,
  aim: 2.5,
};

export const NEWEST_MESSAGES: Read = {
  id: 'NewestMessages',
  title: `50 newest live messages of a session with ${LONG_SESSION.rows}`,
  ours: messages('NewestMessages', LONG_SESSION.id, 'view: LIVE, scope: SEGMENT'),
  plain: { path: `messages?session=${LONG_SESSION.id}` },
  share: 1,
  aim: 2,
};

/** A search that costs as much as a search can. */
export const HEAVIEST_SEARCH: Read = search(
  'SearchEverywhere',
  `search: \`${VERY_COMMON_WORD}\`, in most messages`,
  VERY_COMMON_WORD,
  0.02,
);

/** All reads of the large store. Asks the server itself for the cursor of the deep page and for its longest conversation. */
export async function readsOf(client: Client, { deepPage }: ReadOptions): Promise<Read[]> {
  const cursor = await cursorBefore(client, deepPage);
  const longest = await longestConversation(client);
  return [
    LIST,
    {
      id: 'ListSameValues',
      title: 'the same, beside a plain server that makes the same values',
      ours: operation('ListSameValues', `{ sessions(first: ${PAGE}) { nodes { ${LIST_FIELDS} } } }`),
      plain: { path: 'sessions-same-values' },
      share: 1,
    },
    {
      id: 'ListWithPreview',
      title: 'the list with `preview`',
      ours: operation('ListWithPreview', `{ sessions(first: ${PAGE}) { nodes { ${LIST_FIELDS} preview } } }`),
      plain: { path: 'sessions-with-preview' },
      share: 1,
    },
    {
      id: 'DeepPage',
      title: `page ${deepPage} of the list, by cursor`,
      ours: operation('DeepPage', `($after: String) { sessions(first: ${PAGE}, after: $after) { nodes { ${LIST_FIELDS} } } }`, {
        after: cursor,
      }),
      plain: { path: `sessions?after=${(deepPage - 1) * PAGE}` },
      share: 1,
    },
    {
      id: 'TotalCount',
      title: '`totalCount` of the list',
      ours: operation('TotalCount', '{ sessions(first: 1) { totalCount } }'),
      plain: { path: 'count' },
      share: 1,
    },
    NEWEST_MESSAGES,
    {
      id: 'NewestMessagesShown',
      title: 'the same as a person sees them (defaults)',
      ours: messages('NewestMessagesShown', LONG_SESSION.id, ''),
      plain: NEWEST_MESSAGES.plain,
      share: 0.5,
    },
    {
      id: 'NewestOfLongestChain',
      title: `the same of the longest chain (${longest.segments} segments, ${longest.messages} messages)`,
      ours: messages('NewestOfLongestChain', longest.tip, ''),
      plain: { path: `messages?session=${longest.tip}` },
      share: 0.1,
    },
    {
      id: 'SessionWithLineage',
      title: '`session` with its lineage',
      ours: operation(
        'SessionWithLineage',
        `($id: String!) { session(sessionId: $id) { ${LIST_FIELDS} lineage { root { sessionId } tip { sessionId }
           segments { sessionId title startedAt } nodes { sessionId model endReason } edges { parentSessionId childSessionId kind } } } }`,
        { id: longest.tip },
      ),
      plain: { path: `family?session=${longest.tip}` },
      share: 1,
    },
    search('SearchRare', `search: \`${RARE_WORD}\`, in a dozen messages`, RARE_WORD, 0.2),
    search('SearchCommon', `search: \`${COMMON_WORD}\`, in one message of twenty-five`, COMMON_WORD, 0.05),
    HEAVIEST_SEARCH,
    {
      id: 'SearchRows',
      title: `search in tool results (reads the rows): \`${RARE_WORD}\``,
      ours: operation(
        'SearchRows',
        `{ searchMessages(query: "${RARE_WORD}", first: ${HITS}, filter: { roles: [TOOL] }) { ${HIT_FIELDS} } }`,
      ),
      plain: { path: `search-like?q=${RARE_WORD}` },
      share: 0.02,
    },
    {
      id: 'UsageByModel',
      title: '`usage(groupBy: MODEL)`',
      ours: operation(
        'UsageByModel',
        '{ usage(groupBy: [MODEL]) { key sessions usage { inputTokens outputTokens cacheReadTokens estimatedCostUsd } } }',
      ),
      plain: { path: 'usage' },
      share: 0.1,
    },
  ];
}

/** Fails unless both servers give the same rows in the same order, as many as a page holds. */
export async function assertSameRows(ours: Client, plain: Client): Promise<void> {
  const cases = [
    { read: LIST, rows: 'sessions', key: 'sessionId' },
    { read: NEWEST_MESSAGES, rows: 'messages', key: 'rowId' },
  ];
  for (const { read, rows, key } of cases) {
    const mine = listIn(await answer(ours, read.ours), rows).map((row) => String(field(row, key)));
    const theirs = asList(parsed(await plain.send(read.plain))).map((row) => String(field(row, key)));
    if (mine.length !== PAGE || mine.join() !== theirs.join()) {
      throw new Error(`${read.title}: the servers differ in their rows.\nours:  ${mine.join()}\nplain: ${theirs.join()}`);
    }
  }
}

function operation(name: string, selection: string, variables: Readonly<Record<string, unknown>> = {}): Target {
  return { path: 'graphql', body: JSON.stringify({ query: `query ${name} ${selection}`, operationName: name, variables }) };
}

function messages(name: string, sessionId: string, options: string): Target {
  const selection = `($id: String!) { session(sessionId: $id) { messages(last: ${PAGE} ${options}) { nodes { ${MESSAGE_FIELDS} } } } }`;
  return operation(name, selection, { id: sessionId });
}

function search(id: string, title: string, word: string, share: number): Read {
  const ours = operation(id, `{ searchMessages(query: "${word}", first: ${HITS}) { ${HIT_FIELDS} } }`);
  return { id, title, ours, plain: { path: `search?q=${word}` }, share };
}

async function cursorBefore(client: Client, page: number): Promise<string> {
  let cursor: unknown = null;
  for (let at = 1; at < page; at++) {
    const selection = `($after: String) { sessions(first: ${PAGE}, after: $after) { pageInfo { endCursor } } }`;
    cursor = field(
      field(field(await answer(client, operation('Walk', selection, { after: cursor })), 'sessions'), 'pageInfo'),
      'endCursor',
    );
  }
  return String(cursor);
}

async function longestConversation(client: Client): Promise<{ tip: string; segments: number; messages: number }> {
  const selection = '($after: String) { sessions(first: 200, after: $after) { pageInfo { hasNextPage endCursor } ';
  const nodes = 'nodes { sessionId lineage { segments { messageCount } } } } }';
  let best: { tip: string; segments: number; messages: number } = { tip: LONG_SESSION.id, segments: 1, messages: LONG_SESSION.rows };
  for (let after: unknown = null; ; ) {
    const data = await answer(client, operation('Longest', selection + nodes, { after }));
    for (const node of listIn(data, 'sessions')) {
      const segments = asList(field(field(node, 'lineage'), 'segments'));
      const count = segments.reduce<number>((sum, segment) => sum + Number(field(segment, 'messageCount')), 0);
      if (segments.length > 1 && (best.segments === 1 || count > best.messages))
        best = { tip: String(field(node, 'sessionId')), segments: segments.length, messages: count };
    }
    const info = field(field(data, 'sessions'), 'pageInfo');
    if (field(info, 'hasNextPage') !== true) return best;
    after = field(info, 'endCursor');
  }
}

/** The data of an operation. Throws when there are errors. */
export async function answer(client: Client, target: Target): Promise<unknown> {
  const result = parsed(await client.send(target));
  const errors = field(result, 'errors');
  if (errors !== undefined) throw new Error(`${target.body ?? target.path} failed: ${JSON.stringify(errors)}`);
  return field(result, 'data');
}

/** The nodes of the connection, wherever in the data it is. */
function listIn(data: unknown, connection: string): readonly unknown[] {
  const owner = field(data, connection) === undefined ? field(data, 'session') : data;
  return asList(field(field(owner, connection), 'nodes'));
}

function parsed(text: string): unknown {
  return JSON.parse(text);
}

function asList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new Error(`A list was expected, not ${JSON.stringify(value)}.`);
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}
