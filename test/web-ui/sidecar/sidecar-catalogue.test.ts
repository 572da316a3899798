/** All session files of a folder (`spec/webui-sidecars.md` 1.2, 8.6, 19). */
import { mkdirSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { SidecarCatalogue } from '../../../src/web-ui/sidecar/sidecar-catalogue.ts';
import { SidecarWatch } from '../../../src/web-ui/sidecar-watch.ts';
import { put, putSession, session, sessionsFolder, user } from '../sidecar-folder.ts';

let folder: string;
let catalogue: SidecarCatalogue;
beforeEach(() => {
  folder = sessionsFolder();
  catalogue = new SidecarCatalogue({ sessionsDir: folder });
});

async function ids(): Promise<string[]> {
  return [...(await catalogue.snapshot()).rows.keys()];
}

describe('the catalogue', () => {
  it('T3, T36: has every session, also damaged ones, and reports what is none', async () => {
    putSession(folder, 'b');
    put(folder, 'a.json', '');
    for (const name of ['un.safe.json', '._b.json', 'b.json.bak', '_index.json', 'b.tmp.1.2']) put(folder, name, '{}');
    mkdirSync(join(folder, 'dir.json'));
    const { rows, ignoredFiles } = await catalogue.snapshot();
    expect([...rows.values()].map(({ id, health }) => [id, health])).toEqual([
      ['a', 'CORRUPT'],
      ['b', 'UNKNOWN'],
    ]);
    expect(ignoredFiles).toEqual(['._b.json', 'dir.json', 'un.safe.json']);
  });

  it('T31-T33, F10: pays no heed to the index', async () => {
    for (let index = 0; index < 5; index++) putSession(folder, `s${index}`, { messages: [user('a')] });
    for (const index of [
      'garbage',
      '{}',
      '[1,2]',
      '[]',
      [{ session_id: 's0', message_count: 0, updated_at: null }, { session_id: 'gone' }],
    ]) {
      put(folder, '_index.json', index);
      const before = readdirSync(folder);
      const fresh = new SidecarCatalogue({ sessionsDir: folder });
      expect([...(await fresh.snapshot()).rows.values()].map(({ id, messageCount }) => [id, messageCount])).toEqual(
        [0, 1, 2, 3, 4].map((number) => [`s${number}`, 1]),
      );
      expect(readdirSync(folder)).toEqual(before);
    }
  });

  it('T35: has a session once that has a file of the older form too', async () => {
    put(folder, 'session_zz.json', session('zz', { messages: [user('a')] }));
    putSession(folder, 'zz', { messages: [user('a'), user('b')] });
    put(folder, 'session_alone.json', session('alone'));
    const { rows, duplicates } = await catalogue.snapshot();
    expect([...rows.values()].map(({ id, messageCount }) => [id, messageCount])).toEqual([
      ['session_alone', 0],
      ['zz', 2],
    ]);
    expect(duplicates).toEqual(['session_zz']);
  });

  it('follows what is saved, comes and goes', async () => {
    putSession(folder, 'a');
    putSession(folder, 'b');
    expect(await ids()).toEqual(['a', 'b']);
    putSession(folder, 'a', { title: 'New' });
    putSession(folder, 'c');
    rmSync(join(folder, 'b.json'));
    await sleep(20);
    const { rows } = await catalogue.snapshot();
    expect([...rows.keys()]).toEqual(['a', 'c']);
    expect(rows.get('a')?.title).toBe('New');
  });

  it('finds what was written in place, which the time of the folder does not tell', async () => {
    putSession(folder, 'a');
    utimesSync(folder, 1, 1);
    await ids();
    putSession(folder, 'a', { title: 'In place' });
    await sleep(1100);
    expect((await catalogue.snapshot()).rows.get('a')?.title).toBe('In place');
  });

  it('reads no file twice that is the same', async () => {
    putSession(folder, 'a');
    putSession(folder, 'b');
    const first = (await catalogue.snapshot()).rows;
    putSession(folder, 'b', { title: 'New' });
    put(folder, 'other', '');
    await sleep(60);
    const second = (await catalogue.snapshot()).rows;
    expect(second.get('a')).toBe(first.get('a'));
    expect(second.get('b')).not.toBe(first.get('b'));
  });

  it('keeps summaries out of the list, and gives them for a single session', async () => {
    putSession(folder, 'a', { compression_anchor_summary: 'long', gateway_routing_history: [{ used_model: 'm' }] });
    expect((await catalogue.snapshot()).rows.get('a')).toMatchObject({ compression: { summary: null }, gatewayRoutingHistory: [] });
    expect(await catalogue.get('a')).toMatchObject({ compression: { summary: 'long' }, gatewayRoutingHistory: [{ used_model: 'm' }] });
    putSession(folder, 'a', { compression_anchor_summary: 'longer' });
    expect(await catalogue.get('a')).toMatchObject({ compression: { summary: 'longer' } });
    expect(await catalogue.get('none')).toBeNull();
    expect(await catalogue.get('../a')).toBeNull();
  });

  it('is empty without a folder, and sees it come', async () => {
    rmSync(folder, { recursive: true });
    expect(await ids()).toEqual([]);
    mkdirSync(folder);
    putSession(folder, 'a');
    expect(await ids()).toEqual(['a']);
  });

  it('tells listeners which sessions were saved', async () => {
    putSession(folder, 'a');
    putSession(folder, 'b');
    const watch = new SidecarWatch({ sessionsDir: folder });
    catalogue = new SidecarCatalogue({ sessionsDir: folder, watch });
    await catalogue.snapshot();
    const told: string[] = [];
    const stop = catalogue.onChange((changed) => told.push(...changed));
    await sleep(100);
    putSession(folder, 'b', { title: 'New' });
    await vi.waitFor(() => expect(told).toEqual(['b']), { timeout: 5000 });
    rmSync(join(folder, 'a.json'));
    await vi.waitFor(() => expect(told).toEqual(['b', 'a']), { timeout: 5000 });
    stop();
    expect(watch.watches).toBe(0);
  });
});
