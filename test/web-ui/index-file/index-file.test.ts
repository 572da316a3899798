/** The Web UI's index: its health, building it anew, single rows (`spec/webui-sidecars.md` 8, 19). */
import { existsSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { readIndex } from '../../../src/web-ui/index-file/index-file.ts';
import { pruneIndexRow } from '../../../src/web-ui/index-file/patch-index.ts';
import { indexHealth, rebuildIndex } from '../../../src/web-ui/index-file/rebuild-index.ts';
import { SidecarCatalogue } from '../../../src/web-ui/sidecar/sidecar-catalogue.ts';
import { staleTemporaryFiles, sweepTemporaryFiles } from '../../../src/web-ui/temporary-files.ts';
import { put, putSession, session, sessionsFolder, user } from '../sidecar-folder.ts';

let folder: string;
beforeEach(() => {
  folder = sessionsFolder();
});

async function health() {
  return indexHealth(await readIndex(folder), (await new SidecarCatalogue({ sessionsDir: folder }).snapshot()).rows);
}

function rows(): { session_id: string; [key: string]: unknown }[] {
  return JSON.parse(readFileSync(join(folder, '_index.json'), 'utf8'));
}

describe('the health of the index', () => {
  it.each([
    ['garbage', 'CORRUPT'],
    ['{}', 'CORRUPT'],
    ['[1,2]', 'CORRUPT'],
    [Buffer.from([0xff]), 'CORRUPT'],
    ['[]', 'EMPTY_WITH_FILES'],
    [[{ session_id: 'gone', updated_at: 2 }], 'EMPTY_WITH_FILES'],
    [[{ session_id: 'x', updated_at: 2, message_count: 1 }], 'OK'],
    [[{ session_id: 'x', updated_at: 2, message_count: 0, title: 'Untitled' }], 'STALE'],
    [[{ session_id: 'x', updated_at: null, message_count: 1 }], 'STALE'],
    [[{ session_id: 'x', updated_at: 2, message_count: 1 }, { session_id: 'gone' }], 'STALE'],
    [[{ session_id: 'x', updated_at: 2, message_count: 1 }, { session_id: 'x' }], 'STALE'],
    [[{ session_id: 'x', updated_at: 2, message_count: 1 }, 7], 'STALE'],
  ])('F10, T31, T32: %j is %s', async (content, status) => {
    putSession(folder, 'x', { messages: [user('a')] });
    put(folder, '_index.json', content);
    expect((await health()).status).toBe(status);
  });

  it('T33: says what is missing where', async () => {
    putSession(folder, 'x');
    expect(await health()).toMatchObject({ status: 'MISSING', missingRows: ['x'], generatedAt: null });
    put(folder, '_index.json', [{ session_id: 'gone' }, { session_id: 'gone' }]);
    expect(await health()).toMatchObject({ missingRows: ['x'], missingFiles: ['gone'], duplicateIds: ['gone'], rows: 1 });
  });
});

describe('building the index anew', () => {
  it('T33, T34: has a row of each session, newest first', async () => {
    putSession(folder, 'old', { updated_at: 5 });
    putSession(folder, 'x', { updated_at: 99, messages: [user('a', 77), { role: 'tool', content: 't', timestamp: 90 }] });
    put(folder, 'broken.json', '{');
    put(folder, 'un.safe.json', session('un.safe'));
    expect(await rebuildIndex(folder)).toEqual({ rows: 2, skipped: ['broken'], duplicates: [], ignoredFiles: ['un.safe.json'] });
    expect(rows().map(({ session_id: id }) => id)).toEqual(['x', 'old']);
    expect(rows()[0]).toMatchObject({ last_message_at: 77, user_message_count: 1, message_count: 2, is_streaming: false });
    expect((await health()).missingRows).toEqual(['broken']);
  });

  it('T35: has a session once that has two files', async () => {
    put(folder, 'session_zz.json', session('zz', { messages: [user('a')] }));
    putSession(folder, 'zz', { messages: [user('a'), user('b')] });
    expect((await rebuildIndex(folder)).duplicates).toEqual(['session_zz']);
    expect(rows()).toMatchObject([{ session_id: 'zz', message_count: 2 }]);
  });

  it('T39: one odd time spoils nothing', async () => {
    putSession(folder, 'a', { updated_at: '2026-01-01' });
    putSession(folder, 'b', { updated_at: 5 });
    await rebuildIndex(folder);
    expect(rows().map(({ session_id: id }) => id)).toEqual(['b', 'a']);
  });
});

describe('a row that is pruned', () => {
  it('T37: goes from the index, and the file stays', async () => {
    const path = putSession(folder, 'x', { messages: [user('a')] });
    const before = readFileSync(path);
    put(folder, '_index.json', '[{"session_id": "x", "n": 1.0}, {"session_id": "y", "n": 1.0}]');
    expect(await pruneIndexRow(folder, 'x')).toBe(true);
    expect(readFileSync(join(folder, '_index.json'), 'utf8')).toBe('[\n  {\n    "session_id": "y",\n    "n": 1.0\n  }\n]');
    expect(await pruneIndexRow(folder, 'x')).toBe(false);
    expect(readFileSync(path)).toEqual(before);
    expect((await new SidecarCatalogue({ sessionsDir: folder }).snapshot()).rows.has('x')).toBe(true);
  });

  it('is none without an index', async () => {
    expect(await pruneIndexRow(folder, 'x')).toBe(false);
    expect(existsSync(join(folder, '_index.json'))).toBe(false);
  });
});

it('T38: old temporary files are swept, fresh ones and those of a restore stay', async () => {
  const now = Date.now() / 1000;
  for (const [name, age] of [
    ['x.tmp.1.2', 4000],
    ['y.tmp.1.2', 10],
    ['x.json.recover.tmp', 4000],
    ['_index.tmp.3.4', 4000],
    ['x.txt', 4000],
  ] as const) {
    utimesSync(put(folder, name, ''), now, now - age);
  }
  expect((await staleTemporaryFiles(folder)).map(({ name, leftByRestore }) => [name, leftByRestore])).toEqual([
    ['_index.tmp.3.4', false],
    ['x.json.recover.tmp', true],
    ['x.tmp.1.2', false],
  ]);
  const { files, kept } = await sweepTemporaryFiles(folder, { dryRun: true });
  expect([files, kept].map((some) => some.map(({ name }) => name))).toEqual([['_index.tmp.3.4', 'x.tmp.1.2'], ['x.json.recover.tmp']]);
  expect(existsSync(join(folder, 'x.tmp.1.2'))).toBe(true);
  await sweepTemporaryFiles(folder, { dryRun: false });
  expect((await staleTemporaryFiles(folder)).map(({ name }) => name)).toEqual(['x.json.recover.tmp']);
  expect(existsSync(join(folder, 'y.tmp.1.2'))).toBe(true);
  expect(existsSync(join(folder, 'x.txt'))).toBe(true);
});
