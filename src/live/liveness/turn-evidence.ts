/**
 * What the turn journal tells of one run (`spec/live-turns.md` 4): lines are found by their stream, because after a rotation the end of a
 * run stands in the files of the child, under a turn id of its own. Files that have not changed are not read again.
 */

import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { type CacheStats, RecentlyUsed } from '../../recently-used.ts';
import { cutText } from '../journal/bounded-json.ts';
import { systemCode } from '../journal/open-journal.ts';
import { text, word } from '../journal/payload.ts';
import { namesIn } from '../journal/run-summary.ts';
import { pidOfRun, readTurnJournal, type TurnJournalEvent } from '../journal/turn-journal.ts';

export interface TurnEvidence {
  /** The id under which the turn was submitted. */
  readonly turnId: string | null;
  /** The process that executes the run: that of the newest line that names one. */
  readonly pid: number | null;
  /** Times in epoch seconds. */
  readonly submittedAt: number | null;
  readonly workerStartedAt: number | null;
  /** Null as well when a later line says that the turn was interrupted: of two ends the latest counts. */
  readonly completedAt: number | null;
  readonly interrupted: { readonly at: number; readonly reason: string | null } | null;
  /** The prompt, at most 65,536 characters of it. */
  readonly content: string | null;
  readonly model: string | null;
}

/** Pure: the evidence in the lines of one run, in the order of their times. */
export function turnEvidence(events: readonly TurnJournalEvent[], runId: string): TurnEvidence {
  const own = ofRun(events, runId);
  const submitted = own.find(({ event }) => event === 'submitted');
  const end = own.findLast(({ event }) => event === 'completed' || event === 'interrupted');
  const content = submitted === undefined ? null : text(submitted.fields, 'content');
  return {
    turnId: submitted?.turnId ?? own.find(({ turnId }) => turnId !== null)?.turnId ?? null,
    pid: pidOfRun(own, runId),
    submittedAt: timeOf(submitted),
    workerStartedAt: timeOf(own.find(({ event }) => event === 'worker_started')),
    completedAt: end?.event === 'completed' ? timeOf(end) : null,
    interrupted: end?.event === 'interrupted' ? { at: end.createdAt, reason: word(end.fields, 'reason') } : null,
    content: content === null ? null : cutText(content, LONGEST_CONTENT),
    model: submitted === undefined ? null : word(submitted.fields, 'model'),
  };
}

function ofRun(events: readonly TurnJournalEvent[], runId: string): TurnJournalEvent[] {
  return events.filter(({ streamId }) => streamId === runId);
}

const LONGEST_CONTENT = 64 * 1024;

function timeOf(event: TurnJournalEvent | undefined): number | null {
  return event === undefined || event.createdAt === 0 ? null : event.createdAt;
}

/** Of each session the newest runs are kept, and of the sessions those that were asked for last. */
const MOST_RUNS = 16;
const MOST_SESSIONS = 64;

interface Kept {
  readonly signature: string;
  readonly events: readonly TurnJournalEvent[];
  /** Runs whose lines are in the files and were not kept. */
  readonly older: ReadonlySet<string>;
}

export class TurnEvidenceReader {
  readonly #root: string;
  readonly #kept = new RecentlyUsed<Kept>({ most: MOST_SESSIONS });

  /** The directory `_turn_journal`. */
  constructor(turnJournalRoot: string) {
    this.#root = turnJournalRoot;
  }

  /** The evidence of a run in the files of the sessions it may have gone through. Throws `JournalUnreadable`. */
  async read(sessionIds: readonly string[], runId: string): Promise<TurnEvidence> {
    const wanted = [...new Set(sessionIds)];
    const signatures = await this.#signatures(wanted);
    const events: TurnJournalEvent[] = [];
    for (const sessionId of wanted) {
      const signature = signatures.get(sessionId);
      if (signature !== undefined) events.push(...(await this.#eventsOf(sessionId, signature, runId)));
    }
    return turnEvidence(
      events.sort((a, b) => a.createdAt - b.createdAt),
      runId,
    );
  }

  get cache(): CacheStats {
    return this.#kept.stats;
  }

  async #eventsOf(sessionId: string, signature: string, runId: string): Promise<readonly TurnJournalEvent[]> {
    const kept = this.#kept.take(sessionId, (known) => known.signature === signature && !known.older.has(runId));
    if (kept !== null) return ofRun(kept.events, runId);
    const { events } = await readTurnJournal(this.#root, sessionId);
    // What was written while it was read shows in the next signature.
    this.#kept.keep(sessionId, { signature, ...newestRuns(events) });
    return ofRun(events, runId);
  }

  /** The files of each session that has any, as they are now. */
  async #signatures(sessionIds: readonly string[]): Promise<Map<string, string>> {
    const names = await namesIn(this.#root);
    const signatures = new Map<string, string>();
    for (const sessionId of sessionIds) {
      const own = names.filter((name) => name === `${sessionId}.jsonl` || name.startsWith(`${sessionId}~`)).sort();
      const each: string[] = [];
      for (const name of own) each.push(`${name} ${await fileSignature(join(this.#root, name))}`);
      if (each.length > 0) signatures.set(sessionId, each.join('\n'));
    }
    return signatures;
  }
}

/** The lines of the newest runs, by the times of their last lines. */
function newestRuns(events: readonly TurnJournalEvent[]): Pick<Kept, 'events' | 'older'> {
  const runs = new Set<string>();
  const older = new Set<string>();
  for (const { streamId } of events.toReversed()) {
    if (streamId === null || runs.has(streamId)) continue;
    if (runs.size < MOST_RUNS) runs.add(streamId);
    else older.add(streamId);
  }
  return { events: events.filter(({ streamId }) => streamId !== null && runs.has(streamId)), older };
}

async function fileSignature(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await lstat(path, { bigint: true });
    return `${ino}:${size}:${mtimeNs}:${ctimeNs}`;
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return '';
  }
}
