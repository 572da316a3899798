/** Changes of session files (`spec/webui-sidecars.md` 6, 15, 19). */
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { readMetadata } from '../../../src/web-ui/sidecar/read-metadata.ts';
import { readSidecar, signatureText } from '../../../src/web-ui/sidecar/read-sidecar.ts';
import { saveMetadata } from '../../../src/web-ui/sidecar/save-sidecar.ts';
import { clearWakeupPause, persistCollapsedPartials, updateSession } from '../../../src/web-ui/sidecar/update-session.ts';
import { writeSidecar } from '../../../src/web-ui/sidecar/write-sidecar.ts';
import { readTombstones, recordTombstone } from '../../../src/web-ui/tombstones.ts';
import { assistant, parsed, put, putSession, session, sessionsFolder, user } from '../sidecar-folder.ts';

let folder: string;
beforeEach(() => {
  folder = sessionsFolder();
});

const refusal = (code: string) => expect.objectContaining({ name: 'WriteRefused', code });
const at = (name: string) => join(folder, name);
const read = (name = 'x.json') => readFileSync(at(name), 'utf8');

describe('a change of metadata', () => {
  it('T15: changes what it is asked to and keeps every other byte', async () => {
    const text = `{"session_id": "x", "title": "T",\t"foo": 1.50, "big": 12345678901234567890, "odd": NaN, "2": 1, "1": 2,
      "created_at": 1.0, "updated_at": 2.0, "manual_title": false, "message_count": 1, "anchor_scene_index": {},
      "messages": [{"role":"user", "content":"\\u00e9 \\ud800", "timestamp": 1e-07}] , "__proto__": {"a": 1}}`;
    put(folder, 'x.json', text);
    const saved = await updateSession(folder, 'x', { title: '  New\u00e9 name ' }, { now: () => 50 });
    expect(read()).toBe(
      text
        .replace('"title": "T"', '"title": "New\u00e9 name"')
        .replace('"updated_at": 2.0', '"updated_at": 50.0')
        .replace('"manual_title": false', '"manual_title": true'),
    );
    expect(saved).toMatchObject({
      changed: true,
      row: { title: 'New\u00e9 name', manualTitle: true, updatedAt: 50, unknownKeys: expect.arrayContaining(['foo', 'big']) },
    });
    expect(readdirSync(folder)).toEqual(['x.json']);
  });

  it('puts members that the file lacks where who reads its beginning finds them', async () => {
    put(folder, 'x.json', session('x', { messages: [user('a')], tool_calls: [] }));
    await updateSession(folder, 'x', { archived: true, pinned: true, composerDraft: { text: 'd' } });
    expect(Object.keys(parsed(at('x.json')))).toEqual([
      ...['session_id', 'title', 'workspace', 'created_at', 'updated_at', 'pinned', 'archived', 'composer_draft'],
      ...['message_count', 'anchor_scene_index', 'messages', 'tool_calls'],
    ]);
    expect(await readMetadata(folder, 'x')).toMatchObject({
      layout: 'MODERN',
      isWhole: false,
      messageCount: 1,
      archived: true,
      pinned: true,
    });
  });

  it('makes the counts right that the file has wrong', async () => {
    put(folder, 'x.json', {
      ...session('x'),
      message_count: 9,
      anchor_scene_index: { old: 1 },
      messages: [user('a')],
      anchor_activity_scenes: { k: { updated_at: 5 } },
    });
    await updateSession(folder, 'x', { pinned: true });
    expect(read()).toContain('"message_count":1');
    expect(read()).toContain('"k": 5.0');
  });

  it('writes nothing when the file says the same already', async () => {
    const path = putSession(folder, 'x', { pinned: true });
    const before = statSync(path, { bigint: true });
    expect(await updateSession(folder, 'x', { pinned: true, archived: false })).toMatchObject({ changed: false, row: { pinned: true } });
    expect(statSync(path, { bigint: true }).ino).toBe(before.ino);
  });

  it('moves the session in lists only for what the Web UI moves it for', async () => {
    putSession(folder, 'x');
    for (const changes of [{ pinned: true }, { archived: true }, { projectId: 'p' }, { composerDraft: { text: 'd' } }]) {
      expect((await updateSession(folder, 'x', changes, { now: () => 99 })).row.updatedAt, JSON.stringify(changes)).toBe(2);
    }
    expect((await updateSession(folder, 'x', { personality: 'p', enabledToolsets: ['a'] }, { now: () => 99 })).row.updatedAt).toBe(99);
    expect(parsed(at('x.json'))).toMatchObject({
      pinned: true,
      archived: true,
      project_id: 'p',
      personality: 'p',
      enabled_toolsets: ['a'],
    });
  });

  it.each([
    ['', 'Untitled', false],
    ['New Chat', 'New Chat', false],
    ['é'.repeat(100), 'é'.repeat(80), true],
    ['a\ud800', 'a\ufffd', true],
  ])('renames to %j as %j', async (title, kept, manual) => {
    putSession(folder, 'x', { llm_title_generated: true });
    const { row } = await updateSession(folder, 'x', { title });
    expect(row).toMatchObject({ title: kept, manualTitle: manual, llmTitleGenerated: false });
  });

  it('changes the part of a draft that it is given, within the limits', async () => {
    putSession(folder, 'x', { composer_draft: { text: 'old', files: [{ name: 'f' }], own: 1.5 } });
    await updateSession(folder, 'x', { composerDraft: { text: 'new' } });
    expect(parsed(at('x.json')).composer_draft).toEqual({ text: 'new', files: [{ name: 'f' }], own: 1.5 });
    await expect(updateSession(folder, 'x', { composerDraft: { text: 'a'.repeat(50_001) } })).rejects.toThrow('50000');
    await expect(updateSession(folder, 'x', { composerDraft: { files: Array(51).fill('f') } })).rejects.toThrow('50 files');
  });

  it('clears the pause of automatic turns, also one that is left over', async () => {
    putSession(folder, 'x', { process_wakeup_pause: { paused: false, version: 1 } });
    expect(await clearWakeupPause(folder, 'x')).toMatchObject({ changed: true, row: { hasWakeupPauseRecord: false, updatedAt: 2 } });
    expect(await clearWakeupPause(folder, 'x')).toMatchObject({ changed: false });
  });

  it('T14: writes under the name of the file, whatever id it tells', async () => {
    put(folder, 'mism.json', session('other'));
    await updateSession(folder, 'mism', { title: 'N' });
    expect(readdirSync(folder)).toEqual(['mism.json']);
    expect(parsed(at('mism.json'))).toMatchObject({ session_id: 'other', title: 'N' });
  });

  it('T24: takes partial answers that repeat another out of the file when that is asked for', async () => {
    const part = (timestamp: number) => assistant('part', timestamp, { _partial: true });
    put(folder, 'x.json', JSON.stringify(session('x', { messages: [user('a'), part(2), part(3), part(4), user('b')] }), null, 2));
    const before = read();
    expect(await persistCollapsedPartials(folder, 'x')).toMatchObject({ changed: true, row: { messageCount: 3, updatedAt: 2 } });
    expect(parsed(at('x.json')).messages).toEqual([user('a'), part(2), user('b')]);
    expect(read('x.json.bak')).toBe(before);
    expect(await persistCollapsedPartials(folder, 'x')).toMatchObject({ changed: false });
  });

  it('works the same on a file that takes a thread of its own', async () => {
    const messages = Array.from({ length: 3000 }, (_, index) => user('x'.repeat(1000), index));
    const path = putSession(folder, 'x', { messages, foo: [1.5] });
    await updateSession(folder, 'x', { title: 'Large' });
    expect(statSync(path).size).toBeGreaterThan(3_000_000);
    expect(parsed(path)).toEqual({ ...parsed(path), title: 'Large', foo: [1.5], messages, message_count: 3000 });
  });
});

