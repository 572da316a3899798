/** Run journals as the Web UI writes them (`spec/live-turns.md` 3.1 to 3.3): one file for a run, one `write` for a line. */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { terminalStateOf } from '../live/journal/terminal.ts';
import { compactJson } from './owner-json.ts';

export interface RunName {
  readonly sessionId: string;
  readonly runId: string;
}

export interface RunJournalLine {
  readonly event: string;
  readonly payload?: Readonly<Record<string, unknown>>;
  /** Without it the next number of the run. */
  readonly seq?: number;
  /** Epoch seconds, without it now. */
  readonly createdAt?: number;
}

/** The text of a line without its newline: `payload` is last, so that the header can be read alone (3.2). */
export function runJournalText(run: RunName, line: RunJournalLine & { readonly seq: number; readonly createdAt: number }): string {
  const { event, payload = {}, seq, createdAt } = line;
  const terminalState = terminalStateOf(event, payload);
  return compactJson({
    version: 1,
    event_id: `${run.runId}:${seq}`,
    seq,
    run_id: run.runId,
    session_id: run.sessionId,
    event,
    type: event,
    created_at: createdAt,
    terminal: terminalState !== null,
    terminal_state: terminalState,
    payload,
  });
}

export class RunJournalWriter {
  /** The directory `_run_journal`. */
  readonly root: string;
  private readonly lastSeqs = new Map<string, number>();

  constructor(root: string) {
    this.root = root;
  }

  /** Writes one line and gives its number. Throws the error of the file system. */
  append(run: RunName, line: RunJournalLine): number {
    const seq = line.seq ?? this.lastSeq(run) + 1;
    this.lastSeqs.set(keyOf(run), Math.max(seq, this.lastSeq(run)));
    const text = runJournalText(run, { ...line, seq, createdAt: line.createdAt ?? Date.now() / 1000 });
    this.write(run, `${text}\n`, terminalStateOf(line.event, line.payload ?? null) !== null);
    return seq;
  }

  /** Bytes as they are, in one `write`; `sync` waits until the disk has them, as the owner does for terminal lines. */
  write(run: RunName, bytes: string | Uint8Array, sync = false): void {
    const path = this.pathOf(run);
    const isNew = !existsSync(path);
    if (isNew) mkdirSync(dirname(path), { recursive: true });
    const file = openSync(path, 'a', 0o600);
    try {
      writeSync(file, typeof bytes === 'string' ? Buffer.from(bytes) : bytes);
      if (sync) fsyncSync(file);
    } finally {
      closeSync(file);
    }
    if (isNew) syncDirectory(dirname(path));
  }

  /** The number of the newest line: what is in the file counts once, then the count in memory (`spec/webui-recovery.md` 3.7). */
  lastSeq(run: RunName): number {
    const known = this.lastSeqs.get(keyOf(run)) ?? largestSeq(this.pathOf(run));
    this.lastSeqs.set(keyOf(run), known);
    return known;
  }

  /** Takes numbers that no line will have, as an append that failed does (`spec/live-turns.md` 3.4). */
  skip(run: RunName, count: number): void {
    this.lastSeqs.set(keyOf(run), this.lastSeq(run) + count);
  }

  remove(run: RunName): void {
    rmSync(this.pathOf(run), { force: true });
    this.lastSeqs.delete(keyOf(run));
  }

  /** Removes the journals of a session and forgets their numbers: a run that is still going begins again at 1 (3.4). */
  removeSession(sessionId: string): void {
    rmSync(join(this.root, sessionId), { recursive: true, force: true });
    for (const key of [...this.lastSeqs.keys()]) if (key.startsWith(`${sessionId}/`)) this.lastSeqs.delete(key);
  }

  pathOf({ sessionId, runId }: RunName): string {
    return join(this.root, sessionId, `${runId}.jsonl`);
  }
}

/** Makes the names in a directory last. */
export function syncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

function keyOf({ sessionId, runId }: RunName): string {
  return `${sessionId}/${runId}`;
}

function largestSeq(path: string): number {
  if (!existsSync(path)) return 0;
  const seqs = readFileSync(path, 'utf8').matchAll(/^\{"version":1,"event_id":"[^"]*","seq":(\d+)/gm);
  return Math.max(0, ...[...seqs].map(([, seq]) => Number(seq)));
}
