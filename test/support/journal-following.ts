/** Follows a run in a test: what the tailer told, and waiting until it has told something. */
import { setTimeout as sleep } from 'node:timers/promises';
import { RunDirectory } from '../../src/live/journal/run-directory.ts';
import { RunTailer, type RunTailerOptions, type TailEvent } from '../../src/live/journal/tailer.ts';
import type { RunPlace } from './journal-shape.ts';

export class Following {
  readonly events: TailEvent[] = [];
  readonly tailer: RunTailer;
  #directory: RunDirectory | null = null;
  #unfollow: (() => void) | null = null;

  constructor(place: RunPlace, options: Partial<RunTailerOptions> = {}) {
    this.tailer = new RunTailer({ onEvent: (event) => this.events.push(event), ...place, ...options });
  }

  /** With a watch on the directory, as the server does it; without it the test pokes. */
  async watch(place: RunPlace): Promise<this> {
    const { root, sessionId, runId } = place;
    this.#directory = new RunDirectory({
      root,
      sessionId,
      onChange: (change) => {
        if (change.runId === runId) this.tailer.poke();
      },
    });
    this.#unfollow = this.#directory.follow(runId);
    await this.#directory.start();
    this.tailer.poke();
    return this;
  }

  /** Numbers as delivered, negative for late ones. */
  get seqs(): number[] {
    return this.events.flatMap((event) =>
      event.kind === 'RECORDS' ? event.deliveries.map(({ record, late }) => (late ? -record.seq : record.seq)) : [],
    );
  }

  /** What happened besides records, in order. */
  get turns(): string[] {
    return this.events.flatMap((event) =>
      event.kind === 'RECORDS' ? [] : event.kind === 'RESET' ? [`RESET ${event.reason}`] : [event.kind],
    );
  }

  /** Reads once, now. */
  async read(): Promise<void> {
    // The pause between two reads is part of what is tested elsewhere.
    await sleep(11);
    this.tailer.poke();
    await this.tailer.settled();
  }

  close(): void {
    this.tailer.close();
    this.#unfollow?.();
    this.#directory?.close();
  }
}

/** Waits until the condition holds; fails after the time. */
export async function until(condition: () => boolean, timeoutMs = 3000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${condition}`);
    await sleep(2);
  }
}
