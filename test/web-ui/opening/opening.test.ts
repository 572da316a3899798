/** Sessions whose messages are in files, opened over the API. */
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { startInProcess, type TestServer } from '../../support/server.ts';
import { type Fields, saveSidecar, sidecarPath, sidecarText } from '../../support/sidecars.ts';
import { buildStore, M, type Row, S } from '../../support/stores.ts';
import { startWriter } from '../../support/writer.ts';

const AT = 1_782_000_000;
const u = (content: unknown, at: number, more: Fields = {}) => ({ role: 'user', content, timestamp: AT + at, ...more });
const a = (content: unknown, at: number, more: Fields = {}) => ({ role: 'assistant', content, timestamp: AT + at, ...more });
const rowU = (id: string, content: string, at: number) => M(id, { role: 'user', content, timestamp: AT + at });
const rowA = (id: string, content: string, at: number) => M(id, { role: 'assistant', content, timestamp: AT + at });
const store = (id: string, more: Fields = {}): Row => S(id, { source: 'webui', started_at: AT, ...(more as object) });

const CALL = { id: 'c1', type: 'function', function: { name: 'terminal', arguments: '{"command":"ls"}' } };
const PIXEL = 'data:image/png;base64,iVBORw0KGgo=';
const CLAUDE = join('claude', 'projects');

const ROWS: readonly Row[] = [
  store('both'),
  rowU('both', 'brew the tea', 1),
  rowA('both', 'it is brewing', 2),
  rowU('both', 'and the cups', 3),
  rowA('both', 'they are warm', 4),
  M('both', { role: 'assistant', content: 'taken back', timestamp: AT + 5, active: 0 }),
  store('late'),
  rowU('late', 'alpha bravo', 10),
  rowA('late', 'never seen before', 15),
  rowA('late', 'charlie delta', 20),
  store('compacted'),
  rowU('compacted', 'before it all', 1),
  store('damaged'),
  rowU('damaged', 'what the store has', 1),
  store('large'),
  rowU('large', 'a row of the large one', 1),
  store('plain'),
  rowU('plain', 'only in the store', 1),
  rowA('plain', 'so it is', 2),
  store('root', { ended_at: AT + 9, end_reason: 'compression', message_count: 2 }),
  rowU('root', 'first of the chain', 1),
  rowA('root', 'first answer', 2),
  store('root-next', { parent_session_id: 'root', started_at: AT + 9, message_count: 1 }),
  rowU('root-next', 'second of the chain', 10),
];

let server: TestServer;
let sessionsDir: string;

function put(id: string, messages: readonly unknown[], fields: Fields = {}, behind: Fields = {}): void {
  saveSidecar(sessionsDir, id, sidecarText(id, { title: id, created_at: AT, ...fields }, messages, behind));
}

