/**
 * The end of a conversation that nobody saw (`spec/live-turns.md` 6.4, session delete).
 */
import { derivedId, type RowEvent, rowEvent } from './events.ts';

/** The same events that a follower tells when a session goes while he watches. */
export function deletedEvents(sessionIds: readonly string[], generation: string, at: number): RowEvent[] {
  return sessionIds.map((sessionId) =>
    rowEvent('SessionDeleted', derivedId('SessionDeleted', sessionId, generation), { sessionId, at }, {}),
  );
}

export function deletedOffline(sessionId: string, turnId: string | null, generation: string, at: number): RowEvent[] {
  const deleted = deletedEvents([sessionId], generation, at);
  if (turnId === null) return deleted;
  const fields = { turnId, outcome: 'SESSION_DELETED', certainty: 'CERTAIN', evidence: 'SESSION_DELETED' } as const;
  const id = derivedId('TurnEnded', sessionId, [turnId, fields.evidence]);
  return [rowEvent('TurnEnded', id, { sessionId, at }, { ...fields, firstMessageId: null, lastMessageId: null }), ...deleted];
}
