/**
 * Slow reads in child processes, each with a time limit. A process and not a thread: a statement of SQLite that runs can't be
 * interrupted, and a thread in one can't be ended; a process can be killed, and a reader that is killed leaves no trace in a store.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { CaduceusError, InvalidInput, type StoreHealth, StoreUnreadable, TimeLimitExceeded } from '../errors.ts';
import { countStatement } from '../meter.ts';

/** What a job process answers; errors travel by their parts. */
export type JobReply =
  | { readonly ok: true; readonly value: unknown; readonly statements: number; readonly rows: number }
  | { readonly ok: false; readonly error: { name: string; code: string; message: string; details: Record<string, unknown> } };

export interface JobLimits {
  /** For messages, for example "The search". */
  readonly what: string;
  readonly limitMs: number;
  /** The setting that moves the limit. */
  readonly setting: string;
}

interface Waiting {
  readonly job: unknown;
  readonly limits: JobLimits;
  readonly resolve: (reply: Extract<JobReply, { ok: true }>) => void;
  readonly reject: (error: Error) => void;
}

interface Worker {
  readonly process: ChildProcess;
  current: Waiting | null;
  timer: NodeJS.Timeout | null;
  timedOut: boolean;
}

/** Jobs that may wait for a free process; more are refused, so that a burst can't grow memory without bound. */
const LONGEST_QUEUE = 200;

export class JobPool {
  readonly #entry: URL;
  readonly #size: number;
  readonly #workers = new Set<Worker>();
  readonly #queue: Waiting[] = [];
  #closed = false;

  constructor(entry: URL, size: number) {
    this.#entry = entry;
    this.#size = size;
  }

  /** Starts one process ahead of the first job, so that the first search doesn't wait for it. */
  warmUp(): void {
    if (this.#workers.size === 0) this.#spawn();
  }

  /** Ids of its processes. */
  get pids(): number[] {
    return [...this.#workers].flatMap(({ process }) => process.pid ?? []);
  }

  /** Ends every process, so that none has a store open; what runs in them is lost, what waits runs in new ones. */
  async renew(): Promise<void> {
    const ended = [...this.#workers].map(
      ({ process }) =>
        new Promise<void>((resolve) => {
          process.once('exit', () => resolve());
        }),
    );
    for (const { process } of this.#workers) process.kill('SIGKILL');
    await Promise.all(ended);
  }

  get running(): number {
    return this.#workers.size;
  }

  /** The job's value. Throws `TimeLimitExceeded` when it overran (its process is gone), or what the job threw. */
  async run<T>(job: unknown, limits: JobLimits): Promise<T> {
    if (this.#closed) throw new CaduceusError('SHUTTING_DOWN', 'The server is shutting down.');
    if (this.#queue.length >= LONGEST_QUEUE) {
      throw new CaduceusError('TOO_BUSY', 'Too many slow requests are waiting. Ask again in a moment.');
    }
    const reply = await new Promise<Extract<JobReply, { ok: true }>>((resolve, reject) => {
      this.#queue.push({ job, limits, resolve, reject });
      this.#dispatch();
    });
    // Counted here, where the meter of the request is: the reply came in outside of it.
    countStatement(reply.rows, reply.statements);
    return reply.value as T;
  }

  /** Ends every process; jobs that run or wait are rejected. */
  close(): void {
    this.#closed = true;
    const error = new CaduceusError('SHUTTING_DOWN', 'The server is shutting down.');
    for (const waiting of this.#queue.splice(0)) waiting.reject(error);
    for (const worker of this.#workers) worker.process.kill('SIGKILL');
  }

  #dispatch(): void {
    while (this.#queue.length > 0) {
      const idle = [...this.#workers].find((worker) => worker.current === null) ?? (this.#workers.size < this.#size ? this.#spawn() : null);
      if (idle === null) return;
      const next = this.#queue.shift();
      if (next === undefined) return;
      this.#start(idle, next);
    }
  }

  #start(worker: Worker, waiting: Waiting): void {
    worker.current = waiting;
    worker.timer = setTimeout(() => {
      worker.timedOut = true;
      worker.process.kill('SIGKILL');
    }, waiting.limits.limitMs);
    worker.process.send(waiting.job as object);
  }

  #spawn(): Worker {
    const process = fork(this.#entry, [], { serialization: 'advanced', execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const worker: Worker = { process, current: null, timer: null, timedOut: false };
    this.#workers.add(worker);
    process.on('message', (reply: JobReply) => this.#finish(worker, (waiting) => settle(waiting, reply)));
    process.on('error', (error) => this.#lose(worker, error));
    process.on('exit', () => this.#lose(worker, new Error('the job process ended')));
    // An idle process must not keep the server from ending.
    process.unref();
    process.channel?.unref();
    return worker;
  }

  #finish(worker: Worker, settleWith: (waiting: Waiting) => void): void {
    const waiting = worker.current;
    if (worker.timer !== null) clearTimeout(worker.timer);
    worker.timer = null;
    worker.current = null;
    if (waiting !== null) settleWith(waiting);
    this.#dispatch();
  }

  #lose(worker: Worker, cause: Error): void {
    if (!this.#workers.delete(worker)) return;
    this.#finish(worker, (waiting) => {
      const { what, limitMs, setting } = waiting.limits;
      const error = worker.timedOut
        ? new TimeLimitExceeded(what, limitMs, setting)
        : new CaduceusError('JOB_FAILED', `${what} could not be completed: its process ended. Ask again.`, { cause });
      waiting.reject(error);
    });
  }
}

function settle(waiting: Waiting, reply: JobReply): void {
  if (reply.ok) waiting.resolve(reply);
  else waiting.reject(revive(reply.error));
}

/** The error a job threw, as the class that it had there. */
function revive(error: Extract<JobReply, { ok: false }>['error']): Error {
  if (error.name === 'InvalidInput') return new InvalidInput(error.message, error.details, error.code);
  if (error.name === 'StoreUnreadable') return new StoreUnreadable(error.code as Exclude<StoreHealth, 'OK'>, error.message);
  if (error.name === 'CaduceusError') return new CaduceusError(error.code, error.message, { details: error.details });
  return new Error(error.message);
}
