/** Folds scripted entries of a journal, and picks events out. */
import type { EventKind, EventOf, JournalEvent } from '../../../src/live/journal/events.ts';
import { type Folded, foldRecords } from '../../../src/live/journal/fold.ts';
import { emptyTurn } from '../../../src/live/journal/live-turn.ts';
import { type JournalEntry, journalRecords } from '../../support/journal-lines.ts';

export const RUN = { sessionId: 's', runId: 'r' };

/** The entries, numbered from 1 unless they say otherwise, as a turn and its events. */
export function fold(...entries: readonly JournalEntry[]): Folded {
  return foldRecords(emptyTurn(RUN, 'g'), journalRecords(RUN, entries));
}

export function of<K extends EventKind>(events: readonly JournalEvent[], kind: K): EventOf<K>[] {
  return events.filter((event) => event.kind === kind) as readonly unknown[] as EventOf<K>[];
}

/** Kinds in their order, without the changes of the phase. */
export function kinds(events: readonly JournalEvent[]): EventKind[] {
  return events.map(({ kind }) => kind).filter((kind) => kind !== 'TurnPhaseChanged');
}

export function phases(events: readonly JournalEvent[]): string[] {
  return of(events, 'TurnPhaseChanged').map(({ phase, detail }) => (detail === null ? phase : `${phase} ${detail}`));
}

export const entry = (event: string, payload: Record<string, unknown> = {}, more: Partial<JournalEntry> = {}): JournalEntry => ({
  event,
  payload,
  ...more,
});
export const token = (text: string, more: Partial<JournalEntry> = {}) => entry('token', { text }, more);
export const reasoning = (text: string, more: Partial<JournalEntry> = {}) => entry('reasoning', { text }, more);
export const interim = (text: string, alreadyStreamed: boolean, more: Record<string, unknown> = {}) =>
  entry('interim_assistant', { text, already_streamed: alreadyStreamed, ...more });
export const tool = (name: string, tid?: string, more: Record<string, unknown> = {}) =>
  entry('tool', { event_type: 'tool.started', name, preview: '', args: { command: 'ls' }, ...(tid === undefined ? {} : { tid }), ...more });
export const toolComplete = (name: string, tid?: string, more: Record<string, unknown> = {}) =>
  entry('tool_complete', { name, preview: 'result', is_error: false, ...(tid === undefined ? {} : { tid }), ...more });
