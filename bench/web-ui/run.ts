/**
 * What lists, openings and changes of the Web UI's files cost beside parsing the same files plainly.
 *
 *   npm run bench -- web-ui [--quick] [--write]
 */
import { fork } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchStore } from '../generate.ts';
import { Client, quantile } from '../load.ts';
import { machine } from '../report.ts';
import { ServerProcess } from '../server-process.ts';
import { type FilesPlan, LARGE, OPENED, RENAMED, writeFiles } from './files.ts';
import type { PlainOrder } from './plain-reader.ts';
import { type FileFigure, webUiPage } from './report.ts';

const FULL = {
  plan: { files: 5000, large: 10, largeBytes: 10_000_000, opened: 2000 },
  starts: 3,
  requests: 200,
  saves: 30,
  made: 5,
  opens: 20,
} as const;
const QUICK = {
  plan: { files: 60, large: 1, largeBytes: 200_000, opened: 50 },
  starts: 1,
  requests: 5,
  saves: 2,
  made: 1,
  opens: 2,
} as const;
const PLAIN = new URL('./plain-reader.ts', import.meta.url);

const LIST = query(
  '{ sessions(first: 50) { totalCount hiddenCounts { reason count } nodes { sessionId displayTitle messageCount lastActiveAt } } }',
);
const PING = query('{ __typename }');
const COUNT = query(`{ session(sessionId: "${RENAMED}") { messageCount } }`);
const OPEN = query(`{ session(sessionId: "${OPENED}") { messages(last: 50) { totalCount nodes { role text timestamp } } } }`);
const TRANSCRIPT = query(`{ session(sessionId: "${OPENED}") { transcript { source revision messages { role text timestamp } } } }`);
const RENAME = `mutation ($input: UpdateSessionInput!) { updateSession(input: $input) { __typename ... on UpdateSessionPayload { changed } } }`;

