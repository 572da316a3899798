/**
 * What following live turns costs, and how soon news arrive: the server, the programs that write, and the subscribers are processes of
 * their own on one machine.
 *
 *   npm run bench -- live [--quick] [--write]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';
import { startWebUi, type WebUi } from '../../test/support/web-ui-turn.ts';
import { median, quantile } from '../load.ts';
import { machine } from '../report.ts';
import { ServerProcess } from '../server-process.ts';
import { type Latency, type LiveEffort, type LiveFigures, livePage } from './report.ts';
import { Crowd } from './subscribers.ts';

const LIVE_TURN = `subscription Follow($sessionId: String!) {
  liveTurn(sessionId: $sessionId) {
    cursor
    catchUp
    events { __typename id kind ... on LiveEvent { at } ... on TextDelta { segment offset text } ... on MessagesAppended { ids supersedes { part segment } } }
  }
}`;

const FULL: LiveEffort = { lines: 300, rows: 150, idleSeconds: 30, crowdSeconds: 20, crowd: 1000, stallSeconds: 20 };
const QUICK: LiveEffort = { lines: 20, rows: 10, idleSeconds: 2, crowdSeconds: 2, crowd: 50, stallSeconds: 2 };

/** Farther apart than frames are, so that each line is a frame of its own. */
const LINE_PAUSE_MS = 70;
const ROW_PAUSE_MS = 100;
const HZ = 20;
/** A turn that is over. */
const SETTLED = [
  { role: 'user', content: 'earlier' },
  { role: 'assistant', content: 'Done.' },
] as const;
const WATCHED = 100;

