/** Where a session stands, by what the lists know of it: no file is parsed and no statement run for it (`spec/webui-listing.md` 10, 16.3). */
import type { StoredSession } from '../src/session-store.ts';
import type { Claim, TombstoneKind } from '../src/state-db/beside.ts';
import { originsOf } from '../src/state-db/listing.ts';

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
