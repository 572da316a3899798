/**
 * Long work on stores: one job a store at a time, in a process of its own, with progress for whoever asks (`spec/state-db-writes.md` 14, 16,
 * M1). A second request for the same work gets the job that runs.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { PushStream } from '../live/push-stream.ts';
import { WriteRefused } from '../write-refused.ts';
import type { FromMaintenance, MaintenanceJob, MaintenanceRequest, MaintenanceStep } from './maintenance-protocol.ts';

export interface MaintenanceStore {
  readonly profile: string;
  readonly path: string;
}

export interface JobState {
  readonly jobId: string;
  readonly profile: string;
  readonly kind: MaintenanceJob['kind'];
  readonly state: 'RUNNING' | 'DONE' | 'FAILED';
  readonly progress: MaintenanceStep | null;
  /** Epoch seconds. */
  readonly startedAt: number;
  readonly finishedAt: number | null;
  readonly result: unknown;
  readonly error: Error | null;
}

export interface MaintenanceOptions {
  /** The file of the process. */
  readonly entry: URL;
  readonly now: () => number;
  readonly cjkLibrary: string | null;
  /** Processes of this server that may have the store open. */
  readonly ours: () => readonly number[];
  readonly isQuarantined: (path: string) => boolean;
  /** Closes every connection of this server to the store, and keeps them closed until the function that it gives is called. */
  readonly closeStore: (store: MaintenanceStore) => Promise<() => void>;
}

interface Job {
  state: JobState;
  readonly work: MaintenanceJob;
  readonly finished: Promise<void>;
  readonly streams: Set<PushStream<JobState>>;
  child: ChildProcess | null;
}

/** Finished jobs that can still be asked for. */
const MOST_KEPT = 100;
/** Work during which nobody may have the store open, this server neither. */
const EXCLUSIVE: ReadonlySet<MaintenanceJob['kind']> = new Set(['REPAIR', 'OPTIMIZE']);

export class Maintenance {
  readonly #options: MaintenanceOptions;
  readonly #jobs = new Map<string, Job>();
  readonly #running = new Map<string, Job>();
  readonly #lastRebuild = new Map<string, Date>();

  constructor(options: MaintenanceOptions) {
    this.#options = options;
  }

  /** Starts the job, or finds the same one running. Throws STORE_BUSY while another job works on the store. */
  start(store: MaintenanceStore, work: MaintenanceJob): JobState {
    const running = this.#running.get(store.path);
    if (running !== undefined) {
      if (JSON.stringify(running.work) === JSON.stringify(work)) return running.state;
      throw new WriteRefused('STORE_BUSY', 'Other maintenance of this store is under way.', { details: { jobId: running.state.jobId } });
    }
    const { kind } = work;
    const state: JobState = {
      jobId: randomUUID(),
      profile: store.profile,
      kind,
      state: 'RUNNING',
      progress: null,
      startedAt: this.#options.now(),
      finishedAt: null,
      result: null,
      error: null,
    };
    const { promise: finished, resolve } = Promise.withResolvers<void>();
    const job: Job = { state, work, finished, streams: new Set(), child: null };
    this.#jobs.set(state.jobId, job);
    this.#running.set(store.path, job);
    this.#forgetOldest();
    void this.#run(store, job)
      .then(
        (result) => this.#finish(store, job, { state: 'DONE', result }),
        (error: unknown) => this.#finish(store, job, { state: 'FAILED', error: error instanceof Error ? error : new Error(String(error)) }),
      )
      .finally(resolve);
    return state;
  }

  find(jobId: string): JobState | null {
    return this.#jobs.get(jobId)?.state ?? null;
  }

  /** When the last index was rebuilt by this server; null when none was. */
  lastRebuildOf(path: string): Date | null {
    return this.#lastRebuild.get(path) ?? null;
  }

  /** The state once the job is over, or after so many milliseconds. Throws what the job failed with. */
  async outcome(jobId: string, waitMs: number): Promise<JobState> {
    const job = this.#jobs.get(jobId);
    if (job === undefined) throw new WriteRefused('NOT_FOUND', 'There is no such job.');
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, waitMs);
    });
    await Promise.race([job.finished, late]);
    clearTimeout(timer);
    if (job.state.error !== null) throw job.state.error;
    return job.state;
  }

  /** The state now and at every change; ends after the last one. Null for an unknown job. */
  follow(jobId: string, signal: AbortSignal): PushStream<JobState> | null {
    const job = this.#jobs.get(jobId);
    if (job === undefined) return null;
    let told: JobState | null = null;
    const stream: PushStream<JobState> = new PushStream<JobState>(
      () => {
        if (told !== null && told.state !== 'RUNNING') setImmediate(() => stream.stop());
        if (told === job.state) return null;
        told = job.state;
        return told;
      },
      () => job.streams.delete(stream),
      signal,
    );
    job.streams.add(stream);
    return stream;
  }

  /** Ends what runs; SQLite undoes what was not committed. */
  async close(): Promise<void> {
    const running = [...this.#running.values()];
    for (const job of running) job.child?.kill('SIGKILL');
    await Promise.all(running.map(({ finished }) => finished));
  }

  async #run(store: MaintenanceStore, job: Job): Promise<unknown> {
    const reopen = EXCLUSIVE.has(job.work.kind) ? await this.#options.closeStore(store) : () => {};
    try {
      return await this.#inProcess(store, job);
    } finally {
      reopen();
    }
  }

  #inProcess(store: MaintenanceStore, job: Job): Promise<unknown> {
    const child = fork(this.#options.entry, [], { serialization: 'advanced', execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    job.child = child;
    return new Promise((resolve, reject) => {
      child.on('message', (message: FromMaintenance) => {
        if (message.kind === 'STEP') this.#change(job, { progress: message.step });
        else if (message.kind === 'DONE') resolve(message.result);
        else
          reject(
            message.code === null ? new Error(message.message) : WriteRefused.restored(message.code, message.message, message.details),
          );
      });
      child.once('error', reject);
      child.once('exit', () => reject(new WriteRefused('WRITER_LOST', 'The process of the job ended.')));
      const { ours, isQuarantined, cjkLibrary } = this.#options;
      const request: MaintenanceRequest = {
        path: store.path,
        job: job.work,
        ours: ours(),
        quarantined: isQuarantined(store.path),
        cjkLibrary,
      };
      child.send(request);
    });
  }

  #finish(store: MaintenanceStore, job: Job, end: Pick<JobState, 'state'> & Partial<JobState>): void {
    this.#running.delete(store.path);
    if (job.work.kind === 'REBUILD_INDEX' && !job.work.dryRun && end.state === 'DONE') this.#lastRebuild.set(store.path, new Date());
    this.#change(job, { ...end, finishedAt: this.#options.now() });
  }

  #change(job: Job, change: Partial<JobState>): void {
    job.state = { ...job.state, ...change };
    for (const stream of job.streams) stream.wake();
  }

  #forgetOldest(): void {
    for (const [jobId, { state }] of this.#jobs) {
      if (this.#jobs.size <= MOST_KEPT) return;
      if (state.state !== 'RUNNING') this.#jobs.delete(jobId);
    }
  }
}
