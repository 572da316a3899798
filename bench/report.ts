/**
 * The figures as Markdown: for the terminal, and as docs/performance.md.
 */
import { cpus, totalmem } from 'node:os';
import type { BenchStore } from './generate.ts';
import type { Crowded, Effort, Figures, Spread, Start } from './measure.ts';

export interface Results {
  /** Whether the figures are good enough to say that an aim was met. */
  readonly isJudged: boolean;
  readonly effort: Effort;
  readonly large: BenchStore;
  readonly small: BenchStore;
  /** Of the large store, in the order of the table. */
  readonly figures: readonly Figures[];
  /** The list on the small store, and the CPU of the large one's to it, round by round. */
  readonly smallList: Figures;
  readonly listGrowth: Spread;
  readonly statements: ReadonlyMap<string, number>;
  readonly start: Start;
  readonly residentBytesAfterwards: number;
  readonly crowded: Crowded;
}

export function machine(): string {
  const processors = cpus();
  return `${processors.length} cores, ${processors[0]?.model.trim() ?? 'unknown processor'}, ${gigabytes(totalmem())} of memory, ${process.platform}, Node.js ${process.versions.node}`;
}

export function table({ figures, smallList, statements, large, small, isJudged }: Results): string {
  const head = ['read', 'sessions', 'median ms', 'p95 ms', 'CPU ms', '× plain CPU', 'SQL', 'plain: median ms', 'p95 ms', 'CPU ms', 'aim'];
  const rows = [
    ...figures.slice(0, 1).map((entry) => row(entry, large, statements, isJudged)),
    row(smallList, small, statements, isJudged),
    ...figures.slice(1).map((entry) => row(entry, large, statements, isJudged)),
  ];
  return [head, head.map((_, index) => (index === 0 ? '---' : '--:')), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function row(figures: Figures, store: BenchStore, statements: ReadonlyMap<string, number>, isJudged: boolean): string[] {
  const { read, ratio, childCpuMs } = figures;
  const inChildren = childCpuMs >= 0.05 ? ` + ${milliseconds(childCpuMs)}` : '';
  return [
    read.title,
    store.size.sessions.toLocaleString('en'),
    milliseconds(figures.medianMs),
    milliseconds(figures.p95Ms),
    milliseconds(figures.cpuMs) + inChildren,
    times(ratio),
    String(statements.get(read.id) ?? '?'),
    milliseconds(figures.plainMedianMs),
    milliseconds(figures.plainP95Ms),
    milliseconds(figures.plainCpuMs),
    aim(figures, isJudged),
  ];
}

function aim({ read, ratio }: Figures, isJudged: boolean): string {
  if (read.aim === undefined) return '';
  if (!isJudged) return String(read.aim);
  return `${read.aim}: ${ratio.median <= read.aim ? 'met' : 'missed'}`;
}

export function notes({ listGrowth, start, residentBytesAfterwards, crowded, large, small, effort }: Results): string {
  const { aloneMs, besideMs, searches } = crowded;
  return [
    `- The same page at ${large.size.sessions.toLocaleString('en')} sessions costs ${times(listGrowth)} times the CPU that it costs at ${small.size.sessions}.`,
    `- Start: ready after ${Math.round(start.readyMs)} ms, first page of the list after ${Math.round(start.firstAnswerMs)} ms (the file in the system's cache); resident memory then ${megabytes(start.residentBytes)}, after all of this ${megabytes(residentBytesAfterwards)}.`,
    `- While the heaviest search runs (${searches} of them in a row), the list takes ${milliseconds(besideMs.median)} ms, p95 ${milliseconds(besideMs.p95)} ms, one request at a time; without it ${milliseconds(aloneMs.median)} ms, p95 ${milliseconds(aloneMs.p95)} ms.`,
    `- Stores: ${describe(large)}; ${describe(small)}.`,
    `- Machine: ${machine()}. ${effort.rounds} rounds, ${effort.requests} requests a burst for the quick reads, warmed up with ${effort.warmUp}.`,
  ].join('\n');
}

function describe({ size, bytes, generatedInSeconds }: BenchStore): string {
  return `${size.sessions.toLocaleString('en')} sessions and ${size.messages.toLocaleString('en')} messages in ${megabytes(bytes)} (made in ${Math.round(generatedInSeconds)} s)`;
}

export function page(results: Results): string {
  return `# Performance

What reads cost on a large store, measured beside the plainest server that could answer the same. Written by \`npm run bench -- --write\`;
edit \`bench/report.ts\`, not this file. Run it yourself with \`npm run bench\` (five minutes, two more the first time, and 1.2 GB in the folder for temporary
files, which stay there for the next run; \`--store DIR\` keeps them elsewhere, \`--quick\` takes a small store and a minute).

## Figures

${table(results)}

${notes(results)}

Columns: \`CPU ms\` is what the server process uses for one request, and behind the plus what the processes use in which it runs slow reads.
\`× plain CPU\` is the sum of both to the plain server's in the same round: the median of all rounds, and the least and the most. \`SQL\`
counts the statements of one request, wherever they run. Latencies are of four requests at a time, seen by the client; with two cores, client
and server share them.

## Aims

- The first page of the list costs at most 2.5 times what it costs the plain server, and the same at 100 and at 10,000 sessions.
- The 50 newest messages of a session with 2,000 cost at most 2 times.
- Nothing on the way of a list reads a whole table. The list is read from a catalogue in memory; all that it asks the store is whether it
  changed (\`PRAGMA data_version\`, not counted as a statement). With \`preview\` it runs one statement, which finds the first rows of each session
  by index. \`totalCount\` reads no table either, but passes over the whole catalogue. After somebody's write the catalogue is compared with the
  sessions table and the message index, beside the requests. The benchmark counts statements; it doesn't check their plans.

## What is compared

The plain server (\`bench/plain-server.ts\`) is \`node:http\`, better-sqlite3, one prepared statement for each question, and
\`JSON.stringify\` of its rows: no GraphQL, no checks, times as they are stored. The order by recent activity is in no column. Reading it
off the messages takes SQL a good part of a second on this store; ordering by \`started_at\` would give other rows. So the plain server
computes the list once at its start, into a temporary table, and reads 50 rows of it by primary key. That is as cheap as it gets, and wrong
after the next write; ours follows every write. Before anything is measured, both have to give the same 50 sessions and the same 50 messages.
The row with the same
values says what remains when the plain server also writes global ids, ISO times and booleans. Where the plain server has no equal (what a person is shown of a chain of sessions, say), it does the nearest plain thing, and the ratio says
what the difference costs.

## How it is measured

- The store is generated (\`bench/generate.ts\`), the same bytes each time: sessions of all sources, a fifth of the conversations compressed
  into chains of two to six segments, branches, delegates, tool results from half a kilobyte to 200 kB, both full-text indexes filled by
  their triggers.
- Both servers run as processes of their own with \`NODE_ENV=production\`, ours by its command line. Four keep-alive connections.
- A read is measured in bursts, ours and the plain server's directly after each other, in alternating order, all reads in turn and back,
  round after round: what else the machine does meets all of them. The ratio is taken within a round. The list on the two stores is measured
  first, by itself, on servers that have done nothing else.
- CPU comes from the scheduler's account of the server's threads (\`/proc/PID/task/*/schedstat\`), so from Linux only.
- Statements come from the server's own log, in a run apart.
`;
}

function times({ median, least, most }: Spread): string {
  return `${decimals(median)} (${decimals(least)}–${decimals(most)})`;
}

function milliseconds(value: number): string {
  return value >= 100 ? String(Math.round(value)) : decimals(value);
}

function decimals(value: number): string {
  if (Number.isNaN(value)) return '–';
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function megabytes(bytes: number): string {
  return Number.isNaN(bytes) ? 'unknown' : `${Math.round(bytes / 1e6).toLocaleString('en')} MB`;
}

function gigabytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 30)} GB`;
}
