/** A writer that holds a store without a WAL: readers wait without blocking anything, then say so (2.2 rule 8; field-cases F60, F81). */
import { describe, expect, it } from 'vitest';
import { StoreUnreadable } from '../../src/errors.ts';
import { StoreConnection } from '../../src/state-db/connection.ts';
import { describeHealth } from '../../src/state-db/health.ts';
import { openStore } from '../support/open-store.ts';
import { buildStore, M, S } from '../support/stores.ts';
import { startWriter } from '../support/writer.ts';

const QUERY = { filter: {}, order: 'RECENT_ACTIVITY', collapse: 'LINEAGE' } as const;
const PAGE = { size: 50, direction: 'FORWARD', after: null, before: null } as const;

async function lockedStore() {
  const path = buildStore({ journal: 'delete', rows: [S('a'), M('a')] });
  const writer = await startWriter(path);
  await writer.exec('BEGIN EXCLUSIVE');
  return { path, writer };
}

describe('a store that a writer holds exclusively', () => {
  it('#86 a connection waits as long as it was told to, then is busy', async () => {
    const { path, writer } = await lockedStore();
    const before = Date.now();
    expect(() => StoreConnection.open(path, { lockWaitMs: 200 })).toThrow(StoreUnreadable);
    const waited = Date.now() - before;
    expect(waited).toBeGreaterThanOrEqual(190);
    expect(waited).toBeLessThan(2000);
    expect(() => StoreConnection.open(path, { lockWaitMs: 0 })).toThrow(expect.objectContaining({ code: 'BUSY' }));
    await writer.close();
  });

  it('is busy after the patience of the server, which does other things meanwhile', async () => {
    const { path, writer } = await lockedStore();
    const locked = openStore(path);
    const other = openStore(buildStore({ rows: [S('b'), M('b')] }));
    const before = Date.now();
    const status = locked.status();
    const error = locked.list(QUERY, PAGE).catch((thrown: unknown) => thrown);
    let answers = 0;
    let longest = 0;
    while (Date.now() - before < 2000) {
      const asked = performance.now();
      expect((await other.list(QUERY, PAGE)).items).toHaveLength(1);
      longest = Math.max(longest, performance.now() - asked);
      answers++;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(answers).toBeGreaterThan(50);
    expect(longest).toBeLessThan(250);
    expect(await error).toMatchObject({ code: 'BUSY', message: describeHealth('BUSY') });
    expect(await status).toMatchObject({ health: 'BUSY', problem: describeHealth('BUSY') });
    expect(Date.now() - before).toBeGreaterThan(4500);
    await writer.exec('COMMIT');
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect((await locked.list(QUERY, PAGE)).items.map(({ node }) => node.id)).toEqual(['a']);
    expect((await locked.status()).health).toBe('OK');
    await writer.close();
  }, 20_000);

  it('answers as soon as the writer is done', async () => {
    const { path, writer } = await lockedStore();
    const listed = openStore(path).list(QUERY, PAGE);
    await writer.exec("UPDATE sessions SET title = 'after the commit'");
    await new Promise((resolve) => setTimeout(resolve, 300));
    await writer.exec('COMMIT');
    expect((await listed).items.map(({ node }) => node.title)).toEqual(['after the commit']);
    await writer.close();
  });

  it('that is open already is waited for too', async () => {
    const path = buildStore({ journal: 'delete', rows: [S('a'), M('a', { content: 'x' })] });
    const store = openStore(path);
    await store.list(QUERY, PAGE);
    const writer = await startWriter(path);
    await writer.exec('BEGIN EXCLUSIVE');
    const read = store.messages(['1']);
    await new Promise((resolve) => setTimeout(resolve, 200));
    await writer.exec("UPDATE messages SET content = 'y'");
    await writer.exec('COMMIT');
    expect((await read).get('1')?.content).toBe('y');
    await writer.close();
  });
});