beforeAll(async () => {
  const home = dirname(buildStore({ rows: [...ROWS] }));
  sessionsDir = join(home, 'webui', 'sessions');
  mkdirSync(sessionsDir, { recursive: true });
  put('both', [u('brew the tea', 1), a('it is brewing', 2)]);
  put('late', [u('alpha bravo', 10), a('charlie delta', 20)]);
  put('file', [
    u(
      [
        { type: 'text', text: 'look' },
        { type: 'image_url', image_url: { url: PIXEL } },
      ],
      1,
      { _active_turn_token: 'secret-token' },
    ),
    a('', 2, { reasoning: 'I should look', tool_calls: [{ ...CALL, _row_id: 77 }], api_content: 'secret payload' }),
    { role: 'tool', content: 'tea.txt', tool_call_id: 'c1', name: 'terminal', timestamp: AT + 3, _state_db_row_id: 4711 },
    a('there is tea', 4, { finish_reason: 'stop', platform_message_id: 'p-1' }),
    'no message at all',
    u('look again', 'never' as unknown as number),
  ]);
  put('twice', [u('go', 1), a('gone', 2), u('go', 3), a('gone', 4)]);
  put('compacted', [u('before it all', 1), a('yes', 2)], {}, { context_messages: [u('[CONTEXT COMPACTION] what was', 3)] });
  put('snapshot', [u('one', 1), a('two', 2)], { pre_compression_snapshot: true });
  put('tip', [u('one', 1), a('two', 2), u('three', 3)], { parent_session_id: 'snapshot' });
  put('root-next', [u('second of the chain', 10), a('second answer', 11)]);
  writeFileSync(sidecarPath(sessionsDir, 'damaged'), '{"session_id": "damaged", "mess');
  writeFileSync(sidecarPath(sessionsDir, 'damaged-alone'), '{"session_id": "damaged-alone", "mess');
  put('large', [u('hidden', 1)]);
  truncateSync(sidecarPath(sessionsDir, 'large'), 65 * 1024 * 1024);
  put(
    'long',
    Array.from({ length: 30 }, (_, index) => u(`message ${index}`, index)),
  );
  for (let index = 0; index < 20; index += 1) put(`list-${index}`, [u(`hello ${index}`, index), a(`answer ${index}`, index + 1)]);
  const project = join(home, CLAUDE, 'garden');
  mkdirSync(project, { recursive: true });
  const lines = [
    { type: 'user', message: { role: 'user', content: 'plant the beans' }, timestamp: '2026-08-01T10:00:00Z' },
    { type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text: 'planted' }] }, timestamp: '2026-08-01T10:00:05Z' },
  ];
  writeFileSync(join(project, 'one.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n'));
  server = await startInProcess({ home, settings: { claudeProjectsDir: join(home, CLAUDE), maxTranscriptMessages: '25' } });
});

const FIELDS = `id rowId rowVersion copies role text state timestamp reasoning finishReason platformMessageId toolCallId toolName session { sessionId }
  parts { type ... on TextPart { text } ... on ImagePart { mediaType bytes url } } warnings { code }
  toolCalls { toolCallId name rawArguments result { id text } }`;

interface Shown {
  readonly id: string;
  readonly rowId: string | null;
  readonly rowVersion: string | null;
  readonly copies: number;
  readonly text: string;
  readonly state: string;
  readonly session: { readonly sessionId: string };
  readonly toolCalls: readonly { readonly result: { readonly text: string } | null }[];
  readonly warnings: readonly { readonly code: string }[];
}

type PageOf = {
  nodes: Shown[];
  edges: { cursor: string }[];
  totalCount: number;
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
};

async function messages(id: string, args = 'first: 200'): Promise<PageOf> {
  const { session } = await server.read<{ session: { messages: PageOf } | null }, unknown>(
    `{ session(sessionId: "${id}") { messages(${args}, merged: true) { totalCount edges { cursor } pageInfo { hasNextPage endCursor } nodes { ${FIELDS} } } } }`,
  );
  if (session === null) throw new Error(`no session ${id}`);
  return session.messages;
}

interface Transcript {
  readonly source: string;
  readonly revision: string;
  readonly repairCount: number;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
  readonly messages: readonly { readonly text: string; readonly rowId: string | null }[];
}

async function transcript(id: string, view = 'DISPLAY'): Promise<Transcript> {
  const { session } = await server.read<{ session: { transcript: Transcript } }, unknown>(
    `{ session(sessionId: "${id}") { transcript(view: ${view}) { source revision repairCount warnings { code message } messages { text rowId } } } }`,
  );
  return session.transcript;
}

const texts = (shown: readonly { readonly text: string }[]) => shown.map(({ text }) => text);

