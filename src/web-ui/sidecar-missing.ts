/**
 * Sessions of the Web UI whose file is lost (`spec/webui-recovery.md` 18, D22): the store still has them. Pure.
 */
import type { SessionEntry } from '../state-db/session-record.ts';
import { isDeletedHere } from './list/claim-policy.ts';
import { fold } from './list/source-class.ts';
import { type Fields, truthy, word } from './sidecar/coercions.ts';

const OWN: ReadonlySet<string> = new Set(['webui', 'fork']);

/** By the source of its row in the store. */
export function isOfWebUi(source: string | null): boolean {
  return OWN.has(fold(source));
}

/** By its row in the Web UI's index; undefined without one (`spec/webui-recovery.md` 18, 3). */
export function isRowOfWebUi(row: Fields | undefined): boolean {
  if (row === undefined) return false;
  const names = [row.source_tag, row.raw_source, row.session_source].map((name) => fold(word(name)));
  if (names.some((name) => OWN.has(name))) return true;
  return names.every((name) => name === '') && !truthy(row.is_cli_session) && !truthy(row.read_only);
}

type Known = Pick<SessionEntry, 'source' | 'beside'>;

/** Whether the session was deleted in the Web UI and only the store still has it. A file beats the list of deleted ones. */
export function isGone({ source, beside }: Known): boolean {
  if (beside === null || beside.origins.includes('WEB_UI')) return false;
  return isDeletedHere(null, beside.tombstones.includes('DELETED'), source);
}

/** Whether the store has messages of a session that is not deleted, and no file does: one can be made if it is the Web UI's own. */
export function mayLackFile(session: Pick<SessionEntry, 'source' | 'beside' | 'stats'>): boolean {
  const { beside, stats } = session;
  if (beside === null || !beside.origins.includes('STATE_DB') || beside.origins.includes('WEB_UI')) return false;
  return (stats?.live ?? 0) > 0 && !isGone(session);
}
