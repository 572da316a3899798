import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repairAlternation } from '../../src/state-db/alternation.ts';
import { assembleConversation, type ConversationMessage } from '../../src/state-db/conversation.ts';
import type { SqlRow } from '../../src/state-db/decode.ts';
import type { MessageRecord } from '../../src/state-db/message-row.ts';
import { DELIM, END, isSummaryCarrier, SUM } from '../../src/state-db/summary-markers.ts';
import { anyRecords, calls, record, structured } from '../support/message-rows.ts';

let nextId = 1;
const row = (role: string, content: string | null, columns: SqlRow = {}) => record(nextId++, { role, content, ...columns });
const user = (content: string | null, columns: SqlRow = {}) => row('user', content, columns);
const assistant = (content: string | null, columns: SqlRow = {}) => row('assistant', content, columns);
const tool = (id: string | null, content = 'output') => row('tool', content, { tool_call_id: id });

const assemble = (rows: readonly MessageRecord[]) => assembleConversation(rows, { replay: true });
const repair = (...rows: MessageRecord[]) => repairAlternation(assemble(rows));
const repairV26 = (...rows: MessageRecord[]) => repairAlternation(assemble(rows), { rules: 'V26' });
const outline = ({ messages }: { messages: readonly ConversationMessage[] }) => messages.map(({ role, content }) => `${role}: ${content}`);
const callIds = (message: ConversationMessage | undefined) => message?.toolCalls?.map((call) => (call as { id: string }).id);

