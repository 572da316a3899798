/**
 * The DataLoaders of one request (one event, for a subscription) and one store: each field of a list asks alone, the store answers all at once.
 */

import { dirname } from 'node:path';
import DataLoader from 'dataloader';
import { CaduceusError, StoreUnreadable } from '../src/errors.ts';
import { turnJournalRoot } from '../src/live/journal/ids.ts';
import { readTurnJournal, type TurnJournal } from '../src/live/journal/turn-journal.ts';
import { type JournaledTurn, turnsOf } from '../src/live/journal/turns.ts';
import type { WebUiLiveness } from '../src/live/liveness/web-ui-liveness.ts';
import type { PageRequest } from '../src/paging.ts';
import type {
  AnchorKey,
  FoundAnchor,
  PrefixKey,
  RoundsKey,
  ShownSnapshot,
  ShownTail,
  StateMessagesKey,
  TailKey,
} from '../src/session-history.ts';
import type { InputOwner, MessagesQuery, SessionStore, StoredTranscript, TranscriptQuery } from '../src/session-store.ts';
import { isLasting } from '../src/state-db/beside-alone.ts';
import type { PlatformMessageKey } from '../src/state-db/message-facts.ts';
import type { Anchor, ToolCallKey } from '../src/state-db/messages.ts';
import type { HeldRows } from '../src/state-db/write/held-rows.ts';
import { hasBackup, type SidecarBackup } from '../src/web-ui/backup.ts';
import { type CompressionFamilies, compressionFamilies } from '../src/web-ui/compression-recovery.ts';
import { credentialFingerprint } from '../src/web-ui/credential-fingerprint.ts';
import type { ActivityScene, ContextDelta, ScenesKey } from '../src/web-ui/file-jobs.ts';
import type { JournalRetry } from '../src/web-ui/interruption.ts';
import type { WorkspaceBinding } from '../src/web-ui/list/workspace-binding.ts';
import { batches, type OpenKey, type OpenSessions } from '../src/web-ui/open-sessions.ts';
import { type OwnedProject, projectsOf } from '../src/web-ui/projects/owned-projects.ts';
import { Limiter } from '../src/web-ui/sidecar/limiter.ts';
import type { SidecarRow } from '../src/web-ui/sidecar/sidecar-row.ts';
import { SidecarUnreadable } from '../src/web-ui/sidecar-file.ts';
import { readSidecarTail } from '../src/web-ui/sidecar-head.ts';
import type { OpenedSession } from '../src/web-ui/transcript/opened-session.ts';
import type { WebUiHome } from '../src/web-ui/web-ui-home.ts';
import type { StoreWriters } from '../src/writing/store-writers.ts';

export type StoreLoaders = ReturnType<typeof createLoaders>;

export type MessagePageKey = MessagesQuery & { readonly page: PageRequest };

/** A session file and its size in bytes. */
export interface FileKey {
  readonly sessionId: string;
  readonly size: number;
}

/** What the turn journal of a session says. */
export interface JournaledTurns extends Omit<TurnJournal, 'events'> {
  /** The newest first. */
  readonly turns: readonly JournaledTurn[];
}

/** What loaders need besides the store. */
export interface LoaderServices {
  readonly webUi: WebUiLiveness;
  readonly webUiHome: WebUiHome;
  readonly openSessions: OpenSessions;
  readonly writers: StoreWriters;
}

