/** Journals of the Web UI over real sockets (`spec/webui-recovery.md` 3, 4). */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type JournalEntry, writeJournal } from '../support/journal-lines.ts';
import { S } from '../support/stores.ts';
import { startWebUi, type WebUiServer } from '../support/web-ui-server.ts';

const AT = 1_782_000_000;
const token = (seq: number, text: string): JournalEntry => ({ event: 'token', payload: { text, _secret: 'x' }, seq, createdAt: AT + seq });

let server: WebUiServer;
beforeAll(async () => {
  server = await startWebUi({ rows: [S('s1', { source: 'webui' })], files: { s1: {} }, allowWrites: false });
  const root = join(server.sessionsDir, '_run_journal');
  const open = [token(1, 'Hello '), token(2, 'there')];
  const path = writeJournal({ root, sessionId: 's1', runId: 'r2' }, open);
  appendFileSync(path, 'garbage\n');
  const session = { messages: Array(5).fill({ role: 'user', content: 'all of it' }) };
  writeJournal({ root, sessionId: 's1', runId: 'r1' }, [
    { ...token(1, 'x'), createdAt: 1e300 },
    { ...token(2, 'y'), createdAt: AT - 100 },
    { event: 'done', payload: { session, usage: { input_tokens: 3 } }, seq: 3, createdAt: AT - 99 },
  ]);
  const turns = join(server.sessionsDir, '_turn_journal');
  mkdirSync(turns);
  const turn = (event: string, turnId: string, at: number, more: object = {}) =>
    JSON.stringify({ version: 1, event, turn_id: turnId, stream_id: `run-${turnId}`, created_at: at, ...more });
  writeFileSync(
    join(turns, 's1~7.jsonl'),
    `${[
      turn('submitted', 'a', AT, { content: 'First' }),
      turn('completed', 'a', AT + 5, { terminal: true }),
      'garbage',
      turn('submitted', 'b', AT + 9, { content: 'Second' }),
    ].join('\n')}\n`,
  );
});

const EVENTS = `query ($run: String!, $first: Int, $after: ID) { run(sessionId: "s1", runId: $run) { startedAt events(first: $first, after: $after) {
  nodes { id seq event payload terminalState createdAt } malformed { line reason } malformedCount pageInfo { hasNextPage hasPreviousPage endCursor } } } }`;

interface Events {
  readonly run: {
    readonly startedAt: string | null;
    readonly events: {
      readonly nodes: readonly { readonly id: string; readonly payload: object; readonly createdAt: string | null }[];
      readonly malformed: readonly object[];
      readonly malformedCount: number;
      readonly pageInfo: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean; readonly endCursor: string | null };
    };
  };
}

interface EventsVariables {
  readonly run: string;
  readonly first?: number;
  readonly after?: string;
}

const events = (variables: EventsVariables) => server.read<Events, EventsVariables>(EVENTS, variables);

