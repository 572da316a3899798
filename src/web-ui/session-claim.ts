/** Whether the conversation of a session of a list may be gone on with in the Web UI (`spec/webui-listing.md` 16.3). Pure. */
import type { Claim } from '../state-db/beside.ts';
import type { SessionEntry } from '../state-db/session-record.ts';
import type { Known } from './known-session.ts';
import { claimable, isDeletedHere } from './list/claim-policy.ts';
import { normaliseSource } from './list/source-class.ts';

/**
 * `stored` is its row in state.db; undefined without one. A session with a file is in the Web UI already: then this says who may write to it.
 * NOT_FOUND for one that was deleted there, or that holds nothing to take.
 */
export function claimOf({ row, sidecar, claude, tombstones }: Known, stored: SessionEntry | undefined): Claim {
  if (sidecar !== null) return claimable(row, stored?.source ?? null);
  if (claude !== null || stored === undefined) return claimable({ ...row, readOnly: true }, null);
  if (isDeletedHere(null, tombstones.includes('DELETED'), stored.source) || isEmpty(stored)) return { ok: false, reason: 'NOT_FOUND' };
  return claimable({ ...normaliseSource(stored.source), readOnly: false }, stored.source);
}

/** With a parent, rows of earlier segments may be taken along. */
function isEmpty({ stats, parentId }: SessionEntry): boolean {
  return stats?.live === 0 && parentId === null;
}
