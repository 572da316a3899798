/** The files of a session that the Web UI keeps, taken away (`spec/webui-transcript.md` 19.1, `spec/webui-sidecars.md` 9.4). */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { removeWebUiFiles, webUiFiles, webUiPlaces } from '../../../src/web-ui/deletion/session-files.ts';
import { readMetadata } from '../../../src/web-ui/sidecar/read-metadata.ts';
import { signatureText } from '../../../src/web-ui/sidecar/read-sidecar.ts';
import type { TestHost } from '../../support/command-host.ts';
import { deleting, homeWith, hostOf, namesBelow, parentsOf, W } from '../../support/deletion.ts';
import { newSessionsDir, saveSidecar, sidecarText } from '../../support/sidecars.ts';
import { M, T, temporaryFolder } from '../../support/stores.ts';

const TEXT = [{ role: 'user', content: 'Hello', timestamp: 1 }];

const QUESTION = {
  scope: 'SEGMENT',
  expectedDeleteIds: null,
  onlyIfEmpty: false,
  keepStateDb: false,
  force: false,
  profiles: ['default'],
} as const;

async function signatureOf(sessionsDir: string, id: string): Promise<string | null> {
  const row = await readMetadata(sessionsDir, id);
  return row === null ? null : signatureText(row.signature);
}

describe('the files of a session', () => {
  it('have their attachments where the Web UI was told to keep them', async () => {
    const sessionsDir = newSessionsDir();
    const inbox = temporaryFolder();
    mkdirSync(join(inbox, 'tea'));
    writeFileSync(join(inbox, 'tea', 'a.png'), 'abc');
    const places = webUiPlaces(dirname(sessionsDir), { HERMES_WEBUI_ATTACHMENT_DIR: ` ${inbox} ` });
    expect(await webUiFiles(places, 'tea')).toEqual([{ home: 'ATTACHMENTS', path: 'tea', kind: 'ATTACHMENTS', files: 1, bytes: 3 }]);
    expect(await removeWebUiFiles(places, 'tea', { signature: null, tombstone: false })).toBe('GONE');
    expect(namesBelow(inbox)).toEqual([]);
    expect(webUiPlaces('/state', {}).attachments).toBe('/state/attachments');
  });

  it('leave the attachments of an id that is so long that the Web UI cuts it', async () => {
    const sessionsDir = newSessionsDir();
    const long = 'a'.repeat(121);
    const places = webUiPlaces(dirname(sessionsDir), {});
    for (const name of [long, long.slice(1)]) mkdirSync(join(places.attachments, name), { recursive: true });
    await removeWebUiFiles(places, long, { signature: null, tombstone: false });
    await removeWebUiFiles(places, long.slice(1), { signature: null, tombstone: false });
    expect([long, long.slice(1)].map((name) => existsSync(join(places.attachments, name)))).toEqual([true, false]);
  });

  it('are removed as links, never through them', async () => {
    const sessionsDir = newSessionsDir();
    const elsewhere = temporaryFolder();
    writeFileSync(join(elsewhere, 'kept'), '');
    const places = webUiPlaces(dirname(sessionsDir), {});
    for (const folder of [places.attachments, join(sessionsDir, '_run_journal'), join(sessionsDir, '_turn_journal')]) mkdirSync(folder);
    const links = [
      join(places.attachments, 'tea'),
      join(sessionsDir, '_run_journal', 'tea'),
      join(sessionsDir, '_turn_journal', 'tea.jsonl'),
    ];
    for (const link of links) symlinkSync(elsewhere, link);
    expect(await webUiFiles(places, 'tea')).toMatchObject([{ files: 1 }, { files: 1 }, { files: 1 }]);
    await removeWebUiFiles(places, 'tea', { signature: null, tombstone: false });
    expect(links.map((link) => existsSync(link))).toEqual([false, false, false]);
    expect(namesBelow(elsewhere)).toEqual(['kept']);
  });

  it('stay when the session file was written again since, and go when it was not', async () => {
    const sessionsDir = newSessionsDir();
    const places = webUiPlaces(dirname(sessionsDir), {});
    saveSidecar(sessionsDir, 'tea', sidecarText('tea', {}, TEXT));
    writeFileSync(join(sessionsDir, 'tea.json.bak'), '{}');
    const signature = await signatureOf(sessionsDir, 'tea');
    saveSidecar(sessionsDir, 'tea', sidecarText('tea', { title: 'Again' }, TEXT));
    const before = namesBelow(sessionsDir);
    for (const old of [signature, null])
      expect(await removeWebUiFiles(places, 'tea', { signature: old, tombstone: true }), String(old)).toBe('LIVES');
    expect(namesBelow(sessionsDir)).toEqual(before);
    const now = await signatureOf(sessionsDir, 'tea');
    expect(await removeWebUiFiles(places, 'tea', { signature: now, tombstone: true })).toBe('GONE');
    expect(namesBelow(sessionsDir)).toEqual(['_deleted_webui_sessions.json']);
    expect(await removeWebUiFiles(places, 'tea', { signature: now, tombstone: true })).toBe('GONE');
  });

  it('are told as left where one of the rest can not be removed, and go the next time', async () => {
    const sessionsDir = newSessionsDir();
    const places = webUiPlaces(dirname(sessionsDir), {});
    const stuck = join(sessionsDir, 'tea.json.bak');
    mkdirSync(join(stuck, 'full'), { recursive: true });
    mkdirSync(join(places.attachments, 'tea'), { recursive: true });
    expect(await removeWebUiFiles(places, 'tea', { signature: null, tombstone: false })).toBe('LEFT');
    expect(existsSync(join(places.attachments, 'tea'))).toBe(false);
    rmSync(stuck, { recursive: true });
    expect(await removeWebUiFiles(places, 'tea', { signature: null, tombstone: false })).toBe('GONE');
  });
});

