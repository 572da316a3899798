/** What a reader makes of what he was told, over one stream or several that were resumed: the text, and that nothing came twice. */
import { expect } from 'vitest';
import type { LiveEvent, LiveEventOf } from '../../../src/live/conversation/events.ts';
import type { Reader } from './following.ts';

/** Text by segment, put together as a client does: a snapshot begins anew, each delta goes in at its offset. */
export function textOf(events: readonly LiveEvent[], kind: 'TextDelta' | 'ReasoningDelta' = 'TextDelta'): string[] {
  const texts: string[] = [];
  for (const event of events) {
    if (event.kind === 'LiveSnapshot') {
      const { turn } = event.snapshot;
      for (const { index, text, offset } of (kind === 'TextDelta' ? turn?.segments : turn?.reasoning) ?? [])
        texts[index] = (texts[index] ?? '').slice(0, offset) + text;
    } else if (event.kind === kind) {
      const before = texts[event.segment] ?? '';
      expect(event.offset).toBeLessThanOrEqual(before.length);
      texts[event.segment] = before.slice(0, event.offset) + event.text + before.slice(event.offset);
    }
  }
  return texts;
}

/** No content twice, whichever of the streams it came with. */
export function expectOnce(...readers: readonly Reader[]): void {
  const ids = readers.flatMap(({ content }) => content.map(({ id }) => id));
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
}

/** The numbers of a run's lines that deltas cover, without a gap. */
export function expectGapless(deltas: readonly LiveEventOf<'TextDelta'>[]): void {
  for (const [index, delta] of deltas.entries()) {
    const before = deltas[index - 1];
    if (before !== undefined) expect(delta.seqFrom).toBe(before.seqTo + 1);
  }
}

/** Where the first event of a kind is; throws when there is none. */
export function place(events: readonly LiveEvent[], kind: LiveEvent['kind'], matches: (event: LiveEvent) => boolean = () => true): number {
  const index = events.findIndex((event) => event.kind === kind && matches(event));
  if (index === -1) throw new Error(`no ${kind}; there were: ${events.map((event) => event.kind).join(' ')}`);
  return index;
}
