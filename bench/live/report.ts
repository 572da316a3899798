/**
 * The figures of live turns as Markdown: for the terminal, and as docs/performance-live.md.
 */
import { median } from '../load.ts';

export interface LiveEffort {
  readonly lines: number;
  readonly rows: number;
  readonly idleSeconds: number;
  readonly crowdSeconds: number;
  readonly crowd: number;
  readonly stallSeconds: number;
  readonly stallRounds: number;
}

export interface Latency {
  readonly name: string;
  readonly subscribers: number;
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface LiveFigures {
  readonly machine: string;
  /** Load averages of a minute: beforehand all of it is the work of others. */
  readonly load: { readonly before: number; readonly after: number };
  readonly isJudged: boolean;
  readonly effort: LiveEffort;
  readonly lines: readonly Latency[];
  readonly rows: readonly Latency[];
  readonly idle: { readonly watched: number; readonly cpuShare: number };
  readonly fanOut: {
    readonly subscribers: number;
    readonly framesPerSecond: number;
    readonly bytesPerFrame: number;
    readonly cpuShare: number;
    readonly plainCpuShare: number;
    readonly latency: Latency;
    readonly bytesPerSubscriber: number;
    readonly growthBytes: number;
  };
  readonly stalled: StalledFigures;
}

export interface StalledFigures {
  /** At a time. */
  readonly sockets: number;
  readonly bytesPerSecond: number;
  /** Of the one who reads: medians of the rounds. */
  readonly alone: Latency;
  readonly beside: Latency;
  /** Of one socket, in each round. */
  readonly heldBytes: readonly number[];
}

const P50_MS = 10;
const P99_MS = 50;
const IDLE_SHARE = 0.01;
const CROWD_SHARE = 0.3;
const STALL_BYTES = 1024 * 1024;

export function livePage(figures: LiveFigures): string {
  const { lines, rows, idle, fanOut, stalled, effort, load } = figures;
  const judged = (met: boolean) => (figures.isJudged ? (met ? 'met' : 'missed') : 'not judged');
  return `# How soon and at what cost live turns arrive

Written by \`npm run bench -- live --write\`: the server, the program that writes and the subscribers are processes of their own, on ${figures.machine}.
Load of the machine when it began: ${load.before.toFixed(1)}; when it was done: ${load.after.toFixed(1)}.

## From an append or a commit in another process to its receipt

| what | subscribers | events | p50 ms | p99 ms | aim (p50 ≤ ${P50_MS}, p99 ≤ ${P99_MS}) |
| --- | --: | --: | --: | --: | --- |
${[...lines, ...rows].map((each) => `${latencyRow(each)} ${judged(each.p50Ms <= P50_MS && each.p99Ms <= P99_MS)} |`).join('\n')}

Each subscriber has a WebSocket of its own; default options (\`coalesceMs: 50\`), one event at a time. The time is the one that the writer put into the line or the
row before it wrote it; times have whole milliseconds, cut, so figures are up to one too high. All subscribers are in one process, which
shares the two cores.

## Cost

| what | figure | aim | |
| --- | --: | --: | --- |
| ${idle.watched} conversations followed in which nothing happens, over ${effort.idleSeconds} s | ${percent(idle.cpuShare)} of a core | ${percent(IDLE_SHARE)} | ${judged(idle.cpuShare <= IDLE_SHARE)} |
| ${fanOut.subscribers} subscribers of one conversation, ${Math.round(fanOut.framesPerSecond)} frames of ${Math.round(fanOut.bytesPerFrame)} bytes a second in all | ${percent(fanOut.cpuShare)} of a core | ${percent(CROWD_SHARE)} | ${judged(fanOut.cpuShare <= CROWD_SHARE)} |
| the same frames from the plain server | ${percent(fanOut.plainCpuShare)} of a core | | |
| ours to the plain server | ${(fanOut.cpuShare / fanOut.plainCpuShare).toFixed(2)} times | | |
| their latency | p50 ${ms(fanOut.latency.p50Ms)}, p99 ${ms(fanOut.latency.p99Ms)} ms | | |
| memory of a subscriber, its socket included | ${kib(fanOut.bytesPerSubscriber)} KiB | | |
| growth of memory while they are served for ${effort.crowdSeconds} s | ${kib(fanOut.growthBytes)} KiB | bounded | |
| memory of a socket that is not read, median of ${stalled.heldBytes.length} rounds | ${kib(median(stalled.heldBytes))} KiB (${stalled.heldBytes.map(kib).join(', ')}) | ${kib(STALL_BYTES)} KiB | ${judged(median(stalled.heldBytes) <= STALL_BYTES)} |
| latency of a reader by himself | p50 ${ms(stalled.alone.p50Ms)}, p99 ${ms(stalled.alone.p99Ms)} ms | | |
| latency of a reader beside ${stalled.sockets} that are not read | p50 ${ms(stalled.beside.p50Ms)}, p99 ${ms(stalled.beside.p99Ms)} ms | | |

CPU comes from the scheduler's account of the server's threads, memory is what the process holds on its heap and beside it after a garbage collection. The plain server
(\`bench/live/plain-broadcast.ts\`) sends one prepared text of the same size to every socket at the same pace: it reads no file and runs no GraphQL.

Sockets that are not read stand ${stalled.sockets} at a time beside one that is, while ${Math.round(stalled.bytesPerSecond / 1000)} kB a second are told for ${effort.stallSeconds} s: the system's own buffers take the first 4 MB or so,
then nothing goes out to them any more. What one of them costs is what gets free when they leave, less what gets free in the same time when there were none; rounds with
and without them take turns, and the latencies are medians of the rounds.
`;
}

function latencyRow({ name, subscribers, count, p50Ms, p99Ms }: Latency): string {
  return `| ${name} | ${subscribers} | ${count.toLocaleString('en-US')} | ${ms(p50Ms)} | ${ms(p99Ms)} |`;
}

function ms(value: number): string {
  return value.toFixed(1);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function kib(bytes: number): string {
  return Math.round(bytes / 1024).toLocaleString('en-US');
}
