/** Where a session and its folder stand (`spec/webui-listing.md` 10, 16.3, 17.2). */
import type { StoredSession } from '../src/session-store.ts';
import type { Claim, TombstoneKind } from '../src/state-db/beside.ts';
import { originsOf } from '../src/state-db/listing.ts';
import type { WorkspaceBinding } from '../src/web-ui/list/workspace-binding.ts';
import type { Context } from './context.ts';

/** By what the lists know: no file is parsed and no statement run for it. */
export interface Backing {
  readonly sidecar: boolean;
  readonly sidecarMessages: number | null;
  readonly stateDbRow: boolean;
  /** Rows of any state; null without a row of the session, and where they can't be read. */
  readonly stateDbMessages: number | null;
  readonly tombstones: readonly TombstoneKind[];
}

export function backing(session: StoredSession): Backing {
  const origins = originsOf(session);
  const { beside, stats } = session;
  const stateDbRow = origins.includes('STATE_DB');
  return {
    sidecar: origins.includes('WEB_UI'),
    sidecarMessages: beside?.fileMessages ?? null,
    stateDbRow,
    stateDbMessages: stateDbRow && stats !== null ? stats.total : null,
    tombstones: beside?.tombstones ?? [],
  };
}

/** Null where no Web UI knows it. */
export function claim({ beside }: StoredSession): Claim | null {
  return beside?.claim ?? null;
}

/** Null where no Web UI knows it. */
export async function workspaceBinding(session: StoredSession, _: unknown, ctx: Context): Promise<WorkspaceBinding | null> {
  return session.beside === null ? null : ctx.loaders(session.profile).workspaceBinding.load(session.id);
}
