/**
 * Reads the Web UI's files on the sessions of a list and settles their liveness (`spec/live-turns.md` 4, 5, 9). Most sessions have no
 * run under way: for those one look at the sidecar's file is all.
 */

import { ROOT_PROFILE } from '../../profiles.ts';
import type { CacheStats } from '../../recently-used.ts';
import type { Liveness } from '../../state-db/liveness.ts';
import { SidecarUnreadable } from '../../web-ui/sidecar-file.ts';
import type { SidecarHead } from '../../web-ui/sidecar-head.ts';
import { SidecarHeads } from '../../web-ui/sidecar-heads.ts';
import { turnJournalRoot } from '../journal/ids.ts';
import { JournalUnreadable } from '../journal/open-journal.ts';
import type { RunSummaries, RunSummary } from '../journal/run-summary.ts';
import { outcomeOf } from '../journal/terminal.ts';
import { processLife } from './process-life.ts';
import { type OwningRun, sessionLiveness, type WebUiTurn } from './session-liveness.ts';
import { TurnEvidenceReader } from './turn-evidence.ts';
import { runVerdict } from './verdict.ts';

export interface WebUiLivenessOptions {
  /** The Web UI's folder `sessions`, shared by all profiles. */
  readonly sessionsDir: string;
  readonly runs: Pick<RunSummaries, 'get'>;
  /** Epoch seconds. */
  readonly now: () => number;
}

/** Sessions whose files are read at a time, one file each. */
const OPEN_AT_A_TIME = 8;
/** Rotations that one run may have gone through. */
const MOST_ROTATIONS = 8;
/** A summary reads the whole journal: that of a long run that grows all the time is used again for a moment. */
const LARGE_JOURNAL_BYTES = 1024 * 1024;
const LARGE_JOURNAL_SECONDS = 2;
const MOST_LARGE = 64;

export class WebUiLiveness {
  readonly #runs: Pick<RunSummaries, 'get'>;
  readonly #now: () => number;
  readonly #heads: SidecarHeads;
  readonly #turns: TurnEvidenceReader;
  readonly #large = new Map<string, { readonly readAt: number; readonly summary: RunSummary }>();

  constructor({ sessionsDir, runs, now }: WebUiLivenessOptions) {
    this.#runs = runs;
    this.#now = now;
    this.#heads = new SidecarHeads(sessionsDir);
    this.#turns = new TurnEvidenceReader(turnJournalRoot(sessionsDir));
  }

  /** The liveness of each session of a profile, from what its store says. Files that can't be read are evidence, not an error. */
  async forSessions(profile: string, stored: ReadonlyMap<string, Liveness>): Promise<Map<string, Liveness>> {
    const settled = new Map<string, Liveness>();
    const entries = [...stored];
    for (let at = 0; at < entries.length; at += OPEN_AT_A_TIME) {
      const some = entries.slice(at, at + OPEN_AT_A_TIME);
      const turns = await Promise.all(some.map(([sessionId, liveness]) => this.#turnOf(profile, sessionId, liveness)));
      for (const [index, [sessionId, liveness]] of some.entries()) settled.set(sessionId, sessionLiveness(liveness, turns[index] ?? null));
    }
    return settled;
  }

  /** The run that owns a session by its sidecar; null when none does, or the file can't be read. */
  async owningRun(profile: string, sessionId: string): Promise<string | null> {
    try {
      const head = await this.#heads.get(sessionId);
      return head !== null && (head.profile ?? ROOT_PROFILE) === profile ? head.activeStreamId : null;
    } catch (error) {
      if (error instanceof SidecarUnreadable) return null;
      throw error;
    }
  }

  get caches(): { readonly heads: CacheStats; readonly turns: CacheStats } {
    return { heads: this.#heads.cache, turns: this.#turns.cache };
  }

  async #turnOf(profile: string, sessionId: string, stored: Liveness): Promise<WebUiTurn> {
    try {
      const head = await this.#heads.get(sessionId);
      const run = await this.#owningRun(profile, head, stored);
      if (run === null || run.verdict.ending === null) return run;
      // A turn that has just ended gave the session up before it said so: then the head is older than what was read behind it.
      const now = await this.#heads.get(sessionId);
      return now?.version === head?.version ? run : await this.#owningRun(profile, now, stored);
    } catch (error) {
      if (error instanceof SidecarUnreadable || error instanceof JournalUnreadable) return 'UNREADABLE';
      throw error;
    }
  }

  async #owningRun(profile: string, head: SidecarHead | null, stored: Liveness): Promise<OwningRun | null> {
    const runId = head?.activeStreamId ?? null;
    if (head === null || runId === null || (head.profile ?? ROOT_PROFILE) !== profile) return null;
    const { summary, sessionIds } = await this.#journalOf(head, runId);
    const turn = await this.#turns.read(sessionIds, runId);
    const runStartedAt = turn.submittedAt ?? head.pendingStartedAt ?? summary?.firstCreatedAt ?? null;
    const verdict = runVerdict({
      now: this.#now(),
      terminal: summary?.terminal ? outcomeOf(summary.terminalState) : null,
      runStartedAt,
      hasJournal: summary !== null,
      journalGrewAt: summary?.lastCreatedAt ?? null,
      sidecar: { activeStreamId: runId, owns: true, clearedAt: null, cancelledAt: null },
      process: turn.pid === null ? 'UNKNOWN' : await processLife(turn.pid, runStartedAt),
      leaseLive: stored.basis === 'LEASE',
      lastActivityAt: stored.lastSignalAt,
      completedAt: turn.completedAt,
    });
    return { runId, pid: turn.pid, verdict };
  }

  /** After a rotation a run goes on writing where it began: in the files of the segment before, or of one before that. */
  async #journalOf(head: SidecarHead, runId: string): Promise<{ summary: RunSummary | null; sessionIds: string[] }> {
    const sessionIds = [head.sessionId];
    for (let segment: SidecarHead | null = head; segment !== null; ) {
      const summary = await this.#summary(segment.sessionId, runId);
      const parent: string | null = segment.parentSessionId;
      if (summary !== null || parent === null || sessionIds.includes(parent) || sessionIds.length > MOST_ROTATIONS) {
        return { summary, sessionIds };
      }
      sessionIds.push(parent);
      segment = await this.#heads.get(parent);
    }
    return { summary: null, sessionIds };
  }

  async #summary(sessionId: string, runId: string): Promise<RunSummary | null> {
    const key = `${sessionId}/${runId}`;
    const kept = this.#large.get(key);
    const now = this.#now();
    if (kept !== undefined && now >= kept.readAt && now - kept.readAt < LARGE_JOURNAL_SECONDS) return kept.summary;
    this.#large.delete(key);
    const summary = await this.#runs.get(sessionId, runId);
    if (summary === null || summary.sizeBytes < LARGE_JOURNAL_BYTES) return summary;
    this.#large.set(key, { readAt: this.#now(), summary });
    for (const oldest of [...this.#large.keys()].slice(0, -MOST_LARGE)) this.#large.delete(oldest);
    return summary;
  }
}
