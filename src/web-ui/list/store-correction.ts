/** Stage B: what state.db knows better of a Web UI row (`spec/webui-listing.md` 4). */
import type { ListRow } from './list-row.ts';
import { isBlank } from './list-row.ts';
import { collapseWhitespace, isGenericTitle } from './list-titles.ts';
import { fold, normaliseSource } from './source-class.ts';
import { countOf, type StoreRows, type StoreSession } from './store-rows.ts';

export const DELEGATE_TITLE = 'Subagent Session';

/**
 * The row with O1 to O6 applied, the same object when the store changes nothing. Ask the store of the row's own profile: another
 * profile's row of the same id is another session.
 */
export function correctFromStore(row: ListRow, store: Pick<StoreRows, 'sessions' | 'derivedTitle'> | null): ListRow {
  const session = store?.sessions.get(row.id);
  if (store === null || session === undefined) return row;
  const changes = { ...sourceChanges(row, session), ...countChanges(row, session), ...titleChanges(row, session, store) };
  const provenance = { ...row.provenance, ...provenanceOf(changes) };
  return { ...row, ...changes, provenance, origins: new Set([...row.origins, 'STATE_DB'] as const) };
}

/** O1, O2. */
function sourceChanges(row: ListRow, session: StoreSession): Partial<ListRow> {
  const source = fold(session.source);
  if (source !== 'webui' && source !== 'subagent') return {};
  return { ...normaliseSource(source), isCliSession: false, readOnly: row.readOnly || source === 'subagent' };
}

/** O3, O4: only upwards, and only when the store was written after the row: what was undone must not come back. */
function countChanges(row: ListRow, session: StoreSession): Partial<ListRow> {
  const source = fold(session.source);
  if (source !== 'webui' && source !== 'subagent') return {};
  const count = countOf(session);
  const last = session.stats?.lastTimestamp ?? null;
  const rowLast = Math.max(row.lastMessageAt ?? 0, row.updatedAt ?? 0);
  if (count <= row.messageCount || (last !== null && last <= rowLast)) return {};
  const counts = { messageCount: count, actualMessageCount: Math.max(count, row.actualMessageCount ?? 0) };
  if (last === null) return counts;
  return { ...counts, lastMessageAt: Math.max(row.lastMessageAt ?? 0, last), updatedAt: Math.max(row.updatedAt ?? 0, last) };
}

/** O5, O6. */
function titleChanges(row: ListRow, session: StoreSession, store: Pick<StoreRows, 'derivedTitle'>): Partial<ListRow> {
  const title = session.title;
  if (title !== null && !isBlank(title) && title !== row.title && isGenericTitle(row.title)) return { displayTitle: title };
  if (fold(session.source) !== 'subagent' || collapseWhitespace(row.title) !== DELEGATE_TITLE) return {};
  const derived = store.derivedTitle(session.id);
  return derived === null || isBlank(derived) ? {} : { displayTitle: derived };
}

function provenanceOf(changes: Partial<ListRow>): Partial<ListRow['provenance']> {
  return {
    ...('sourceTag' in changes ? { source: 'STATE_DB' as const } : {}),
    ...('messageCount' in changes ? { messageCount: 'STATE_DB' as const } : {}),
    ...('lastMessageAt' in changes ? { lastMessageAt: 'STATE_DB' as const } : {}),
    ...('displayTitle' in changes ? { displayTitle: 'STATE_DB' as const } : {}),
  };
}
