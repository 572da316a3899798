/**
 * The sessions whose rows are one conversation: what was compressed into a session, the session, and what goes on from it, side continuations
 * too (`spec/state-db-writes.md` 0.2, A14 O5).
 */
import { chainMembers, chainRoot } from '../lineage.ts';
import type { StoreReading } from '../store-reading.ts';
import { SessionGraph } from './session-graph.ts';

/** The session itself is always among them, also when it is unknown. */
export function conversationIds(store: StoreReading, sessionId: string): string[] {
  const graph = new SessionGraph(store);
  const session = graph.get(sessionId);
  if (session === undefined) return [sessionId];
  return [...new Set([sessionId, ...chainMembers(graph, chainRoot(graph, session)).map(({ id }) => id)])];
}
