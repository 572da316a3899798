/** Rows that were rewritten in place, as a person reads them afterwards (`spec/state-db-writes.md` Z13). */
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startInProcess, type TestServer } from '../support/server.ts';
import { M, type Row, S } from '../support/stores.ts';

const CALLS = JSON.stringify([{ id: 'c1', type: 'function', function: { name: 'ls', arguments: '{}' } }]);
const turn = (id: string): Row[] => [
  M(id, { content: 'list it', message_uid: `${id}-u` }),
  M(id, { role: 'assistant', content: '', tool_calls: CALLS, message_uid: `${id}-a` }),
  M(id, { role: 'tool', content: 'long output', tool_call_id: 'c1', tool_name: 'ls', message_uid: `${id}-t` }),
  M(id, { role: 'assistant', content: 'done', message_uid: `${id}-d` }),
];

let server: TestServer;
beforeAll(async () => {
  const chain = [S('p', { ended_at: 150, end_reason: 'compression' }), ...turn('p'), S('c', { parent_session_id: 'p', started_at: 150 })];
  const rows = [S('one'), ...turn('one'), ...chain, ...turn('c'), S('d'), ...turn('d')];
  server = await startInProcess({ schema: 31, rows, settings: { allowWrites: true } });
});
afterAll(() => server.stop());

interface Read {
  readonly session: {
    readonly messages: { readonly totalCount: number; readonly edges: readonly { readonly node: Node }[] };
    readonly transcript: { readonly messages: readonly Node[] };
  };
}
interface Node {
  readonly rowId: string;
  readonly rowVersion: string | null;
  readonly role: string;
  readonly text: string;
}

async function read(id: string) {
  const fields = 'rowId rowVersion role text';
  const query = `query ($id: String!) { session(sessionId: $id) {
    messages(view: DISPLAY, first: 50) { totalCount edges { node { ${fields} } } } transcript(view: DISPLAY) { messages { ${fields} } } } }`;
  const { session } = await server.read<Read, unknown>(query, { id });
  const nodes = session.messages.edges.map(({ node }) => node);
  const texts = (list: readonly Node[]) => list.map(({ text }) => text);
  return { nodes, total: session.messages.totalCount, page: texts(nodes), transcript: texts(session.transcript.messages) };
}

async function rewrite(id: string): Promise<void> {
  const row = (await read(id)).nodes.findLast(({ role }) => role === 'TOOL');
  const mutation = 'mutation ($input: PruneRowsInput!) { pruneRows(input: $input) { __typename } }';
  const changes = [{ rowId: row?.rowId, rowVersion: row?.rowVersion, content: 'stub' }];
  expect(await server.read<unknown, unknown>(mutation, { input: { sessionId: id, changes } })).toEqual({
    pruneRows: { __typename: 'PruneRowsPayload' },
  });
}

const TURN = ['list it', '', 'stub', 'done'];

describe('Z13: a row that was rewritten in place is shown once, with what it says now', () => {
  it('in a session', async () => {
    await rewrite('one');
    expect(await read('one')).toMatchObject({ total: 4, page: TURN, transcript: TURN });
  });

  it('in a conversation of several segments', async () => {
    await rewrite('c');
    const all = ['list it', '', 'long output', 'done', ...TURN];
    expect(await read('c')).toMatchObject({ total: 8, page: all, transcript: all });
  });

  it('also after a compaction gave what it said before a place of its own', async () => {
    await rewrite('d');
    const db = new Database(server.storePath);
    const moved = db.prepare("UPDATE messages SET display_order = id WHERE session_id = 'd' AND active = 0").run().changes;
    db.close();
    expect(moved).toBe(1);
    expect(await read('d')).toMatchObject({ total: 4, page: TURN, transcript: TURN });
  });
});
