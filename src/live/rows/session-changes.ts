/**
 * What changed in a session's row: title, counters, state (`spec/live-turns.md` 6.1, 12).
 */
import type { LiveSession } from '../../state-db/live-segments.ts';
import { type RowEvent, rowEvent, type SessionField, type SettledUsage, stateId } from './events.ts';

/** STATE events only. `final`: no turn is under way, so counters won't move soon. */
export function sessionEvents(before: LiveSession, after: LiveSession, now: number, final: boolean): RowEvent[] {
  const place = { sessionId: after.id, at: now };
  const events: RowEvent[] = [];
  const changed = changedFields(before, after);
  if (changed.length > 0) events.push(rowEvent('SessionChanged', stateId('SessionChanged', after.id, stateKey(after)), place, { changed }));
  if (before.title !== after.title || before.titleSource !== after.titleSource) {
    // A title without a source was set by a person, as far as the owner is concerned (`spec/state-db.md` 4.1).
    const automatic = after.title !== null && after.titleSource !== null && after.titleSource !== 'user';
    const fields = { title: after.title, status: null, reason: null, automatic };
    events.push(rowEvent('TitleChanged', stateId('TitleChanged', after.id, [after.title, automatic]), place, fields));
  }
  const usage = usageOf(after);
  if (JSON.stringify(usageOf(before)) !== JSON.stringify(usage))
    events.push(rowEvent('UsageChanged', stateId('UsageChanged', after.id, [usage, final]), place, { usage, final }));
  return events;
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
function fieldValues(session: LiveSession): Readonly<Record<Exclude<SessionField, 'ENDED' | 'REOPENED'>, unknown>> {
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
