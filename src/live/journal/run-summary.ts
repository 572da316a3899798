/**
 * Runs of a session as they lie on disk (`spec/live-turns.md` 3.1, 3.5, 3.7): which there are, how each went, and its records in pages.
 * Reads in chunks; what can't be read as a record is counted, never thrown.
 */
import { readdir } from 'node:fs/promises';
import { type CacheStats, RecentlyUsed } from '../../recently-used.ts';
import { generationOf } from './generation.ts';
import { journalDirectory, runIdOfFile, runJournalPath } from './ids.ts';
import { type JournalRecord, parseLine, type RunName, recordMarker } from './line.ts';
import { JournalUnreadable, type OpenJournal, openJournal, systemCode } from './open-journal.ts';
import { scanJournal } from './scan.ts';
import { type SeqRange, SeqRanges } from './seq-ranges.ts';
import { overrules } from './terminal.ts';

export interface RunSummary extends RunName {
  /** Of the file; null while it has no whole line. */
  readonly generation: string | null;
  /** The highest number, 0 for a run without records. */
  readonly lastSeq: number;
  /** The event of that record. */
  readonly lastEvent: string | null;
  /** Different records. */
  readonly eventCount: number;
  readonly terminal: boolean;
  /** As written on the line that counts; `running` without one, `unknown` without any record. */
  readonly terminalState: string;
  /** Lines, or parts of lines, that are no record of this run. */
  readonly malformedLines: number;
  /** Records whose number had come before. */
  readonly duplicates: number;
  /** The file ends inside a line: one that is being written, or torn. */
  readonly openEnd: boolean;
  /** Epoch seconds. */
  readonly firstCreatedAt: number | null;
  readonly lastCreatedAt: number | null;
  /** Numbers below `lastSeq` that are missing. */
  readonly holes: readonly SeqRange[];
  readonly sizeBytes: number;
}

export interface ListedRun {
  readonly runId: string;
  /** Epoch seconds of the first record that tells a time, null when the beginning of the file has none. */
  readonly firstCreatedAt: number | null;
  readonly sizeBytes: number;
}

/** How the run went; null when there is no such run. Throws `JournalUnreadable`. */
export async function summarizeRun(root: string, sessionId: string, runId: string): Promise<RunSummary | null> {
  const path = runJournalPath(root, sessionId, runId);
  const file = path === null ? null : await openJournal(path);
  if (path === null || file === null) return null;
  await file.handle.close();
  const run = { sessionId, runId };
  const counts = new RunCounts();
  for await (const { file: opened, lines, carried } of scanJournal(path, recordMarker(run))) {
    counts.openEnd = carried > 0;
    for (const line of lines) {
      counts.generation ??= generationOf(opened.ino, line.bytes);
      const { record, malformed } = parseLine(line, run);
      if (malformed !== null) counts.malformedLines++;
      if (record !== null) counts.add(record);
    }
  }
  return counts.summary(run, file.size);
}

class RunCounts {
  generation: string | null = null;
  malformedLines = 0;
  openEnd = false;
  readonly #seen = new SeqRanges();
  #eventCount = 0;
  #duplicates = 0;
  #last: JournalRecord | null = null;
  #terminal: JournalRecord | null = null;
  #firstCreatedAt: number | null = null;
  #lastCreatedAt: number | null = null;

