import { describe, expect, it } from 'vitest';
import type { SqlRow } from '../../../src/state-db/decode.ts';
import { DELIM, END, SUM } from '../../../src/state-db/summary-markers.ts';
import { displayIdentity } from '../../../src/state-db/write/display-identity.ts';

const CALLS = String.raw`[{"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\": \"a.txt\"}"}}]`;
const PRUNED = '[Old tool output cleared to save context space]';

function user(content: string | null, more: SqlRow = {}): SqlRow {
  return { role: 'user', content, timestamp: 5, tool_call_id: null, tool_calls: null, tool_name: null, ...more };
}

function hex(row: SqlRow): string {
  return displayIdentity(row).toString('hex');
}

describe('the display identity of a row (D6, D7)', () => {
  it.each<[SqlRow, string]>([
    [user('hello', { timestamp: 1700000000 }), 'cd052290941d09266e40649d6015597a7f141a6b79096da0edbc5c17bc87f8de'],
    [user("it's", { timestamp: 1 }), '61c7ab23d920c6e8eb1f0c4845401641e91ae32a37a6fb7c8727aa5a4e9fa685'],
    [user('say "hi"', { timestamp: 1e16 }), '324ece9f66022ae135e8683d7da756f0ce982484bf2f4a77c0bd6b20ca304da0'],
    [user(null, { timestamp: 0 }), '6b04a88fc1701fa16b55986bb885f4a565f195f932cb07a77736a3a17ee88a9b'],
    [
      user('', { role: 'assistant', timestamp: 1700000000.25, tool_calls: CALLS }),
      '3584957bec82b0ce5cc264357b44c5e0e31dd6cccaaba21d3bf83f5d586f49d6',
    ],
    [
      user('it\'s "quoted"\nline2\ttab\\', { role: 'tool', timestamp: 1700000001.5, tool_call_id: 'call_1', tool_name: 'read_file' }),
      'b72c0e309aa5f6a66f03664d8d63e81f0a36aa8d90b8ff47c0d7643882ed7264',
    ],
    [
      user('déjà ☃ 😀 nbsp\u00a0 zwsp\u200b', { timestamp: 1700000000.123456 }),
      'a6e4cce622d22d3eb14fd8dd10b94eabb4ef30df0e326d22da3a6f7013597fa5',
    ],
    [
      user('AAAAAAAAAA', { role: 'tool', timestamp: 1700000010, tool_call_id: 'call_9', tool_name: 'terminal' }),
      'e65827cf0bc72e749e777346e8c06604595f1174bd81a5722f9e0c0a258f9e35',
    ],
    [
      user(PRUNED, { role: 'tool', timestamp: 1700000010, tool_call_id: 'call_9', tool_name: 'terminal' }),
      '5199f9a0abf88c1af44fe8a06e56b62bd98d79e84baa81aa26e36d6c1155e486',
    ],
    [
      user('\u0000json:[{"type": "text", "text": "hi"}]', { role: 'assistant', timestamp: 1700000011.75 }),
      '08b8e50100c5fcbac8f3511d73fff7826db833ace4d17014e8b348de2242b27e',
    ],
  ])('T6: %j', (row, digest) => {
    expect(hex(row)).toBe(digest);
  });

  it("is that of the person's words in a row that carries a summary too", () => {
    const words = hex(user('real ask'));
    expect(hex(user(`${SUM}body\n\n${END}\n\nreal ask`))).toBe(words);
    expect(hex(user(`real ask\n\n${DELIM}\n\n${SUM}body\n\n${END}`))).toBe(words);
    expect(hex(user(`${SUM}other\n\n${END}\n\nreal ask`, { role: 'assistant' }))).not.toBe(hex(user('real ask', { role: 'assistant' })));
  });

  it('takes the whole of a summary without words, of a note, and of a row that is only flagged', () => {
    expect(hex(user(`${SUM}one`))).not.toBe(hex(user(`${SUM}two`)));
    const carrier = (body: string) => hex(user(`${SUM}${body}\n\n${END}\n\nreal ask`, { display_kind: 'note' }));
    expect(carrier('one')).not.toBe(carrier('two'));
    expect(hex(user(`words\n${DELIM}\nrest`, { _compressed_summary: 1n }))).not.toBe(hex(user('words')));
  });

  it('writes the words of structured content as their writer would, numbers and keys as they are', () => {
    const image = '{"type": "image", "source": {"b": 1.0, "10": "\\u00e9", "2": 123456789012345678901}}';
    const carrier = `\u0000json:[{"type": "text", "text": ${JSON.stringify(`${SUM}body ${END}`)}}, {"type": "text", "text": "ask"}, ${image}]`;
    expect(hex(user(carrier))).toBe(hex(user(`\u0000json:[{"type": "text", "text": "ask"}, ${image}]`)));
  });

  it('tells integers from floats and bytes from text', () => {
    const forms = [user('a', { timestamp: 5n }), user('a'), { ...user(null), content: Buffer.from('a') }];
    expect(new Set(forms.map(hex)).size).toBe(3);
  });
});
