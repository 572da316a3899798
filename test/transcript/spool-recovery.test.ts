/** Replaying the spool of a home at the start (`spec/state-db-writes.md` S7): a session at a time, all or nothing, and never twice. */
import { describe, expect, it } from 'vitest';
import { SpoolDirectory } from '../../src/transcript/spool-directory.ts';
import { type PendingInput, stableUid } from '../../src/transcript/spool-payload.ts';
import { recoverSpool } from '../../src/transcript/spool-recovery.ts';
import { WriteRefused } from '../../src/write-refused.ts';
import { capDrop, enveloped, filesOf, makeHome, putFile, RecordedStore, readFileOf, user } from '../support/spool.ts';

const open = (home: string, options = {}) => new SpoolDirectory(home, { namedProfile: false, ...options });
const dump = (sessionId: string, messages: readonly unknown[]) => ({
  reason: 'shutdown-with-unpersisted-agent-history',
  issue: '#72680',
  session_id: sessionId,
  count: messages.length,
  messages,
});

/** Counts the batches. */
class CountingStore extends RecordedStore {
  readonly batches: [string, unknown[]][] = [];
  override async appendBatch(...[sessionId, messages]: Parameters<RecordedStore['appendBatch']>): Promise<number> {
    this.batches.push([sessionId, messages.map(({ content }) => content)]);
    return super.appendBatch(sessionId, messages);
  }
}

