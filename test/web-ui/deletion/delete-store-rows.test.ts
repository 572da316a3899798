/** The rows of deleted sessions of the Web UI, and what is cleaned up after them (`spec/webui-transcript.md` 19, T113 to T132). */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import { cleanupManifests } from '../../../src/web-ui/deletion/cleanup-manifests.ts';
import type { TestHost } from '../../support/command-host.ts';
import { artifactsIn, D, deleting, homeWith, hostOf, parentsOf, W } from '../../support/deletion.ts';
import { M, type Row, T, temporaryFolder } from '../../support/stores.ts';

let host: TestHost;
afterEach(() => host.close());

function open(rows: readonly Row[], artifacts: Readonly<Record<string, string>> = {}): TestHost {
  host = hostOf(homeWith(rows, artifacts));
  return host;
}

const MANIFEST = '.cleanup_manifest_0123456789abcdef0123456789abcdef.json';
const manifestsOf = () => artifactsIn(host).filter((name) => name.startsWith('.cleanup_manifest_'));
const P_FILES = { 'p.json': '{}', 'p.jsonl': '', 'request_dump_p_1.json': '{}', 'other.json': '{}' };

describe('what is left of a deleted session', () => {
  it('T113: is nothing, and files of others stay', async () => {
    open([W('p'), M('p')], P_FILES);
    const { deletedIds, webUi } = await deleting(host, 'p');
    expect(deletedIds).toEqual(['p']);
    expect(webUi).toMatchObject({ rowsDeleted: true, pendingIds: [], pendingArtifacts: [], blockedManifests: [] });
    expect(artifactsIn(host)).toEqual(['other.json']);
    expect(host.rows('SELECT * FROM messages')).toEqual([]);
    expect(statSync(join(host.home, '.session_cleanup.lock')).mode & 0o777).toBe(0o600);
  });

  it('T114: an unknown id is NOT_FOUND, and changes nothing', async () => {
    open([W('a'), D('d', 'p')]);
    await expect(deleting(host, 'p')).rejects.toMatchObject({ code: 'NOT_FOUND', settled: true });
    expect(parentsOf(host)).toEqual({ a: null, d: 'p' });
    expect(existsSync(join(host.home, '.session_cleanup.lock'))).toBe(false);
  });

  it('T114: a delegate that names a session without a row goes with its file', async () => {
    open([W('a'), D('d', 'p')]);
    mkdirSync(join(host.webUiDir, 'sessions'), { recursive: true });
    writeFileSync(join(host.webUiDir, 'sessions', 'p.json'), '{"session_id": "p", "messages": []}');
    expect((await deleting(host, 'p')).deletedIds).toEqual(['p', 'd']);
    expect(parentsOf(host)).toEqual({ a: null });
  });

  it('takes rows of other tables along', async () => {
    open([
      W('p'),
      W('q'),
      ...['p', 'q'].map((id) => T('compression_locks', { session_id: id, holder: 'h', acquired_at: 0, expires_at: 1 })),
      ...['p', 'q'].map((id) => T('session_model_usage', { session_id: id, model: 'm' })),
    ]);
    host.otherwise('CREATE TABLE telegram_dm_topic_bindings (session_id TEXT)');
    host.otherwise("INSERT INTO telegram_dm_topic_bindings VALUES ('p'), ('q')");
    await deleting(host, 'p');
    for (const table of ['compression_locks', 'session_model_usage', 'telegram_dm_topic_bindings']) {
      expect(host.rows(`SELECT session_id FROM ${table}`), table).toEqual([{ session_id: 'q' }]);
    }
  });
});

