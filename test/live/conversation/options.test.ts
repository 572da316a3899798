/** What a subscriber chooses to hear (`spec/live-turns.md` 12 `LiveOptions`). */
import { describe, expect, it } from 'vitest';
import type { LiveEvent } from '../../../src/live/conversation/events.ts';
import { chosen, DEFAULT_OPTIONS, type FilterFacts, type LiveOptions } from '../../../src/live/conversation/options.ts';
import { FollowedTurns } from './following.ts';
import { expectOnce } from './telling.ts';

const token = (text: string) => ({ event: 'token', payload: { text } });

async function played(options: Partial<LiveOptions>) {
  const test = await FollowedTurns.begin();
  await test.ui.createSession('s');
  const plain = await test.follow('s');
  const reader = await test.follow('s', null, options);
  const { texts, reasonings } = await test.ui.play('s', { seed: 11, rounds: 2, words: 8, beatMs: 30 });
  for (const each of [plain, reader]) await each.until('TurnEnded');
  expectOnce(plain);
  return { test, plain, reader, texts: texts.filter((text) => text !== ''), reasonings };
}

describe('text', () => {
  it('SNAPSHOT: comes whole each time', async () => {
    const { reader, texts, reasonings } = await played({ text: 'SNAPSHOT', reasoning: 'SNAPSHOT' });
    const deltas = reader.of('TextDelta');
    expect(deltas.every((event) => event.offset === 0 && event.class === 'STATE')).toBe(true);
    const last = new Map(deltas.map(({ segment, text }) => [segment, text]));
    expect([...last.values()]).toEqual(texts);
    for (const { segment, text } of deltas) expect(texts[segment]?.startsWith(text)).toBe(true);
    expect([...new Map(reader.of('ReasoningDelta').map(({ segment, text }) => [segment, text])).values()]).toEqual(reasonings);
  });

  it('NONE: does not come, and everything else does', async () => {
    const { plain, reader } = await played({ text: 'NONE', reasoning: 'NONE' });
    expect([...reader.of('TextDelta'), ...reader.of('ReasoningDelta')]).toEqual([]);
    const others = (events: readonly LiveEvent[]) =>
      events.filter((event) => event.class === 'CONTENT' && !event.kind.endsWith('Delta')).map(({ id }) => id);
    expect(others(reader.events)).toEqual(others(plain.events));
  });

  it('NONE: costs no frame', async () => {
    const test = await FollowedTurns.begin();
    await test.ui.createSession('s');
    const reader = await test.follow('s', null, { text: 'NONE' });
    await test.ui.submit({ sessionId: 's', runId: 'r', text: 'hi' });
    await test.ui.journal('s', 'r', [token('a')]);
    await reader.when('the phase', () => reader.of('TurnPhaseChanged').some(({ phase }) => phase === 'WRITING'));
    const frames = reader.frames.length;
    await test.ui.journal('s', 'r', [token('b'), token('c')]);
    await test.ui.journal('s', 'r', [{ event: 'title', payload: { title: 'T' } }]);
    await reader.until('TitleChanged');
    expect(reader.frames.slice(frames).flatMap(({ events }) => events.map(({ kind }) => kind))).toEqual(['TitleChanged']);
    // The cursor is that of everything that was passed over.
    const later = await test.follow('s', await reader.stop());
    await test.ui.journal('s', 'r', [token('d')]);
    await later.until('TextDelta');
    expect(later.of('TextDelta').map(({ text }) => text)).toEqual(['d']);
  });
});

