/** The folder of the spool (`spec/state-db-writes.md` S1, S2, S8, S10, J3): whole private files, claims, and nothing touched that is not ours. */
import { chmodSync, existsSync, mkdirSync, rmSync, statSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isGone, newHolder } from '../../src/transcript/claim-holder.ts';
import { readDiverted } from '../../src/transcript/divert-file.ts';
import { divertBacklog, moveToSpool } from '../../src/transcript/spool-backlog.ts';
import { SPOOL_LIMITS, type SpoolClaim, SpoolDirectory } from '../../src/transcript/spool-directory.ts';
import { NODE_FILES } from '../../src/transcript/spool-files.ts';
import { retireSpoolEntry, supersedeSessions } from '../../src/transcript/spool-retirement.ts';
import { capDrop, enveloped, filesOf, makeHome, putFile, readFileOf, spoolId, stepped, systemError, user } from '../support/spool.ts';

const open = (home: string, options = {}) => new SpoolDirectory(home, { namedProfile: false, ...options });
const folderOf = (home: string) => join(home, 'pending_messages');
const states = (spool: SpoolDirectory) => spool.list().entries.map(({ spoolId: id, state, problem }) => [id, state, problem]);
/** A claim that must succeed. */
function claimed(spool: SpoolDirectory, id: string): SpoolClaim {
  const entry = spool.find(id);
  const claim = entry === null ? 'GONE' : spool.claim(entry);
  if (typeof claim === 'string') throw new Error(`the file is ${claim}`);
  return claim;
}

describe('a message that is written', () => {
  it('T23: is a private file of its own, in a private folder, numbered in order', () => {
    const home = makeHome();
    mkdirSync(folderOf(home), { mode: 0o755 });
    const spool = open(home);
    const written = ['a', 'b', 'c'].map((text) => spool.write('s', user(text)));
    expect(statSync(folderOf(home)).mode & 0o777).toBe(0o700);
    expect(filesOf(home)).toEqual(written.map(({ spoolId: id }) => `pending-${id}.json`).sort());
    for (const name of filesOf(home)) expect(statSync(join(folderOf(home), name)).mode & 0o777).toBe(0o600);
    const { entries } = spool.list();
    expect(entries.map(({ spoolId: id, preview }) => [id, preview])).toEqual(written.map(({ spoolId: id }, n) => [id, ['a', 'b', 'c'][n]]));
    const first = entries[0]?.seq ?? -1;
    expect(entries.map(({ seq }) => seq - first)).toEqual([0, 1, 2]);
    expect(entries.every(({ ts }) => Number.isInteger(ts) && Math.abs(ts - Date.now() / 1000) < 60)).toBe(true);
  });

  it('does not go before older ones when the clock is set back', () => {
    const home = makeHome();
    let now = 50_000;
    const spool = open(home, { now: () => now });
    spool.write('s', user('a'));
    now = 10_000;
    spool.write('s', user('b'));
    expect(spool.list().entries.map(({ preview, ts }) => [preview, ts])).toEqual([
      ['a', 50],
      ['b', 50],
    ]);
  });

  it('T27: is no candidate of any drain as a dead letter', () => {
    const home = makeHome();
    const { spoolId: id } = open(home).writeDeadLetter('s', user('a'));
    expect(filesOf(home)).toEqual([`pending-${id}.json.dead`]);
    expect(open(home).list().entries).toMatchObject([
      { state: 'DEAD', kind: 'DEAD_LETTER', reason: 'routing_dead_letter', claimable: false },
    ]);
  });

  it('is refused when the home of a named profile is gone, and makes no other home anew', () => {
    const gone = join(makeHome(), 'profiles', 'gone');
    expect(() => open(gone, { namedProfile: true }).write('s', user('a'))).toThrow(expect.objectContaining({ reason: 'HOME_GONE' }));
    expect(existsSync(gone)).toBe(false);
    open(gone).write('s', user('a'));
    expect(filesOf(gone)).toHaveLength(1);
  });

  it('is refused where the folder is a link or a file', () => {
    const home = makeHome();
    const elsewhere = makeHome();
    symlinkSync(elsewhere, folderOf(home));
    expect(() => open(home).write('s', user('a'))).toThrow(expect.objectContaining({ reason: 'NOT_A_FOLDER' }));
    expect(existsSync(join(elsewhere, 'pending_messages'))).toBe(false);
    expect(open(home).list()).toEqual({ entries: [], truncated: false });
    rmSync(folderOf(home));
    writeFileSync(folderOf(home), '');
    expect(() => open(home).write('s', user('a'))).toThrow(expect.objectContaining({ reason: 'NOT_A_FOLDER' }));
  });

  it.each(['create', 'restrict', 'write', 'sync', 'rename'] as const)('leaves nothing behind when %s fails', (broken) => {
    const home = makeHome();
    const files = stepped(NODE_FILES, (name) => {
      if (name === broken) throw systemError('ENOSPC');
    });
    expect(() => open(home, { files }).write('s', user('a'))).toThrow(
      expect.objectContaining({ code: 'SPOOL_UNWRITABLE', reason: 'NO_SPACE' }),
    );
    expect(filesOf(home)).toEqual([]);
  });

  it('stays when the folder can not be synced', () => {
    const home = makeHome();
    const files = stepped(NODE_FILES, (name) => {
      if (name === 'syncFolder') throw systemError('EINVAL');
    });
    open(home, { files }).write('s', user('a'));
    expect(filesOf(home)).toHaveLength(1);
  });

  it('that JSON can not express is refused', () => {
    const cycle: Record<string, unknown> = { role: 'user' };
    cycle.content = cycle;
    const home = makeHome();
    expect(() => open(home).write('s', cycle)).toThrow(expect.objectContaining({ reason: 'NOT_EXPRESSIBLE' }));
    expect(filesOf(home)).toEqual([]);
  });
});

