/**
 * From two pictures of a conversation to what happened in between (`spec/live-turns.md` 6.4, 7.3, 11, 13). Pure: the picture before, what
 * was read, and the time give the events, in the order in which a reader may apply them, and the picture after.
 */
import type { RowsReading, SegmentReading } from '../../state-db/live-reading.ts';
import type { LiveRow } from '../../state-db/live-rows.ts';
import type { LiveSession } from '../../state-db/live-segments.ts';
import { activityEvents, compressionEvents, holdAt } from './activity.ts';
import { Copies } from './copies.ts';
import { delegationEvents } from './delegations.ts';
import { deletedEvents } from './deletion.ts';
import type { RowEvent, RowEventKind } from './events.ts';
import { type Picture, type SegmentPicture, tipOf } from './picture.ts';
import { type RowState, RowTable, stateOf } from './row-table.ts';
import { sessionEvents } from './session-changes.ts';
import { continuationEvents, segmentEvents } from './transcript.ts';
import { SLACK_SECONDS } from './turn-state.ts';
import { followTurns } from './turns.ts';
import { equalLengthEvents } from './updates.ts';

export interface ClassifyOptions {
  /** Epoch seconds. */
  readonly now: number;
  /** Go on in what continues the conversation; else only say that it goes on. */
  readonly followContinuations: boolean;
  /** Old rows are told to a reader who missed them. */
  readonly replay: boolean;
}

export interface Classified {
  readonly events: readonly RowEvent[];
  readonly picture: Picture;
}

/** `reading`: null when nothing was committed; then only what time brings is told. */
export function classify(before: Picture, reading: RowsReading | null, options: ClassifyOptions): Classified {
  const { now } = options;
  const transcript = reading === null ? unchanged(before) : readTranscript(before, reading, options);
  const { segments, continuedTo } = transcript;
  const sessions = segments.flatMap(({ session }) => {
    const known = before.segments.find((segment) => segment.session.id === session.id);
    return known === undefined || known.session === session ? [] : [{ before: known.session, after: session }];
  });
  const locks = (reading?.locks ?? before.locks).map((lock) => holdAt(lock, now));
  const compression = compressionEvents(before.compressions, { locks, done: compactedIn(transcript.events), sessions, now });
  const delegation = delegationEvents(before.delegations, reading?.delegates ?? null, deliveriesIn(transcript.events), now);
  const lease = reading === null ? before.lease : reading.lease;
  const tip = segments.at(-1)?.session ?? null;
  const gone = reading?.gone ?? [];
  const turns = followTurns(before.turns, [...compression.started, ...transcript.events, ...delegation.events, ...compression.failed], {
    sessionId: before.sessionId,
    tip: tip ?? tipOf(before),
    lease: lease === null ? null : holdAt(lease, now),
    keepsLeases: reading?.keepsLeases ?? before.keepsLeases,
    lastKnownRow: before.segments.at(-1)?.rows.lastRowId ?? null,
    replay: options.replay,
    more: reading?.more ?? false,
    deleted: gone.includes(tipOf(before)?.id ?? ''),
    now,
  });
  const deleted = deletedEvents(gone, before.generation, now);
  const final = turns.state.open === null;
  // Of a segment that was continued nothing is told any more; its continuation speaks for the conversation.
  const own = sessions.find(({ after }) => after.id === tip?.id);
  const states = own === undefined ? [] : sessionEvents(own.before, own.after, now, final);
  const activity =
    own === undefined
      ? { events: [], state: before.activity }
      : activityEvents(before.activity, own.before, own.after, { before: before.lease, after: lease }, now);
  const numbered = withNumbers(before.issued, [...turns.events, ...activity.events, ...states, ...deleted]);
  return {
    events: numbered.events,
    picture: {
      ...before,
      generation: reading?.generation ?? before.generation,
      at: now,
      stamp: reading === null ? before.stamp : reading.more ? null : reading.stamp,
      after: reading === null ? before.after : lastTold(reading),
      segments,
      young: reading === null ? before.young : youngAfter(before, reading),
      lease,
      keepsLeases: reading?.keepsLeases ?? before.keepsLeases,
      locks,
      compressions: compression.known,
      activity: activity.state,
      turns: turns.state,
      delegations: delegation.state,
      continuedTo,
      issued: numbered.issued,
    },
  };
}

/** Rows that were hidden and are to be seen again: what they are copies of has to be asked for. */
export function rowsBack(before: Picture, reading: RowsReading): string[] {
  return before.segments.flatMap(({ session, rows }) => {
    const prints = reading.segments.find((segment) => segment.session.id === session.id)?.prints ?? null;
    if (prints === null) return [];
    return rows.compare(prints).moved.flatMap(({ rowId, from, to }) => (from === 'HIDDEN' && to !== 'GONE' ? [rowId] : []));
  });
}

interface Transcript {
  readonly events: readonly RowEvent[];
  readonly segments: readonly SegmentPicture[];
  readonly continuedTo: string | null;
}

function unchanged(before: Picture): Transcript {
  return { events: [], segments: before.segments, continuedTo: before.continuedTo };
}

