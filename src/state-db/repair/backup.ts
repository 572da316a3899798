/**
 * The forensic copy before a repair (`spec/state-db-writes.md` H5): every file of the store, byte for byte. The main file gets its name
 * last, so that a copy counts only when it is whole. For a process that has no connection to the store (W11).
 */
import { createHash, type Hash } from 'node:crypto';
import { chmodSync, closeSync, copyFileSync, fsyncSync, openSync, readdirSync, readSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { WriteRefused } from '../../write-refused.ts';
import { fileIdentity } from '../health.ts';
import { isOpenHere } from './foreign-holders.ts';
import { BUNDLE_SUFFIXES, bundleBytes, headroom, type Volume, volumeOf } from './free-space.ts';
import { syncFolderOf } from './replace-file.ts';

const KEPT = 3;
const CHUNK = 1024 * 1024;
const STAMP = /^(\d{8}_\d{6})(?:_(\d+))?$/;
/** The -shm file is derived from the -wal and differs after every opening: it is copied, and says nothing about what is copied. */
const COMPARED_SUFFIXES = ['', '-wal', '-journal'] as const;
const SIDECAR = /-(?:wal|shm|journal)$/;

export type BackupStep = 'backup-staged' | 'backup-sidecars-renamed';

export interface BackupOptions {
  readonly now?: () => Date;
  readonly volume?: (path: string) => Volume;
  readonly onStep?: (step: BackupStep) => void | Promise<void>;
}

export interface Backup {
  /** The name of its main file, in the folder of the store. */
  readonly name: string;
  /** True: an earlier copy of the very same bytes serves. */
  readonly reused: boolean;
}

/**
 * Copies the store, or finds that it was copied before; afterwards the newest three copies are left. Throws WriteRefused NO_SPACE, or
 * BACKUP_REFUSED when this process has the store open, the store changed meanwhile, or a file can't be copied.
 */
export async function backUp(storePath: string, options: BackupOptions = {}): Promise<Backup> {
  if (isOpenHere(storePath)) throw new WriteRefused('BACKUP_REFUSED', 'The process that should make it has the store open.');
  const { now = () => new Date(), volume = volumeOf, onStep } = options;
  try {
    sweepStaging(storePath);
    const digest = bundleDigest(storePath);
    const same = committedBackups(storePath).find(({ stamp }) => bundleDigest(backupPath(storePath, stamp)) === digest);
    if (same !== undefined) return { name: basename(backupPath(storePath, same.stamp)), reused: true };
    const { free, total } = volume(storePath);
    if (free - bundleBytes(storePath) < headroom({ free, total }))
      throw new WriteRefused('NO_SPACE', 'The copy before a repair needs room.');
    const stamp = freeStamp(storePath, now());
    await commitCopy(storePath, stamp, onStep);
    for (const old of committedBackups(storePath).slice(KEPT)) removeBundle(backupPath(storePath, old.stamp));
    return { name: basename(backupPath(storePath, stamp)), reused: false };
  } catch (error) {
    if (error instanceof WriteRefused) throw error;
    throw new WriteRefused('BACKUP_REFUSED', '', { cause: error });
  }
}

/** The names of the copies that count, newest first. */
export function listBackups(storePath: string): string[] {
  return committedBackups(storePath).map(({ stamp }) => basename(backupPath(storePath, stamp)));
}

async function commitCopy(storePath: string, stamp: string, onStep: BackupOptions['onStep']): Promise<void> {
  const staging = stagingPath(storePath, stamp);
  const before = identities(storePath);
  const present = BUNDLE_SUFFIXES.filter((suffix) => fileIdentity(storePath + suffix) !== null);
  for (const suffix of present) copyDurably(storePath + suffix, staging + suffix);
  if (identities(storePath) !== before) {
    removeBundle(staging);
    throw new WriteRefused('BACKUP_REFUSED', 'The store changed while it was copied.');
  }
  await onStep?.('backup-staged');
  const target = backupPath(storePath, stamp);
  for (const suffix of present.filter((name) => name !== '')) renameSync(staging + suffix, target + suffix);
  await onStep?.('backup-sidecars-renamed');
  renameSync(staging, target);
  syncFolderOf(target);
}

function copyDurably(from: string, to: string): void {
  copyFileSync(from, to);
  chmodSync(to, 0o600);
  const file = openSync(to, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** What a backup that was cut short left: its staged files, and the sidecars that already had their final names. */
function sweepStaging(storePath: string): void {
  const prefix = basename(stagingPath(storePath, ''));
  for (const name of namesWith(storePath, prefix)) {
    const stamp = name.slice(prefix.length).replace(SIDECAR, '');
    if (!STAMP.test(stamp)) continue;
    if (fileIdentity(backupPath(storePath, stamp)) === null) removeBundle(backupPath(storePath, stamp));
    removeBundle(stagingPath(storePath, stamp));
  }
}

function committedBackups(storePath: string): { readonly stamp: string }[] {
  const prefix = basename(backupPath(storePath, ''));
  return namesWith(storePath, prefix)
    .map((name) => STAMP.exec(name.slice(prefix.length)))
    .filter((match) => match !== null)
    .map(([stamp, second = '', count = '0']) => ({ stamp, second, count: Number(count) }))
    .sort((a, b) => (a.second === b.second ? b.count - a.count : a.second < b.second ? 1 : -1));
}

function namesWith(storePath: string, prefix: string): string[] {
  return readdirSync(dirname(storePath)).filter((name) => name.startsWith(prefix));
}

/** Later than every copy of the same second, also those whose number is free again. */
function freeStamp(storePath: string, now: Date): string {
  const digits = now.toISOString().replaceAll(/[-:]/g, '');
  const second = `${digits.slice(0, 8)}_${digits.slice(9, 15)}`;
  const prefix = basename(backupPath(storePath, second));
  const taken = namesWith(storePath, prefix).map((name) => Number(/^_(\d+)/.exec(name.slice(prefix.length))?.[1] ?? 0));
  return taken.length === 0 ? second : `${second}_${Math.max(...taken) + 1}`;
}

function backupPath(storePath: string, stamp: string): string {
  return join(dirname(storePath), `${basename(storePath)}.malformed-backup-${stamp}`);
}

function stagingPath(storePath: string, stamp: string): string {
  return join(dirname(storePath), `${basename(storePath)}.backup-staging-${stamp}`);
}

/** The main file goes first: without it the rest no longer counts. */
function removeBundle(path: string): void {
  for (const suffix of BUNDLE_SUFFIXES) rmSync(path + suffix, { force: true });
}

function identities(storePath: string): string {
  return BUNDLE_SUFFIXES.map((suffix) => {
    const file = fileIdentity(storePath + suffix);
    return file === null ? '-' : `${file.inode} ${file.size} ${file.modifiedNs}`;
  }).join();
}

/** Over the files by name and length, so that no two bundles can be taken for one another. */
function bundleDigest(path: string): string {
  const hash = createHash('sha256');
  for (const suffix of COMPARED_SUFFIXES) {
    const size = fileIdentity(path + suffix)?.size ?? 0n;
    hash.update(`${suffix}:${size};`);
    if (size > 0n) hashFile(path + suffix, hash);
  }
  return hash.digest('hex');
}

function hashFile(path: string, hash: Hash): void {
  const file = openSync(path, 'r');
  const chunk = Buffer.alloc(CHUNK);
  try {
    for (let read = readSync(file, chunk, 0, CHUNK, null); read > 0; read = readSync(file, chunk, 0, CHUNK, null)) {
      hash.update(chunk.subarray(0, read));
    }
  } finally {
    closeSync(file);
  }
}
