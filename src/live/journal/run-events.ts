/**
 * Records of runs in pages, in the order of their numbers (`spec/live-turns.md` 3.7, 8.4), for queries and for clients that come back.
 */
import { runJournalPath } from './ids.ts';
import { type JournalRecord, type MalformedReason, parseLine, recordMarker } from './line.ts';
import { GAP_RECORDS } from './reorder.ts';
import { scanJournal } from './scan.ts';
import { SeqRanges } from './seq-ranges.ts';

/** A page ends before it holds more than so many bytes of lines, but for its first record. */
const LONGEST_PAGE = 4 * 1024 * 1024;
/** Malformed lines that are named; more are only counted. */
const MOST_MALFORMED = 100;

export interface RunEventsWindow {
  /** Exclusive. */
  readonly afterSeq?: number;
  /** Inclusive. */
  readonly maxSeq?: number;
  readonly limit: number;
}

export interface MalformedLine {
  /** From 1, blank lines included. */
  readonly line: number;
  readonly reason: MalformedReason;
}

export interface RunEventsPage {
  readonly records: readonly JournalRecord[];
  /** The first lines that could not be read, as far as the file was read for this page, at most 100. */
  readonly malformed: readonly MalformedLine[];
  /** All of them. */
  readonly malformedCount: number;
  /** `afterSeq` of the next page, null when this is the last one. */
  readonly next: number | null;
}

/**
 * A page of a run's records; null when there is no such run. A record that stands more than 256 lines behind its place belongs to no
 * page that ends before it. Throws `JournalUnreadable`.
 */
export async function readRunEvents(
  root: string,
  sessionId: string,
  runId: string,
  { afterSeq = 0, maxSeq = Number.MAX_SAFE_INTEGER, limit }: RunEventsWindow,
): Promise<RunEventsPage | null> {
  const path = runJournalPath(root, sessionId, runId);
  if (path === null) return null;
  const page = new Page(limit);
  const run = { sessionId, runId };
  let exists = false;
  let number = 0;
  scan: for await (const { lines } of scanJournal(path, recordMarker(run))) {
    exists = true;
    for (const line of lines) {
      number++;
      const { record, malformed } = parseLine(line, run);
      if (malformed !== null) page.addMalformed({ line: number, reason: malformed });
      if (record === null || record.seq <= afterSeq || record.seq > maxSeq) continue;
      page.add(record);
      if (page.isFull) break scan;
    }
  }
  return exists ? page.finish() : null;
}

class Page {
  readonly #malformed: MalformedLine[] = [];
  #malformedCount = 0;
  readonly #limit: number;
  readonly #records: JournalRecord[] = [];
  readonly #seen = new SeqRanges();
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = Math.max(1, limit);
  }

  add(record: JournalRecord): void {
    if (!this.#seen.add(record.seq)) return;
    this.#records.push(record);
    this.#bytes += heldBytes(record);
  }

  addMalformed(line: MalformedLine): void {
    this.#malformedCount++;
    if (this.#malformed.length < MOST_MALFORMED) this.#malformed.push(line);
  }

  /** So far beyond the page that nothing which belongs to it is still to come. */
  get isFull(): boolean {
    return this.#records.length >= this.#limit + GAP_RECORDS || (this.#records.length > GAP_RECORDS && this.#bytes > 2 * LONGEST_PAGE);
  }

  finish(): RunEventsPage {
    const sorted = this.#records.sort((a, b) => a.seq - b.seq);
    const records: JournalRecord[] = [];
    let bytes = 0;
    for (const record of sorted.slice(0, this.#limit)) {
      bytes += heldBytes(record);
      if (bytes > LONGEST_PAGE && records.length > 0) break;
      records.push(record);
    }
    const next = records.length < sorted.length ? (records.at(-1)?.seq ?? null) : null;
    return { records, malformed: this.#malformed, malformedCount: this.#malformedCount, next };
  }
}

function heldBytes({ bytes, truncated }: JournalRecord): number {
  return truncated ? 0 : bytes;
}
