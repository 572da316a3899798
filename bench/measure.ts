/**
 * The measurement: bursts of every read on both servers, side by side, round after round, so that whatever else the machine does hits all
 * of them alike; and what is counted apart from that.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Burst, Client, CONNECTIONS, median, quantile } from './load.ts';
import { answer, HEAVIEST_SEARCH, LIST, type Read } from './reads.ts';
import { ServerProcess } from './server-process.ts';

export interface Effort {
  readonly warmUp: number;
  readonly requests: number;
  readonly rounds: number;
}

/** One read on one store. */
export interface Series {
  readonly read: Read;
  readonly ours: Client;
  readonly plain: Client;
}

export interface Figures {
  readonly read: Read;
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly cpuMs: number;
  readonly childCpuMs: number;
  readonly plainMedianMs: number;
  readonly plainP95Ms: number;
  readonly plainCpuMs: number;
  /** All CPU of ours to the plain server's in the same round. */
  readonly ratio: Spread;
}

export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

interface Pair {
  readonly ours: Burst;
  readonly plain: Burst;
}

/** Figures in the order of the series; `cpuByRound` gives, per series, the CPU of ours in each round. */
export async function measure(
  series: readonly Series[],
  effort: Effort,
  report: (line: string) => void,
): Promise<{ figures: Figures[]; cpuByRound: number[][] }> {
  for (const { read, ours, plain } of series) {
    await answer(ours, read.ours);
    await ours.burst(read.ours, countOf(read, effort.warmUp));
    await plain.burst(read.plain, countOf(read, effort.warmUp));
  }
  const pairs: Pair[][] = series.map(() => []);
  for (let round = 0; round < effort.rounds; round++) {
    // Whatever goes second finds other caches than what goes first: the order of everything alternates.
    const isForward = round % 2 === 0;
    const order = [...series.entries()];
    for (const [index, { read, ours, plain }] of isForward ? order : order.reverse()) {
      const count = countOf(read, effort.requests);
      const both = { ours: () => ours.burst(read.ours, count), plain: () => plain.burst(read.plain, count) };
      const first = isForward ? await both.ours() : await both.plain();
      const second = isForward ? await both.plain() : await both.ours();
      pairs[index]?.push(isForward ? { ours: first, plain: second } : { ours: second, plain: first });
    }
    report(`round ${round + 1} of ${effort.rounds}`);
  }
  const figures = series.map(({ read }, index) => figuresOf(read, pairs[index] ?? []));
  return { figures, cpuByRound: pairs.map((rounds) => rounds.map(({ ours }) => ours.cpuMs + ours.childCpuMs)) };
}

function countOf(read: Read, requests: number): number {
  return Math.max(CONNECTIONS, Math.round(requests * read.share));
}

function figuresOf(read: Read, pairs: readonly Pair[]): Figures {
  const latencies = (who: keyof Pair) => pairs.flatMap((pair) => pair[who].latenciesMs);
  const cpu = (who: keyof Pair) => median(pairs.map((pair) => pair[who].cpuMs));
  return {
    read,
    medianMs: median(latencies('ours')),
    p95Ms: quantile(latencies('ours'), 0.95),
    cpuMs: cpu('ours'),
    childCpuMs: median(pairs.map((pair) => pair.ours.childCpuMs)),
    plainMedianMs: median(latencies('plain')),
    plainP95Ms: quantile(latencies('plain'), 0.95),
    plainCpuMs: cpu('plain'),
    ratio: spread(pairs.map(({ ours, plain }) => (ours.cpuMs + ours.childCpuMs) / plain.cpuMs)),
  };
}

export function spread(values: readonly number[]): Spread {
  return { median: median(values), least: Math.min(...values), most: Math.max(...values) };
}

const LOG_WAIT_MS = 2000;

/** SQL statements of one request, from the server's own log lines: each read once for the first time, then once more, which counts. */
export async function countStatements(home: string, reads: readonly Read[]): Promise<Map<string, number>> {
  const server = await ServerProcess.caduceus({ home, logLevel: 'info' });
  const client = new Client(server);
  const counted = new Map<string, number>();
  try {
    for (const read of reads) {
      await answer(client, read.ours);
      await answer(client, read.ours);
      const lines = await linesOf(server, read.id, 2);
      counted.set(read.id, lines.at(-1) ?? Number.NaN);
    }
  } finally {
    await server.stop();
  }
  return counted;
}

async function linesOf(server: ServerProcess, operationName: string, wanted: number): Promise<number[]> {
  for (const until = performance.now() + LOG_WAIT_MS; ; await sleep(10)) {
    const found = server.log.flatMap((line) => statementsIn(line, operationName));
    if (found.length >= wanted || performance.now() > until) return found;
  }
}

function statementsIn(line: string, operationName: string): number[] {
  if (!line.startsWith('{')) return [];
  const entry = JSON.parse(line) as Readonly<Record<string, unknown>>;
  return entry.operationName === operationName && typeof entry.statements === 'number' ? [entry.statements] : [];
}

export interface Start {
  /** From the start of the process to the ready file, and to the first page of the list. */
  readonly readyMs: number;
  readonly firstAnswerMs: number;
  readonly residentBytes: number;
}

/** A start on a store that is in the file system's cache. */
export async function coldStart(home: string): Promise<Start> {
  const began = performance.now();
  const server = await ServerProcess.caduceus({ home });
  const client = new Client(server);
  try {
    const readyMs = performance.now() - began;
    await answer(client, LIST.ours);
    return { readyMs, firstAnswerMs: performance.now() - began, residentBytes: server.usage().residentBytes };
  } finally {
    await server.stop();
  }
}

export interface Crowded {
  readonly aloneMs: { readonly median: number; readonly p95: number };
  readonly besideMs: { readonly median: number; readonly p95: number };
  readonly searches: number;
}

/** What the list takes, one request at a time, while the heaviest search runs again and again beside it. */
export async function listBesideSearch(client: Client, requests: number): Promise<Crowded> {
  const alone = await client.burst(LIST.ours, requests, 1);
  let searches = 0;
  let running = true;
  const searcher = (async () => {
    for (; running; searches++) await client.send(HEAVIEST_SEARCH.ours);
  })();
  const beside: number[] = [];
  // For as long as two searches take at least, so that all of their course is covered.
  while (beside.length < requests || searches < 2) beside.push(...(await client.burst(LIST.ours, 10, 1)).latenciesMs);
  running = false;
  await searcher;
  const figures = (latencies: readonly number[]) => ({ median: median(latencies), p95: quantile(latencies, 0.95) });
  return { aloneMs: figures(alone.latenciesMs), besideMs: figures(beside), searches };
}
