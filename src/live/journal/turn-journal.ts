/**
 * Turns as the Web UI accepted and settled them (`spec/live-turns.md` 4): one file for each of its processes, merged by time.
 */
import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, parseJson } from '../../state-db/decode.ts';
import { isSessionId } from './ids.ts';
import { leadingFields } from './line.ts';
import type { RawLine } from './line-splitter.ts';
import { JournalUnreadable, systemCode } from './open-journal.ts';
import { number, type Payload, word } from './payload.ts';
import { namesIn } from './run-summary.ts';
import { scanJournal } from './scan.ts';

/** What can't occur in a session id parts it from the process that wrote the file. */
const SHARD = /^~(\d+)\.jsonl$/;
const JOURNAL_NAME = /^([^~]+)(?:~\d+)?\.jsonl$/;
/** No records are glued here: the owner syncs every line under a lock. */
const NO_MARKER = '{"event":';

export interface TurnJournalEvent {
  readonly event: string;
  readonly turnId: string | null;
  readonly streamId: string | null;
  /** Epoch seconds, 0 when the line tells none. */
  readonly createdAt: number;
  readonly terminal: boolean;
  /** The process that ran the turn; null for a file of older versions. */
  readonly pid: number | null;
  /** All fields of the line. Of a line over 256 KiB only its first short ones. */
  readonly fields: Payload;
}

export interface TurnJournal {
  readonly events: readonly TurnJournalEvent[];
  /** The first lines that are no event, at most 100. */
  readonly malformed: readonly { readonly line: number; readonly shard: string }[];
  /** All of them. */
  readonly malformedCount: number;
  /** The files hold more than 64 MiB or 100,000 lines: what comes after was not read. */
  readonly truncated: boolean;
}

/** Nobody's session comes near these; a file that was made to would fill the memory. */
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_LINES = 100_000;
const MOST_MALFORMED = 100;

/** The lines of a session in the order of their times. `root`: the directory `_turn_journal`. Throws `JournalUnreadable`. */
export async function readTurnJournal(root: string, sessionId: string): Promise<TurnJournal> {
  const reading = new Reading();
  for (const { name, path, pid } of await turnShards(root, sessionId)) {
    let line = 0;
    for await (const { lines } of scanJournal(path, NO_MARKER)) {
      for (const raw of lines) reading.add(raw, { shard: name, pid, line: ++line });
      if (reading.isFull) return reading.finish();
    }
  }
  return reading.finish();
}

class Reading {
  readonly #events: TurnJournalEvent[] = [];
  readonly #malformed: { line: number; shard: string }[] = [];
  #malformedCount = 0;
  #bytes = 0;
  #lines = 0;

  get isFull(): boolean {
    return this.#bytes > MOST_BYTES || this.#lines > MOST_LINES;
  }