export function createLoaders(store: SessionStore, { webUi, webUiHome, openSessions, writers }: LoaderServices) {
  return {
    session: byKey((ids) => store.sessions(ids), null),
    children: byKey((ids) => store.children(ids), []),
    conversation: byKey((ids) => store.conversations(ids), null),
    family: byKey((ids) => store.families(ids), null),
    preview: byKey((ids) => store.previews(ids), null),
    details: byKey((ids) => store.details(ids), null),
    modelUsage: byKey((ids) => store.modelUsage(ids), []),
    lifecycle: byKey((ids) => store.lifecycleStatuses(ids), null),
    auxiliaryUsage: byKey((ids) => store.auxiliaryUsage(ids), []),
    dailyUsage: byKey((ids) => store.dailyUsage(ids), []),
    recentTurns: byKey((ids) => store.recentTurns(ids), []),
    resumeTarget: byKey((ids) => store.resumeTargets(ids), null),
    liveness: byKey(async (ids) => webUi.forSessions(store.profile, await store.liveness(ids)), null),
    project: byKey<OwnedProject, null>(async () => {
      const facts = await webUiHome.facts();
      return new Map(facts === null ? [] : projectsOf(facts, store.profile).map((project) => [project.id, project]));
    }, null),
    sidecar: byKey(async (ids) => present(ids, await Promise.all(ids.map((id) => webUiHome.sidecars.get(id)))), null),
    // As the lists have it: no file is read for it.
    sidecarRow: byKey(async () => (await webUiHome.facts())?.sidecars.rows ?? new Map<string, SidecarRow>(), null),
    indexed: byKey(async () => (await webUiHome.index()).rows, null),
    recoveryChild: byKey((ids) => ofFamilies(ids, webUiHome, (families, id) => families.focusedContinuation(id)), null),
    continuation: byKey((ids) => ofFamilies(ids, webUiHome, (families, id) => families.continuation(id)), null),
    workspaceBinding: byKey<WorkspaceBinding, null>(async (ids) => {
      const rows = await Promise.all(ids.map((id) => webUiHome.sidecars.get(id)));
      const stored = [...new Set(rows.flatMap((row) => (row === null ? [] : [row.workspace])))];
      const place = { profile: store.profile, path: store.path };
      const envelope = { dryRun: true, clientMutationId: null };
      const { bindings, withoutFile } = await writers.run(place, 'bindWorkspaces', { stored }, envelope);
      return present(
        ids,
        rows.map((row) => (row === null ? withoutFile : (bindings[stored.indexOf(row.workspace)] ?? null))),
      );
    }, null),
    journalRetry: byKey<JournalRetry, null>(
      async (ids) => present(ids, await Promise.all(ids.map((id) => limited.run(() => retryOf(webUiHome, id))))),
      null,
    ),
    turnJournal: byKey<JournaledTurns, null>(async (ids) => {
      const root = turnJournalRoot(webUiHome.sessionsDir);
      const found = new Map<string, JournaledTurns>();
      // One after the other: a list that asks for many must not hold many files in memory.
      for (const id of ids) {
        const { events, ...about } = await readTurnJournal(root, id);
        found.set(id, { ...about, turns: turnsOf(events) });
      }
      return found;
    }, null),
    backup: byKey<SidecarBackup, null>(async (ids) => {
      const backedUp = ids.filter((id) => hasBackup(webUiHome.sessionsDir, id));
      if (backedUp.length === 0) return new Map();
      // Files of any size are read whole, which is nothing for this thread; with a dry run nothing can be changed.
      const envelope = { dryRun: true, clientMutationId: null };
      const found = await writers.run({ profile: store.profile, path: store.path }, 'inspectBackups', { ids: backedUp }, envelope);
      return new Map(found.map(([id, backup]) => [id, 'refused' in backup ? new CaduceusError(backup.refused, backup.message) : backup]));
    }, null),
    judgedTurn: byKey(async (ids) => {
      const envelope = { dryRun: true, clientMutationId: null };
      return new Map(await writers.run({ profile: store.profile, path: store.path }, 'judgeTurns', { ids }, envelope));
    }, null),
    credentials: inOrder((keys: readonly object[]) =>
      credentialFingerprint(dirname(store.path), store.profile).then((fingerprint) => keys.map(() => fingerprint)),
    ),
    // One answer for the whole store, however many sessions ask for it.
    status: inOrder((keys: readonly object[]) => store.status().then((status) => keys.map(() => status))),
    message: byKey((rowIds) => store.messages(rowIds), null),
    rowVersion: byKey((rowIds) => store.rowVersions(rowIds), null),
    messagePage: inOrder((keys: readonly MessagePageKey[]) => store.messagePages(keys)),
    messageCount: inOrder((keys: readonly MessagesQuery[]) => store.messageCounts(keys)),
    transcript: inOrder<TranscriptQuery, StoredTranscript>((keys) => store.transcripts(keys)),
    opened: inOrder<OpenKey, OpenedSession>((keys) => openSessions.open(store, keys)),
    rounds: inOrder((keys: readonly RoundsKey[]) => store.conversationRounds(keys)),
    messageSummary: byKey((ids) => store.messageSummaries(ids), null),
    messagePrefix: inOrder((keys: readonly PrefixKey[]) => store.messagePrefixes(keys)),
    messagePrefixKeys: inOrder((keys: readonly PrefixKey[]) => store.messagePrefixKeys(keys)),
    historyRevision: byKey((ids) => store.historyRevisions(ids), null),
    continuationChain: byKey((ids) => store.continuationChains(ids), null),
    stateMessages: inOrder<StateMessagesKey, ShownSnapshot>((keys) => store.stateMessages(keys)),
    regenerationTail: inOrder<TailKey, ShownTail | null>((keys) => store.regenerationTails(keys)),
    anchor: inOrder<AnchorKey, FoundAnchor | null>((keys) => store.findAnchors(keys)),
    contextDelta: inOrder<FileKey, ContextDelta>((keys) =>
      inBatches(keys, (some) => {
        const ids = some.map(({ sessionId }) => sessionId);
        return store.contextDeltas(webUiHome.sessionsDir, ids);
      }),
    ),
    activityScenes: inOrder<FileKey & ScenesKey, readonly ActivityScene[]>((keys) =>
      inBatches(keys, (some) => {
        const asked = some.map(({ sessionId, keys: wanted }) => ({ sessionId, keys: wanted }));
        return store.activityScenes(webUiHome.sessionsDir, asked);
      }),
    ),
    toolResult: inOrder((keys: readonly ToolCallKey[]) => store.toolResults(keys)),
    staleRows: inOrder((keys: readonly HeldRows[]) => store.staleHeldRows(keys)),
    inputOwner: inOrder((keys: readonly InputOwner[]) => store.inputOwnersExist(keys)),
    platformMessage: inOrder((keys: readonly PlatformMessageKey[]) => store.platformMessagesExist(keys)),
    around: inOrder((anchors: readonly Anchor[]) => store.messagesAround(anchors, 'CLOCK')),
  };
}