describe('a deletion is refused with nothing done', () => {
  let host: TestHost;
  afterEach(() => host.close());

  function open(rows: Parameters<typeof homeWith>[0]): string {
    host = hostOf(homeWith(rows));
    const sessionsDir = join(host.webUiDir, 'sessions');
    mkdirSync(sessionsDir, { recursive: true });
    writeFileSync(join(sessionsDir, 'tea.json'), sidecarText('tea', { title: 'Tea' }, TEXT));
    return sessionsDir;
  }

  it('CONFLICT: for a file that is another than the one whose turn was looked at', async () => {
    const sessionsDir = open([W('tea'), M('tea')]);
    for (const checked of [{}, { tea: 'another' }, { tea: null }]) {
      await expect(deleting(host, 'tea', { checked })).rejects.toMatchObject({ code: 'CONFLICT', settled: true });
    }
    expect(parentsOf(host)).toEqual({ tea: null });
    expect(await deleting(host, 'tea', { checked: { tea: await signatureOf(sessionsDir, 'tea') } })).toMatchObject({ deletedIds: ['tea'] });
  });

  it('SESSION_WRITE_GUARDED: while somebody holds a lease, told by the preview too', async () => {
    const sessionsDir = open([
      W('tea'),
      T('session_turn_leases', { conversation_id: 'tea', holder: 'h', acquired_at: 0, expires_at: 2000 }),
    ]);
    const text = readFileSync(join(sessionsDir, 'tea.json'), 'utf8');
    const question = { ...QUESTION, sessionId: 'tea' };
    expect(await host.run('previewDeletion', question)).toMatchObject({ refusals: [{ code: 'SESSION_WRITE_GUARDED' }] });
    for (const dryRun of [true, false])
      await expect(deleting(host, 'tea', {}, { dryRun })).rejects.toMatchObject({ code: 'SESSION_WRITE_GUARDED' });
    expect(readFileSync(join(sessionsDir, 'tea.json'), 'utf8')).toBe(text);
    expect(namesBelow(sessionsDir)).toEqual(['tea.json']);
  });

  it('onlyIfEmpty: a session with a message in either place stays, one without goes', async () => {
    const sessionsDir = open([W('tea'), W('row'), M('row'), W('none')]);
    for (const id of ['row', 'none']) writeFileSync(join(sessionsDir, `${id}.json`), sidecarText(id));
    const before = namesBelow(sessionsDir);
    for (const id of ['tea', 'row']) expect((await deleting(host, id, { onlyIfEmpty: true })).deletedIds, id).toEqual([]);
    expect(namesBelow(sessionsDir)).toEqual(before);
    expect((await deleting(host, 'none', { onlyIfEmpty: true })).deletedIds).toEqual(['none']);
  });
});
