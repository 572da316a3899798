/**
 * What following live turns costs, and how soon news arrive: the server, the programs that write, and the subscribers are processes of
 * their own on one machine.
 *
 *   npm run bench -- live [--only PART] [--quick] [--write]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { startWebUi, type WebUi } from '../../test/support/web-ui-turn.ts';
import { machine } from '../report.ts';
import { ServerProcess } from '../server-process.ts';
import { beginRun, HZ, LIVE_TURN, latencyOf, socketUrl, tokens } from './followed-run.ts';
import { type LiveEffort, type LiveFigures, livePage } from './report.ts';
import { stalled } from './stalled.ts';
import { Crowd } from './subscribers.ts';

const FULL: LiveEffort = { lines: 300, rows: 150, idleSeconds: 30, crowdSeconds: 20, crowd: 1000, stallSeconds: 12, stallRounds: 3 };
const QUICK: LiveEffort = { lines: 20, rows: 10, idleSeconds: 2, crowdSeconds: 2, crowd: 50, stallSeconds: 2, stallRounds: 1 };

/** Farther apart than frames are, so that each line is a frame of its own. */
const LINE_PAUSE_MS = 70;
const ROW_PAUSE_MS = 100;
/** A turn that is over. */
const SETTLED = [
  { role: 'user', content: 'earlier' },
  { role: 'assistant', content: 'Done.' },
] as const;
const WATCHED = 100;

export const PARTS = ['idle', 'lines', 'rows', 'fanOut', 'stalled'] as const;
export type Part = (typeof PARTS)[number];

export interface LiveBenchOptions {
  readonly quick: boolean;
  readonly write: boolean;
  /** Null: all, as a page. */
  readonly only: Part | null;
  readonly progress: (line: string) => void;
}

export async function benchLive({ quick, write, only, progress }: LiveBenchOptions): Promise<void> {
  const effort = quick ? QUICK : FULL;
  const [loadBefore = Number.NaN] = loadavg();
  progress(machine());
  const folder = mkdtempSync(join(tmpdir(), 'caduceus-bench-live-'));
  const ui = await startWebUi({ home: folder });
  for (let index = 0; index < WATCHED; index++) await ui.createSession(`s${index}`, { rows: SETTLED });
  const server = await ServerProcess.caduceus({ home: folder, webUiDir: join(folder, 'webui'), probed: true });
  const parts = {
    idle: () => idle(server, effort, progress),
    lines: async () => [await lineLatency(ui, server, 1, effort, progress), await lineLatency(ui, server, 200, effort, progress)],
    rows: async () => [await rowLatency(ui, server, 1, effort, progress), await rowLatency(ui, server, 200, effort, progress)],
    fanOut: () => fanOut(ui, server, effort, progress),
    stalled: () => stalled(ui, server, effort, progress),
  };
  try {
    if (only !== null) return console.log(inspect(await parts[only](), { depth: null }));
    const measured = {
      // Before anything else: a turn that ended is looked back at for two minutes.
      idle: await parts.idle(),
      lines: await parts.lines(),
      rows: await parts.rows(),
      fanOut: await parts.fanOut(),
      stalled: await parts.stalled(),
    };
    const [loadAfter = Number.NaN] = loadavg();
    const load = { before: loadBefore, after: loadAfter };
    const figures: LiveFigures = { machine: machine(), load, isJudged: !quick, effort, ...measured };
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
