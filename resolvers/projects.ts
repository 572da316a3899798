/**
 * Projects of the Web UI, and what is known of its folder.
 */
import type { StoredSession } from '../src/session-store.ts';
import type { IndexHealth } from '../src/web-ui/index-file/rebuild-index.ts';
import { foldersWithSessions } from '../src/web-ui/other-folders.ts';
import { ownSidecars } from '../src/web-ui/own-sidecars.ts';
import { type OwnedProject, projectsOf } from '../src/web-ui/projects/owned-projects.ts';
import { hasOverlayStore } from '../src/web-ui/sidecar/save-sidecar.ts';
import { SidecarUnreadable } from '../src/web-ui/sidecar-file.ts';
import { type StaleFile, staleTemporaryFiles } from '../src/web-ui/temporary-files.ts';
import type { WebUiFacts } from '../src/web-ui/web-ui-home.ts';
import type { Context } from './context.ts';
import { type SessionConnection, sessions } from './sessions.ts';
import type { Profile } from './stores.ts';

/** Folders in one sentence. */
const MOST_NAMED = 5;

/** Those of one profile, in the order of the file; none where there is no Web UI. */
export async function projects(_: unknown, args: { profile?: string | null | undefined }, ctx: Context): Promise<OwnedProject[]> {
  const store = await ctx.store(args.profile);
  const facts = await ctx.services.webUiHome.facts();
  return facts === null ? [] : projectsOf(facts, store.profile);
}

/** The project of a profile by its id; null for one of another profile. */
export async function projectById(profile: string, id: string, ctx: Context): Promise<OwnedProject | null> {
  return ctx.loaders(profile).project.load(id);
}

export function projectOf(session: StoredSession, _: unknown, ctx: Context): Promise<OwnedProject | null> | null {
  const id = session.beside?.projectId ?? null;
  return id === null ? null : projectById(session.profile, id, ctx);
}

/** Archived ones not, as in any list; background runs too, which only their project shows. */
export function projectSessions(
  project: OwnedProject,
  args: { first?: number | null | undefined; after?: string | null | undefined },
  ctx: Context,
): Promise<SessionConnection> {
  const filter = { projectId: project.id, includeBackground: true };
  return sessions(null, { ...args, profile: project.profile, filter }, ctx);
}

/** What is known of the folder; null where no Web UI keeps sessions. */
export interface WebUiStore {
  readonly profile: string;
  readonly facts: WebUiFacts;
}

export async function webUiOf(profile: Profile, _: unknown, ctx: Context): Promise<WebUiStore | null> {
  const facts = await ctx.services.webUiHome.facts();
  return facts === null ? null : { profile: profile.name, facts };
}

export async function sessionCount({ profile, facts }: WebUiStore, _: unknown, ctx: Context): Promise<number> {
  return ownSidecars(facts.sidecars.rows, profile, await ctx.services.profiles.names()).size;
}

export async function indexStatus(_: WebUiStore, __: unknown, ctx: Context): Promise<IndexHealth['status']> {
  return (await ctx.services.webUiHome.indexHealth())?.status ?? 'MISSING';
}

/** A sentence where the folder holds no sessions and others beside it do (`spec/webui-sidecars.md` 1.1); else null. */
export async function storeHint({ facts }: WebUiStore, _: unknown, ctx: Context): Promise<string | null> {
  if (facts.sidecars.rows.size > 0) return null;
  const folders = await foldersInstead(ctx.services.webUiHome.stateDir);
  if (folders.length === 0) return null;
  const names = folders.slice(0, MOST_NAMED).map((name) => JSON.stringify(name));
  const more = folders.length > names.length ? ` and ${folders.length - names.length} more` : '';
  return `No sessions are in this folder, but beside it are folders with some: ${names.join(', ')}${more}. See that the Web UI's folder is the right one.`;
}

export async function staleTempFiles(_: WebUiStore, __: unknown, ctx: Context): Promise<StaleFile[]> {
  return staleTemporaryFiles(ctx.services.webUiHome.sessionsDir);
}

export function overlayStore(_: WebUiStore, __: unknown, ctx: Context): Promise<boolean> {
  return hasOverlayStore(ctx.services.webUiHome.sessionsDir);
}

async function foldersInstead(stateDir: string): Promise<readonly string[]> {
  try {
    return await foldersWithSessions(stateDir);
  } catch (error) {
    if (error instanceof SidecarUnreadable) return [];
    throw error;
  }
}
