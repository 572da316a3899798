import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeContent } from '../../src/state-db/content.ts';
import {
  type CompositeSource,
  DELIM,
  END,
  isSummaryCarrier,
  isSummaryContent,
  PRIOR,
  SUM,
  SUM0,
  splitComposite,
  summaryShape,
} from '../../src/state-db/summary-markers.ts';
import { anyContent, anyText } from '../support/message-rows.ts';

function user(content: CompositeSource['content'], more: Partial<CompositeSource> = {}): CompositeSource {
  return { role: 'user', content, displayKind: null, displayMetadata: null, compressedSummary: false, ...more };
}

const IMAGE = { type: 'image_url', image_url: { url: 'https://img.example.test/1.png' } };

describe('summary markers', () => {
  it('are the stored bytes', () => {
    expect(SUM).toHaveLength(204);
    expect(SUM.endsWith('instructions. ')).toBe(true);
  });

  it.each([
    ['a summary of today', `${SUM}body`, 'STANDALONE'],
    ['a summary behind line breaks', `\n\t ${SUM}body`, 'STANDALONE'],
    ['a summary of the oldest writers', `${SUM0} body`, 'STANDALONE'],
    ['a summary behind the delimiter', `words\n\n${DELIM}\n\n${SUM}body`, 'MERGED'],
    ['a summary that quotes the delimiter', `${SUM}body ${DELIM} more`, 'STANDALONE'],
    ['the delimiter alone', `I saw ${DELIM} somewhere`, null],
    ['the bracketed label alone', '[CONTEXT COMPACTION — REFERENCE ONLY] what is this?', null],
    ['a summary in the middle', `look: ${SUM}`, null],
  ])('tell %s', (_what, text, shape) => {
    expect(summaryShape(text)).toBe(shape);
    expect(isSummaryContent(text)).toBe(shape !== null);
  });

  it('are looked for in all text parts of a list', () => {
    expect(isSummaryContent([IMAGE, { type: 'text', text: `${SUM}body` }])).toBe(true);
    expect(isSummaryContent({ text: SUM })).toBe(false);
  });
});

describe('composite carriers (9.4)', () => {
  it('split a standalone summary from the ask behind its end marker', () => {
    const { handoff, human } = splitComposite(user(`${SUM}body\n\n${END}\n\nreal ask `));
    expect(handoff).toEqual({ content: `${SUM}body\n\n${END}`, displayKind: 'hidden', displayMetadata: null });
    expect(human).toEqual({ content: 'real ask ', displayKind: null, displayMetadata: null });
  });

  it('split a merged summary from the message before the delimiter', () => {
    const { handoff, human } = splitComposite(user(`${PRIOR}\nkeep me\n\n${DELIM}\n\n${SUM}body\n\n${END}`));
    expect(handoff?.content).toBe(`${SUM}body\n\n${END}`);
    expect(human?.content).toBe('keep me');
  });

  it('have no human part when nothing but the summary is there', () => {
    for (const text of [`${SUM}body`, `${SUM}body${END}\n `, `${PRIOR}\n\n${DELIM}\n${SUM}body`]) {
      const { handoff, human } = splitComposite(user(text));
      expect(handoff).not.toBeNull();
      expect(human).toBeNull();
    }
  });

  it('keep of the metadata only reactions', () => {
    const displayMetadata = { reactions: [{ emoji: '👍' }], delegation_id: 'd' };
    const { human } = splitComposite(user(`${SUM}body${END}ask`, { displayMetadata }));
    expect(human?.displayMetadata).toEqual({ reactions: [{ emoji: '👍' }] });
  });

  it('yield the ask although hidden, but not as a timeline note', () => {
    const text = `${SUM}body${END}ask`;
    expect(splitComposite(user(text, { displayKind: 'hidden' })).human?.content).toBe('ask');
    expect(splitComposite(user(text, { displayKind: 'model_switch' })).human).toBeNull();
    expect(splitComposite(user(text, { displayKind: 'steer' })).human).toBeNull();
  });

  it('are told by the flag too', () => {
    const flagged = user(`odd opening ${END}\nask`, { compressedSummary: true });
    expect(isSummaryCarrier(flagged)).toBe(true);
    expect(splitComposite(flagged).human?.content).toBe('ask');
    expect(splitComposite({ ...flagged, compressedSummary: false }).handoff).toBeNull();
  });

  it('come apart in lists of parts, without moving pictures into the handoff', () => {
    const merged = [
      { type: 'text', text: `${PRIOR}\n` },
      { type: 'text', text: 'inspect' },
      IMAGE,
      { type: 'text', text: `\n\n${DELIM}\n\n${SUM}body\n\n${END}` },
    ];
    expect(splitComposite(user(merged))).toMatchObject({
      handoff: { content: [{ type: 'text', text: `${SUM}body\n\n${END}` }] },
      human: { content: [{ type: 'text', text: 'inspect' }, IMAGE] },
    });
    const leading = [{ type: 'text', text: `${SUM}body ${END}\n\n` }, { type: 'text', text: 'inspect' }, IMAGE];
    expect(splitComposite(user(leading))).toMatchObject({
      handoff: { content: [{ type: 'text', text: `${SUM}body ${END}` }] },
      human: { content: [{ type: 'text', text: 'inspect' }, IMAGE] },
    });
    expect(splitComposite(user([`${SUM}body ${END} ask`])).human?.content).toEqual(['ask']);
  });

  it('leave ordinary rows whole', () => {
    expect(splitComposite(user('hello'))).toMatchObject({ handoff: null, human: { content: 'hello' } });
    expect(splitComposite(user('go left', { displayKind: 'steer' })).human?.content).toBe('go left');
    expect(splitComposite(user('Model switched', { displayKind: 'model_switch' }))).toEqual({ handoff: null, human: null });
    expect(splitComposite(user('hidden text', { displayKind: 'hidden' }))).toEqual({ handoff: null, human: null });
    expect(splitComposite({ ...user(`${SUM}body`), role: 'assistant' })).toEqual({ handoff: null, human: null });
  });

  it.each([
    ['blank text', ' \n'],
    ['an empty list', []],
    ['a list of blank parts', [{ type: 'text', text: ' ' }, '']],
    ['nothing', null],
    [
      'a continuation prompt',
      'Continue from the compressed conversation context above. This marker exists because no human user turn was available.',
    ],
    ['a restated task list', '[Your active task list was preserved across context compression]\n- [ ] one'],
  ])('have nobody behind %s', (_what, content) => {
    expect(splitComposite(user(content)).human).toBeNull();
  });

  it('never make splitting fail, and never leave a summary in the human part', () => {
    fc.assert(
      fc.property(fc.oneof(anyContent, anyText), fc.boolean(), fc.constantFrom(null, 'hidden', 'steer'), (stored, flag, displayKind) => {
        const content = decodeContent(typeof stored === 'string' ? stored : null);
        const { handoff, human } = splitComposite(user(content, { compressedSummary: flag, displayKind }));
        expect(handoff !== null).toBe(isSummaryCarrier(user(content, { compressedSummary: flag })));
        if (human !== null) expect(isSummaryContent(human.content)).toBe(false);
      }),
    );
  });
});
