/** The process behind `journal-writer.ts`: carries out one command after another, as the owner of the journals would. */
import { appendFileSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JournalEntry, journalLine } from './journal-shape.ts';
import type { JournalAnswer, JournalCommand, JournalRequest } from './journal-writer.ts';

const [root = '', sessionId = '', runId = ''] = process.argv.slice(2);
const run = { sessionId, runId };
const path = join(root, sessionId, `${runId}.jsonl`);
let lastSeq = 0;
let rest: Buffer = Buffer.alloc(0);

/** The owner opens the file for each line and writes it at once; the first line makes the file and its directory. */
function write(text: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, text, { mode: 0o600 });
}

function lineOf(entry: JournalEntry, stamp = false): string {
  const seq = entry.seq ?? lastSeq + 1;
  lastSeq = Math.max(lastSeq, seq);
  const payload = stamp ? { ...entry.payload, at: performance.timeOrigin + performance.now() } : (entry.payload ?? {});
  return `${journalLine(run, { createdAt: Date.now() / 1000, ...entry, payload, seq })}\n`;
}

async function carryOut(command: JournalCommand): Promise<void> {
  switch (command.kind) {
    case 'append': {
      let due = performance.now();
      for (const entry of command.entries) {
        due += entry.afterMs ?? 0;
        const wait = due - performance.now();
        if (wait > 0) await sleep(wait);
        write(lineOf(entry, command.stamp));
      }
      return;
    }
    case 'torn': {
      const line = Buffer.from(lineOf(command.entry));
      write(line.subarray(0, command.cut));
      rest = line.subarray(command.cut);
      if (command.delayMs === undefined) return;
      await sleep(command.delayMs);
      write(rest);
      return;
    }
    case 'rest':
      write(rest);
      return;
    case 'raw':
      write(command.text);
      return;
    case 'hole':
      lastSeq += command.count;
      return;
    case 'removeSession':
      rmSync(dirname(path), { recursive: true });
      lastSeq = 0;
      return;
    case 'truncate':
      truncateSync(path, command.size);
      return;
    case 'replace':
      writeFileSync(path, readFileSync(path, 'utf8').replace(command.before, command.after), { flag: 'r+' });
  }
}

let queue = Promise.resolve();
process.on('message', ({ id, command }: JournalRequest) => {
  queue = queue
    .then(() => carryOut(command))
    .then(
      () => answer({ id, lastSeq }),
      (error: unknown) => answer({ id, lastSeq, error: String(error) }),
    );
});

function answer(message: JournalAnswer): void {
  if (process.connected) process.send?.(message);
}
answer({ id: 0, lastSeq: 0 });
