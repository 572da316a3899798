/** Messages from clients: what no store should hold is refused before a writer sees it. */
import { describe, expect, it } from 'vitest';
import { LARGEST_MESSAGE_BYTES, transcriptMessage, transcriptMessages } from '../../resolvers/transcript-input.ts';

const refusal = (more: RegExp) => expect.objectContaining({ code: 'VALIDATION', message: expect.stringMatching(more) });

function nested(levels: number): unknown {
  let value: unknown = 'x';
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

describe('a message from a client', () => {
  it('gets the keys of the owning programs, and none that was not given', () => {
    const given = { role: 'assistant', content: [{ type: 'text', text: 'a' }], toolCalls: [{ id: 'c' }], compressedSummary: true };
    expect(transcriptMessage({ ...given, toolName: null, observed: false, timestamp: 5, messageUid: 'u' })).toEqual({
      role: 'assistant',
      content: given.content,
      tool_calls: given.toolCalls,
      _compressed_summary: true,
      observed: false,
      timestamp: 5,
      message_uid: 'u',
    });
  });

  it('has a role that the owning programs write', () => {
    for (const role of ['', 'User', 'developer', 'unknown']) expect(() => transcriptMessage({ role })).toThrow(refusal(/role/));
    expect(transcriptMessage({ role: 'session_meta' })).toEqual({ role: 'session_meta' });
  });

  it('has ids and names of a sane length, without control characters or lone surrogates', () => {
    for (const value of ['a\u0000b', 'a\nb', '\u007f', '\u009f', '\ud800', 'x'.repeat(513)]) {
      for (const field of ['toolCallId', 'toolName', 'platformMessageId', 'messageUid', 'displayKind'] as const) {
        expect(() => transcriptMessage({ role: 'user', [field]: value })).toThrow(refusal(new RegExp(field)));
      }
    }
    const odd = `"';--😀 é/../%${'x'.repeat(400)}`;
    expect(transcriptMessage({ role: 'tool', toolCallId: odd })).toEqual({ role: 'tool', tool_call_id: odd });
  });

  it('is not larger than a message may be, counted in bytes', () => {
    const room = LARGEST_MESSAGE_BYTES - JSON.stringify({ role: 'user', content: '' }).length;
    expect(transcriptMessage({ role: 'user', content: 'x'.repeat(room) })).toBeDefined();
    expect(() => transcriptMessage({ role: 'user', content: 'x'.repeat(room + 1) })).toThrow(refusal(/larger/));
    expect(() => transcriptMessage({ role: 'user', content: 'é'.repeat(room / 2 + 1) })).toThrow(refusal(/larger/));
  });

  it('does not nest without end', () => {
    expect(transcriptMessage({ role: 'user', content: nested(150) })).toBeDefined();
    expect(() => transcriptMessage({ role: 'user', content: nested(5000) })).toThrow(refusal(/nest/));
  });

  it('keeps clear of what the owning programs reserve', () => {
    expect(() => transcriptMessage({ role: 'user', displayMetadata: { _owner: 1 } })).toThrow(refusal(/reserved/));
    expect(() => transcriptMessage({ role: 'user', displayMetadata: [1] })).toThrow(refusal(/object/));
    expect(transcriptMessage({ role: 'user', displayMetadata: { a: { _b: 1 } } })).toEqual({
      role: 'user',
      display_metadata: { a: { _b: 1 } },
    });
  });

  it('makes calls as a list or its text', () => {
    expect(transcriptMessage({ role: 'assistant', toolCalls: '[{"n": 1.0}]' })).toEqual({ role: 'assistant', tool_calls: '[{"n": 1.0}]' });
    for (const toolCalls of ['{}', 'no json', 5, { id: 'c' }]) {
      expect(() => transcriptMessage({ role: 'assistant', toolCalls })).toThrow(refusal(/toolCalls/));
    }
  });

  it('is named by its place in a list, and its text is not repeated', () => {
    const inputs = [{ role: 'user' }, { role: 'secret words' }];
    expect(() => transcriptMessages(inputs)).toThrow(refusal(/messages\[1\]/));
    expect(() => transcriptMessages(inputs)).not.toThrow(refusal(/secret/));
  });
});
