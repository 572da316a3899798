/** A turn whose text is counted words: what a reader has of it shows how far he came. */
import { FollowedTurns, type Reader } from './following.ts';

export const token = (text: string) => ({ event: 'token', payload: { text } });
export const words = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => token(`${from + index} `));
export const textOfWords = (to: number) => Array.from({ length: to }, (_, index) => `${index} `).join('');

export async function running(lines = 0): Promise<{ test: FollowedTurns; reader: Reader }> {
  const test = await FollowedTurns.begin();
  await test.ui.createSession('s');
  const reader = await test.follow('s');
  await test.ui.submit({ sessionId: 's', runId: 'r', text: 'hi' });
  await reader.until('TurnStarted');
  if (lines === 0) return { test, reader };
  await test.ui.journal('s', 'r', words(0, lines));
  await reader.when('the text', () => reader.of('TextDelta').at(-1)?.seqTo === lines);
  return { test, reader };
}

export async function finish(test: FollowedTurns, text: string): Promise<void> {
  await test.ui.rows('s', [{ role: 'assistant', content: text }]);
  await test.ui.settle({ sessionId: 's', runId: 'r' });
  await test.ui.journal('s', 'r', [{ event: 'done' }, { event: 'stream_end' }]);
}

/** Takes a moment; then what comes is no more of the same. */
export async function quiet(test: FollowedTurns): Promise<void> {
  await test.told();
  await test.told();
}
