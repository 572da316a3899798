/**
 * A server for tests, over real sockets:
 *
 *   const server = await startTestServer({ rows: [S('a'), M('a', { content: 'Hello' })] });
 *   const { sessions } = await server.read(graphql(`query ...`));
 *
 * `startTestServer` runs the command in a process of its own, `startInProcess` in this one. Both end with the test file.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pino from 'pino';
import { afterAll } from 'vitest';
import { readConfig, SETTINGS, type SettingName } from '../../src/config.ts';
import { startServer } from '../../src/main.ts';
import { COMPILE_CACHE } from './program-start.ts';
import { buildStore, removeStores, type StoreSpec, temporaryFolder } from './stores.ts';

/** Settings by name, as a flag gives them; `true` for a switch. */
export type Settings = Partial<Record<SettingName, string | true>>;

export interface TestServerSpec extends StoreSpec {
  /** A Hermes home that is there already; by default one is made whose store has `rows` and the other parts of a store. */
  readonly home?: string;
  /** More stores in the same home, by the name of their profile. */
  readonly profiles?: Readonly<Record<string, StoreSpec>>;
  readonly settings?: Settings;
}

export interface ChildServerSpec extends TestServerSpec {
  /** Beside PATH and a HOME of its own. */
  readonly env?: NodeJS.ProcessEnv;
}

/** One line of the log. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly msg?: string };

export interface AnswerError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: Readonly<Record<string, unknown>> & { readonly code?: string };
}

export interface Answer<R> {
  readonly status: number;
  readonly data: R | null;
  readonly errors: readonly AnswerError[];
}

/** A document with the types of what it gives and takes, as `npm run codegen` makes it; or any text. */
export type Document<R, V> = string | (object & { readonly __apiType?: (variables: V) => R });

export class TestServer {
  /** Without the token. */
  readonly url: string;
  readonly graphql: string;
  readonly token: string;
  readonly home: string;
  readonly pid: number;
  readonly logs: () => readonly LogLine[];
  /** Ends it: a process with SIGTERM unless another signal is named. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<void>;
  /** Of a process that has ended. */
  readonly exitCode: () => number | null;

  constructor(parts: Pick<TestServer, 'url' | 'token' | 'home' | 'pid' | 'logs' | 'stop'> & Partial<Pick<TestServer, 'exitCode'>>) {
    this.url = parts.url;
    this.graphql = new URL('/graphql', parts.url).href;
    this.token = parts.token;
    this.home = parts.home;
    this.pid = parts.pid;
    this.logs = parts.logs;
    this.stop = parts.stop;
    this.exitCode = parts.exitCode ?? (() => null);
  }

  get storePath(): string {
    return join(this.home, 'state.db');
  }

