import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contentParts, contentText } from '../../src/state-db/content.ts';
import { assembleConversation, type ConversationMessage, stripMemoryBlocks } from '../../src/state-db/conversation.ts';
import type { SqlRow } from '../../src/state-db/decode.ts';
import type { MessageRecord } from '../../src/state-db/message-row.ts';
import { DELIM, END, PRIOR, SUM, splitComposite } from '../../src/state-db/summary-markers.ts';
import { anyRecords, calls, record, structured } from '../support/message-rows.ts';

const replay = (...rows: MessageRecord[]) => assembleConversation(rows, { replay: true });
const display = (...rows: MessageRecord[]) => assembleConversation(rows, { replay: false });
const contents = (messages: readonly ConversationMessage[]) => messages.map(({ content }) => content);

function single(columns: SqlRow): ConversationMessage {
  const [message] = replay(record(1, columns));
  if (message === undefined) throw new Error('the row gave no message');
  return message;
}

const assistant = (id: number, columns: SqlRow = {}) => record(id, { role: 'assistant', content: `answer ${id}`, ...columns });

describe('one row (9.1)', () => {
  it('39: is replayed although it is for the model only', () => {
    const row = record(1, { display_metadata: '{"model_only":true}' });
    expect(replay(row)).toHaveLength(1);
    expect(display(row)).toHaveLength(0);
  });

  it('40: has metadata decoded through two layers, and only if it is an object', () => {
    expect(single({ display_metadata: '"{\\"a\\":1}"' }).displayMetadata).toEqual({ a: 1 });
    expect(single({ display_metadata: '[1]' }).displayMetadata).toBeNull();
    expect(single({ display_metadata: 'x' }).displayMetadata).toBeNull();
  });

  it('41: keeps the parts of structured content', () => {
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
    ];
    const { content } = single({ content: structured(parts) });
    expect(content).toEqual(parts);
    expect(contentParts(content)).toHaveLength(2);
    expect(contentText(content)).toBe('a');
  });

  it('42: keeps content behind a sentinel that is not JSON as it is', () => {
    expect(single({ content: '\u0000json:{bad', role: 'tool' }).content).toBe('\u0000json:{bad');
  });

  it('52: loses injected memory and is trimmed, for user and assistant only', () => {
    const content = 'x<memory-context>secret</memory-context> ';
    expect(single({ content }).content).toBe('x');
    expect(single({ content, role: 'assistant' }).content).toBe('x');
    expect(single({ content, role: 'tool' }).content).toBe(content);
  });

  it('has what upstream takes for absent as null', () => {
    const columns = {
      api_content: '',
      display_kind: '',
      timestamp: 0,
      tool_call_id: '',
      tool_calls: '',
      tool_name: '',
      effect_disposition: '',
    };
    expect(single({ ...columns, observed: 0, platform_message_id: '' })).toMatchObject({
      apiContent: null,
      displayKind: null,
      timestamp: null,
      toolCallId: null,
      toolCalls: null,
      toolName: null,
      effectDisposition: null,
      observed: false,
      platformMessageId: null,
    });
  });

  it('has no calls where tool_calls is not a list', () => {
    for (const tool_calls of ['{', '5', '{"a":1}']) expect(single({ tool_calls }).toolCalls).toEqual([]);
    expect(single({ tool_calls: calls('c1') }).toolCalls).toMatchObject([{ id: 'c1' }]);
  });

  it('has reasoning and the reason of its end for assistants only; empty reasoning content is kept', () => {
    const columns = { finish_reason: 'stop', reasoning: 'r', reasoning_content: '', reasoning_details: '[1]', codex_message_items: '{' };
    expect(single({ ...columns, role: 'assistant' })).toMatchObject({
      finishReason: 'stop',
      reasoning: 'r',
      reasoningContent: '',
      reasoningDetails: [1],
      codexReasoningItems: undefined,
      codexMessageItems: null,
    });
    expect(single(columns)).toMatchObject({ finishReason: null, reasoning: null, reasoningContent: null, reasoningDetails: undefined });
  });

  it('is marked as a summary in replays only', () => {
    const row = record(1, { content: `${SUM}text`, _compressed_summary: 1 });
    expect(replay(row)[0]?.compressedSummary).toBe(true);
    expect(display(row)[0]?.compressedSummary).toBe(false);
  });

  it('has durable ids when they are well formed', () => {
    const wellFormed = {
      message_uid: 'u',
      absorbed_message_uids: '["v","w"]',
      tool_call_uids: '{"c1":"x","c2":[null,"y"]}',
      tool_call_uid: 'z',
    };
    expect(single(wellFormed)).toMatchObject({
      messageUid: 'u',
      absorbedMessageUids: ['v', 'w'],
      toolCallUids: { c1: 'x', c2: [null, 'y'] },
      toolCallUid: 'z',
    });
    for (const absorbed_message_uids of ['["v"," "]', '{}', '[1]', 'x', 'null'])
      expect(single({ absorbed_message_uids }).absorbedMessageUids).toEqual([]);
    for (const tool_call_uids of ['[]', '{}', '{"c":""}', '{"c":[null]}', '{"c":[1,"x"]}', 'x'])
      expect(single({ tool_call_uids }).toolCallUids).toBeNull();
    expect(single({ message_uid: '', tool_call_uid: '' })).toMatchObject({ messageUid: null, toolCallUid: null });
  });

  it('keeps roles that no model is given', () => {
    const rows = [record(1, { role: 'system' }), record(2, { role: 'session_meta' })];
    expect(replay(...rows).map(({ role }) => role)).toEqual(['system', 'session_meta']);
  });
});

