/** What a repeat of a rewind or rewrite finds whose outcome was never heard (`spec/state-db-writes.md` 13.3, K18, K20). */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CommandInput } from '../../../src/writing/commands.ts';
import { forgetPending } from '../../../src/writing/forget-pending.ts';
import { commandHost, type TestHost } from '../../support/command-host.ts';
import { buildStore, M, S } from '../../support/stores.ts';

vi.mock('../../../src/writing/forget-pending.ts', () => ({ forgetPending: vi.fn() }));

let host: TestHost;
afterEach(() => {
  host.close();
  vi.clearAllMocks();
});

function open(schema: 26 | 31 = 31): void {
  const rows = ['u1', 'u2', 'u3'].flatMap((content) => [M('s', { content }), M('s', { role: 'assistant', content: 'a' })]);
  host = commandHost(buildStore({ schema, rows: [S('s'), ...rows] }));
}
const REWRITE: CommandInput<'rewriteTranscript'> = {
  sessionId: 's',
  mode: 'ACTIVE_ONLY',
  messages: [{ role: 'user', content: 'new' }],
  force: true,
};
const rewind = () => host.run('rewindSession', { sessionId: 's', turns: 1 }, { clientMutationId: 'm' });
const rewrite = (more: Partial<typeof REWRITE> = {}) => host.run('rewriteTranscript', { ...REWRITE, ...more }, { clientMutationId: 'm' });
const live = () => host.rows('SELECT id FROM messages WHERE active = 1 ORDER BY id').map(({ id }) => id);

/** Does it, and loses the answer: the receipt stays as it was right before the commit. */
async function unheard(work: () => Promise<unknown>): Promise<void> {
  const done = vi.spyOn(host.receipts(), 'done').mockImplementationOnce(() => {
    throw new Error('the disk of the receipts is full');
  });
  await expect(work()).rejects.toThrow('full');
  expect(done).toHaveBeenCalledTimes(1);
  expect(host.receipts().find('m')?.state).toBe('PLANNED');
}

describe('a rewind that was never acknowledged', () => {
  it('T91: is told from its rows, and not made again', async () => {
    open();
    await unheard(rewind);
    expect(await rewind()).toMatchObject({ retiredIds: ['5', '6'], targetText: 'u3', receipt: 'm' });
    expect(live()).toEqual([1, 2, 3, 4]);
    expect(host.receipts().find('m')?.state).toBe('SETTLED');
  });

  it('is made where its rows were hidden by something else: no rewind was counted', async () => {
    open();
    await unheard(rewind);
    host.otherwise('UPDATE sessions SET rewind_count = 0');
    expect(await rewind()).toMatchObject({ retiredIds: ['3', '4'] });
    expect(live()).toEqual([1, 2]);
  });

  it('is not decided where its rows are gone', async () => {
    open();
    await unheard(rewind);
    host.otherwise('DELETE FROM messages WHERE id = 5');
    await expect(rewind()).rejects.toMatchObject({ code: 'INDETERMINATE', settled: false });
    expect(live()).toEqual([1, 2, 3, 4]);
  });

  it('can not be restored before it is known', async () => {
    open();
    await unheard(rewind);
    await expect(host.run('restoreRewind', { receipt: 'm', leaseToken: null })).rejects.toMatchObject({ code: 'RECEIPT_UNKNOWN' });
    await rewind();
    expect(await host.run('restoreRewind', { receipt: 'm', leaseToken: null })).toMatchObject({ restoredCount: 2 });
  });
});

describe('a rewrite that was never acknowledged', () => {
  it.each([26, 31] as const)('is told from its rows in a store of schema %i', async (schema) => {
    open(schema);
    await unheard(() => rewrite());
    expect(await rewrite()).toMatchObject({ insertedIds: ['7'] });
    expect(live()).toEqual([7]);
  });

  it('is told from what went where nothing came, and from what came where nothing went', async () => {
    open();
    await unheard(() => rewrite({ messages: [] }));
    expect(await rewrite({ messages: [] })).toMatchObject({ inserted: 0 });
    host.receipts().forget('m');
    host.close();
    open();
    const kept = ['u1', 'u2', 'u3'].flatMap((content) => [
      { role: 'user', content },
      { role: 'assistant', content: 'a' },
    ]);
    const longer = { mode: 'ARCHIVE_DROPPED', messages: [...kept, { role: 'user', content: 'more' }] } as const;
    await unheard(() => rewrite(longer));
    expect(await rewrite(longer)).toMatchObject({ kept: 6, insertedIds: ['7'] });
    expect(live()).toHaveLength(7);
  });

  it('is not decided where the rows tell two tales', async () => {
    open();
    await unheard(() => rewrite());
    host.otherwise('DELETE FROM messages WHERE id = 7');
    await expect(rewrite()).rejects.toMatchObject({ code: 'INDETERMINATE' });
    expect(live()).toEqual([]);
  });
});

describe('what waits to be written to the session', () => {
  it('T90: is taken back with the turn, and with the transcript, but not for a dry run or a refusal', async () => {
    open();
    await host.run('rewindSession', { sessionId: 's', turns: 1 }, { dryRun: true });
    await expect(rewrite({ force: false })).rejects.toMatchObject({ code: 'VALIDATION' });
    expect(forgetPending).not.toHaveBeenCalled();
    await host.run('rewindSession', { sessionId: 's', turns: 1 });
    await host.run('rewriteTranscript', REWRITE);
    expect(vi.mocked(forgetPending).mock.calls).toEqual([
      [host, 's', 1000],
      [host, 's', 1000],
    ]);
  });

  it('is taken back for a repeat only as far as it was there then', async () => {
    open();
    await rewind();
    host.clock.now = 5000;
    await rewind();
    expect(vi.mocked(forgetPending).mock.lastCall).toEqual([host, 's', 1000]);
  });
});
