/**
 * The rows of a followed conversation, folded from its live events: which there are, in which order, and which of them have to be read
 * (again). Bodies are not kept here; whoever shows them reads them by row id. Every event may be applied to rows that were read later
 * than it happened: the events behind it lead to the same end.
 */
import type { LiveEvent } from './live-documents.ts';

/** LIVE: the model holds it. ARCHIVED: compacted away, still readable. HIDDEN: taken back, or an older copy that nobody sees. */
export type RowState = 'LIVE' | 'ARCHIVED' | 'HIDDEN';

export interface Row {
  readonly id: string;
  readonly sessionId: string;
  state: RowState;
  /** The same for all copies of one message. */
  message: string;
}

export interface Transcript {
  readonly rows: Map<string, Row>;
  /** Rows whose bodies have to be read: new ones, and those that were changed. */
  readonly unread: Set<string>;
  /** The session in which the conversation goes on. */
  tip: string;
}

interface Carried {
  readonly oldId: string;
  readonly newId: string;
  readonly retired: boolean;
}

export function emptyTranscript(): Transcript {
  return { rows: new Map(), unread: new Set(), tip: '' };
}

/** All rows as they were read (`messages(view: AUDIT, scope: CONVERSATION)`), in the place of what was known. */
export function takeRows(transcript: Transcript, rows: readonly { id: string; sessionId: string; state: RowState }[]): void {
  transcript.rows.clear();
  transcript.unread.clear();
  for (const { id, sessionId, state } of rows) put(transcript, id, sessionId, state);
}

export function applyToTranscript(transcript: Transcript, event: LiveEvent): void {
  // Rows of sub-agents are in their own sessions.
  if (event.depth > 0) return;
  const { sessionId } = event;
  switch (event.__typename) {
    case 'MessagesAppended':
      putAll(transcript, event.ids, sessionId, 'LIVE');
      carry(transcript, event.carried);
      return;
    case 'MessagesUpdated':
      for (const id of event.ids) transcript.unread.add(id);
      return;
    case 'MessagesRetracted':
      move(transcript, event.ids, 'HIDDEN');
      return;
    case 'MessagesRestored':
      putAll(transcript, event.ids, sessionId, 'LIVE');
      carry(transcript, event.carried);
      return;
    case 'TranscriptReplaced': {
      const [first] = event.newIds;
      const before = rowsOf(transcript, sessionId, 'LIVE').filter(({ id }) => first === undefined || compareIds(id, first) < 0);
      for (const row of before) row.state = 'HIDDEN';
      putAll(transcript, event.newIds, sessionId, 'LIVE');
      carry(transcript, event.carried);
      return;
    }
    case 'TranscriptCompacted': {
      const { firstArchivedId: first, lastArchivedId: last, summaryIds, carried } = event;
      putAll(transcript, [...summaryIds, ...carried.map(({ newId }) => newId)], sessionId, 'LIVE');
      // After those that it brought: of two compactions told as one, the second archived what the first had carried.
      if (first !== null && last !== null) {
        const isArchived = ({ id }: Row) => compareIds(first, id) <= 0 && compareIds(id, last) <= 0;
        for (const row of rowsOf(transcript, sessionId, 'LIVE').filter(isArchived)) row.state = 'ARCHIVED';
      }
      move(
        transcript,
        carried.map(({ oldId }) => oldId),
        'ARCHIVED',
      );
      carry(transcript, carried);
      return;
    }
    case 'SessionContinued':
      transcript.tip = event.toSessionId;
      putAll(transcript, [...event.handoffIds, ...event.carried.map(({ newId }) => newId)], event.toSessionId, 'LIVE');
      carry(transcript, event.carried);
      return;
    case 'SessionDeleted':
      for (const row of transcript.rows.values()) if (row.sessionId === sessionId) row.state = 'HIDDEN';
      return;
    default:
      return;
  }
}

/** What the model holds: ids of the live rows of the conversation's end. */
export function liveIds(transcript: Transcript): string[] {
  return rowsOf(transcript, transcript.tip, 'LIVE')
    .map(({ id }) => id)
    .sort(compareIds);
}

/** What people read: of each message one copy, a live one before an archived one, then the newest, in the place of the oldest. */
export function shownIds({ rows }: Transcript): string[] {
  const visible = [...rows.values()].filter(({ state }) => state !== 'HIDDEN').sort((a, b) => compareIds(a.id, b.id));
  const copies = new Map<string, Row>();
  for (const row of visible) {
    const best = copies.get(row.message);
    if (best === undefined || best.state !== 'LIVE' || row.state === 'LIVE') copies.set(row.message, row);
  }
  return [...copies.values()].map(({ id }) => id);
}

/** Row ids are numbers in digits, of any length. */
export function compareIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : Number(a > b));
}

function put({ rows }: Transcript, id: string, sessionId: string, state: RowState): void {
  const known = rows.get(id);
  if (known === undefined) rows.set(id, { id, sessionId, state, message: id });
  else known.state = state;
}

function putAll(transcript: Transcript, ids: readonly string[], sessionId: string, state: RowState): void {
  for (const id of ids) {
    put(transcript, id, sessionId, state);
    transcript.unread.add(id);
  }
}

/** Rows that aren't known need no state. */
function move({ rows }: Transcript, ids: readonly string[], state: RowState): void {
  for (const id of ids) {
    const row = rows.get(id);
    if (row !== undefined) row.state = state;
  }
}

/** The new row is the old message. */
function carry(transcript: Transcript, carried: readonly Carried[]): void {
  const { rows } = transcript;
  for (const { oldId, newId, retired } of carried) {
    const [old, copy] = [rows.get(oldId), rows.get(newId)];
    if (retired) move(transcript, [oldId], 'HIDDEN');
    if (old === undefined || copy === undefined) continue;
    const { message } = copy;
    for (const row of rows.values()) if (row.message === message) row.message = old.message;
  }
}

function rowsOf({ rows }: Transcript, sessionId: string, state: RowState): Row[] {
  return [...rows.values()].filter((row) => row.sessionId === sessionId && row.state === state);
}