describe('what stands in the way', () => {
  it('T123: an id that no file may have is refused up front, and later deletions go through', async () => {
    open([W('a/b'), W('p')], P_FILES);
    await expect(deleting(host, 'a/b')).rejects.toMatchObject({ code: 'VALIDATION' });
    expect(parentsOf(host)).toEqual({ 'a/b': null, p: null });
    expect((await deleting(host, 'p')).webUi).toMatchObject({ pendingArtifacts: [], blockedManifests: [] });
    expect(artifactsIn(host)).toEqual(['other.json']);
  });

  it('H12: a delegate whose id no file may have goes, and blocks nothing', async () => {
    open([W('p'), D('a/b', 'p')], P_FILES);
    expect((await deleting(host, 'p')).deletedIds).toEqual(['p', 'a/b']);
    expect(artifactsIn(host)).toEqual(['other.json']);
  });

  it.each([['{"a":1}'], ['[1]'], ['nonsense']])('T124: a malformed manifest %s is told, kept, and no failure', async (text) => {
    open([W('p')], { ...P_FILES, [MANIFEST]: text });
    const { webUi } = await deleting(host, 'p');
    expect(webUi).toMatchObject({ rowsDeleted: true, pendingIds: [], blockedManifests: [MANIFEST] });
    expect(artifactsIn(host)).toEqual([MANIFEST, 'other.json']);
    expect(readFileSync(join(host.home, 'sessions', MANIFEST), 'utf8')).toBe(text);
    expect(await cleanupManifests(host.home)).toEqual([{ name: MANIFEST, sessionIds: [], status: 'MALFORMED' }]);
  });

  it('T125: a manifest of a session that is there was never committed: it goes, the session stays', async () => {
    open([W('p'), W('q'), M('q')], { ...P_FILES, 'q.json': 'keep', [MANIFEST]: '["q"]' });
    await deleting(host, 'p');
    expect(parentsOf(host)).toEqual({ q: null });
    expect(artifactsIn(host)).toEqual(['other.json', 'q.json']);
  });

  it('T126: what an earlier deletion left is cleaned up, whichever session is deleted', async () => {
    const old = { 'old.json': '', 'old.jsonl': '', 'request_dump_old_7.json': '' };
    open([W('p')], { ...P_FILES, ...old, [MANIFEST]: '["old"]' });
    await deleting(host, 'p');
    expect(artifactsIn(host)).toEqual(['other.json']);
  });

  it('T127: a stray temporary manifest is left alone', async () => {
    open([W('p')], { ...P_FILES, '.cleanup_manifest_x.tmp': '["p"]' });
    await deleting(host, 'p');
    expect(artifactsIn(host)).toEqual(['.cleanup_manifest_x.tmp', 'other.json']);
  });

  it('T128: without a store nothing is touched, and none is made', async () => {
    const home = temporaryFolder();
    mkdirSync(join(home, 'webui', 'sessions'), { recursive: true });
    mkdirSync(join(home, 'sessions'));
    for (const name of ['sessions/p.json', 'webui/sessions/p.json', `sessions/${MANIFEST}`]) writeFileSync(join(home, name), '["p"]');
    host = hostOf(join(home, 'state.db'));
    await expect(deleting(host, 'p')).rejects.toMatchObject({ code: 'STORE_UNREADABLE' });
    expect(await host.run('drainCleanupManifests', {})).toMatchObject({ drained: [], pendingIds: ['p'] });
    expect(artifactsIn(host)).toEqual([MANIFEST, 'p.json']);
    expect(existsSync(join(home, 'webui', 'sessions', 'p.json'))).toBe(true);
    expect(existsSync(join(home, 'state.db'))).toBe(false);
  });

  it('T129: a store that another program writes to is busy, and nothing changes', async () => {
    const pace = { elapsed: () => 0, sleep: async () => {}, random: () => 0, longestSeconds: 0 };
    host = hostOf(homeWith([W('p')], P_FILES), { pace });
    const other = new Database(host.path);
    other.exec('BEGIN IMMEDIATE');
    await expect(deleting(host, 'p')).rejects.toMatchObject({ code: 'STORE_BUSY', retryable: true, settled: true });
    other.exec('ROLLBACK');
    other.close();
    expect(parentsOf(host)).toEqual({ p: null });
    expect(artifactsIn(host)).toEqual(Object.keys(P_FILES).sort());
  });

  it('T130: a file that can not be removed is told and kept in the manifest, and goes later', async () => {
    open([W('p')], P_FILES);
    const stuck = join(host.home, 'sessions', 'p.json');
    rmSync(stuck);
    mkdirSync(stuck);
    const { webUi } = await deleting(host, 'p');
    expect(webUi).toMatchObject({ rowsDeleted: true, pendingIds: [], pendingArtifacts: ['p'] });
    expect((await cleanupManifests(host.home)).map(({ sessionIds }) => sessionIds)).toEqual([['p']]);
    const [name = ''] = manifestsOf();
    expect(readFileSync(join(host.home, 'sessions', name), 'utf8')).toBe('["p"]');
    rmSync(stuck, { recursive: true });
    writeFileSync(stuck, '{}');
    expect(await host.run('drainCleanupManifests', {})).toMatchObject({ drained: [name], pendingIds: [], blockedManifests: [] });
    expect(artifactsIn(host)).toEqual(['other.json']);
  });

  it('T131: no row goes without a manifest', async () => {
    open([W('p'), M('p')]);
    writeFileSync(join(host.home, 'sessions'), 'no folder');
    await expect(deleting(host, 'p')).rejects.toMatchObject({ code: 'FILE_NOT_WRITTEN', settled: true });
    expect(parentsOf(host)).toEqual({ p: null });
    expect(host.rows('SELECT session_id FROM messages')).toEqual([{ session_id: 'p' }]);
  });

  it('H13: dumps of a session whose id begins with the id stay', async () => {
    open([W('p'), W('p_1')], { 'request_dump_p_1_2.json': '', 'request_dump_p_2.json': '' });
    await deleting(host, 'p');
    expect(artifactsIn(host)).toEqual(['request_dump_p_1_2.json']);
  });

  it('a manifest is in the form that Web UIs read and write', async () => {
    open([W('p'), D('b', 'p')]);
    const folder = join(host.home, 'sessions');
    for (const id of ['p', 'b']) mkdirSync(join(folder, `${id}.json`), { recursive: true });
    await deleting(host, 'p');
    const [name = ''] = manifestsOf();
    expect(name).toMatch(/^\.cleanup_manifest_[0-9a-f]{32}\.json$/);
    expect(readFileSync(join(folder, name), 'utf8')).toBe('["b", "p"]');
  });
});

