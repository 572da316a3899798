/** Tool calls of a turn from its journal. */
import { describe, expect, it } from 'vitest';
import { boundArgs, boundJson, cutText } from '../../../src/live/journal/bounded-json.ts';
import { entry, fold, kinds, of, phases, token, tool, toolComplete } from './folded.ts';

describe('tools', () => {
  it('a call and its result pair by id, whatever their order', () => {
    const { state, events } = fold(tool('a', '1'), tool('a', '2'), toolComplete('a', '1', { preview: 'first' }), toolComplete('a', '2'));
    expect(state.tools.map(({ toolCallId, done, resultPreview }) => [toolCallId, done, resultPreview])).toEqual([
      ['1', true, 'first'],
      ['2', true, 'result'],
    ]);
    expect(of(events, 'ToolFinished').map(({ toolCallId }) => toolCallId)).toEqual(['1', '2']);
    expect(phases(events)).toEqual(['TOOL a', 'THINKING']);
  });

  it.each(['tid', 'id', 'tool_call_id', 'tool_use_id', 'call_id'])('the id may be called %s', (key) => {
    expect(fold(entry('tool', { name: 'a', [key]: 'x' })).state.tools[0]?.toolCallId).toBe('x');
  });

  it('12: a result before any call starts one and ends it, with the same call id', () => {
    const { state, events } = fold(toolComplete('a', 'x'));
    expect(kinds(events)).toEqual(['ToolStarted', 'ToolFinished']);
    expect(of(events, 'ToolStarted')).toMatchObject([{ toolCallId: 'x', id: 'j:r:g:1:start' }]);
    expect(of(events, 'ToolFinished')).toMatchObject([{ toolCallId: 'x', id: 'j:r:g:1' }]);
    expect(state.tools).toMatchObject([{ toolCallId: 'x', done: true }]);
  });

  it('14: without ids a result closes the latest open call of its name', () => {
    const { state } = fold(tool('a'), tool('a'), tool('b'), toolComplete('a'));
    expect(state.tools.map(({ toolCallId, done }) => [toolCallId, done])).toEqual([
      ['journal-1', false],
      ['journal-2', true],
      ['journal-3', false],
    ]);
  });

  it('a result with an id takes no other call that has one', () => {
    expect(fold(tool('a', '1'), toolComplete('a', '2')).state.tools.map(({ done }) => done)).toEqual([false, true]);
    expect(fold(tool('a'), toolComplete('a', '2')).state.tools.map(({ done }) => done)).toEqual([true]);
  });

  it('a call that is told twice is one, an id that comes again after its end is another', () => {
    expect(fold(tool('a', '1'), tool('a', '1')).state.tools).toHaveLength(1);
    const again = fold(tool('a', '1'), toolComplete('a', '1'), tool('a', '1'), toolComplete('a', '1', { preview: 'second' }));
    expect(again.state.tools.map(({ resultPreview }) => resultPreview)).toEqual(['result', 'second']);
    expect(of(again.events, 'ToolStarted').map(({ id }) => id)).toEqual(['j:r:g:1', 'j:r:g:3']);
  });

  it('the local worker’s false is unknown, the gateway’s false and anybody’s true are told', () => {
    const errors = (more: Record<string, unknown>, tid?: string) =>
      fold(tool('a', tid), toolComplete('a', tid, more)).state.tools.map(({ isError, durationMs }) => [isError, durationMs]);
    expect(errors({}, '1')).toEqual([[null, null]]);
    expect(errors({ is_error: true }, '1')).toEqual([[true, null]]);
    expect(errors({ duration: 0.25 }, '1')).toEqual([[false, 250]]);
    expect(errors({})).toEqual([[false, null]]);
    expect(errors({ is_error: undefined })).toEqual([[null, null]]);
  });

  it('the clarify tool is hidden', () => {
    expect(kinds(fold(token('x'), tool('clarify', '1'), toolComplete('clarify', '1')).events)).toEqual(['TextDelta']);
  });

  it('arguments are cut and lose private keys, results are cut at 4,000 units', () => {
    const { state } = fold(
      tool('a', '1', { args: { command: 'x'.repeat(9000), _secret: 1 } }),
      toolComplete('a', '1', { preview: 'y'.repeat(5000) }),
    );
    expect(state.tools[0]?.argsPreview).toEqual({ command: `${'x'.repeat(8192)}...[truncated]` });
    expect(state.tools[0]?.resultPreview).toHaveLength(4000);
  });

  it('a call of no name has one, and a result of no name closes the latest open call', () => {
    const { state } = fold(entry('tool', {}), tool('b'), entry('tool_complete', { preview: 'p' }));
    expect(state.tools.map(({ name, done }) => [name, done])).toEqual([
      ['tool', false],
      ['b', true],
    ]);
  });
});

describe('what is shown of JSON', () => {
  it('keeps to 64 items, depth 8 and 65,536 characters in all', () => {
    expect(boundArgs({ many: Array.from({ length: 100 }, (_, index) => index) })).toEqual({
      many: Array.from({ length: 64 }, (_, index) => index),
    });
    expect(boundArgs({ deep: { a: { b: { c: { d: { e: { f: { g: { h: 1 } } } } } } } } })).toEqual({
      deep: { a: { b: { c: { d: { e: { f: { g: {} } } } } } } },
    });
    const wide = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`k${index}`, 'x'.repeat(8000)]));
    expect(JSON.stringify(boundArgs(wide)).length).toBeLessThan(70_000);
  });

  it('has no private key at any depth', () => {
    expect(boundJson({ a: [{ _b: 1, c: { _d: 2 } }], _e: 3 })).toEqual({ a: [{ c: {} }] });
  });

  it('never cuts a pair in half', () => {
    expect(cutText('a😀b', 2)).toBe('a');
    expect(cutText('a😀b', 3)).toBe('a😀');
    expect(cutText('ab', 2, '…')).toBe('ab');
  });
});
