/** The lists of deleted sessions and of empty ones (`spec/webui-sidecars.md` 9, 19). */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { judgeOrphan, pruneOrphans } from '../../src/web-ui/cleanup.ts';
import { SidecarCatalogue } from '../../src/web-ui/sidecar/sidecar-catalogue.ts';
import { clearTombstone, isDeleted, readTombstones, recordTombstone } from '../../src/web-ui/tombstones.ts';
import { parsed, put, putSession, sessionsFolder, user } from './sidecar-folder.ts';

let folder: string;
beforeEach(() => {
  folder = sessionsFolder();
});
const ORPHANS = '_pruned_webui_orphans.json';
const DELETED = '_deleted_webui_sessions.json';

describe('a list of tombstones', () => {
  it('T40: is read as the owner reads it', async () => {
    put(folder, ORPHANS, '{"version":"1","ids":[" a ",5,0,null]}');
    expect([...(await readTombstones(folder, 'ORPHAN')).ids].sort()).toEqual(['5', 'a']);
    for (const version of [1.9, true]) {
      put(folder, ORPHANS, { version, ids: ['a'] });
      expect((await readTombstones(folder, 'ORPHAN')).status).toBe('OK');
    }
  });

  it.each(['', '{', '[]', '{"version":1,"ids":{}}', '{"ids":["a"]}', '{"version":2,"ids":["a"]}'])('is empty for %j', async (content) => {
    put(folder, ORPHANS, content);
    expect([...(await readTombstones(folder, 'ORPHAN')).ids]).toEqual([]);
  });

  it('T41: of another version is not written over', async () => {
    const path = put(folder, DELETED, '{"version":2,"ids":["a"]}');
    await expect(recordTombstone(folder, 'DELETED', 'n')).rejects.toMatchObject({ code: 'TOMBSTONES_UNSUPPORTED' });
    expect(readFileSync(path, 'utf8')).toBe('{"version":2,"ids":["a"]}');
  });

  it('T42: over its cap keeps the one that is recorded', async () => {
    const ids = Array.from({ length: 500 }, (_, index) => `id0${index + 100}`);
    put(folder, ORPHANS, { version: 1, ids });
    expect(await recordTombstone(folder, 'ORPHAN', 'aaa')).toBe(true);
    const { ids: kept } = await readTombstones(folder, 'ORPHAN');
    expect(kept.size).toBe(500);
    expect(kept.has('aaa')).toBe(true);
  });

  it('has the form of the owner, and goes with its last id', async () => {
    await recordTombstone(folder, 'DELETED', 'b');
    expect(await recordTombstone(folder, 'DELETED', 'a')).toBe(true);
    expect(await recordTombstone(folder, 'DELETED', 'a')).toBe(false);
    expect(readFileSync(join(folder, DELETED), 'utf8')).toBe('{\n  "version": 1,\n  "ids": [\n    "a",\n    "b"\n  ]\n}');
    await clearTombstone(folder, 'DELETED', 'a');
    expect(await clearTombstone(folder, 'DELETED', 'b')).toBe(true);
    expect(await clearTombstone(folder, 'DELETED', 'b')).toBe(false);
    expect(existsSync(join(folder, DELETED))).toBe(false);
  });

  it('T47, T48: hides only what the Web UI itself kept', async () => {
    await recordTombstone(folder, 'DELETED', 'x');
    const deleted = await readTombstones(folder, 'DELETED');
    expect([null, '', 'webui', 'fork'].map((source) => isDeleted('x', deleted, source, false))).toEqual([true, true, true, true]);
    expect(isDeleted('x', deleted, 'telegram', false)).toBe(false);
    expect(isDeleted('x', deleted, 'webui', true)).toBe(false);
    expect(isDeleted('y', deleted, 'webui', false)).toBe(false);
  });
});

describe('a session without any message', () => {
  const webui = { source_tag: 'webui' };
  const rows = async () => (await new SidecarCatalogue({ sessionsDir: folder }).snapshot()).rows.values();
  const prune = async (empty: readonly string[], dryRun = false, source = 'webui') =>
    pruneOrphans(folder, await rows(), {
      dryRun,
      withoutMessages: async (ids) => new Map(ids.filter((id) => empty.includes(id)).map((id) => [id, source])),
    });

  it('T43: is hidden, pruned and recorded once', async () => {
    putSession(folder, 'x', webui);
    put(folder, '_index.json', [{ session_id: 'x' }]);
    expect(await prune(['x'], true)).toEqual({ hidden: ['x'], pruned: ['x'], healed: [] });
    expect(existsSync(join(folder, ORPHANS))).toBe(false);
    expect(await prune(['x'])).toEqual({ hidden: ['x'], pruned: ['x'], healed: [] });
    expect(parsed(join(folder, '_index.json'))).toEqual([]);
    expect(await prune(['x'])).toEqual({ hidden: ['x'], pruned: [], healed: [] });
  });

  it('T44-T46: is none when either place has one, or nobody can tell', async () => {
    putSession(folder, 'x', { ...webui, messages: [user('a')] });
    putSession(folder, 'y', webui);
    expect(await prune(['x'])).toEqual({ hidden: [], pruned: [], healed: [] });
    await recordTombstone(folder, 'ORPHAN', 'x');
    await recordTombstone(folder, 'ORPHAN', 'y');
    expect(await prune(['x'])).toEqual({ hidden: [], pruned: [], healed: ['x', 'y'] });
    expect(existsSync(join(folder, ORPHANS))).toBe(false);
  });

  it('is not one of another program, of a running turn, or an empty shell', async () => {
    putSession(folder, 'cli', { source_tag: 'cli' });
    putSession(folder, 'live', { ...webui, active_stream_id: 'st' });
    putSession(folder, 'shell', { ...webui, title: 'Untitled' });
    putSession(folder, 'tree', { ...webui, worktree_path: '/w' });
    expect(await prune(['cli', 'live', 'shell', 'tree'])).toEqual({ hidden: [], pruned: [], healed: [] });
  });

  it("T43: is one of the Web UI's own, whose files name no source, where the store says so", async () => {
    putSession(folder, 'x', {});
    expect(await prune(['x'], true, 'telegram')).toEqual({ hidden: [], pruned: [], healed: [] });
    expect(await prune(['x'])).toEqual({ hidden: ['x'], pruned: ['x'], healed: [] });
  });

  it('is left alone while the store can not tell', async () => {
    putSession(folder, 'x', webui);
    await recordTombstone(folder, 'ORPHAN', 'x');
    const told = await pruneOrphans(folder, await rows(), { dryRun: false, withoutMessages: async () => null });
    expect(told).toEqual({ hidden: [], pruned: [], healed: [] });
    expect((await readTombstones(folder, 'ORPHAN')).ids.has('x')).toBe(true);
  });

  it('is judged by what is there, never by its tombstone', () => {
    const verdicts = [false, true].flatMap((emptyInStore) =>
      [false, true].flatMap((hasMessages) => [false, true].map((hasTombstone) => judgeOrphan({ emptyInStore, hasMessages, hasTombstone }))),
    );
    expect(verdicts).toEqual(['KEEP', 'HEAL', 'KEEP', 'HEAL', 'PRUNE', 'HIDE', 'KEEP', 'HEAL']);
  });
});
