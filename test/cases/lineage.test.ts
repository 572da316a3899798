/** Cases 1 to 17 of `spec/state-db.md` 17: what a list shows, and where lineage leads. */
import { describe, expect, it } from 'vitest';
import { chain, delegateCascade, edgeKind, liveContinuation, parentWalk, tip } from '../../src/state-db/lineage.ts';
import { type Row, S } from '../support/stores.ts';
import { CaseStore } from './case-store.ts';

const config = (markers: Record<string, unknown>) => ({ model_config: JSON.stringify(markers) });
const rc = S('rc', { ended_at: 200, end_reason: 'compression' });
const c1 = S('c1', { parent_session_id: 'rc', started_at: 190 });

const tipOf = (store: CaseStore, id: string) => tip(store.catalogue, store.entry(id)).id;

async function cases(...rows: Row[]): Promise<CaseStore> {
  return CaseStore.open(rows);
}

describe('lists', () => {
  it('#1 a root is listed', async () => {
    expect(await (await cases(S('root'))).list()).toEqual(['root']);
  });

  it('#2 a chain is one entry, shown as its tip, with the start of its root', async () => {
    const store = await cases(rc, c1);
    expect(await store.list()).toEqual(['c1']);
    const [item] = store.items();
    expect(item).toMatchObject({ tip: { id: 'c1' }, root: { id: 'rc', startedAt: 100 } });
    expect(item?.members.map(({ id }) => id)).toEqual(['rc', 'c1']);
    const conversation = (await store.store.conversations(['c1'])).get('c1');
    expect(conversation?.segments.map(({ id }) => id)).toEqual(['rc', 'c1']);
    expect((await store.store.sessions(['c1'])).get('c1')?.conversationId).toBe('rc');
  });

  it('#5 a branch is an entry of its own, and never the tip', async () => {
    const store = await cases(rc, c1, S('b', { parent_session_id: 'rc', ...config({ _branched_from: 'rc' }) }));
    expect((await store.list()).sort()).toEqual(['b', 'c1']);
    expect(tipOf(store, 'rc')).toBe('c1');
  });

  it('#6 a child that started when its parent was branched is a branch, an earlier one is not', async () => {
    const child = (id: string, started_at: number) => S(id, { parent_session_id: 'p', started_at });
    const store = await cases(S('p', { ended_at: 150, end_reason: 'branched' }), child('x', 150), child('y', 149));
    expect((await store.list()).sort()).toEqual(['p', 'x']);
  });

  it('#7 a reset child is told by an equal routing key, an empty key is none', async () => {
    const child = (id: string, session_key: string) => S(id, { parent_session_id: 'p', session_key });
    const store = await cases(
      S('p', { session_key: 'k1', ended_at: 160, end_reason: 'session_reset' }),
      child('x', 'k1'),
      child('y', 'k2'),
      child('z', ''),
    );
    expect((await store.list()).sort()).toEqual(['p', 'x']);
  });

  it('#8 a reset marker ends the chain', async () => {
    const store = await cases(
      S('p', { session_key: 'k1', ended_at: 200, end_reason: 'compression' }),
      S('x', { parent_session_id: 'p', session_key: 'k1', ...config({ _reset_from: 'p' }) }),
    );
    expect(tipOf(store, 'p')).toBe('p');
    expect((await store.store.sessions(['x'])).get('x')).toMatchObject({ conversationId: 'x', edgeKind: 'RESET' });
  });

  it('#9 a delegate is not listed, and goes with its parent', async () => {
    const store = await cases(S('root'), S('d', { parent_session_id: 'root', ...config({ _delegate_from: 'root' }) }));
    expect(await store.list()).toEqual(['root']);
    expect(delegateCascade(store.catalogue, store.entry('root'))).toEqual(['d']);
  });

  it('#10 an orphaned delegate is not listed although it has no parent', async () => {
    expect(await (await cases(S('o', config({ _delegate_from: '__orphaned__' })))).list()).toEqual([]);
  });

  it('#12 a configuration that is not JSON has no markers and harms nothing', async () => {
    const store = await cases(S('root'), S('x', { parent_session_id: 'root', model_config: '{oops' }));
    expect(await store.list()).toEqual(['root']);
    expect(store.entry('x').warnings.map(({ code }) => code)).toEqual(['INVALID_JSON']);
  });
});

