/**
 * The metadata of one of many session files, read without leaving the thread (`spec/webui-sidecars.md` 5): for files whose beginning tells
 * all. The caller sees to it that others get the thread in between.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { JOURNAL_FLAGS, systemCode } from '../../live/journal/open-journal.ts';
import { sidecarName } from '../sidecar-file.ts';
import { beginningScan, FIRST_STAGE, type MetadataOptions, rowOfBeginning } from './read-metadata.ts';
import { signatureOf } from './read-sidecar.ts';
import type { SidecarRow } from './sidecar-row.ts';

/** Nothing is kept of it after a read. */
const buffer = Buffer.allocUnsafeSlow(FIRST_STAGE);

/** Null when it takes more, or there is something wrong: ask `readMetadata`. */
export function readMetadataNow(sessionsDir: string, id: string, options: MetadataOptions): SidecarRow | null {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(join(sessionsDir, sidecarName(id)), JOURNAL_FLAGS);
    const stat = fstatSync(descriptor, { bigint: true });
    if (!stat.isFile()) return null;
    const length = readSync(descriptor, buffer, 0, FIRST_STAGE, 0);
    const scan = beginningScan();
    const { mtimeNs, ctimeNs, ino } = stat;
    const bytes = buffer.subarray(0, length);
    scan.scan(bytes);
    return rowOfBeginning(bytes, scan, id, signatureOf({ mtimeNs, ctimeNs, ino, size: Number(stat.size) }), options);
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return null;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}