  add(record: JournalRecord): void {
    if (!this.#seen.add(record.seq)) {
      this.#duplicates++;
      return;
    }
    this.#eventCount++;
    if (this.#last === null || record.seq > this.#last.seq) this.#last = record;
    if (overrules(record, this.#terminal)) this.#terminal = record;
    if (record.createdAt === null) return;
    this.#firstCreatedAt = Math.min(this.#firstCreatedAt ?? record.createdAt, record.createdAt);
    this.#lastCreatedAt = Math.max(this.#lastCreatedAt ?? record.createdAt, record.createdAt);
  }

  summary(run: RunName, sizeBytes: number): RunSummary {
    const { generation, malformedLines, openEnd } = this;
    return {
      ...run,
      generation,
      lastSeq: this.#last?.seq ?? 0,
      lastEvent: this.#last?.event ?? null,
      eventCount: this.#eventCount,
      terminal: this.#terminal !== null,
      terminalState: this.#terminal?.terminalState ?? (this.#last === null ? 'unknown' : 'running'),
      malformedLines,
      duplicates: this.#duplicates,
      openEnd,
      firstCreatedAt: this.#firstCreatedAt,
      lastCreatedAt: this.#lastCreatedAt,
      holes: this.#seen.gaps(),
      sizeBytes,
    };
  }
}

/** The newest that were asked for are kept. */
const MOST_SUMMARIES = 128;

/** Summaries that are read again only when the file has changed (`spec/webui-recovery.md` 3.8). */
export class RunSummaries {
  readonly #root: string;
  readonly #kept = new RecentlyUsed<{ readonly signature: string; readonly summary: RunSummary }>({ most: MOST_SUMMARIES });

  constructor(root: string) {
    this.#root = root;
  }

  async get(sessionId: string, runId: string): Promise<RunSummary | null> {
    const path = runJournalPath(this.#root, sessionId, runId);
    if (path === null) return null;
    const before = await signatureOf(path);
    if (before === null) {
      this.#kept.drop(path);
      return null;
    }
    const kept = this.#kept.take(path, ({ signature }) => signature === before);
    if (kept !== null) return kept.summary;
    const summary = await summarizeRun(this.#root, sessionId, runId);
    if (summary !== null && (await signatureOf(path)) === before) this.#kept.keep(path, { signature: before, summary });
    return summary;
  }

  get cache(): CacheStats {
    return this.#kept.stats;
  }
}

async function signatureOf(path: string): Promise<string | null> {
  const file = await openJournal(path);
  if (file === null) return null;
  await file.handle.close();
  return [file.dev, file.ino, file.size, file.mtimeNs, file.ctimeNs].join(':');
}

/** Files that are open at a time while a session's runs are listed. */
const OPEN_AT_A_TIME = 8;

/** The runs of a session, by their first time and then by id; only the beginning of each file is read. Throws `JournalUnreadable`. */
export async function listRuns(root: string, sessionId: string): Promise<ListedRun[]> {
  const directory = journalDirectory(root, sessionId);
  if (directory === null) return [];
  const ids = (await namesIn(directory)).flatMap((name) => runIdOfFile(name) ?? []);
  const runs: ListedRun[] = [];
  for (let at = 0; at < ids.length; at += OPEN_AT_A_TIME) {
    const some = await Promise.all(ids.slice(at, at + OPEN_AT_A_TIME).map((runId) => listRun(root, { sessionId, runId })));
    runs.push(...some.filter((run) => run !== null));
  }
  return runs.sort(byFirstTime);
}

/** The sessions in which a run of this id lies; more than one only when files were copied by hand. */
export async function sessionsOfRun(root: string, runId: string): Promise<string[]> {
  const found: string[] = [];
  for (const sessionId of (await namesIn(root)).sort()) {
    const path = runJournalPath(root, sessionId, runId);
    const file = path === null ? null : await openJournal(path);
    if (file === null) continue;
    await file.handle.close();
    found.push(sessionId);
  }
  return found;
}

function byFirstTime(a: ListedRun, b: ListedRun): number {
  const difference = (a.firstCreatedAt ?? Number.MAX_VALUE) - (b.firstCreatedAt ?? Number.MAX_VALUE);
  return difference !== 0 ? difference : a.runId < b.runId ? -1 : 1;
}

/** One run; only the beginning of its file is read. Null when there is none. Throws `JournalUnreadable`. */
export async function listRun(root: string, run: RunName): Promise<ListedRun | null> {
  const path = runJournalPath(root, run.sessionId, run.runId);
  if (path === null) return null;
  let file: OpenJournal | null = null;
  for await (const chunk of scanJournal(path, recordMarker(run))) {
    file = chunk.file;
    for (const line of chunk.lines) {
      const at = parseLine(line, run).record?.createdAt ?? null;
      if (at !== null) return { runId: run.runId, firstCreatedAt: at, sizeBytes: file.size };
    }
    // One chunk: what has no time in its beginning comes last.
    break;
  }
  if (file !== null) return { runId: run.runId, firstCreatedAt: null, sizeBytes: file.size };
  // Nothing to read: an empty file is a run, a name that is no file isn't.
  const empty = await openJournal(path);
  await empty?.handle.close();
  return empty === null ? null : { runId: run.runId, firstCreatedAt: null, sizeBytes: empty.size };
}

/** The names in a directory; none when there is no such. Throws `JournalUnreadable`. */
export async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw new JournalUnreadable(error);
  }
}