describe('a change is refused', () => {
  it.each([
    ['{broken', 'SIDECAR_CORRUPT'],
    ['[]', 'SIDECAR_CORRUPT'],
    ['{}', 'SIDECAR_CORRUPT'],
    [session('x', { messages: null }), 'SIDECAR_CORRUPT'],
    [session('x', { session_id: '../evil' }), 'SIDECAR_CORRUPT'],
    [Buffer.from(JSON.stringify(session('x', { title: 'é' })), 'latin1'), 'SIDECAR_ENCODING'],
    [session('x', { read_only: true }), 'SESSION_READ_ONLY'],
  ])('T13: for %j with %s', async (content, code) => {
    const path = put(folder, 'x.json', content);
    const before = readFileSync(path);
    await expect(updateSession(folder, 'x', { title: 'N' })).rejects.toEqual(refusal(code));
    expect(readFileSync(path)).toEqual(before);
    expect(readdirSync(folder)).toEqual(['x.json']);
  });

  it('for a session without a file, an id that is none, and a file over the limit', async () => {
    await expect(updateSession(folder, 'x', { title: 'N' })).rejects.toEqual(refusal('SIDECAR_MISSING'));
    await expect(updateSession(folder, '../x', { title: 'N' })).rejects.toMatchObject({ code: 'BAD_SESSION_ID' });
    putSession(folder, 'x');
    await expect(updateSession(folder, 'x', { title: 'N' }, { maxBytes: 100 })).rejects.toEqual(refusal('SIDECAR_TOO_LARGE'));
  });

  it('for files that may be copies of a database', async () => {
    putSession(folder, 'x');
    put(folder, '_sessions.sqlite3', 'x');
    await expect(updateSession(folder, 'x', { title: 'N' })).rejects.toEqual(refusal('SIDECAR_OVERLAY'));
    expect(await updateSession(folder, 'x', { title: 'N' }, { force: true })).toMatchObject({ changed: true });
  });

  it('for messages while a turn is under way', async () => {
    putSession(folder, 'x', { active_stream_id: 'st' });
    await expect(persistCollapsedPartials(folder, 'x')).rejects.toEqual(refusal('SESSION_BUSY'));
    await expect(persistCollapsedPartials(folder, 'x', { isLive: true })).rejects.toEqual(refusal('SESSION_BUSY'));
    expect(await persistCollapsedPartials(folder, 'x', { isLive: false })).toMatchObject({ changed: false });
    expect(await updateSession(folder, 'x', { title: 'N' })).toMatchObject({ changed: true, mayBeOverwritten: true });
  });

  it('T30: when the file is another than the one that was seen', async () => {
    putSession(folder, 'x');
    const seen = await readMetadata(folder, 'x');
    if (seen === null) throw new Error('not there');
    putSession(folder, 'x', { title: 'Other' });
    const before = read();
    await expect(updateSession(folder, 'x', { title: 'N' }, { ifSignature: signatureText(seen.signature) })).rejects.toEqual(
      refusal('CONFLICT'),
    );
    expect(read()).toBe(before);
  });

  it('T30: when the file changes between the read and the rename', async () => {
    const path = putSession(folder, 'x', { messages: [assistant('p', 1, { _partial: true }), assistant('p', 1, { _partial: true })] });
    // The request is read in the middle of the edit, after the file was.
    const request = { id: 'x', set: { title: 'N' }, updatedAt: null, refuse: { readOnly: true, underWay: false } };
    Object.defineProperty(request, 'collapsePartials', {
      get: () => {
        writeFileSync(path, `${readFileSync(path, 'utf8')} `);
        return false;
      },
    });
    await expect(saveMetadata(folder, request)).rejects.toEqual(refusal('CONFLICT'));
    expect(parsed(path).title).toBe('T');
    expect(readdirSync(folder)).toEqual(['x.json']);
  });
});

