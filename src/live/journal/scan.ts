/**
 * Reads a journal once from its beginning, in chunks (`spec/live-turns.md` 8.3); the tailer follows one that grows.
 */
import { LineSplitter, type RawLine } from './line-splitter.ts';
import { type OpenJournal, openJournal, readRange } from './open-journal.ts';

/** No more is read, split and parsed before the event loop has its turn. */
export const CHUNK_BYTES = 256 * 1024;

export interface ScannedLines {
  readonly file: OpenJournal;
  /** Lines that ended in this chunk, valid until the next is asked for. */
  readonly lines: Iterable<RawLine>;
  /** Bytes after the last newline so far. */
  readonly carried: number;
}

/**
 * The lines of the file as it was when it was opened, chunk by chunk; nothing when there is no such file. Throws `JournalUnreadable`.
 * `marker`: how records begin, to find one that was glued to a torn line.
 */
export async function* scanJournal(path: string, marker: string): AsyncGenerator<ScannedLines> {
  const file = await openJournal(path);
  if (file === null) return;
  try {
    const splitter = new LineSplitter(marker);
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, file.size));
    for (let at = 0; at < file.size; ) {
      const chunk = await readRange(file, buffer, at, Math.min(CHUNK_BYTES, file.size - at));
      if (chunk.length === 0) return;
      at += chunk.length;
      const lines = [...splitter.feed(chunk)];
      yield { file, lines, carried: splitter.carried };
    }
  } finally {
    await file.handle.close();
  }
}
