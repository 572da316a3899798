/**
 * Sockets that are subscribed and never read, beside a reader who reads: what the server keeps for one of them, and whether the other
 * notices. Both are compared with the same load without them, in turns.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';
import type { WebUi } from '../../test/support/web-ui-turn.ts';
import { median } from '../load.ts';
import type { ServerProcess } from '../server-process.ts';
import { beginRun, HZ, LIVE_TURN, latencyOf, socketUrl, tokens } from './followed-run.ts';
import type { Latency, LiveEffort, StalledFigures } from './report.ts';
import { Crowd } from './subscribers.ts';

/** So many that what they cost is more than what the memory of a server that works changes by itself. */
const STALLED = 10;
/** Of a line: the system's own buffers, some 4 MB, are full after a third of the time. */
const LINE_BYTES = 50_000;

interface Measured {
  readonly latency: Latency;
  /** When the sockets were gone. */
  readonly freedBytes: number;
}

export async function stalled(
  ui: WebUi,
  server: ServerProcess,
  { stallSeconds, stallRounds }: LiveEffort,
  progress: (line: string) => void,
): Promise<StalledFigures> {
  const sessionId = 's5';
  const crowd = await Crowd.start(socketUrl(server), { count: 1, query: LIVE_TURN, variables: [{ sessionId }] });
  const lines = stallSeconds * HZ;
  /** Each time a run of its own, or the load would grow with the text. */
  const measure = async (count: number): Promise<Measured & { readonly framesRead: number }> => {
    const run = await beginRun(ui, sessionId);
    const sockets = await Promise.all(Array.from({ length: count }, () => unreadSocket(socketUrl(server), sessionId)));
    await sleep(1000);
    await crowd.heard();
    await ui.journal(sessionId, run.runId, tokens(lines, LINE_BYTES), { afterMs: 1000 / HZ });
    await sleep(300);
    const { latenciesMs } = await crowd.heard();
    const held = await server.heldBytes();
    const [last] = sockets.splice(-1);
    for (const socket of sockets) socket.terminate();
    await sleep(1000);
    const freedBytes = held - (await server.heldBytes());
    const framesRead = last === undefined ? 0 : await readUp(last);
    await run.end();
    return { latency: latencyOf('journal line', 1, latenciesMs), freedBytes, framesRead };
  };
  await measure(0);
  const alone: Measured[] = [];
  const beside: Measured[] = [];
  for (let round = 1; round <= stallRounds; round++) {
    alone.push(await measure(0));
    const { framesRead, ...measured } = await measure(STALLED + 1);
    // What a reader missed comes joined: the one that is left shows whether they were really behind.
    progress(`stalled readers, round ${round}: of ${lines} lines one got ${framesRead} frames when it was read at last`);
    beside.push(measured);
  }
  await crowd.stop();
  return {
    sockets: STALLED,
    bytesPerSecond: LINE_BYTES * HZ,
    alone: middleOf(alone),
    beside: middleOf(beside),
    heldBytes: beside.map(({ freedBytes }, round) => (freedBytes - (alone[round]?.freedBytes ?? 0)) / STALLED),
  };
}

function middleOf(measured: readonly Measured[]): Latency {
  const all = measured.map(({ latency }) => latency);
  const count = all.reduce((sum, latency) => sum + latency.count, 0);
  const of = (figure: 'p50Ms' | 'p99Ms') => median(all.map((latency) => latency[figure]));
  return { name: 'journal line', subscribers: 1, count, p50Ms: of('p50Ms'), p99Ms: of('p99Ms') };
}

/** Subscribed, and from then on nothing is read of it. */
async function unreadSocket(url: string, sessionId: string): Promise<WebSocket> {
  const socket = new WebSocket(url, ['graphql-transport-ws']);
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init' }));
  await once(socket, 'message');
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: LIVE_TURN, variables: { sessionId } } }));
  socket.pause();
  return socket;
}

/** How many frames come in the end. */
async function readUp(socket: WebSocket): Promise<number> {
  let frames = 0;
  socket.on('message', () => {
    frames++;
  });
  socket.resume();
  await sleep(2000);
  socket.terminate();
  return frames;
}
