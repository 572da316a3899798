/** A run's whole journal as the server's readers see it: parsed line by line, folded from the beginning. */
import { existsSync, readFileSync } from 'node:fs';
import { foldRecords } from '../../src/live/journal/fold.ts';
import { type JournalRecord, parseLine } from '../../src/live/journal/line.ts';
import { emptyTurn, type LiveTurn } from '../../src/live/journal/live-turn.ts';
import { runPath } from './journal-lines.ts';
import type { RunPlace } from './journal-shape.ts';

/** Records in file order. Throws Error for a line that can't be read, since the writers under test don't make such. */
export function recordsOf(place: RunPlace): JournalRecord[] {
  if (!existsSync(runPath(place))) return [];
  const lines = readFileSync(runPath(place), 'utf8').split('\n').slice(0, -1);
  return lines.map((text) => {
    const bytes = Buffer.from(text);
    const { record } = parseLine({ bytes, length: bytes.length, glued: null, end: 0 }, place);
    if (record === null) throw new Error(`a malformed line: ${text}`);
    return record;
  });
}

export function foldedRun(place: RunPlace): LiveTurn {
  return foldRecords(emptyTurn(place, 'only'), recordsOf(place)).state;
}
