/** Ids as names of files, and files that are none of ours. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isRunId, isSessionId, runIdOfFile, runJournalPath } from '../../../src/live/journal/ids.ts';
import { openJournal } from '../../../src/live/journal/open-journal.ts';
import { readRunEvents } from '../../../src/live/journal/run-events.ts';
import { listRuns, summarizeRun } from '../../../src/live/journal/run-summary.ts';
import { journalRoot, writeJournal } from '../../support/journal-lines.ts';

const BAD = ['', '.', '..', '../x', 'a/b', 'a\\b', 'sp ace', 'nul\0', 'line\n', 'ümlaut', '~1', 'x'.repeat(300)];

it.each(BAD)('an id outside the alphabet names no file: %j', async (id) => {
  expect(isSessionId(id)).toBe(false);
  expect(isRunId(id)).toBe(false);
  expect(runJournalPath('/root', id, 'r')).toBeNull();
  expect(runJournalPath('/root', 's', id)).toBeNull();
  expect(await readRunEvents('/nowhere', id, 'r', { limit: 1 })).toBeNull();
  expect(await listRuns('/nowhere', id)).toEqual([]);
});

it('an id of the alphabet names the file of its run, dots and all', () => {
  expect(runJournalPath('/root', 'ok.dots', '0a-B_c.9')).toBe('/root/ok.dots/0a-B_c.9.jsonl');
  expect(runJournalPath('/root', '...', 'r')).toBe('/root/.../r.jsonl');
});

it('22: the owner keeps other files beside the runs, and they are no runs', () => {
  const names = [
    '_terminal_runs.jsonl',
    '_terminal_runs.authority.json',
    '._terminal_runs.jsonl.lock',
    '.x.jsonl',
    'r.json',
    '.jsonl',
    'r.jsonl',
  ];
  expect(names.map(runIdOfFile)).toEqual([null, null, null, null, null, null, 'r']);
});

it('22: a directory with such files lists only the runs', async () => {
  const root = journalRoot();
  writeJournal({ root, sessionId: 's', runId: 'r' }, [{ event: 'token', payload: { text: 'x' } }]);
  for (const name of ['_terminal_runs.jsonl', '_terminal_runs.authority.json', '._terminal_runs.jsonl.lock', '.tmp-1']) {
    writeFileSync(join(root, 's', name), '{"version":1}\n');
  }
  mkdirSync(join(root, 's', 'folder.jsonl'));
  expect((await listRuns(root, 's')).map(({ runId }) => runId)).toEqual(['r']);
});

it('symbolic links below the root are not followed, neither for a run nor for a session', async () => {
  const outside = journalRoot();
  const secret = writeJournal({ root: outside, sessionId: 's', runId: 'r' }, [{ event: 'token', payload: { text: 'secret' } }]);
  const root = journalRoot();
  mkdirSync(join(root, 's'));
  symlinkSync(secret, join(root, 's', 'r.jsonl'));
  symlinkSync(join(outside, 's'), join(root, 'linked'));
  expect(await openJournal(join(root, 's', 'r.jsonl'))).toBeNull();
  expect(await openJournal(join(root, 'linked', 'r.jsonl'))).toBeNull();
  expect(await summarizeRun(root, 'linked', 'r')).toBeNull();
  expect(await listRuns(root, 'linked')).toEqual([]);
  expect(await listRuns(root, 's')).toEqual([]);
});

it('a named pipe or a directory in the place of a journal counts as absent and holds nobody up', async () => {
  const root = journalRoot();
  mkdirSync(join(root, 's', 'dir.jsonl'), { recursive: true });
  execFileSync('mkfifo', [join(root, 's', 'pipe.jsonl')]);
  expect(await openJournal(join(root, 's', 'dir.jsonl'))).toBeNull();
  expect(await openJournal(join(root, 's', 'pipe.jsonl'))).toBeNull();
});

it('the root itself may be a link', async () => {
  const real = journalRoot();
  writeJournal({ root: real, sessionId: 's', runId: 'r' }, [{ event: 'token', payload: { text: 'x' } }]);
  const linked = join(journalRoot(), 'journals');
  symlinkSync(real, linked);
  expect((await summarizeRun(linked, 's', 'r'))?.eventCount).toBe(1);
});
