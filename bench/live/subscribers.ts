/**
 * Many subscribers in a process of their own, each on its socket, under command of the benchmark:
 *
 *   const crowd = await Crowd.start(server.url, { count: 200, query, variables });
 *   const heard = await crowd.heard();   // what came since the last time
 *   await crowd.stop();
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

export interface CrowdOptions {
  readonly count: number;
  /** GraphQL; null: whatever the server sends (the plain server). */
  readonly query: string | null;
  /** One for each subscriber, or one for all. */
  readonly variables: readonly Readonly<Record<string, unknown>>[];
}

export interface Heard {
  /** Milliseconds from the time in an event to its receipt; events of all subscribers. */
  readonly latenciesMs: readonly number[];
  readonly frames: number;
  readonly bytes: number;
}

export class Crowd {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Resolves when all are subscribed and have their first frame. */
  static async start(url: string, options: CrowdOptions): Promise<Crowd> {
    const child = fork(new URL('./subscribers-process.ts', import.meta.url), [], { execArgv: [] });
    child.send({ url, ...options });
    await once(child, 'message');
    return new Crowd(child);
  }

  async heard(): Promise<Heard> {
    this.#child.send('HEARD');
    const [heard] = (await once(this.#child, 'message')) as [Heard];
    return heard;
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}
