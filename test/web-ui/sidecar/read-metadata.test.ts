/** The metadata of session files, sound and damaged (`spec/webui-sidecars.md` 19). */
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readMetadata } from '../../../src/web-ui/sidecar/read-metadata.ts';
import { readSidecar } from '../../../src/web-ui/sidecar/read-sidecar.ts';
import type { SidecarRow } from '../../../src/web-ui/sidecar/sidecar-row.ts';
import { isSidecarId } from '../../../src/web-ui/sidecar-file.ts';
import { assistant, put, putSession, session, sessionsFolder, user } from '../sidecar-folder.ts';

async function metadata(content: unknown, id = 'x'): Promise<SidecarRow> {
  const folder = sessionsFolder();
  put(folder, `${id}.json`, content);
  const row = await readMetadata(folder, id);
  if (row === null) throw new Error('there is no such session');
  return row;
}

async function whole(content: unknown, id = 'x') {
  const folder = sessionsFolder();
  put(folder, `${id}.json`, content);
  const read = await readSidecar(folder, id);
  if (read === null) throw new Error('there is no such session');
  return read;
}

function codes(row: SidecarRow): string[] {
  return row.warnings.map(({ code }) => code);
}

/** In the order of the owner, so that the messages stand behind. */
function modern(fields: Readonly<Record<string, unknown>>, count: unknown = 1, messages: unknown = [user('a')]): string {
  const { messages: _, ...head } = session('x', fields);
  return JSON.stringify({ ...head, message_count: count, anchor_scene_index: {}, messages });
}

describe('ids', () => {
  it('T1: an id is letters, digits, _ and -, and nothing that could leave the folder', async () => {
    for (const id of ['', 'a.b', 'a/b', '..', 'é', 'a b', 'a\n', '_index']) {
      expect(isSidecarId(id), id).toBe(false);
      expect(await readMetadata(sessionsFolder(), id)).toBeNull();
    }
    expect(isSidecarId('x'.repeat(250))).toBe(true);
    expect(isSidecarId('A-b_9')).toBe(true);
  });

  it('T2: a session without a file is none', async () => {
    expect(await readMetadata(sessionsFolder(), 'q')).toBeNull();
    expect(await readSidecar(sessionsFolder(), 'q')).toBeNull();
  });

  it('a link in the place of a file is none', async () => {
    const folder = sessionsFolder();
    const elsewhere = putSession(sessionsFolder(), 'x');
    symlinkSync(elsewhere, join(folder, 'x.json'));
    mkdirSync(join(folder, 'd.json'));
    expect(await readMetadata(folder, 'x')).toBeNull();
    expect(await readMetadata(folder, 'd')).toBeNull();
  });
});

