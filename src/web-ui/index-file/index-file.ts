/**
 * The Web UI's list of its sessions, `_index.json` (`spec/webui-sidecars.md` 8): a cache that may be anything. The files are the truth.
 * It holds drafts, pending prompts and share tokens: rows never leave this server as they are.
 */
import { readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../../live/journal/open-journal.ts';
import { isJsonObject } from '../../state-db/decode.ts';
import { parsePythonJson } from '../../state-db/write/python-json-value.ts';
import { type MayReplace, replaceFile } from '../replace-file.ts';
import { type Fields, finiteNumber, word } from '../sidecar/coercions.ts';
import { decodeText } from '../sidecar/parse-sidecar.ts';
import { parseSidecarJson, sidecarJson } from '../sidecar/sidecar-json.ts';

export interface IndexReading {
  /** UNREADABLE: the system refuses; CORRUPT: no list of objects. */
  readonly status: 'OK' | 'MISSING' | 'CORRUPT' | 'UNREADABLE' | 'TOO_LARGE';
  /** The rows that are objects and have an id, in the order of the file. */
  readonly rows: ReadonlyMap<string, Fields>;
  readonly duplicateIds: readonly string[];
  /** Rows without an id, and entries that are no objects. */
  readonly oddRows: number;
  /** When it was written, epoch seconds. */
  readonly writtenAt: number | null;
}

const NAME = '_index.json';
/** An index of 10,000 sessions with long drafts and summaries has about 100 MB; beyond, reading the files is no slower. */
const MAX_BYTES = 128 * 1024 * 1024;
const ABSENT = new Set(['ENOENT', 'ENOTDIR']);

const NOTHING: Omit<IndexReading, 'status'> = { rows: new Map(), duplicateIds: [], oddRows: 0, writtenAt: null };

/** What the index says. Nothing is thrown for what is wrong with it: it costs time, never rows. */
export async function readIndex(sessionsDir: string): Promise<IndexReading> {
  let text: string;
  let writtenAt: number;
  try {
    const path = indexPath(sessionsDir);
    const seen = await stat(path);
    if (seen.size > MAX_BYTES) return { ...NOTHING, status: 'TOO_LARGE' };
    writtenAt = seen.mtimeMs / 1000;
    text = decodeText(await readFile(path)).text;
  } catch (error) {
    const code = systemCode(error);
    if (code === null) throw error;
    return { ...NOTHING, status: ABSENT.has(code) ? 'MISSING' : 'UNREADABLE' };
  }
  const entries = parseSidecarJson(text);
  if (!Array.isArray(entries)) return { ...NOTHING, status: 'CORRUPT', writtenAt };
  const rows = new Map<string, Fields>();
  const duplicateIds = new Set<string>();
  let oddRows = 0;
  for (const entry of entries) {
    const id = isJsonObject(entry) ? word(entry.session_id) : null;
    if (id === null) oddRows += 1;
    else if (rows.has(id)) duplicateIds.add(id);
    else rows.set(id, entry as Fields);
  }
  const isCorrupt = oddRows > 0 && rows.size === 0;
  return { status: isCorrupt ? 'CORRUPT' : 'OK', rows, duplicateIds: [...duplicateIds], oddRows, writtenAt };
}

/** What tells whether a row lags behind its file, and whose session it is. */
const KEPT = ['message_count', 'updated_at', 'source_tag', 'raw_source', 'session_source', 'is_cli_session', 'read_only'] as const;

/** The same, of each row only counts, times and sources. */
export async function readIndexCounts(sessionsDir: string): Promise<IndexReading> {
  const reading = await readIndex(sessionsDir);
  const kept = (row: Fields): Fields => Object.fromEntries(KEPT.map((key) => [key, row[key]]));
  return { ...reading, rows: new Map([...reading.rows].map(([id, row]) => [id, kept(row)])) };
}

export function indexPath(sessionsDir: string): string {
  return join(sessionsDir, NAME);
}

/** The rows with every number in its own kind; null when the index can't be changed as it is. */
export async function readRowsForWriting(sessionsDir: string): Promise<{ rows: Record<string, unknown>[]; mayReplace: MayReplace } | null> {
  try {
    const path = join(await realpath(sessionsDir), NAME);
    const before = await stat(path, { bigint: true });
    if (before.size > BigInt(MAX_BYTES)) return null;
    const rows = parsePythonJson(await readFile(path, 'utf8'));
    if (!Array.isArray(rows) || !rows.every(isJsonObject)) return null;
    const isSame: MayReplace = (now) =>
      now !== null && now.ino === before.ino && now.mtimeNs === before.mtimeNs && now.size === before.size;
    return { rows, mayReplace: isSame };
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return null;
  }
}

/** Writes the whole index, newest `updated_at` first. Throws `WriteRefused`. */
export async function writeIndex(sessionsDir: string, rows: readonly Fields[], mayReplace?: MayReplace): Promise<void> {
  const sorted = [...rows].sort((a, b) => updatedAt(b) - updatedAt(a));
  await replaceFile(join(await realpath(sessionsDir), NAME), sidecarJson(sorted), mayReplace === undefined ? {} : { mayReplace });
}

function updatedAt({ updated_at: time }: Fields): number {
  // An IntegralFloat from a read for writing.
  const plain = isJsonObject(time) && 'value' in time ? time.value : time;
  return finiteNumber(typeof plain === 'bigint' ? Number(plain) : plain) ?? 0;
}
