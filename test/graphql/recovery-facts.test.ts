/** What sessions and messages of the Web UI tell of crashes, without writing anything (`spec/webui-recovery.md` 6, 13.1, 14, 24). */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { M, S } from '../support/stores.ts';
import { startUpstreamHome, startWebUi, type WebUiServer } from '../support/web-ui-server.ts';

describe('a home with interrupted turns', () => {
  let server: WebUiServer;
  let before: string;
  beforeAll(async () => {
    server = await startUpstreamHome(false);
    before = fingerprint(server.sessionsDir);
  });

  it('tells of each session what the Web UI still tries', async () => {
    const query = `query ($id: String!) { session(sessionId: $id) {
      journalRetry { streamId attempts maxAttempts firstSeenAt givesUpAt } } }`;
    const retry = async (id: string) => (await server.read<{ session: object }, { id: string }>(query, { id })).session;
    expect(await retry('mw_retry_useless')).toEqual({
      journalRetry: {
        streamId: 'stream-ru',
        attempts: 11,
        maxAttempts: 12,
        firstSeenAt: '2026-06-21T00:07:50.000Z',
        givesUpAt: '2026-06-22T00:07:50.000Z',
      },
    });
    expect(await retry('mw_retry_ready')).toMatchObject({ journalRetry: { streamId: 'stream-rr', attempts: 0 } });
    expect(await retry('mw_normal')).toEqual({ journalRetry: null });
  });

  it('tells of each message what it is', async () => {
    const query = `query ($id: String!) { session(sessionId: $id) { transcript { messages {
      role isError partial recovered interruption { cause pendingJournalRecovery retry { streamId } } } } } }`;
    interface Messages {
      readonly session: { readonly transcript: { readonly messages: readonly { readonly isError: boolean; readonly partial: boolean }[] } };
    }
    const of = async (id: string) => (await server.read<Messages, { id: string }>(query, { id })).session.transcript.messages;
    expect((await of('mw_retry_ready')).filter(({ isError }) => isError)).toEqual([
      {
        role: 'ASSISTANT',
        isError: true,
        partial: false,
        recovered: false,
        interruption: { cause: 'PROCESS_RESTART', pendingJournalRecovery: true, retry: { streamId: 'stream-rr' } },
      },
    ]);
    expect((await of('mw_dup_partials')).some(({ partial }) => partial)).toBe(true);
    expect((await of('mw_normal')).some(({ isError, partial }) => isError || partial)).toBe(false);
  });

  it('is only read', () => {
    expect(fingerprint(server.sessionsDir)).toBe(before);
  });
});

function fingerprint(folder: string): string {
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .map((path) => `${path} ${statSync(path).isFile() ? readFileSync(path, 'base64') : ''}`)
    .join('\n');
}

describe('how far a file is behind the store', () => {
  const LAG =
    '{ sessions(first: 10, filter: { includeUnlisted: true }) { nodes { sessionId sidecarLag { stateDbAhead rowsAhead secondsAhead } } } }';
  const at = 1_782_000_000;
  const file = (more: object = {}) => ({ created_at: at, updated_at: at + 5, ...more });

  it('Y5, Y6: is told by rows of any state and by the newest time, of all sessions of a list', async () => {
    const rows = [
      ...['ahead', 'same', 'newer', 'alone'].map((id) => S(id, { source: 'webui', started_at: at })),
      S('none', { source: 'webui', started_at: at }),
      ...[1, 2, 3].map((second) => M('ahead', { timestamp: at + second, active: second === 3 ? 0 : 1 })),
      ...[1, 2].map((second) => M('same', { timestamp: at + second })),
      ...[1, 65].map((second) => M('newer', { timestamp: at + second })),
      M('alone', { timestamp: at }),
    ];
    const server = await startWebUi({ rows, files: { ahead: file(), same: file(), newer: file(), none: file() }, allowWrites: false });
    interface Listed {
      readonly sessions: { readonly nodes: readonly { readonly sessionId: string; readonly sidecarLag: object | null }[] };
    }
    const { sessions } = await server.read<Listed, undefined>(LAG);
    const lags = Object.fromEntries(sessions.nodes.map(({ sessionId, sidecarLag }) => [sessionId, sidecarLag]));
    expect(lags).toEqual({
      ahead: { stateDbAhead: true, rowsAhead: 1, secondsAhead: 0 },
      same: { stateDbAhead: false, rowsAhead: 0, secondsAhead: 0 },
      newer: { stateDbAhead: true, rowsAhead: 0, secondsAhead: 60 },
      none: { stateDbAhead: false, rowsAhead: 0, secondsAhead: 0 },
      alone: null,
    });
  });
});

describe('figures of a turn', () => {
  it('stand at the answer in a merged transcript, and nowhere in the rows', async () => {
    const at = 1_782_000_000;
    const messages = [
      { role: 'user', content: 'q', timestamp: at },
      { role: 'assistant', content: 'a', timestamp: at + 1, _turnDuration: 2.5, _usedModel: 'm', _turnUsage: { output_tokens: 7 } },
    ];
    const rows = [
      S('s', { source: 'webui' }),
      ...messages.map(({ role, content, timestamp }) => M('s', { role: role as 'user', content, timestamp })),
    ];
    const text = JSON.stringify({ session_id: 's', title: 'T', created_at: at, updated_at: at, message_count: 2, messages });
    const server = await startWebUi({ rows, files: { s: text }, allowWrites: false });
    const query = `{ session(sessionId: "s") {
      merged: messages(last: 1, merged: true) { nodes { rowId turn { durationMs usedModel usage { outputTokens } } } }
      rows: messages(last: 1) { nodes { turn { durationMs } recovered } } } }`;
    expect(await server.read(query)).toMatchObject({
      session: {
        merged: { nodes: [{ rowId: expect.any(String), turn: { durationMs: 2500, usedModel: 'm', usage: { outputTokens: 7 } } }] },
        rows: { nodes: [{ turn: null, recovered: false }] },
      },
    });
  });
});
