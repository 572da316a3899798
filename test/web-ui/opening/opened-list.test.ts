/** Pages of several transcripts as one list, whatever is added meanwhile. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidInput } from '../../../src/errors.ts';
import type { Page, PageRequest } from '../../../src/paging.ts';
import { type ListedPart, openedList, openedPage } from '../../../src/web-ui/transcript/opened-list.ts';

type Marked = { readonly mark: string };

const part = (id: string, ...marks: string[]): ListedPart<Marked> => ({ id, messages: marks.map((mark) => ({ mark })) });
const request = (size: number, more: Partial<PageRequest> = {}): PageRequest => ({
  size,
  direction: 'FORWARD',
  after: null,
  before: null,
  ...more,
});
const marks = (parts: readonly ListedPart<Marked>[], page: PageRequest) =>
  openedPage(openedList(parts), 'l', page).items.map(({ node }) => node.mark);
const cursorOf = (parts: readonly ListedPart<Marked>[], at: number) =>
  openedPage(openedList(parts), 'l', request(200)).items[at]?.cursor ?? '';

describe('a list of transcripts', () => {
  it('is one after the other, and shows once what the next has again of the one before', () => {
    expect(marks([part('a', '1', '2'), part('b', '1', '2', '3'), part('c', '1', '2', '3', '4')], request(9))).toEqual(['1', '2', '3', '4']);
    expect(marks([part('a', '1', '2'), part('b', '1', '3')], request(9))).toEqual(['1', '2', '1', '3']);
    expect(marks([part('a'), part('b', '1')], request(9))).toEqual(['1']);
  });

  it('has pages in both directions that know what lies beside them', () => {
    const parts = [part('a', '1', '2'), part('b', '3', '4', '5')];
    expect(openedPage(openedList(parts), 'l', request(2, { after: cursorOf(parts, 0) }))).toMatchObject({
      items: [{ node: { mark: '2' } }, { node: { mark: '3' } }],
      hasNextPage: true,
      hasPreviousPage: true,
    });
    expect(openedPage(openedList(parts), 'l', request(2, { direction: 'BACKWARD' }))).toMatchObject({
      items: [{ node: { mark: '4' } }, { node: { mark: '5' } }],
      hasNextPage: false,
      hasPreviousPage: true,
    });
    expect(marks(parts, request(2, { direction: 'BACKWARD', before: cursorOf(parts, 1) }))).toEqual(['1']);
  });

  it('finds the message of a cursor again when others came before it, and its place when it has gone', () => {
    const before = [part('a', '1', '2', '2', '3')];
    expect(marks([part('a', 'new', '1', '2', '2', '3')], request(9, { after: cursorOf(before, 3) }))).toEqual([]);
    expect(marks([part('a', 'new', '1', '2', '2', '3', '4')], request(9, { after: cursorOf(before, 0) }))).toEqual(['2', '2', '3', '4']);
    expect(marks([part('a', '1', '2', '3')], request(9, { after: cursorOf([part('a', '1', 'x', '2', '3')], 1) }))).toEqual(['2', '3']);
    expect(
      marks([part('a', '1', '2', '3')], request(9, { before: cursorOf([part('a', '1', 'x', '2', '3')], 1), direction: 'BACKWARD' })),
    ).toEqual(['1']);
  });

  it('refuses cursors of other lists, of parts that have gone, and damaged ones', () => {
    const parts = [part('a', '1')];
    const code = (page: () => unknown) => {
      try {
        page();
        return null;
      } catch (error) {
        return error instanceof InvalidInput ? error.code : error;
      }
    };
    expect(code(() => openedPage(openedList(parts), 'other', request(1, { after: cursorOf(parts, 0) })))).toBe('BAD_CURSOR');
    expect(code(() => marks([part('b', '1')], request(1, { after: cursorOf(parts, 0) })))).toBe('BAD_CURSOR');
    expect(code(() => marks(parts, request(1, { after: 'zzz' })))).toBe('BAD_CURSOR');
  });

  it('shows each message once to who pages forward while messages are added behind, however alike they are', () => {
    const said = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 });
    fc.assert(
      fc.property(said, fc.array(said, { maxLength: 6 }), fc.integer({ min: 1, max: 5 }), (first, added, size) => {
        let current = first;
        const seen: string[] = [];
        let after: string | null = null;
        for (const more of [...added, [], [], [], [], []].concat(Array.from({ length: 90 }, () => []))) {
          const page: Page<Marked> = openedPage(openedList([part('x', '0', '0'), part('s', ...current)]), 'l', request(size, { after }));
          seen.push(...page.items.map(({ node }) => node.mark));
          after = page.items.at(-1)?.cursor ?? after;
          current = [...current, ...more];
        }
        expect(seen).toEqual(marks([part('x', '0', '0'), part('s', ...current)], request(1000)));
      }),
      { numRuns: 60 },
    );
  });
});