describe('a session that a file and the store have', () => {
  it('shows the file and what only the store has, each with the row that holds it', async () => {
    const { nodes, totalCount } = await messages('both');
    expect(texts(nodes)).toEqual(['brew the tea', 'it is brewing', 'and the cups', 'they are warm']);
    expect(totalCount).toBe(4);
    expect(nodes.map(({ rowId }) => rowId)).toEqual(['1', '2', '3', '4']);
    expect(nodes.every(({ rowVersion, state, copies }) => rowVersion !== null && state === 'LIVE' && copies === 1)).toBe(true);
    expect(await transcript('both')).toMatchObject({ source: 'MERGED', repairCount: 0, warnings: [] });
  });

  it('shows in the view AUDIT the rows of the store, rewound ones too', async () => {
    const { nodes, totalCount } = await messages('both', 'first: 200, view: AUDIT');
    expect(texts(nodes)).toEqual(['brew the tea', 'it is brewing', 'and the cups', 'they are warm', 'taken back']);
    expect(totalCount).toBe(5);
  });

  it('T46: leaves out a late answer that the file does not have, and says so', async () => {
    const { messages: shown, warnings } = await transcript('late');
    expect(texts(shown)).toEqual(['alpha bravo', 'charlie delta']);
    expect(warnings).toEqual([{ code: 'LATE_ROWS_DROPPED', message: expect.stringMatching(/^1 rows of the store/) }]);
  });

  it('T104: shows a compacted context alone where its end among the rows is not proven', async () => {
    expect(await transcript('compacted', 'REPLAY')).toMatchObject({
      source: 'CONTEXT_FAIL_CLOSED',
      messages: [{ text: '[CONTEXT COMPACTION] what was', rowId: null }],
      warnings: [{ code: 'CONTEXT_FAIL_CLOSED' }],
    });
    expect(texts((await messages('compacted', 'first: 9, view: LIVE')).nodes)).toEqual(['[CONTEXT COMPACTION] what was']);
    expect(texts((await messages('compacted')).nodes)).toEqual(['before it all', 'yes']);
  });

  it('has another revision when the file is saved and when a row is added or changed', async () => {
    put('moving', [u('one', 1)]);
    const writer = await startWriter(server.storePath);
    const seen = [(await opened('moving')).revision];
    put('moving', [u('one', 1), a('two', 2)]);
    seen.push((await transcript('moving')).revision);
    await writer.exec("INSERT INTO sessions (id, source, started_at, message_count) VALUES ('moving', 'webui', ?, 1)", [AT]);
    await writer.exec("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('moving', 'user', 'three', ?)", [AT + 3]);
    const added = await transcript('moving');
    expect(texts(added.messages)).toEqual(['one', 'two', 'three']);
    await writer.exec("UPDATE messages SET content = 'four' WHERE session_id = 'moving'", []);
    const changed = await transcript('moving');
    expect(texts(changed.messages)).toEqual(['one', 'two', 'four']);
    await writer.close();
    seen.push(added.revision, changed.revision);
    expect(new Set(seen).size).toBe(4);
    expect((await transcript('moving')).revision).toBe(changed.revision);
  });
});

/** Waits for a session that was just made: it is listed within moments. */
async function listed(id: string): Promise<void> {
  while ((await server.read<{ session: unknown }, unknown>(`{ session(sessionId: "${id}") { title } }`)).session === null) await sleep(5);
}

async function opened(id: string): Promise<Transcript> {
  await listed(id);
  return transcript(id);
}

describe('the revision of the rows alone', () => {
  it('is what a change of the store expects; that of the merged transcript is not', async () => {
    const { session } = await server.read<{ session: { transcript: { revision: string; storeRevision: string } } }, unknown>(
      '{ session(sessionId: "both") { transcript(view: REPLAY) { revision storeRevision } } }',
    );
    const { revision, storeRevision } = session.transcript;
    const rewound = (expectedRevision: string) =>
      server.read<{ rewindSession: object }, unknown>(
        `mutation { rewindSession(input: { sessionId: "both", dryRun: true, expectedRevision: "${expectedRevision}" }) { __typename } }`,
      );
    expect(await rewound(storeRevision)).toEqual({ rewindSession: { __typename: 'RewindSessionPayload' } });
    expect(await rewound(revision)).not.toEqual({ rewindSession: { __typename: 'RewindSessionPayload' } });
  });
});

