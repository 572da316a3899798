/** The order of records and rows that were read together (`spec/live-turns.md` 13). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { interleave, type RunEntry, waitsForRows } from '../../../src/live/conversation/interleave.ts';
import type { RowEvent } from '../../../src/live/rows/events.ts';
import type { JournalEntry } from '../../support/journal-lines.ts';
import { appended, nameOf, recordsOf, runTurn, toolFinished, toolStarted } from './rows-and-records.ts';

const run = runTurn(100);
const records = (...entries: JournalEntry[]): RunEntry[] =>
  recordsOf(...entries).map((record) => ({ kind: 'RECORD', run, record, generation: 'g' }));
const begin = (startedAt = 100): RunEntry => ({ kind: 'BEGIN', run: runTurn(startedAt) });
const order = (entries: readonly RunEntry[], rows: readonly RowEvent[]) =>
  interleave(entries, rows).map((step) => {
    if (step.kind === 'ROW') return nameOf(step.event);
    return step.kind === 'RECORD' ? step.record.event : step.kind;
  });

const token = { event: 'token', payload: { text: 'x' } };
const tool = (tid?: string) => ({ event: 'tool', payload: { name: 'terminal', ...(tid === undefined ? {} : { tid }) } });
const complete = (tid?: string) => ({ event: 'tool_complete', payload: { name: 'terminal', ...(tid === undefined ? {} : { tid }) } });
const calling = (id: number, ...calls: string[]) =>
  appended(id, 'assistant', { calls: calls.map((call) => ({ id: call, name: 'terminal' })) });
const result = (id: number, toolCallId: string) => appended(id, 'tool', { toolCallId, toolName: 'terminal' });

describe('rows and records', () => {
  it.each([
    ['rows behind records that nothing ties together', records(token, token), [appended(1, 'user')], ['token', 'token', 'm1']],
    ['the row with the call before its tool (M3)', records(token, tool('a')), [calling(1, 'a')], ['token', 'm1', 'tool']],
    [
      'tools that a row tells of with the row',
      records(token, tool('a'), token),
      [calling(1, 'a'), toolStarted(1, 'a'), result(2, 'b'), toolFinished(2, 'b')],
      ['token', 'm1', 'ToolStarted', 'tool', 'token', 'm2', 'ToolFinished'],
    ],
    [
      'each result before its completion',
      records(complete('a'), token, complete('b')),
      [result(1, 'a'), result(2, 'b')],
      ['m1', 'tool_complete', 'token', 'm2', 'tool_complete'],
    ],
    ['a call without an id by its name', records(token, tool()), [calling(1, 'a')], ['token', 'm1', 'tool']],
    [
      'a remark before it is sealed',
      records(token, { event: 'interim_assistant', payload: { text: 'Let me look.' } }, token),
      [appended(1, 'assistant', { text: ' Let me look.\n' }), appended(2, 'assistant', { text: 'else' })],
      ['token', 'm1', 'interim_assistant', 'token', 'm2'],
    ],
    [
      'all rows before the end (M5)',
      records(token, { event: 'done' }),
      [appended(1, 'user'), appended(2, 'assistant')],
      ['token', 'm1', 'm2', 'done'],
    ],
    ['no rows for the end of the stream', records({ event: 'stream_end' }), [appended(1, 'user')], ['stream_end', 'm1']],
    [
      'the beginning of a turn before its rows (M4)',
      [begin(102), ...records(token)],
      [appended(1, 'assistant'), appended(3, 'user')],
      ['m1', 'BEGIN', 'token', 'm3'],
    ],
    [
      'the rows of the next turn behind the end of the one before',
      [...records({ event: 'done' }), begin(104), ...records(token)],
      [appended(3, 'assistant'), appended(5, 'user')],
      ['m3', 'done', 'BEGIN', 'token', 'm5'],
    ],
  ] as const)('come: %s', (_, entries, rows, expected) => {
    expect(order(entries, rows)).toEqual(expected);
  });

  it('keep their own order, and all come', () => {
    const kinds = [
      token,
      tool('a'),
      tool('b'),
      complete('a'),
      complete('b'),
      { event: 'done' },
      { event: 'stream_end' },
      { event: 'metering' },
    ];
    const rows = [
      calling(0, 'a'),
      calling(0, 'b'),
      result(0, 'a'),
      result(0, 'b'),
      appended(0, 'user'),
      appended(0, 'assistant', { text: 'x' }),
    ];
    fc.assert(
      fc.property(
        fc.array(fc.nat(kinds.length - 1), { maxLength: 12 }),
        fc.array(fc.nat(rows.length - 1), { maxLength: 12 }),
        (told, stored) => {
          const entries = records(...told.map((index) => kinds[index] ?? token));
          const events = stored.map((index, at): RowEvent => ({ ...(rows[index] ?? appended(0, 'user')), id: `${at}` }));
          const steps = interleave(entries, events);
          expect(steps.filter((step) => step.kind !== 'ROW')).toEqual(entries);
          expect(steps.flatMap((step) => (step.kind === 'ROW' ? [step.event] : []))).toEqual(events);
        },
      ),
    );
  });
});

describe('a record', () => {
  it.each([
    ['tool', true],
    ['tool_complete', true],
    ['interim_assistant', true],
    ['done', true],
    ['cancel', true],
    ['apperror', true],
    ['stream_end', true],
    ['token', false],
    ['reasoning', false],
    ['metering', false],
  ] as const)('%s waits for rows: %s', (event, waits) => {
    const [record] = recordsOf({ event, payload: {} });
    expect(record !== undefined && waitsForRows(record)).toBe(waits);
  });
});
