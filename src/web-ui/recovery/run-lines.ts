/**
 * A run journal as a recovery needs it (`spec/webui-recovery.md` 3.5, 3.6, 10): in the order of the file, each event once, long lines whole
 * where they are part of the answer, and a last line too that has no end. What can't be read is passed over and counted.
 */
import { runJournalPath } from '../../live/journal/ids.ts';
import { type JournalRecord, parseLine, type RunName } from '../../live/journal/line.ts';
import { LONGEST_LINE } from '../../live/journal/line-splitter.ts';
import { type OpenJournal, openJournal, readRange } from '../../live/journal/open-journal.ts';
import type { Payload } from '../../live/journal/payload.ts';
import { CHUNK_BYTES } from '../../live/journal/scan.ts';
import { SeqRanges } from '../../live/journal/seq-ranges.ts';
import { overrules } from '../../live/journal/terminal.ts';
import { isJsonObject, parseJson } from '../../state-db/decode.ts';
import { parsePythonJson } from '../../state-db/write/python-json-value.ts';

export interface RunLine {
  readonly seq: number;
  readonly event: string;
  /** Epoch seconds. */
  readonly createdAt: number | null;
  /** Of `tool` with numbers as the owner's language has them. Empty for lines that only end the run. */
  readonly payload: Payload;
}

export interface RunJournal {
  /** Lines with something of the answer, and those that end it. */
  readonly lines: readonly RunLine[];
  /** As the line that counts says; null while there is none. */
  readonly terminalState: string | null;
  /** The line that counts, where it tells an error. */
  readonly error: { readonly eventId: string; readonly payload: Payload } | null;
  /** Epoch seconds of the newest line, and of the file's last change. */
  readonly lastCreatedAt: number | null;
  readonly modifiedAt: number;
  readonly isEmpty: boolean;
  /** The answer has more text than may be taken. */
  readonly truncated: boolean;
  readonly malformedLines: number;
}

/** Of the lines of one run's answer. */
const MOST_ANSWER_BYTES = 8 * 1024 * 1024;
/** A longer line is passed over. */
const MOST_LINE_BYTES = 64 * 1024 * 1024;
const OF_ANSWER = new Set(['token', 'reasoning', 'interim_assistant', 'tool', 'tool_complete']);
const ENDS = new Set(['done', 'stream_end', 'cancel', 'apperror', 'error']);
const NOTHING: Payload = Object.freeze({});
const NEWLINE = 0x0a;

/** Null when there is no such run, or an id is none. Throws `JournalUnreadable`. */
export async function readRunJournal(root: string, run: RunName, mostBytes = MOST_ANSWER_BYTES): Promise<RunJournal | null> {
  const path = runJournalPath(root, run.sessionId, run.runId);
  const file = path === null ? null : await openJournal(path);
  if (file === null) return null;
  try {
    const reading = new Reading(run, mostBytes);
    for await (const line of linesOf(file)) reading.take(line);
    return reading.finish(file);
  } finally {
    await file.handle.close();
  }
}

/** Whole lines without their ends, of a line that is too long only the beginning; what follows the last end is a line. */
async function* linesOf(file: OpenJournal): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let held = 0;
  const hold = (part: Buffer) => {
    const kept = part.subarray(0, Math.max(0, MOST_LINE_BYTES - held));
    held += kept.length;
    if (kept.length > 0) parts.push(Buffer.from(kept));
  };
  for (let at = 0; at < file.size; ) {
    const length = Math.min(CHUNK_BYTES, file.size - at);
    const chunk = await readRange(file, Buffer.allocUnsafe(length), at, length);
    if (chunk.length === 0) break;
    at += chunk.length;
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to !== -1; to = chunk.indexOf(NEWLINE, from)) {
      hold(chunk.subarray(from, to));
      yield Buffer.concat(parts);
      parts = [];
      held = 0;
      from = to + 1;
    }
    hold(chunk.subarray(from));
  }
  if (held > 0) yield Buffer.concat(parts);
}

class Reading {
  readonly #run: RunName;
  readonly #mostBytes: number;
  readonly #seen = new SeqRanges();
  readonly #lines: RunLine[] = [];
  #bytes = 0;
  #truncated = false;
  #malformed = 0;
  #lastCreatedAt: number | null = null;
  #terminal: { readonly record: JournalRecord; readonly bytes: Buffer } | null = null;

  constructor(run: RunName, mostBytes: number) {
    this.#run = run;
    this.#mostBytes = mostBytes;
  }

  take(bytes: Buffer): void {
    const { record, malformed } = parseLine(
      { bytes: bytes.subarray(0, LONGEST_LINE), length: bytes.length, glued: null, end: 0 },
      this.#run,
    );
    if (malformed !== null) this.#malformed += 1;
    if (record === null || !this.#seen.add(record.seq)) return;
    if (record.createdAt !== null) this.#lastCreatedAt = Math.max(this.#lastCreatedAt ?? record.createdAt, record.createdAt);
    if (overrules(record, this.#terminal?.record ?? null)) this.#terminal = { record, bytes };
    const { seq, event, createdAt } = record;
    if (ENDS.has(event)) this.#lines.push({ seq, event, createdAt, payload: NOTHING });
    if (OF_ANSWER.has(event) && this.#hasRoom(bytes.length)) this.#lines.push({ seq, event, createdAt, payload: payloadOf(record, bytes) });
  }

  finish({ size, mtimeNs }: OpenJournal): RunJournal {
    const end = this.#terminal;
    return {
      lines: this.#lines,
      terminalState: end?.record.terminalState ?? null,
      error: end === null ? null : errorOf(end.record, end.bytes, this.#run),
      lastCreatedAt: this.#lastCreatedAt,
      modifiedAt: Number(mtimeNs / 1000n) / 1e6,
      isEmpty: size === 0,
      truncated: this.#truncated,
      malformedLines: this.#malformed,
    };
  }

  #hasRoom(bytes: number): boolean {
    this.#bytes += bytes;
    this.#truncated ||= this.#bytes > this.#mostBytes;
    return !this.#truncated;
  }
}

function errorOf(record: JournalRecord, bytes: Buffer, { runId }: RunName): RunJournal['error'] {
  const line = record.event === 'apperror' ? parseJson(bytes.toString('utf8')) : null;
  if (!isJsonObject(line) || line.type !== 'apperror' || !isJsonObject(line.payload)) return null;
  return { eventId: `${runId}:${record.seq}`, payload: line.payload };
}

/** Whole, also where only the beginning of the line was looked at. */
function payloadOf(record: JournalRecord, bytes: Buffer): Payload {
  if (record.event !== 'tool' && !record.truncated) return record.payload;
  const text = bytes.toString('utf8');
  // What was glued to a torn line is no line of its own.
  const line = parsePythonJson(text);
  return isJsonObject(line) && isJsonObject(line.payload) ? line.payload : record.payload;
}
