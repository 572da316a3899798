/** Replaying the spool of one session (`spec/state-db-writes.md` S5, S9, S10): in order, once, and nothing lost at a failure. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SpoolDirectory } from '../../src/transcript/spool-directory.ts';
import { drainSession } from '../../src/transcript/spool-drain.ts';
import { NODE_FILES } from '../../src/transcript/spool-files.ts';
import { stableUid } from '../../src/transcript/spool-payload.ts';
import { WriteRefused } from '../../src/write-refused.ts';
import { capDrop, enveloped, filesOf, makeHome, putFile, RecordedStore, readFileOf, stepped, systemError, user } from '../support/spool.ts';

const open = (home: string, options = {}) => new SpoolDirectory(home, { namedProfile: false, ...options });
/** A store that refuses a message with this content. */
function refusing(home: string, content: string, error: Error): RecordedStore {
  return new (class extends RecordedStore {
    override async appendBatch(...[sessionId, messages]: Parameters<RecordedStore['appendBatch']>): Promise<number> {
      if (messages.some((message) => message.content === content)) throw error;
      return super.appendBatch(sessionId, messages);
    }
  })(home);
}

describe('the drain of a session', () => {
  it('T44: replays in the order of ts and seq and removes what is committed', async () => {
    const home = makeHome();
    const ids = [putFile(home, capDrop('s', 5, 1, user('5/1'))), putFile(home, capDrop('s', 5, 0, user('5/0')))];
    ids.push(putFile(home, capDrop('s', 4, 9, user('4/9'))));
    const store = new RecordedStore(home);
    expect(await drainSession(open(home), 's', store)).toEqual({
      replayed: [
        { spoolId: ids[2], messageId: '1', duplicate: false },
        { spoolId: ids[1], messageId: '2', duplicate: false },
        { spoolId: ids[0], messageId: '3', duplicate: false },
      ],
      invalidated: [],
      remaining: 0,
      stoppedBy: null,
    });
    expect(store.contents()).toEqual(['4/9', '5/0', '5/1']);
    expect(filesOf(home)).toEqual([]);
    expect(await drainSession(open(home), 's', store)).toMatchObject({ replayed: [], remaining: 0 });
  });

  it('T45: stops at the first failure and keeps the rest as it was, in order', async () => {
    const home = makeHome();
    const [, second, third] = ['a', 'b', 'c'].map((text, seq) => putFile(home, capDrop('s', 1, seq, user(text))));
    const broken = refusing(home, 'b', new WriteRefused('STORE_BUSY'));
    const result = await drainSession(open(home), 's', broken);
    expect(result).toMatchObject({ remaining: 2, stoppedBy: { code: 'STORE_BUSY', spoolId: second, cause: { retryable: true } } });
    expect(result.replayed).toHaveLength(1);
    expect(filesOf(home)).toEqual([`pending-${second}.json`, `pending-${third}.json`]);
    const store = new RecordedStore(home);
    expect(await drainSession(open(home), 's', store)).toMatchObject({ remaining: 0, stoppedBy: null });
    expect(store.contents()).toEqual(['a', 'b', 'c']);
  });

  it('T46: is not disturbed by files that can not be parsed, lists, other sessions and other kinds, and keeps them', async () => {
    const home = makeHome();
    putFile(home, '{');
    putFile(home, '[]');
    putFile(home, capDrop('t', 1, 0, user('other')));
    putFile(home, { session_key: 's', reason: 'shutdown', ts: 1, data: { text: 'hi', session_id: 's' } });
    putFile(home, { session_id: 's', reason: 'shutdown-with-unpersisted-agent-history', messages: [user('x', { message_uid: 'x' })] });
    putFile(home, { ...capDrop('s', 1, 0, user('dead')), reason: 'routing_dead_letter' }, undefined, '.dead');
    putFile(home, capDrop('s', 1, 0, user('undone')), undefined, '.superseded');
    const kept = filesOf(home);
    putFile(home, capDrop('s', 1, 0, user('mine')));
    const store = new RecordedStore(home);
    expect(await drainSession(open(home), 's', store)).toMatchObject({ remaining: 0, stoppedBy: null });
    expect(store.contents()).toEqual(['mine']);
    expect(filesOf(home)).toEqual(kept);
  });

  it('T47: sets a file aside whose message is no object, and goes on', async () => {
    const home = makeHome();
    const bad = putFile(home, capDrop('s', 1, 0, 7));
    putFile(home, capDrop('s', 1, 1, user('good')));
    const store = new RecordedStore(home);
    expect(await drainSession(open(home), 's', store)).toMatchObject({ invalidated: [bad], remaining: 0, stoppedBy: null });
    expect(store.contents()).toEqual(['good']);
    expect(filesOf(home)).toEqual([`pending-${bad}.json.invalid`]);
    expect(JSON.parse(readFileOf(home, `pending-${bad}.json.invalid`))).toEqual(capDrop('s', 1, 0, 7));
  });

  it('T48: replays payloads with a message alone and with an envelope alone', async () => {
    const home = makeHome();
    const old = putFile(home, capDrop('s', 1, 0, user('old')));
    putFile(home, enveloped('s', 1, 1, [user('new', { message_uid: 'u1' }), user('newer', { message_uid: 'u2' })]));
    const store = new RecordedStore(home);
    expect(await drainSession(open(home), 's', store)).toMatchObject({ remaining: 0 });
    expect(store.rows().map(({ uid, content }) => [uid, content])).toEqual([
      [stableUid(old), 'old'],
      ['u1', 'new'],
      ['u2', 'newer'],
    ]);
  });

  it('T49: stops before an envelope of another version, which is kept for who can read it', async () => {
    const home = makeHome();
    const first = putFile(home, enveloped('s', 1, 0, [user('a', { message_uid: 'u' })], 2));
    const second = putFile(home, capDrop('s', 2, 0, user('b')));
    const store = new RecordedStore(home);
    const result = await drainSession(open(home), 's', store);
    expect(result).toMatchObject({ remaining: 2, stoppedBy: { code: 'SPOOL_INVALID', spoolId: first } });
    expect(store.rows()).toEqual([]);
    expect(filesOf(home)).toEqual([`pending-${first}.json`, `pending-${second}.json`]);
  });

  it('T52: leaves one row when two drain one file at once; the second finds the claim', async () => {
    const home = makeHome();
    const first = putFile(home, capDrop('s', 1, 0, user('a')));
    putFile(home, capDrop('s', 1, 1, user('b')));
    const store = new RecordedStore(home);
    const [one, other] = await Promise.all([drainSession(open(home), 's', store), drainSession(open(home), 's', store)]);
    expect(one).toMatchObject({ remaining: 0, stoppedBy: null });
    expect(other).toMatchObject({ replayed: [], stoppedBy: { code: 'SPOOL_CLAIMED', spoolId: first } });
    expect(store.contents()).toEqual(['a', 'b']);
    expect(filesOf(home)).toEqual([]);
  });

  it('S10: does not let newer files overtake one that another program holds', async () => {
    const home = makeHome();
    const held = putFile(home, capDrop('s', 1, 0, user('a')), undefined, '.claim-1-abc');
    putFile(home, capDrop('s', 1, 1, user('b')));
    const store = new RecordedStore(home);
    expect(await drainSession(open(home), 's', store)).toMatchObject({ remaining: 2, stoppedBy: { code: 'SPOOL_CLAIMED', spoolId: held } });
    expect(store.rows()).toEqual([]);
    const later = open(home, { now: () => Date.now() + 301_000 });
    expect(await drainSession(later, 's', store)).toMatchObject({ remaining: 0 });
    expect(store.contents()).toEqual(['a', 'b']);
  });

  it('T53: replays files of a session that was rotated where the conversation goes on, with those of the continuation in one order', async () => {
    const home = makeHome();
    putFile(home, capDrop('C', 3, 0, user('newer')));
    putFile(home, capDrop('S', 1, 0, user('older')));
    const store = new (class extends RecordedStore {
      override async resolveTarget(): Promise<string> {
        return 'C';
      }
    })(home);
    expect(await drainSession(open(home), 'C', store, { ancestors: ['S'] })).toMatchObject({ remaining: 0 });
    expect(store.rows().map(({ sessionId, content }) => [sessionId, content])).toEqual([
      ['C', 'older'],
      ['C', 'newer'],
    ]);
  });

  it('S9: keeps a file that no session takes, untouched', async () => {
    const home = makeHome();
    const id = putFile(home, capDrop('s', 1, 0, user('a')));
    const before = readFileOf(home, `pending-${id}.json`);
    const store = new (class extends RecordedStore {
      override async resolveTarget(): Promise<null> {
        return null;
      }
    })(home);
    expect(await drainSession(open(home), 's', store)).toMatchObject({
      remaining: 1,
      stoppedBy: { code: 'NO_LIVE_CONTINUATION', spoolId: id },
    });
    expect(readFileOf(home, `pending-${id}.json`)).toBe(before);
  });

  it('stops after as many files as were asked for, and changes nothing in a dry run', async () => {
    const home = makeHome();
    const ids = ['a', 'b', 'c'].map((text, seq) => putFile(home, capDrop('s', 1, seq, user(text))));
    const store = new RecordedStore(home);
    const before = filesOf(home);
    expect(await drainSession(open(home), 's', store, { dryRun: true, limit: 2 })).toEqual({
      replayed: ids.slice(0, 2).map((id) => ({ spoolId: id, messageId: null, duplicate: false })),
      invalidated: [],
      remaining: 3,
      stoppedBy: null,
    });
    expect([filesOf(home), store.rows()]).toEqual([before, []]);
    expect(await drainSession(open(home), 's', store, { limit: 2 })).toMatchObject({ remaining: 1, stoppedBy: null });
    expect(store.contents()).toEqual(['a', 'b']);
  });

  it('does nothing when it can not see all names, for an older file could be among the rest', async () => {
    const home = makeHome();
    const id = putFile(home, capDrop('s', 1, 0, user('a')));
    const names = (_path: string, limit: number) => Array.from({ length: limit }, (_, n) => (n === 0 ? `pending-${id}.json` : `x${n}`));
    const store = new RecordedStore(home);
    const result = await drainSession(open(home, { files: { ...NODE_FILES, names } }), 's', store);
    expect(result).toMatchObject({ replayed: [], remaining: 1, stoppedBy: { code: 'SPOOL_TOO_LARGE', spoolId: null } });
  });

  it('does nothing when a file can not be read this time, for it could be an older one', async () => {
    const home = makeHome();
    const first = putFile(home, capDrop('s', 1, 0, user('a')));
    putFile(home, capDrop('s', 1, 1, user('b')));
    const files = stepped(NODE_FILES, (name, [path]) => {
      if (name === 'read' && String(path).includes(first)) throw systemError('EIO');
    });
    const store = new RecordedStore(home);
    const result = await drainSession(open(home, { files }), 's', store);
    expect(result).toMatchObject({ replayed: [], stoppedBy: { code: 'SPOOL_READ_FAILED', spoolId: first } });
    expect(store.rows()).toEqual([]);
  });

  it('replays what a file holds when it is claimed, not what it held when it was listed', async () => {
    const home = makeHome();
    const id = putFile(home, capDrop('s', 1, 0, user('a')));
    const name = `pending-${id}.json`;
    const store = new (class extends RecordedStore {
      override async resolveTarget(sessionId: string): Promise<string> {
        writeFileSync(join(home, 'pending_messages', name), JSON.stringify(capDrop('t', 1, 0, user('of another'))));
        return sessionId;
      }
    })(home);
    expect(await drainSession(open(home), 's', store)).toMatchObject({ stoppedBy: { code: 'SPOOL_INVALID' } });
    expect([store.rows(), filesOf(home)]).toEqual([[], [name]]);
  });

  it('keeps a committed file claimed when it can not be removed, so that the owning programs do not write it again', async () => {
    const home = makeHome();
    const id = putFile(home, capDrop('s', 1, 0, user('a')));
    const files = stepped(NODE_FILES, (name) => {
      if (name === 'remove') throw systemError('EACCES');
    });
    const store = new RecordedStore(home);
    const result = await drainSession(open(home, { files }), 's', store);
    expect(result).toMatchObject({ replayed: [{ spoolId: id }], remaining: 1, stoppedBy: { code: 'SPOOL_UNWRITABLE', spoolId: id } });
    expect(filesOf(home)).toEqual([expect.stringMatching(new RegExp(`^pending-${id}\\.json\\.claim-`))]);
    const later = open(home, { now: () => Date.now() + 301_000 });
    expect(await drainSession(later, 's', store)).toMatchObject({ replayed: [{ duplicate: true }], remaining: 0 });
    expect(store.contents()).toEqual(['a']);
  });
});
