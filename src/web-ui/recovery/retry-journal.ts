/**
 * Another look into the journal of a turn that was settled without its output (`spec/webui-recovery.md` 13 with D7, D9, D11, D12). Pure.
 */
import { type Fields, finiteNumber } from '../sidecar/coercions.ts';
import { ContextRows } from './context-rows.ts';
import { MOST_ATTEMPTS, queuedRetry, RETRY_SECONDS, settleMarker } from './markers.ts';
import { isUser } from './matching.ts';
import { rebuildOutput } from './rebuild-output.ts';
import type { RunJournal } from './run-lines.ts';
import { type DraftRow, SessionDraft } from './session-draft.ts';
import { placeError, unsavedError } from './terminal-error.ts';

export type RetryOutcome = 'NO_RETRY_QUEUED' | 'RECOVERED' | 'TERMINAL_ERROR' | 'ALREADY_PRESENT' | 'WAITING' | 'COUNTED' | 'DEMOTED';

export interface Retried {
  readonly outcome: RetryOutcome;
  /** Null where nothing changes. */
  readonly draft: SessionDraft | null;
  readonly streamId: string | null;
  readonly attemptsBefore: number;
  /** Zero once the retry is over. */
  readonly attemptsAfter: number;
  readonly recovered: readonly DraftRow[];
  readonly marker: DraftRow | null;
  readonly error: DraftRow | null;
}

/** `journal`: of the run that the marker names; null: there is none. `now`: epoch seconds. `fields` stay as they are. */
export function retryJournal(fields: Fields, sessionId: string, journal: RunJournal | null, now: number): Retried {
  const draft = new SessionDraft(fields);
  const queued = queuedRetry(draft.messages);
  if (queued === null) return { ...NOTHING, outcome: 'NO_RETRY_QUEUED' };
  const { marker, streamId, attempts, firstSeenAt } = queued;
  const found = { ...NOTHING, draft, streamId, attemptsBefore: attempts, marker };
  if (streamId === null) return demoted(found);
  const settled = recover(new SessionDraft(fields), { sessionId, streamId, journal, now });
  if (settled !== null) return { ...found, ...settled };
  const isOld = firstSeenAt !== null && now - firstSeenAt > RETRY_SECONDS;
  if (attempts >= MOST_ATTEMPTS || isOld) return demoted(found);
  const isArriving = journal === null || (journal.isEmpty && journal.terminalState === null);
  if (isArriving) return { ...found, draft: null, attemptsAfter: attempts, outcome: 'WAITING' };
  if (attempts + 1 >= MOST_ATTEMPTS) return demoted(found);
  marker.change({ _journal_retry_attempts: attempts + 1 });
  return { ...found, attemptsAfter: attempts + 1, outcome: 'COUNTED' };
}

const NOTHING = { draft: null, streamId: null, attemptsBefore: 0, attemptsAfter: 0, recovered: [], marker: null, error: null } as const;

function demoted(found: Omit<Retried, 'outcome'> & { readonly marker: DraftRow }): Retried {
  settleMarker(found.marker, 'NEUTRAL');
  return { ...found, outcome: 'DEMOTED' };
}

interface Run {
  readonly sessionId: string;
  readonly streamId: string;
  readonly journal: RunJournal | null;
  readonly now: number;
}

type Recovered = Pick<Retried, 'outcome' | 'draft' | 'recovered' | 'marker' | 'error'>;

/** Null where the journal has nothing of the answer. */
function recover(draft: SessionDraft, { sessionId, streamId, journal, now }: Run): Recovered | null {
  const marker = queuedRetry(draft.messages)?.marker;
  if (marker === undefined) return null;
  const above = draft.messages.slice(0, draft.messages.indexOf(marker));
  const turn = above.findLast(({ fields }) => isUser(fields)) ?? null;
  const context = new ContextRows(draft, finiteNumber(marker.fields?.timestamp));
  const rebuilt = rebuildOutput(journal?.lines ?? [], { draft, context, streamId, turn, before: marker, prompt: null, now });
  const error = unsavedError(journal, sessionId, streamId);
  if (error === null && !rebuilt.changed && !rebuilt.found) return null;
  if (error !== null) {
    const { row } = placeError(draft, error, { turn: null, before: marker });
    draft.remove(marker);
    return { outcome: 'TERMINAL_ERROR', draft, recovered: rebuilt.rows, marker: null, error: row };
  }
  settleMarker(marker, 'RECOVERED');
  return { outcome: rebuilt.changed ? 'RECOVERED' : 'ALREADY_PRESENT', draft, recovered: rebuilt.rows, marker, error: null };
}
