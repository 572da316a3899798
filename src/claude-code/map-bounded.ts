/** The results of a function over many items, in their order, with at most `limit` of its calls under way at once. The first error ends it. */
export async function mapBounded<T, R>(items: readonly T[], limit: number, call: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array<R>(items.length);
  const waiting = items.entries();
  const work = async () => {
    for (const [index, item] of waiting) results[index] = await call(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work));
  return results;
}
