/** What the list needs of one state.db, as its owner reads it. */
import type { SessionEntry } from '../../state-db/session-record.ts';

/** A row of `sessions` with what its messages say. `stats` is null where the messages can't be read. */
export type StoreSession = Pick<
  SessionEntry,
  | 'id'
  | 'source'
  | 'title'
  | 'model'
  | 'parentId'
  | 'startedAt'
  | 'endedAt'
  | 'endReason'
  | 'storedMessageCount'
  | 'userId'
  | 'chatId'
  | 'chatType'
  | 'threadId'
  | 'sessionKey'
  | 'branchedFrom'
  | 'delegateFrom'
  | 'resetFrom'
  | 'stats'
>;

/** One state.db at one moment. A changed store is another object: what is worked out from it is kept by it. */
export interface StoreRows {
  readonly profile: string;
  readonly sessions: ReadonlyMap<string, StoreSession>;
  /** Rows of role `user` (without case) of a session; null when they were not counted: then all its rows count. */
  userMessages(id: string): number | null;
  /** 12.1 over the user messages of a session in their order; null when there is none, or when nobody looked. */
  derivedTitle(id: string): string | null;
}

/** Messages counted in the store, else what the session's row says. */
export function countOf(session: StoreSession): number {
  return Math.max(session.storedMessageCount, session.stats?.total ?? 0);
}

/** 5.3, 7.1: the last message, else the start, else 0. */
export function lastTime(session: StoreSession): number {
  return session.stats?.lastTimestamp ?? session.startedAt ?? 0;
}

/** Whether the session holds a message; what the row says where the messages can't be read. */
export function hasMessages(session: StoreSession): boolean {
  return session.stats === null ? session.storedMessageCount > 0 : session.stats.total > 0;
}
