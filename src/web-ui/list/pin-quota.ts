/** How many conversations may be pinned (`spec/webui-listing.md` 13.5). */

import { lineageKey } from './collapse-rows.ts';
import type { ListRow } from './list-row.ts';

export interface PinQuota {
  readonly allowed: boolean;
  /** Conversations pinned now. */
  readonly used: number;
  readonly limit: number;
}

/** Whether the row may be pinned among the others; pinning again within a pinned conversation is free. */
export function pinQuota(id: string, rows: readonly ListRow[], limit: number): PinQuota {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const keyOf = (row: ListRow) => lineageKey(row, byId) ?? row.id;
  const pinned = new Set(rows.filter((row) => row.pinned && !row.archived && !row.defaultHidden).map(keyOf));
  const row = byId.get(id);
  const isFree = row !== undefined && pinned.has(keyOf(row));
  return { allowed: isFree || pinned.size < limit, used: pinned.size, limit };
}