  add(raw: RawLine, { shard, pid, line }: { readonly shard: string; readonly pid: number | null; readonly line: number }): void {
    if (this.isFull) return;
    this.#bytes += raw.length;
    this.#lines++;
    const fields = fieldsOf(raw);
    if (fields === 'BLANK') return;
    if (fields !== 'MALFORMED') {
      this.#events.push(toEvent(fields, pid));
      return;
    }
    this.#malformedCount++;
    if (this.#malformed.length < MOST_MALFORMED) this.#malformed.push({ line, shard });
  }

  finish(): TurnJournal {
    const events = this.#events.sort((a, b) => a.createdAt - b.createdAt);
    return { events, malformed: this.#malformed, malformedCount: this.#malformedCount, truncated: this.isFull };
  }
}

/** The sessions that have files in the directory: their names up to the first `~`. Throws `JournalUnreadable`. */
export async function sessionsWithTurnJournals(root: string): Promise<string[]> {
  const ids = (await namesIn(root)).flatMap((name) => JOURNAL_NAME.exec(name)?.[1] ?? []);
  return [...new Set(ids)].filter(isSessionId).sort();
}

export interface TurnShard {
  readonly name: string;
  readonly path: string;
  readonly pid: number | null;
}

/** The file of older versions first, then those of the processes by name. `root` as above. Throws `JournalUnreadable`. */
export async function turnShards(root: string, sessionId: string): Promise<TurnShard[]> {
  if (!isSessionId(sessionId)) return [];
  try {
    // The root may be a link, what is in it may not.
    const directory = await realpath(root);
    const names = (await readdir(directory)).filter((name) => name.startsWith(sessionId)).sort();
    return names.flatMap((name): TurnShard[] => {
      const rest = name.slice(sessionId.length);
      const pid = SHARD.exec(rest)?.[1];
      if (rest !== '.jsonl' && pid === undefined) return [];
      return [{ name, path: join(directory, name), pid: pid === undefined ? null : Number(pid) }];
    });
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw new JournalUnreadable(error);
  }
}

function fieldsOf({ bytes, length }: RawLine): Payload | 'BLANK' | 'MALFORMED' {
  const text = bytes.toString('utf8');
  if (length > bytes.length) return leadingFields(text);
  if (text.trim() === '') return 'BLANK';
  const value = parseJson(text);
  return isJsonObject(value) ? value : 'MALFORMED';
}

function toEvent(fields: Payload, pid: number | null): TurnJournalEvent {
  const turnId = word(fields, 'turn_id');
  return {
    event: word(fields, 'event') ?? '',
    turnId,
    streamId: word(fields, 'stream_id'),
    createdAt: number(fields, 'created_at') ?? timeOfTurnId(turnId) ?? 0,
    terminal: Boolean(fields.terminal),
    pid,
    fields,
  };
}

const TURN_ID = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-/i;

/** A line too long to be read has lost its time, but a turn's id begins with it. */
function timeOfTurnId(turnId: string | null): number | null {
  const [, year, month, day, hour, minute, second] = TURN_ID.exec(turnId ?? '') ?? [];
  if (second === undefined) return null;
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(time) ? null : time / 1000;
}

export interface TurnStates {
  /** The latest event of each turn, of equal times the later line. */
  readonly states: ReadonlyMap<string, TurnJournalEvent>;
  /** Turns with more than one end. */
  readonly collisions: readonly { readonly turnId: string; readonly events: readonly TurnJournalEvent[] }[];
}

/** Pure: where each turn stands. `events` as `readTurnJournal` gives them; those without a turn are passed over. */
export function deriveTurnStates(events: readonly TurnJournalEvent[]): TurnStates {
  const states = new Map<string, TurnJournalEvent>();
  const ends = new Map<string, TurnJournalEvent[]>();
  for (const event of events) {
    if (event.turnId === null) continue;
    const before = states.get(event.turnId);
    if (before === undefined || event.createdAt >= before.createdAt) states.set(event.turnId, event);
    if (!event.terminal) continue;
    const own = ends.get(event.turnId);
    if (own === undefined) ends.set(event.turnId, [event]);
    else own.push(event);
  }
  const collisions = [...ends].filter(([, each]) => each.length > 1).map(([turnId, each]) => ({ turnId, events: each }));
  return { states, collisions };
}

/**
 * Pure: all events of one run, in their order. A run that changed its session in between has a second turn id in the other session's
 * files, so events of both sessions may be given.
 */
export function eventsOfRun(events: readonly TurnJournalEvent[], runId: string): TurnJournalEvent[] {
  return events.filter(({ streamId }) => streamId === runId).sort((a, b) => a.createdAt - b.createdAt);
}

/** Pure: the process that executes the run, by the newest line that names one; null when none does. */
export function pidOfRun(events: readonly TurnJournalEvent[], runId: string): number | null {
  return eventsOfRun(events, runId).findLast(({ pid }) => pid !== null)?.pid ?? null;
}