describe('the recovery of a spool', () => {
  it('appends all messages of a session in one batch, in order, and removes its files', async () => {
    const home = makeHome();
    const old = putFile(home, capDrop('s', 5, 1, user('s2')));
    const other = putFile(home, capDrop('t', 5, 0, user('t1')));
    const first = putFile(home, enveloped('s', 4, 9, [user('s0', { message_uid: 'u0' }), user('s1', { message_uid: 'u1' })]));
    const store = new CountingStore(home);
    expect(await recoverSpool(open(home), store)).toEqual({
      recovered: [
        { sessionId: 's', target: 's', spoolIds: [first, old], inserted: 3, notRemoved: null },
        { sessionId: 't', target: 't', spoolIds: [other], inserted: 1, notRemoved: null },
      ],
      blocked: [],
      kept: [],
      stoppedBy: null,
    });
    expect(store.batches).toEqual([
      ['s', ['s0', 's1', 's2']],
      ['t', ['t1']],
    ]);
    expect(store.rows().map(({ uid }) => uid)).toEqual(['u0', 'u1', stableUid(old), stableUid(other)]);
    expect(filesOf(home)).toEqual([]);
  });

  it('K10: has given legacy files uids on disk when a batch fails, so that the next start uses the same', async () => {
    const home = makeHome();
    const id = putFile(home, capDrop('s', 1, 0, user('a')));
    const broken = new (class extends RecordedStore {
      override async appendBatch(): Promise<number> {
        throw new WriteRefused('STORE_IO_UNSETTLED');
      }
    })(home);
    const result = await recoverSpool(open(home), broken);
    expect(result).toMatchObject({ recovered: [], blocked: [{ sessionId: 's', stoppedBy: { code: 'STORE_IO_UNSETTLED', spoolId: id } }] });
    expect(filesOf(home)).toEqual([`pending-${id}.json`]);
    const { data } = JSON.parse(readFileOf(home, `pending-${id}.json`)) as { data: Record<string, unknown> };
    const message = user('a', { message_uid: stableUid(id) });
    expect(data).toEqual({
      session_id: 's',
      message,
      transcript: { schema: 'hermes.session.transcript', version: 1, messages: [message] },
    });
    const store = new RecordedStore(home);
    await recoverSpool(open(home), store);
    expect(store.rows()).toEqual([{ sessionId: 's', uid: stableUid(id), content: 'a' }]);
  });

  it.each([
    ['T49: of another version', enveloped('s', 2, 0, [user('b', { message_uid: 'u' })], 2)],
    ['whose message is no object', capDrop('s', 2, 0, 7)],
    ['with a dump that has no messages', { reason: 'shutdown-with-unpersisted-agent-history', session_id: 's' }],
  ])('a payload %s is kept and blocks its whole session, not the others', async (_what, payload) => {
    const home = makeHome();
    const good = putFile(home, capDrop('s', 1, 0, user('a')));
    const bad = putFile(home, payload);
    putFile(home, capDrop('t', 3, 0, user('t')));
    const store = new RecordedStore(home);
    expect(await recoverSpool(open(home), store)).toMatchObject({
      recovered: [{ sessionId: 't' }],
      blocked: [{ sessionId: 's', stoppedBy: { code: 'SPOOL_INVALID', spoolId: bad } }],
    });
    expect(store.contents()).toEqual(['t']);
    expect(filesOf(home)).toEqual([`pending-${good}.json`, `pending-${bad}.json`]);
  });

  it('T50: two copies of one uid are one row when they are equal, and block the session when they differ', async () => {
    const equal = makeHome();
    const copy = { content: 'a', role: 'user', message_uid: 'u' };
    putFile(equal, enveloped('s', 1, 0, [user('a', { message_uid: 'u' })]));
    putFile(equal, enveloped('s', 2, 0, [copy]));
    const store = new RecordedStore(equal);
    expect(await recoverSpool(open(equal), store)).toMatchObject({ recovered: [{ inserted: 1 }], blocked: [] });
    expect([store.contents(), filesOf(equal)]).toEqual([['a'], []]);

    const different = makeHome();
    const one = putFile(different, enveloped('s', 1, 0, [user('a', { message_uid: 'u' })]));
    const other = putFile(different, enveloped('s', 2, 0, [user('b', { message_uid: 'u' })]));
    const untouched = new RecordedStore(different);
    const result = await recoverSpool(open(different), untouched);
    expect(result).toMatchObject({ recovered: [], blocked: [{ stoppedBy: { code: 'SPOOL_CONFLICT', spoolId: other } }] });
    expect([untouched.rows(), filesOf(different)]).toEqual([[], [`pending-${one}.json`, `pending-${other}.json`]]);
  });

  it('T51: files whose batch was committed replay to nothing and are removed', async () => {
    const home = makeHome();
    const store = new RecordedStore(home);
    await store.appendBatch('s', [user('a', { message_uid: 'u' })]);
    putFile(home, enveloped('s', 1, 0, [user('a', { message_uid: 'u' })]));
    expect(await recoverSpool(open(home), store)).toMatchObject({ recovered: [{ inserted: 0 }] });
    expect([store.contents(), filesOf(home)]).toEqual([['a'], []]);
  });

  it('T53: goes where the conversation goes on; a session without such a place keeps its files', async () => {
    const home = makeHome();
    putFile(home, capDrop('S', 1, 0, user('a')));
    const stuck = putFile(home, capDrop('closed', 1, 0, user('b')));
    const store = new (class extends RecordedStore {
      override async resolveTarget(sessionId: string): Promise<string | null> {
        return sessionId === 'S' ? 'C' : null;
      }
    })(home);
    expect(await recoverSpool(open(home), store)).toMatchObject({
      recovered: [{ sessionId: 'S', target: 'C' }],
      blocked: [{ sessionId: 'closed', stoppedBy: { code: 'NO_LIVE_CONTINUATION', spoolId: stuck } }],
    });
    expect(store.rows()).toMatchObject([{ sessionId: 'C', content: 'a' }]);
    expect(filesOf(home)).toEqual([`pending-${stuck}.json`]);
  });

  it('takes dumps of turns only when every message has a uid', async () => {
    const home = makeHome();
    putFile(home, dump('s', [user('a', { message_uid: 'u1' }), user('b', { message_uid: 'u2' })]));
    const legacy = putFile(home, dump('s', [user('maybe stored')]));
    const store = new RecordedStore(home);
    expect(await recoverSpool(open(home), store)).toMatchObject({ recovered: [{ inserted: 2 }], kept: [legacy] });
    expect(store.contents()).toEqual(['a', 'b']);
    expect(filesOf(home)).toEqual([`pending-${legacy}.json`]);
  });

  it('T46: keeps what can not be parsed, and leaves dead letters and what was set aside alone', async () => {
    const home = makeHome();
    const broken = putFile(home, '{');
    putFile(home, { ...capDrop('s', 1, 0, user('dead')), reason: 'routing_dead_letter' }, undefined, '.dead');
    putFile(home, capDrop('s', 1, 0, user('undone')), undefined, '.superseded');
    putFile(home, capDrop('s', 1, 0, 7), undefined, '.invalid');
    const before = filesOf(home);
    const store = new RecordedStore(home);
    expect(await recoverSpool(open(home), store)).toEqual({ recovered: [], blocked: [], kept: [broken], stoppedBy: null });
    expect([store.rows(), filesOf(home)]).toEqual([[], before]);
  });

  it('S10: waits with a session of which another program holds a file, and gives the others back', async () => {
    const home = makeHome();
    const free = putFile(home, capDrop('s', 1, 0, user('a')));
    const held = putFile(home, capDrop('s', 2, 0, user('b')), undefined, '.claim-1-abc');
    const store = new RecordedStore(home);
    const result = await recoverSpool(open(home), store);
    expect(result).toMatchObject({ blocked: [{ stoppedBy: { code: 'SPOOL_CLAIMED', spoolId: held } }] });
    expect(store.rows()).toEqual([]);
    expect(filesOf(home)).toEqual([`pending-${free}.json`, `pending-${held}.json.claim-1-abc`]);
  });

  it('writes input that waits as a row of a person with its time, after the transcripts, once its session is known', async () => {
    const home = makeHome();
    const input = (key: string, data: object, ts = 7) => ({ session_key: key, reason: 'shutdown', ts, data });
    const known = putFile(home, input('k1', { text: 'by id', session_id: 's' }, 8));
    const route = putFile(home, input('k2', { text: 'by route' }));
    const unknown = putFile(home, input('k3', { text: 'nowhere' }));
    putFile(home, capDrop('s', 9, 0, user('spooled')));
    const store = new CountingStore(home);
    const kept = await recoverSpool(open(home), store);
    expect(kept.kept).toEqual([route, unknown, known]);
    expect(store.contents()).toEqual(['spooled']);

    const messages: unknown[] = [];
    const asked: [string, number][] = [];
    const target = {
      resolveTarget: (sessionId: string) => store.resolveTarget(sessionId),
      appendBatch: (sessionId: string, batch: Parameters<RecordedStore['appendBatch']>[1]) => {
        messages.push(...batch);
        return store.appendBatch(sessionId, batch);
      },
      resolveInput: async ({ sessionKey, ts }: PendingInput) => {
        asked.push([sessionKey, ts]);
        return sessionKey === 'k2' ? 't' : null;
      },
    };
    expect(await recoverSpool(open(home), target)).toMatchObject({
      recovered: [
        { sessionId: 't', spoolIds: [route], inserted: 1 },
        { sessionId: 's', spoolIds: [known], inserted: 1 },
      ],
      kept: [unknown],
    });
    expect(asked).toEqual([
      ['k2', 7],
      ['k3', 7],
    ]);
    expect(messages).toEqual([
      { role: 'user', content: 'by route', timestamp: 7, message_uid: stableUid(route) },
      { role: 'user', content: 'by id', timestamp: 8, message_uid: stableUid(known) },
    ]);
    expect(filesOf(home)).toEqual([`pending-${unknown}.json`]);
  });
});
