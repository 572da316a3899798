/** The shape of one line of a run journal; the writer process needs it without the test framework. */
import { type RunJournalLine, runJournalText } from '../../src/demo/run-journal-writer.ts';

export interface RunPlace {
  readonly root: string;
  readonly sessionId: string;
  readonly runId: string;
}

export type JournalEntry = RunJournalLine;

const STARTED_AT = 1_782_000_000;

/** One line without its newline: compact, `payload` last, numbers that JSON doesn't know as the owner's encoder writes them. */
export function journalLine(run: Omit<RunPlace, 'root'>, entry: JournalEntry & { readonly seq: number }): string {
  return runJournalText(run, { ...entry, createdAt: entry.createdAt ?? STARTED_AT + entry.seq / 100 });
}
