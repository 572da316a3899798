/** The shape of one line of a run journal; the writer process needs it without the test framework. */
import { terminalStateOf } from '../../src/live/journal/terminal.ts';

export interface RunPlace {
  readonly root: string;
  readonly sessionId: string;
  readonly runId: string;
}

export interface JournalEntry {
  readonly event: string;
  readonly payload?: Readonly<Record<string, unknown>>;
  readonly seq?: number;
  /** Epoch seconds. */
  readonly createdAt?: number;
}

const STARTED_AT = 1_782_000_000;

/** One line without its newline: compact, `payload` last, numbers that JSON doesn't know as the owner's encoder writes them. */
export function journalLine(run: Omit<RunPlace, 'root'>, entry: JournalEntry & { readonly seq: number }): string {
  const { event, payload = {}, seq, createdAt = STARTED_AT + seq / 100 } = entry;
  const terminalState = terminalStateOf(event, payload);
  return ownerJson({
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

function ownerJson(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
  if (Array.isArray(value)) return `[${value.map(ownerJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  return `{${Object.entries(value)
    .map(([key, item]) => `${JSON.stringify(key)}:${ownerJson(item)}`)
    .join(',')}}`;
}
