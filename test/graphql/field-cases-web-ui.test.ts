/** What users of the Web UI suffered, over real sockets. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TestServer } from '../support/server.ts';
import { type Fields, sidecarText } from '../support/sidecars.ts';
import { M, type Row, S } from '../support/stores.ts';
import { startWebUi, type WebUiServer } from '../support/web-ui-server.ts';

const AT = 1_782_000_000;

/** Messages of a user and an assistant in turns, `text` with its number. */
function said(count: number, text = 'message', at = AT): Fields[] {
  return Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `${text} ${index}`,
    timestamp: at + index,
  }));
}

/** The rows of a session with these messages. */
function rowsOf(id: string, messages: readonly Fields[]): Row[] {
  const rows = messages.map(({ role, content, timestamp }) =>
    M(id, { role: String(role), content: String(content), timestamp: Number(timestamp) }),
  );
  return [S(id, { source: 'webui', started_at: AT }), ...rows];
}

interface Opened {
  readonly display: { readonly source: string; readonly messages: readonly { readonly text: string }[] };
  readonly replay: { readonly messages: readonly { readonly text: string }[] };
  readonly merged: { readonly totalCount: number };
}

async function open(server: TestServer, sessionId: string): Promise<Opened> {
  const query = `query ($sessionId: String!) { session(sessionId: $sessionId) {
    display: transcript { source messages { text } }
    replay: transcript(view: REPLAY) { messages { text } }
    merged: messages(merged: true) { totalCount } } }`;
  return (await server.read<{ session: Opened }, { sessionId: string }>(query, { sessionId })).session;
}

const texts = ({ messages }: Opened['display'] | Opened['replay']) => messages.map(({ text }) => text);

describe('F02: a snapshot that was kept and its continuation, linked by the parent alone', () => {
  const files = {
    old: sidecarText('old', { title: 'Trip', pre_compression_snapshot: true }, said(40)),
    new: sidecarText('new', { title: 'Trip', parent_session_id: 'old' }, said(12, 'later', AT + 100)),
  };

  it('are one entry of two segments, and two rows on request', async () => {
    const server = await startWebUi({ files });
    const list =
      '{ sessions { totalCount nodes { sessionId lineage { segments { sessionId } } } } all: sessions(collapse: NONE, filter: { includeUnlisted: true }) { nodes { sessionId } } }';
    const { sessions, all } = await server.read<Record<'sessions' | 'all', { nodes: Fields[] }>, object>(list);
    expect(sessions).toEqual({
      totalCount: 1,
      nodes: [{ sessionId: 'new', lineage: { segments: [{ sessionId: 'old' }, { sessionId: 'new' }] } }],
    });
    expect(all.nodes.map(({ sessionId }) => sessionId).toSorted()).toEqual(['new', 'old']);
  });
});

describe('F10: an index that says otherwise than the file', () => {
  const ledger = { x: sidecarText('x', { title: 'Ledger' }, said(103)) };
  const row = { session_id: 'x', message_count: 0, title: 'Untitled' };

  async function listed(server: WebUiServer): Promise<Fields[]> {
    const query = '{ sessions { nodes { sessionId title messageCount } } }';
    return (await server.read<{ sessions: { nodes: Fields[] } }, object>(query)).sessions.nodes;
  }

  it.each([
    ['an index of rows that say nothing', JSON.stringify([row])],
    ['an index without a row', '[]'],
    ['an index that is cut', '[{"session_id": "x", "mess'],
    ['an index that is an object', '{"x": 1}'],
    ['rows without a time', JSON.stringify([{ ...row, updated_at: null }])],
    ['no index', null],
  ])('%s: the session is listed as its file has it, and nothing is written', async (_, index) => {
    const server = await startWebUi({ files: ledger });
    const path = join(server.sessionsDir, '_index.json');
    if (index === null) rmSync(path, { force: true });
    else writeFileSync(path, index);
    expect(await listed(server)).toEqual([{ sessionId: 'x', title: 'Ledger', messageCount: 103 }]);
    const { profile } = await server.read<{ profile: { webUi: { indexStatus: string } } }, object>('{ profile { webUi { indexStatus } } }');
    expect(profile.webUi.indexStatus).not.toBe('OK');
    if (index === null) expect(existsSync(path)).toBe(false);
    else expect(readFileSync(path, 'utf8')).toBe(index);
  });
});

describe('F26: one turn in both stores', () => {
  const rows = rowsOf('x', [
    { role: 'user', content: 'hello', timestamp: AT + 10 },
    { role: 'assistant', content: 'hi', timestamp: AT + 11 },
  ]);
  const local = (user: string, ids: boolean): Fields[] => [
    { ...(ids ? { id: 'u1' } : {}), role: 'user', content: user, timestamp: AT + 10 },
    { ...(ids ? { id: 'a1' } : {}), role: 'assistant', content: 'hi', timestamp: AT + 11 },
  ];

  it.each([
    ['with ids in the file', local('hello', true)],
    ['without ids', local('hello', false)],
    ['with the prefix of a workspace', local('[Workspace::v1: /srv/work]\nhello', false)],
  ])('%s: it is shown once, and each row says by which rule', async (_, messages) => {
    const server = await startWebUi({ rows, files: { x: sidecarText('x', { title: 'X' }, messages) } });
    const { display, merged } = await open(server, 'x');
    expect(texts(display).map((text) => text.replace(/^.*\n/, ''))).toEqual(['hello', 'hi']);
    expect(merged.totalCount).toBe(2);
    const query = '{ mergePreview(sessionId: "x") { rows { nodes { decision standsFor { text } } } } }';
    const { mergePreview } = await server.read<{ mergePreview: { rows: { nodes: { decision: string }[] } } }, object>(query);
    expect(mergePreview.rows.nodes.map(({ decision }) => decision)).toEqual([expect.any(String), expect.any(String)]);
  });
});

describe('F31: an undo', () => {
  it('in the file holds in every view of the merge, and a later turn of the store is shown', async () => {
    const all = said(4);
    const cut = sidecarText('x', { title: 'X', truncation_watermark: AT + 1, truncation_boundary: AT + 1 }, all.slice(0, 2));
    const server = await startWebUi({ rows: rowsOf('x', all), files: { x: cut } });
    const { display, replay, merged } = await open(server, 'x');
    expect(texts(display)).toEqual(['message 0', 'message 1']);
    expect(texts(replay)).toEqual(['message 0', 'message 1']);
    expect(merged.totalCount).toBe(2);
  });
});

describe('F32: a cleared session', () => {
  it('stays empty, and one that was never saved shows what the store has', async () => {
    const rows = [...rowsOf('x', said(6)), ...rowsOf('y', said(6))];
    const files = {
      x: sidecarText('x', { title: 'X', truncation_watermark: 0, truncation_boundary: 0 }, []),
      y: sidecarText('y', { title: 'Y' }, []),
    };
    const server = await startWebUi({ rows, files });
    const x = await open(server, 'x');
    expect([texts(x.display), texts(x.replay), x.merged.totalCount]).toEqual([[], [], 0]);
    expect(texts((await open(server, 'y')).display)).toHaveLength(6);
    expect((await open(server, 'y')).merged.totalCount).toBe(6);
  });
});
