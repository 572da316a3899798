/**
 * What checks ask: one look of one profile, each reading made once however many checks need it. Everything reads and nothing writes.
 */

import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StoreUnreadable } from '../errors.ts';
import { turnJournalRoot } from '../live/journal/ids.ts';
import { JournalUnreadable, systemCode } from '../live/journal/open-journal.ts';
import type { RunSummaries } from '../live/journal/run-summary.ts';
import { TurnEvidenceReader } from '../live/liveness/turn-evidence.ts';
import type { SessionStore, StoredSession, StoreStatus } from '../session-store.ts';
import type { StoreExamination } from '../state-db/examination/examine-store.ts';
import type { FilesExamination } from '../web-ui/examination/examine-files.ts';
import type { IndexHealth } from '../web-ui/index-file/rebuild-index.ts';
import { ownSidecars } from '../web-ui/own-sidecars.ts';
import { type JudgedTurn, judgeTurn } from '../web-ui/recovery/judge-turn.ts';
import { ancestorsOf, childrenOf } from '../web-ui/recovery/repair-guards.ts';
import { listSidecars, type SidecarListing } from '../web-ui/sidecar/list-sidecars.ts';
import type { SidecarRow } from '../web-ui/sidecar/sidecar-row.ts';
import { sidecarName } from '../web-ui/sidecar-file.ts';
import type { WebUiFacts, WebUiHome } from '../web-ui/web-ui-home.ts';

/** The Web UI's folder as it is now. */
export interface WebUiFiles {
  readonly stateDir: string;
  readonly sessionsDir: string;
  readonly facts: WebUiFacts;
  readonly listing: SidecarListing;
  /** Session files of the profile. */
  readonly own: ReadonlyMap<string, SidecarRow>;
}

export type DoctorStore = Pick<
  SessionStore,
  | 'profile'
  | 'status'
  | 'examine'
  | 'examineFiles'
  | 'turnLeases'
  | 'compressionLocks'
  | 'delegations'
  | 'routing'
  | 'sessions'
  | 'messageCounts'
>;

export interface DoctorSources {
  readonly profile: string;
  readonly deep: boolean;
  /** Where state.db lies, whatever file is read in its place. */
  readonly storePath: string;
  /** The profile's own folder. */
  readonly home: string;
  readonly store: DoctorStore;
  /** Epoch seconds. */
  readonly now: () => number;
  readonly status: () => Promise<StoreStatus>;
  /** Throws `StoreUnreadable`. */
  readonly examination: () => Promise<StoreExamination>;
  /** Null where no Web UI keeps sessions. Throws `SidecarUnreadable`. */
  readonly webUi: () => Promise<WebUiFiles | null>;
  readonly sessionIndex: () => Promise<IndexHealth | null>;
  readonly files: () => Promise<FilesExamination>;
  /** Sessions of the profile that wait for a prompt or name a run, as mutations judge them; those with unreadable journals are left out. */
  readonly judgedTurns: () => Promise<ReadonlyMap<string, JudgedTurn>>;
  /** Those of the ids that no store of this machine has; none where one can't be read. */
  readonly unknownIds: (ids: readonly string[]) => Promise<readonly string[]>;
}

export interface DoctorParts {
  readonly store: DoctorStore;
  readonly storePath: string;
  readonly deep: boolean;
  readonly now: () => number;
  readonly webUiHome: Pick<WebUiHome, 'stateDir' | 'sessionsDir' | 'facts' | 'indexHealth'>;
  readonly runs: Pick<RunSummaries, 'get'>;
  readonly profiles: () => Promise<readonly string[]>;
  readonly stores: () => Promise<readonly Pick<SessionStore, 'sessions'>[]>;
}

/** Backups that are compared with their files unless everything is read. */
const MOST_COMPARED = 20;

export function doctorSources(parts: DoctorParts): DoctorSources {
  const { store, storePath, deep, now, webUiHome } = parts;
  const { profile } = store;
  const home = dirname(storePath);
  const webUi = once(async (): Promise<WebUiFiles | null> => {
    const facts = await webUiHome.facts();
    if (facts === null) return null;
    const { stateDir, sessionsDir } = webUiHome;
    const own = ownSidecars(facts.sidecars.rows, profile, await parts.profiles());
    return { stateDir, sessionsDir, facts, own, listing: await listSidecars(sessionsDir) };
  });
  const examination = once(() => store.examine(deep));
  return {
    profile,
    deep,
    storePath,
    home,
    store,
    now,
    webUi,
    status: once(() => store.status()),
    examination,
    sessionIndex: once(() => webUiHome.indexHealth()),
    files: once(async () => {
      // One after the other: both take long, and others want a process too.
      if (deep) await Promise.allSettled([examination()]);
      const files = await webUi();
      const backups = files === null ? [] : deep ? files.listing.backups : await largerBackups(files);
      const sessions = files === null || !deep ? [] : [...files.own.keys()];
      return store.examineFiles({ sessionsDir: files?.sessionsDir ?? null, home, deep, backups, sessions });
    }),
    judgedTurns: once(async () => {
      const files = await webUi();
      return files === null ? new Map<string, JudgedTurn>() : judgeAll(files, parts);
    }),
    unknownIds: async (ids) => {
      const found = await Promise.all(
        (await parts.stores()).map((each) => unlessUnreadable(async () => new Set((await each.sessions(ids)).keys()), new Set(ids))),
      );
      return ids.filter((id) => !found.some((known) => known.has(id)));
    },
  };
}

async function judgeAll({ sessionsDir, facts, own }: WebUiFiles, { store, runs, now }: DoctorParts): Promise<Map<string, JudgedTurn>> {
  const waiting = [...own.values()].filter(({ activeStreamId, pending }) => activeStreamId !== null || pending !== null);
  const stored = await unlessUnreadable(() => store.sessions(waiting.map(({ id }) => id)), new Map<string, StoredSession>());
  const turns = new TurnEvidenceReader(turnJournalRoot(sessionsDir));
  const sources = {
    sessionsDir,
    now,
    run: (sessionId: string, runId: string) => runs.get(sessionId, runId),
    turn: (ids: readonly string[], runId: string) => turns.read(ids, runId),
    ancestors: async (id: string) => ancestorsOf(id, facts.sidecars.rows),
    // An index may tell of children that have no file yet; they are seen at the next look.
    children: async (id: string) => childrenOf(id, facts.sidecars.rows.values(), new Map()),
    storedAt: async (id: string) => stored.get(id)?.stats?.lastTimestamp ?? null,
  };
  const judged = new Map<string, JudgedTurn>();
  for (const row of waiting) {
    try {
      judged.set(row.id, await judgeTurn(sources, row, { needsPrompt: row.pending !== null }));
    } catch (error) {
      if (!(error instanceof JournalUnreadable)) throw error;
    }
  }
  return judged;
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | null = null;
  return () => {
    value ??= read();
    return value;
  };
}

async function unlessUnreadable<T>(read: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof StoreUnreadable) return otherwise;
    throw error;
  }
}

/** Backups without a file, and those with more bytes than it: only they can have more messages that are worth something. */
async function largerBackups({ sessionsDir, listing }: WebUiFiles): Promise<string[]> {
  const found: string[] = [];
  for (const id of listing.backups) {
    const [live, backup] = await Promise.all([
      sizeOf(join(sessionsDir, sidecarName(id))),
      sizeOf(join(sessionsDir, `${sidecarName(id)}.bak`)),
    ]);
    if (backup > live) found.push(id);
    if (found.length === MOST_COMPARED) break;
  }
  return found;
}

/** -1 without a file. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await lstat(path)).size;
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return -1;
  }
}
