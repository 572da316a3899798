/** Whether a turn still runs, by what lies on disk and by what a running Web UI says (`spec/webui-recovery.md` 5). */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { askWebUi } from '../../../src/web-ui/recovery/ask-web-ui.ts';
import { type TurnFacts, turnLife } from '../../../src/web-ui/recovery/live-state.ts';

const NOW = 1_790_000_000;
const STARTED = NOW - 1000;
const FACTS: TurnFacts = {
  now: NOW,
  streamId: 'st1',
  startedAt: STARTED,
  endedAt: null,
  settledAt: null,
  pid: 7,
  process: 'ALIVE',
  changedAt: null,
  quietSeconds: 120,
  webUi: null,
};
const RESTARTED = { isStreaming: false, startedAt: NOW - 5 };

describe('a turn', () => {
  it.each<[string, Partial<TurnFacts>, string, string, string]>([
    ['E1', { endedAt: NOW - 31 }, 'DEAD', 'LOST_WORKER_BOOKKEEPING', 'RUN_ENDED'],
    ['E1: the worker may be about to save', { endedAt: NOW - 30 }, 'UNKNOWN', 'LOST_WORKER_BOOKKEEPING', 'PROCESS_RUNS'],
    ['E2', { settledAt: NOW - 31 }, 'DEAD', 'LOST_WORKER_BOOKKEEPING', 'TURN_SETTLED'],
    ['E3, E4', { process: 'DEAD' }, 'DEAD', 'PROCESS_RESTART', 'PROCESS_GONE'],
    ['E3 over E7', { process: 'DEAD', changedAt: NOW - 1 }, 'DEAD', 'PROCESS_RESTART', 'PROCESS_GONE'],
    ['E1 over E7', { endedAt: NOW - 31, changedAt: NOW - 1 }, 'DEAD', 'LOST_WORKER_BOOKKEEPING', 'RUN_ENDED'],
    ['E5 over all', { webUi: { isStreaming: true, startedAt: NOW - 5 }, process: 'DEAD' }, 'LIVE', 'PROCESS_RESTART', 'WEB_UI_STREAMS'],
    ['E6', { webUi: RESTARTED, changedAt: NOW - 1 }, 'DEAD', 'PROCESS_RESTART', 'WEB_UI_STARTED_LATER'],
    [
      'E6: that it does not stream proves nothing',
      { webUi: { ...RESTARTED, startedAt: STARTED - 5 } },
      'UNKNOWN',
      'LOST_WORKER_BOOKKEEPING',
      'PROCESS_RUNS',
    ],
    ['E7', { changedAt: NOW - 119 }, 'LIVE', 'LOST_WORKER_BOOKKEEPING', 'CHANGED_RECENTLY'],
    ['E7: no longer', { changedAt: NOW - 120 }, 'UNKNOWN', 'LOST_WORKER_BOOKKEEPING', 'PROCESS_RUNS'],
    ['E8: of a process that can not be looked at', { process: 'UNKNOWN' }, 'UNKNOWN', 'LOST_WORKER_BOOKKEEPING', 'PROCESS_RUNS'],
    ['E9', { pid: null, process: 'UNKNOWN' }, 'DEAD', 'LOST_WORKER_BOOKKEEPING', 'NOTHING_CHANGED'],
    ['without a run', { streamId: null, pid: null }, 'DEAD', 'UNKNOWN', 'NOTHING_CHANGED'],
  ])('%s', (_, more, state, cause, code) => {
    expect(turnLife({ ...FACTS, ...more })).toMatchObject({
      state,
      cause,
      evidence: expect.arrayContaining([expect.objectContaining({ code })]),
    });
    expect(turnLife({ ...FACTS, ...more }).evidence[0]?.code).toBe(code);
  });

  it('is told of with times that are no dates', () => {
    expect(turnLife({ ...FACTS, endedAt: -1e300 }).evidence[0]?.sentence).toContain('an unknown time');
  });
});

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

/** A Web UI that answers these bodies; any other address is not found. */
async function webUi(bodies: Readonly<Record<string, unknown>>): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    const body = bodies[url.split('?')[0] ?? ''];
    if (body === 'SILENT') return;
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body ?? {}));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hermes`, asked };
}

describe('a Web UI that runs', () => {
  it('is asked for the stream alone', async () => {
    const { url, asked } = await webUi({
      '/hermes/api/chat/stream/status': { active: true },
      '/hermes/health': { status: 'ok', server_started_at: 1_789_999_000.5 },
    });
    expect(await askWebUi(url, 'a/b&c')).toEqual({ isStreaming: true, startedAt: 1_789_999_000.5 });
    expect(asked.sort()).toEqual(['/hermes/api/chat/stream/status?stream_id=a%2Fb%26c', '/hermes/health']);
  });

  it('may answer one of the two, or nothing that can be used', async () => {
    expect(await askWebUi((await webUi({ '/hermes/health': { server_started_at: 'soon' } })).url, 's')).toEqual({
      isStreaming: false,
      startedAt: null,
    });
    expect(await askWebUi((await webUi({ '/hermes/health': '<html>', '/hermes/api/chat/stream/status': '[1]' })).url, 's')).toBeNull();
    expect(await askWebUi((await webUi({ '/hermes/health': `{"x":"${'y'.repeat(100_000)}"}` })).url, 's')).toBeNull();
    expect(await askWebUi('http://127.0.0.1:1', 's')).toBeNull();
  });
});
