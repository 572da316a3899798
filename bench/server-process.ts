/**
 * A server as a child process: started, waited for, and what it has used of processor and memory so far, as Linux counts it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 5000;
const POLL_MS = 5;
const ROOT = join(import.meta.dirname, '..');

export interface ServerOptions {
  readonly home: string;
  /** Default: none. */
  readonly webUiDir?: string;
  readonly logLevel?: 'silent' | 'info';
  readonly allowWrites?: boolean;
  /** Lets `heldBytes` be asked. */
  readonly probed?: boolean;
}

export class ServerProcess {
  /** Ends with a slash. */
  readonly url: string;
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #output: string[];

  private constructor(child: ChildProcess, pid: number, url: string, folder: string, output: string[]) {
    this.#child = child;
    this.pid = pid;
    this.url = url;
    this.#folder = folder;
    this.#output = output;
  }

  /** Ours, as a user would run it, on one home. */
  static caduceus({ home, webUiDir, logLevel = 'silent', probed = false, allowWrites = false }: ServerOptions): Promise<ServerProcess> {
    return ServerProcess.#start((folder, readyFile) => [
      ...(probed ? ['--expose-gc', '--import', join(ROOT, 'bench/live/memory-probe.ts')] : []),
      join(ROOT, 'src/cli.ts'),
      'serve',
      ...['--home', home, '--web-ui-dir', webUiDir ?? join(folder, 'no-web-ui')],
      ...['--claude-projects-dir', join(folder, 'no-claude-code')],
      ...['--port', '0', '--ready-file', readyFile, '--state-dir', join(folder, 'state')],
      ...['--no-auth', '--log-level', logLevel],
      ...(allowWrites ? ['--allow-writes'] : []),
    ]);
  }

  static plain({ home }: ServerOptions): Promise<ServerProcess> {
    return ServerProcess.#start((_, readyFile) => [
      join(ROOT, 'bench/plain-server.ts'),
      ...['--store', join(home, 'state.db'), '--ready-file', readyFile],
    ]);
  }

  static plainBroadcast(bytes: number, hz: number): Promise<ServerProcess> {
    return ServerProcess.#start((_, readyFile) => [
      join(ROOT, 'bench/live/plain-broadcast.ts'),
      ...['--ready-file', readyFile, '--bytes', String(bytes), '--hz', String(hz)],
    ]);
  }

  static async #start(argumentsFor: (folder: string, readyFile: string) => string[]): Promise<ServerProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'caduceus-bench-server-'));
    const readyFile = join(folder, 'ready.json');
    const output: string[] = [];
    const child = spawn(process.execPath, argumentsFor(folder, readyFile), {
      env: { ...process.env, NODE_ENV: 'production' },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => output.push(text));
    try {
      const url = await readyUrl(child, readyFile, () => output.join(''));
      return new ServerProcess(child, child.pid ?? 0, url, folder, output);
    } catch (error) {
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** What the process wrote to standard error, as whole lines. */
  get log(): string[] {
    return this.#output.join('').split('\n').slice(0, -1);
  }

  usage(): ProcessUsage {
    return processUsage(this.pid);
  }

  /** What the process holds on its heap and beside it, after a garbage collection; of a probed server. */
  async heldBytes(): Promise<number> {
    const answered = new Promise<number>((resolve) => this.#child.once('message', (bytes) => resolve(Number(bytes))));
    this.#child.send('held');
    return answered;
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGTERM');
      const forced = setTimeout(() => this.#child.kill('SIGKILL'), STOP_LIMIT_MS);
      await ended;
      clearTimeout(forced);
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function readyUrl(child: ChildProcess, readyFile: string, output: () => string): Promise<string> {
  const until = performance.now() + START_LIMIT_MS;
  while (!existsSync(readyFile)) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`A server did not start: ${output()}`);
    if (performance.now() > until) throw new Error(`A server was not ready after ${START_LIMIT_MS} ms: ${output()}`);
    await sleep(POLL_MS);
  }
  const facts: unknown = JSON.parse(readFileSync(readyFile, 'utf8'));
  if (typeof facts === 'object' && facts !== null && 'url' in facts && typeof facts.url === 'string') return facts.url;
  throw new Error(`The ready file ${readyFile} names no url.`);
}

/** Milliseconds of user and system time since the process began, and resident memory in bytes; NaN where the system doesn't tell. */
export interface ProcessUsage {
  readonly ownCpuMs: number;
  /** Of its child processes: those that live, and those that have ended. */
  readonly childCpuMs: number;
  readonly residentBytes: number;
}

const TICK_MS = 10;
const UNKNOWN: ProcessUsage = { ownCpuMs: Number.NaN, childCpuMs: Number.NaN, residentBytes: Number.NaN };

function processUsage(pid: number): ProcessUsage {
  if (process.platform !== 'linux') return UNKNOWN;
  const stat = statOf(pid);
  if (stat === null) return UNKNOWN;
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => statOf(Number(name))?.parent === pid);
  const childCpuMs = children.reduce((sum, child) => sum + cpuMs(Number(child)), stat.endedChildrenTicks * TICK_MS);
  const resident = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return { ownCpuMs: cpuMs(pid), childCpuMs, residentBytes: Number(resident?.[1] ?? Number.NaN) * 1024 };
}

/** From the scheduler's own account of each thread, in nanoseconds; where there is none, from the ticks of 10 ms. */
function cpuMs(pid: number): number {
  const threads = `/proc/${pid}/task`;
  try {
    const times = readdirSync(threads).map((thread) => Number(readFileSync(`${threads}/${thread}/schedstat`, 'utf8').split(' ')[0]));
    return times.reduce((sum, nanoseconds) => sum + nanoseconds / 1e6, 0);
  } catch (error) {
    if (!isGone(error)) throw error;
    return (statOf(pid)?.ticks ?? 0) * TICK_MS;
  }
}

function statOf(pid: number): { parent: number; ticks: number; endedChildrenTicks: number } | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
  // The command's name stands in parentheses and may hold anything, so what follows is counted from the last one.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const at = (index: number) => fields[index] ?? 0;
  return { parent: at(1), ticks: at(11) + at(12), endedChildrenTicks: at(13) + at(14) };
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH');
}