describe('a list', () => {
  it('T44: is in the order of ts, seq, name, whatever a file is called by now', () => {
    const home = makeHome();
    const late = putFile(home, capDrop('s', 5, 1, user('late')));
    const twin = spoolId();
    const early = putFile(home, capDrop('s', 5, 0, user('early')), undefined, '.claim-1-abc');
    putFile(home, capDrop('s', 5, 0, user('twin')), twin);
    const first = putFile(home, capDrop('s', 4, 9, user('first')));
    expect(
      open(home)
        .list()
        .entries.map(({ spoolId: id }) => id),
    ).toEqual([first, twin, early, late]);
  });

  it('has every state, and a reason for what can not be used', () => {
    const home = makeHome();
    const pending = putFile(home, capDrop('s', 1, 0, user('a')));
    const unparseable = putFile(home, '{');
    const list = putFile(home, '[]');
    const version = putFile(home, enveloped('s', 2, 0, [user('a', { message_uid: 'u' })], 2));
    const invalid = putFile(home, capDrop('s', 3, 0, 7), undefined, '.invalid');
    const superseded = putFile(home, capDrop('s', 4, 0, user('a')), undefined, '.superseded');
    const dead = putFile(home, { ...capDrop('s', 5, 0, user('a')), reason: 'routing_dead_letter' }, undefined, '.dead');
    const held = putFile(home, capDrop('s', 6, 0, user('a')), undefined, '.claim-1-abc');
    expect(states(open(home))).toEqual([
      [unparseable, 'INVALID', 'NOT_JSON'],
      [list, 'INVALID', 'NOT_AN_OBJECT'],
      [pending, 'PENDING', null],
      [version, 'INVALID', 'TRANSCRIPT_UNKNOWN'],
      [invalid, 'INVALID', 'MESSAGE_NOT_AN_OBJECT'],
      [superseded, 'SUPERSEDED', null],
      [dead, 'DEAD', null],
      [held, 'CLAIMED', null],
    ]);
  });

  it('leaves links, folders, and names that are not ours alone', () => {
    const home = makeHome();
    putFile(home, capDrop('s', 1, 0, user('a')), 'f'.repeat(32), '.bad');
    putFile(home, capDrop('s', 1, 0, user('a')), 'F'.repeat(32));
    putFile(home, capDrop('s', 1, 0, user('a')), 'short');
    writeFileSync(join(folderOf(home), '.pending-x_1.tmp'), '{}');
    mkdirSync(join(folderOf(home), `pending-${spoolId()}.json`));
    const outside = join(home, 'outside.json');
    writeFileSync(outside, JSON.stringify(capDrop('s', 1, 0, user('secret'))));
    symlinkSync(outside, join(folderOf(home), `pending-${spoolId()}.json`));
    expect(open(home).list().entries).toEqual([]);
  });

  it('does not read a file that is too large, and still lists it', () => {
    const home = makeHome();
    const id = putFile(home, capDrop('s', 1, 0, user('a')));
    truncateSync(join(folderOf(home), `pending-${id}.json`), SPOOL_LIMITS.fileBytes + 1);
    let reads = 0;
    const files = stepped(NODE_FILES, (name) => {
      if (name === 'read') reads += 1;
    });
    expect(states(open(home, { files }))).toEqual([[id, 'INVALID', 'OVERSIZED']]);
    expect(reads).toBe(0);
  });

  it.each([
    ['EACCES', 'UNREADABLE'],
    ['EIO', 'READ_FAILED'],
  ])('tells a file that can not be read (%s), and tries again', (code, problem) => {
    const home = makeHome();
    const id = putFile(home, capDrop('s', 1, 0, user('a')));
    let broken = true;
    const files = stepped(NODE_FILES, (name) => {
      if (name === 'read' && broken) throw systemError(code);
    });
    const spool = open(home, { files });
    expect(states(spool)).toEqual([[id, 'INVALID', problem]]);
    broken = false;
    // Permissions are changed on the file, which is then another version of it; a failure of the disk leaves no trace.
    if (code === 'EACCES') chmodSync(join(folderOf(home), `pending-${id}.json`), 0o640);
    expect(states(spool)).toEqual([[id, 'PENDING', null]]);
  });

  it('reads a file again only when it changed', () => {
    const home = makeHome();
    const id = putFile(home, capDrop('s', 1, 0, user('one')));
    let reads = 0;
    const spool = open(home, {
      files: stepped(NODE_FILES, (name) => {
        if (name === 'read') reads += 1;
      }),
    });
    expect(spool.list().entries.map(({ preview }) => preview)).toEqual(['one']);
    expect(spool.list().entries.map(({ preview }) => preview)).toEqual(['one']);
    expect(reads).toBe(1);
    putFile(home, capDrop('s', 1, 0, user('two!')), id);
    expect(spool.list().entries.map(({ preview }) => preview)).toEqual(['two!']);
  });

  it('changes nothing, not even the mode of the folder', () => {
    const home = makeHome();
    putFile(home, capDrop('s', 1, 0, user('a')));
    chmodSync(folderOf(home), 0o755);
    open(home).list();
    expect(statSync(folderOf(home)).mode & 0o777).toBe(0o755);
    expect(open(makeHome()).list()).toEqual({ entries: [], truncated: false });
  });

  it('says when there are more names than it looks at', () => {
    const files = { ...NODE_FILES, names: (_path: string, limit: number) => Array.from({ length: limit }, (_, n) => `x${n}`) };
    const home = makeHome();
    mkdirSync(folderOf(home));
    expect(open(home, { files }).list().truncated).toBe(true);
  });
});

