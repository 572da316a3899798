/** One writer of this process at a time for each file; the others wait in their order. */
const last = new Map<string, Promise<unknown>>();

export async function inOrder<T>(key: string, write: () => Promise<T>): Promise<T> {
  const before = last.get(key) ?? Promise.resolve();
  const mine = before.then(write, write);
  last.set(key, mine);
  try {
    return await mine;
  } finally {
    if (last.get(key) === mine) last.delete(key);
  }
}

export function isInUse(key: string): boolean {
  return last.has(key);
}
