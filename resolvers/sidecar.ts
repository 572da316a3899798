/**
 * What the Web UI's file of a session says of it.
 */
import type { StoredSession } from '../src/session-store.ts';
import type { DataWarning } from '../src/state-db/decode.ts';
import { originsOf } from '../src/state-db/listing.ts';
import type { SidecarBackup } from '../src/web-ui/backup.ts';
import type { SidecarRow } from '../src/web-ui/sidecar/sidecar-row.ts';
import type { Context } from './context.ts';

/** The file's row, with the profile of its session. */
export type Sidecar = SidecarRow & { readonly ownerProfile: string };

export async function sidecarOf(session: StoredSession, _: unknown, ctx: Context): Promise<Sidecar | null> {
  if (!originsOf(session).includes('WEB_UI')) return null;
  const row = await ctx.loaders(session.profile).sidecar.load(session.id);
  return row === null ? null : { ...row, ownerProfile: session.profile };
}

/** Null without a backup. */
export function backupOf(sidecar: Sidecar, _: unknown, ctx: Context): Promise<SidecarBackup | null> {
  return ctx.loaders(sidecar.ownerProfile).backup.load(sidecar.id);
}

export function isReadOnly(session: StoredSession, _: unknown, ctx: Context): boolean {
  return !ctx.services.writable || session.beside?.readOnly === true;
}

/** A session that a rule hides and that is shown because nothing else of its conversation is (`spec/webui-listing.md` 6.4). */
export function rescueWarning(session: StoredSession): DataWarning[] {
  if (session.beside?.isRescued !== true) return [];
  const message = 'Lists leave out sessions like this one; it is shown because nothing else of its conversation is.';
  return [{ code: 'RESCUED_MESSAGEFUL_HIDDEN_SESSION', field: null, message }];
}