describe('a claim', () => {
  it('T52: is had by one only, is given back, and keeps the id', () => {
    const home = makeHome();
    const id = putFile(home, capDrop('s', 1, 0, user('a')));
    const [one, other] = [open(home), open(home)];
    const entry = one.find(id);
    if (entry === null) throw new Error('not listed');
    const claim = one.claim(entry);
    if (typeof claim === 'string') throw new Error(claim);
    expect(other.claim(entry)).toBe('HELD');
    expect(other.find(id)).toMatchObject({ state: 'CLAIMED', claimable: false });
    expect(claim.name).toMatch(new RegExp(`^pending-${id}\\.json\\.claim-${process.pid}-[0-9a-f]{28}$`));
    one.release(claim);
    expect(filesOf(home)).toEqual([`pending-${id}.json`]);
    one.remove(claimed(one, id));
    expect(other.claim(entry)).toBe('GONE');
  });

  it('S10: may be taken over after 300 s, not before, and the first holder then loses nothing of the second', () => {
    const home = makeHome();
    const id = putFile(home, capDrop('s', 1, 0, user('a')));
    const first = open(home);
    const claim = claimed(first, id);
    expect(open(home, { now: () => Date.now() + 299_000 }).find(id)).toMatchObject({ claimable: false });
    const second = open(home, { now: () => Date.now() + 301_000 });
    const taken = claimed(second, id);
    expect(first.open(claim)).toBeNull();
    expect(() => first.rewrite(claim, '{}')).toThrow(expect.objectContaining({ reason: 'CLAIM_LOST' }));
    first.release(claim);
    first.remove(claim);
    expect(filesOf(home)).toEqual([taken.name]);
    expect(second.open(taken)?.payload).toMatchObject({ kind: 'CAP_DROP' });
  });

  it('from before the clock was set back is stale too', () => {
    const home = makeHome();
    const id = putFile(home, capDrop('s', 1, 0, user('a')), undefined, '.claim-1-abc');
    utimesSync(join(folderOf(home), filesOf(home)[0] ?? ''), 1e10, 1e10);
    expect(open(home).find(id)).toMatchObject({ claimable: true });
  });

  it('of a process is gone only when that is certain', () => {
    const own = newHolder();
    expect(isGone(own)).toBe(false);
    expect(isGone({ pid: 2 ** 31 - 1, nonce: 'abc' })).toBe(false);
    expect(isGone({ pid: 2 ** 31 - 1, nonce: '0'.repeat(28) })).toBe(false);
    expect(isGone({ pid: 2 ** 32 + process.pid, nonce: own.nonce })).toBe(false);
    if (process.platform === 'linux') expect(isGone({ pid: 2 ** 31 - 1, nonce: own.nonce })).toBe(true);
  });
});

