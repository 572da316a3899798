/**
 * What changed in a session's row: title, counters, state (`spec/live-turns.md` 6.1, 12).
 */
import type { LiveSession } from '../../state-db/live-segments.ts';
import { digest8, type RowEvent, rowEvent, type SessionField, type SettledUsage, stateId } from './events.ts';

/** STATE events only. `final`: no turn is under way, so counters won't move soon. */
export function sessionEvents(before: LiveSession, after: LiveSession, now: number, final: boolean): RowEvent[] {
  const events: RowEvent[] = [];
  const changed = changedFields(before, after);
  if (changed.length > 0) events.push(changedEvent(after, changed, now));
  if (before.title !== after.title || before.titleSource !== after.titleSource) events.push(titleEvent(after, now));
  if (JSON.stringify(usageOf(before)) !== JSON.stringify(usageOf(after))) events.push(usageEvent(after, now, final));
  return events;
}

function changedEvent(session: LiveSession, changed: readonly SessionField[], at: number): RowEvent {
  const id = stateId('SessionChanged', session.id, stateKey(session));
  return rowEvent('SessionChanged', id, { sessionId: session.id, at }, { changed });
}

function titleEvent({ id: sessionId, title, titleSource }: LiveSession, at: number): RowEvent {
  // A title without a source was set by a person, as far as the owner is concerned (`spec/state-db.md` 4.1).
  const automatic = title !== null && titleSource !== null && titleSource !== 'user';
  const fields = { title, status: null, reason: null, automatic };
  return rowEvent('TitleChanged', stateId('TitleChanged', sessionId, [title, automatic]), { sessionId, at }, fields);
}

function usageEvent(session: LiveSession, at: number, final: boolean): RowEvent {
  const usage = usageOf(session);
  const place = { sessionId: session.id, at };
  return rowEvent('UsageChanged', stateId('UsageChanged', session.id, [usage, final]), place, { usage, final });
}

/** What was told of a session's row, each as a digest: a reader who comes back is told what is another (14.1 `h`). */
export type StateViews = readonly [session: string, title: string, usage: string];

export function stateViews(session: LiveSession | null): StateViews {
  if (session === null) return ['', '', ''];
  return [digest8([session.id, stateKey(session)]), digest8([session.id, session.title, session.titleSource]), digest8(usageOf(session))];
}

/** The states that are other than a reader was told, once each; which fields of the session changed can't be known any more. */
export function missedStates(told: StateViews, session: LiveSession, now: number, final: boolean): RowEvent[] {
  const [state, title, usage] = stateViews(session);
  return [
    ...(told[0] === state ? [] : [changedEvent(session, ['UNKNOWN'], now)]),
    ...(told[1] === title ? [] : [titleEvent(session, now)]),
    ...(told[2] === usage ? [] : [usageEvent(session, now, final)]),
  ];
}

export function usageOf(session: LiveSession): SettledUsage {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens, estimatedCostUsd, actualCostUsd, costStatus } =
    session;
  return {
    inputTokens,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens,
    apiCalls: session.apiCallCount,
    estimatedCostUsd,
    actualCostUsd,
    costStatus,
  };
}

/** The values behind each field; counters, clocks and titles have events of their own. */
function fieldValues(session: LiveSession): Readonly<Record<Exclude<SessionField, 'ENDED' | 'REOPENED' | 'UNKNOWN'>, unknown>> {
  return {
    MODEL: session.model,
    SOURCE: session.source,
    WORKSPACE: [session.cwd, session.gitBranch, session.gitRepoRoot],
    ARCHIVED: session.archived,
    PINNED: session.pinned,
    HIDDEN: session.hidden,
    READ: session.lastReadAt,
    HANDOFF: [session.handoffState, session.handoffPlatform],
    PARENT: session.parentId,
    ROUTING: [session.sessionKey, session.chatId, session.chatType, session.threadId, session.displayName, session.userId],
  };
}

function changedFields(before: LiveSession, after: LiveSession): SessionField[] {
  const [old, now] = [fieldValues(before), fieldValues(after)];
  const changed: SessionField[] = [];
  const [wasEnded, isEnded] = [isOver(before), isOver(after)];
  if (isEnded && (!wasEnded || before.endReason !== after.endReason)) changed.push('ENDED');
  if (wasEnded && !isEnded) changed.push('REOPENED');
  for (const field of FIELDS) if (JSON.stringify(old[field]) !== JSON.stringify(now[field])) changed.push(field);
  return changed;
}

const FIELDS = ['MODEL', 'SOURCE', 'WORKSPACE', 'ARCHIVED', 'PINNED', 'HIDDEN', 'READ', 'HANDOFF', 'PARENT', 'ROUTING'] as const;

export function isOver(session: Pick<LiveSession, 'endedAt' | 'endReason'>): boolean {
  return session.endedAt !== null || session.endReason !== null;
}

function stateKey(session: LiveSession): unknown {
  return [session.endedAt, session.endReason, fieldValues(session)];
}
