/** What a list tells of a spool file (`spec/state-db-writes.md` S5, S8), and the order in which files are replayed. */
import { createHash } from 'node:crypto';
import type { SpoolPlace } from './spool-name.ts';
import { previewOf, type SpoolOrder, type SpoolPayload } from './spool-payload.ts';

/** One file as a list tells it; its messages are not kept. */
export interface SpoolEntry extends SpoolOrder {
  readonly spoolId: string;
  readonly name: string;
  /** By the file's name. A PENDING file can hold what can't be used; then `problem` says what, and `state` is INVALID. */
  readonly place: SpoolPlace;
  readonly state: SpoolPlace;
  readonly kind: SpoolPayload['kind'];
  readonly problem: string | null;
  /** As the file says it. */
  readonly reason: string | null;
  readonly sessionId: string | null;
  /** Its messages have uids; false for what holds none. */
  readonly identified: boolean;
  readonly preview: string | null;
  readonly bytes: number;
  /** SHA-256 of the bytes in hex; of size and time for a file that was not read. */
  readonly digest: string;
  /** Nobody holds it, or who did is gone. */
  readonly claimable: boolean;
}

/** The part that follows from the bytes. */
export type SpoolHead = Omit<SpoolEntry, 'spoolId' | 'name' | 'place' | 'state' | 'claimable'>;

export function headOf(payload: SpoolPayload, bytes: number, digest: string): SpoolHead {
  const found = { preview: previewOf(payload), bytes, digest };
  const nothing = { ts: 0, seq: 0, reason: null, sessionId: null, identified: false, problem: null };
  if (payload.kind === 'UNPARSEABLE') return { ...nothing, ...found, kind: payload.kind, problem: payload.problem };
  const { kind, ts, seq, reason, sessionId } = payload;
  const problem = kind === 'INVALID' ? payload.problem : null;
  const identified = 'identified' in payload && payload.identified;
  return { ...found, kind, ts, seq, reason, sessionId, identified, problem };
}

export function digestOf(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** S5: ts, seq, then the name that a file had before it was claimed. */
export function byOrder(one: SpoolEntry, other: SpoolEntry): number {
  return one.ts - other.ts || one.seq - other.seq || (one.spoolId < other.spoolId ? -1 : one.spoolId > other.spoolId ? 1 : 0);
}