describe('what a change tells', () => {
  it('that a Web UI may have the session in memory', async () => {
    const path = putSession(folder, 'x');
    expect(await updateSession(folder, 'x', { pinned: true })).toMatchObject({ mayBeOverwritten: true });
    utimesSync(path, 1, Date.now() / 1000 - 3600);
    expect(await updateSession(folder, 'x', { pinned: false })).toMatchObject({ mayBeOverwritten: false });
  });

  it('its row in the index follows, with every other member as it was', async () => {
    putSession(folder, 'x');
    put(
      folder,
      '_index.json',
      '[{"session_id": "y", "updated_at": 9.0}, {"session_id": "x", "title": "T", "updated_at": 2.0, "share_token": "s", "n": 1.0}]',
    );
    expect(await updateSession(folder, 'x', { title: 'N' }, { now: () => 50 })).toMatchObject({ indexPatched: true });
    expect(JSON.parse(read('_index.json'))).toEqual([
      expect.objectContaining({ session_id: 'x', title: 'N', updated_at: 50, share_token: 's', manual_title: true }),
      { session_id: 'y', updated_at: 9 },
    ]);
    expect(read('_index.json')).toContain('"n": 1.0');
  });

  it('an index that is damaged or lacks the session stays as it is', async () => {
    putSession(folder, 'x');
    for (const index of ['garbage', '[]', '{}', '[1]']) {
      put(folder, '_index.json', index);
      expect(await updateSession(folder, 'x', { title: index })).toMatchObject({ changed: true, indexPatched: false });
      expect(read('_index.json')).toBe(index);
    }
  });

  it('a session with messages is not deleted any more', async () => {
    putSession(folder, 'x', { messages: [user('a')] });
    await recordTombstone(folder, 'DELETED', 'x');
    await updateSession(folder, 'x', { title: 'N' });
    expect((await readTombstones(folder, 'DELETED')).status).toBe('MISSING');
  });
});

