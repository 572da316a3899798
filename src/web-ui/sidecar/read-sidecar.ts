/**
 * Reading a whole session file (`spec/webui-sidecars.md` 4). Nothing is written: what the owner mends while it reads is only told.
 */
import { CaduceusError } from '../../errors.ts';
import { type OpenJournal, readRange, systemCode } from '../../live/journal/open-journal.ts';
import { openBackup, openSidecar, SidecarUnreadable } from '../sidecar-file.ts';
import { decodeSidecar } from './decode-sidecar.ts';
import { Limiter } from './limiter.ts';
import { decodeText, layoutOf, parseSidecar, partialFields, type WholeSidecar } from './parse-sidecar.ts';
import type { SidecarRow, SidecarSignature } from './sidecar-row.ts';
import { inSidecarThread } from './sidecar-threads.ts';

export interface ReadLimits {
  /** Files of more bytes are not read whole. */
  readonly maxBytes?: number;
}

export const MAX_WHOLE_BYTES = 64 * 1024 * 1024;
/** Up to here a parse is no matter for the thread that answers requests. */
export const MAX_INLINE_BYTES = 1024 * 1024;
/** A writer that doesn't replace the file may be at work. */
const TRIES = 3;
/** As many whole files are in memory at once as the owner allows itself. */
export const wholeFiles = new Limiter(2);

/**
 * The whole file, null when there is none. TOO_LARGE: without messages, the metadata from the beginning of the file. The parse runs in
 * this thread: for large files call it from another. Throws `SidecarUnreadable`.
 */
export async function readSidecar(sessionsDir: string, id: string, limits: ReadLimits = {}): Promise<WholeSidecar | null> {
  return withSidecar(sessionsDir, id, (file) =>
    wholeFiles.run(async () => {
      const signature = signatureOf(file);
      if (file.size > (limits.maxBytes ?? MAX_WHOLE_BYTES)) {
        const row = beyondLimit(id, signature, await readBeginning(file, MAX_INLINE_BYTES));
        return { row, messages: [], collapsedPartials: 0, contextMessages: [], toolCalls: [], activityScenes: {}, fields: null };
      }
      const { bytes, signature: read } = await readSteadily(file);
      return parseSidecar(bytes, id, read);
    }),
  );
}

/** The metadata of a file from all of it; large ones are parsed in a thread of their own. */
export async function readWholeRow(file: OpenJournal, id: string, limits: ReadLimits): Promise<SidecarRow> {
  if (file.size > (limits.maxBytes ?? MAX_WHOLE_BYTES)) {
    return beyondLimit(id, signatureOf(file), await readBeginning(file, MAX_INLINE_BYTES));
  }
  return wholeFiles.run(async () => {
    const { bytes, signature } = await readSteadily(file);
    if (bytes.length <= MAX_INLINE_BYTES) return parseSidecar(bytes, id, signature).row;
    return inSidecarThread({ task: 'ROW', bytes, id, signature });
  });
}

/** Opens, reads, closes; null when there is no such file. Throws `SidecarUnreadable`. */
export async function withSidecar<T>(sessionsDir: string, id: string, read: (file: OpenJournal) => Promise<T>): Promise<T | null> {
  return readingOpen(await openSidecar(sessionsDir, id), read);
}

/** The same for the session's backup. */
export async function withBackup<T>(sessionsDir: string, id: string, read: (file: OpenJournal) => Promise<T>): Promise<T | null> {
  return readingOpen(await openBackup(sessionsDir, id), read);
}

async function readingOpen<T>(file: OpenJournal | null, read: (file: OpenJournal) => Promise<T>): Promise<T | null> {
  if (file === null) return null;
  try {
    return await read(file);
  } catch (error) {
    if (error instanceof CaduceusError || systemCode(error) === null) throw error;
    throw new SidecarUnreadable(error);
  } finally {
    await file.handle.close();
  }
}

export function signatureOf({ mtimeNs, size, ctimeNs, ino }: Pick<OpenJournal, 'mtimeNs' | 'size' | 'ctimeNs' | 'ino'>): SidecarSignature {
  return { mtimeNs, size, ctimeNs, ino };
}

/** Another for every save. */
export function signatureText({ mtimeNs, size, ctimeNs, ino }: SidecarSignature): string {
  return [mtimeNs, size, ctimeNs, ino].map((part) => part.toString(36)).join('-');
}

export function isSameSignature(a: SidecarSignature, b: SidecarSignature): boolean {
  return a.mtimeNs === b.mtimeNs && a.size === b.size && a.ctimeNs === b.ctimeNs && a.ino === b.ino;
}

/** All bytes, and the signature that was the same before and after they were read, if the file ever holds still. */
export async function readSteadily(file: OpenJournal): Promise<{ bytes: Buffer; signature: SidecarSignature }> {
  let signature = signatureOf(file);
  for (let attempt = 1; ; attempt += 1) {
    const bytes = await readBeginning(file, signature.size);
    const { mtimeNs, ctimeNs, ino, size } = await file.handle.stat({ bigint: true });
    const after = signatureOf({ mtimeNs, ctimeNs, ino, size: Number(size) });
    // A file that was replaced has a new ctime, since a name of it went; its content is what it was.
    if ((after.mtimeNs === signature.mtimeNs && after.size === signature.size && bytes.length === after.size) || attempt === TRIES) {
      return { bytes, signature };
    }
    signature = after;
  }
}

async function readBeginning(file: OpenJournal, most: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(Math.min(most, file.size));
  let length = 0;
  while (length < bytes.length) {
    const more = await readRange(file, bytes.subarray(length), length, bytes.length - length);
    if (more.length === 0) break;
    length += more.length;
  }
  return bytes.subarray(0, length);
}

function beyondLimit(id: string, signature: SidecarSignature, bytes: Buffer): SidecarRow {
  const fields = partialFields(bytes);
  const { warnings } = decodeText(bytes.subarray(0, 3));
  const layout = fields === null ? null : layoutOf(Object.keys(fields));
  const health = fields === null ? 'CORRUPT' : 'TOO_LARGE';
  return decodeSidecar({ id, signature, health, fields, isWhole: false, layout, warnings });
}
