/** Rows and records of one run as they are read, for tests of what puts them together. */
import { RunTurn } from '../../../src/live/conversation/run-turn.ts';
import { type AppendedRow, type RowEvent, type RowEventOf, rowEvent } from '../../../src/live/rows/events.ts';
import { type JournalEntry, journalRecords } from '../../support/journal-lines.ts';

export const RUN = { sessionId: 's', runId: 'r' };

export function runTurn(startedAt = 100): RunTurn {
  return new RunTurn({ ...RUN, startedAt, pending: null });
}

export const recordsOf = (...entries: JournalEntry[]) => journalRecords(RUN, entries);

export function row(id: number, role: string, more: Partial<AppendedRow> = {}): AppendedRow {
  return {
    id: String(id),
    role,
    at: 100 + id,
    toolCallId: null,
    toolName: null,
    calls: [],
    finishReason: null,
    displayKind: null,
    observed: false,
    summary: false,
    modelOnly: false,
    delegationId: null,
    text: null,
    ...more,
  };
}

export function appended(...args: Parameters<typeof row>): RowEventOf<'MessagesAppended'> {
  const told = row(...args);
  return rowEvent('MessagesAppended', `m:${told.id}`, { sessionId: 's', at: told.at ?? 0 }, { ids: [told.id], rows: [told], carried: [] });
}

export function toolStarted(messageId: number, toolCallId: string, name = 'terminal'): RowEventOf<'ToolStarted'> {
  const fields = { toolCallId, name, argsPreview: {}, argsComplete: true, messageId: String(messageId) };
  return rowEvent('ToolStarted', `d:ToolStarted:s:${messageId}.${toolCallId}`, { sessionId: 's', at: 100 + messageId }, fields);
}

export function toolFinished(messageId: number, toolCallId: string, name = 'terminal'): RowEventOf<'ToolFinished'> {
  const fields = { toolCallId, name, resultPreview: 'all of it', isError: false, durationMs: null, messageId: String(messageId) };
  return rowEvent('ToolFinished', `d:ToolFinished:s:${messageId}`, { sessionId: 's', at: 100 + messageId }, fields);
}

export const nameOf = (event: RowEvent) => (event.kind === 'MessagesAppended' ? `m${event.ids[0]}` : event.kind);
