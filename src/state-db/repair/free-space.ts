/** Room on the volume of a store (`spec/state-db-writes.md` H3 10, H5). */
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileIdentity } from '../health.ts';

const LEAST_HEADROOM = 256 * 1024 * 1024;
const HEADROOM_SHARE = 0.02;

/** The files that together are a store; the main one first. */
export const BUNDLE_SUFFIXES = ['', '-wal', '-shm', '-journal'] as const;

/** Bytes. */
export interface Volume {
  readonly free: number;
  readonly total: number;
}

/** Bytes that this user may still write where the file lies. */
export function volumeOf(path: string): Volume {
  const { bavail, blocks, bsize } = statfsSync(dirname(path));
  return { free: bavail * bsize, total: blocks * bsize };
}

/** Bytes that have to stay free whatever is written. */
export function headroom({ total }: Volume): number {
  return Math.max(LEAST_HEADROOM, total * HEADROOM_SHARE);
}

/** Bytes of the store with everything that lies beside it. */
export function bundleBytes(storePath: string): number {
  return BUNDLE_SUFFIXES.reduce((sum, suffix) => sum + Number(fileIdentity(storePath + suffix)?.size ?? 0n), 0);
}