/** Ends of files that are read at a time. */
const MOST_TAILS = 8;
const limited = new Limiter(MOST_TAILS);

/** What can't be read has its own field that says so. */
async function retryOf({ sessionsDir }: WebUiHome, id: string): Promise<JournalRetry | null> {
  try {
    return (await readSidecarTail(sessionsDir, id))?.retry ?? null;
  } catch (error) {
    if (error instanceof SidecarUnreadable) return null;
    throw error;
  }
}

async function ofFamilies(
  ids: readonly string[],
  home: WebUiHome,
  find: (families: CompressionFamilies, id: string) => string | null,
): Promise<Map<string, string>> {
  const facts = await home.facts();
  if (facts === null) return new Map();
  const families = compressionFamilies(facts.sidecars.rows);
  return present(
    ids,
    ids.map((id) => find(families, id)),
  );
}

function present<V>(ids: readonly string[], values: readonly (V | null)[]): Map<string, V> {
  return new Map(ids.flatMap((id, index) => (values[index] == null ? [] : [[id, values[index]] as const])));
}

/** An error in the place of a value is that key's alone. */
function byKey<V, M>(load: (keys: readonly string[]) => Promise<ReadonlyMap<string, V | Error>>, missing: M): DataLoader<string, V | M> {
  return new DataLoader<string, V | M>((keys) =>
    isolated(keys, async (some) => {
      const found = await load(some);
      return some.map((key) => found.get(key) ?? missing);
    }),
  );
}

/** Keys are objects that say all there is to say; equal ones are loaded once. An error in the place of a value is that key's alone. */
function inOrder<K extends object, V>(load: (keys: readonly K[]) => Promise<readonly (V | Error)[]>): DataLoader<K, V, string> {
  return new DataLoader<K, V, string>((keys) => isolated(keys, load), { cacheKeyFn: (key) => JSON.stringify(key) });
}

/** One damaged page, or one session that only the store has, must not take the whole batch down: then each key is asked for by itself. */
async function isolated<K, V>(keys: readonly K[], load: (keys: readonly K[]) => Promise<readonly (V | Error)[]>): Promise<(V | Error)[]> {
  try {
    const values = await load(keys);
    return keys.map((_, index) => values[index] ?? (null as V));
  } catch (error) {
    if (keys.length === 1 || !(error instanceof StoreUnreadable) || !isLasting(error.health)) throw error;
    const each = await Promise.allSettled(keys.map((key) => load([key])));
    return each.map((result) => (result.status === 'fulfilled' ? (result.value[0] as V) : toError(result.reason)));
  }
}

/** A job that fails takes down what it reads alone. */
async function inBatches<K extends FileKey, V>(
  keys: readonly K[],
  load: (keys: readonly K[]) => Promise<readonly (V | Error)[]>,
): Promise<(V | Error)[]> {
  const found = new Map<K, V | Error>();
  const read = async (batch: readonly K[]) => {
    const values = await load(batch).catch((reason: unknown) => batch.map(() => toError(reason)));
    for (const [index, key] of batch.entries()) found.set(key, values[index] ?? new Error('no answer'));
  };
  await Promise.all(batches(keys.map((key) => ({ key, size: key.size }))).map(read));
  return keys.map((key) => found.get(key) ?? new Error('no answer'));
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
