/**
 * The runs of a conversation that are followed: those under way, those that ended a moment ago, and how to tell a new one from one that
 * a reader has long seen (`spec/live-turns.md` 14.1 `r`).
 */
import { type CandidateRun, candidateRuns } from '../journal/candidates.ts';
import { JournalUnreadable } from '../journal/open-journal.ts';
import type { RunPosition } from '../journal/resume.ts';
import type { RunMark } from './position.ts';
import { RunFollower, recordsUpTo } from './run-follower.ts';
import { type PendingTurn, RunTurn } from './run-turn.ts';
import type { Sidecars } from './sidecars.ts';
import type { ConversationSources } from './sources.ts';

/** A run's journal is followed so long after its end, for titles and other stragglers (9 row 1). */
const STRAGGLERS_SECONDS = 120;
/** A run whose journal hasn't grown for so long is none that is under way when following begins. */
const QUIET_SECONDS = 300;
/** Clocks of file systems are coarse. */
const SLACK_SECONDS = 1;

export class RunSet {
  readonly #sources: ConversationSources;
  readonly #onUnread: () => void;
  readonly #followers = new Map<string, RunFollower>();
  /** Runs that are no news. */
  readonly #known = new Set<string>();
  #since: number;
  #isClosed = false;
  /** Passes over the rows that were begun. */
  passes = 0;

  constructor(sources: ConversationSources, since: number, onUnread: () => void) {
    this.#sources = sources;
    this.#since = since;
    this.#onUnread = onUnread;
  }

  /** By their beginning. */
  get all(): readonly RunFollower[] {
    return [...this.#followers.values()].sort((a, b) => a.run.startedAt - b.run.startedAt);
  }

  get(runId: string): RunFollower | null {
    return this.#followers.get(runId) ?? null;
  }

  /** Runs that began later are news (epoch seconds). */
  get since(): number {
    return Math.max(this.#since, ...this.all.map(({ run }) => run.turn.startedAt ?? 0));
  }

  get marks(): readonly RunMark[] {
    return this.all.filter(({ begun }) => begun).map(({ mark }) => mark);
  }

  /** What is under way when following begins. */
  async begin(sessionIds: readonly string[], sidecars: Sidecars): Promise<void> {
    const since = this.#sources.now() - QUIET_SECONDS;
    // A sidecar knows better than a journal when the turn began.
    this.followOwners(sidecars);
    for (const sessionId of sessionIds) {
      for (const { runId, modifiedAt, firstCreatedAt } of await this.#candidates(sessionId, since)) {
        const startedAt = firstCreatedAt ?? modifiedAt;
        const follower = this.#followers.get(runId) ?? this.#add({ runId, sessionId, startedAt, pending: null }, null);
        follower.run.grewAt = modifiedAt;
      }
    }
    await this.drain();
  }

  /** Runs that came since, by their journals. */
  async look(sessionIds: readonly string[]): Promise<void> {
    const since = this.since;
    for (const sessionId of sessionIds) {
      for (const { runId, modifiedAt, firstCreatedAt } of await this.#candidates(sessionId, since - SLACK_SECONDS)) {
        if (this.#known.has(runId)) continue;
        const startedAt = firstCreatedAt ?? modifiedAt;
        if (startedAt > since) this.#add({ runId, sessionId, startedAt, pending: null }, null);
        else this.#known.add(runId);
      }
    }
    await this.drain();
  }

  /** Runs that own a session by its sidecar; a run is named there before it has a journal. */
  followOwners(sidecars: Sidecars): void {
    for (const { sessionId, head, runId } of sidecars.owners) {
      const pending: PendingTurn = {
        text: head.pendingText,
        attachments: head.pendingAttachments,
        source: head.pendingSource,
        model: head.model,
      };
      const known = this.#followers.get(runId);
      if (known !== undefined) known.run.pending ??= pending;
      else if (!this.#known.has(runId))
        this.#add({ runId, sessionId, startedAt: head.pendingStartedAt ?? this.#sources.now(), pending }, null);
    }
  }

  /** A run that a reader has come to a position of. What he was told of it is unread again, for a replay. */
  async resume(mark: RunMark): Promise<RunFollower> {
    const follower = this.#add({ ...mark, pending: null }, mark.position);
    follower.begun = true;
    const { position } = mark;
    if (position === null) return follower;
    const told = await recordsUpTo(this.#sources.journalRoot, follower.run, position);
    const { generation } = position;
    for (const record of told ?? []) follower.unread.push({ kind: 'RECORD', record, generation, passes: -1 });
    return follower;
  }

  /** A run that a reader was told of, read from its beginning. */
  async adopt(mark: RunMark): Promise<RunFollower> {
    const follower = this.#add({ ...mark, pending: null }, null);
    follower.begun = true;
    await follower.drain();
    return follower;
  }

  /** Reads what is there now of all. */
  async drain(): Promise<void> {
    await Promise.all(this.all.map((follower) => follower.drain()));
  }

  /** Leaves runs that ended long ago, but for the newest one. */
  leaveOld(sidecars: Sidecars): void {
    const now = this.#sources.now();
    for (const follower of this.all.slice(0, -1)) {
      const { endedAt, run } = follower;
      if (endedAt === null || now - endedAt < STRAGGLERS_SECONDS || sidecars.owns(run.runId)) continue;
      this.#since = this.since;
      follower.close();
      this.#followers.delete(run.runId);
    }
  }

  /** Whether a run goes on, or ended so shortly ago that something may follow. */
  get isActive(): boolean {
    const now = this.#sources.now();
    return this.all.some(({ endedAt }) => endedAt === null || now - endedAt < STRAGGLERS_SECONDS);
  }

  /** Leaves all, as if none had been known. */
  clear(): void {
    for (const follower of this.#followers.values()) follower.close();
    this.#followers.clear();
    this.#known.clear();
  }

  /** For good: what somebody finds who was still looking is not followed any more. */
  close(): void {
    this.#isClosed = true;
    this.clear();
  }

  /** What can't be read is told to the log of the server, and keeps nobody from the rows. */
  async #candidates(sessionId: string, since: number): Promise<CandidateRun[]> {
    try {
      return await candidateRuns(this.#sources.journalRoot, sessionId, since);
    } catch (error) {
      if (!(error instanceof JournalUnreadable)) throw error;
      this.#sources.onError(error);
      return [];
    }
  }

  #add(
    run: { readonly runId: string; readonly sessionId: string; readonly startedAt: number; readonly pending: PendingTurn | null },
    after: RunPosition | null,
  ): RunFollower {
    this.#known.add(run.runId);
    const turn = new RunTurn(run);
    const follower = new RunFollower({
      root: this.#sources.journalRoot,
      run: turn,
      after,
      passes: () => this.passes,
      onUnread: () => {
        turn.grewAt = this.#sources.now();
        this.#onUnread();
      },
      onError: this.#sources.onError,
    });
    if (this.#isClosed) follower.close();
    else this.#followers.set(run.runId, follower);
    return follower;
  }
}
