/**
 * What a caller saw of a transcript before it asked for a change: compared inside the transaction, so that nobody's later words are changed
 * unseen (`spec/state-db-writes.md` L3, 10.1 step 2, Y5).
 */
import { WriteRefused } from '../../write-refused.ts';
import { chain, chainAncestors } from '../lineage.ts';
import type { StoreReading } from '../store-reading.ts';
import { transcriptRevision } from '../transcript.ts';
import { activeIds } from './active-ids.ts';
import type { GraphSession, SessionGraph } from './session-graph.ts';

export interface ExpectedState {
  /** Ids of the live rows of the session, all of them, in order. */
  readonly expectedActiveIds?: readonly string[] | null;
  /** `Session.transcript.revision`, of the replay or of the display. */
  readonly expectedRevision?: string | null;
}

export function isExpectedStateGiven({ expectedActiveIds, expectedRevision }: ExpectedState): boolean {
  return expectedActiveIds != null || expectedRevision != null;
}

/** Throws `WriteRefused` with TRANSCRIPT_CHANGED when the session is not what was seen. */
export function requireExpectedState(store: StoreReading, graph: SessionGraph, session: GraphSession, expected: ExpectedState): void {
  const { expectedActiveIds, expectedRevision } = expected;
  if (expectedActiveIds != null && !isSameList(activeIds(store, session.id), expectedActiveIds)) {
    throw new WriteRefused('TRANSCRIPT_CHANGED', 'Other rows are live than those expected.');
  }
  if (expectedRevision == null) return;
  if (transcriptRevision(store, { view: 'REPLAY', sessionIds: [session.id] }) === expectedRevision) return;
  const segments = [...chainAncestors(graph, session), ...chain(graph, session)].map(({ id }) => id);
  if (transcriptRevision(store, { view: 'DISPLAY', sessionIds: segments }) !== expectedRevision) {
    throw new WriteRefused('TRANSCRIPT_CHANGED', 'It has another revision than the one expected.');
  }
}

function isSameList(found: readonly string[], expected: readonly string[]): boolean {
  return found.length === expected.length && found.every((id, index) => id === expected[index]);
}