describe('chains', () => {
  it('#3 an open continuation beats one that ended', async () => {
    const reaped = S('c2', { parent_session_id: 'rc', started_at: 250, ended_at: 260, end_reason: 'ws_orphan_reap' });
    expect(tipOf(await cases(rc, c1, reaped), 'rc')).toBe('c1');
  });

  it('#4 a continuation that goes on beats an open one', async () => {
    const onward = S('c3', { parent_session_id: 'rc', started_at: 210, ended_at: 300, end_reason: 'compression' });
    expect(tipOf(await cases(rc, c1, onward, S('c4', { parent_session_id: 'c3' })), 'rc')).toBe('c4');
  });

  it('#11 an inherited marker stops the chain, the bound test still knows the continuation', async () => {
    const delegate = config({ _delegate_from: 'root' });
    const store = await cases(
      S('root'),
      S('dc', { parent_session_id: 'root', ended_at: 200, end_reason: 'compression', ...delegate }),
      S('dc2', { parent_session_id: 'dc', ...delegate }),
    );
    expect(chain(store.catalogue, store.entry('dc')).map(({ id }) => id)).toEqual(['dc']);
    expect(liveContinuation(store.catalogue, store.entry('dc'))?.id).toBe('dc2');
  });

  it('#13 a missing parent ends the walk as its last id', async () => {
    const store = await cases(S('x', { parent_session_id: 'ghost' }));
    expect(await store.list()).toEqual([]);
    expect(store.catalogue.edgeKindOf(store.entry('x'))).toBe('UNKNOWN');
    expect(store.items({ includeOrphans: true })).toMatchObject([{ listClass: 'ORPHAN' }]);
    expect(parentWalk(store.catalogue, store.entry('x'))).toEqual(['x', 'ghost']);
  });

  it('#14 parents in a loop end every walk, and none of them is listed', async () => {
    const looped = { ended_at: 200, end_reason: 'compression' };
    const store = await cases(S('a', { parent_session_id: 'b', ...looped }), S('b', { parent_session_id: 'a', ...looped }));
    expect(await store.list()).toEqual([]);
    expect(parentWalk(store.catalogue, store.entry('a'))).toEqual(['a', 'b']);
    expect(chain(store.catalogue, store.entry('a')).map(({ id }) => id)).toEqual(['a', 'b']);
    expect((await store.store.children(['a'])).get('a')?.map(({ id }) => id)).toEqual(['b']);
    expect((await store.store.families(['a'])).get('a')?.problems).toMatchObject([{ code: 'CYCLE' }]);
  });

  it('#15 a session that is its own parent stands alone', async () => {
    const store = await cases(S('a', { parent_session_id: 'a', ended_at: 200, end_reason: 'compression' }));
    expect(parentWalk(store.catalogue, store.entry('a'))).toEqual(['a']);
    expect((await store.store.conversations(['a'])).get('a')?.segments.map(({ id }) => id)).toEqual(['a']);
  });

  it('#16 a tool child is no continuation', async () => {
    const store = await cases(rc, S('t', { parent_session_id: 'rc', source: 'tool' }));
    expect(tipOf(store, 'rc')).toBe('rc');
    expect(edgeKind(store.entry('t'), store.entry('rc'))).toBe('TOOL');
  });

  it('#17 a chain ends after 1000 steps without an error', async () => {
    const links = Array.from({ length: 1200 }, (_, index) =>
      S(`s${index}`, {
        parent_session_id: index === 0 ? null : `s${index - 1}`,
        started_at: index,
        ended_at: index,
        end_reason: 'compression',
      }),
    );
    const store = await cases(...links);
    expect(chain(store.catalogue, store.entry('s0'))).toHaveLength(1001);
    expect(await store.list()).toHaveLength(1);
  });
});
