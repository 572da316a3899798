/** Sessions that lists leave out because nothing was ever said in them (`spec/webui-sidecars.md` 14, `spec/webui-listing.md` 3.5). */
import type { SidecarRow } from './sidecar-row.ts';

const UNTITLED = 'Untitled';

/** A title of null is a title; what is not known to be empty is not, and neither is a file that can't be read. */
export function isEmptyRow(row: SidecarRow): boolean {
  return row.title === UNTITLED && row.messageCount === 0 && row.activeStreamId === null && row.pending === null && row.worktree === null;
}
