/** Reads one Claude Code transcript in steps, so that others come to their turn between them (`spec/webui-listing.md` 8.2, 8.4). */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { JournalUnreadable, type OpenJournal, openJournal, readRange, systemCode } from '../live/journal/open-journal.ts';
import { collapseWhitespace, cutCodePoints } from '../web-ui/list/list-titles.ts';
import { MOST_BYTES, type TranscriptFile } from './project-folders.ts';
import { type ClaudeCodeMessage, LONGEST_TITLE, TranscriptLines } from './transcript-lines.ts';

/** One transcript as the list shows it; all of them are read-only. Times are epoch seconds. */
export interface ClaudeCodeRow {
  /** `claude_code_` and 24 hexadecimal digits of the path's digest: a file that is moved is another session. */
  readonly id: string;
  readonly path: string;
  /** The name of the project's folder. */
  readonly project: string;
  /** The folder in which the session began, as the file says. */
  readonly cwd: string | null;
  readonly title: string;
  readonly messageCount: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastMessageAt: number;
}

export interface ClaudeCodeTranscript {
  readonly row: ClaudeCodeRow;
  /** At most 1,000. */
  readonly messages: readonly ClaudeCodeMessage[];
}

export const CLAUDE_CODE_PREFIX = 'claude_code_';
export const CLAUDE_CODE_TITLE = 'Claude Code Session';
const ID_DIGITS = 24;
const STEP = 256 * 1024;
const NEWLINE = 0x0a;

export function claudeCodeId(path: string): string {
  return CLAUDE_CODE_PREFIX + createHash('sha256').update(path, 'utf8').digest('hex').slice(0, ID_DIGITS);
}

/** Null for a file without a message, and for one that can't be read or is too large by now. */
export async function readTranscript(file: TranscriptFile): Promise<ClaudeCodeTranscript | null> {
  const lines = await linesOf(file.path);
  if (lines === null || lines.messages.length === 0) return null;
  return { row: rowOf(file, lines), messages: lines.messages };
}

async function linesOf(path: string): Promise<TranscriptLines | null> {
  try {
    const file = await openJournal(path);
    if (file === null) return null;
    try {
      return file.size > MOST_BYTES ? null : await parse(file);
    } finally {
      await file.handle.close();
    }
  } catch (error) {
    if (error instanceof JournalUnreadable || systemCode(error) !== null) return null;
    throw error;
  }
}

async function parse(file: OpenJournal): Promise<TranscriptLines> {
  const lines = new TranscriptLines();
  let rest: Buffer = Buffer.alloc(0);
  for (let at = 0; at < file.size && !lines.full; ) {
    const bytes = await readRange(file, Buffer.allocUnsafe(STEP), at, Math.min(STEP, file.size - at));
    if (bytes.length === 0) break;
    at += bytes.length;
    const end = bytes.lastIndexOf(NEWLINE);
    if (end === -1) {
      rest = Buffer.concat([rest, bytes]);
      continue;
    }
    for (const line of Buffer.concat([rest, bytes.subarray(0, end)])
      .toString('utf8')
      .split('\n'))
      lines.take(line);
    rest = Buffer.from(bytes.subarray(end + 1));
    await nextTurn();
  }
  if (rest.length > 0) lines.take(rest.toString('utf8'));
  return lines;
}

function rowOf(file: TranscriptFile, lines: TranscriptLines): ClaudeCodeRow {
  let first: number | null = null;
  let last: number | null = null;
  for (const { timestamp } of lines.messages) {
    if (timestamp === null) continue;
    first = Math.min(first ?? timestamp, timestamp);
    last = Math.max(last ?? timestamp, timestamp);
  }
  const updatedAt = last || first || file.modifiedAt;
  return {
    id: claudeCodeId(file.path),
    path: file.path,
    project: file.project,
    cwd: lines.cwd,
    title: lines.summary ?? firstWords(lines.messages) ?? CLAUDE_CODE_TITLE,
    messageCount: lines.messages.length,
    createdAt: first || last || file.modifiedAt,
    updatedAt,
    lastMessageAt: updatedAt,
  };
}

function firstWords(messages: readonly ClaudeCodeMessage[]): string | null {
  const first = messages.find((message) => message.role === 'user');
  return first === undefined ? null : cutCodePoints(collapseWhitespace(first.content), LONGEST_TITLE);
}