describe('damaged files', () => {
  it.each(['', '[]', 'null', '5', '{"session_id": "x", "tit', '\0\0\0'])('T3, T4: %j is told as corrupt', async (content) => {
    const row = await metadata(content);
    expect(row).toMatchObject({ id: 'x', health: 'CORRUPT', title: null, messageCount: null });
    expect((await whole(content)).messages).toEqual([]);
  });

  it('nested deeper than the owner reads, a file is told as corrupt, whatever is in it', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const messages = `[{"role":"assistant","_partial":true,"_partial_tool_calls":[{"args":"\\\\"},{"args":${deep}}]}]`;
    const text = modern({}).replace(JSON.stringify([user('a')]), messages);
    expect((await whole(text)).row.health).toBe('CORRUPT');
    expect((await whole(text.replace(deep, '[[[1]]]'))).row.health).toBe('OK');
    expect((await metadata(text)).health).toBe('UNKNOWN');
    expect((await metadata(modern({ composer_draft: 'DEEP' }).replace('"DEEP"', deep))).health).toBe('CORRUPT');
  });

  it('T5: an empty object is a session without anything', async () => {
    const row = await metadata('{}', 'obj');
    expect(row).toMatchObject({ id: 'obj', health: 'OK', title: 'Untitled', createdAt: null, updatedAt: null, messageCount: 0 });
    expect(codes(row)).toEqual(['ID_MISSING']);
  });

  it('T6: torn inside its messages, a file still tells what stands before them', async () => {
    const text = modern({}, 5);
    const torn = text.slice(0, text.indexOf('"content"'));
    expect(await metadata(torn)).toMatchObject({ health: 'UNKNOWN', messageCount: 5, title: 'T' });
    expect((await whole(torn)).row.health).toBe('CORRUPT');
  });

  it('T7: torn inside its title, it tells nothing', async () => {
    expect((await metadata(modern({ title: 'Long title' }).slice(0, 30))).health).toBe('CORRUPT');
  });

  it('T8, T9: messages that are no list are none', async () => {
    expect((await whole(session('x', { messages: null }))).row).toMatchObject({ health: 'OK', messageCount: 0, warnings: [] });
    const odd = await whole(session('x', { messages: { a: 1 } }));
    expect(odd.messages).toEqual([]);
    expect(odd.row.messageCount).toBe(0);
    expect(codes(odd.row)).toEqual(['MESSAGES_NOT_ARRAY']);
  });

  it('T10: a session without a workspace loads', async () => {
    const row = await metadata(modern({ workspace: null }));
    expect(row).toMatchObject({ title: 'T', workspace: null });
    expect(codes(row)).toEqual(['WORKSPACE_INVALID']);
  });

  it('T11: numbers that are not finite are null', async () => {
    const text = modern({ estimated_cost: 'NAN', input_tokens: 'INF', cache_read_tokens: 5 })
      .replace('"NAN"', 'NaN')
      .replace('"INF"', 'Infinity');
    const { usage } = await metadata(text);
    expect(usage).toMatchObject({ estimatedCost: null, inputTokens: null, cacheReadTokens: 5, cacheHitPercent: null });
  });

  it('T12: a byte order mark is no damage', async () => {
    for (const row of [await metadata(`\uFEFF${modern({})}`), (await whole(`\uFEFF${modern({})}`)).row]) {
      expect(row).toMatchObject({ title: 'T', messageCount: 1 });
      expect(codes(row)).toEqual(['BYTE_ORDER_MARK']);
    }
  });

  it('T13: bytes that are no UTF-8 are left out and told', async () => {
    const content = Buffer.from(modern({ title: 'caf\u00e9!' }), 'latin1');
    expect(await metadata(content)).toMatchObject({ title: 'caf!', health: 'DAMAGED_ENCODING' });
    expect((await whole(content)).row).toMatchObject({ title: 'caf!', health: 'DAMAGED_ENCODING' });
  });

  it('T14: the name of the file is the id', async () => {
    const folder = sessionsFolder();
    put(folder, 'mism.json', session('other'));
    const row = await readMetadata(folder, 'mism');
    expect(row).toMatchObject({ id: 'mism', innerId: 'other' });
    expect(row?.warnings).toEqual([{ code: 'ID_MISMATCH', field: 'session_id' }]);
    expect(readdirSync(folder)).toEqual(['mism.json']);
  });

  it('T39: a time that is no number is null', async () => {
    const row = await metadata(modern({ updated_at: '2026-01-01' }));
    expect(row).toMatchObject({ updatedAt: null, createdAt: 1 });
    expect(row.warnings).toEqual([{ code: 'WRONG_TYPE', field: 'updated_at' }]);
  });

  it('F76: 0, times before 1970 and after 2103 are no times', async () => {
    for (const time of [0, -5, 32_503_680_000, 1_781_773_226_453])
      expect((await metadata(modern({ created_at: time }))).createdAt).toBeNull();
  });
});

