/** The Web UI's folder as a whole (`spec/webui-sidecars.md` 1.1). */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { foldersWithSessions } from '../../src/web-ui/other-folders.ts';
import { put, putSession } from './sidecar-folder.ts';

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'caduceus-state-'));
  for (const name of ['webui', 'other', 'empty']) mkdirSync(join(parent, name, 'sessions'), { recursive: true });
});
afterEach(() => rmSync(parent, { recursive: true }));

it('a folder without sessions names those beside it that have some', async () => {
  putSession(join(parent, 'other', 'sessions'), 'x');
  put(join(parent, 'empty', 'sessions'), '_index.json', '[]');
  const state = join(parent, 'webui');
  expect(await foldersWithSessions(state)).toEqual(['other']);
  put(join(state, 'sessions'), '_index.json', ' []\n');
  expect(await foldersWithSessions(state)).toEqual(['other']);
  putSession(join(state, 'sessions'), 'y');
  expect(await foldersWithSessions(state)).toEqual([]);
});
