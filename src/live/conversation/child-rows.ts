/**
 * Rows of sub-agents at work, for readers that follow them message by message (`spec/live-turns.md` 11.3, 12 `delegates: MESSAGES`;
 * `docs/live-protocol.md` 9.2).
 */
import type { SessionStore } from '../../session-store.ts';
import { appendedRow } from '../rows/appended.ts';
import type { Delegation } from '../rows/delegation-state.ts';
import { type RowEvent, rowEvent } from '../rows/events.ts';

type AtWork = Pick<Delegation, 'sessionIds' | 'depth'>;

/** Sub-agents that came to their end among the events. */
export function finishedIn(events: readonly RowEvent[]): AtWork[] {
  return events.flatMap((event) =>
    event.kind === 'DelegationFinished' && event.childSessionId !== null
      ? [{ sessionIds: [event.childSessionId], depth: event.depth }]
      : [],
  );
}

/**
 * What the sub-agents appended between two row ids. Ids are given once and in order, so the rows between two of them are the same
 * whenever they are read. Throws `StoreUnreadable`.
 */
export async function childRowEvents(
  store: Pick<SessionStore, 'rowsBetween'>,
  delegations: readonly AtWork[],
  after: string,
  upTo: string,
): Promise<RowEvent[]> {
  const depths = new Map(delegations.flatMap(({ sessionIds, depth }) => sessionIds.map((id) => [id, depth] as const)));
  const events: RowEvent[] = [];
  for (let last = after; depths.size > 0 && BigInt(last) < BigInt(upTo); ) {
    const rows = await store.rowsBetween([...depths.keys()], last, upTo);
    for (const row of rows) {
      const place = { sessionId: row.sessionId, at: row.timestamp ?? 0, depth: depths.get(row.sessionId) ?? 1 };
      events.push(rowEvent('MessagesAppended', `m:${row.rowId}`, place, { ids: [row.rowId], rows: [appendedRow(row)], carried: [] }));
    }
    last = rows.at(-1)?.rowId ?? upTo;
  }
  return events;
}