  /** Headers of a signed-in POST with JSON. */
  get headers(): Record<string, string> {
    return { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' };
  }

  async query<R, V>(document: Document<R, V>, variables?: V, headers: Record<string, string> = {}): Promise<Answer<R>> {
    const response = await fetch(this.graphql, {
      method: 'POST',
      headers: { ...this.headers, ...headers },
      body: JSON.stringify({ query: String(document), variables }),
    });
    const body = (await response.json()) as { data?: R | null; errors?: AnswerError[] };
    return { status: response.status, data: body.data ?? null, errors: body.errors ?? [] };
  }

  /** The data of an answer that must be without errors. */
  async read<R, V>(document: Document<R, V>, variables?: V): Promise<R> {
    const { data, errors } = await this.query(document, variables);
    if (errors.length > 0 || data === null) throw new Error(`the query failed: ${JSON.stringify(errors)}`);
    return data;
  }

  /** The one error that an answer must have. */
  async error<R, V>(document: Document<R, V>, variables?: V): Promise<AnswerError> {
    const { errors } = await this.query(document, variables);
    const [first, second] = errors;
    if (first === undefined || second !== undefined) throw new Error(`one error was expected: ${JSON.stringify(errors)}`);
    return first;
  }

  /** The line of the last request with this operation name. */
  async requestLine(operationName: string): Promise<LogLine> {
    return eventually(() => this.logs().findLast((line) => line.msg === 'request' && line.operationName === operationName));
  }
}

export const TEST_TOKEN = 'test-token-0123456789';

const running = new Set<TestServer>();
const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
afterAll(async () => {
  await Promise.all([...running].map((server) => server.stop()));
  removeStores();
});

/** Runs `caduceus serve` as a child process and waits until it listens. Throws what it said on standard error when it doesn't start. */
export async function startTestServer(spec: ChildServerSpec = {}): Promise<TestServer> {
  const home = homeOf(spec);
  const readyFile = join(temporaryFolder(), 'ready.json');
  const program = runCommand(['serve', ...flagsOf({ ...defaults(home), readyFile, ...spec.settings })], spec.env);
  const { child } = program;
  while (!existsSync(readyFile)) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the server did not start:\n${program.stderr()}`);
    await sleep(20);
  }
  const ready = JSON.parse(readFileSync(readyFile, 'utf8')) as { url: string; pid: number; token: string | null; home: string };
  const server: TestServer = new TestServer({
    url: ready.url,
    token: ready.token ?? '',
    home: ready.home,
    pid: ready.pid,
    logs: () => parsedLines(program.stderr()),
    stop: async (signal = 'SIGTERM') => {
      running.delete(server);
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      await once(child, 'exit');
    },
    exitCode: () => child.exitCode,
  });
  running.add(server);
  return server;
}

/** The same server in this process: no start-up time, and its parts can be counted. */
export async function startInProcess(spec: TestServerSpec = {}): Promise<TestServer> {
  const home = homeOf(spec);
  const lines: string[] = [];
  const config = readConfig({ ...defaults(home), ...spec.settings }, {});
  const log = pino({ level: config.logLevel, base: null }, { write: (line: string) => void lines.push(line) });
  const { url, close } = await startServer(config, log, () => {});
  const server: TestServer = new TestServer({
    url,
    token: config.token ?? '',
    home,
    pid: process.pid,
    logs: () => parsedLines(lines.join('')),
    stop: async () => {
      if (running.delete(server)) await close();
    },
  });
  running.add(server);
  return server;
}

export interface RunningProgram {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
}

/** The command itself with any arguments; nothing of this machine's settings reaches it. */
export function runCommand(args: readonly string[], env: NodeJS.ProcessEnv = {}): RunningProgram {
  return runProgram(fileURLToPath(new URL('../../src/cli.ts', import.meta.url)), args, env);
}

/** Any program of the checkout, under the Node.js that runs the tests. */
export function runProgram(path: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): RunningProgram {
  const output = { stdout: '', stderr: '' };
  const child = spawn(process.execPath, [path, ...args], {
    cwd: temporaryFolder(),
    env: { PATH: process.env.PATH, HOME: temporaryFolder(), ...COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  return { child, stdout: () => output.stdout, stderr: () => output.stderr };
}

type Sought<T> = T | undefined | false | null;

/** Asks again until there is an answer. */
export async function eventually<T>(find: () => Sought<T> | Promise<Sought<T>>, timeoutMs = 5000): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await find();
    if (found !== undefined && found !== false && found !== null) return found;
    if (performance.now() > deadline) throw new Error(`nothing came within ${timeoutMs} ms`);
    await sleep(10);
  }
}

/** What the open descriptors of a process lead to. */
export function openDescriptors(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${descriptor}`)];
    } catch {
      // Closed since it was listed, as the one of the list itself.
      return [];
    }
  });
}

/** Settings as they are typed on the command line. */
export function flagsOf(settings: Settings): string[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    const flag = SETTINGS[name as SettingName].flag.split(' ')[0] ?? '';
    return value === true ? [flag] : [flag, value];
  });
}

function homeOf({ home, profiles = {}, settings: _, ...store }: TestServerSpec): string {
  const root = home ?? dirname(buildStore(store));
  for (const [name, spec] of Object.entries(profiles)) {
    mkdirSync(join(root, 'profiles', name), { recursive: true });
    renameSync(buildStore(spec), storePathOf(root, name));
  }
  return root;
}

/** Where the store of a named profile lies. */
export function storePathOf(home: string, profile: string): string {
  return join(home, 'profiles', profile, 'state.db');
}

function defaults(home: string): Settings {
  return { home, port: '0', stateDir: temporaryFolder(), claudeProjectsDir: join(home, 'no-claude-code'), token: TEST_TOKEN };
}

function parsedLines(text: string): LogLine[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as LogLine);
}