describe('the beginning of a file', () => {
  it('T16: what looks like the messages and is none does not end it', async () => {
    const title = 'say "messages": x';
    const draft = { text: 'd', files: [], messages: [1] };
    const row = await metadata(modern({ title, composer_draft: draft }));
    expect(row).toMatchObject({ title, isWhole: false, messageCount: 1, composerDraft: { text: 'd', files: [] } });
  });

  it('T17: a key that is written with an escape is read', async () => {
    expect(await metadata(JSON.stringify(session('x', { messages: [user('a')] })).replace('"messages"', '"mess\\u0061ges"'))).toMatchObject(
      {
        messageCount: 1,
        isWhole: true,
      },
    );
  });

  it.each([
    [300 * 1024, false],
    [1_100_000, true],
  ])('T18, T19: %i bytes before the messages change no value', async (length, isWhole) => {
    const summary = 'é'.repeat(length / 2);
    const row = await metadata(modern({ compression_anchor_summary: summary }, 7, Array(7).fill(user('a'))));
    expect(row).toMatchObject({ isWhole, messageCount: 7, title: 'T' });
    expect(row.compression.summary).toBe(summary);
  });

  it('T20: with its messages first a file is read whole', async () => {
    const { messages: _, ...head } = session('x');
    expect(await metadata({ messages: [user('a'), user('b')], ...head })).toMatchObject({
      isWhole: true,
      messageCount: 2,
      layout: 'LEGACY',
    });
  });

  it('T21: with its scenes before the count a file is read whole', async () => {
    const { messages: _, ...head } = session('x');
    const row = await metadata({ ...head, anchor_activity_scenes: {}, message_count: 9, messages: [user('a')] });
    expect(row).toMatchObject({ isWhole: true, messageCount: 1 });
  });

  it('T22: without a count, but with its scenes told, the index is asked', async () => {
    const { messages: _, ...head } = session('x');
    const folder = sessionsFolder();
    put(folder, 'x.json', { ...head, anchor_scene_index: {}, messages: [user('a')] });
    expect(await readMetadata(folder, 'x', { countInIndex: () => 9 })).toMatchObject({ isWhole: false, messageCount: 9 });
    expect(await readMetadata(folder, 'x')).toMatchObject({ isWhole: false, messageCount: null });
  });

  it.each([
    ['7', 7, false],
    [-1, 0, true],
    [3.9, 3, false],
    ['x', 0, true],
  ])('T23: a count of %j is %j', async (count, expected, isWhole) => {
    const { messages: _, ...head } = session('x');
    expect(await metadata({ ...head, message_count: count, messages: [] })).toMatchObject({ messageCount: expected, isWhole });
  });

  it('a file over the limit tells its metadata, and that it is too large', async () => {
    const folder = sessionsFolder();
    put(folder, 'x.json', modern({}, 3, Array(3).fill(user('a'.repeat(1000)))));
    expect(await readMetadata(folder, 'x', { maxBytes: 1000 })).toMatchObject({ health: 'TOO_LARGE', messageCount: 3, title: 'T' });
    const read = await readSidecar(folder, 'x', { maxBytes: 1000 });
    expect(read).toMatchObject({ row: { health: 'TOO_LARGE', title: 'T', messageCount: 3 }, messages: [] });
  });
});

