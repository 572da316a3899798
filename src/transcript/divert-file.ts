/**
 * Divert files, `sessions/<session id>.jsonl` (`spec/state-db-writes.md` J1, J2, K13): what a session would have written to a store that was
 * replaced or damaged, one message a line. Nothing reads them back by itself; the same messages are in the spool.
 */
import { join } from 'node:path';
import { isJsonObject } from '../state-db/decode.ts';
import { asUnwritable, errorCode, NODE_FILES, type SpoolFiles, SpoolUnwritable } from './spool-files.ts';
import { lineText, parseSpoolJson } from './spool-json.ts';
import type { SpooledMessage } from './spool-payload.ts';

const FOLDER = 'sessions';
const SUFFIX = '.jsonl';
const LINE_FEED = 0x0a;
/** What file systems take as one name, less the suffix. */
const MAX_ID_BYTES = 255 - SUFFIX.length;
// Separators, `:` (streams of Windows) and control characters; a leading point would hide the file, or leave the folder.
const UNSAFE_ID = /^\.|[/\\:\p{Cc}]/u;
/** A larger file is not read: it is for a person and an editor. */
export const DIVERT_LIMIT_BYTES = 64 * 1024 * 1024;

export interface DivertedMessages {
  /** In the order of the file. */
  readonly messages: readonly SpooledMessage[];
  /** Lines that hold no whole object: torn by a process that died, or written by something else. */
  readonly skipped: number;
}

/**
 * Appends one line for each message; null ones are left out, and what is no object becomes `{"content": text}`. Throws `SpoolUnwritable`
 * (UNSAFE_NAME: the id can not be a file's name).
 */
export function appendDiverted(home: string, sessionId: string, messages: readonly unknown[], files: SpoolFiles = NODE_FILES): void {
  const lines = messages.filter((message) => message !== null && message !== undefined).map(lineOf);
  if (lines.length === 0) return;
  const path = divertPath(home, sessionId);
  try {
    makeFolder(join(home, FOLDER), files);
    const file = files.openToAppend(path);
    try {
      // A line that another process left torn would swallow the first of these.
      const last = files.lastByte(file);
      const open = last === null || last === LINE_FEED ? '' : '\n';
      files.write(file, Buffer.from(`${open}${lines.join('')}`));
    } finally {
      files.close(file);
    }
  } catch (error) {
    throw asUnwritable(error);
  }
}

/** What a divert file holds; nothing when there is none or it is larger than `DIVERT_LIMIT_BYTES`. The caller leaves out what it has by uid. */
export function readDiverted(home: string, sessionId: string, files: SpoolFiles = NODE_FILES): DivertedMessages {
  const bytes = files.read(divertPath(home, sessionId), DIVERT_LIMIT_BYTES);
  const lines = (bytes ?? Buffer.alloc(0)).toString('utf8').split('\n');
  const parsed = lines.filter((line) => line.trim() !== '').map(parseLine);
  const messages = parsed.filter(isJsonObject);
  return { messages, skipped: parsed.length - messages.length };
}

/** The path of a session's divert file. Throws `SpoolUnwritable` for an id that is no safe name of a file. */
export function divertPath(home: string, sessionId: string): string {
  const isUnsafe =
    sessionId === '' || UNSAFE_ID.test(sessionId) || !sessionId.isWellFormed() || Buffer.byteLength(sessionId) > MAX_ID_BYTES;
  if (isUnsafe) throw new SpoolUnwritable('UNSAFE_NAME');
  return join(home, FOLDER, `${sessionId}${SUFFIX}`);
}

function lineOf(message: unknown): string {
  try {
    const value = isJsonObject(message) ? message : { content: typeof message === 'string' ? message : lineText(message) };
    return `${lineText(value)}\n`;
  } catch (error) {
    throw new SpoolUnwritable('NOT_EXPRESSIBLE', error);
  }
}

function makeFolder(path: string, files: SpoolFiles): void {
  try {
    // Without its parents: the home of a profile that was deleted is not made anew.
    files.makeFolder(path, false);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') throw new SpoolUnwritable('HOME_GONE', error);
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

function parseLine(line: string): unknown {
  try {
    return parseSpoolJson(line);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return null;
    throw error;
  }
}