describe('a replayed conversation', () => {
  it('45: has user messages in a row merged', () => {
    const repaired = repair(user('u'), assistant('a'), user('u1'), user('u2'), assistant('b'));
    expect(outline(repaired)).toEqual(['user: u', 'assistant: a', 'user: u1\n\nu2', 'assistant: b']);
    expect(repaired.repairCount).toBe(1);
    expect(repairAlternation(repaired.messages).repairCount).toBe(0);
  });

  it('46: has one result for each call', () => {
    const repaired = repair(assistant('', { tool_calls: calls('c1') }), tool('c1', 'first'), tool('c1', 'second'));
    expect(outline(repaired)).toEqual(['assistant: ', 'tool: first']);
  });

  it('47: has no result without a call; display keeps it', () => {
    const rows = [assistant('a'), tool('c9')];
    expect(outline(repair(...rows))).toEqual(['assistant: a']);
    expect(assembleConversation(rows, { replay: false })).toHaveLength(2);
  });

  it('48: has no call without a result', () => {
    const rows = [assistant('', { tool_calls: calls('c1', 'c2') }), tool('c1'), user('u')];
    expect(callIds(repair(...rows).messages[0])).toEqual(['c1']);
    expect(callIds(repairV26(...rows).messages[0])).toEqual(['c1', 'c2']);
  });

  it('49: has no message that held nothing but unanswered calls', () => {
    const rows = [assistant(null, { tool_calls: calls('c1') }), user('u')];
    expect(outline(repair(...rows))).toEqual(['user: u']);
    expect(repairV26(...rows)).toMatchObject({ repairCount: 0, messages: [{ role: 'assistant' }, { role: 'user' }] });
    expect(outline(repair(assistant('text', { tool_calls: calls('c1') }), user('u')))).toEqual(['assistant: text', 'user: u']);
    expect(repair(assistant(null, { tool_calls: calls('c1'), reasoning_content: 'because' }), user('u')).messages[0]?.toolCalls).toBeNull();
  });

  it('50: has the answer in place of the one that was to be verified', () => {
    for (const finish_reason of ['verification_required', 'verify_hook_continue']) {
      const repaired = repair(assistant('a', { finish_reason }), assistant('b'));
      expect(outline(repaired)).toEqual(['assistant: b']);
      expect(repaired.messages[0]?.rowIds).toHaveLength(1);
    }
  });

  it('51: has interims of the Responses API left alone', () => {
    expect(outline(repair(assistant('a', { finish_reason: 'incomplete' }), assistant('b')))).toEqual(['assistant: a', 'assistant: b']);
    expect(outline(repair(assistant('a'), assistant('b', { codex_reasoning_items: '[{}]' })))).toHaveLength(2);
    expect(outline(repair(assistant('a'), assistant('b', { codex_reasoning_items: '[]' })))).toHaveLength(1);
    const unanswered = repair(assistant(null, { finish_reason: 'incomplete', tool_calls: calls('c1') }), user('u'));
    expect(callIds(unanswered.messages[0])).toEqual(['c1']);
  });

  it('is the same after a second repair, and in order', () => {
    fc.assert(
      fc.property(anyRecords, (rows) => {
        const messages = assemble(rows);
        const before = JSON.stringify(messages);
        const once = repairAlternation(messages);
        expect(JSON.stringify(messages)).toBe(before);
        const twice = repairAlternation(once.messages);
        expect(twice.repairCount).toBe(0);
        expect(twice.messages).toEqual(once.messages);
        for (const [index, message] of once.messages.entries()) {
          const last = once.messages[index - 1];
          if (last?.role !== 'user' || message.role !== 'user') continue;
          const isText = typeof last.content === 'string' && typeof message.content === 'string';
          expect(!isText || last.displayKind === 'steer' || isSummaryCarrier(last)).toBe(true);
        }
        const shown = once.messages.flatMap(({ rowIds }) => rowIds);
        expect(new Set(shown).size).toBe(shown.length);
        expect(repairAlternation(messages, { rules: 'V26' }).repairCount).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 1000 },
    );
  });

  it('is repaired until nothing is left: dropping a result makes two answers meet', () => {
    const rows = [user('u'), assistant('a'), tool('c9'), assistant('b')];
    expect(outline(repair(...rows))).toEqual(['user: u', 'assistant: a\nb']);
    expect(repair(...rows).repairCount).toBe(2);
    expect(outline(repairV26(...rows))).toEqual(['user: u', 'assistant: a', 'assistant: b']);
  });

  it('stays quick with thousands of messages of one role', () => {
    const started = performance.now();
    const many = (role: string) => Array.from({ length: 20_000 }, (_, index) => row(role, `${'overheard '.repeat(10)}${index}`));
    for (const role of ['user', 'assistant']) {
      const { messages } = repair(...many(role));
      expect(messages).toHaveLength(1);
      expect(messages[0]?.rowIds).toHaveLength(20_000);
    }
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

describe('pass A', () => {
  it('joins calls, texts and ids, and drops the sent text only when the text changed', () => {
    const first = assistant('a', { tool_calls: calls('c1'), api_content: 'sent', message_uid: 'u1', tool_call_uids: '{"c1":"x"}' });
    const second = assistant('b', {
      tool_calls: calls('c2'),
      message_uid: 'u2',
      absorbed_message_uids: '["u3"]',
      tool_call_uids: '{"c1":["y"],"c2":"z"}',
    });
    const [merged] = repair(first, second, tool('c1'), tool('c2')).messages;
    expect(callIds(merged)).toEqual(['c1', 'c2']);
    expect(merged).toMatchObject({
      content: 'a\nb',
      apiContent: null,
      messageUid: 'u1',
      absorbedMessageUids: ['u2', 'u3'],
      toolCallUids: { c1: ['x', 'y'], c2: 'z' },
      rowIds: [first.rowId, second.rowId],
    });
    expect(repair(assistant('a', { api_content: 'sent' }), assistant(' ')).messages[0]).toMatchObject({ content: 'a', apiContent: 'sent' });
    expect(repair(assistant('a', { api_content: 'sent' }), assistant(null)).messages[0]).toMatchObject({
      content: 'a',
      apiContent: 'sent',
    });
  });

  it('takes the later content where the earlier has none, and leaves lists', () => {
    const list = [{ type: 'text', text: 'l' }];
    expect(repair(assistant(null, { api_content: 'sent' }), assistant('b')).messages[0]).toMatchObject({ content: 'b', apiContent: null });
    expect(repair(assistant(null), assistant(structured(list))).messages[0]?.content).toEqual(list);
    expect(repair(assistant(structured(list)), assistant('b')).messages[0]?.content).toEqual(list);
    expect(repair(assistant('a'), assistant(structured(list))).messages[0]?.content).toBe('a');
  });

  it('takes the later reasoning where the earlier has none, and removes an empty list of calls', () => {
    const [merged] = repair(
      assistant('a', { reasoning_content: '', tool_calls: '{' }),
      assistant('b', { reasoning_content: 'why' }),
    ).messages;
    expect(merged).toMatchObject({ reasoningContent: 'why', toolCalls: null });
    expect(
      repair(assistant('a', { reasoning_content: 'x' }), assistant('b', { reasoning_content: 'y' })).messages[0]?.reasoningContent,
    ).toBe('x');
  });
});

describe('pass B', () => {
  const call = (fields: Record<string, unknown>) => assistant('a', { tool_calls: JSON.stringify([fields]) });

  it.each([
    [{ id: 'fc1', call_id: 'c1' }, 'c1'],
    [{ id: 'fc1', call_id: 'c1' }, 'fc1'],
    [{ id: 'c1|fc1' }, 'fc1'],
    [{ id: 'c1' }, 'c1|fc1'],
    [{ response_item_id: 'fc1' }, ' fc1 '],
  ])('finds the call %j for the result %j', (fields, id) => {
    expect(repair(call(fields), tool(id)).messages).toHaveLength(2);
  });

  it('lets each call take one result, under any spelling', () => {
    expect(repair(call({ id: 'fc1', call_id: 'c1' }), tool('c1'), tool('fc1')).messages).toHaveLength(2);
    expect(repair(assistant('a', { tool_calls: calls('c1', 'c1') }), tool('c1'), tool('c1')).messages).toHaveLength(3);
  });

  it('drops a result behind a user message or behind another answer', () => {
    expect(outline(repair(call({ id: 'c1' }), user('u'), tool('c1')))).toEqual(['assistant: a', 'user: u']);
    expect(outline(repair(call({ id: 'c1' }), tool('c1'), assistant('b'), tool('c1')))).toEqual([
      'assistant: a',
      'tool: output',
      'assistant: b',
    ]);
  });

  it('keeps a result without any id; v26 drops it', () => {
    expect(repair(assistant('a'), tool(null)).messages).toHaveLength(2);
    expect(repairV26(assistant('a'), tool(null)).messages).toHaveLength(1);
  });
});

describe('pass D', () => {
  it('keeps a summary and a steering text apart from what follows; v26 does not', () => {
    for (const first of [user(`${SUM}text`), user('odd', { _compressed_summary: 1 }), user('go left', { display_kind: 'steer' })]) {
      expect(repair(first, user('u')).messages).toHaveLength(2);
      expect(repairV26(first, user('u')).messages).toHaveLength(1);
    }
    expect(repair(user('u'), user('go left', { display_kind: 'steer' })).messages).toHaveLength(1);
  });

  it('reads merged texts as one: what has become a summary takes no more', () => {
    const merged = `words\n${DELIM}\n${SUM}text ${END}`;
    expect(outline(repair(user('a'), user(merged), user('b')))).toEqual([`user: a\n\n${merged}`, 'user: b']);
    expect(outline(repair(user(''), user(`${SUM}text`), user('b')))).toEqual([`user: ${SUM}text`, 'user: b']);
    expect(outline(repair(user('a'), user(`b ${DELIM}`), user(`${SUM}text`), user('c')))).toEqual([
      `user: a\n\nb ${DELIM}\n\n${SUM}text`,
      'user: c',
    ]);
    expect(repair(user('a'), user(`b ${DELIM} c`), user(`${SUM}text`), user('d')).messages).toHaveLength(1);
    expect(repair(user('a'), user(`${SUM}text`), user('b')).messages).toHaveLength(1);
  });

  it('merges plain text only, without a blank side, and drops the text that was sent', () => {
    expect(outline(repair(user(''), user('b')))).toEqual(['user: b']);
    expect(outline(repair(user('a'), user('')))).toEqual(['user: a']);
    expect(repair(user('a', { api_content: 'sent' }), user('b')).messages[0]).toMatchObject({ content: 'a\n\nb', apiContent: null });
    const list = structured([{ type: 'text', text: 'l' }]);
    expect(repair(user('a'), user(list), user('b')).messages).toHaveLength(3);
    expect(repair(user('a'), user(null)).messages).toHaveLength(2);
  });
});