describe('a session saved as a whole', () => {
  const messages = (count: number) => Array.from({ length: count }, (_, index) => user(`m${index}`, index + 1));

  it('has the owner\u2019s members in the owner\u2019s order, and unknown ones behind', async () => {
    const row = await writeSidecar(
      folder,
      'x',
      { ...session('x'), foo: { a: 1 }, messages: messages(2), anchor_activity_scenes: { k: { updated_at: 3 } } },
      { mustBeNew: true },
    );
    expect(row).toMatchObject({ health: 'OK', messageCount: 2, layout: 'MODERN', sceneIndex: { k: 3 }, unknownKeys: ['foo'] });
    const keys = Object.keys(parsed(at('x.json')));
    expect(keys).toHaveLength(66 + 2 + 4 + 1);
    expect(keys.slice(0, 3)).toEqual(['session_id', 'title', 'workspace']);
    expect(keys.slice(66)).toEqual([
      'message_count',
      'anchor_scene_index',
      'messages',
      'tool_calls',
      'anchor_activity_scenes',
      'context_messages',
      'foo',
    ]);
    expect(read()).toMatch(/^\{\n {2}"session_id": "x",\n {2}"title": "T",/);
    expect(read()).toContain('"created_at": 1.0,');
    await expect(writeSidecar(folder, 'x', session('x'), { mustBeNew: true })).rejects.toEqual(refusal('CONFLICT'));
  });

  it('T25: leaves the old one as its backup when it has fewer messages', async () => {
    await writeSidecar(folder, 'x', session('x', { messages: messages(3) }));
    await writeSidecar(folder, 'x', session('x', { messages: messages(1) }));
    expect(parsed(at('x.json.bak')).message_count).toBe(3);
    await writeSidecar(folder, 'x', session('x', { messages: messages(2) }));
    expect(parsed(at('x.json.bak')).message_count).toBe(3);
    expect(parsed(at('x.json')).message_count).toBe(2);
  });

  it('T26, T27: does not empty a session with a turn under way', async () => {
    await writeSidecar(folder, 'x', session('x', { messages: messages(2) }));
    for (const marks of [{ pending_user_message: 'go' }, { active_stream_id: 'st' }]) {
      await expect(writeSidecar(folder, 'x', session('x', marks))).rejects.toEqual(refusal('TRANSCRIPT_WOULD_BE_EMPTIED'));
    }
    expect(parsed(at('x.json')).messages).toHaveLength(2);
    await writeSidecar(folder, 'x', session('x'));
    expect(parsed(at('x.json.bak')).messages).toHaveLength(2);
    expect(parsed(at('x.json')).messages).toEqual([]);
  });

  it('T28: is not one that was read without its messages', async () => {
    const { messages: _, ...stub } = session('x');
    await expect(writeSidecar(folder, 'x', stub)).rejects.toEqual(refusal('METADATA_ONLY'));
    expect(readdirSync(folder)).toEqual([]);
  });

  it('T29: keeps what was no JSON aside', async () => {
    put(folder, 'x.json', '{broken');
    await writeSidecar(folder, 'x', session('x', { messages: messages(1) }));
    expect(read('x.json.bak')).toBe('{broken');
    expect((await readSidecar(folder, 'x'))?.row).toMatchObject({ health: 'OK', messageCount: 1 });
    put(folder, 'x.json', '{broken again');
    await writeSidecar(folder, 'x', session('x', { messages: messages(1) }));
    expect(read('x.json.bak')).toBe('{broken');
    const aside = readdirSync(folder).filter((name) => name.startsWith('x.json.corrupt-'));
    expect(aside.map((name) => read(name))).toEqual(['{broken again']);
  });

  it('fails where there is no folder, and makes none', async () => {
    await expect(writeSidecar(join(folder, 'gone'), 'x', session('x'))).rejects.toThrow();
    expect(existsSync(join(folder, 'gone'))).toBe(false);
  });
});
