/** Sessions as files (`spec/state-db-writes.md` I1, I2). */
import { createHash } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { startInProcess, type TestServer } from '../support/server.ts';
import { M, S } from '../support/stores.ts';

const servers: TestServer[] = [];
afterAll(() => Promise.all(servers.map((server) => server.stop())));

const EXPORT = `mutation ($input: ExportSessionInput!) { result: exportSession(input: $input) {
  __typename ... on ExportSessionPayload { url bytes sha256 messageCount } ... on UserError { code details } } }`;

async function start(settings: Record<string, string> = {}): Promise<TestServer> {
  const server = await startInProcess({
    settings,
    rows: [
      S('p', { ended_at: 150, end_reason: 'compression' }),
      S('c', { parent_session_id: 'p', started_at: 150, title: 'größer' }),
      M('p', { content: 'live' }),
      M('p', { content: 'archived', active: 0, compacted: 1 }),
      M('p', { content: 'taken back', active: 0 }),
      M('c', { content: 'next' }),
    ],
  });
  servers.push(server);
  return server;
}

async function exported(server: TestServer, input: object): Promise<{ readonly text: string; readonly answer: Record<string, unknown> }> {
  const { result: answer } = await server.read<{ result: Record<string, unknown> }, unknown>(EXPORT, { input });
  const response = await fetch(new URL(String(answer.url), server.url), { headers: { authorization: `Bearer ${server.token}` } });
  expect(response.status).toBe(200);
  return { text: await response.text(), answer };
}
const contents = (text: string) => (JSON.parse(text) as { messages: { content: string }[] }).messages.map(({ content }) => content);

describe('an export', () => {
  it('T155: holds live rows, archived ones when asked for, and never what was taken back', async () => {
    const server = await start();
    const { text, answer } = await exported(server, { sessionId: 'p' });
    expect(contents(text)).toEqual(['live']);
    expect(answer).toMatchObject({
      messageCount: 1,
      bytes: Buffer.byteLength(text),
      sha256: createHash('sha256').update(text).digest('hex'),
    });
    expect(contents((await exported(server, { sessionId: 'p', includeArchivedRows: true })).text)).toEqual(['live', 'archived']);
  });

  it('of a lineage is one object with its segments, and keeps letters as they are', async () => {
    const { text } = await exported(await start(), { sessionId: 'c', scope: 'LINEAGE' });
    expect(contents(text)).toEqual(['live', 'next']);
    expect(JSON.parse(text)).toMatchObject({ lineage_session_ids: ['p', 'c'], message_count: 2, title: 'größer' });
    expect(text).toContain('größer');
    expect(text.trim().split('\n')).toHaveLength(1);
  });

  it('is for nobody without the token, and for nobody who guesses', async () => {
    const server = await start();
    const { result } = await server.read<{ result: { url: string } }, unknown>(EXPORT, { input: { sessionId: 'p' } });
    expect((await fetch(new URL(result.url, server.url))).status).toBe(401);
    const headers = { authorization: `Bearer ${server.token}` };
    for (const path of ['/exports/', '/exports/x', '/exports/..%2f..%2fstate.db', `${result.url}/../token`]) {
      expect((await fetch(new URL(path, server.url), { headers })).status).toBe(404);
    }
  });

  it('is refused for an unknown session and for one that is too large', async () => {
    const server = await start({ maxTranscriptMessages: '1' });
    const refused = async (input: object) => (await server.read<{ result: unknown }, unknown>(EXPORT, { input })).result;
    expect(await refused({ sessionId: 'nobody' })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await refused({ sessionId: 'p' })).toMatchObject({ __typename: 'ExportSessionPayload' });
    const small = await startInProcess({ rows: [S('s'), M('s'), M('s')], settings: { maxTranscriptMessages: '1' } });
    servers.push(small);
    const { result } = await small.read<{ result: unknown }, unknown>(EXPORT, { input: { sessionId: 's' } });
    expect(result).toMatchObject({ code: 'EXPORT_TOO_LARGE', details: { limit: 1 } });
  });
});