function readTranscript(before: Picture, reading: RowsReading, { now, followContinuations }: ClassifyOptions): Transcript {
  const prints = new Map(reading.segments.flatMap((segment) => segment.prints ?? []).map((print) => [print.rowId, print]));
  const copies = new Copies(
    reading.copies,
    reading.rows,
    (rowId) => stateBefore(before.segments, rowId),
    (rowId) => {
      const print = prints.get(rowId);
      return print === undefined ? null : stateOf(print);
    },
  );
  const isLate = lateness(before.turns.newestAt, reading.rows);
  const rowsOf = Map.groupBy(reading.rows, (row) => row.sessionId);
  const looked = new Map(reading.segments.map((segment) => [segment.session.id, segment]));
  const events: RowEvent[] = [];
  const segments: SegmentPicture[] = [];
  const step = (session: LiveSession, rows: RowTable, segment: SegmentReading | undefined, rewindsBefore: number) => ({
    sessionId: session.id,
    before: rows,
    prints: segment?.prints ?? null,
    rows: rowsOf.get(session.id) ?? [],
    copies,
    rewindCount: session.rewindCount,
    rewound: session.rewindCount > rewindsBefore,
    isLate,
    now,
  });
  for (const known of before.segments) {
    const id = known.session.id;
    if (reading.gone.includes(id)) continue;
    const segment = looked.get(id);
    const session = segment?.session ?? known.session;
    const { rewindCount } = known.session;
    events.push(...segmentEvents(step(session, known.rows, segment, rewindCount)));
    events.push(...equalLengths(before, reading, known, events, now));
    const rows = segment?.prints == null ? known.rows.plus(rowsOf.get(id) ?? []) : RowTable.of(segment.prints);
    segments.push({ session, rows });
  }
  let { continuedTo } = before;
  for (const segment of reading.segments.filter(({ isNew }) => isNew)) {
    const { session } = segment;
    const from = segments.at(-1)?.session ?? null;
    const whole = from === null ? segmentEvents(step(session, RowTable.EMPTY, segment, 0)) : [];
    const continued = from === null ? [] : continuationEvents(step(session, RowTable.EMPTY, segment, 0), from.id, session.startedAt ?? now);
    if (from !== null && !followContinuations) {
      // Only that it goes on, and where; nothing of what happens there.
      if (continuedTo === null) events.push(...continued.slice(0, 1));
      continuedTo = session.id;
      break;
    }
    events.push(...whole, ...continued);
    segments.push({ session, rows: RowTable.of(segment.prints ?? []) });
  }
  return { events, segments, continuedTo };
}

function stateBefore(segments: readonly SegmentPicture[], rowId: string): RowState | null {
  for (const { rows } of segments) {
    const state = rows.stateOf(rowId);
    if (state !== null) return state;
  }
  return null;
}

function equalLengths(before: Picture, reading: RowsReading, known: SegmentPicture, events: readonly RowEvent[], now: number): RowEvent[] {
  const own = reading.young.filter((print) => known.rows.stateOf(print.rowId) !== null);
  const told = new Set(events.flatMap((event) => (event.kind === 'MessagesUpdated' ? event.ids : [])));
  return own.length === 0 ? [] : equalLengthEvents(known.session.id, before.young, own, told, now);
}

/** Rows that are much older than what is there came late, from a queue or a spool. */
function lateness(newestAt: number | null, rows: readonly LiveRow[]): (row: LiveRow) => boolean {
  const late = new Set<string>();
  let newest = newestAt;
  for (const { rowId, timestamp } of rows) {
    if (timestamp === null) continue;
    if (newest !== null && timestamp < newest - SLACK_SECONDS) late.add(rowId);
    if (newest === null || timestamp > newest) newest = timestamp;
  }
  return (row) => late.has(row.rowId);
}

function lastTold(reading: RowsReading): string {
  return reading.more ? (reading.rows.at(-1)?.rowId ?? reading.highestRowId) : reading.highestRowId;
}

function youngAfter(before: Picture, reading: RowsReading): ReadonlyMap<string, string> {
  const prints = [...reading.young, ...reading.segments.flatMap((segment) => segment.prints ?? []), ...reading.rows];
  const hashes = prints.flatMap(({ rowId, hash }): [string, string][] => (hash === null ? [] : [[rowId, hash]]));
  return reading.young.length > 0 ? new Map(hashes) : new Map([...before.young, ...hashes]);
}

function compactedIn(events: readonly RowEvent[]): Set<string> {
  return new Set(
    events.flatMap((event) => {
      if (event.kind === 'TranscriptCompacted') return [event.sessionId];
      return event.kind === 'SessionContinued' ? [event.fromSessionId] : [];
    }),
  );
}

/** Results of background delegations that came as rows. */
function deliveriesIn(events: readonly RowEvent[]): Map<string, string> {
  const rows = events.flatMap((event) => (event.kind === 'MessagesAppended' ? event.rows : []));
  return new Map(rows.flatMap(({ id, delegationId }) => (delegationId === null ? [] : [[delegationId, id]])));
}

const MAY_RETURN: ReadonlySet<RowEventKind> = new Set([
  'MessagesRetracted',
  'MessagesRestored',
  'TranscriptReplaced',
  'TranscriptCompacted',
]);

/** A transcript can go back and forth between two states: the second time is another fact than the first. */
function withNumbers(issued: ReadonlyMap<string, number>, events: readonly RowEvent[]) {
  const next = new Map(issued);
  const numbered = events.map((event) => {
    if (!MAY_RETURN.has(event.kind)) return event;
    const times = (next.get(event.id) ?? 0) + 1;
    next.set(event.id, times);
    return times === 1 ? event : { ...event, id: `${event.id}.${times}` };
  });
  return { events: numbered, issued: next };
}
