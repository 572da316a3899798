/**
 * Turns that are played while a reader comes and goes and the server is started anew (`spec/live-turns.md` 14.2, 21 case 80). Whatever
 * happens, what he was told in all is what the sources hold, each once and in order. `CHAOS_SEEDS=200` plays more of them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../src/demo/random.ts';
import type { LiveEvent, LiveEventOf } from '../../../src/live/conversation/events.ts';
import type { LiveFrame } from '../../../src/live/conversation/frame-group.ts';
import type { Played, PlayOptions } from '../../support/web-ui-turn.ts';
import { FollowedTurns } from './following.ts';
import { textOf } from './telling.ts';

const SEEDS = Number(process.env.CHAOS_SEEDS ?? 12);
const FIRST = Number(process.env.CHAOS_FIRST ?? 1);

describe('a reader that comes and goes', () => {
  it.each(Array.from({ length: SEEDS }, (_, index) => FIRST + index))('80: is told everything once, with seed %i', async (seed) => {
    const random = new SeededRandom(seed);
    const test = await FollowedTurns.begin();
    await test.ui.createSession('s');
    const reading = new Comings(test, random);
    await reading.begin();
    const turns: { played: Played; options: PlayOptions }[] = [];
    const playing = (async () => {
      for (let turn = 0; turn < 1 + Math.floor(random.next() * 2); turn++) {
        const options = optionsOf(random, seed * 10 + turn);
        turns.push({ options, played: await test.ui.play('s', options) });
      }
    })();
    const ends = () => reading.events.filter(({ kind }) => kind === 'TurnEnded').length;
    let over = false;
    void playing.finally(() => {
      over = true;
    });
    while (!over) await reading.once(random.between(0, 120));
    await playing;
    await reading.until(() => ends() >= turns.length);
    await test.told(turns.at(-1)?.played.sessionId);
    await reading.once(30);
    const stored = (await test.exec('SELECT id FROM messages ORDER BY id')) as { id: number }[];
    check(
      reading.events,
      turns,
      stored.map(({ id }) => String(id)),
    );
    expect(test.errors).toEqual([]);
  });
});

describe('a reader that comes and goes while the transcript is compacted', () => {
  it.each(Array.from({ length: Math.ceil(SEEDS / 4) }, (_, index) => FIRST + index))(
    '80: knows in the end what there is, with seed %i',
    async (seed) => {
      const random = new SeededRandom(seed);
      const test = await FollowedTurns.begin();
      await test.ui.createSession('s');
      const reading = new Comings(test, random);
      await reading.begin();
      let over = false;
      const playing = test.ui.play('s', { seed, rounds: 2, words: 8, beatMs: 60, compress: 'COMPACT' }).finally(() => {
        over = true;
      });
      while (!over) await reading.once(random.between(0, 120));
      const played = await playing;
      await test.told();
      await reading.once(50);
      const { events } = reading;
      // Copies that came while nobody looked can't be told as such (14.1 `d`): then he begins anew with a snapshot, else each is told once.
      const ids = events.filter((event) => event.class === 'CONTENT').map(({ id }) => id);
      expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
      expect(events.flatMap((event) => (event.kind === 'StreamReset' ? [`${event.reason} ${event.scope}`] : [])).slice(1)).toEqual([]);
      const stored = (await test.exec('SELECT id FROM messages ORDER BY id')) as { id: number }[];
      const last = events.findLastIndex(({ kind }) => kind === 'LiveSnapshot');
      const snapshot = events[last];
      const known = snapshot?.kind === 'LiveSnapshot' ? Number(snapshot.snapshot.head?.maxMessageId ?? 0) : 0;
      expect(rowsOf(events.slice(last))).toEqual(stored.flatMap(({ id }) => (id > known ? [String(id)] : [])));
      const { turn } = (await test.turns.snapshot(test.store, 's')).snapshot;
      expect(turn).toBe(null);
      const ends = events.flatMap((event) => (event.kind === 'TurnEnded' ? [`${event.turnId} ${event.outcome}`] : []));
      // The snapshot of a reset that came behind the end has no turn any more.
      expect(ends.length === 0 ? last : 1).toBeGreaterThan(0);
      expect(ends.filter((end) => end !== `${played.runId} COMPLETED`)).toEqual([]);
      expect(test.errors).toEqual([]);
    },
  );
});

describe('a reader that comes and goes while the Web UI crashes', () => {
  it.each(Array.from({ length: Math.ceil(SEEDS / 4) }, (_, index) => FIRST + index))(
    '80: is told what was journaled and one end, with seed %i',
    async (seed) => {
      const random = new SeededRandom(seed);
      const test = await FollowedTurns.begin({ tickMs: 100 });
      await test.ui.createSession('s');
      const reading = new Comings(test, random);
      await reading.begin();
      const runId = `crashed${seed}`;
      const lost = test.ui.play('s', { seed, runId, rounds: 6, words: 20, beatMs: 100 }).catch(() => null);
      const wait = random.between(20, 500);
      for (const begun = performance.now(); performance.now() - begun < wait; ) await reading.once(random.between(0, 120));
      await reading.until(() => reading.events.some(({ kind }) => kind === 'TurnStarted'));
      await test.restartUi();
      await lost;
      await reading.until(() => reading.events.some(({ kind }) => kind === 'TurnEnded'));
      for (let count = 0; count < 3; count++) await reading.once(random.between(0, 120));
      const { events } = reading;
      const ids = events.filter((event) => event.class === 'CONTENT').map(({ id }) => id);
      expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
      expect(
        events.flatMap((event) => (event.kind === 'TurnEnded' ? [`${event.turnId} ${event.outcome} ${event.certainty}`] : [])),
      ).toEqual([`${runId} INTERRUPTED CERTAIN`]);
      expect(events.filter((event) => event.kind === 'TurnStarted' && event.class === 'CONTENT')).toHaveLength(1);
      const journal = join(test.ui.sessions, '_run_journal', 's', `${runId}.jsonl`);
      const lines = existsSync(journal) ? readFileSync(journal, 'utf8').split('\n').slice(0, -1) : [];
      const tokens = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'token');
      expect(textOf(events).join('')).toBe(tokens.map(({ payload }) => payload.text).join(''));
      const stored = (await test.exec('SELECT id FROM messages ORDER BY id')) as { id: number }[];
      expect(rowsOf(events)).toEqual(stored.map(({ id }) => String(id)));
      expect(test.errors).toEqual([]);
    },
  );
});

function optionsOf(random: SeededRandom, seed: number): PlayOptions {
  const kind = random.next();
  const common = { seed, rounds: Math.floor(random.next() * 3), words: 8, beatMs: 20 + random.next() * 60 };
  if (kind < 0.3) return { ...common, compress: 'ROTATE' };
  // Long before it would end by itself.
  return kind < 0.8 ? common : { ...common, rounds: 4, cancelAfter: 3 + Math.floor(random.next() * 25) };
}

/** A reader who is cut off again and again, and sometimes loses the last frames on the way. */
class Comings {
  readonly #test: FollowedTurns;
  readonly #random: SeededRandom;
  readonly #frames: LiveFrame[] = [];

