/** Files that are there whole or not at all, also after a crash. */
import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Writes `text` to `path` by way of a file beside it, for this user alone. */
export function replaceFile(path: string, text: string): void {
  const staged = `${path}.${randomUUID()}.tmp`;
  try {
    const file = openSync(staged, 'wx', 0o600);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(staged, path);
  } catch (error) {
    rmSync(staged, { force: true });
    throw error;
  }
  syncFolderOf(path);
}

/** Makes names that were given or taken in the folder of `path` last. */
export function syncFolderOf(path: string): void {
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
