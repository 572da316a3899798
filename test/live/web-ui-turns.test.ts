import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type LiveSessionsFrame, SessionFeed } from '../../src/live/session-feed.ts';
import { StoreWatches } from '../../src/live/store-watches.ts';
import { WebUiTurns } from '../../src/live/web-ui-turns.ts';
import { SidecarWatch } from '../../src/web-ui/sidecar-watch.ts';
import { openStore } from '../support/open-store.ts';
import { startWebUi } from '../support/web-ui-turn.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function begin({ profile = 'default', underWay = false } = {}) {
  const home = mkdtempSync(join(tmpdir(), 'caduceus-turns-'));
  const ui = await startWebUi({ home, profile });
  const store = openStore(ui.statePath, { profile });
  const watch = new SidecarWatch({ sessionsDir: ui.sessions });
  const turns = new WebUiTurns({ sessionsDir: ui.sessions, watch, onError: (error) => expect(error).toBeNull() });
  const feed = new SessionFeed(new StoreWatches(), turns);
  const follow = async () => {
    const abort = new AbortController();
    cleanups.push(() => abort.abort());
    const frames = await feed.follow(store, { sessionIds: null, after: null, maxRateHz: 50 }, abort.signal);
    return { frames, abort };
  };
  cleanups.push(
    () => rmSync(home, { recursive: true, force: true }),
    () => ui.close(),
    () => store.close(),
    () => feed.close(),
  );
  await ui.createSession('s', { rows: [{ role: 'user', content: 'earlier' }] });
  if (underWay) await ui.submit({ sessionId: 's', runId: 'r', text: 'go' });
  return { ui, watch, turns, follow, ...(await follow()) };
}

/** The sessions that a profile's listeners are told of. */
function toldTo(turns: WebUiTurns, profile: string): string[] {
  const told: string[] = [];
  cleanups.push(turns.listen(profile, (sessionId) => told.push(sessionId)));
  return told;
}

/** Longer than saves take to settle and to be told. */
const QUIET_MS = 150;

async function untilTurn(frames: AsyncIterableIterator<LiveSessionsFrame>): Promise<string | undefined> {
  for (;;) {
    const { value, done } = await frames.next();
    if (done) return undefined;
    const change = value.changes.find(({ kinds }) => kinds.includes('TURN'));
    if (change !== undefined) return change.sessionId;
  }
}

describe('turns of the Web UI in a list', () => {
  it('are told when they begin and when they end, before any row is', async () => {
    const { ui, frames } = await begin();
    await ui.submit({ sessionId: 's', runId: 'r', text: 'go' });
    expect(await untilTurn(frames)).toBe('s');
    await ui.settle({ sessionId: 's', runId: 'r' });
    expect(await untilTurn(frames)).toBe('s');
  });

  it('that were under way before anybody followed are told when they end', async () => {
    const { ui, frames } = await begin({ underWay: true });
    await ui.settle({ sessionId: 's', runId: 'r' });
    expect(await untilTurn(frames)).toBe('s');
  });

  it('that began while nobody followed are told when they end', async () => {
    const { ui, frames, abort, follow } = await begin();
    await ui.submit({ sessionId: 's', runId: 'r', text: 'go' });
    await untilTurn(frames);
    await ui.settle({ sessionId: 's', runId: 'r' });
    await untilTurn(frames);
    await sleep(QUIET_MS);
    abort.abort();
    await ui.submit({ sessionId: 's', runId: 'r2', text: 'again' });
    const later = await follow();
    await ui.settle({ sessionId: 's', runId: 'r2' });
    expect(await untilTurn(later.frames)).toBe('s');
  });

  it('end for their own profile when the sidecar is deleted, and for no other', async () => {
    const { ui, turns, frames } = await begin({ profile: 'work' });
    const [work, other] = [toldTo(turns, 'work'), toldTo(turns, 'default')];
    await ui.submit({ sessionId: 's', runId: 'r', text: 'go' });
    expect(await untilTurn(frames)).toBe('s');
    await sleep(QUIET_MS);
    work.length = 0;
    rmSync(join(ui.sessions, 's.json'));
    expect(await untilTurn(frames)).toBe('s');
    await sleep(QUIET_MS);
    expect([work, other]).toEqual([['s'], []]);
  });

  it('end also when the sidecar is deleted before it was ever looked at', async () => {
    const { ui, frames } = await begin({ profile: 'work', underWay: true });
    rmSync(join(ui.sessions, 's.json'));
    expect(await untilTurn(frames)).toBe('s');
  });

  it('are not told again by saves that change no turn', async () => {
    const { ui, turns } = await begin();
    const told = toldTo(turns, 'default');
    await ui.submit({ sessionId: 's', runId: 'r', text: 'go' });
    await vi.waitFor(() => expect(told).not.toEqual([]));
    await sleep(QUIET_MS);
    told.length = 0;
    await ui.sidecar('s', { title: 'Another' });
    await sleep(QUIET_MS);
    expect(told).toEqual([]);
  });

  it('leave no watch behind when nobody follows', async () => {
    const { watch, abort } = await begin();
    expect(watch.watches).toBeGreaterThan(0);
    abort.abort();
    expect(watch.watches).toBe(0);
  });
});
