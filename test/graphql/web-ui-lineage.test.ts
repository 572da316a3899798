/** What hangs together in the one list, over HTTP (`spec/webui-listing.md` 4, 5, 6). */
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/server.ts';
import { sidecarText } from '../support/sidecars.ts';
import { M, type Row, S } from '../support/stores.ts';
import { startWebUi, type WebUiSpec } from '../support/web-ui-server.ts';

interface Listed {
  readonly sessionId: string;
  readonly title: string | null;
  readonly edgeKind: string | null;
  readonly conversationId: string;
}

async function listed(spec: WebUiSpec) {
  const server = await startWebUi(spec);
  const { sessions } = await server.read<
    { sessions: { totalCount: number; hiddenCounts: readonly object[]; nodes: readonly Listed[] } },
    object
  >('{ sessions(first: 50) { totalCount hiddenCounts { reason count } nodes { sessionId title edgeKind conversationId } } }');
  return { server, ids: sessions.nodes.map(({ sessionId }) => sessionId).sort(), ...sessions };
}

const said = (id: string, times: number) =>
  Array.from({ length: times }, (_, at) => M(id, { content: `${id} ${at}`, timestamp: 1000 + at }));
const messages = (count: number, at: number) =>
  Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `${index}`,
    timestamp: at + index,
  }));

describe('a terminal that was closed and gone on with', () => {
  const closed = (source: string, more = {}) => [
    S('one', { source, title: 'First', started_at: 10, ended_at: 100, end_reason: 'cli_close', ...more }),
    S('two', { source, title: 'Second', parent_session_id: 'one', started_at: 100 }),
    ...said('one', 2),
    ...said('two', 2),
  ];

  it.each(['tui', 'cli', 'webui'])('T23: of source %s is one entry, its newest session', async (source) => {
    const { ids, totalCount, nodes, hiddenCounts } = await listed({ rows: closed(source) });
    expect([ids, totalCount]).toEqual([['two'], 1]);
    expect(nodes[0]?.title).toBe('Second');
    expect(hiddenCounts).toEqual([{ reason: 'SEGMENT', count: 1 }]);
  });

  it('is one entry where it was compressed too', async () => {
    const rows = [
      S('a', { source: 'cli', title: 'A', started_at: 10, ended_at: 20, end_reason: 'cli_close' }),
      S('b', { source: 'cli', title: 'B', parent_session_id: 'a', started_at: 20, ended_at: 30, end_reason: 'compression' }),
      S('c', { source: 'cli', title: 'C', parent_session_id: 'b', started_at: 30, ended_at: 40, end_reason: 'cli_close' }),
      S('d', { source: 'cli', title: 'D', parent_session_id: 'c', started_at: 40 }),
      ...['a', 'b', 'c', 'd'].flatMap((id) => said(id, 2)),
    ];
    expect((await listed({ rows })).ids).toEqual(['d']);
  });

  it.each([150, 1100])('is one entry after %i times', async (count) => {
    const rows = Array.from({ length: count }, (_, at) => [
      S(`s${at}`, {
        source: 'cli',
        title: `Part ${at}`,
        started_at: at,
        parent_session_id: at === 0 ? null : `s${at - 1}`,
        ...(at < count - 1 ? { ended_at: at + 1, end_reason: 'cli_close' } : {}),
      }),
      M(`s${at}`, { timestamp: at }),
    ]).flat();
    const { ids, hiddenCounts } = await listed({ rows });
    expect(ids).toEqual([`s${count - 1}`]);
    expect(hiddenCounts).toEqual([{ reason: 'SEGMENT', count: count - 1 }]);
  });

  it('stays a sub-agent where it began as one', async () => {
    const { ids, hiddenCounts } = await listed({
      rows: [
        S('p', { source: 'cli', title: 'Parent' }),
        ...closed('cli', { parent_session_id: 'p', model_config: '{"_delegate_from": "p"}' }),
        ...said('p', 1),
      ],
    });
    expect(ids).toEqual(['p']);
    expect(hiddenCounts).toContainEqual({ reason: 'DELEGATE', count: expect.any(Number) });
  });

  it('is hidden with all of its sessions as soon as the first turns out to be a sub-agent', async () => {
    const { server, ids } = await listed({
      rows: [
        S('p', { source: 'cli', title: 'Parent' }),
        S('a', {
          source: 'cli',
          title: 'A',
          parent_session_id: 'p',
          model_config: '{"_branched_from": "p"}',
          started_at: 5,
          ended_at: 10,
          end_reason: 'cli_close',
        }),
        S('b', { source: 'cli', title: 'B', parent_session_id: 'a', started_at: 10, ended_at: 20, end_reason: 'cli_close' }),
        S('c', { source: 'cli', title: 'C', parent_session_id: 'b', started_at: 20 }),
        ...['p', 'a', 'b', 'c'].flatMap((id) => said(id, 2)),
      ],
    });
    expect(ids).toEqual(['c', 'p']);
    const db = new Database(server.storePath);
    db.exec(`UPDATE sessions SET model_config = '{"_delegate_from": "p"}' WHERE id = 'a'`);
    db.close();
    await eventually(async () => {
      const { sessions } = await server.read<{ sessions: { nodes: readonly Listed[] } }, object>('{ sessions { nodes { sessionId } } }');
      return sessions.nodes.length === 1;
    });
  });

  it('takes nothing down that goes round in a circle', async () => {
    const { totalCount, hiddenCounts } = await listed({
      rows: [
        S('x', { source: 'cli', title: 'X', parent_session_id: 'y', started_at: 10, ended_at: 10, end_reason: 'cli_close' }),
        S('y', { source: 'cli', title: 'Y', parent_session_id: 'x', started_at: 10, ended_at: 10, end_reason: 'cli_close' }),
        S('z', { source: 'cli', title: 'Z' }),
        ...['x', 'y', 'z'].flatMap((id) => said(id, 2)),
      ],
    });
    const hidden = (hiddenCounts as readonly { count: number }[]).reduce((sum, { count }) => sum + count, 0);
    expect(totalCount + hidden).toBe(3);
  });
});