describe('metering', () => {
  it('false: leaves only the final usage of the turn, and what the session counts', async () => {
    const test = await FollowedTurns.begin();
    await test.ui.createSession('s');
    const plain = await test.follow('s');
    const reader = await test.follow('s', null, { metering: false });
    await test.ui.submit({ sessionId: 's', runId: 'r', text: 'hi' });
    await test.ui.journal('s', 'r', [token('a'), { event: 'metering', payload: { tps: 40, usage: { output_tokens: 3 } } }]);
    await plain.until('UsageChanged');
    await test.ui.usage('s', 10, 5);
    await reader.when('the counters', () => reader.of('UsageChanged').some(({ settled }) => settled?.outputTokens === 5));
    await test.ui.journal('s', 'r', [{ event: 'done', payload: { usage: { output_tokens: 5 } } }]);
    await reader.until('TurnEnded');
    expect(reader.of('UsageChanged').filter(({ live }) => live !== null && !live.final)).toEqual([]);
    expect(reader.of('TurnEnded')[0]?.usage).toMatchObject({ outputTokens: 5, final: true });
  });
});

describe('options', () => {
  const base = {
    id: 'x',
    class: 'CONTENT',
    profile: 'default',
    sessionId: 's',
    conversationId: 's',
    depth: 0,
    runId: 'r',
    at: 1,
    origin: 'RUN_JOURNAL',
    late: false,
  } as const;
  const facts: FilterFacts = { segmentIds: ['s', 'c'], sessionId: 's', segmentText: () => 'all of it' };
  const through = (event: object, options: Partial<LiveOptions>) =>
    chosen([{ ...base, ...event } as LiveEvent], { ...DEFAULT_OPTIONS, ...options }, facts);
  const delta = { kind: 'TextDelta', segment: 0, offset: 3, text: 'd', seqFrom: 1, seqTo: 1 };
  const started = {
    kind: 'ToolStarted',
    toolCallId: 'c',
    name: 'n',
    argsPreview: { a: 1 },
    argsComplete: true,
    segment: 0,
    messageId: null,
  };

  it.each([
    ['text DELTA', delta, {}, { text: 'd', offset: 3, class: 'CONTENT' }],
    ['text SNAPSHOT', delta, { text: 'SNAPSHOT' }, { text: 'all of it', offset: 0, class: 'STATE' }],
    ['reasoning is another matter', { ...delta, kind: 'ReasoningDelta' }, { text: 'NONE' }, { text: 'd' }],
    ['arguments', started, {}, { argsPreview: { a: 1 }, argsComplete: true }],
    ['no arguments', started, { toolArgs: false }, { argsPreview: null, argsComplete: false }],
    ['messages FULL', { kind: 'MessagesAppended', ids: ['1'], full: false }, { messages: 'FULL' }, { full: true }],
  ] as const)('%s', (_, event, options, expected) => {
    expect(through(event, options as Partial<LiveOptions>)).toEqual([expect.objectContaining(expected)]);
  });

  it.each([
    ['text NONE', delta, { text: 'NONE' }],
    ['reasoning NONE', { ...delta, kind: 'ReasoningDelta' }, { reasoning: 'NONE' }],
    ['rows of delegates by default', { kind: 'MessagesAppended', depth: 1, ids: ['1'] }, {}],
    ['anything of delegates with NONE', { kind: 'DelegationStarted', depth: 1 }, { delegates: 'NONE' }],
    ['what the continuation tells', { ...delta, sessionId: 'c' }, { followContinuations: false }],
  ] as const)('leave out: %s', (_, event, options) => {
    expect(through(event, options as Partial<LiveOptions>)).toEqual([]);
  });

  it('a text whose run is not known any more comes as it is', () => {
    const gone: FilterFacts = { ...facts, segmentText: () => null };
    const events = chosen([{ ...base, ...delta } as LiveEvent], { ...DEFAULT_OPTIONS, text: 'SNAPSHOT' }, gone);
    expect(events).toEqual([expect.objectContaining({ text: 'd', offset: 3, class: 'CONTENT' })]);
  });

  it('the way to the continuation is told also to those who stay', () => {
    const continued = { kind: 'SessionContinued', sessionId: 'c', fromSessionId: 's', toSessionId: 'c' };
    expect(through(continued, { followContinuations: false })).toHaveLength(1);
    expect(through({ ...continued, fromSessionId: 'c', toSessionId: 'd' }, { followContinuations: false })).toEqual([]);
  });
});
