/** The owner keeps run journals for ever (`spec/live-turns.md` 3.1); a demo that plays for days must not. */
import { closeSync, existsSync, openSync, readdirSync, readSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { RunName } from './run-journal-writer.ts';
import type { WebUiFiles } from './web-ui-files.ts';

/** A journal without an end that grew no more for so long is that of a process that was killed. */
const ABANDONED_MS = 3_600_000;
/** Holds the last line: those that end a run are short, but for `done`, which isn't the last. */
const TAIL_BYTES = 4096;

interface OldRun extends RunName {
  readonly changedMs: number;
}

/** Removes the journals of all finished runs but the newest `kept`, and the turn journals of sessions that have no run any more. */
export function removeOldRuns(files: WebUiFiles, kept: number, nowMs: number = Date.now()): void {
  const old = runsOf(files)
    .sort((a, b) => b.changedMs - a.changedMs)
    .slice(kept)
    .filter((run) => nowMs - run.changedMs > ABANDONED_MS || hasEnded(files.runs.pathOf(run)));
  for (const run of old) files.runs.remove(run);
  for (const sessionId of new Set(old.map((run) => run.sessionId))) {
    const directory = join(files.runs.root, sessionId);
    if (readdirSync(directory).length > 0) continue;
    rmdirSync(directory);
    files.turns.removeSession(sessionId);
  }
}

function runsOf(files: WebUiFiles): OldRun[] {
  const { root } = files.runs;
  if (!existsSync(root)) return [];
  return readdirSync(root).flatMap((sessionId) =>
    readdirSync(join(root, sessionId)).map((name) => {
      const run = { sessionId, runId: name.replace(/\.jsonl$/, '') };
      return { ...run, changedMs: statSync(files.runs.pathOf(run)).mtimeMs };
    }),
  );
}

function hasEnded(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const { size } = statSync(path);
    const tail = Buffer.alloc(Math.min(TAIL_BYTES, size));
    readSync(file, tail, 0, tail.length, size - tail.length);
    return tail.toString('utf8').includes('"terminal":true,');
  } finally {
    closeSync(file);
  }
}