describe('a fork', () => {
  const snapshot = sidecarText(
    'snap',
    { title: 'Tea', pre_compression_snapshot: true, updated_at: 1_782_000_100 },
    messages(10, 1_782_000_000),
  );
  const fork = (parent: string) =>
    sidecarText(
      'fork',
      { title: 'Other tea', session_source: 'fork', parent_session_id: parent, updated_at: 1_782_000_200 },
      messages(2, 1_782_000_150),
    );

  it('T49: of a snapshot is a conversation of its own, and the snapshot is shown as there is nothing else of its', async () => {
    const { server, ids, nodes } = await listed({ files: { snap: snapshot, fork: fork('snap') } });
    expect(ids).toEqual(['fork', 'snap']);
    expect(nodes.find(({ sessionId }) => sessionId === 'fork')).toMatchObject({ edgeKind: 'BRANCH', conversationId: 'fork' });
    const { session } = await server.read<{ session: object }, object>('{ session(sessionId: "snap") { tip { sessionId } } }');
    expect(session).toEqual({ tip: { sessionId: 'snap' } });
  });

  it('that was compressed goes on in the file that keeps its source', async () => {
    const old = sidecarText(
      'old',
      { title: 'Other tea', session_source: 'fork', parent_session_id: 'root', pre_compression_snapshot: true, updated_at: 1_782_000_100 },
      messages(4, 1_782_000_000),
    );
    const root = sidecarText('root', { title: 'Tea', updated_at: 1_782_000_050 }, messages(2, 1_781_999_000));
    const of = (rows: readonly Row[]) => listed({ rows, files: { root, old, fork: fork('old') } });
    const alone = await of([]);
    expect(alone.ids).toEqual(['fork', 'root']);
    expect(alone.nodes.find(({ sessionId }) => sessionId === 'fork')).toMatchObject({ edgeKind: 'COMPRESSION', conversationId: 'old' });
    const stored = await of([
      S('old', { source: 'webui', title: 'Other tea 1', started_at: 10, ended_at: 100, end_reason: 'compression' }),
      S('fork', { source: 'webui', title: 'Other tea', parent_session_id: 'old', started_at: 100 }),
      ...said('old', 2),
      ...said('fork', 2),
    ]);
    expect(stored.ids).toEqual(['fork', 'root']);
    expect(stored.nodes.find(({ sessionId }) => sessionId === 'fork')).toMatchObject({ edgeKind: 'COMPRESSION', conversationId: 'old' });
  });

  it('of a session that the store compressed later stays one', async () => {
    const rows = [
      S('p', { source: 'webui', title: 'Parent', started_at: 10, ended_at: 100, end_reason: 'compression' }),
      S('fork', { source: 'webui', title: 'Other tea', parent_session_id: 'p', started_at: 150 }),
      ...said('p', 2),
      ...said('fork', 2),
    ];
    const { ids, nodes } = await listed({ rows, files: { fork: fork('p') } });
    expect(ids).toEqual(['fork', 'p']);
    expect(nodes.find(({ sessionId }) => sessionId === 'fork')).toMatchObject({ edgeKind: 'BRANCH', conversationId: 'fork' });
  });
});

it('T12: messages that were taken back in the Web UI are not counted again, those that came later are', async () => {
  const rows = [
    S('s', { source: 'webui', title: 'Tea' }),
    ...[1, 2, 3, 4, 5].map((at) => M('s', { content: `${at}`, timestamp: 1000 + at })),
  ];
  const cut = { title: 'Tea', truncation_watermark: 1002, truncation_boundary: 1002 };
  const counts = async (fields: object) => {
    const file = sidecarText('s', { ...fields }, messages(2, 1001));
    const { server } = await listed({ rows, files: { s: file } });
    const { session } = await server.read<{ session: { messageCount: number; transcript: { messages: unknown[] } } }, object>(
      '{ session(sessionId: "s") { messageCount transcript { messages { role } } } }',
    );
    return [session.messageCount, session.transcript.messages.length];
  };
  expect(await counts({ ...cut, updated_at: 2000 })).toEqual([2, 2]);
  expect((await counts({ title: 'Tea', updated_at: 2000 }))[0]).toBe(5);
});
