/**
 * Cleaning up after deletions: transcripts and request dumps of sessions whose rows are gone, from manifests that survive a crash
 * (`spec/webui-transcript.md` 19.2, 19.6). A running Web UI does the same, so all of it is done under a lock of the home.
 */
import { unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { StoreUnreadable } from '../errors.ts';
import { acquireFileLock, FileLock } from '../state-db/repair/file-lock.ts';
import {
  artifactsDir,
  type CleanupManifest,
  cleanupManifests,
  ManifestsUnreadable,
  replaceManifest,
} from '../web-ui/deletion/cleanup-manifests.ts';
import { sumOf } from '../web-ui/deletion/journal-files.ts';
import type { SessionFile } from '../web-ui/deletion/session-files.ts';
import { isSessionFileId } from '../web-ui/sidecar-file.ts';
import { WriteRefused } from '../write-refused.ts';
import type { CommandHost } from './command.ts';
import { artifactsOf, removeArtifacts, sessionIds } from './session-files.ts';

export interface CleanupOutcome {
  /** Sessions whose files could not be removed yet, or that are in the store again. */
  readonly pendingIds: readonly string[];
  /** Manifests that no program can process. */
  readonly blockedManifests: readonly string[];
  /** Manifests that are done with, and gone. */
  readonly drained: readonly string[];
}

/** Before a deletion a session that is in the store was never deleted; right after the commit it is a sign that something is wrong. */
export type CleanupStage = 'RECOVERY' | 'AFTER_COMMIT';

const CLEANUP_LOCK = '.session_cleanup.lock';
const WAIT_MS = 5000;

/** Other programs that delete in this home wait meanwhile, as this waits for them. Throws CLEANUP_LOCK_UNAVAILABLE, with nothing done. */
export async function withCleanupLock<T>(host: CommandHost, work: () => Promise<T>): Promise<T> {
  const lock = await acquireFileLock(join(host.home, CLEANUP_LOCK), { waitMs: host.cleanupWaitMs ?? WAIT_MS });
  if (!(lock instanceof FileLock)) {
    const more = lock === 'HELD' ? 'Another program is deleting.' : 'There is no flock on this system, or it does not hold in this folder.';
    throw new WriteRefused('CLEANUP_LOCK_UNAVAILABLE', more, { details: { reason: lock } });
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}

/** Whether there is anything to clean up, as far as can be seen. */
export async function hasManifests(host: CommandHost): Promise<boolean> {
  try {
    return (await cleanupManifests(host.home)).length > 0;
  } catch (error) {
    if (error instanceof ManifestsUnreadable) return false;
    throw error;
  }
}

/** Processes all manifests of the home, under the lock. What can't be read or removed stays and is told. Throws FILE_NOT_WRITTEN. */
export async function drainManifests(host: CommandHost, stage: CleanupStage): Promise<CleanupOutcome> {
  const pendingIds: string[] = [];
  const blockedManifests: string[] = [];
  const drained: string[] = [];
  for (const manifest of await readableManifests(host)) {
    if (manifest.status !== 'OK') blockedManifests.push(manifest.name);
    else {
      const left = await drainManifest(host, manifest, stage);
      pendingIds.push(...left);
      if (left.length === 0) drained.push(manifest.name);
    }
  }
  return { pendingIds: [...new Set(pendingIds)], blockedManifests, drained };
}

async function readableManifests(host: CommandHost): Promise<CleanupManifest[]> {
  try {
    return await cleanupManifests(host.home);
  } catch (error) {
    if (error instanceof ManifestsUnreadable) throw new WriteRefused('FILE_NOT_WRITTEN', error.message, { cause: error });
    throw error;
  }
}

/** The ids that are left in it. */
async function drainManifest(host: CommandHost, { name, sessionIds: ids }: CleanupManifest, stage: CleanupStage): Promise<string[]> {
  const alive = await aliveIds(host, ids);
  if (alive === null) return [...ids];
  const artifacts = await artifactsOf(
    host,
    ids.filter((id) => !alive.has(id) && isSessionFileId(id)),
  );
  const left = ids.filter((id) => {
    if (alive.has(id)) return stage === 'AFTER_COMMIT';
    const names = artifacts.get(id);
    return names === undefined || !removeArtifacts(host.home, names);
  });
  return writeLeft(host, name, ids, left);
}

/** What there is in the home of these sessions, for previews: their transcripts and request dumps. */
export async function profileFiles(host: CommandHost, ids: readonly string[]): Promise<SessionFile[]> {
  const artifacts = await artifactsOf(host, ids.filter(isSessionFileId));
  const found: SessionFile[] = [];
  for (const name of [...artifacts.values()].flat()) {
    const sum = await sumOf(join(artifactsDir(host.home), name));
    const kind = name.startsWith('request_dump_') ? 'REQUEST_DUMP' : 'TRANSCRIPT';
    if (sum !== null) found.push({ home: 'PROFILE', path: join('sessions', name), kind, ...sum });
  }
  return found;
}

function writeLeft(host: CommandHost, name: string, before: readonly string[], left: string[]): string[] {
  const folder = artifactsDir(host.home);
  try {
    if (left.length === 0) unlinkSync(join(folder, name));
    else if (left.length < before.length) replaceManifest(folder, name, left);
    return left;
  } catch {
    // It names what is done already, which is done once more the next time.
    return left.length === 0 ? [...before] : left;
  }
}

/** Null where the store can't tell: a store that is missing proves nothing. */
async function aliveIds(host: CommandHost, ids: readonly string[]): Promise<ReadonlySet<string> | null> {
  if (ids.length === 0) return new Set();
  try {
    return new Set(await host.writer.read((store) => sessionIds(store, ids)));
  } catch (error) {
    if (error instanceof StoreUnreadable) return null;
    throw error;
  }
}
