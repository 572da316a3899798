/** What a sidecar says of its session, and how much of the file is read for it. */
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { SidecarUnreadable } from '../../src/web-ui/sidecar-file.ts';
import { readSidecarHead, readSidecarTail } from '../../src/web-ui/sidecar-head.ts';
import { SidecarHeads } from '../../src/web-ui/sidecar-heads.ts';
import { fixturesDir } from '../support/golden.ts';
import { newSessionsDir, saveSidecar, sidecarPath, sidecarText } from '../support/sidecars.ts';
import { removeStores } from '../support/stores.ts';

afterAll(removeStores);

const MIB = 1024 * 1024;

async function headOf(text: string | Buffer) {
  const folder = newSessionsDir();
  writeFileSync(sidecarPath(folder, 's'), text);
  return readSidecarHead(folder, 's');
}

describe('the head of a sidecar', () => {
  it('tells the turn under way, the counts and the title', async () => {
    const pending = {
      active_stream_id: 'run',
      pending_user_message: 'Hello "you"\n',
      pending_attachments: [{ name: 'a.png', _secret: 1 }],
      pending_started_at: 1_782_000_001.5,
      pending_user_source: 'fork',
    };
    const others = { title: 'T', llm_title_generated: true, parent_session_id: 'p', profile: 'work', message_count: 7 };
    expect(await headOf(sidecarText('s', { ...pending, ...others, recommended_recovery_action: 'x' }))).toMatchObject({
      sessionId: 's',
      damaged: false,
      activeStreamId: 'run',
      pendingText: 'Hello "you"\n',
      pendingAttachments: [{ name: 'a.png' }],
      pendingStartedAt: 1_782_000_001.5,
      pendingSource: 'fork',
      messageCount: 7,
      updatedAt: 1_782_000_000,
      title: 'T',
      titleAutomatic: true,
      model: 'm',
      parentSessionId: 'p',
      preCompressionSnapshot: false,
      recommendedRecoveryAction: 'x',
      profile: 'work',
    });
  });

  it('has null where the owner has none', async () => {
    const nulls = { activeStreamId: null, pendingText: null, pendingAttachments: null, pendingStartedAt: null, pendingSource: null };
    expect(await headOf(sidecarText('s', { pending_attachments: null }))).toMatchObject({ ...nulls, profile: null, titleAutomatic: false });
    expect(await headOf('{}')).toMatchObject({ ...nulls, damaged: false, messageCount: null, title: null, titleAutomatic: null });
  });

  it('a title that the user wrote is not an automatic one', async () => {
    expect(await headOf(sidecarText('s', { llm_title_generated: true, manual_title: true }))).toMatchObject({ titleAutomatic: false });
  });

  it.each([
    [
      'NaN where a time belongs',
      '{"updated_at": NaN, "pending_started_at": -Infinity, "title": "NaN", "message_count": 2}',
      { title: 'NaN' },
    ],
    ['values of other types', '{"title": 5, "profile": [], "active_stream_id": {}, "message_count": "2"}', { activeStreamId: null }],
    ['a byte order mark', '\ufeff{"title": "T", "message_count": 2, "messages": []}', { title: 'T' }],
    ['nested and quoted names', '{"title": "\\"message_count\\": 9,", "x": {"message_count": 8}, "message_count": 2}', { profile: null }],
    ['blanks and carriage returns', '{\r\n  "title" : "T" ,\r\n  "message_count" : 2\r\n}', { title: 'T' }],
    [
      'messages before the rest, as older files have them',
      '{"messages": [{"title": "no"}], "title": "T", "message_count": 2}',
      { title: 'T' },
    ],
    ['a count that is no number', '{"title": "T", "message_count": -1, "messages": []}', { title: 'T', messageCount: null }],
  ])('takes %s', async (_, text, expected) => {
    expect(await headOf(text)).toMatchObject({ damaged: false, messageCount: 2, updatedAt: null, ...expected });
  });

  it.each([
    ['an empty file', ''],
    ['a list', '[1, 2]'],
    ['null bytes', Buffer.alloc(200)],
    ['a file that ends inside a value', '{"session_id": "s", "active_stream_id": "run", "title": "Dam'],
    ['a file that ends before the count', '{"session_id": "s", "active_stream_id": "run"'],
    ['a value that is no JSON', '{"active_stream_id": "run", "title": nope, "message_count": 2}'],
  ])('is damaged, and claims nothing: %s', async (_, text) => {
    expect(await headOf(text)).toMatchObject({ sessionId: 's', damaged: true, activeStreamId: null, title: null, messageCount: null });
  });

  it('a file that is torn inside its messages has a whole head', async () => {
    const whole = sidecarText('s', { active_stream_id: 'run' }, [{ role: 'user', content: 'x'.repeat(5000) }]);
    expect(await headOf(whole.slice(0, whole.indexOf('"messages"') + 2000))).toMatchObject({ damaged: false, activeStreamId: 'run' });
  });

  it('a file in another encoding is shown with replacement characters', async () => {
    const text = Buffer.from(sidecarText('s', { title: 'caf#' }));
    text[text.indexOf('#')] = 0xe9;
    expect(await headOf(text)).toMatchObject({ damaged: false, title: 'caf\ufffd' });
  });

  it('a pasted prompt of any size is read past, and cut where it is shown', async () => {
    const prompt = `${'é"\\'.repeat(300_000)}end`;
    const head = await headOf(sidecarText('s', { active_stream_id: 'run', pending_user_message: prompt, message_count: 3 }));
    expect(head).toMatchObject({ damaged: false, activeStreamId: 'run', messageCount: 3, pendingText: prompt.slice(0, 65_536) });
  });

  it('what stands behind 4 MiB is not known; a prompt that goes on behind it is shown as far as it is shown', async () => {
    const prompt = '\u0001x'.repeat(2 * MIB);
    const head = await headOf(sidecarText('s', { active_stream_id: 'run', pending_user_message: prompt, title: 'T' }));
    expect(head).toMatchObject({ damaged: false, activeStreamId: 'run', title: 'T', messageCount: null, pendingStartedAt: null });
    expect(head?.pendingText).toBe(prompt.slice(0, 65_536));
  });

  it('messages are not read: a file of 40 MiB takes no time', async () => {
    const folder = newSessionsDir();
    writeFileSync(sidecarPath(folder, 's'), sidecarText('s', { message_count: 1 }, [{ role: 'user', content: 'x'.repeat(40 * MIB) }]));
    const before = performance.now();
    expect(await readSidecarHead(folder, 's')).toMatchObject({ messageCount: 1 });
    expect(performance.now() - before).toBeLessThan(200);
  });

  it('a character that is cut by the end of a stage is whole', async () => {
    for (const offset of [0, 1, 2, 3]) {
      const text = `{"pad": "${'x'.repeat(65_536 - 20 + offset)}", "title": "${'😀'.repeat(10)}", "message_count": 2}`;
      expect(await headOf(text)).toMatchObject({ title: '😀'.repeat(10), messageCount: 2 });
    }
  });

  it('no file, or no id, is no session', async () => {
    const folder = newSessionsDir();
    writeFileSync(join(folder, '_index.json'), '{}');
    mkdirSync(join(folder, 'folder.json'));
    for (const id of ['none', '_index', 'folder', '../sessions/s', 'a.b', '', 'x'.repeat(300)]) {
      expect(await readSidecarHead(folder, id)).toBeNull();
    }
    expect(await readSidecarHead('/nowhere', 's')).toBeNull();
  });

  it('a link in the place of the file is not followed, the folder itself may be one', async () => {
    const outside = newSessionsDir();
    saveSidecar(outside, 's', sidecarText('s'));
    const folder = newSessionsDir();
    symlinkSync(sidecarPath(outside, 's'), sidecarPath(folder, 's'));
    expect(await readSidecarHead(folder, 's')).toBeNull();
    const linked = join(folder, 'linked');
    symlinkSync(outside, linked);
    expect(await readSidecarHead(linked, 's')).not.toBeNull();
  });

  it('a file that can’t be read is an error with a code', async () => {
    const name = join('/tmp', 'x'.repeat(300));
    await expect(readSidecarHead(name, 's')).rejects.toThrow(SidecarUnreadable);
    await expect(readSidecarTail(name, 's')).rejects.toMatchObject({ code: 'SIDECAR_UNREADABLE' });
  });

  it('every save is another version, and a replaced file is read again', async () => {
    const folder = newSessionsDir();
    const heads = new SidecarHeads(folder);
    expect(await heads.get('s')).toBeNull();
    saveSidecar(folder, 's', sidecarText('s', { title: 'One' }));
    const one = await heads.get('s');
    expect(await heads.get('s')).toBe(one);
    expect(one).toEqual(await readSidecarHead(folder, 's'));
    saveSidecar(folder, 's', sidecarText('s', { title: 'Two' }));
    const two = await heads.get('s');
    expect(two).toMatchObject({ title: 'Two' });
    expect(two?.version).not.toBe(one?.version);
    renameSync(sidecarPath(folder, 's'), sidecarPath(folder, 't'));
    expect(await heads.get('s')).toBeNull();
  });

  it.each([
    ['mw_normal', { damaged: false, activeStreamId: null }],
    ['mw_stale_partial', { damaged: false, activeStreamId: 'stream-stale_partial', pendingText: 'explain zanzibar' }],
    ['mw_damaged', { damaged: true }],
    ['mw_damaged_empty', { damaged: true }],
    ['mw_damaged_nul', { damaged: true }],
    ['mw_damaged_list', { damaged: true }],
    ['mw_legacy', { damaged: false, title: 'Legacy shape', model: 'gpt-4', messageCount: null }],
    ['mw_parent_snapshot', { damaged: false, preCompressionSnapshot: true }],
  ])('of a file that the owner wrote: %s', async (id, expected) => {
    expect(await readSidecarHead(join(fixturesDir(), 'stores', 'webui-home', 'webui', 'sessions'), id)).toMatchObject(expected);
  });
});
