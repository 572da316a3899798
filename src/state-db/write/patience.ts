/**
 * How long a write waits for the others, and in which steps (`spec/state-db-writes.md` W5, W6). The waiting is between attempts, where
 * nothing is held.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** TRANSCRIPT: appends and session rows. ROUTINE: everything else. ACTIVITY: what may be left out. */
export type PatienceClass = 'TRANSCRIPT' | 'ROUTINE' | 'ACTIVITY';

const SECONDS: Record<PatienceClass, number> = { TRANSCRIPT: 60, ROUTINE: 20, ACTIVITY: 0.5 };
/** For a foreign lock of a compression, counted from the first time it was met. */
const COLLISION_SECONDS = 5;
const EAGER_MS = 2000;
const EAGER_PAUSE_MS = [20, 150] as const;
const PATIENT_PAUSE_MS = [250, 1000] as const;

/** Where time comes from and how it passes; tests put their own here. */
export interface Pace {
  /** Milliseconds of a clock that is never set back. */
  readonly elapsed: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** From 0 to 1. */
  readonly random: () => number;
  /** An upper limit for every class, in seconds. */
  readonly longestSeconds: number;
}

export function realPace(longestSeconds: number): Pace {
  return { elapsed: () => performance.now(), sleep: (ms) => sleep(ms), random: Math.random, longestSeconds };
}

export class Patience {
  readonly #pace: Pace;
  readonly #start: number;
  readonly #deadline: number;
  #collisionDeadline: number | null = null;
  attempts = 0;

  constructor(patience: PatienceClass, pace: Pace) {
    this.#pace = pace;
    this.#start = pace.elapsed();
    this.#deadline = this.#start + Math.min(SECONDS[patience], pace.longestSeconds) * 1000;
  }

  get waitedMs(): number {
    return Math.round(this.#pace.elapsed() - this.#start);
  }

  /** Waits for the next attempt; false when there is no time for one. */
  pause(): Promise<boolean> {
    return this.#pauseUntil(this.#deadline);
  }

  /** The same after a collision with a compression. */
  pauseForCompression(): Promise<boolean> {
    this.#collisionDeadline ??= Math.min(this.#deadline, this.#pace.elapsed() + COLLISION_SECONDS * 1000);
    return this.#pauseUntil(this.#collisionDeadline);
  }

  async #pauseUntil(deadline: number): Promise<boolean> {
    const now = this.#pace.elapsed();
    if (now >= deadline) return false;
    const [least, most] = now - this.#start < EAGER_MS ? EAGER_PAUSE_MS : PATIENT_PAUSE_MS;
    const ms = least + this.#pace.random() * (most - least);
    await this.#pace.sleep(Math.max(1, Math.min(ms, deadline - now)));
    return true;
  }
}
