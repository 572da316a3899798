/**
 * Starting programs of the checkout quickly and several at a time. Most of a start is stripping types and compiling, which Node.js keeps in a
 * folder when it is told to.
 */
import { fileURLToPath } from 'node:url';

/** For the environment of a child process. It writes what it compiled when it ends in an orderly way, or calls `flushCompileCache`. */
export const COMPILE_CACHE = { NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/test-programs', import.meta.url)) };

/** More than the cores of a small machine: half of the time a process waits for the disk. */
const AT_ONCE = 4;

/** Does the work for every item, some at a time. The first error is thrown once what has begun is over. */
export async function someAtOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items].reverse();
  const errors: unknown[] = [];
  const worker = async () => {
    for (let item = left.pop(); item !== undefined && errors.length === 0; item = left.pop()) {
      await work(item).catch((error: unknown) => errors.push(error));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  if (errors.length > 0) throw errors[0];
}
