/**
 * The number of a person's messages in those sessions of a terminal that lists show or hide by it (`spec/webui-listing.md` 11.3). They are
 * counted once for each number of rows that they have had.
 */
import type { UserMessageCounter } from '../state-db/entry-overlay.ts';
import type { SessionEntry } from '../state-db/session-record.ts';
import { isBlank } from './list/list-row.ts';
import { fold, isGeneratedTitle, normaliseSource } from './list/source-class.ts';

/** In a longer session a person has said enough, and counting it would cost too much. */
const MOST_ROWS = 200;
/** Rows that one composition of the list may look at; the rest has its turn in the next ones. */
const ROWS_AT_ONCE = 4000;

interface Counted {
  readonly total: number;
  readonly users: number;
}

export class TerminalCounts {
  #counted = new Map<string, Counted>();

  /** Null where nobody counted: then all rows count. */
  of(id: string): number | null {
    return this.#counted.get(id)?.users ?? null;
  }

  /** Counts what is not known yet, up to a limit. True: some are left for another time. */
  read(sessions: ReadonlyMap<string, SessionEntry>, count: UserMessageCounter): boolean {
    const counted = new Map<string, Counted>();
    const totals = new Map<string, number>();
    let rows = 0;
    let isMore = false;
    for (const session of sessions.values()) {
      const total = session.stats?.total ?? 0;
      if (total === 0 || total > MOST_ROWS || !isDecidedByCount(session)) continue;
      const known = this.#counted.get(session.id);
      if (known?.total === total) counted.set(session.id, known);
      else if (rows + total > ROWS_AT_ONCE) isMore = true;
      else {
        rows += total;
        totals.set(session.id, total);
      }
    }
    const found = totals.size === 0 ? null : count([...totals.keys()]);
    for (const [id, users] of found ?? []) counted.set(id, { total: totals.get(id) ?? 0, users });
    this.#counted = counted;
    // What a store can't tell now is asked for again when it has changed.
    return isMore && found !== null;
  }
}

/** An untitled session of a command line that has ended, and any of an editor. */
function isDecidedByCount(session: SessionEntry): boolean {
  const source = fold(session.source);
  if (source === 'acp') return true;
  if (source !== 'cli' || (session.endedAt === null && isBlank(session.endReason))) return false;
  return isGeneratedTitle({ ...normaliseSource(session.source), title: session.title ?? '' });
}