  constructor(test: FollowedTurns, random: SeededRandom) {
    this.#test = test;
    this.#random = random;
  }

  get events(): LiveEvent[] {
    return this.#frames.flatMap(({ events }) => events);
  }

  async begin(): Promise<void> {
    const reader = await this.#test.follow('s');
    await reader.until('LiveSnapshot');
    await reader.stop();
    this.#frames.push(...reader.frames);
  }

  async once(ms: number): Promise<void> {
    if (this.#random.next() < 0.25) this.#test.restart();
    const lost = this.#random.next() < 0.2 ? Math.floor(this.#random.next() * 3) : 0;
    this.#frames.length = Math.max(1, this.#frames.length - lost);
    const coalesceMs = this.#random.next() < 0.3 ? 0 : 50;
    const reader = await this.#test.follow('s', this.#frames.at(-1)?.cursor ?? null, { coalesceMs });
    await sleep(ms);
    await reader.stop();
    this.#frames.push(...reader.frames);
  }

  async until(condition: () => boolean): Promise<void> {
    const end = performance.now() + 12_000;
    while (!condition()) {
      if (performance.now() > end) throw new Error(`the ends did not come; there were: ${this.events.map(({ kind }) => kind).join(' ')}`);
      await this.once(40);
    }
  }
}

function check(events: readonly LiveEvent[], turns: readonly { played: Played; options: PlayOptions }[], stored: readonly string[]): void {
  const of = <K extends LiveEvent['kind']>(kind: K) => events.filter((event) => event.kind === kind) as unknown as LiveEventOf<K>[];
  expect(of('StreamReset')).toEqual([]);
  expect(of('LiveSnapshot').map(({ reason }) => reason)).toEqual(['INITIAL']);
  const ids = events.filter((event) => event.class === 'CONTENT').map(({ id }) => id);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  expect(
    of('TurnStarted')
      .filter((event) => event.class === 'CONTENT')
      .map(({ turnId }) => turnId),
  ).toEqual(turns.map(({ played }) => played.runId));
  expect(of('TurnEnded').map(({ turnId, outcome }) => [turnId, outcome])).toEqual(
    turns.map(({ played, options }) => [played.runId, options.cancelAfter === undefined ? 'COMPLETED' : 'CANCELLED']),
  );
  expect(rowsOf(events)).toEqual(stored);
  for (const { played } of turns) checkTurn(events, played);
}

function checkTurn(events: readonly LiveEvent[], { runId, texts, reasonings }: Played): void {
  const own = events.filter((event) => event.runId === runId);
  const begin = events.findIndex((event) => event.kind === 'TurnStarted' && event.runId === runId);
  expect(events.findIndex((event) => event.runId === runId)).toBe(begin);
  const end = own.find((event) => event.kind === 'TurnEnded');
  const cancelled = end?.outcome === 'CANCELLED';
  for (const [told, said] of [
    [textOf(own), texts.filter((text) => text !== '')],
    [textOf(own, 'ReasoningDelta'), reasonings],
  ] as const) {
    if (cancelled) expect(said.join('').startsWith(told.join(''))).toBe(true);
    else expect(told).toEqual(said);
  }
  // The end comes behind all rows of the turn.
  const at = events.findIndex(({ id }) => id === end?.id);
  const late = events.slice(at).flatMap((event) => (event.kind === 'MessagesAppended' && event.runId === runId ? event.ids : []));
  expect(late).toEqual([]);
  if (cancelled) return;
  const tools = (kind: 'ToolStarted' | 'ToolFinished') =>
    own.flatMap((event) => (event.kind === kind && event.class === 'CONTENT' ? [event.toolCallId] : []));
  expect(tools('ToolFinished').toSorted()).toEqual(tools('ToolStarted').toSorted());
}

/** All rows that were told of, in their order, as new or as copies. */
function rowsOf(events: readonly LiveEvent[]): string[] {
  return events.flatMap((event) => {
    switch (event.kind) {
      case 'MessagesAppended':
        return event.ids;
      case 'SessionContinued':
        return [...event.handoffIds, ...event.carried.map(({ newId }) => newId)];
      case 'TranscriptCompacted':
        return [...event.summaryIds, ...event.carried.map(({ newId }) => newId)];
      default:
        return [];
    }
  });
}
