/** A feed of a store's sessions with its followers, and a writer in another process; all of it ends with each test. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach } from 'vitest';
import { type FollowOptions, type LiveSessionsFrame, SessionFeed } from '../../src/live/session-feed.ts';
import type { StateDbStore } from '../../src/state-db/store.ts';
import { openStore } from './open-store.ts';
import { buildStore, type Row, removeStores } from './stores.ts';
import { startWriter, type Writer } from './writer.ts';

afterAll(removeStores);

export const cleanups: (() => void | Promise<void>)[] = [];
/** Undone after each test, the last first. */
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

export interface Followed {
  readonly feed: SessionFeed;
  readonly store: StateDbStore;
  readonly path: string;
  readonly writer: Writer;
  readonly follow: (options?: Partial<FollowOptions>) => Promise<Follower>;
}

export async function followed(rows: readonly Row[]): Promise<Followed> {
  const path = buildStore({ rows });
  const feed = new SessionFeed();
  const store = openStore(path);
  const writer = await startWriter(path);
  cleanups.push(
    () => writer.close(),
    () => feed.close(),
    () => store.close(),
  );
  const follow = async (options: Partial<FollowOptions> = {}) => {
    const aborter = new AbortController();
    const frames = await feed.follow(store, { sessionIds: null, after: null, maxRateHz: 50, ...options }, aborter.signal);
    cleanups.push(() => aborter.abort());
    return new Follower(frames, aborter);
  };
  return { feed, store, path, writer, follow };
}

export class Follower {
  readonly frames: AsyncIterableIterator<LiveSessionsFrame>;
  readonly aborter: AbortController;
  #pending: Promise<IteratorResult<LiveSessionsFrame>> | null = null;

  constructor(frames: AsyncIterableIterator<LiveSessionsFrame>, aborter: AbortController) {
    this.frames = frames;
    this.aborter = aborter;
  }

  async next(): Promise<LiveSessionsFrame> {
    this.#pending ??= this.frames.next();
    const { value, done } = await this.#pending;
    this.#pending = null;
    if (done) throw new Error('the feed ended');
    return value;
  }

  /** Frames until none comes for a while. */
  async drain(ms = 250): Promise<LiveSessionsFrame[]> {
    const frames: LiveSessionsFrame[] = [];
    for (;;) {
      this.#pending ??= this.frames.next();
      const result = await Promise.race([this.#pending, sleep(ms)]);
      if (result === undefined) return frames;
      this.#pending = null;
      if (result.done) return frames;
      frames.push(result.value);
    }
  }
}

/** `id KIND+KIND`, with what it continues and that it is gone. */
export function shown(frame: LiveSessionsFrame): string[] {
  return frame.changes.map(({ sessionId, kinds, previousSessionId, deleted }) =>
    [sessionId, kinds.join('+'), previousSessionId === null ? '' : `after ${previousSessionId}`, deleted ? 'gone' : '']
      .filter(Boolean)
      .join(' '),
  );
}

/** The statement that appends a message. */
export const message = (id: string, text = 'more') =>
  `INSERT INTO messages (session_id, role, content, timestamp) VALUES ('${id}', 'user', '${text}', 900)`;
