/** Cases 35 to 44 of `spec/state-db.md` 17: which rows a view shows, and what a row holds. */
import { describe, expect, it } from 'vitest';
import { contentParts, contentText, flattenContent } from '../../src/state-db/content.ts';
import { structured } from '../support/message-rows.ts';
import { M, type Row, S } from '../support/stores.ts';
import { CaseStore } from './case-store.ts';

const archived = { active: 0, compacted: 1 };
const identity = (digit: number) => Buffer.alloc(32, digit);

describe('views', () => {
  it('#35 live, display and audit', async () => {
    const store = await CaseStore.open([S('s'), M('s'), M('s'), M('s'), M('s', archived), M('s', { active: 0 })]);
    expect(await store.rows('s', 'LIVE')).toEqual([1, 2, 3]);
    expect(await store.rows('s', 'DISPLAY')).toEqual([1, 2, 3, 4]);
    expect(await store.rows('s', 'AUDIT')).toEqual([1, 2, 3, 4, 5]);
  });

  it('#36 the live copy stands in the slot of the first one', async () => {
    const copy = { content: 'x', timestamp: 5, display_order: 1, display_identity: identity(1) };
    const other = M('s', { id: 2, content: 'y', display_order: 2, display_identity: identity(2) });
    const store = await CaseStore.open({
      schema: 30,
      rows: [S('s'), M('s', { id: 1, ...copy, ...archived }), M('s', { id: 9, ...copy }), other],
    });
    expect(await store.rows('s', 'DISPLAY')).toEqual([9, 2]);
  });

  it('#37 rows without a slot are never lost', async () => {
    const copy = { content: 'x', timestamp: 5, display_order: 1, display_identity: identity(1) };
    const unslotted = (id: number) => M('s', { id, content: `row ${id}`, display_order: null });
    // Inserted before the triggers exist, as a row is that was edited since.
    const rows: Row[] = [S('s'), M('s', { id: 1, ...copy, ...archived }), M('s', { id: 2, ...copy }), unslotted(3), unslotted(4)];
    const store = await CaseStore.open({ schema: 30, rows });
    expect(await store.rows('s', 'DISPLAY')).toEqual([2, 3, 4]);
  });

  it('#38 copies are told by what they hold where a store has no slots', async () => {
    const copy = { content: 'x', timestamp: 5 };
    const store = await CaseStore.open([
      S('s'),
      M('s', { id: 1, ...copy, ...archived }),
      M('s', { id: 2, ...archived }),
      M('s', { id: 3, ...copy }),
    ]);
    expect(await store.rows('s', 'DISPLAY')).toEqual([3, 2]);
  });

  it('#39 a row for the model only is replayed and not displayed', async () => {
    const store = await CaseStore.open([
      S('s'),
      M('s', { content: 'context', display_metadata: '{"model_only":true}' }),
      M('s', { role: 'assistant', content: 'ok' }),
    ]);
    expect(await store.rows('s', 'DISPLAY')).toEqual([2]);
    const [replay] = await store.store.transcripts([{ sessionId: 's', view: 'REPLAY' }]);
    expect(replay).toMatchObject({ messages: [{ rowId: '1' }, { rowId: '2' }] });
  });

  it('#44 an `active` of NULL is live', async () => {
    const store = await CaseStore.open({ reconciled: true, rows: [S('s'), M('s', { active: null }), M('s', { active: 0 })] });
    expect(await store.rows('s', 'LIVE')).toEqual([1]);
    expect(store.entry('s').stats).toMatchObject({ total: 2, live: 1 });
  });
});

describe('what a row holds', () => {
  const message = async (columns: Parameters<typeof M>[1]) => {
    const { store } = await CaseStore.open([S('s'), M('s', columns)]);
    const found = (await store.messages(['1'])).get('1');
    if (found === undefined) throw new Error('no row');
    return found;
  };

  it.each([
    ['"{\\"a\\":1}"', { a: 1 }],
    ['[1]', null],
    ['x', null],
  ])('#40 display metadata %s', async (display_metadata, expected) => {
    expect((await message({ display_metadata })).displayMetadata).toEqual(expected);
  });

  it('#41 structured content has parts and a text', async () => {
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
    ];
    const { content } = await message({ content: structured(parts) });
    expect(contentParts(content)).toMatchObject([
      { kind: 'text', text: 'a' },
      { kind: 'image', mediaType: 'image/png', bytes: 3 },
    ]);
    expect(contentText(content)).toBe('a');
  });

  it('#42 a prefix in front of what is no JSON stays as it is', async () => {
    expect((await message({ content: '\u0000json:{bad' })).content).toBe('\u0000json:{bad');
  });

  it('#43 content without any text flattens to a placeholder', async () => {
    const { content } = await message({ content: structured([{ type: 'image_url', image_url: { url: 'https://example.test/1.png' } }]) });
    expect(flattenContent(content)).toBe('[multimodal content]');
  });
});
