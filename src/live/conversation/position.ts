/**
 * Where a follower of a conversation stands: positions in what can be read again, nothing that only this process knows (`spec/live-turns.md`
 * 14.1), and the cursor that names it (`docs/live-protocol.md` 2).
 */
import { z } from 'zod';
import { InvalidInput } from '../../errors.ts';
import type { RunPosition } from '../journal/resume.ts';
import type { RowsPosition } from '../rows/picture.ts';
import { invalidCursor, seal, unseal } from '../sealed-cursor.ts';
import type { ToldEnd } from './run-turn.ts';

export interface RunMark {
  readonly runId: string;
  readonly sessionId: string;
  /** Epoch seconds. */
  readonly startedAt: number;
  /** Null before the journal has a first line. */
  readonly position: RunPosition | null;
  readonly ended: Pick<ToldEnd, 'outcome' | 'certainty'> | null;
}

export interface LivePosition {
  readonly conversationId: string;
  readonly rows: RowsPosition;
  /** Names the store's file. */
  readonly generation: string;
  /** Runs that were told of and may go on, and the newest one. */
  readonly runs: readonly RunMark[];
  /** Epoch seconds: runs that began later are news. */
  readonly since: number;
  /** The turn in `rows` is one that a run tells of. */
  readonly covered: boolean;
}

/** A moment in the log of a running server: spares reading again what is still there. */
export interface LogMark {
  readonly log: string;
  readonly index: number;
}

export interface LiveCursor {
  readonly profile: string;
  readonly issuedAt: number;
  readonly position: LivePosition;
  readonly mark: LogMark | null;
}

const VERSION = 'c2';
const LONGEST = 1024;
const MOST_HOLES = 16;
const OUTCOMES = ['COMPLETED', 'TOOL_LIMIT', 'CANCELLED', 'FAILED', 'INTERRUPTED', 'SUPERSEDED', 'SESSION_DELETED', 'UNKNOWN'] as const;
const CERTAINTIES = ['CERTAIN', 'HIGH', 'MEDIUM', 'LOW'] as const;

const seq = z.number().int().min(0);
const Run = z.tuple([
  z.string(),
  z.string(),
  z.number(),
  z.union([z.null(), z.tuple([z.string(), seq, z.array(z.tuple([seq, seq])), seq.nullable()])]),
  z.union([z.null(), z.tuple([z.enum(OUTCOMES), z.enum(CERTAINTIES)])]),
]);
const Rows = z.tuple([
  z.string().nullable(),
  z.string().regex(/^-?\d{1,19}$/),
  z.string(),
  z.string().nullable(),
  z.number(),
  z.tuple([z.string(), z.string(), z.string()]),
]);
const Body = z.tuple([
  z.literal(VERSION),
  z.string(),
  z.number(),
  z.string(),
  z.string(),
  z.number(),
  z.boolean(),
  Rows,
  z.array(Run),
  z.union([z.null(), z.tuple([z.string(), seq])]),
]);

export function encodeLiveCursor({ profile, issuedAt, position, mark }: LiveCursor): string {
  const { conversationId, rows, generation, since, covered } = position;
  const sealed = (runs: readonly RunMark[]) =>
    seal([
      VERSION,
      profile,
      Math.round(issuedAt),
      conversationId,
      generation,
      since,
      covered,
      [rows.segmentId, rows.maxRowId, rows.digest, rows.turnId, rows.at, rows.views],
      runs.map((run) => encodeRun(run, conversationId)),
      mark === null ? null : [mark.log, mark.index],
    ]);
  // The newest runs are the last: an older one that doesn't fit is one that was left long ago.
  for (let first = 0; ; first++) {
    const runs = position.runs.slice(first);
    const cursor = sealed(runs);
    if (cursor.length <= LONGEST || runs.length <= 1) return cursor;
  }
}

function encodeRun({ runId, sessionId, startedAt, position, ended }: RunMark, conversationId: string): unknown {
  const place =
    position === null
      ? null
      : [position.generation, position.seq, position.holes.slice(-MOST_HOLES).map(({ from, to }) => [from, to]), position.offset];
  return [runId, sessionId === conversationId ? '' : sessionId, startedAt, place, ended === null ? null : [ended.outcome, ended.certainty]];
}

/**
 * Throws `InvalidInput`: CURSOR_INVALID for what is no such cursor, CURSOR_FOREIGN for one of another profile; whether the session
 * belongs to it is for the caller to see.
 */
export function decodeLiveCursor(text: string, profile: string): LiveCursor {
  const cursor = open(text);
  if (cursor === null) throw invalidCursor();
  if (cursor.profile !== profile) throw foreignCursor();
  return cursor;
}

export function foreignCursor(): InvalidInput {
  return new InvalidInput('The live cursor belongs to another conversation or profile. Subscribe again without it.', {}, 'CURSOR_FOREIGN');
}

function open(text: string): LiveCursor | null {
  const parsed = Body.safeParse(unseal(text));
  if (!parsed.success) return null;
  const [, profile, issuedAt, conversationId, generation, since, covered, rows, runs, mark] = parsed.data;
  const [segmentId, maxRowId, digest, turnId, at, views] = rows;
  return {
    profile,
    issuedAt,
    mark: mark === null ? null : { log: mark[0], index: mark[1] },
    position: {
      conversationId,
      generation,
      since,
      covered,
      rows: { segmentId, maxRowId, digest, turnId, at, views },
      runs: runs.map(([runId, sessionId, startedAt, place, ended]) => ({
        runId,
        sessionId: sessionId === '' ? conversationId : sessionId,
        startedAt,
        position:
          place === null
            ? null
            : { generation: place[0], seq: place[1], holes: place[2].map(([from, to]) => ({ from, to })), offset: place[3] },
        ended: ended === null ? null : { outcome: ended[0], certainty: ended[1] },
      })),
    },
  };
}

/** Whether two followers have told the same: clocks and hints aside. */
export function isSamePosition(a: LivePosition, b: LivePosition): boolean {
  return keyOf(a) === keyOf(b) && a.runs.length === b.runs.length && isAsFar(a, b);
}

/** The same of what both follow; a run that only one of them knows is over, and nothing more is told of it. */
export function isAsFar(a: LivePosition, b: LivePosition): boolean {
  if (keyOf(a) !== keyOf(b)) return false;
  const others = new Map(b.runs.map((mark) => [mark.runId, mark]));
  const agrees = a.runs.every((mark) => {
    const other = others.get(mark.runId);
    others.delete(mark.runId);
    return other === undefined ? mark.ended !== null : runKeyOf(mark) === runKeyOf(other);
  });
  return agrees && [...others.values()].every(({ ended }) => ended !== null);
}

/** Of a turn that a run tells of nothing is told by its rows, so whether they show one is all the same. */
function keyOf({ rows, generation, covered }: LivePosition): string {
  return JSON.stringify([generation, rows.segmentId, rows.maxRowId, rows.digest, covered ? null : rows.turnId]);
}

function runKeyOf({ position, ended }: RunMark): string {
  return JSON.stringify([position?.generation, position?.seq, position?.holes, ended?.outcome]);
}
