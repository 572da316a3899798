/** What must not happen however files and clients behave: events that get lost with a file that can't be read, or told to whom they don't belong. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { LiveEvent } from '../../../src/live/conversation/events.ts';
import { DEFAULT_OPTIONS } from '../../../src/live/conversation/options.ts';
import { decodeLiveCursor, encodeLiveCursor } from '../../../src/live/conversation/position.ts';
import { JournalUnreadable } from '../../../src/live/journal/open-journal.ts';
import { LiveTurns } from '../../../src/live/live-turns.ts';
import { TurnEvidenceReader } from '../../../src/live/liveness/turn-evidence.ts';
import { StoreWatches } from '../../../src/live/store-watches.ts';
import { FollowedTurns } from './following.ts';

describe('a turn journal that can only be read now and then', () => {
  it('costs no event', async () => {
    const test = await FollowedTurns.begin({ tickMs: 50 });
    await test.ui.createSession('s');
    const reader = await test.follow('s');
    const { read } = TurnEvidenceReader.prototype;
    let reads = 0;
    const broken = vi.spyOn(TurnEvidenceReader.prototype, 'read').mockImplementation(function (this: TurnEvidenceReader, ...args) {
      return ++reads % 2 === 1 ? Promise.reject(new JournalUnreadable(null)) : read.apply(this, args);
    });
    try {
      await test.ui.play('s', { seed: 2, rounds: 2, words: 6, beatMs: 40 });
      await reader.until('TurnEnded');
    } finally {
      broken.mockRestore();
    }
    expect(reads).toBeGreaterThan(1);
    expect(reader.of('TurnStarted').filter((event) => event.class === 'CONTENT')).toHaveLength(1);
    const stored = (await test.exec('SELECT id FROM messages ORDER BY id')) as { id: number }[];
    expect(reader.rowIds.map(String)).toEqual(stored.map(({ id }) => String(id)));
  });
});

describe('a hub that is closed while it reads', () => {
  it('leaves no watch behind', async () => {
    const test = await FollowedTurns.begin();
    await test.ui.createSession('s');
    const reader = await test.follow('s');
    await reader.until('LiveSnapshot');
    const [hub] = test.turns.hubs;
    await reader.stop();
    hub?.mark('rows', 'sidecars', 'runs', 'life');
    await Promise.resolve();
    await Promise.resolve();
    hub?.close();
    await sleep(200);
    expect(hub?.watches).toBe(0);
  });
});

describe('journals of another profile', () => {
  /** Everything that a reader of the default profile hears in the folder of a Web UI that runs a turn of another one. */
  async function heard(own: FollowedTurns, sessions: string, sessionId: string, after: string | null, play: () => Promise<unknown>) {
    const watches = new StoreWatches();
    const turns = new LiveTurns({ watches, sessionsDir: sessions, now: () => Date.now() / 1000, onError: () => {} });
    const abort = new AbortController();
    const events: LiveEvent[] = [];
    const frames = await turns.follow(own.store, sessionId, after, DEFAULT_OPTIONS, abort.signal);
    const reading = (async () => {
      for await (const frame of frames) events.push(...frame.events);
    })();
    await play();
    await sleep(300);
    abort.abort();
    await reading;
    turns.close();
    watches.close();
    return events.filter((event) => event.class === 'CONTENT').map(({ kind }) => kind);
  }

  it('are not told, neither by the id of their session nor by a cursor that names them', async () => {
    const other = await FollowedTurns.begin({ profile: 'other' });
    await other.ui.createSession('x');
    const own = await FollowedTurns.begin();
    await own.ui.createSession('mine');
    const play = () => other.ui.play('x', { seed: 3, rounds: 1, words: 12, beatMs: 20 });
    expect(await heard(own, other.ui.sessions, 'x', null, play)).toEqual([]);
    const { runId } = await play();
    const { cursor } = await own.turns.snapshot(own.store, 'mine');
    const real = decodeLiveCursor(cursor, own.store.profile);
    const run = { runId, sessionId: 'x', startedAt: Date.now() / 1000, position: null, ended: null };
    const forged = encodeLiveCursor({ ...real, mark: null, position: { ...real.position, runs: [run] } });
    expect(await heard(own, other.ui.sessions, 'mine', forged, async () => {})).toEqual([]);
  });
});

describe('rows of another program behind a crash of the Web UI, while the reader is away', () => {
  it('are not taken for rows of the turn that crashed', async () => {
    const test = await FollowedTurns.begin({ tickMs: 50 });
    await test.ui.createSession('s');
    const before = await test.follow('s');
    await test.ui.submit({ sessionId: 's', runId: 'r', text: 'hi' });
    await test.ui.journal('s', 'r', [{ event: 'context_status' }, { event: 'token', payload: { text: 'Hello ' } }]);
    await test.ui.rows('s', [{ role: 'user', content: 'hi' }]);
    await before.until('TextDelta');
    await before.until('MessagesAppended');
    const cursor = await before.stop();
    test.restart();
    await test.restartUi();
    const ids = await test.ui.rows('s', [
      { role: 'user', content: 'said elsewhere' },
      { role: 'assistant', content: 'answered elsewhere' },
    ]);
    const reader = await test.follow('s', cursor);
    await reader.until('TurnEnded');
    await reader.until('MessagesAppended', 2);
    const rows = reader.of('MessagesAppended').filter((event) => event.ids.some((id) => ids.map(String).includes(id)));
    expect(rows.map(({ runId }) => runId)).toEqual([null, null]);
    const [ended] = reader.of('TurnEnded');
    expect(ended).toMatchObject({ turnId: 'r', outcome: 'INTERRUPTED' });
    expect(ids.map(String)).not.toContain(ended?.lastMessageId);
  });
});