export async function benchWebUi(store: BenchStore, quick: boolean, write: boolean, progress: (line: string) => void): Promise<void> {
  const effort = quick ? QUICK : FULL;
  const home = mkdtempSync(join(tmpdir(), 'caduceus-bench-web-ui-'));
  try {
    cpSync(store.home, home, { recursive: true });
    const webUiDir = join(home, 'webui');
    const sessionsDir = join(webUiDir, 'sessions');
    writeFiles(webUiDir, join(home, 'state.db'), effort.plan);
    progress(`wrote ${effort.plan.files} files`);
    const load = loadavg()[0]?.toFixed(1) ?? '?';
    const figures = await measure(home, sessionsDir, effort, progress);
    const page = webUiPage({
      machine: machine(),
      load,
      isJudged: !quick,
      plan: effort.plan,
      sessions: store.size.sessions,
      megabytes: sizeOf(sessionsDir) / 1e6,
      figures,
    });
    console.log(page);
    if (!write) return;
    const target = join(import.meta.dirname, '../../docs/performance-web-ui.md');
    writeFileSync(target, page);
    progress(`Wrote ${target}`);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

interface Effort {
  readonly plan: FilesPlan;
  readonly starts: number;
  readonly requests: number;
  readonly saves: number;
  /** Lists that are made anew, since a session came. */
  readonly made: number;
  readonly opens: number;
}

async function measure(home: string, sessionsDir: string, effort: Effort, progress: (line: string) => void): Promise<FileFigure[]> {
  const path = (id: string) => join(sessionsDir, `${id}.json`);
  const cold: number[] = [];
  const opened: number[] = [];
  for (let start = 0; start < effort.starts; start++) {
    await withServer(home, async (client) => {
      cold.push(await timed(() => client.send({ path: 'graphql', body: LIST })));
      opened.push(await timed(() => client.send({ path: 'graphql', body: OPEN })));
    });
  }
  progress('measured starts');
  const plainList = await plainly({ kind: 'LIST', sessionsDir });
  const plainOpen = await plainly({ kind: 'OPEN', path: path(OPENED), times: effort.opens });
  const rest = await withServer(home, async (client) => {
    const ask = (body: string) => () => client.send({ path: 'graphql', body });
    await ask(LIST)();
    const warm = await repeated(effort.requests, ask(LIST));
    const saved = await repeated(effort.saves, ask(LIST), () => saveAgain(path(RENAMED)));
    const seen = await untilSeen(effort.saves, path(RENAMED), ask(COUNT));
    const beside = await whileListsAreMade(sessionsDir, effort.made, ask(LIST), ask(PING));
    progress('measured lists');
    await ask(OPEN)();
    const again = await repeated(effort.requests, ask(OPEN));
    const whole = await repeated(effort.opens, ask(TRANSCRIPT), () => saveAgain(path(OPENED)));
    const renames = await repeated(effort.opens, (index) => renamed(client, RENAMED, index));
    const largeRenames = await repeated(Math.min(5, effort.opens), (index) => renamed(client, LARGE, index));
    return { warm, saved, seen, beside, again, whole, renames, largeRenames };
  });
  const plainRename = await plainly({ kind: 'RENAME', path: path(RENAMED), times: effort.opens });
  const plainLarge = await plainly({ kind: 'RENAME', path: path(LARGE), times: Math.min(5, effort.opens) });
  const figure = (name: string, latencies: readonly number[], plainMs: number | null, plain: string): FileFigure => ({
    name,
    requests: latencies.length,
    p50Ms: quantile(latencies, 0.5),
    p95Ms: quantile(latencies, 0.95),
    plainMs,
    plain,
  });
  return [
    figure('first list after a start', cold, plainList, 'parse all files'),
    figure('list', rest.warm, plainList, 'parse all files'),
    figure('list after a save', rest.saved, plainList, 'parse all files'),
    figure('until a save is in the lists', rest.seen, null, ''),
    figure('another request while lists are made anew', rest.beside, null, ''),
    figure('the last 50 messages of a session of 2,000 in both places, for the first time', opened, plainOpen, 'parse its file'),
    figure('the same again', rest.again, plainOpen, 'parse its file'),
    figure('its whole transcript after a save', rest.whole, plainOpen, 'parse its file'),
    figure('rename of a small session', rest.renames, plainRename, 'parse, change, write'),
    figure('rename of a session of 10 MB', rest.largeRenames, plainLarge, 'parse, change, write'),
  ];
}

async function withServer<T>(home: string, work: (client: Client) => Promise<T>): Promise<T> {
  const server = await ServerProcess.caduceus({ home, webUiDir: join(home, 'webui'), allowWrites: true });
  try {
    return await work(new Client(server));
  } finally {
    await server.stop();
  }
}

async function timed(work: () => Promise<string>): Promise<number> {
  const before = performance.now();
  const answer = await work();
  const took = performance.now() - before;
  if (answer.includes('"errors"')) throw new Error(`a request failed: ${answer.slice(0, 500)}`);
  return took;
}

async function repeated(count: number, work: (index: number) => Promise<string>, before: () => void = () => {}): Promise<number[]> {
  const latencies: number[] = [];
  for (let index = 0; index < count; index++) {
    before();
    latencies.push(await timed(() => work(index)));
  }
  return latencies;
}

/** From a save to the first answer that has it, asked for again and again. */
async function untilSeen(count: number, path: string, ask: () => Promise<string>): Promise<number[]> {
  const latencies: number[] = [];
  for (let index = 0; index < count; index++) {
    const before = await ask();
    saveAgain(path);
    const savedAt = performance.now();
    while ((await ask()) === before) await sleep(1);
    latencies.push(performance.now() - savedAt);
  }
  return latencies;
}

/** How long one request after the other takes, until new sessions are in the list, one after the other. */
async function whileListsAreMade(
  sessionsDir: string,
  count: number,
  list: () => Promise<string>,
  ask: () => Promise<string>,
): Promise<number[]> {
  const latencies: number[] = [];
  for (let index = 0; index < count; index++) {
    const before = await list();
    const text = JSON.stringify({
      session_id: `bench_new_${index}`,
      title: 'New',
      updated_at: 1_790_000_000 + index,
      messages: [{ role: 'user', content: 'New' }],
    });
    writeFileSync(join(sessionsDir, `bench_new_${index}.json`), text);
    let isSeen = false;
    const seen = (async () => {
      while ((await list()) === before) await sleep(20);
      isSeen = true;
    })();
    while (!isSeen) latencies.push(await timed(ask));
    await seen;
  }
  return latencies;
}

/** As the owner saves: written beside, then renamed; the session is one message longer each time. */
function saveAgain(path: string): void {
  const file = JSON.parse(readFileSync(path, 'utf8')) as { messages: unknown[]; message_count: number; updated_at: number };
  file.messages.push({ role: 'user', content: 'One more', timestamp: ++file.updated_at });
  file.message_count = file.messages.length;
  writeFileSync(`${path}.tmp.${process.pid}`, JSON.stringify(file, null, 2));
  renameSync(`${path}.tmp.${process.pid}`, path);
}

async function renamed(client: Client, sessionId: string, index: number): Promise<string> {
  const body = JSON.stringify({ query: RENAME, variables: { input: { sessionId, title: `Renamed ${index}` } } });
  const answer = await client.send({ path: 'graphql', body });
  if (!answer.includes('"changed":true')) throw new Error(`a rename changed nothing: ${answer.slice(0, 300)}`);
  return answer;
}

/** The median of what the plain process took. */
async function plainly(order: PlainOrder): Promise<number> {
  const child = fork(PLAIN, { execArgv: [] });
  const answered = new Promise<number[]>((resolve) => child.once('message', (latencies) => resolve(latencies as number[])));
  child.send(order);
  return quantile(await answered, 0.5);
}

function sizeOf(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

function query(text: string): string {
  return JSON.stringify({ query: text });
}