describe('what is decoded', () => {
  it('T24: a partial answer that repeats another is shown once, and the file is left alone', async () => {
    const folder = sessionsFolder();
    const part = (timestamp: number, content = 'part') => assistant(content, timestamp, { _partial: true });
    const path = put(folder, 'x.json', session('x', { messages: [user('a'), part(2), part(3), part(4, 'part ')] }));
    const before = readFileSync(path);
    const read = await readSidecar(folder, 'x');
    expect(read).toMatchObject({ collapsedPartials: 2, row: { messageCount: 2 } });
    expect(read?.messages).toHaveLength(2);
    expect(readFileSync(path)).toEqual(before);
    const parted = await whole(session('x', { messages: [part(1), user('a'), part(3)] }));
    expect(parted.messages).toHaveLength(3);
  });

  it('T49-T51: the last message that counts gives the time', async () => {
    const tools = Array.from({ length: 10 }, (_, index) => ({ role: 'tool', content: 'x', timestamp: 50 + index }));
    const time = async (messages: unknown[]) => (await whole(session('x', { messages, updated_at: 99 }))).row.lastMessageAt;
    expect(await time([user('a', 1), assistant('b', 2), ...tools])).toBe(2);
    expect(await time([user('a', 1), assistant(' ', 2, { _partial: true })])).toBe(1);
    expect(await time([user('a', 0)])).toBe(99);
    expect(await time([user('a', '2026-01-01T00:00:00Z')])).toBe(99);
  });

  it('T52, T53: a prompt that is pending counts', async () => {
    const pending = { pending_user_message: 'go', pending_started_at: 3 };
    const row = (await whole(session('x', { ...pending, messages: [{ ...user('a', 5), _ts: 7 }] }))).row;
    expect(row).toMatchObject({ lastMessageAt: 3, messageCount: 1, userMessageCount: 1, pending: { text: 'go', source: 'webui' } });
    const bare = (await whole(session('x', { pending_user_message: 'go' }))).row;
    expect(bare).toMatchObject({ lastMessageAt: 2, messageCount: 1, storedMessageCount: 0, userMessageCount: 0 });
    const { messages: _, ...head } = session('x', pending);
    expect(await metadata({ ...head, message_count: 0, anchor_scene_index: {}, messages: [] })).toMatchObject({
      lastMessageAt: 3,
      messageCount: 1,
    });
  });

  it.each([
    [1, 8, 12],
    [3, 8, 38],
    [5, 0, null],
    [9, 3, 100],
    ['4', '8', 50],
  ])('T54: %j of %j tokens from the cache are %j per cent', async (read, input, percent) => {
    const { usage } = await metadata(modern({ cache_read_tokens: read, input_tokens: input }));
    expect(usage.cacheHitPercent).toBe(percent);
  });

  it('T65: a pause is told with the state of the credentials that it was made in', async () => {
    const pause = { version: 1, paused: true, classification: 'credential_pool_empty', visible_error_count: 2 };
    const row = await metadata(modern({ process_wakeup_pause: pause }));
    expect(row.wakeupPause).toMatchObject({ visibleErrorCount: 2, suppressedCount: 0, credentialFingerprint: null });
    expect((await metadata(modern({ process_wakeup_pause: { ...pause, paused: false } }))).wakeupPause).toBeNull();
  });

  it('T69: the time of the pending turn is proven only for its run and source', async () => {
    const identity = async (fields: Readonly<Record<string, unknown>>) =>
      (
        await metadata(
          modern({
            pending_user_message: 'go',
            active_stream_id: 'st',
            pending_started_at: 99,
            pending_user_source: 'webui',
            _webui_pending_user_timestamp_identity: ['st', 99],
            ...fields,
          }),
        )
      ).pending?.identity;
    expect(await identity({})).toEqual({ streamId: 'st', timestamp: 99 });
    expect(await identity({ pending_user_source: null })).toBeNull();
    expect(await identity({ active_stream_id: 'other' })).toBeNull();
    expect(await identity({ pending_started_at: 98 })).toBeNull();
  });

  it('T70: scenes are told by key and time', async () => {
    const scenes = { k: { updated_at: '5' }, bad: 3, '': { updated_at: 1 }, n: { updated_at: 'x' } };
    expect((await whole(session('x', { anchor_activity_scenes: scenes }))).row.sceneIndex).toEqual({ k: 5, n: 0 });
  });

  it('never tells the token of a share', async () => {
    const row = await metadata(modern({ share_token: 'secret-token', share_created_at: 5 }));
    expect(row).toMatchObject({ hasShare: true, shareCreatedAt: 5 });
    expect(JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))).not.toContain('secret-token');
  });

  it('tells unknown members by their names', async () => {
    expect((await metadata(modern({ foo: 1 }))).unknownKeys).toEqual(['foo']);
  });
});
