/**
 * What the deletion of a session that the Web UI keeps would do, and what speaks against it (`spec/webui-transcript.md` 19.1 to 19.4,
 * `spec/webui-sidecars.md` 9.4). Only reads.
 */
import { InvalidInput } from '../errors.ts';
import { chainMembers, chainRoot } from '../state-db/lineage.ts';
import type { StoreReading } from '../state-db/store-reading.ts';
import { type DeleteInput, type DeleteResult, isEmpty, refuseOtherSet } from '../state-db/write/delete-sessions.ts';
import { SessionGraph } from '../state-db/write/session-graph.ts';
import type { Removal } from '../state-db/write/session-removal.ts';
import { hasBackup } from '../web-ui/backup.ts';
import { planLineageRemoval } from '../web-ui/deletion/lineage-removal.ts';
import { type SessionFile, webUiFiles, webUiPlaces } from '../web-ui/deletion/session-files.ts';
import { familyOf, fold, isSubagent, normaliseSource } from '../web-ui/list/source-class.ts';
import { ownProfile } from '../web-ui/own-sidecars.ts';
import { readMetadata } from '../web-ui/sidecar/read-metadata.ts';
import { signatureText } from '../web-ui/sidecar/read-sidecar.ts';
import { hasOverlayStore, isLikelyInMemory } from '../web-ui/sidecar/save-sidecar.ts';
import type { SidecarRow } from '../web-ui/sidecar/sidecar-row.ts';
import { isSessionFileId } from '../web-ui/sidecar-file.ts';
import { readTombstones } from '../web-ui/tombstones.ts';
import { WriteRefused } from '../write-refused.ts';
import { profileFiles } from './cleanup.ts';
import { type CommandHost, reading } from './command.ts';
import { sessionsDirOf } from './file-command.ts';
import { sessionIds } from './session-files.ts';

export interface WebUiDeleteInput extends DeleteInput {
  /** Rows of the store stay; the files go. */
  readonly keepStateDb: boolean;
  /** Also where the files may be copies of a database of the Web UI's own. */
  readonly force: boolean;
  /** The names of all profiles. */
  readonly profiles: readonly string[];
}

/** One session that is deleted, as it was when that was decided. */
export interface DeletionTarget {
  readonly id: string;
  /** Whether its files are the profile's: another profile may have a session of the same id. */
  readonly ownsFiles: boolean;
  /** Of the session file; null without one. */
  readonly signature: string | null;
  readonly tombstone: boolean;
  readonly deletesRow: boolean;
}

/** What a deletion by the Web UI's rules is to do, and what became of it. */
export interface WebUiDeletion {
  readonly targets: readonly DeletionTarget[];
  readonly files: readonly SessionFile[];
  /** Rows of the store went, or would go. */
  readonly rowsDeleted: boolean;
  /** Sessions of which something is left, to be finished by the next process. */
  readonly pendingIds: readonly string[];
  /** Sessions of whose transcripts or dumps something is left. */
  readonly pendingArtifacts: readonly string[];
  readonly blockedManifests: readonly string[];
  /** Folders of worktrees, which nobody removes. */
  readonly keptWorktrees: readonly string[];
  readonly mayBeOverwritten: boolean;
}

export interface DeletedSession extends DeleteResult {
  /** Null where the rules of the Hermes Agent were followed. */
  readonly webUi: WebUiDeletion | null;
}

export type PlannedDeletion = DeletedSession & { readonly webUi: WebUiDeletion };

export interface DeletionPlan {
  readonly deletion: PlannedDeletion;
  /** The weightiest first. */
  readonly refusals: readonly WriteRefused[];
}

interface Stored {
  readonly ids: readonly string[];
  /** The source of each of them that has a row. */
  readonly sources: ReadonlyMap<string, string | null>;
  /** Looked at only where it matters. */
  readonly areEmpty: boolean;
}

const OWN_SOURCES: ReadonlySet<string> = new Set(['webui', 'fork']);

/** Whether the Web UI's rules apply: the session has a file of the Web UI, or is one of its sessions that only the store has. */
export async function followsWebUi(host: CommandHost, { sessionId, profiles }: WebUiDeleteInput): Promise<boolean> {
  const sidecar = await readMetadata(sessionsDirOf(host), sessionId);
  if (sidecar !== null && ownProfile(host.profile, profiles)(sidecar.profile)) return true;
  if (sidecar === null && hasBackup(sessionsDirOf(host), sessionId)) return true;
  const source = await reading(host, (store) => new SessionGraph(store).get(sessionId)?.source);
  return OWN_SOURCES.has(fold(source));
}

