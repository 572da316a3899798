/** Lines of a run journal as the owner writes them (`spec/live-turns.md` 3.2), and directories to put them in. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import type { JournalRecord } from '../../src/live/journal/line.ts';
import { parseLine } from '../../src/live/journal/line.ts';
import { LONGEST_LINE } from '../../src/live/journal/line-splitter.ts';
import { type JournalEntry, journalLine, type RunPlace } from './journal-shape.ts';

export { type JournalEntry, journalLine, type RunPlace } from './journal-shape.ts';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A new directory that goes when the test file is done; it stands for `_run_journal`. */
export function journalRoot(): string {
  const folder = mkdtempSync(join(tmpdir(), 'caduceus-journal-'));
  folders.push(folder);
  return folder;
}

export function runPath({ root, sessionId, runId }: RunPlace): string {
  return join(root, sessionId, `${runId}.jsonl`);
}

/** Writes a whole file at once; entries get the numbers from 1 unless they name their own. */
export function writeJournal(place: RunPlace, entries: readonly JournalEntry[], extra = ''): string {
  const path = runPath(place);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, entries.map((entry, index) => `${journalLine(place, { seq: index + 1, ...entry })}\n`).join('') + extra);
  return path;
}

/** Records as the reader makes them of the owner's lines. */
export function journalRecords(place: Omit<RunPlace, 'root'>, entries: readonly JournalEntry[]): JournalRecord[] {
  return entries.map((entry, index) => {
    const bytes = Buffer.from(journalLine(place, { seq: index + 1, ...entry }));
    const line = { bytes: bytes.subarray(0, LONGEST_LINE), length: bytes.length, glued: null, end: 0 };
    const { record } = parseLine(line, place);
    if (record === null) throw new Error(`the test's own line is malformed: ${bytes.toString()}`);
    return record;
  });
}