describe('a session that only a file has', () => {
  it('shows what the file says of each message, and no row', async () => {
    const { nodes, totalCount } = await messages('file');
    expect(totalCount).toBe(6);
    expect(nodes.map(({ rowId, rowVersion, copies, state }) => [rowId, rowVersion, copies, state])).toEqual(
      nodes.map(() => [null, null, 0, 'LIVE']),
    );
    expect(nodes[0]).toMatchObject({
      text: 'look',
      parts: [
        { type: 'text', text: 'look' },
        { type: 'image_url', mediaType: 'image/png', bytes: 8, url: null },
      ],
    });
    expect(nodes[1]).toMatchObject({
      reasoning: 'I should look',
      toolCalls: [{ toolCallId: 'c1', name: 'terminal', rawArguments: '{"command":"ls"}', result: { id: nodes[2]?.id, text: 'tea.txt' } }],
    });
    expect(nodes[2]).toMatchObject({ toolCallId: 'c1', toolName: 'terminal', role: 'TOOL' });
    expect(nodes[3]).toMatchObject({ finishReason: 'stop', platformMessageId: 'p-1', timestamp: new Date((AT + 4) * 1000).toISOString() });
    expect(nodes[4]).toMatchObject({ text: 'no message at all', role: 'OTHER', warnings: [{ code: 'NOT_A_MESSAGE' }] });
    expect(nodes[5]).toMatchObject({ timestamp: null, warnings: [{ code: 'TIME_OUT_OF_RANGE' }] });
    expect(await transcript('file')).toMatchObject({ source: 'SIDECAR_ONLY' });
    expect(texts((await messages('file', 'first: 9, view: AUDIT')).nodes)).toEqual(texts(nodes));
  });

  it('tells nothing that is private', async () => {
    const { data } = await server.query(
      '{ session(sessionId: "file") { messages { nodes { text parts { ... on OtherPart { json } } toolCalls { rawArguments arguments } displayMetadata } } } }',
    );
    const answer = JSON.stringify(data);
    expect(answer).toContain('tea.txt');
    expect(answer).not.toMatch(/secret|4711|_row_id/);
  });

  it('names each message by an id of its own, by which it is found again', async () => {
    const { nodes } = await messages('twice');
    expect(new Set(nodes.map(({ id }) => id)).size).toBe(4);
    const ids = nodes.map(({ id }) => id);
    const { nodes: found } = await server.read<{ nodes: unknown[] }, unknown>(
      `query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Message { timestamp text session { sessionId } } } }`,
      { ids },
    );
    expect(found).toEqual(
      nodes.map(({ id, text }, index) => ({
        id,
        text,
        timestamp: new Date((AT + index + 1) * 1000).toISOString(),
        session: { sessionId: 'twice' },
      })),
    );
    const gone = Buffer.from('Message:default/f:AAAAAAAAAAAAAAAA.0:twice').toString('base64url');
    expect(await server.read(`{ node(id: "${gone}") { id } }`)).toEqual({ node: null });
  });

  it('that was written to break readers is shown as far as it can be', async () => {
    let nested: unknown = 'deep';
    for (let depth = 0; depth < 400; depth += 1) nested = [nested];
    const odd = [
      null,
      7,
      [],
      { role: { a: 1 }, content: { b: nested }, tool_calls: nested },
      { role: 'user', content: '\0json:{bad', timestamp: 1e300 },
    ];
    put('hostile', [...odd, u('still here', 1)]);
    const { messages: shown } = await opened('hostile');
    expect(shown.length).toBe(6);
    const { nodes } = await messages('hostile');
    expect(nodes.at(-1)?.text).toBe('still here');
    expect(nodes[3]?.text).toBe('[content nested too deeply to be shown]');
    expect((await transcript('hostile', 'REPLAY')).messages.at(-1)?.text).toContain('still here');
  });

  it('is listed without its messages being read: no preview, and its title or a neutral one', async () => {
    const { session } = await server.read<{ session: unknown }, unknown>(
      '{ session(sessionId: "twice") { preview displayTitle messageCount } }',
    );
    expect(session).toEqual({ preview: null, displayTitle: 'twice', messageCount: 4 });
  });
});

