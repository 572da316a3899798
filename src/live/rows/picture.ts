/**
 * What a follower of a conversation remembers between two passes: enough to tell what changed, nothing of what the rows say.
 */
import type { RowsReading } from '../../state-db/live-reading.ts';
import type { RowPrint, RowsDigest } from '../../state-db/live-rows.ts';
import type { LiveSession } from '../../state-db/live-segments.ts';
import type { Hold } from '../../state-db/liveness.ts';
import { type ActivityState, type Compressions, holdKey } from './activity.ts';
import { appendedRow } from './appended.ts';
import { type DelegationState, NO_DELEGATIONS } from './delegation-state.ts';
import { delegationsAt } from './delegations.ts';
import { digest8 } from './events.ts';
import { RowTable } from './row-table.ts';
import { type StateViews, stateViews } from './session-changes.ts';
import { isTurnStart, type OpenTurn, openTurnAt, type TurnState } from './turn-state.ts';

export interface SegmentPicture {
  readonly session: LiveSession;
  readonly rows: RowTable;
}

export interface Picture {
  /** The session that was asked for. */
  readonly sessionId: string;
  /** Names the file. */
  readonly generation: string;
  readonly stamp: string | null;
  /** When it was read, in epoch seconds. */
  readonly at: number;
  /** Every row with an id up to here was told, unless it is another conversation's. */
  readonly after: string;
  /** Root first. */
  readonly segments: readonly SegmentPicture[];
  /** Hashes of the rows of the last minute. */
  readonly young: ReadonlyMap<string, string>;
  readonly lease: Hold | null;
  readonly keepsLeases: boolean;
  readonly locks: readonly Hold[];
  readonly compressions: Compressions;
  readonly activity: ActivityState;
  readonly turns: TurnState;
  readonly delegations: DelegationState;
  /** The session that goes on where it is not followed. */
  readonly continuedTo: string | null;
  /** How often an id was given that may come again, since a transcript can return to what it was. */
  readonly issued: ReadonlyMap<string, number>;
}

/** Where a reader stood: what a cursor has to hold of the rows (14.1). */
export interface RowsPosition {
  readonly segmentId: string | null;
  /** The highest row id told, of the whole database. */
  readonly maxRowId: string;
  /** Of the segment's rows up to there, and its rewinds. */
  readonly digest: string;
  /** The turn that was under way, null when none was. */
  readonly turnId: string | null;
  /** When that was read, in epoch seconds: of background delegations only their times tell whether they were known. */
  readonly at: number;
  /** Digests of the states that were told (14.1 `h`). */
  readonly views: StateViews;
}

/** `position`: picture the store as it was there; what is newer is left to the next pass. */
export function pictureOf(sessionId: string, reading: RowsReading, position: RowsPosition | null): Picture {
  const upTo = position?.maxRowId ?? null;
  const within = (prints: readonly RowPrint[]) => (upTo === null ? prints : prints.filter((print) => BigInt(print.rowId) <= BigInt(upTo)));
  const prints = reading.segments.map((segment) => within(segment.prints ?? []));
  const picture: Picture = {
    sessionId,
    generation: reading.generation,
    // What came after a position has still to be told, so the next pass must not take this reading for its own.
    stamp: upTo === null ? reading.stamp : null,
    at: position?.at ?? reading.at,
    after: upTo ?? reading.highestRowId,
    segments: reading.segments.map(({ session }, index) => ({ session, rows: RowTable.of(prints[index] ?? []) })),
    young: new Map(prints.flat().flatMap(({ rowId, hash }) => (hash === null ? [] : [[rowId, hash]]))),
    lease: reading.lease,
    keepsLeases: reading.keepsLeases,
    locks: reading.locks,
    compressions: new Map(reading.locks.filter(({ live }) => live).map((lock) => [lock.key, { key: holdKey(lock), settled: false }])),
    activity: { toldAt: null },
    turns: { open: null, ended: null, newestAt: reading.newestAt },
    delegations: reading.delegates === null ? NO_DELEGATIONS : delegationsAt(reading.delegates, position, reading.at),
    continuedTo: null,
    issued: new Map(),
  };
  return { ...picture, turns: { ...picture.turns, open: turnAtFirst(picture, reading, position) } };
}

function turnAtFirst(picture: Picture, reading: RowsReading, position: RowsPosition | null): OpenTurn | null {
  const rows = reading.rows.map(appendedRow);
  const start = rows.findLast(isTurnStart) ?? null;
  const tail = { start, last: rows.at(-1) ?? null };
  const facts = {
    sessionId: picture.sessionId,
    tip: tipOf(picture),
    lease: picture.lease,
    keepsLeases: picture.keepsLeases,
    lastKnownRow: null,
    replay: false,
    more: false,
    deleted: false,
    now: reading.at,
  };
  return openTurnAt(tail, facts, position === null ? undefined : position.turnId);
}

export function tipOf(picture: Picture): LiveSession | null {
  return picture.segments.at(-1)?.session ?? null;
}

export function positionOf(picture: Picture): RowsPosition {
  const tip = picture.segments.at(-1);
  return {
    segmentId: tip?.session.id ?? null,
    maxRowId: picture.after,
    digest: tip === undefined ? '' : digestKey(tip),
    turnId: picture.turns.open?.turnId ?? null,
    at: picture.at,
    views: stateViews(tip?.session ?? null),
  };
}

/** 14.1 `d`: count, live, archived (how many and which), three lengths, rewinds. */
export function digestKey({ session, rows }: SegmentPicture): string {
  const digest: RowsDigest = rows.digest();
  const { rows: count, live, archived, liveMarks, archivedMarks, contentBytes, callsBytes, displayBytes } = digest;
  const sums = [count, live, archived, liveMarks, archivedMarks, contentBytes, callsBytes, displayBytes, session.rewindCount];
  return digest8(sums) + digest8(['d', ...sums]);
}
