/**
 * The metadata of a session file from its beginning, read in growing stages (`spec/webui-sidecars.md` 5): the messages are never parsed
 * when the file tells how many they are.
 */
import { isUtf8 } from 'node:buffer';
import { type OpenJournal, readRange } from '../../live/journal/open-journal.ts';
import { isJsonObject } from '../../state-db/decode.ts';
import { TopLevelScan } from '../top-level-scan.ts';
import { type Fields, nonNegativeInteger } from './coercions.ts';
import { decodeSidecar } from './decode-sidecar.ts';
import { decodeText, layoutOf, parseSidecar } from './parse-sidecar.ts';
import { MAX_WHOLE_BYTES, type ReadLimits, readWholeRow, signatureOf, withSidecar } from './read-sidecar.ts';
import { parseSidecarJson } from './sidecar-json.ts';
import { MESSAGES, SCENES } from './sidecar-keys.ts';
import type { SidecarRow, SidecarSignature } from './sidecar-row.ts';

export interface MetadataOptions extends ReadLimits {
  /** The count that the index has, for a file that tells where its scenes are but no count. */
  readonly countInIndex?: (id: string) => number | null;
}

/** Less than the owner reads, which is more than enough for most. */
export const FIRST_STAGE = 16 * 1024;
const MOST_BYTES = 1024 * 1024;
const STOPS: ReadonlySet<string> = new Set([MESSAGES, SCENES]);
/** A beginning without one of these is not trusted. */
const NEEDED = ['session_id', 'title', 'created_at', 'updated_at'] as const;

/** The metadata; null when there is no such file or the id is none. What is damaged is told. Throws `SidecarUnreadable`. */
export async function readMetadata(sessionsDir: string, id: string, options: MetadataOptions = {}): Promise<SidecarRow | null> {
  return withSidecar(sessionsDir, id, (file) => metadataOf(file, id, options));
}

async function metadataOf(file: OpenJournal, id: string, options: MetadataOptions): Promise<SidecarRow> {
  const scan = beginningScan();
  const bytes = await readStages(file, scan);
  const row = rowOfBeginning(bytes, scan, id, signatureOf(file), options);
  if (row !== null) return row;
  if (bytes.length === file.size) return parseSidecar(bytes, id, signatureOf(file)).row;
  return readWholeRow(file, id, options);
}

/** Stops at the first member that is large by nature. */
export function beginningScan(): TopLevelScan {
  return new TopLevelScan(null, STOPS);
}

/** The metadata, when the scan of these bytes, a file's first, has found all that it takes; else null. */
export function rowOfBeginning(
  bytes: Buffer,
  scan: TopLevelScan,
  id: string,
  signature: SidecarSignature,
  options: MetadataOptions,
): SidecarRow | null {
  const { end } = scan;
  if (scan.state !== 'STOPPED' || end === null) return null;
  const prefix = bytes.subarray(0, end);
  const fields = prefixFields(prefix);
  return fields === null ? null : fromPrefix(signature, id, fields, prefix, options);
}

/** Until the scan has what it looks for, the file ends, or it is not worth more. */
async function readStages(file: OpenJournal, scan: TopLevelScan): Promise<Buffer> {
  let bytes: Buffer = Buffer.alloc(0);
  for (let stage = FIRST_STAGE; scan.state === 'READING' && bytes.length < MOST_BYTES; stage *= 2) {
    const length = Math.min(stage, MOST_BYTES - bytes.length, Math.max(1, file.size - bytes.length));
    const more = await readRange(file, Buffer.allocUnsafe(length), bytes.length, length);
    if (more.length === 0) break;
    bytes = bytes.length === 0 ? more : Buffer.concat([bytes, more]);
    scan.scan(bytes);
  }
  return bytes;
}

function prefixFields(prefix: Buffer): Fields | null {
  const text = decodeText(prefix).text.trimEnd();
  const value = parseSidecarJson(`${text.endsWith(',') ? text.slice(0, -1) : text}}`);
  return isJsonObject(value) ? value : null;
}

function fromPrefix(signature: SidecarSignature, id: string, fields: Fields, prefix: Buffer, options: MetadataOptions): SidecarRow | null {
  if (!NEEDED.every((key) => Object.hasOwn(fields, key))) return null;
  const hasCount = nonNegativeInteger(fields.message_count) !== null;
  if (!hasCount && !Object.hasOwn(fields, 'anchor_scene_index')) return null;
  const isTooLarge = signature.size > (options.maxBytes ?? MAX_WHOLE_BYTES);
  return decodeSidecar({
    id,
    signature,
    health: isTooLarge ? 'TOO_LARGE' : isUtf8(prefix) ? 'UNKNOWN' : 'DAMAGED_ENCODING',
    fields,
    isWhole: false,
    layout: layoutOf(Object.keys(fields)),
    messageCount: hasCount ? null : (options.countInIndex?.(id) ?? null),
    warnings: decodeText(prefix).warnings,
  });
}
