/**
 * One line of a run journal (`spec/live-turns.md` 3.2, 3.4, 8.3): a record of this run, or malformed. Nothing here throws.
 */
import { isJsonObject, parseJson } from '../../state-db/decode.ts';
import type { HeldBytes, RawLine } from './line-splitter.ts';
import { NO_PAYLOAD, type Payload } from './payload.ts';
import { terminalStateOf } from './terminal.ts';

export interface JournalRecord {
  readonly seq: number;
  /** The event's name, '' when the line has none. */
  readonly event: string;
  /** Epoch seconds, null when the line has none. */
  readonly createdAt: number | null;
  readonly terminal: boolean;
  readonly terminalState: string | null;
  /** Of a truncated line only the fields before the first list or object. */
  readonly payload: Payload;
  /** The line was longer than 256 KiB, and only its beginning was read. */
  readonly truncated: boolean;
  /** The line's length. */
  readonly bytes: number;
  /** Where the next line begins in the file. */
  readonly end: number;
}

/** The run that a journal belongs to. */
export interface RunName {
  readonly sessionId: string;
  readonly runId: string;
}

export type MalformedReason = 'NOT_JSON' | 'NOT_AN_OBJECT' | 'FOREIGN' | 'BAD_SEQ' | 'TORN_BEFORE_RECORD';

export interface ParsedLine {
  readonly record: JournalRecord | null;
  /** Why the line, or with a record the part before it, could not be read; null for a record and for a blank line. */
  readonly malformed: MalformedReason | null;
}

/** How every record of the run begins: what a glued record is found by. */
export function recordMarker({ runId }: RunName): string {
  return `{"version":1,"event_id":"${runId}:`;
}

/** The record of a line. A blank line is nothing at all. */
export function parseLine(line: RawLine, run: RunName): ParsedLine {
  if (line.length > line.bytes.length) return parseLong(line, run);
  const text = line.bytes.toString('utf8');
  const whole = fromText(text, line, run);
  if (whole.malformed !== 'NOT_JSON') return whole;
  if (text.trim() === '') return { record: null, malformed: null };
  const at = text.lastIndexOf(recordMarker(run));
  return (at > 0 ? salvaged(fromText(text.slice(at), line, run)) : null) ?? whole;
}

/** A line of which only the beginning is held: the header counts, of the payload what stands before the first list or object. */
function parseLong(line: RawLine, run: RunName): ParsedLine {
  const glued = line.glued === null ? null : salvaged(fromHeld(line.glued, line.end, run));
  return glued ?? fromHeld(line, line.end, run);
}

function fromHeld({ bytes, length }: HeldBytes, end: number, run: RunName): ParsedLine {
  const at = { length, end };
  if (length <= bytes.length) return fromText(bytes.toString('utf8'), at, run);
  const beginning = bytes.toString('utf8', 0, LONGEST_HEADER);
  const cut = beginning.indexOf(PAYLOAD_KEY);
  const header = cut === -1 ? undefined : parseJson(`${beginning.slice(0, cut)}}`);
  return fromValue(header, at, run, cut === -1 ? NO_PAYLOAD : leadingFields(beginning.slice(cut + PAYLOAD_KEY.length)));
}

/** Only what is whole and of this run is worth salvaging: a nested object that looks like a record is followed by more. */
function salvaged(parsed: ParsedLine): ParsedLine | null {
  return parsed.record === null ? null : { record: parsed.record, malformed: 'TORN_BEFORE_RECORD' };
}

const PAYLOAD_KEY = ',"payload":';
const LONGEST_HEADER = 64 * 1024;

interface Extent {
  readonly length: number;
  readonly end: number;
}

function fromText(text: string, at: Extent, run: RunName): ParsedLine {
  const value = parseJson(text);
  const retry = value === undefined && NOT_FINITE.test(text);
  return fromValue(retry ? parseJson(withoutNotFinite(text)) : value, at, run, null);
}

const NOT_FINITE = /NaN|Infinity/;
const STRING_OR_NOT_FINITE = /"[^"\\]*(?:\\.[^"\\]*)*"|-?Infinity|NaN/g;

/** The words that the owner's encoder writes for numbers and JSON doesn't know, as null; strings stay as they are. */
export function withoutNotFinite(text: string): string {
  return text.replace(STRING_OR_NOT_FINITE, (found) => (found.startsWith('"') ? found : 'null'));
}

function fromValue(value: unknown, at: Extent, run: RunName, truncatedPayload: Payload | null): ParsedLine {
  if (value === undefined) return malformed('NOT_JSON');
  if (!isJsonObject(value)) return malformed('NOT_AN_OBJECT');
  const { seq } = value;
  if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < 1) return malformed('BAD_SEQ');
  const event = typeof value.event === 'string' ? value.event : typeof value.type === 'string' ? value.type : '';
  const payload = truncatedPayload ?? (isJsonObject(value.payload) ? value.payload : NO_PAYLOAD);
  const derived = terminalStateOf(event, payload);
  const terminal = value.terminal === undefined ? derived !== null : Boolean(value.terminal);
  if (!isOfRun(value, seq, run, terminal)) return malformed('FOREIGN');
  const written = typeof value.terminal_state === 'string' ? value.terminal_state : null;
  const createdAt = typeof value.created_at === 'number' && Number.isFinite(value.created_at) ? value.created_at : null;
  const record: JournalRecord = {
    seq,
    event,
    createdAt,
    terminal,
    terminalState: terminal ? (written ?? derived) : null,
    payload,
    truncated: truncatedPayload !== null,
    bytes: at.length,
    end: at.end,
  };
  return { record, malformed: null };
}

/** A line that ends the run must say whose it is; of others it is enough that they don't name another (`spec/webui-recovery.md` 3.5). */
function isOfRun(value: Readonly<Record<string, unknown>>, seq: number, run: RunName, terminal: boolean): boolean {
  const agrees = (field: unknown, expected: string) => field === expected || (field === undefined && !terminal);
  return agrees(value.run_id, run.runId) && agrees(value.session_id, run.sessionId) && agrees(value.event_id, `${run.runId}:${seq}`);
}

function malformed(reason: MalformedReason): ParsedLine {
  return { record: null, malformed: reason };
}

const LEADING_FIELD = /[{,]("(?:[^"\\]|\\.){1,64}"):("(?:[^"\\]|\\.){0,4096}"|true|false|null|-?\d[\d.eE+-]{0,40})(?=[,}])/y;

/** The fields of an object's text up to the first that isn't short and plain: an error's type and message stand there. */
export function leadingFields(text: string): Payload {
  const fields: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  const pattern = new RegExp(LEADING_FIELD);
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const key = parseJson(found[1] ?? '');
    if (typeof key === 'string') fields[key] = parseJson(found[2] ?? '');
  }
  return fields;
}
