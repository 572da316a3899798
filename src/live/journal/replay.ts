/**
 * Replay after a cursor for a client that takes all or nothing (`spec/webui-recovery.md` 3.9): the rest of a run and the later runs of its
 * session, or the reason why only a snapshot will do. Who can live with holes and pages has `liveEvents`.
 */
import { isRunId, journalDirectory, runIdOfFile, runJournalPath } from './ids.ts';
import { type JournalRecord, type MalformedReason, type ParsedLine, parseLine, recordMarker } from './line.ts';
import { namesIn, sessionsOfRun } from './run-summary.ts';
import { scanJournal } from './scan.ts';

/** Of all runs of a session together. */
export const REPLAY_LIMITS = { bytes: 4 * 1024 * 1024, rows: 4096 } as const;

export type ReplayStatus =
  | 'OK'
  | 'CURSOR_INVALID'
  | 'REPLAY_LIMIT_BYTES'
  | 'REPLAY_LIMIT_ROWS'
  | 'REPLAY_MALFORMED'
  | 'REPLAY_NONCONTIGUOUS'
  | 'CURSOR_SESSION_MISMATCH'
  | 'CURSOR_RUN_MISSING'
  | 'CURSOR_EVENT_MISSING';

export interface RunEvent {
  readonly runId: string;
  readonly record: JournalRecord;
}

export interface Replay {
  readonly status: ReplayStatus;
  /** Empty unless the status is OK. */
  readonly events: readonly RunEvent[];
}

/** A run with its lines as they stand in the file, blank ones left out. */
export interface ReadRun {
  readonly runId: string;
  readonly lines: readonly ParsedLine[];
}

/** What was read of a session; where a limit was passed only as far as that. */
export interface ReplaySource {
  readonly runs: readonly ReadRun[];
  readonly bytes: number;
  readonly rows: number;
  /** A session of another name has a run of the cursor's. */
  readonly elsewhere: boolean;
}

export interface RunCursor {
  readonly runId: string;
  readonly seq: number;
}

const CURSOR = /^([^:]+):(\d{1,15})$/;

/** The event that `<run>:<number>` names; null when it names none. */
export function parseRunCursor(cursor: string): RunCursor | null {
  const [, runId, digits] = CURSOR.exec(cursor.trim()) ?? [];
  const seq = Number(digits);
  return runId !== undefined && isRunId(runId) && seq > 0 ? { runId, seq } : null;
}

/** The lines of one kind each, by what is wrong with them: a record of another run, or without a number, breaks the order. */
const BREAKS_ORDER: ReadonlySet<MalformedReason> = new Set(['FOREIGN', 'BAD_SEQ']);

/** Pure: what a client that has come to `cursor` is given of the session; the checks in the order of 3.9. */
export function replayStatus(cursor: string, source: ReplaySource): Replay {
  if (cursor.trim() === '') return { status: 'OK', events: [] };
  const after = parseRunCursor(cursor);
  if (after === null) return refused('CURSOR_INVALID');
  if (source.bytes > REPLAY_LIMITS.bytes) return refused('REPLAY_LIMIT_BYTES');
  if (source.rows > REPLAY_LIMITS.rows) return refused('REPLAY_LIMIT_ROWS');
  const lines = source.runs.flatMap((run) => run.lines);
  if (lines.some(({ malformed }) => malformed !== null && !BREAKS_ORDER.has(malformed))) return refused('REPLAY_MALFORMED');
  if (!source.runs.every(isContiguous)) return refused('REPLAY_NONCONTIGUOUS');
  const ordered = source.runs.map(toOrdered).sort(byFirstTime);
  const first = ordered.findIndex(({ runId }) => runId === after.runId);
  if (first === -1) return refused(source.elsewhere ? 'CURSOR_SESSION_MISMATCH' : 'CURSOR_RUN_MISSING');
  if (after.seq > (ordered[first]?.records.length ?? 0)) return refused('CURSOR_EVENT_MISSING');
  const events = ordered
    .slice(first)
    .flatMap(({ runId, records }) => (runId === after.runId ? records.slice(after.seq) : records).map((record) => ({ runId, record })));
  return { status: 'OK', events };
}

function refused(status: ReplayStatus): Replay {
  return { status, events: [] };
}

function isContiguous({ lines }: ReadRun): boolean {
  return lines.every(({ record }, index) => record?.seq === index + 1);
}

interface OrderedRun {
  readonly runId: string;
  readonly records: readonly JournalRecord[];
  readonly firstTime: number;
}

function toOrdered({ runId, lines }: ReadRun): OrderedRun {
  const records = lines.flatMap(({ record }) => record ?? []);
  const firstTime = records.reduce((least, { createdAt }) => Math.min(least, createdAt ?? least), Number.MAX_VALUE);
  return { runId, records, firstTime };
}

function byFirstTime(a: OrderedRun, b: OrderedRun): number {
  return a.firstTime !== b.firstTime ? a.firstTime - b.firstTime : a.runId < b.runId ? -1 : 1;
}

/** `replayStatus` over the files of a session, of which no more is read than the limits allow. Throws `JournalUnreadable`. */
export async function replaySession(root: string, sessionId: string, cursor: string): Promise<Replay> {
  const after = parseRunCursor(cursor);
  const nothing: ReplaySource = { runs: [], bytes: 0, rows: 0, elsewhere: false };
  if (after === null) return replayStatus(cursor, nothing);
  const read = await readRuns(root, sessionId);
  const found = replayStatus(cursor, read);
  if (found.status !== 'CURSOR_RUN_MISSING') return found;
  const sessions = await sessionsOfRun(root, after.runId);
  return replayStatus(cursor, { ...read, elsewhere: sessions.some((id) => id !== sessionId) });
}

async function readRuns(root: string, sessionId: string): Promise<ReplaySource> {
  const runs: ReadRun[] = [];
  let bytes = 0;
  let rows = 0;
  const source = () => ({ runs, bytes, rows, elsewhere: false });
  const directory = journalDirectory(root, sessionId);
  const ids = directory === null ? [] : (await namesIn(directory)).flatMap((name) => runIdOfFile(name) ?? []);
  // A run without lines counts as one, so that the number of files is bounded too.
  if (ids.length > REPLAY_LIMITS.rows) return { ...source(), rows: ids.length };
  for (const runId of ids) {
    const path = runJournalPath(root, sessionId, runId);
    if (path === null) continue;
    const run = { sessionId, runId };
    const lines: ParsedLine[] = [];
    runs.push({ runId, lines });
    let size: number | null = null;
    for await (const chunk of scanJournal(path, recordMarker(run))) {
      size ??= chunk.file.size;
      if (bytes + size > REPLAY_LIMITS.bytes) return { ...source(), bytes: bytes + size };
      for (const line of chunk.lines) {
        const parsed = parseLine(line, run);
        if (parsed.record !== null || parsed.malformed !== null) lines.push(parsed);
      }
      if (rows + lines.length > REPLAY_LIMITS.rows) return { ...source(), rows: rows + lines.length };
    }
    bytes += size ?? 0;
    rows += lines.length;
  }
  return source();
}
