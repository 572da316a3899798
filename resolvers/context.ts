/**
 * What every resolver is handed: the profiles, the loaders of this request, and the signal that its client has gone.
 */
import type { ExportFiles } from '../src/exports/export-files.ts';
import type { RunSummaries } from '../src/live/journal/run-summary.ts';
import type { LiveTurns } from '../src/live/live-turns.ts';
import type { WebUiLiveness } from '../src/live/liveness/web-ui-liveness.ts';
import type { SessionFeed } from '../src/live/session-feed.ts';
import type { Maintenance } from '../src/maintenance/maintenance.ts';
import type { ProfileRegistry } from '../src/profiles.ts';
import type { SessionStore } from '../src/session-store.ts';
import type { OpenSessions } from '../src/web-ui/open-sessions.ts';
import type { WebUiHome } from '../src/web-ui/web-ui-home.ts';
import type { StoreWriters } from '../src/writing/store-writers.ts';
import { createLoaders, type StoreLoaders } from './loaders.ts';

/** What the server has for all requests. */
export interface Services {
  readonly profiles: ProfileRegistry;
  readonly feed: SessionFeed;
  readonly liveTurns: LiveTurns;
  /** The folder of the Web UI's run journals, and what was read of them. */
  readonly journalRoot: string;
  readonly runs: RunSummaries;
  /** What the Web UI's files say about turns under way. */
  readonly webUi: WebUiLiveness;
  /** The Web UI's files, shared by all profiles. */
  readonly webUiHome: WebUiHome;
  /** Transcripts of sessions that files have. */
  readonly openSessions: OpenSessions;
  /** Exports that wait to be fetched. */
  readonly exports: ExportFiles;
  /** Long work on stores. */
  readonly maintenance: Maintenance;
  /** Changes stores, one process each. */
  readonly writers: StoreWriters;
  /** For the log: what went wrong beside an answer that is given all the same. */
  readonly onError: (error: unknown) => void;
  readonly version: string;
  readonly writable: boolean;
  readonly limits: { readonly maxCost: number; readonly maxDepth: number };
}

/** A plain object: GraphQL Yoga copies the properties of a context into one of its own. */
export interface Context {
  readonly services: Services;
  /** Aborts when the client is gone or the operation is over. */
  readonly signal: AbortSignal;
  /** Null and undefined mean the default profile. Throws `InvalidInput` with PROFILE_NOT_FOUND. */
  readonly store: (profile?: string | null) => Promise<SessionStore>;
  /** The loaders of a profile whose store was opened: fields of sessions and messages pass the profile that these came from. */
  readonly loaders: (profile: string) => StoreLoaders;
  /** Forgets everything loaded: what one event of a subscription saw is old for the next. */
  readonly reset: () => void;
}

export function createContext(services: Services, signal: AbortSignal): Context {
  const loaders = new Map<SessionStore, StoreLoaders>();
  return {
    services,
    signal,
    store: (profile) => services.profiles.store(profile),
    loaders: (profile) => {
      const store = services.profiles.opened(profile);
      const known = loaders.get(store);
      if (known !== undefined) return known;
      const made = createLoaders(store, services);
      loaders.set(store, made);
      return made;
    },
    reset: () => loaders.clear(),
  };
}