describe('a file that is retired', () => {
  it('is set aside when it is what was looked at; a repeat changes nothing', () => {
    const home = makeHome();
    const id = putFile(home, capDrop('s', 1, 0, user('a')));
    const spool = open(home);
    const digest = spool.find(id)?.digest ?? '';
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(() => retireSpoolEntry(spool, id, 'other')).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
    expect(() => retireSpoolEntry(spool, spoolId(), digest)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
    expect(retireSpoolEntry(spool, id, digest)).toMatchObject({ spoolId: id, state: 'SUPERSEDED', digest });
    expect(retireSpoolEntry(spool, id, digest)).toMatchObject({ spoolId: id, state: 'SUPERSEDED', digest });
    expect(filesOf(home)).toEqual([`pending-${id}.json.superseded`]);
  });

  it.each(['.invalid', '.dead', ''])('may be one that can not be used (%s)', (suffix) => {
    const home = makeHome();
    const id = putFile(home, '{', undefined, suffix);
    const spool = open(home);
    retireSpoolEntry(spool, id, spool.find(id)?.digest ?? '');
    expect(filesOf(home)).toEqual([`pending-${id}.json.superseded`]);
    expect(readFileOf(home, `pending-${id}.json.superseded`)).toBe('{');
  });

  it('may be one that is too large to read, told by its size and time', () => {
    const home = makeHome();
    const id = putFile(home, capDrop('s', 1, 0, user('a')));
    truncateSync(join(folderOf(home), `pending-${id}.json`), SPOOL_LIMITS.fileBytes + 1);
    const spool = open(home);
    const digest = spool.find(id)?.digest ?? '';
    expect(retireSpoolEntry(spool, id, digest)).toMatchObject({ state: 'SUPERSEDED', digest });
    expect(retireSpoolEntry(spool, id, digest)).toMatchObject({ state: 'SUPERSEDED', digest });
    expect(filesOf(home)).toEqual([`pending-${id}.json.superseded`]);
  });

  it('is not one that is being replayed', () => {
    const home = makeHome();
    const id = putFile(home, capDrop('s', 1, 0, user('a')));
    const spool = open(home);
    const claim = claimed(spool, id);
    expect(() => retireSpoolEntry(spool, id, spool.find(id)?.digest ?? '')).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
    expect(filesOf(home)).toEqual([claim.name]);
  });

  it('T90: is every file of a session that was rewritten, and none of another', () => {
    const home = makeHome();
    const mine = putFile(home, capDrop('s', 1, 0, user('a')));
    const later = putFile(home, capDrop('s', 9, 0, user('later')));
    const other = putFile(home, capDrop('t', 1, 0, user('b')));
    const input = putFile(home, { session_key: 'k', reason: 'shutdown', ts: 1, data: { text: 'hi', session_id: 's' } });
    const unparseable = putFile(home, '{');
    const held = putFile(home, capDrop('s', 2, 0, user('c')), undefined, '.claim-1-abc');
    const spool = open(home);
    expect(supersedeSessions(spool, ['s'], { writtenUntil: 5 })).toEqual({ superseded: [mine], held: [held] });
    expect(spool.find(later)?.state).toBe('PENDING');
    expect(supersedeSessions(spool, ['s'])).toEqual({ superseded: [later], held: [held] });
    expect(spool.find(input)?.state).toBe('PENDING');
    expect(supersedeSessions(spool, ['s'], { pendingInput: true })).toEqual({ superseded: [input], held: [held] });
    expect(spool.find(other)?.state).toBe('PENDING');
    expect(filesOf(home)).toContain(`pending-${unparseable}.json`);
  });
});

describe('a backlog that goes to disk', () => {
  it('A12: moves oldest first and stops at the first failure, so that nothing newer overtakes what stays', () => {
    const home = makeHome();
    let renames = 0;
    const files = stepped(NODE_FILES, (name) => {
      if (name === 'rename' && ++renames === 3) throw systemError('EIO');
    });
    const spool = open(home, { files });
    const queue = ['a', 'b', 'c', 'd'].map((text) => ({ message: user(text) }));
    const moved = moveToSpool(spool, 's', queue, ({ message }) => message);
    expect(moved.written).toHaveLength(2);
    expect(moved.stoppedBy).toMatchObject({ reason: 'FAILED' });
    expect(spool.list().entries.map(({ preview }) => preview)).toEqual(['a', 'b']);
    expect(queue.map(({ message }) => message.content)).toEqual(['c', 'd']);
  });

  it('T20, A3: moves as many as are over the cap', () => {
    const home = makeHome();
    const queue = Array.from({ length: 201 }, (_, n) => user(`m${n + 1}`));
    moveToSpool(open(home), 's', queue, (message) => message, queue.length - 200);
    expect(queue).toHaveLength(200);
    expect(
      open(home)
        .list()
        .entries.map(({ preview }) => preview),
    ).toEqual(['m1']);
  });

  it('T32, A8: is diverted to both kinds of file, with one uid for each message', () => {
    const home = makeHome();
    const queue = [user('é'), user('b', { message_uid: 'mine' })];
    expect(divertBacklog(open(home), 's', queue, (message) => message)).toMatchObject({ stoppedBy: null, divertFailed: null });
    expect(queue).toEqual([]);
    const spooled = filesOf(home).map((name) => JSON.parse(readFileOf(home, name)) as { seq: number; data: { message: unknown } });
    const inOrder = spooled.sort((one, other) => one.seq - other.seq).map(({ data }) => data.message);
    expect(readDiverted(home, 's').messages).toEqual(inOrder);
    expect(inOrder).toMatchObject([{ content: 'é' }, { content: 'b', message_uid: 'mine' }]);
  });

  it('is in the divert file when the spool takes nothing, and in the spool when the id names no file', () => {
    const home = makeHome();
    const queue = [user('a')];
    const broken = stepped(NODE_FILES, (name) => {
      if (name === 'create') throw systemError('EACCES');
    });
    expect(divertBacklog(open(home, { files: broken }), 's', queue, (message) => message)).toMatchObject({
      written: [],
      divertFailed: null,
    });
    expect(queue).toHaveLength(1);
    expect(readDiverted(home, 's').messages).toEqual([user('a')]);
    expect(divertBacklog(open(home), '../s', queue, (message) => message)).toMatchObject({
      stoppedBy: null,
      divertFailed: { reason: 'UNSAFE_NAME' },
    });
    expect(filesOf(home)).toHaveLength(1);
  });
});
