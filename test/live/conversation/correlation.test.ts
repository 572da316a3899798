/** Which rows tell the same as which lines (`spec/live-turns.md` 12 `supersedes`, 13 M9). */
import { describe, expect, it } from 'vitest';
import type { JournalEvent } from '../../../src/live/journal/events.ts';
import type { JournalEntry } from '../../support/journal-lines.ts';
import { recordsOf, row, runTurn, toolFinished, toolStarted } from './rows-and-records.ts';

function running(...entries: JournalEntry[]) {
  const run = runTurn();
  const events: JournalEvent[] = recordsOf(...entries).flatMap((record) => [...run.fold(record, 'g')]);
  const one = <K extends JournalEvent['kind']>(kind: K, index = 0) =>
    events.filter((event) => event.kind === kind)[index] as Extract<JournalEvent, { kind: K }>;
  const cover = (...args: Parameters<typeof row>) =>
    run.correlation.cover(row(...args), run.turn).map(({ part, segment, toolCallId }) => `${part} ${segment ?? toolCallId}`);
  return { correlation: run.correlation, one, cover, run };
}

const token = (text: string) => ({ event: 'token', payload: { text } });
const thought = (text: string) => ({ event: 'reasoning', payload: { text } });
const tool = (tid?: string) => ({ event: 'tool', payload: { name: 'terminal', args: { a: 1 }, ...(tid === undefined ? {} : { tid }) } });
const complete = (tid?: string, more: object = {}) => ({
  event: 'tool_complete',
  payload: { name: 'terminal', preview: 'short', ...(tid === undefined ? {} : { tid }), ...more },
});

describe('a tool', () => {
  it('that the journal told first gets its row by an update of the same fact', () => {
    const { correlation, one } = running(tool('a'));
    const first = correlation.journalStarted(one('ToolStarted'));
    const second = correlation.rowStarted(toolStarted(5, 'a'));
    expect(first).toMatchObject({ update: false, fields: { messageId: null } });
    expect(second).toMatchObject({ id: first.id, update: true, fields: { messageId: '5', argsComplete: true } });
  });

  it('that a row told first gets its place in the text', () => {
    const { correlation, one } = running(token('x'), tool('a'));
    const first = correlation.rowStarted(toolStarted(5, 'a'));
    const second = correlation.journalStarted(one('ToolStarted'));
    expect(second).toMatchObject({ id: first.id, update: true, fields: { messageId: '5', segment: 0 } });
  });

  it('has the same id whichever told it first, as long as it has one of its own', () => {
    const byRow = running(tool('a'));
    const byJournal = running(tool('a'));
    expect(byRow.correlation.rowStarted(toolStarted(5, 'a')).id).toBe(
      byJournal.correlation.journalStarted(byJournal.one('ToolStarted')).id,
    );
  });

  it('finishes with all of the result by its row, and the time that it took by the journal', () => {
    const { correlation, one } = running(tool('a'), complete('a', { duration: 2 }));
    correlation.journalStarted(one('ToolStarted'));
    const first = correlation.journalFinished(one('ToolFinished'));
    const second = correlation.rowFinished(toolFinished(6, 'a'));
    expect(first.fields).toMatchObject({ resultPreview: 'short', durationMs: 2000, messageId: null });
    expect(second).toMatchObject({ id: first.id, update: true });
    expect(second.fields).toMatchObject({ resultPreview: 'all of it', durationMs: 2000, isError: false, messageId: '6' });
  });

  it('finishes by its row although the journal says less later', () => {
    const { correlation, one } = running(tool('a'), complete('a', { duration: 2 }));
    correlation.journalStarted(one('ToolStarted'));
    const first = correlation.rowFinished(toolFinished(6, 'a'));
    const second = correlation.journalFinished(one('ToolFinished'));
    expect(second).toMatchObject({ id: first.id, update: true, fields: { resultPreview: 'all of it', durationMs: 2000, messageId: '6' } });
  });

  it('without an id is the first open one of its name', () => {
    const { correlation, one } = running(tool(), tool());
    const told = [correlation.journalStarted(one('ToolStarted', 0)), correlation.journalStarted(one('ToolStarted', 1))];
    expect(correlation.rowStarted(toolStarted(5, 'a')).id).toBe(told[0]?.id);
    expect(correlation.rowStarted(toolStarted(5, 'b')).id).toBe(told[1]?.id);
    expect(correlation.rowStarted(toolStarted(5, 'c', 'other')).update).toBe(false);
  });

  it('whose id is used again is another one', () => {
    const { correlation } = running();
    const first = correlation.rowStarted(toolStarted(5, 'a'));
    const end = correlation.rowFinished(toolFinished(6, 'a'));
    const second = correlation.rowStarted(toolStarted(7, 'a'));
    const last = correlation.rowFinished(toolFinished(8, 'a'));
    expect(new Set([first.id, second.id]).size).toBe(2);
    expect(new Set([end.id, last.id]).size).toBe(2);
    expect([second.update, last.update]).toEqual([false, false]);
  });

  it('that nobody started finishes by its row alone', () => {
    const { correlation } = running();
    expect(correlation.rowFinished(toolFinished(6, 'x'))).toMatchObject({ update: false, fields: { toolCallId: 'x', messageId: '6' } });
  });
});

describe('a row takes the place of', () => {
  it.each([
    ['the text that it repeats', [token('Hello '), token('there.')], 'Hello there.', ['TEXT 0']],
    ['a text that differs in its blanks', [token('Hello\n\nthere. ')], 'Hello there.', ['TEXT 0']],
    ['the beginning of a text', [token('Hello there, and more')], 'Hello there', ['TEXT 0']],
    ['a text that was cut', [token('Hello')], 'Hello there', ['TEXT 0']],
    ['nothing, when its text is another', [token('Hello')], 'Bye', []],
    ['nothing, when it has none', [token('Hello')], '', []],
    ['what was thought before its text', [thought('Hm.'), token('Hello'), thought('More.')], 'Hello', ['REASONING 0', 'TEXT 0']],
  ] as const)('%s', (_, entries, text, expected) => {
    expect(running(...entries).cover(1, 'assistant', { text })).toEqual(expected);
  });

  it('each part once, in their order', () => {
    const { cover } = running(token('Same.'), tool('a'), complete('a'), thought('Hm.'), token('Same.'));
    expect(cover(1, 'assistant', { text: 'Same.', calls: [{ id: 'a', name: 'terminal' }] })).toEqual(['TEXT 0']);
    expect(cover(3, 'assistant', { text: 'Same.' })).toEqual(['REASONING 0', 'TEXT 1']);
    expect(cover(4, 'assistant', { text: 'Same.' })).toEqual([]);
  });

  it('what was thought before its first call, when it has no text', () => {
    const { cover } = running(thought('Hm.'), tool('a'), complete('a'), thought('Next.'), tool('b'));
    expect(cover(1, 'assistant', { calls: [{ id: 'a', name: 'terminal' }] })).toEqual(['REASONING 0']);
    expect(cover(3, 'assistant', { calls: [{ id: 'b', name: 'terminal' }] })).toEqual(['REASONING 1']);
  });

  it('the tool whose result it is', () => {
    const { cover, correlation, one } = running(tool('a'));
    correlation.journalStarted(one('ToolStarted'));
    expect(cover(2, 'tool', { toolCallId: 'a', toolName: 'terminal' })).toEqual(['TOOL a']);
    expect(cover(3, 'tool', { toolCallId: 'z', toolName: 'other' })).toEqual([]);
    expect(cover(4, 'user')).toEqual([]);
  });
});
