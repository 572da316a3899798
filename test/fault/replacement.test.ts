/** The file behind an open store changes its identity: renamed over, written over in place, its sidecars taken away (2.3; field-cases F55). */
import { execFileSync } from 'node:child_process';
import { renameSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { SessionsEvent } from '../../src/session-store.ts';
import { describeHealth } from '../../src/state-db/health.ts';
import type { StateDbStore } from '../../src/state-db/store.ts';
import { openStore } from '../support/open-store.ts';
import { buildStore, M, type Row, S } from '../support/stores.ts';
import { startWriter } from '../support/writer.ts';

const QUERY = { filter: {}, order: 'RECENT_ACTIVITY', collapse: 'LINEAGE' } as const;
const page = (size: number, after: string | null = null) => ({ size, direction: 'FORWARD', after, before: null }) as const;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const listed = async (store: StateDbStore) => (await store.list(QUERY, page(50))).items.map(({ node }) => node.id);

const rows = (...ids: string[]): Row[] => ids.flatMap((id) => [S(id), M(id, { content: `in ${id}` })]);
const store = (generation: string, ...ids: string[]) =>
  buildStore({ meta: { db_file_generation: generation.repeat(32) }, rows: rows(...ids) });

function listen(opened: StateDbStore) {
  const events: SessionsEvent['kind'][] = [];
  opened.onSessions(({ kind }) => events.push(kind));
  return events;
}

describe('a store that is replaced', () => {
  it('#84 by a rename is served anew, and cursors of the old one are refused', async () => {
    const path = store('a', 'old1', 'old2');
    const opened = openStore(path);
    const events = listen(opened);
    const [first] = (await opened.list(QUERY, page(1))).items;
    const [messages] = await opened.messagePages([{ sessionId: 'old1', view: 'LIVE', scope: 'SEGMENT', page: page(1) }]);
    const generation = await opened.generation();

    renameSync(store('b', 'new'), path);
    await pause(30);
    await opened.check();
    expect(events).toEqual(['RESET']);
    expect(await listed(opened)).toEqual(['new']);
    expect(await opened.status()).toMatchObject({ health: 'OK', sessionCount: 1 });
    expect(await opened.generation()).not.toBe(generation);
    await expect(opened.list(QUERY, page(1, first?.cursor ?? ''))).rejects.toMatchObject({ code: 'STALE_CURSOR' });
    const old = { sessionId: 'new', view: 'LIVE', scope: 'SEGMENT', page: page(1, messages?.items[0]?.cursor ?? '') } as const;
    await expect(opened.messagePages([old])).rejects.toMatchObject({ code: expect.stringMatching(/^(STALE|BAD)_CURSOR$/) });
  });

  it('goes and comes back: the loss is told, and the new file is served', async () => {
    const path = store('a', 'old');
    const opened = openStore(path);
    expect(await listed(opened)).toEqual(['old']);
    rmSync(path);
    await pause(30);
    expect(await opened.status()).toMatchObject({ health: 'NOT_FOUND', problem: describeHealth('NOT_FOUND') });
    await expect(listed(opened)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    renameSync(store('b', 'new'), path);
    await pause(250);
    expect(await listed(opened)).toEqual(['new']);
    expect(await opened.status()).toMatchObject({ health: 'OK' });
  });

  it('in place, by a copy over it, is noticed within seconds', async () => {
    const path = store('a', 'old');
    const other = store('b', 'new1', 'new2');
    const opened = openStore(path);
    const events = listen(opened);
    expect(await listed(opened)).toEqual(['old']);
    // In another process: closing a descriptor of the file here would drop the locks of the open store.
    execFileSync('cp', [other, path]);
    const deadline = Date.now() + 5000;
    while (events.length === 0 && Date.now() < deadline) {
      await pause(100);
      await opened.check();
    }
    expect(events).toContain('RESET');
    expect((await listed(opened)).sort()).toEqual(['new1', 'new2']);
    expect(await opened.status()).toMatchObject({ health: 'OK' });
  });
});

describe('sidecars that are taken away', () => {
  it('#85 under a living writer: what was open goes on answering, and the loss is told', async () => {
    const path = store('a', 'kept');
    const writer = await startWriter(path);
    await writer.transaction([
      "INSERT INTO sessions (id, source, started_at) VALUES ('only in the wal', 'cli', 5)",
      "INSERT INTO messages (session_id, role, timestamp, content) VALUES ('only in the wal', 'user', 6, 'x')",
    ]);
    const opened = openStore(path);
    expect((await listed(opened)).sort()).toEqual(['kept', 'only in the wal']);
    rmSync(`${path}-wal`);
    rmSync(`${path}-shm`);
    await pause(30);
    expect(await opened.status()).toMatchObject({ health: 'WAL_GENERATION_LOST', problem: describeHealth('WAL_GENERATION_LOST') });
    expect((await listed(opened)).sort()).toEqual(['kept', 'only in the wal']);
    const [found] = await opened.messagePages([{ sessionId: 'only in the wal', view: 'LIVE', scope: 'SEGMENT', page: page(5) }]);
    expect(found?.items.map(({ node }) => node.content)).toEqual(['x']);
    await writer.kill();
  });

  it('of a store at rest, all of whose rows are in the file, are made anew without a loss', async () => {
    const path = store('a', 'kept');
    const opened = openStore(path);
    expect(await listed(opened)).toEqual(['kept']);
    rmSync(`${path}-wal`);
    rmSync(`${path}-shm`);
    await pause(30);
    await opened.check();
    expect(await listed(opened)).toEqual(['kept']);
    expect(await opened.status()).toMatchObject({ health: 'OK' });
    const writer = await startWriter(path);
    await writer.exec("INSERT INTO sessions (id, source, started_at, message_count) VALUES ('later', 'cli', 5, 1)");
    expect((await listed(opened)).sort()).toEqual(['kept', 'later']);
    await writer.close();
  });
});
