/**
 * Temporary files that a writer left behind (`spec/webui-sidecars.md` 1.4).
 */
import { lstat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../live/journal/open-journal.ts';
import { listSidecars } from './sidecar/list-sidecars.ts';

export interface StaleFile {
  readonly name: string;
  readonly ageSeconds: number;
  /** The owner never sweeps it. */
  readonly leftByRestore: boolean;
}

export interface SweepOptions {
  /** Default 3600. */
  readonly olderThanSeconds?: number;
  readonly dryRun: boolean;
  /** Epoch seconds. */
  readonly now?: () => number;
}

const STALE_SECONDS = 3600;
const TEMPORARY = /\.tmp\./;
const RESTORE = /\.recover\.tmp$/;

/** Those that are old enough. */
export async function staleTemporaryFiles(sessionsDir: string, options: Omit<SweepOptions, 'dryRun'> = {}): Promise<StaleFile[]> {
  const { otherFiles } = await listSidecars(sessionsDir);
  const now = options.now?.() ?? Date.now() / 1000;
  const stale: StaleFile[] = [];
  for (const name of otherFiles.filter((other) => TEMPORARY.test(other) || RESTORE.test(other))) {
    const ageSeconds = now - (await modifiedAt(join(sessionsDir, name), now));
    if (ageSeconds > (options.olderThanSeconds ?? STALE_SECONDS)) stale.push({ name, ageSeconds, leftByRestore: RESTORE.test(name) });
  }
  return stale;
}

export interface Sweep {
  /** Those that went, or would go. */
  readonly files: readonly StaleFile[];
  /** Those of restores, which stay: one may still be wanted. */
  readonly kept: readonly StaleFile[];
}

/** What could not be removed is left for the next time. */
export async function sweepTemporaryFiles(sessionsDir: string, options: SweepOptions): Promise<Sweep> {
  const stale = await staleTemporaryFiles(sessionsDir, options);
  const { kept = [], files = [] } = Object.groupBy(stale, ({ leftByRestore }) => (leftByRestore ? 'kept' : 'files'));
  if (options.dryRun) return { files, kept };
  const removed: StaleFile[] = [];
  for (const file of files) {
    try {
      await unlink(join(sessionsDir, file.name));
      removed.push(file);
    } catch (error) {
      if (systemCode(error) === null) throw error;
    }
  }
  return { files: removed, kept };
}

async function modifiedAt(path: string, whenGone: number): Promise<number> {
  try {
    return (await lstat(path)).mtimeMs / 1000;
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return whenGone;
  }
}
