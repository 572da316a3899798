import { afterEach, describe, expect, it, vi } from 'vitest';
import type { LiveEvent } from '../../../src/live/conversation/events.ts';
import { FrameGroup, type FrameSource } from '../../../src/live/conversation/frame-group.ts';
import { ConversationLog } from '../../../src/live/conversation/log.ts';
import { DEFAULT_OPTIONS } from '../../../src/live/conversation/options.ts';
import type { LivePosition } from '../../../src/live/conversation/position.ts';

afterEach(() => vi.restoreAllMocks());

const POSITION: LivePosition = {
  conversationId: 's',
  generation: 'g',
  since: 0,
  covered: false,
  runs: [],
  rows: { segmentId: 's', maxRowId: '0', digest: '', turnId: null, at: 0, views: ['', '', ''] },
};

function deleted(id: string): LiveEvent {
  const place = { profile: 'default', sessionId: 's', conversationId: 's', depth: 0, runId: null, at: 0, late: false } as const;
  return { kind: 'SessionDeleted', id, class: 'CONTENT', origin: 'STATE_DB', ...place };
}

function groupOf(replay: FrameSource['replay'] = async () => null) {
  const log = new ConversationLog();
  log.push([], POSITION);
  const onEmpty = vi.fn();
  const facts = { segmentIds: ['s'], sessionId: 's', segmentText: () => null };
  const source: FrameSource = { log, facts, now: () => 0, cursorAt: (_, index) => String(index), replay, isDue: () => false };
  const group = new FrameGroup(source, DEFAULT_OPTIONS, onEmpty);
  const tell = (id: string) => {
    log.push([deleted(id)], POSITION);
    group.onBatch();
  };
  return { log, group, tell, onEmpty };
}

const START = { position: POSITION, events: [] } as const;

describe('a subscriber', () => {
  it('that asks for nothing for five minutes although there is something is ended as too slow', async () => {
    const { log, group, tell } = groupOf();
    const stream = group.join({ ...START, index: log.end }, new AbortController().signal, () => {});
    tell('a');
    const later = performance.now() + 301_000;
    vi.spyOn(performance, 'now').mockReturnValue(later);
    group.tick();
    await expect(stream.next()).rejects.toMatchObject({ code: 'TOO_SLOW' });
    expect(group.size).toBe(0);
  });

  it('that waits for news is not, however long none come', async () => {
    const { log, group, tell } = groupOf();
    const stream = group.join({ ...START, index: log.end }, new AbortController().signal, () => {});
    const next = stream.next();
    const later = performance.now() + 301_000;
    vi.spyOn(performance, 'now').mockReturnValue(later);
    group.tick();
    tell('a');
    expect((await next).value?.events.map(({ id }: LiveEvent) => id)).toEqual(['a']);
    group.close();
  });

  it('that left while its start was read leaves nothing behind', async () => {
    const { log, group, onEmpty } = groupOf();
    const abort = new AbortController();
    abort.abort();
    const onLeave = vi.fn();
    const stream = group.join({ ...START, index: log.end }, abort.signal, onLeave);
    expect((await stream.next()).done).toBe(true);
    expect([onLeave, onEmpty].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  });

  it('whose missed part could not be read gets it with a later tick', async () => {
    const answers = [null, { events: [deleted('missed')], index: 2, position: POSITION }];
    const { log, group, tell } = groupOf(async () => answers.shift() ?? null);
    const stream = group.join({ ...START, index: log.end - 2 }, new AbortController().signal, () => {});
    const next = stream.next();
    tell('a');
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(answers).toHaveLength(1);
    group.tick();
    expect((await next).value?.events.map(({ id }: LiveEvent) => id)).toEqual(['missed']);
    group.close();
  });
});