/** Throws VALIDATION for an id that no file may have, NOT_FOUND for a session that is nowhere, DELETE_SET_CHANGED, `SidecarUnreadable`. */
export async function planDeletion(host: CommandHost, input: WebUiDeleteInput): Promise<DeletionPlan> {
  if (!isSessionFileId(input.sessionId)) throw new InvalidInput('That is no session id.', {}, 'BAD_SESSION_ID');
  const stored = await reading(host, (store) => storedTargets(store, input));
  const seen = await Promise.all(stored.ids.map((id) => targetOf(host, input, id, stored)));
  if (stored.sources.size === 0 && seen.every(({ exists }) => !exists)) throw new WriteRefused('NOT_FOUND');
  const isSpared = input.onlyIfEmpty && !(stored.areEmpty && seen.every(({ isEmptyFile }) => isEmptyFile));
  const targets = isSpared ? [] : seen.map(({ target }) => target);
  const removal = await removalOf(
    host,
    targets.filter(({ deletesRow }) => deletesRow).map(({ id }) => id),
  );
  const refusals = [...seen.map(({ refusal }) => refusal), ...(await folderRefusals(host, input, targets)), removal.refusal].flatMap(
    (refusal) => refusal ?? [],
  );
  const deletedIds = [...new Set([...targets.map(({ id }) => id), ...removal.ids])];
  if (refusals.length === 0) refuseOtherSet(input.expectedDeleteIds, deletedIds);
  const places = webUiPlaces(host.webUiDir, process.env);
  const files = await Promise.all(targets.filter(({ ownsFiles }) => ownsFiles).map(({ id }) => webUiFiles(places, id)));
  const deletion = {
    deletedIds,
    orphanedIds: removal.orphanedIds,
    webUi: {
      targets,
      files: [...files.flat(), ...(await profileFiles(host, removal.ids))],
      rowsDeleted: removal.hasRows,
      pendingIds: [],
      pendingArtifacts: [],
      blockedManifests: [],
      keptWorktrees: isSpared ? [] : seen.flatMap(({ worktree }) => worktree ?? []),
      mayBeOverwritten: !isSpared && seen.some(({ mayBeOverwritten }) => mayBeOverwritten),
    },
  };
  return { deletion, refusals };
}

interface PlannedRemoval extends Pick<Removal, 'ids' | 'orphanedIds'> {
  /** Whether the store has any of them. */
  readonly hasRows: boolean;
  readonly refusal: WriteRefused | null;
}

/** A turn or a compression that is under way is told, with nothing to be removed. */
async function removalOf(host: CommandHost, targets: readonly string[]): Promise<PlannedRemoval> {
  const nothing: PlannedRemoval = { ids: [], orphanedIds: [], hasRows: false, refusal: null };
  if (targets.length === 0) return nothing;
  try {
    return await reading(host, (store) => {
      const { ids, orphanedIds } = planLineageRemoval(store, new SessionGraph(store), targets, host.now());
      return { ids, orphanedIds, hasRows: sessionIds(store, ids).length > 0, refusal: null };
    });
  } catch (error) {
    if (!(error instanceof WriteRefused) || error.code !== 'SESSION_WRITE_GUARDED') throw error;
    return { ...nothing, refusal: error };
  }
}

function storedTargets(store: StoreReading, { sessionId, scope, onlyIfEmpty }: WebUiDeleteInput): Stored {
  const graph = new SessionGraph(store);
  const session = graph.get(sessionId);
  const sessions = session === undefined ? [] : scope === 'SEGMENT' ? [session] : chainMembers(graph, chainRoot(graph, session));
  return {
    ids: session === undefined ? [sessionId] : sessions.map(({ id }) => id),
    sources: new Map(sessions.map(({ id, source }) => [id, source])),
    areEmpty: onlyIfEmpty && sessions.every(({ id }) => isEmpty(store, id)),
  };
}

interface SeenTarget {
  readonly target: DeletionTarget;
  /** Whether there is a file, of the session or its backup. */
  readonly exists: boolean;
  readonly isEmptyFile: boolean;
  readonly refusal: WriteRefused | null;
  readonly worktree: string | null;
  readonly mayBeOverwritten: boolean;
}

async function targetOf(host: CommandHost, input: WebUiDeleteInput, id: string, { sources }: Stored): Promise<SeenTarget> {
  const found = await readMetadata(sessionsDirOf(host), id);
  const ownsFiles = found === null || ownProfile(host.profile, input.profiles)(found.profile);
  const sidecar = ownsFiles ? found : null;
  const source = sources.get(id) ?? null;
  const isChat = [...(sidecar === null ? [] : [sidecar]), ...(sources.has(id) ? [normaliseSource(source)] : [])].some(
    (names) => familyOf(names) === 'MESSAGING',
  );
  const isDelegate = fold(source) === 'subagent' || (sidecar !== null && isSubagent(sidecar));
  return {
    target: {
      id,
      ownsFiles,
      signature: sidecar === null ? null : signatureText(sidecar.signature),
      tombstone: ownsFiles && !isChat,
      deletesRow: !isChat && !input.keepStateDb,
    },
    exists: sidecar !== null || (ownsFiles && hasBackup(sessionsDirOf(host), id)),
    isEmptyFile: isEmptyFile(sidecar),
    refusal: isDelegate ? new WriteRefused('SESSION_READ_ONLY', 'It is a run of a sub-agent, which goes with its session.') : null,
    worktree: sidecar?.worktree?.path ?? null,
    mayBeOverwritten: sidecar !== null && isLikelyInMemory(sidecar, { now: host.now }),
  };
}

function isEmptyFile(sidecar: SidecarRow | null): boolean {
  if (sidecar === null) return true;
  return sidecar.storedMessageCount === 0 && sidecar.pending === null && sidecar.composerDraft.text === '';
}

async function folderRefusals(host: CommandHost, { force }: WebUiDeleteInput, targets: readonly DeletionTarget[]): Promise<WriteRefused[]> {
  const refusals: WriteRefused[] = [];
  if (!force && (await hasOverlayStore(sessionsDirOf(host)))) refusals.push(new WriteRefused('SIDECAR_OVERLAY'));
  const { status } = await readTombstones(sessionsDirOf(host), 'DELETED');
  if (status === 'UNSUPPORTED' && targets.some(({ tombstone }) => tombstone)) refusals.push(new WriteRefused('TOMBSTONES_UNSUPPORTED'));
  return refusals;
}
