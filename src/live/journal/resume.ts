/**
 * Going on in a journal where a client has come to (`spec/live-turns.md` 14.1 `g`, `q`, `x`, `o`).
 */
import { generationOf } from './generation.ts';
import { parseLine, type RunName } from './line.ts';
import { LONGEST_LINE } from './line-splitter.ts';
import { type OpenJournal, readRange } from './open-journal.ts';
import type { SeqRange } from './seq-ranges.ts';

export interface RunPosition {
  /** Of the file. */
  readonly generation: string;
  /** Every record up to this number was delivered, but for the holes. */
  readonly seq: number;
  readonly holes: readonly SeqRange[];
  /** Where the line after that of `seq` begins, when it is known: a hint that is checked. */
  readonly offset: number | null;
}

/** The position with an offset that holds, 0 where the file must be read from its beginning; null when the file is another one. */
export async function findResume(
  file: OpenJournal,
  position: RunPosition,
  run: RunName,
): Promise<(RunPosition & { offset: number }) | null> {
  const firstLine = await readFirstLine(file);
  if (firstLine === null || generationOf(file.ino, firstLine) !== position.generation) return null;
  const offset = position.offset !== null && (await holds(file, position.offset, position.seq, run)) ? position.offset : 0;
  return { ...position, offset };
}

/** Without its newline, cut at 256 KiB; null while it has no end. */
async function readFirstLine(file: OpenJournal): Promise<Buffer | null> {
  for (const length of [4096, LONGEST_LINE]) {
    const bytes = await readRange(file, Buffer.allocUnsafe(length), 0, length);
    const end = bytes.indexOf(0x0a);
    if (end !== -1) return bytes.subarray(0, end);
    if (bytes.length < length) return null;
    if (length === LONGEST_LINE) return bytes;
  }
  return null;
}

/** Whether a line ends before the offset and has the number. A line that begins too far before it is not looked for. */
async function holds(file: OpenJournal, offset: number, seq: number, run: RunName): Promise<boolean> {
  if (!Number.isSafeInteger(offset) || offset < 1 || offset > file.size) return false;
  for (const length of [4096, LONGEST_LINE]) {
    const from = Math.max(0, offset - length);
    const bytes = await readRange(file, Buffer.allocUnsafe(offset - from), from, offset - from);
    if (bytes.length !== offset - from || bytes.at(-1) !== 0x0a) return false;
    const start = bytes.subarray(0, -1).lastIndexOf(0x0a) + 1;
    if (start === 0 && from > 0) continue;
    const line = bytes.subarray(start, -1);
    return parseLine({ bytes: line, length: line.length, glued: null, end: offset }, run).record?.seq === seq;
  }
  return false;
}
