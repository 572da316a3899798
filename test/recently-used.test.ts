/** What is kept of files that were read (`spec/webui-recovery.md` 17). */
import { describe, expect, it } from 'vitest';
import { RecentlyUsed, sumOf } from '../src/recently-used.ts';

const good = () => true;

describe('values used last', () => {
  it('make room for new ones, those first that were not used for longest', () => {
    const cache = new RecentlyUsed<number>({ most: 2 });
    cache.keep('a', 1);
    cache.keep('b', 2);
    expect(cache.take('a', good)).toBe(1);
    cache.keep('c', 3);
    expect([cache.peek('a'), cache.peek('b'), cache.peek('c')]).toEqual([1, undefined, 3]);
    expect(cache.stats).toEqual({ entries: 2, bytes: null, cap: 2, capBytes: null, hits: 1, misses: 0, evictions: 1 });
  });

  it('are bounded by their size as well; one that is larger than all is kept until the next', () => {
    const cache = new RecentlyUsed<string>({ most: 10, mostBytes: 10, sizeOf: ({ length }) => length });
    cache.keep('a', 'xxxx');
    cache.keep('b', 'xxxx');
    cache.keep('a', 'xx');
    expect(cache.stats.bytes).toBe(6);
    cache.keep('large', 'x'.repeat(50));
    expect(cache.stats).toMatchObject({ entries: 1, bytes: 50, evictions: 2 });
    cache.keep('c', 'x');
    expect(cache.stats).toMatchObject({ entries: 1, bytes: 1, evictions: 3 });
  });

  it('that are no longer good are misses, and stay until they are replaced', () => {
    const cache = new RecentlyUsed<number>({ most: 2 });
    cache.keep('a', 1);
    expect(cache.take('a', (value) => value > 1)).toBeNull();
    expect(cache.take('none', good)).toBeNull();
    expect(cache.peek('a')).toBe(1);
    cache.drop('a');
    cache.drop('a');
    expect(cache.stats).toMatchObject({ entries: 0, hits: 0, misses: 2, evictions: 0 });
  });

  it('of two caches are counted as one', () => {
    const one = { entries: 1, bytes: null, cap: 5, capBytes: null, hits: 2, misses: 3, evictions: 4 };
    expect(sumOf([one, one])).toEqual({ entries: 2, bytes: null, cap: 10, capBytes: null, hits: 4, misses: 6, evictions: 8 });
  });
});