describe('a conversation', () => {
  it('has the segments before a file first, each from where it lives', async () => {
    const { nodes, totalCount } = await messages('root-next');
    expect(nodes.map(({ text, session }) => [text, session.sessionId])).toEqual([
      ['first of the chain', 'root'],
      ['first answer', 'root'],
      ['second of the chain', 'root-next'],
      ['second answer', 'root-next'],
    ]);
    expect(totalCount).toBe(4);
    expect(texts((await messages('root')).nodes)).toEqual(texts(nodes));
    expect(texts((await messages('root-next', 'first: 9, scope: SEGMENT')).nodes)).toEqual(['second of the chain', 'second answer']);
    expect(texts((await messages('root', 'first: 9, scope: SEGMENT')).nodes)).toEqual(['first of the chain', 'first answer']);
  });

  it('shows once what a file has again that goes on where another was compressed', async () => {
    const { nodes } = await messages('tip');
    expect(nodes.map(({ text, session }) => [text, session.sessionId])).toEqual([
      ['one', 'snapshot'],
      ['two', 'snapshot'],
      ['three', 'tip'],
    ]);
    expect(texts((await messages('tip', 'first: 9, scope: SEGMENT')).nodes)).toEqual(['one', 'two', 'three']);
  });

  it('of the store alone is answered as before', async () => {
    expect(await transcript('plain')).toMatchObject({ source: 'STATE_DB', warnings: [] });
    const { nodes } = await messages('plain');
    expect(nodes.map(({ text, rowId }) => [text, rowId !== null])).toEqual([
      ['only in the store', true],
      ['so it is', true],
    ]);
  });
});

describe('a file that can not be read', () => {
  it('gives way to the rows of the store, with a warning', async () => {
    expect(await transcript('damaged')).toMatchObject({
      source: 'STATE_DB',
      messages: [{ text: 'what the store has', rowId: expect.any(String) }],
      warnings: [{ code: 'SIDECAR_CORRUPT' }],
    });
    expect(await transcript('damaged', 'REPLAY')).toMatchObject({ source: 'STATE_DB', warnings: [{ code: 'SIDECAR_CORRUPT' }] });
    expect(texts((await messages('damaged')).nodes)).toEqual(['what the store has']);
  });

  it('is an error at the field of its messages where the store does not have the session', async () => {
    const { data, errors } = await server.query(
      '{ session(sessionId: "damaged-alone") { sessionId messages { totalCount } transcript { source } } }',
    );
    expect(data).toEqual({ session: { sessionId: 'damaged-alone', messages: null, transcript: null } });
    expect(errors.map(({ extensions, path }) => [extensions.code, path?.at(-1)]).sort()).toEqual([
      ['SIDECAR_CORRUPT', 'messages'],
      ['SIDECAR_CORRUPT', 'transcript'],
    ]);
  });

  it('over the limit is an error that says what can be seen, and its metadata stays', async () => {
    const { data, errors } = await server.query<{ session: unknown }, unknown>(
      '{ session(sessionId: "large") { title messages(merged: true) { totalCount } audit: messages(view: AUDIT) { nodes { text } } } }',
    );
    expect(data?.session).toEqual({ title: 'large', messages: null, audit: { nodes: [{ text: 'a row of the large one' }] } });
    expect(errors).toMatchObject([{ extensions: { code: 'SIDECAR_TOO_LARGE' }, message: expect.stringContaining('AUDIT') }]);
  });

  it('with more messages than a transcript may have is paged', async () => {
    const error = await server.error('{ session(sessionId: "long") { transcript { source } } }');
    expect(error.extensions).toMatchObject({ code: 'TRANSCRIPT_TOO_LARGE', limit: 25 });
    expect((await messages('long', 'first: 2')).totalCount).toBe(30);
  });
});