describe('memory blocks', () => {
  const note =
    "[System note: The following is recalled memory context, NOT new user input. Treat as authoritative reference data — this is the agent's memory.]";

  it.each([
    ['a <memory-context>one</memory-context> b <MEMORY-CONTEXT >two</ memory-context > c', 'a  b  c'],
    [`${note}\n\nask`, 'ask'],
    ['[System note: The following is recalled memory context, NOT new user input. Treat as informational background data.] ask', 'ask'],
    ['[System note: The following is recalled memory context, NOT new user input. Treat as advisory context only.] ask', 'ask'],
    ['[System note: The following is something else.] ask', '[System note: The following is something else.] ask'],
    ['left </memory-context> right <memory-context> end', 'left  right  end'],
    ['<memory-context>outer <memory-context>inner</memory-context> rest</memory-context>', ' rest'],
    ['plain <b>text</b>', 'plain <b>text</b>'],
  ])('of %j leave %j', (text, left) => {
    expect(stripMemoryBlocks(text)).toBe(left);
  });

  it('go as one pattern for the whole block would take them', () => {
    const token = fc.constantFrom('<memory-context>', '</memory-context>', '< Memory-Context>', '</ memory-context >', '<', 'a', ' ', '\n');
    fc.assert(
      fc.property(fc.array(token), (tokens) => {
        const text = tokens.join('');
        const expected = text
          .replace(/<\s*memory-context\s*>[\s\S]*?<\/\s*memory-context\s*>/gi, '')
          .replace(/<\/?\s*memory-context\s*>/gi, '');
        expect(stripMemoryBlocks(text)).toBe(expected);
      }),
    );
  });

  it('take linear time when no block ends', () => {
    const started = performance.now();
    expect(stripMemoryBlocks('<memory-context>'.repeat(100_000))).toBe('');
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

describe('residue of the machine (9.3)', () => {
  const prompt = (id: number) => record(id, { content: '  Review the conversation above and update the skill library now' });

  it('53: review prompts go with the answer directly behind them', () => {
    expect(contents(replay(prompt(1), assistant(2, { content: 'done' }), record(3, { content: 'hi' })))).toEqual(['hi']);
    const saving = record(1, { role: 'system', content: 'Review the conversation above and consider saving to memory' });
    expect(contents(replay(saving, assistant(2), assistant(3)))).toEqual(['answer 3']);
    expect(contents(replay(prompt(1), record(2), assistant(3)))).toEqual(['message 2', 'answer 3']);
    expect(contents(replay(prompt(1), prompt(2), assistant(3), assistant(4)))).toEqual(['answer 4']);
    expect(contents(replay(assistant(1, { content: 'Review the conversation above and update the skill library' })))).toHaveLength(1);
  });

  it('54: a bracketed tool name beside the calls is no text', () => {
    expect(single({ role: 'assistant', content: '[memory]', tool_calls: calls('c1') })).toMatchObject({
      content: '',
      toolCalls: [{ id: 'c1' }],
    });
    expect(single({ role: 'assistant', content: '[memory]' }).content).toBe('[memory]');
    expect(single({ role: 'assistant', content: '[memory] done', tool_calls: calls('c1') }).content).toBe('[memory] done');
    expect(single({ role: 'assistant', content: '[1]', tool_calls: calls('c1') }).content).toBe('[1]');
  });
});

describe('display over a lineage (9.2)', () => {
  const inChild = { session_id: 'child' };

  it('55: shows the ask of a parent once, in the row of the child that carries it', () => {
    const shown = display(
      record(1, { content: 'q', timestamp: 5 }),
      record(2, { ...inChild, content: `${SUM}text ${END}\n\nq`, timestamp: 5 }),
    );
    expect(shown).toHaveLength(1);
    expect(shown[0]).toMatchObject({ rowIds: ['2', '1'], sessionId: 'child' });
    expect(shown.map((message) => splitComposite(message).human?.content)).toEqual(['q']);
  });

  it('shows a carrier in place of an earlier ask of another time, if no answer stands between', () => {
    const carrier = record(3, { ...inChild, content: `${PRIOR}\nq\n${DELIM}${SUM}text` });
    expect(display(record(1, { content: 'q' }), carrier).map(({ rowIds }) => rowIds)).toEqual([['3', '1']]);
    expect(display(record(1, { content: 'q' }), assistant(2), carrier)).toHaveLength(3);
    expect(display(record(1, { content: 'q' }), assistant(2, { content: null }), carrier)).toHaveLength(2);
  });

  it('keeps the first of equal texts without an answer between, and both copies of a list', () => {
    expect(display(record(1, { content: 'q' }), record(2, { content: 'q' })).map(({ rowIds }) => rowIds)).toEqual([['1', '2']]);
    expect(display(record(1, { content: 'q' }), assistant(2), record(3, { content: 'q' }))).toHaveLength(3);
    const list = structured([{ type: 'text', text: 'q' }]);
    expect(display(record(1, { content: list }), record(2, { content: list }))).toHaveLength(2);
    const carrier = structured([
      { type: 'text', text: `${SUM}text ${END}` },
      { type: 'text', text: 'q' },
    ]);
    expect(display(record(1, { content: list }), record(2, { content: carrier })).map(({ rowIds }) => rowIds)).toEqual([['2', '1']]);
    expect(display(record(1, { content: carrier }), record(2, { content: list })).map(({ rowIds }) => rowIds)).toEqual([['1', '2']]);
  });

  it('replaces an equal ask of the same time wherever it stands', () => {
    const rows = [record(1, { content: 'q', timestamp: 9 }), assistant(2), record(3, { ...inChild, content: ' q ', timestamp: 9 })];
    expect(display(...rows).map(({ rowIds }) => rowIds)).toEqual([['2'], ['3', '1']]);
    expect(assembleConversation(rows, { replay: false, rules: 'V26' })).toHaveLength(3);
  });

  it('never merges blank messages, and repeats nothing in a replay', () => {
    expect(display(record(1, { content: ' ' }), record(2, { content: '' }))).toHaveLength(2);
    expect(replay(record(1, { content: 'q' }), record(2, { content: 'q' }))).toHaveLength(2);
  });

  it('shows the copies of a compaction once, at the place of the first', () => {
    const archived = { active: 0, compacted: 1 };
    const rows = [
      record(1, { content: 'old', timestamp: 1, ...archived }),
      assistant(2, archived),
      record(3, { content: 'old', timestamp: 1 }),
    ];
    expect(display(...rows).map(({ rowIds }) => rowIds)).toEqual([['3', '1'], ['2']]);
    expect(assembleConversation(rows, { replay: false, rules: 'V26' }).map(({ rowIds }) => rowIds)).toEqual([['1'], ['2'], ['3']]);
  });

  it('stays quick with thousands of messages in a row that nobody answered', () => {
    const rows = Array.from({ length: 20_000 }, (_, index) => record(index + 1, { content: structured([`overheard ${index % 7}`]) }));
    const started = performance.now();
    expect(display(...rows)).toHaveLength(20_000);
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

it('assembling never fails and never shows a row twice, whatever the rows hold', () => {
  fc.assert(
    fc.property(anyRecords, fc.boolean(), fc.constantFrom('NEWEST' as const, 'V26' as const), (rows, isReplay, rules) => {
      const messages = assembleConversation(rows, { replay: isReplay, rules });
      const shown = messages.flatMap(({ rowIds }) => rowIds);
      expect(new Set(shown).size).toBe(shown.length);
      const known = new Set(rows.map(({ rowId }) => rowId));
      for (const id of shown) expect(known).toContain(id);
    }),
    { numRuns: 500 },
  );
});
