/** What this server says of its caches (`spec/webui-recovery.md` C21, `spec/webui-listing.md` C28). */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeJournal } from '../support/journal-lines.ts';
import { sidecarPath, sidecarText } from '../support/sidecars.ts';
import { MESSAGES, startWebUi, type WebUiServer } from '../support/web-ui-server.ts';

interface Cache {
  readonly name: string;
  readonly entries: number;
  readonly bytes: number | null;
  readonly cap: number | null;
  readonly hits: number;
  readonly misses: number;
}

async function cache(server: WebUiServer, name: string): Promise<Cache> {
  const { cacheStats } = await server.read<{ cacheStats: readonly Cache[] }, undefined>(
    '{ cacheStats { name entries bytes cap capBytes hits misses evictions } }',
  );
  const found = cacheStats.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no cache ${name}`);
  return found;
}

it('C21, C28: tells what is kept, what was found in it and what was not', async () => {
  const server = await startWebUi({ files: { a: {}, b: {} }, allowWrites: false });
  writeJournal({ root: join(server.sessionsDir, '_run_journal'), sessionId: 'a', runId: 'r' }, [{ event: 'done' }]);
  const ask = () =>
    server.read('{ session(sessionId: "a") { sidecar { personality } transcript { revision } runs(first: 1) { nodes { runId } } } }');
  await ask();
  expect(await cache(server, 'SIDECAR_LIST')).toMatchObject({ entries: 2, bytes: null, cap: null });
  expect(await cache(server, 'TRANSCRIPTS')).toMatchObject({ entries: 1, cap: 200, hits: 0, misses: 1 });
  expect((await cache(server, 'TRANSCRIPTS')).bytes).toBeGreaterThan(0);
  expect(await cache(server, 'RUN_SUMMARIES')).toMatchObject({ entries: 1, cap: 128, hits: 0, misses: 1 });
  expect(await cache(server, 'SIDECARS')).toMatchObject({ entries: 1, hits: 0, misses: 1 });
  await ask();
  for (const name of ['TRANSCRIPTS', 'RUN_SUMMARIES', 'SIDECARS']) expect(await cache(server, name)).toMatchObject({ hits: 1, misses: 1 });
  writeFileSync(sidecarPath(server.sessionsDir, 'a'), sidecarText('a', { title: 'Another' }, MESSAGES));
  await ask();
  for (const name of ['TRANSCRIPTS', 'SIDECARS']) expect(await cache(server, name)).toMatchObject({ entries: 1, hits: 1, misses: 2 });
});
