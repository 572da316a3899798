import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
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

async function begin(profile = 'default') {
  const home = mkdtempSync(join(tmpdir(), 'caduceus-turns-'));
  const ui = await startWebUi({ home, profile });
  const store = openStore(ui.statePath);
  const watch = new SidecarWatch({ sessionsDir: ui.sessions });
  const watches = new StoreWatches();
  const feed = new SessionFeed(watches, new WebUiTurns({ sessionsDir: ui.sessions, watch, onError: (error) => expect(error).toBeNull() }));
  const abort = new AbortController();
  cleanups.push(
    () => rmSync(home, { recursive: true, force: true }),
    () => ui.close(),
    () => store.close(),
    () => feed.close(),
    () => abort.abort(),
  );
  await ui.createSession('s', { rows: [{ role: 'user', content: 'earlier' }] });
  const frames = await feed.follow(store, { sessionIds: null, after: null, maxRateHz: 50 }, abort.signal);
  return { ui, feed, frames, watch, abort };
}

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

  it('leave no watch behind when nobody follows', async () => {
    const { watch, abort } = await begin();
    expect(watch.watches).toBeGreaterThan(0);
    abort.abort();
    expect(watch.watches).toBe(0);
  });
});