describe('a transcript of Claude Code', () => {
  it('is opened like any session', async () => {
    const { sessions } = await server.read<{ sessions: { nodes: { sessionId: string; title: string | null }[] } }, unknown>(
      '{ sessions(first: 100) { nodes { sessionId title } } }',
    );
    const id = sessions.nodes.find(({ sessionId }) => sessionId.startsWith('claude_code_'))?.sessionId ?? '';
    const { nodes, totalCount } = await messages(id);
    expect(nodes.map(({ text, rowId }) => [text, rowId])).toEqual([
      ['plant the beans', null],
      ['planted', null],
    ]);
    expect(totalCount).toBe(2);
    expect(await transcript(id)).toMatchObject({ source: 'CLAUDE_CODE', repairCount: 0 });
    const { node } = await server.read<{ node: unknown }, unknown>(`{ node(id: "${nodes[1]?.id}") { ... on Message { text } } }`);
    expect(node).toEqual({ text: 'planted' });
    const error = await server.error(`{ mergePreview(sessionId: "${id}") { source } }`);
    expect(error.extensions.code).toBe('NO_SESSION_FILE');
  });
});

describe('mergePreview', () => {
  it('says of each row what became of it, and why', async () => {
    const { mergePreview } = await server.read<{ mergePreview: unknown }, unknown>(
      `{ mergePreview(sessionId: "late") { source messageCount warnings { code } rows {
        totalCount nodes { message { text } decision reason shown position standsFor { text } } } } }`,
    );
    const row = (text: string, decision: string, position: number | null) => ({
      message: { text },
      decision,
      reason: expect.any(String),
      shown: false,
      position,
      standsFor: position === null ? null : { text },
    });
    expect(mergePreview).toEqual({
      source: 'MERGED',
      messageCount: 2,
      warnings: [{ code: 'LATE_ROWS_DROPPED' }],
      rows: {
        totalCount: 3,
        nodes: [row('alpha bravo', 'REPLAY', 0), row('never seen before', 'LATE_DROPPED', null), row('charlie delta', 'REPLAY', 1)],
      },
    });
  });

  it('is paged and filtered, and null for an unknown session', async () => {
    const page = (args: string) =>
      server.read<
        {
          mergePreview: {
            rows: { totalCount: number; nodes: { decision: string }[]; pageInfo: { endCursor: string; hasNextPage: boolean } };
          };
        },
        unknown
      >(`{ mergePreview(sessionId: "both") { rows(${args}) { totalCount nodes { decision } pageInfo { endCursor hasNextPage } } } }`);
    const first = (await page('first: 3')).mergePreview.rows;
    expect(first).toMatchObject({ totalCount: 4, nodes: [{ decision: 'REPLAY' }, { decision: 'REPLAY' }, { decision: 'APPENDED' }] });
    const second = (await page(`first: 3, after: "${first.pageInfo.endCursor}"`)).mergePreview.rows;
    expect(second).toMatchObject({ nodes: [{ decision: 'APPENDED' }], pageInfo: { hasNextPage: false } });
    expect((await page('decisions: [APPENDED]')).mergePreview.rows.totalCount).toBe(2);
    expect(await server.read('{ mergePreview(sessionId: "nowhere") { source } }')).toEqual({ mergePreview: null });
  });
});