describe('Run.events', () => {
  it('are pages that go on after the id of an event, without private members', async () => {
    const first = (await events({ run: 'r2', first: 1 })).run.events;
    expect(first.nodes).toMatchObject([{ id: 'r2:1', payload: { text: 'Hello ' } }]);
    expect(first.nodes[0]?.payload).not.toHaveProperty('_secret');
    expect(first.pageInfo).toEqual({ hasNextPage: true, hasPreviousPage: false, endCursor: 'r2:1' });
    const second = (await events({ run: 'r2', first: 5, after: 'r2:1' })).run.events;
    expect(second.nodes.map(({ id }) => id)).toEqual(['r2:2']);
    expect(second.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    expect([second.malformed, second.malformedCount]).toEqual([[{ line: 3, reason: 'NOT_JSON' }], 1]);
  });

  it('leave out the session that the end of a run holds, and times that are none', async () => {
    const { startedAt, events: page } = (await events({ run: 'r1' })).run;
    expect(page.nodes.at(-1)).toMatchObject({ id: 'r1:3', payload: { usage: { input_tokens: 3 } }, terminalState: 'completed' });
    expect(page.nodes.at(-1)?.payload).not.toHaveProperty('session');
    expect(page.nodes[0]?.createdAt).toBeNull();
    expect(startedAt).not.toBeNull();
  });

  it.each(['r1:1', 'garbage', 'r2:0'])('refuse %s, which is no event of the run', async (after) => {
    const error = await server.error<Events, EventsVariables>(EVENTS, { run: 'r2', after });
    expect(error.extensions.code).toBe('BAD_CURSOR');
  });
});

it('Run tells its newest event and its session, which a run may have outlived', async () => {
  const query =
    'query ($session: String!) { run(sessionId: $session, runId: "r2") { lastEvent lastEventId lastSeq missingEvents session { sessionId } } }';
  expect(await server.read<unknown, { session: string }>(query, { session: 's1' })).toEqual({
    run: { lastEvent: 'token', lastEventId: 'r2:2', lastSeq: 2, missingEvents: 0, session: { sessionId: 's1' } },
  });
  writeJournal({ root: join(server.sessionsDir, '_run_journal'), sessionId: 'gone', runId: 'r2' }, [{ ...token(1, 'x'), seq: 2 ** 52 }]);
  expect(await server.read<unknown, { session: string }>(query, { session: 'gone' })).toEqual({
    run: { lastEvent: 'token', lastEventId: `r2:${2 ** 52}`, lastSeq: 2_147_483_647, missingEvents: 2_147_483_647, session: null },
  });
});

it('Run.liveMessage is what a run that goes on has written, and nothing of one that has ended', async () => {
  const query = `query ($run: String!) { run(sessionId: "s1", runId: $run) { liveMessage { content reasoning lastEventId lastSeq truncated toolCalls { name } } } }`;
  expect(await server.read<unknown, { run: string }>(query, { run: 'r2' })).toEqual({
    run: { liveMessage: { content: 'Hello there', reasoning: '', lastEventId: 'r2:2', lastSeq: 2, truncated: false, toolCalls: [] } },
  });
  expect(await server.read<unknown, { run: string }>(query, { run: 'r1' })).toEqual({ run: { liveMessage: null } });
});

it('Session.runReplay gives all or the reason why not', async () => {
  const query = 'query ($after: String!) { session(sessionId: "s1") { runReplay(after: $after) { status events { id } } } }';
  const replay = (after: string) => server.read<unknown, { after: string }>(query, { after });
  expect(await replay('r1:1')).toEqual({ session: { runReplay: { status: 'REPLAY_MALFORMED', events: [] } } });
  expect(await replay('')).toEqual({ session: { runReplay: { status: 'OK', events: [] } } });
});

it('Session.turns are the turns that were accepted, newest first, with the lines that are none', async () => {
  const query = `query ($after: String) { session(sessionId: "s1") { turns(first: 1, after: $after) {
    nodes { turnId streamId state terminal submittedAt content pid collisions { event } }
    malformed { shard line } malformedCount truncated pageInfo { hasNextPage endCursor } } } }`;
  interface Turns {
    readonly session: { readonly turns: { readonly nodes: readonly object[]; readonly pageInfo: { readonly endCursor: string } } };
  }
  const { turns } = (await server.read<Turns, { after?: string }>(query, {})).session;
  expect(turns).toMatchObject({
    nodes: [{ turnId: 'b', streamId: 'run-b', state: 'SUBMITTED', terminal: false, content: 'Second', pid: 7, collisions: [] }],
    malformed: [{ shard: 's1~7.jsonl', line: 3 }],
    malformedCount: 1,
    truncated: false,
    pageInfo: { hasNextPage: true },
  });
  const { turns: rest } = (await server.read<Turns, { after?: string }>(query, { after: turns.pageInfo.endCursor })).session;
  expect(rest).toMatchObject({ nodes: [{ turnId: 'a', state: 'COMPLETED' }], pageInfo: { hasNextPage: false } });
});
