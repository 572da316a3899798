/** The turns of a whole list, judged at once: what it costs, and that they are judged as one is. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { commandHost } from '../../support/command-host.ts';
import { writeJournal } from '../../support/journal-lines.ts';
import { sidecarText } from '../../support/sidecars.ts';
import { buildStore, M, S } from '../../support/stores.ts';

const NOW = 2_000_000_000;
const IDS = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Sessions that wait for runs which are over: the store is older for each but the last, which a row came to just now. */
function home() {
  const rows = IDS.map((id) => M(id, { role: 'user', content: 'x', timestamp: id === 'f' ? NOW - 1 : NOW - 5000 }));
  const path = buildStore({ schema: 31, rows: [...IDS.map((id) => S(id, { source: 'webui' })), ...rows] });
  const sessionsDir = join(dirname(path), 'webui', 'sessions');
  mkdirSync(sessionsDir, { recursive: true });
  for (const id of IDS) {
    const pending = { pending_user_message: 'x', pending_started_at: NOW - 4000, active_stream_id: `r_${id}` };
    writeFileSync(join(sessionsDir, `${id}.json`), sidecarText(id, pending, []));
    writeJournal({ root: join(sessionsDir, '_run_journal'), sessionId: id, runId: `r_${id}` }, [
      { event: 'token', payload: { text: 'x' } },
    ]);
  }
  writeFileSync(join(sessionsDir, 'idle.json'), sidecarText('idle', {}, []));
  writeFileSync(join(sessionsDir, '_index.json'), JSON.stringify([{ session_id: 'n1', parent_session_id: 'b' }]));
  return commandHost(path, { now: NOW });
}

it('asks the store once, however many sessions wait', async () => {
  const host = home();
  const read = vi.spyOn(host.writer, 'read');
  const costs: number[] = [];
  for (const ids of [['a'], [...IDS, 'idle', 'nowhere']]) {
    read.mockClear();
    await host.run('judgeTurns', { ids });
    costs.push(read.mock.calls.length);
  }
  expect(costs).toEqual([1, 1]);
  read.mockClear();
  await host.run('judgeTurns', { ids: ['idle', 'nowhere'] });
  expect(read).not.toHaveBeenCalled();
  host.close();
});

it('judges each as it would alone', async () => {
  const host = home();
  const all = await host.run('judgeTurns', { ids: [...IDS, 'idle', 'nowhere'] });
  const alone = [];
  for (const id of IDS) alone.push(...(await host.run('judgeTurns', { ids: [id] })));
  expect(all.map(([id]) => id)).toEqual(IDS);
  expect(all).toEqual(alone);
  expect(all.map(([, { live }]) => live)).toEqual(['DEAD', 'DEAD', 'DEAD', 'DEAD', 'DEAD', 'LIVE']);
  host.close();
});

it('tells a turn that an index goes on with from one that nothing follows, also after the index changed', async () => {
  const host = home();
  const blocks = async () => {
    const plans = await host.run(
      'repairStalePendingMany',
      { sessionIds: ['a', 'b'], force: true, ignoreCore: false, touchesUpdatedAt: false },
      { dryRun: true },
    );
    return plans.recoveries.map(({ outcome }) => outcome);
  };
  expect(await blocks()).toEqual(['RECOVERED_OUTPUT', 'HAS_CONTINUATION']);
  const sessionsDir = join(host.webUiDir, 'sessions');
  writeFileSync(join(sessionsDir, '_index.json'), JSON.stringify([{ session_id: 'n1', parent_session_id: 'a', title: 'moved' }]));
  expect(await blocks()).toEqual(['HAS_CONTINUATION', 'RECOVERED_OUTPUT']);
  host.close();
});