describe('a dry run', () => {
  it('leaves every byte and every name as it is', async () => {
    open([W('p'), D('d', 'p'), W('c', { parent_session_id: 'p' })], { ...P_FILES, [MANIFEST]: '["old"]', 'old.json': '' });
    const before = artifactsIn(host);
    const preview = await deleting(host, 'p', {}, { dryRun: true });
    expect(preview).toMatchObject({ deletedIds: ['p', 'd'], orphanedIds: ['c'] });
    expect(preview.webUi?.files.map(({ path }) => path)).toEqual(['sessions/p.json', 'sessions/p.jsonl', 'sessions/request_dump_p_1.json']);
    expect(artifactsIn(host)).toEqual(before);
    expect(parentsOf(host)).toEqual({ c: 'p', d: 'p', p: null });
    expect(existsSync(join(host.home, '.session_cleanup.lock'))).toBe(false);
    const { deletedIds, orphanedIds } = await deleting(host, 'p', { expectedDeleteIds: ['d', 'p'] });
    expect({ deletedIds, orphanedIds }).toEqual({ deletedIds: ['p', 'd'], orphanedIds: ['c'] });
  });

  it('DELETE_SET_CHANGED where another set would go', async () => {
    open([W('p'), D('d', 'p')]);
    await expect(deleting(host, 'p', { expectedDeleteIds: ['p'] })).rejects.toMatchObject({
      code: 'DELETE_SET_CHANGED',
      details: { deleteIds: ['p', 'd'] },
    });
    expect(parentsOf(host)).toEqual({ d: 'p', p: null });
  });
});
