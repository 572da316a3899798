/** What this server reads of journals in upstream's shape, and upstream's answers as they would be by our rules. */
import { readFileSync } from 'node:fs';
import type { JournalRecord, RunName } from '../../src/live/journal/line.ts';
import type { RunSummary } from '../../src/live/journal/run-summary.ts';
import { isJsonObject } from '../../src/state-db/decode.ts';
import { goldenDifference } from './golden.ts';

export function toUpstream({ sessionId, runId }: RunName, record: JournalRecord) {
  return {
    version: 1,
    event_id: `${runId}:${record.seq}`,
    seq: record.seq,
    run_id: runId,
    session_id: sessionId,
    event: record.event,
    type: record.event,
    created_at: record.createdAt,
    terminal: record.terminal,
    terminal_state: record.terminalState,
    payload: record.payload,
  };
}

export function rawLine(path: string, line: number): string | undefined {
  return readFileSync(path, 'utf8').split('\n')[line - 1];
}

export interface UpstreamRead {
  readonly events: readonly Record<string, unknown>[];
  readonly malformed: readonly { readonly line: number; readonly raw: string }[];
}

/** Moves the lines that upstream takes for records and we don't to the malformed ones. */
export function withMalformed(path: string, isMalformed: (event: Record<string, unknown>) => boolean) {
  return (value: unknown) => {
    const read = value as UpstreamRead;
    const dropped = read.events.filter(isMalformed);
    const lines = readFileSync(path, 'utf8').split('\n');
    const added = dropped.map((event) => {
      const index = lines.findIndex((line) => line.startsWith('{') && goldenDifference(parsed(line), event) === null);
      return { line: index + 1, raw: lines[index] ?? '' };
    });
    const malformed = [...read.malformed, ...added].sort((a, b) => a.line - b.line);
    return { ...read, events: read.events.filter((event) => !isMalformed(event)), malformed };
  };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** The file's last line, when no newline ends it. */
export function withoutOpenEnd(path: string) {
  return (value: unknown) => {
    const read = value as UpstreamRead;
    const lines = readFileSync(path, 'utf8').split('\n').length;
    return { ...read, malformed: read.malformed.filter(({ line }) => line !== lines) };
  };
}

export function summaryToUpstream(summary: RunSummary | null) {
  if (summary === null) return null;
  const { sessionId, runId, lastSeq } = summary;
  return {
    session_id: sessionId,
    run_id: runId,
    stream_id: runId,
    event_count: summary.eventCount,
    last_seq: lastSeq,
    last_event_id: lastSeq === 0 ? null : `${runId}:${lastSeq}`,
    terminal: summary.terminal,
    terminal_state: summary.terminalState,
    last_event: summary.lastEvent,
  };
}

/** Arguments of a call, with the encoded numbers of the fixtures. */
export function decoded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decoded);
  if (!isJsonObject(value)) return value;
  if (value.$float === 'inf') return Number.POSITIVE_INFINITY;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, decoded(item)]));
}
