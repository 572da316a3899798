/** Removal of empty sessions (`spec/webui-sidecars.md` 8.9, 19). */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { cleanupEmptySessions } from '../../src/web-ui/cleanup.ts';
import { parsed, put, putSession, session, sessionsFolder, user } from './sidecar-folder.ts';

let folder: string;
beforeEach(() => {
  folder = sessionsFolder();
  const untitled = { title: 'Untitled' };
  putSession(folder, 'empty', untitled);
  putSession(folder, 'titled');
  putSession(folder, 'pending', { ...untitled, pending_user_message: 'go' });
  putSession(folder, 'stream', { ...untitled, active_stream_id: 'st' });
  putSession(folder, 'tree', { ...untitled, worktree_path: '/w' });
  putSession(folder, 'draft', { ...untitled, composer_draft: { text: 'd' } });
  putSession(folder, 'said', { ...untitled, messages: [user('a')] });
  putSession(folder, 'stored', untitled);
  put(
    folder,
    'lying.json',
    JSON.stringify({ ...session('lying', untitled), message_count: 0, anchor_scene_index: {}, messages: [user('a')] }),
  );
  put(folder, 'broken.json', '{');
  put(folder, '_index.json', [{ session_id: 'gone' }, { session_id: 'said' }, { session_id: 'empty' }]);
});
const hasTranscript = (id: string) => id === 'stored';

it('T71: removes empty shells and rows without a file, and spares what somebody may want', async () => {
  const before = readdirSync(folder);
  const found = { files: ['empty'], rows: ['gone', 'empty'] };
  expect(await cleanupEmptySessions(folder, { dryRun: true, hasTranscript })).toEqual(found);
  expect(readdirSync(folder)).toEqual(before);
  expect(await cleanupEmptySessions(folder, { dryRun: false, hasTranscript })).toEqual(found);
  expect(readdirSync(folder)).toEqual(before.filter((name) => name !== 'empty.json'));
  expect(parsed(join(folder, '_index.json'))).toEqual([{ session_id: 'said' }]);
  expect(await cleanupEmptySessions(folder, { dryRun: false, hasTranscript })).toEqual({ files: [], rows: [] });
});

it('T71: removes empty sessions with a title only when that is asked for', async () => {
  expect((await cleanupEmptySessions(folder, { dryRun: false, zeroOnly: true, hasTranscript })).files).toEqual(['empty', 'titled']);
});
