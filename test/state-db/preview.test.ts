import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPreviewEligible, isRecentTurn, type PreviewRow, previewOf, recentTurnPreview } from '../../src/state-db/preview.ts';
import { DELIM, END, PRIOR, SKILL, SUM, SUM0 } from '../../src/state-db/summary-markers.ts';
import { anyContent, structured } from '../support/message-rows.ts';

function rows(...contents: (string | null | PreviewRow)[]): PreviewRow[] {
  return contents.map((content, index) =>
    typeof content === 'object' && content !== null ? content : { rowId: String(index + 1), content, displayKind: null },
  );
}

const preview = (...contents: Parameters<typeof rows>) => previewOf(rows(...contents)).text;

const SINGLE = `${SKILL}"work" skill, indicating they want it. The full skill content is loaded below.]\n\n`;
const ASK = 'The user has provided the following instruction alongside the skill invocation: ';

describe('a preview', () => {
  it('27: is cut at 60 characters', () => {
    expect(preview('a'.repeat(70))).toBe(`${'a'.repeat(60)}...`);
    expect(preview('a'.repeat(60))).toBe('a'.repeat(60));
    expect(preview('a'.repeat(61))).toBe(`${'a'.repeat(60)}...`);
  });

  it('28: of a summary with an ask behind it is the ask', () => {
    expect(previewOf(rows(`${SUM}text${END}\n\nreal ask`))).toEqual({ text: 'real ask', source: 'TEXT', rowId: '1' });
  });

  it('29: passes over a bare summary', () => {
    expect(previewOf(rows(`${SUM}text${END}`, 'hello'))).toEqual({ text: 'hello', source: 'TEXT', rowId: '2' });
    expect(preview(`\t\r\n ${SUM0} text`, 'hello')).toBe('hello');
    expect(preview(`${SUM}text${END}\n \t`, 'hello')).toBe('hello');
  });

  it('30: of a merged summary is what was there before', () => {
    expect(preview(`${PRIOR}\nkeep me\n${DELIM}${SUM}text`)).toBe('keep me');
    expect(preview(`${PRIOR}\n \n${DELIM}\n${SUM}text`, 'hello')).toBe('hello');
    expect(preview(`words ${DELIM} but no summary`)).toBe(`words ${DELIM} but ...`);
  });

  it('31: passes over hidden rows', () => {
    expect(preview({ rowId: '1', content: 'scaffold', displayKind: 'hidden' }, 'hi')).toBe('hi');
  });

  it('32: of structured content is its text, and says so', () => {
    expect(previewOf(rows(structured([{ type: 'text', text: 'look' }])))).toEqual({ text: 'look', source: 'STRUCTURED', rowId: '1' });
    expect(preview(structured([{ type: 'text', text: `${SUM}text` }]), 'hello')).toBe('hello');
    expect(preview(structured({ type: 'text', text: 'look' }))).toBe('');
  });

  it('43: of pictures alone says that there is something', () => {
    expect(preview(structured([{ type: 'image_url', image_url: { url: 'data:' } }]))).toBe('[multimodal content]');
  });

  it('is empty without an eligible row, and names none', () => {
    expect(previewOf([])).toEqual({ text: '', source: 'NONE', rowId: null });
    expect(previewOf(rows(null, `${SUM}text`))).toEqual({ text: '', source: 'NONE', rowId: null });
    expect(previewOf(rows('  ', 'hello'))).toEqual({ text: '', source: 'TEXT', rowId: '1' });
  });

  it('stops at a NUL as upstream does, also when a sentinel has no valid JSON behind it', () => {
    expect(preview('before\u0000after')).toBe('before');
    expect(preview('\u0000json:{bad', 'hello')).toBe('');
  });

  it('shows line breaks as spaces and counts characters, not code units', () => {
    expect(preview(' a\r\nb ')).toBe('a  b');
    expect(preview('😀'.repeat(61))).toBe(`${'😀'.repeat(60)}...`);
  });

  it('of a skill is the command as it was typed', () => {
    expect(preview(`${SINGLE}# work\nbody\n\n${ASK}fix the\n leak`)).toBe('/work — fix the leak');
    expect(preview(`${SINGLE}# work`)).toBe('/work');
    expect(preview(`${SKILL}"/clean /work" skill bundle, loading 2 skills.]\n\nUser instruction: tidy\n\n[Loaded as part of the`)).toBe(
      '/clean /work',
    );
    expect(preview(`${SKILL}unknown thing]`)).toBe(`${SKILL}unknown thing]`);
  });

  it('of a long skill joins its head and its tail and shows nothing from the far side', () => {
    expect(preview(`${SINGLE}${'😀'.repeat(900)}\n\n${ASK}fix it`)).toBe('/work — fix it');
    expect(preview(`${SINGLE}${ASK}${'x '.repeat(450)}tail`)).toMatch(/^\/work — (x )+x?\.\.\.$/);
    expect(preview(`${SKILL}odd thing ${'y'.repeat(900)}`)).toBe(`${`${SKILL}odd thing ${'y'.repeat(900)}`.slice(0, 60)}...`);
  });

  it('never fails, is short, and comes from an eligible row', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyContent, fc.constantFrom(null, '', 'hidden', 'steer'))), (cells) => {
        const list = cells.map(([content, displayKind], index) => ({
          rowId: String(index),
          content: typeof content === 'string' ? content : null,
          displayKind,
        }));
        const { text, source, rowId } = previewOf(list);
        const first = list.find(isPreviewEligible);
        expect(rowId).toBe(first?.rowId ?? null);
        expect(source === 'NONE').toBe(first === undefined);
        expect([...text].length).toBeLessThanOrEqual(63);
        expect(text).not.toMatch(/[\n\r]/);
      }),
    );
  });
});

describe('the list of recent turns', () => {
  it.each([
    [null, 'hi', true],
    ['', 'hi', true],
    ['steer', 'hi', true],
    ['hidden', 'hi', false],
    ['model_switch', 'hi', false],
    [null, `${SUM}text`, false],
    [null, structured([{ type: 'text', text: `${SUM0}text` }]), false],
  ])('takes a row of kind %j with %j: %j', (displayKind, content, expected) => {
    expect(isRecentTurn({ content, displayKind })).toBe(expected);
  });

  it('shows 80 characters, or 77 and dots', () => {
    expect(recentTurnPreview('a'.repeat(80))).toBe('a'.repeat(80));
    expect(recentTurnPreview('a'.repeat(81))).toBe(`${'a'.repeat(77)}...`);
    expect(recentTurnPreview(' a\n\n b ')).toBe('a b');
    expect(recentTurnPreview(null)).toBe('');
  });

  it('cuts the runtime note off a skill, because line breaks are still there', () => {
    expect(recentTurnPreview(`${SINGLE}${ASK}fix it\n\n[Runtime note: fast]`)).toBe('/work — fix it');
    const bundle = `${SKILL}"/a /b" skill bundle, loading 2.]\n\nUser instruction: tidy\n\n[Loaded as part of the x`;
    expect(recentTurnPreview(bundle)).toBe('/a /b — tidy');
  });
});
