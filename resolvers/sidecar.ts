/**
 * What the Web UI's file of a session says of it.
 */
import type { StoredSession } from '../src/session-store.ts';
import { type DataWarning, inWindow } from '../src/state-db/decode.ts';
import { originsOf } from '../src/state-db/listing.ts';
import type { SidecarBackup } from '../src/web-ui/backup.ts';
import { credentialStateChanged } from '../src/web-ui/credential-fingerprint.ts';
import type { ActivityScene } from '../src/web-ui/file-jobs.ts';
import { isGenericTitle, UNTITLED } from '../src/web-ui/list/list-titles.ts';
import type { SidecarRow, SidecarWakeupPause } from '../src/web-ui/sidecar/sidecar-row.ts';
import type { Context } from './context.ts';
import { checkedCount } from './numbers.ts';

/** The file's row, with the profile of its session. */
export type Sidecar = SidecarRow & { readonly ownerProfile: string };

export async function sidecarOf(session: StoredSession, _: unknown, ctx: Context): Promise<Sidecar | null> {
  if (!originsOf(session).includes('WEB_UI')) return null;
  const row = await ctx.loaders(session.profile).sidecar.load(session.id);
  return row === null ? null : { ...row, ownerProfile: session.profile };
}

/** The pause that is in force, with the profile of its session. */
export type WakeupPause = SidecarWakeupPause & Pick<Sidecar, 'ownerProfile'>;

export function wakeupPauseOf({ wakeupPause, ownerProfile }: Sidecar): WakeupPause | null {
  return wakeupPause === null ? null : { ...wakeupPause, ownerProfile };
}

/** Whether the credentials of the profile are others than when turns were paused, so that the Web UI will try again (12.2, 12.3). */
export async function credentialsChanged(pause: WakeupPause, _: unknown, ctx: Context): Promise<boolean> {
  return credentialStateChanged(pause, await ctx.loaders(pause.ownerProfile).credentials.load({}));
}

export type TitleSource = 'MANUAL' | 'GENERATED' | 'GENERIC' | 'UNTITLED' | 'FIRST_MESSAGE';

/** Who made the title of the file, by its marks and its words (`spec/webui-listing.md` 12). */
export function titleSource({ title, manualTitle, llmTitleGenerated }: Sidecar): TitleSource {
  if (title === null || title.trim() === '' || title === UNTITLED) return 'UNTITLED';
  if (manualTitle) return 'MANUAL';
  if (llmTitleGenerated) return 'GENERATED';
  return isGenericTitle(title) ? 'GENERIC' : 'FIRST_MESSAGE';
}

/** Null without a backup. */
export function backupOf(sidecar: Sidecar, _: unknown, ctx: Context): Promise<SidecarBackup | null> {
  return ctx.loaders(sidecar.ownerProfile).backup.load(sidecar.id);
}

export interface SceneMark {
  readonly key: string;
  /** Epoch seconds; null where the file does not say. */
  readonly storedAt: number | null;
}

/** From the beginning of the file, newest first (`spec/webui-sidecars.md` C30). */
export function sceneIndex({ sceneIndex: index }: Sidecar): SceneMark[] {
  const marks = Object.entries(index).map(([key, time]) => ({ key, storedAt: time === 0 ? null : inWindow(time) }));
  return marks.sort((a, b) => (b.storedAt ?? 0) - (a.storedAt ?? 0));
}

const MOST_SCENES = 20;

/** The scenes of keys; what has none is left out. Throws `InvalidInput` for too many, SIDECAR_CORRUPT, SIDECAR_UNREADABLE, SIDECAR_TOO_LARGE. */
export function activityScenes(
  { id, ownerProfile, signature }: Sidecar,
  { keys }: { keys: readonly string[] },
  ctx: Context,
): Promise<readonly ActivityScene[]> {
  checkedCount('keys', keys.length, MOST_SCENES);
  return ctx.loaders(ownerProfile).activityScenes.load({ sessionId: id, size: signature.size, keys: [...new Set(keys)] });
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
