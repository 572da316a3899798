/**
 * Puts a new file in the place of an old one, as the Web UI does (`spec/webui-sidecars.md` 1.4, 15): a temporary file beside it, flushed,
 * then renamed. Who reads sees the old one or the new one whole.
 */
import { type BigIntStats, lstatSync, renameSync } from 'node:fs';
import { link, open, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { threadId } from 'node:worker_threads';
import { systemCode } from '../live/journal/open-journal.ts';
import { WriteRefused } from '../write-refused.ts';

/** Whether this is still what may be replaced; null stands for no file. */
export type MayReplace = (present: BigIntStats | null) => boolean;

export interface ReplaceOptions {
  /** Asked at the last moment; if not, nothing is replaced. */
  readonly mayReplace?: MayReplace;
  /** The name that the temporary file begins with, `.tmp.` and numbers follow. Default: the file's without its extension. */
  readonly tempStem?: string;
}

const EXTENSION = '.json';
const PERMISSIONS = 0o777n;
/** Another process may hold the file for a moment (Windows). */
const RENAME_TRIES = process.platform === 'win32' ? 5 : 1;
const FIRST_WAIT_MS = 50;
const HELD = new Set(['EPERM', 'EACCES', 'EBUSY']);

let written = 0;

/** Writes and renames. Throws `WriteRefused`: CONFLICT when it may not be replaced, NO_SPACE, STORE_READONLY, FILE_NOT_WRITTEN. */
export async function replaceFile(path: string, content: string | Uint8Array, options: ReplaceOptions = {}): Promise<void> {
  await withTemporary(path, content, options.tempStem, (temporary) => renameOver(temporary, path, options.mayReplace));
}

/** Writes a file that must not be there yet. Throws `WriteRefused` as above, CONFLICT when there is one. */
export async function createFile(
  path: string,
  content: string | Uint8Array,
  options: Pick<ReplaceOptions, 'tempStem'> = {},
): Promise<void> {
  await withTemporary(path, content, options.tempStem, async (temporary) => {
    await link(temporary, path);
    await unlink(temporary);
  });
}

async function withTemporary(
  path: string,
  content: string | Uint8Array,
  stem: string = basename(path, EXTENSION),
  put: (temporary: string) => Promise<void>,
): Promise<void> {
  written += 1;
  const temporary = join(dirname(path), `${stem}.tmp.${process.pid}.${threadId}${written}`);
  try {
    const mode = statOf(path)?.mode;
    await writeFlushed(temporary, content, mode === undefined ? null : Number(mode & PERMISSIONS));
    await put(temporary);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw refusalOf(error);
  }
}

async function writeFlushed(path: string, content: string | Uint8Array, mode: number | null): Promise<void> {
  const handle = await open(path, 'wx');
  try {
    if (mode !== null) await handle.chmod(mode);
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function renameOver(temporary: string, path: string, mayReplace: MayReplace | undefined): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      // Nothing may come between the look and the rename, so both hold the thread.
      if (mayReplace !== undefined && !mayReplace(statOf(path))) throw new WriteRefused('CONFLICT');
      renameSync(temporary, path);
      return;
    } catch (error) {
      const code = systemCode(error);
      if (code === null || !HELD.has(code) || attempt >= RENAME_TRIES) throw error;
      await sleep(FIRST_WAIT_MS * 2 ** (attempt - 1));
    }
  }
}

function statOf(path: string): BigIntStats | null {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null;
}

function refusalOf(error: unknown): unknown {
  const code = error instanceof WriteRefused ? null : systemCode(error);
  if (code === null) return error;
  if (code === 'EEXIST') return new WriteRefused('CONFLICT', '', { cause: error });
  if (code === 'ENOSPC' || code === 'EDQUOT') return new WriteRefused('NO_SPACE', '', { cause: error });
  if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM') return new WriteRefused('STORE_READONLY', '', { cause: error });
  return new WriteRefused('FILE_NOT_WRITTEN', `(${code})`, { cause: error });
}
