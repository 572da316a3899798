/** Whatever a file holds in the place of a message, it has a record, without what is private. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PRIVATE_FIELDS } from '../../../src/web-ui/transcript/display-metadata.ts';
import { fileRecord, heldRecord, markOf } from '../../../src/web-ui/transcript/file-message.ts';
import { record } from '../../support/message-rows.ts';

const FIELDS = [
  'role',
  'content',
  'timestamp',
  '_ts',
  'tool_calls',
  'tool_call_id',
  'name',
  'reasoning',
  'display_metadata',
  'token_count',
];

describe('a message of a file', () => {
  it('is a record, whatever it is', () => {
    const fields = fc.dictionary(fc.constantFrom(...FIELDS, ...PRIVATE_FIELDS), fc.jsonValue());
    fc.assert(
      fc.property(fc.oneof(fields, fc.jsonValue()), (message) => {
        const made = fileRecord(message, 's');
        expect(made).toMatchObject({ rowId: '', sessionId: 's', state: 'LIVE', apiContent: null });
        expect(made.timestamp === null || (made.timestamp >= 0 && made.timestamp <= 4_200_000_000)).toBe(true);
        expect(markOf(message, 'LITERAL')).toBe(markOf(structuredClone(message), 'LITERAL'));
      }),
    );
  });

  it('has its parts and calls without private fields, and the arguments of its calls whole', () => {
    const made = fileRecord(
      {
        role: 'assistant',
        content: [{ type: 'text', text: 'hi', _row_id: 1 }],
        tool_calls: [{ id: 'c', _row_id: 2, function: { name: 'f', arguments: { _row_id: 3 }, api_content: 'x' } }],
      },
      's',
    );
    expect(made.content).toEqual([{ type: 'text', text: 'hi' }]);
    expect(made.toolCalls).toEqual([{ id: 'c', function: { name: 'f', arguments: { _row_id: 3 } } }]);
  });

  it('has its time by _ts where it has no timestamp', () => {
    expect(fileRecord({ role: 'user', content: 'a', _ts: '17.5' }, 's')).toMatchObject({ timestamp: 17.5, warnings: [] });
    expect(fileRecord({ role: 'user', content: 'a', timestamp: 'soon', _ts: 17 }, 's').timestamp).toBeNull();
  });

  it('I2: wins over the row that holds it, which has the rest', () => {
    const row = record(4, { role: 'user', content: '[Workspace: /srv] hi', timestamp: 9, token_count: 3, platform_message_id: 'p' });
    const held = heldRecord(fileRecord({ role: 'user', content: 'hi', timestamp: 8 }, 's'), row);
    expect(held).toMatchObject({ rowId: '4', content: 'hi', timestamp: 8, tokenCount: 3, platformMessageId: 'p' });
  });
});
