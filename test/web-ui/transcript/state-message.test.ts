/** Rows and their content: T1 to T12 of `spec/webui-transcript.md` 26.1. */
import { describe, expect, it } from 'vitest';
import type { SqlRow } from '../../../src/state-db/decode.ts';
import { stateMessage } from '../../../src/web-ui/transcript/state-message.ts';
import { storedContent } from '../../../src/web-ui/transcript/structured-content.ts';

const S = '\u0000json:';
const TEXT = '{"type":"text","text":"hi"}';
const message = (row: SqlRow) => stateMessage({ role: 'user', content: '', timestamp: 1, id: 1, ...row });

describe('the content of a row', () => {
  it('T1: is a list of parts behind the sentinel', () => {
    expect(storedContent(`${S}[${TEXT}]`)).toEqual([{ type: 'text', text: 'hi' }]);
    expect(storedContent(`${S} \n[${TEXT}] `)).toEqual([{ type: 'text', text: 'hi' }]);
  });

  it.each([
    ['T2: an empty list', '[]'],
    ['T2: an object', '{"type":"text","text":"hi"}'],
    ['T2: a number', '42'],
    ['T2: what is no JSON', '{bad'],
    ['T3: parts without visible text', '[{"type":"text","text":"  "},{"type":"image_url","image_url":"data:,x"}]'],
    ['T4: a number that overflows', '[{"type":"text","text":"hi","n":1e400}]'],
    ['T4: NaN', '[{"type":"text","text":"hi","n":NaN}]'],
    ['an integer that loses digits', '[{"type":"text","text":"hi","n":9007199254740993}]'],
    ['T5: half a surrogate pair', '[{"type":"text","text":"hi \\ud800"}]'],
    ['T6: base64 without its media type', `[${TEXT},{"type":"image","source":{"type":"base64","data":"AA"}}]`],
    ['T6: a blank file id', `[${TEXT},{"type":"input_image","file_id":" "}]`],
    ['a part of another type', `[${TEXT},{"type":"input_text","text":"x"}]`],
    ['a list that is too deep', `[{"type":"text","text":"hi","deep":${'['.repeat(2000)}${']'.repeat(2000)}}]`],
  ])('%s stays raw text', (_, json) => {
    expect(storedContent(S + json)).toBe(S + json);
  });

  it.each([
    ['{"type":"image_url","image_url":{"url":"data:,x"}}'],
    ['{"type":"input_image","file_id":"file-1"}'],
    ['{"type":"image","source":{"type":"base64","data":"AA","media_type":""}}'],
    ['{"type":"image","source":{"type":"url","url":"https://example.org/i.png"},"extra":1}'],
  ])('takes %s beside a text', (part) => {
    expect(storedContent(`${S}[${TEXT},${part}]`)).toEqual([JSON.parse(TEXT), JSON.parse(part)]);
  });

  it('T7: bytes are text, with replacement characters, then decoded as text', () => {
    expect(storedContent(Buffer.from('plain'))).toBe('plain');
    expect(storedContent(Buffer.from(`${S}[${TEXT}]`))).toEqual([{ type: 'text', text: 'hi' }]);
    expect(storedContent(Buffer.from([0xff, 0xfe]))).toBe('��');
  });

  it('keeps NULL, numbers and a sentinel in another case as they are', () => {
    expect([storedContent(null), storedContent(5), storedContent('\u0000JSON:[]')]).toEqual([null, 5, '\u0000JSON:[]']);
  });
});

describe('the message of a row', () => {
  it('T8: has its tool calls parsed and its blank content', () => {
    expect(message({ role: 'assistant', tool_calls: '[{"id":"c1"}]' })).toEqual({
      role: 'assistant',
      content: '',
      timestamp: 1,
      tool_calls: [{ id: 'c1' }],
    });
  });

  it('T9: keeps what is no JSON as text, and blank text as null', () => {
    expect(message({ tool_calls: 'not json', codex_message_items: '  ' })).toMatchObject({
      tool_calls: 'not json',
      codex_message_items: null,
    });
  });

  it('T10: names its tool twice', () => {
    expect(message({ role: 'tool', tool_name: 'read_file' })).toMatchObject({ tool_name: 'read_file', name: 'read_file' });
    expect(message({ role: 'assistant', tool_name: 'read_file' })).not.toHaveProperty('name');
  });

  it('T11: carries the row id where it may be the text of a turn with images', () => {
    expect(message({ id: 5, content: 'x [screenshot] y' })).toHaveProperty('_state_db_row_id', 5);
    expect(message({ id: 9, role: 'assistant', content: '[screenshot]' })).not.toHaveProperty('_state_db_row_id');
  });

  it('T12: carries payload and row id', () => {
    expect(message({ id: 6, api_content: 'wire' })).toMatchObject({ api_content: 'wire', _state_db_row_id: 6 });
    expect(message({ id: 6, api_content: '' })).toEqual({ role: 'user', content: '', timestamp: 1 });
  });

  it('has its keys in the order of the Web UI', () => {
    const full = {
      role: 'tool',
      content: 'c',
      timestamp: 1,
      name: undefined,
      codex_message_items: '[]',
      reasoning_content: 'r',
      codex_reasoning_items: '[]',
      reasoning_details: '[]',
      reasoning: 'r',
      tool_name: 'n',
      tool_calls: '[]',
      tool_call_id: 'i',
      api_content: 'p',
      id: 3,
    };
    expect(Object.keys(stateMessage(full as SqlRow))).toEqual([
      ...['role', 'content', 'timestamp', 'tool_call_id', 'tool_calls', 'tool_name', 'reasoning', 'reasoning_details'],
      ...['codex_reasoning_items', 'reasoning_content', 'codex_message_items', 'api_content', '_state_db_row_id', 'name'],
    ]);
  });
});