export async function benchLive(quick: boolean, write: boolean, progress: (line: string) => void): Promise<void> {
  const effort = quick ? QUICK : FULL;
  progress(machine());
  const folder = mkdtempSync(join(tmpdir(), 'caduceus-bench-live-'));
  const ui = await startWebUi({ home: folder });
  for (let index = 0; index < WATCHED; index++) await ui.createSession(`s${index}`, { rows: SETTLED });
  const server = await ServerProcess.caduceus({ home: folder, webUiDir: join(folder, 'webui'), probed: true });
  try {
    const figures: LiveFigures = {
      machine: machine(),
      isJudged: !quick,
      effort,
      // Before anything else: a turn that ended is looked back at for two minutes.
      idle: await idle(server, effort, progress),
      lines: [await lineLatency(ui, server, 1, effort, progress), await lineLatency(ui, server, 200, effort, progress)],
      rows: [await rowLatency(ui, server, 1, effort, progress), await rowLatency(ui, server, 200, effort, progress)],
      fanOut: await fanOut(ui, server, effort, progress),
      stalled: await stalled(ui, server, effort, progress),
    };
    const page = livePage(figures);
    console.log(page);
    if (!write) return;
    const path = join(import.meta.dirname, '../../docs/performance-live.md');
    writeFileSync(path, page);
    progress(`Wrote ${path}`);
  } finally {
    await server.stop();
    await ui.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function socketUrl(server: ServerProcess): string {
  return `${server.url.replace(/^http/, 'ws')}graphql`;
}

let lastRun = 0;

/** A run of a session that is under way, until it is settled. */
async function beginRun(ui: WebUi, sessionId: string): Promise<{ readonly runId: string; readonly end: () => Promise<void> }> {
  const runId = `bench${++lastRun}`;
  await ui.submit({ sessionId, runId, text: 'go' });
  await ui.journal(sessionId, runId, [{ event: 'reasoning', payload: { text: 'so' } }]);
  return {
    runId,
    end: async () => {
      await ui.settle({ sessionId, runId });
      await ui.journal(sessionId, runId, [
        { event: 'done', payload: {} },
        { event: 'stream_end', payload: { session_id: sessionId } },
      ]);
    },
  };
}

function latencyOf(name: string, subscribers: number, latenciesMs: readonly number[]): Latency {
  return { name, subscribers, count: latenciesMs.length, p50Ms: median(latenciesMs), p99Ms: quantile(latenciesMs, 0.99) };
}

async function lineLatency(ui: WebUi, server: ServerProcess, count: number, effort: LiveEffort, progress: (line: string) => void) {
  const sessionId = `s${count === 1 ? 0 : 1}`;
  const run = await beginRun(ui, sessionId);
  const crowd = await Crowd.start(socketUrl(server), { count, query: LIVE_TURN, variables: [{ sessionId }] });
  await ui.journal(sessionId, run.runId, tokens(5), { afterMs: LINE_PAUSE_MS });
  await sleep(500);
  await crowd.heard();
  await ui.journal(sessionId, run.runId, tokens(effort.lines), { afterMs: LINE_PAUSE_MS });
  await sleep(300);
  const { latenciesMs } = await crowd.heard();
  await crowd.stop();
  await run.end();
  progress(`journal lines, ${count} subscribers`);
  return latencyOf('journal line', count, latenciesMs);
}

async function rowLatency(ui: WebUi, server: ServerProcess, count: number, effort: LiveEffort, progress: (line: string) => void) {
  const sessionId = `s${count === 1 ? 2 : 3}`;
  const crowd = await Crowd.start(socketUrl(server), { count, query: LIVE_TURN, variables: [{ sessionId }] });
  await sleep(500);
  await crowd.heard();
  for (let index = 0; index < effort.rows; index++) {
    await ui.rows(sessionId, [{ role: 'assistant', content: 'A row.' }]);
    await sleep(ROW_PAUSE_MS);
  }
  await sleep(300);
  const { latenciesMs } = await crowd.heard();
  await crowd.stop();
  progress(`rows, ${count} subscribers`);
  return latencyOf('committed row', count, latenciesMs);
}

/** A hundred conversations in which nothing happens, each followed by one subscriber. */
async function idle(server: ServerProcess, { idleSeconds }: LiveEffort, progress: (line: string) => void) {
  const variables = Array.from({ length: WATCHED }, (_, index) => ({ sessionId: `s${index}` }));
  const crowd = await Crowd.start(socketUrl(server), { count: WATCHED, query: LIVE_TURN, variables });
  await sleep(3000);
  const before = server.usage();
  await sleep(idleSeconds * 1000);
  const after = server.usage();
  await crowd.stop();
  progress('idle');
  return { watched: WATCHED, cpuShare: (after.ownCpuMs - before.ownCpuMs) / (idleSeconds * 1000) };
}

async function fanOut(ui: WebUi, server: ServerProcess, { crowd: count, crowdSeconds }: LiveEffort, progress: (line: string) => void) {
  const sessionId = 's4';
  const run = await beginRun(ui, sessionId);
  const idleBytes = await server.heldBytes();
  const crowd = await Crowd.start(socketUrl(server), { count, query: LIVE_TURN, variables: [{ sessionId }] });
  await sleep(1000);
  const settledBytes = await server.heldBytes();
  await crowd.heard();
  const before = server.usage();
  const began = performance.now();
  await ui.journal(sessionId, run.runId, tokens(crowdSeconds * HZ), { afterMs: 1000 / HZ });
  const seconds = (performance.now() - began) / 1000;
  const after = server.usage();
  await sleep(500);
  const servedBytes = await server.heldBytes();
  const { latenciesMs, frames, bytes } = await crowd.heard();
  await crowd.stop();
  await run.end();
  progress('fan-out');
  const plain = await ServerProcess.plainBroadcast(Math.round(bytes / frames), HZ);
  try {
    const listeners = await Crowd.start(plain.url.replace(/^http/, 'ws'), { count, query: null, variables: [{}] });
    await sleep(1000);
    const plainBefore = plain.usage();
    await sleep(crowdSeconds * 1000);
    const plainAfter = plain.usage();
    await listeners.stop();
    progress('fan-out of the plain server');
    return {
      subscribers: count,
      framesPerSecond: frames / seconds,
      bytesPerFrame: bytes / frames,
      cpuShare: (after.ownCpuMs - before.ownCpuMs) / (seconds * 1000),
      plainCpuShare: (plainAfter.ownCpuMs - plainBefore.ownCpuMs) / (crowdSeconds * 1000),
      latency: latencyOf('journal line', count, latenciesMs),
      bytesPerSubscriber: (settledBytes - idleBytes) / count,
      growthBytes: servedBytes - settledBytes,
    };
  } finally {
    await plain.stop();
  }
}

/** One socket that is never read, beside a subscriber that is; long lines, so that buffers fill. */
async function stalled(ui: WebUi, server: ServerProcess, { stallSeconds }: LiveEffort, progress: (line: string) => void) {
  const sessionId = 's5';
  const run = await beginRun(ui, sessionId);
  const crowd = await Crowd.start(socketUrl(server), { count: 1, query: LIVE_TURN, variables: [{ sessionId }] });
  const measure = async () => {
    await crowd.heard();
    await ui.journal(sessionId, run.runId, tokens(stallSeconds * HZ, 20_000), { afterMs: 1000 / HZ });
    await sleep(300);
    const { latenciesMs } = await crowd.heard();
    return latencyOf('journal line', 1, latenciesMs);
  };
  await measure();
  const alone = await measure();
  const socket = new WebSocket(socketUrl(server), ['graphql-transport-ws']);
  await new Promise((resolve) => socket.once('open', resolve));
  socket.send(JSON.stringify({ type: 'connection_init' }));
  await new Promise((resolve) => socket.once('message', resolve));
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: LIVE_TURN, variables: { sessionId } } }));
  socket.pause();
  const beside = await measure();
  // What the server holds for it is what is free when it is gone.
  const withIt = await server.heldBytes();
  socket.terminate();
  await sleep(1000);
  const withoutIt = await server.heldBytes();
  await crowd.stop();
  await run.end();
  progress('a stalled reader');
  return { alone, beside, heldBytes: withIt - withoutIt };
}

function tokens(count: number, length = 20) {
  return Array.from({ length: count }, () => ({ event: 'token', payload: { text: 'word '.repeat(Math.ceil(length / 5)) } }));
}
