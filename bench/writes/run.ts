/**
 * What appends cost beside the plainest insert.
 *
 *   npm run bench -- writes [--quick] [--write]
 */
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { BenchStore } from '../generate.ts';
import { Client, quantile } from '../load.ts';
import { machine } from '../report.ts';
import { ServerProcess } from '../server-process.ts';
import type { PlainOrder } from './plain-writer.ts';
import { type AppendFigure, writesPage } from './report.ts';

interface Effort {
  readonly requests: number;
  readonly batches: number;
  readonly rounds: number;
}

const FULL: Effort = { requests: 1000, batches: 100, rounds: 5 };
const QUICK: Effort = { requests: 20, batches: 3, rounds: 1 };
const CONTENT = 'A message of a usual length, with a few words that the index takes in. '.repeat(4).trim();
const BATCH = 50;
const LANES = 8;
const NEIGHBOUR_HZ = 50;
const PLAIN = new URL('./plain-writer.ts', import.meta.url);

const APPEND = `mutation ($input: AppendMessageInput!) { appendMessage(input: $input) { __typename ... on AppendMessagePayload { status } } }`;
const APPEND_ALL = `mutation ($input: AppendMessagesInput!) { appendMessages(input: $input) { __typename ... on AppendMessagesPayload { inserted { rowId } } } }`;

interface Round {
  readonly perSecond: number;
  readonly latenciesMs: readonly number[];
}

export async function benchWrites(store: BenchStore, quick: boolean, write: boolean, progress: (line: string) => void): Promise<void> {
  const effort = quick ? QUICK : FULL;
  const folder = mkdtempSync(join(tmpdir(), 'caduceus-bench-writes-'));
  cpSync(store.home, folder, { recursive: true });
  const path = join(folder, 'state.db');
  const ids = addSessions(path);
  const server = await ServerProcess.caduceus({ home: folder, allowWrites: true });
  const client = new Client(server);
  try {
    const ours = (count: number, lanes: number, body: () => string) => requests(client, count, lanes, body);
    const single = (more: () => object = () => ({})) =>
      JSON.stringify({
        query: APPEND,
        variables: { input: { sessionId: ids.ours, message: { role: 'user', content: CONTENT }, ...more() } },
      });
    const many = () =>
      JSON.stringify({
        query: APPEND_ALL,
        variables: { input: { sessionId: ids.ours, messages: Array.from({ length: BATCH }, () => ({ role: 'user', content: CONTENT })) } },
      });
    await ours(Math.min(200, effort.requests), 1, single);
    const kinds = [
      {
        name: 'plain writer',
        batch: 1,
        lanes: 1,
        count: effort.requests,
        of: null,
        run: () => plain({ path, sessionId: ids.plain, content: CONTENT, count: effort.requests }),
      },
      { name: 'appendMessage', batch: 1, lanes: 1, count: effort.requests, of: 0, run: () => ours(effort.requests, 1, single) },
      { name: 'appendMessage', batch: 1, lanes: LANES, count: effort.requests, of: 0, run: () => ours(effort.requests, LANES, single) },
      {
        name: 'appendMessage with a `clientMutationId`',
        batch: 1,
        lanes: 1,
        count: effort.requests,
        of: 0,
        run: () => ours(effort.requests, 1, () => single(() => ({ clientMutationId: randomUUID() }))),
      },
      {
        name: 'appendMessage with a neighbour',
        batch: 1,
        lanes: 1,
        count: effort.requests,
        of: 0,
        run: () => beside(path, ids.neighbour, () => ours(effort.requests, 1, single)),
      },
      {
        name: 'plain writer',
        batch: BATCH,
        lanes: 1,
        count: effort.batches,
        of: null,
        run: () => plain({ path, sessionId: ids.plain, content: CONTENT, count: effort.batches, batch: BATCH }),
      },
      { name: 'appendMessages', batch: BATCH, lanes: 1, count: effort.batches, of: 5, run: () => ours(effort.batches, 1, many) },
    ];
    const rounds: Round[][] = kinds.map(() => []);
    for (let round = 0; round < effort.rounds; round++) {
      for (const [index, kind] of kinds.entries()) rounds[index]?.push(await kind.run());
      progress(`round ${round + 1} of ${effort.rounds}`);
    }
    const rate = (index: number, round: number) => rounds[index]?.[round]?.perSecond ?? Number.NaN;
    const figures = kinds.map(({ name, batch, lanes, count, of }, index): AppendFigure => {
      const measured = rounds[index] ?? [];
      const latencies = measured.flatMap(({ latenciesMs }) => latenciesMs);
      return {
        name,
        batch,
        lanes,
        requests: count * effort.rounds,
        perSecond: quantile(
          measured.map(({ perSecond }) => perSecond * batch),
          0.5,
        ),
        p50Ms: quantile(latencies, 0.5),
        p99Ms: quantile(latencies, 0.99),
        ratio:
          of === null
            ? null
            : quantile(
                measured.map((_, round) => rate(index, round) / rate(of, round)),
                0.5,
              ),
      };
    });
    const page = writesPage({
      machine: machine(),
      isJudged: !quick,
      sessions: store.size.sessions,
      messages: store.size.messages,
      contentBytes: Buffer.byteLength(CONTENT),
      rounds: effort.rounds,
      figures,
      neighbourHz: NEIGHBOUR_HZ,
    });
    console.log(page);
    if (!write) return;
    const target = join(import.meta.dirname, '../../docs/performance-writes.md');
    writeFileSync(target, page);
    progress(`Wrote ${target}`);
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Sessions of their own, so that nobody appends behind somebody else. */
function addSessions(path: string): { readonly ours: string; readonly plain: string; readonly neighbour: string } {
  const ids = { ours: 'bench_ours', plain: 'bench_plain', neighbour: 'bench_neighbour' };
  const db = new Database(path);
  for (const id of Object.values(ids))
    db.prepare("INSERT INTO sessions (id, source, started_at) VALUES (?, 'cli', ?)").run(id, Date.now() / 1000);
  db.close();
  return ids;
}

async function requests(client: Client, count: number, lanes: number, body: () => string): Promise<Round> {
  const bodies = Array.from({ length: count }, body);
  const latenciesMs: number[] = [];
  const start = performance.now();
  const lane = async () => {
    for (let text = bodies.pop(); text !== undefined; text = bodies.pop()) {
      const before = performance.now();
      const answer = await client.send({ path: 'graphql', body: text });
      latenciesMs.push(performance.now() - before);
      if (!/"COMMITTED"|"rowId"/.test(answer)) throw new Error(`an append was not committed: ${answer.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return { perSecond: (count / (performance.now() - start)) * 1000, latenciesMs };
}

async function plain(order: PlainOrder): Promise<Round> {
  const child = fork(PLAIN, { execArgv: [] });
  const answered = new Promise<number[]>((resolve) => child.once('message', (latencies) => resolve(latencies as number[])));
  child.send(order);
  const latenciesMs = await answered;
  await gone(child);
  return { perSecond: (latenciesMs.length / latenciesMs.reduce((sum, ms) => sum + ms, 0)) * 1000, latenciesMs };
}

async function beside(path: string, sessionId: string, work: () => Promise<Round>): Promise<Round> {
  const neighbour = fork(PLAIN, { execArgv: [] });
  neighbour.send({ path, sessionId, content: CONTENT, hz: NEIGHBOUR_HZ } satisfies PlainOrder);
  try {
    return await work();
  } finally {
    neighbour.kill();
    await gone(neighbour);
  }
}

async function gone(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise((resolve) => child.once('exit', resolve));
}
