/**
 * Which sessions the Web UI runs a turn in, as their sidecars say, and when that changes (`spec/live-turns.md` 5, 12 `liveSessions`): for
 * lists and badges, which follow all sessions of a profile.
 */
import { ROOT_PROFILE } from '../profiles.ts';
import { readSidecarHead, type SidecarHead } from '../web-ui/sidecar-head.ts';
import type { SidecarWatch } from '../web-ui/sidecar-watch.ts';

type Listener = (sessionId: string) => void;

interface Seen {
  readonly runId: string | null;
  /** Null when no sidecar has said it. */
  readonly profile: string | null;
}

/** The owner saves a sidecar several times in a row. */
const SETTLE_MS = 20;
/** Sessions whose last run is remembered. */
const MOST_KNOWN = 10_000;

export class WebUiTurns {
  readonly #sessionsDir: string;
  readonly #watch: SidecarWatch;
  readonly #onError: (error: unknown) => void;
  readonly #listeners = new Map<string, Set<Listener>>();
  /** What each session was seen with last, while anybody listens. */
  readonly #runs = new Map<string, Seen>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #stop: (() => void) | null = null;

  constructor(options: { readonly sessionsDir: string; readonly watch: SidecarWatch; readonly onError: (error: unknown) => void }) {
    this.#sessionsDir = options.sessionsDir;
    this.#watch = options.watch;
    this.#onError = options.onError;
  }

  /** Hears of sessions of a profile in which a turn began or ended, until the returned function is called. */
  listen(profile: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(profile) ?? new Set();
    this.#listeners.set(profile, listeners);
    const own: Listener = (sessionId) => listener(sessionId);
    listeners.add(own);
    this.#stop ??= this.#watch.followAll((sessionId) => this.#onSidecar(sessionId));
    return () => {
      listeners.delete(own);
      if (listeners.size === 0) this.#listeners.delete(profile);
      if (this.#listeners.size > 0) return;
      this.#stop?.();
      this.#stop = null;
      for (const timer of this.#timers.values()) clearTimeout(timer);
      this.#timers.clear();
      // Turns that begin while nobody listens are not seen.
      this.#runs.clear();
    };
  }

  #onSidecar(sessionId: string): void {
    if (this.#timers.has(sessionId)) return;
    const timer = setTimeout(() => {
      this.#timers.delete(sessionId);
      this.#look(sessionId).catch(this.#onError);
    }, SETTLE_MS);
    timer.unref();
    this.#timers.set(sessionId, timer);
  }

  async #look(sessionId: string): Promise<void> {
    const watching = this.#stop;
    const head = await readSidecarHead(this.#sessionsDir, sessionId);
    // All listeners went meanwhile: what was read may be out of date for those who came since.
    if (this.#stop !== watching) return;
    const before = this.#runs.get(sessionId);
    const seen = { runId: head?.activeStreamId ?? null, profile: profileIn(head) ?? before?.profile ?? null };
    this.#runs.delete(sessionId);
    this.#runs.set(sessionId, seen);
    for (const oldest of [...this.#runs.keys()].slice(0, -MOST_KNOWN)) this.#runs.delete(oldest);
    // One that was never looked at may have had a turn since before anybody listened: its end must not be missed.
    if (before !== undefined && before.runId === seen.runId) return;
    for (const listener of this.#listenersOf(seen.profile)) listener(sessionId);
  }

  /** Those of every profile when it isn't known: each store knows its own sessions. */
  #listenersOf(profile: string | null): Listener[] {
    const sets = profile === null ? [...this.#listeners.values()] : [this.#listeners.get(profile) ?? []];
    return sets.flatMap((listeners) => [...listeners]);
  }
}

/** Null where no sidecar says it: there is none, or it is damaged. */
function profileIn(head: SidecarHead | null): string | null {
  return head === null || head.damaged ? null : (head.profile ?? ROOT_PROFILE);
}
