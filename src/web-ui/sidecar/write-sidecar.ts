/**
 * Saving a session as a whole (`spec/webui-sidecars.md` 3.7, 6): creating one, or replacing one whose messages the caller has all.
 */
import { isUtf8 } from 'node:buffer';
import { lstat, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { InvalidInput } from '../../errors.ts';
import { systemCode } from '../../live/journal/open-journal.ts';
import { isJsonObject } from '../../state-db/decode.ts';
import { orderedObject } from '../../state-db/write/python-json-value.ts';
import { WriteRefused } from '../../write-refused.ts';
import { createFile, replaceFile } from '../replace-file.ts';
import { isSidecarId, sidecarName } from '../sidecar-file.ts';
import { clearTombstones } from '../tombstones.ts';
import { type Fields, listOf, NO_FIELDS, truthy } from './coercions.ts';
import { asFloat } from './edit-sidecar.ts';
import { decodeText, parseSidecar } from './parse-sidecar.ts';
import { MAX_WHOLE_BYTES, readSteadily, signatureText, withSidecar } from './read-sidecar.ts';
import { keepBackup, refuseOverlay, replaceSidecar, type SaveOptions, signatureNow } from './save-sidecar.ts';
import { inOrder } from './session-queue.ts';
import { parseSidecarJson, sidecarJson } from './sidecar-json.ts';
import { BULK_KEYS, COUNT_KEYS, MESSAGES, METADATA_KEYS, SCENES } from './sidecar-keys.ts';
import { sceneIndexOf } from './sidecar-messages.ts';
import type { SidecarRow, SidecarSignature } from './sidecar-row.ts';

export interface WriteOptions extends Omit<SaveOptions, 'maxBytes'> {
  /** There must be no file yet: CONFLICT when there is. */
  readonly mustBeNew?: boolean;
}

/** Members that are lists or objects without a value. */
const EMPTY: Readonly<Record<string, unknown>> = {
  pending_attachments: [],
  compression_anchor_details: {},
  context_engine_state: {},
  compression_recovery: {},
  gateway_routing_history: [],
  composer_draft: {},
  process_wakeup_pause: {},
  messages: [],
  tool_calls: [],
  anchor_activity_scenes: {},
  context_messages: [],
};
const FALSE_KEYS = new Set([
  'pinned',
  'archived',
  'pre_compression_snapshot',
  'llm_title_generated',
  'manual_title',
  'is_cli_session',
  'read_only',
]);
const ZERO_KEYS = new Set(['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens']);
const TIMES = new Set(['created_at', 'updated_at']);

/** The file's text: the owner's order and defaults, the counts made anew, unknown members behind. Throws `NotJson`. */
export function serializeSidecar(id: string, fields: Fields): string {
  const messages = listOf(fields[MESSAGES]);
  const scenes = Object.entries(sceneIndexOf(fields[SCENES])).map(([key, time]) => [key, asFloat(time)] as const);
  const counts: readonly unknown[] = [messages.length, orderedObject(scenes)];
  const known = new Set<string>([...METADATA_KEYS, ...COUNT_KEYS, ...BULK_KEYS]);
  return sidecarJson(
    orderedObject([
      ...METADATA_KEYS.map((key) => [key, key === 'session_id' ? id : storedValue(key, fields)] as const),
      ...COUNT_KEYS.map((key, index) => [key, counts[index]] as const),
      ...BULK_KEYS.map((key) => [key, storedValue(key, fields)] as const),
      ...Object.entries(fields).filter(([key]) => !known.has(key)),
    ]),
  );
}

function storedValue(key: string, fields: Fields): unknown {
  const value = fields[key];
  if (TIMES.has(key) && typeof value === 'number') return asFloat(value);
  if (value !== undefined && value !== null) return value;
  if (key === 'created_workspace') return fields.workspace ?? null;
  if (key === 'title') return value === undefined ? 'Untitled' : null;
  if (FALSE_KEYS.has(key)) return false;
  return ZERO_KEYS.has(key) ? 0 : (EMPTY[key] ?? null);
}

/**
 * Saves a session with all its messages and gives its row. An existing file with more messages is kept as its backup, one that is no JSON
 * is kept aside. Throws `WriteRefused` (METADATA_ONLY, TRANSCRIPT_WOULD_BE_EMPTIED, CONFLICT, SIDECAR_CORRUPT, SIDECAR_ENCODING,
 * SIDECAR_OVERLAY, and those of `replaceFile`), `InvalidInput` for an id that is none, `NotJson`.
 */
export async function writeSidecar(sessionsDir: string, id: string, fields: Fields, options: WriteOptions = {}): Promise<SidecarRow> {
  if (!isSidecarId(id)) throw new InvalidInput('That is no session id.', {}, 'BAD_SESSION_ID');
  const messages = fields[MESSAGES];
  if (!Array.isArray(messages)) throw new WriteRefused('METADATA_ONLY');
  await refuseOverlay(sessionsDir, options);
  const text = serializeSidecar(id, fields);
  return inOrder(join(sessionsDir, id), async () => {
    const path = join(await realpath(sessionsDir), sidecarName(id));
    const old = options.mustBeNew === true ? null : await oldFile(sessionsDir, id, options);
    if (old === null) await createFile(path, text);
    else {
      await keepOld(path, old, fields, messages.length);
      await replaceSidecar(path, text, old.signature);
    }
    if (messages.length > 0) await clearTombstones(sessionsDir, id);
    return parseSidecar(Buffer.from(text), id, await signatureNow(path)).row;
  });
}

interface OldFile {
  readonly bytes: Buffer;
  readonly signature: SidecarSignature;
}

async function oldFile(sessionsDir: string, id: string, { ifSignature }: WriteOptions): Promise<OldFile | null> {
  const old = await withSidecar(sessionsDir, id, async (file) => {
    if (file.size > MAX_WHOLE_BYTES) throw new WriteRefused('SIDECAR_TOO_LARGE');
    return readSteadily(file);
  });
  const isExpected = typeof ifSignature !== 'string' || (old !== null && signatureText(old.signature) === ifSignature);
  if (!isExpected) throw new WriteRefused('CONFLICT');
  return old;
}

/** The refusals of 6.1, and the backups of 6.4 with what section 17 wants otherwise. */
async function keepOld(path: string, { bytes, signature }: OldFile, incoming: Fields, count: number): Promise<void> {
  if (!isUtf8(bytes)) throw new WriteRefused('SIDECAR_ENCODING');
  const value = parseSidecarJson(decodeText(bytes).text);
  if (value === undefined) return keepAside(path, bytes, signature);
  if (!isJsonObject(value)) throw new WriteRefused('SIDECAR_CORRUPT');
  const present = listOf((value ?? NO_FIELDS)[MESSAGES]).length;
  const isUnderWay = truthy(incoming.active_stream_id) || truthy(incoming.pending_user_message);
  if (present > 0 && count === 0 && isUnderWay) throw new WriteRefused('TRANSCRIPT_WOULD_BE_EMPTIED');
  if (count < present) await keepBackup(path, bytes, signature);
}

/** As the backup when there is none: that one is never written over by what is no session. */
async function keepAside(path: string, bytes: Buffer, signature: SidecarSignature): Promise<void> {
  if (!(await exists(`${path}.bak`))) return keepBackup(path, bytes, signature);
  await replaceFile(`${path}.corrupt-${Math.trunc(Date.now() / 1000)}`, bytes, { tempStem: `${basename(path)}.corrupt` });
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    return false;
  }
}