describe('the cost', () => {
  it('is the same number of statements for five sessions with files and for fifteen', async () => {
    const count = async (size: number) => {
      const fields = Array.from(
        { length: size },
        (_, index) =>
          `s${index}: session(sessionId: "list-${index}") { messages(first: 2, merged: true) { totalCount nodes { ${FIELDS} } } transcript(view: REPLAY) { revision } }`,
      );
      await server.read(`query Open${size} { ${fields.join('\n')} }`);
      return Number((await server.requestLine(`Open${size}`)).statements);
    };
    const five = await count(5);
    expect(await count(15)).toBe(five);
    expect(five).toBeLessThan(20);
  });

  it('of another page is no other merge', async () => {
    put(
      'paged',
      Array.from({ length: 9 }, (_, index) => u(`page message ${index}`, index)),
    );
    await opened('paged');
    const page = async (name: string, args: string) => {
      await server.read(
        `query ${name} { session(sessionId: "paged") { messages(${args}, scope: SEGMENT, merged: true) { nodes { text } } } }`,
      );
      return server.requestLine(name);
    };
    // The stamp of the store, and nothing else.
    expect((await page('Second', 'last: 3')).statements).toBeLessThanOrEqual(2);
    expect((await page('Second', 'last: 3')).rows).toBeLessThanOrEqual(2);
  });

  it('of a large file is paid by another process: the server answers others meanwhile', async () => {
    put(
      'heavy',
      Array.from({ length: 4000 }, (_, index) => u(`${index} ${'word '.repeat(1000)}`, index)),
    );
    await listed('heavy');
    const slow = messages('heavy', 'first: 1');
    let isDone = false;
    const done = slow.finally(() => {
      isDone = true;
    });
    let longest = 0;
    while (!isDone) {
      const startedAt = performance.now();
      await server.read('{ session(sessionId: "plain") { title } }');
      longest = Math.max(longest, performance.now() - startedAt);
    }
    await done;
    expect((await slow).totalCount).toBe(4000);
    console.log(`20 MB were opened while others waited at most ${longest.toFixed(0)} ms`);
    expect(longest).toBeLessThan(400);
  });

  it('of a request that its client left is no harm to the next', async () => {
    put('left', [u('x'.repeat(3_000_000), 1)]);
    await opened('left');
    put('left', [u('y'.repeat(3_000_000), 1)]);
    const gone = new AbortController();
    const body = JSON.stringify({ query: '{ session(sessionId: "left") { messages(merged: true) { nodes { text } } } }' });
    const left = fetch(server.graphql, { method: 'POST', headers: server.headers, body, signal: gone.signal });
    setTimeout(() => gone.abort(), 5);
    await expect(left).rejects.toThrow();
    expect((await messages('left')).nodes[0]?.text.slice(0, 3)).toBe('yyy');
  });
});

describe('a page', () => {
  it('follows the one before it while the Web UI and the agent append', async () => {
    const said = (count: number) =>
      Array.from({ length: count }, (_, index) => (index % 2 === 0 ? u(`growing ${index}`, index) : a(`grown ${index}`, index)));
    put('growing', said(6));
    await opened('growing');
    const writer = await startWriter(server.storePath);
    await writer.exec("INSERT INTO sessions (id, source, started_at, message_count) VALUES ('growing', 'webui', ?, 1)", [AT]);
    const seen: string[] = [];
    let after: string | null = null;
    for (let turn = 0; ; turn += 1) {
      const page: PageOf = await messages('growing', `first: 2${after === null ? '' : `, after: "${after}"`}`);
      seen.push(...texts(page.nodes));
      after = page.pageInfo.endCursor ?? after;
      if (!page.pageInfo.hasNextPage) break;
      // First a row, then the file that has it too.
      if (turn < 4)
        await writer.exec("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('growing', ?, ?, ?)", [
          turn % 2 === 0 ? 'user' : 'assistant',
          `${turn % 2 === 0 ? 'growing' : 'grown'} ${6 + turn}`,
          AT + 6 + turn,
        ]);
      if (turn >= 2 && turn < 6) put('growing', said(4 + turn + 1));
    }
    await writer.close();
    expect(seen).toEqual(texts(said(seen.length).map(({ content }) => ({ text: String(content) }))));
    expect(seen.length).toBeGreaterThanOrEqual(9);
  });
});
