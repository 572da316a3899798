/**
 * JSON of a payload cut to a size that may be pushed (`spec/live-turns.md` 3.6, `spec/webui-recovery.md` 3.11), without private keys
 * (`spec/live-turns.md` 18).
 */
import { isJsonObject } from '../../state-db/decode.ts';

const MOST_ITEMS = 64;
const DEEPEST = 8;
const LONGEST_STRING = 8192;
const LONGEST_IN_ALL = 65_536;
const MARK = '...[truncated]';

/** The arguments of a call as they are shown: 64 items in a container, depth 8, 8,192 characters a string, 65,536 in all. */
export function boundArgs(args: unknown): unknown {
  return args === null || args === undefined ? {} : boundJson(args);
}

/** The same for any value. */
export function boundJson(value: unknown): unknown {
  return bound(value, 0, { left: LONGEST_IN_ALL });
}

function bound(value: unknown, depth: number, budget: { left: number }): unknown {
  if (typeof value === 'string') return boundString(value, budget);
  if (Array.isArray(value)) {
    if (depth >= DEEPEST) return [];
    return value
      .slice(0, MOST_ITEMS)
      .filter(() => budget.left > 0)
      .map((item) => bound(item, depth + 1, budget));
  }
  if (!isJsonObject(value)) return value;
  const kept: [string, unknown][] = [];
  if (depth >= DEEPEST) return {};
  for (const [key, item] of Object.entries(value)) {
    if (key.startsWith('_')) continue;
    if (kept.length === MOST_ITEMS || budget.left <= 0) break;
    budget.left -= key.length;
    kept.push([key, bound(item, depth + 1, budget)]);
  }
  return Object.fromEntries(kept);
}

function boundString(value: string, budget: { left: number }): string {
  const room = Math.max(0, Math.min(LONGEST_STRING, budget.left));
  budget.left -= Math.min(value.length, room);
  return cutText(value, room, MARK);
}

/** At most so many UTF-16 units, never half of a pair; `mark` follows what was cut. */
export function cutText(value: string, most: number, mark = ''): string {
  if (value.length <= most) return value;
  const code = value.charCodeAt(most - 1);
  const splitsPair = code >= 0xd800 && code <= 0xdbff;
  return value.slice(0, splitsPair ? most - 1 : most) + mark;
}
