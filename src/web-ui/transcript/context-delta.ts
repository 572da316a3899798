/**
 * Which rows are newer than what the model was last sent (`spec/webui-transcript.md` 13). The store may hold the context again with other
 * times: appended, it would replay old turns to the model.
 */
import { KeyCache } from './message-keys.ts';
import { withPayloads } from './payloads.ts';
import { isMessage } from './values.ts';

/** A shorter run is no mirror of the context. */
const SHORTEST_RUN = 2;

/** The indexes of the state messages that follow the context, in order; all of them where the store doesn't mirror it. */
export function contextDelta(context: readonly unknown[], state: readonly unknown[]): number[] {
  const all = state.map((_, index) => index);
  if (context.length === 0 || state.length === 0) return all;
  const cache = new KeyCache();
  const contextKeys = withPayloads(context, state).map((row) => cache.of(row, 'LITERAL').content);
  const stateKeys = state.map((row) => cache.of(row, 'STATE').content);
  const { offset, length } = longestRun(contextKeys, stateKeys);
  const first = context[0];
  const isRecovered = offset === 0 && isMessage(first) && first.role === 'user' && Boolean(first._recovered);
  if (length < (isRecovered ? 1 : SHORTEST_RUN)) return all;
  let next = offset + length;
  let at = length;
  for (; at < stateKeys.length && next < contextKeys.length; at += 1) if (stateKeys[at] === contextKeys[next]) next += 1;
  return all.slice(next === contextKeys.length ? at : length);
}

/**
 * The longest beginning of the state that stands in the context, and where; the first such place. Offsets end where the shorter list ends:
 * hazard H15, kept as the reference has it. In linear time, by the Z function of the state followed by the context.
 */
function longestRun(context: readonly string[], state: readonly string[]): { offset: number; length: number } {
  const text = [...state, null, ...context];
  const runs = new Uint32Array(text.length);
  let left = 0;
  let right = 0;
  for (let at = 1; at < text.length; at += 1) {
    let run = at < right ? Math.min(right - at, runs[at - left] ?? 0) : 0;
    while (at + run < text.length && text[run] === text[at + run]) run += 1;
    runs[at] = run;
    if (at + run > right) [left, right] = [at, at + run];
  }
  let best = { offset: 0, length: 0 };
  for (let offset = 0; offset < Math.min(context.length, state.length); offset += 1) {
    const length = runs[state.length + 1 + offset] ?? 0;
    if (length > best.length) best = { offset, length };
  }
  return best;
}
