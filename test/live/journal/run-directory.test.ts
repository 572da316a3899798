/** The runs of a session as they come, grow and go, with a watch and without. */
import { appendFileSync, mkdirSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { RunDirectory, type RunDirectoryOptions } from '../../../src/live/journal/run-directory.ts';
import { until } from '../../support/journal-following.ts';
import { type JournalEntry, journalRoot, runPath, writeJournal } from '../../support/journal-lines.ts';

const closing: RunDirectory[] = [];
afterEach(() => {
  for (const directory of closing.splice(0)) directory.close();
});

const ONE: readonly JournalEntry[] = [{ event: 'token', payload: { text: 'x' } }];

async function open(root: string, options: Partial<RunDirectoryOptions> = {}) {
  const changes: string[] = [];
  const directory = new RunDirectory({ root, sessionId: 's', onChange: ({ kind, runId }) => changes.push(`${kind} ${runId}`), ...options });
  closing.push(directory);
  await directory.start();
  return { directory, changes };
}

describe.each([
  // A sweep that never comes: whatever is told, an event told it.
  ['with a watch', { sweepMs: 60_000 }],
  ['by the sweep alone', { watch: false, sweepMs: 50 }],
])('a session’s directory, %s', (_, options) => {
  it('tells what is there, what comes, what grows and what goes', async () => {
    const root = journalRoot();
    writeJournal({ root, sessionId: 's', runId: 'a' }, ONE);
    const { directory, changes } = await open(root, options);
    expect(changes).toEqual(['ADDED a']);
    directory.follow('b');
    const path = writeJournal({ root, sessionId: 's', runId: 'b' }, ONE);
    await until(() => changes.includes('ADDED b'));
    await sleep(150);
    changes.length = 0;
    appendFileSync(path, 'more\n');
    await until(() => changes.includes('CHANGED b'));
    unlinkSync(path);
    await until(() => changes.includes('REMOVED b'));
    expect(directory.runs).toEqual(['a']);
  });

  it('22: files of the owner that are no runs are not told', async () => {
    const root = journalRoot();
    writeJournal({ root, sessionId: 's', runId: 'a' }, ONE);
    const { changes } = await open(root, options);
    for (const name of ['_terminal_runs.jsonl', '_terminal_runs.authority.json', '._terminal_runs.jsonl.lock', '.tmp']) {
      writeFileSync(join(root, 's', name), 'x');
    }
    mkdirSync(join(root, 's', 'folder.jsonl'));
    writeJournal({ root, sessionId: 's', runId: 'b' }, ONE);
    await until(() => changes.includes('ADDED b'));
    expect(changes.filter((change) => !/ (a|b)$/.test(change))).toEqual([]);
  });

  it('a directory that does not exist yet is found when it comes', async () => {
    const root = journalRoot();
    const { changes } = await open(root, options);
    expect(changes).toEqual([]);
    writeJournal({ root, sessionId: 's', runId: 'a' }, ONE);
    await until(() => changes.includes('ADDED a'));
  });

  it('23: after it was removed and made again, what is in it is told', async () => {
    const root = journalRoot();
    const path = writeJournal({ root, sessionId: 's', runId: 'a' }, ONE);
    const { directory, changes } = await open(root, options);
    rmSync(dirname(path), { recursive: true });
    await until(() => changes.includes('REMOVED a'));
    for (let round = 1; round <= 3; round++) {
      writeJournal({ root, sessionId: 's', runId: `b${round}` }, ONE);
      await until(() => changes.includes(`ADDED b${round}`));
      rmSync(dirname(path), { recursive: true });
      await until(() => directory.runs.length === 0);
    }
  });

  it('a root that comes later is found', async () => {
    const root = join(journalRoot(), 'sessions', '_run_journal');
    const { changes } = await open(root, { ...options, sweepMs: 50 });
    writeJournal({ root, sessionId: 's', runId: 'a' }, ONE);
    await until(() => changes.includes('ADDED a'));
  });
});

it('23: removed and made again at once, it is watched again', async () => {
  const root = journalRoot();
  const place = { root, sessionId: 's', runId: 'a' };
  writeJournal(place, ONE);
  const { directory, changes } = await open(root, { sweepMs: 60_000 });
  rmSync(join(root, 's'), { recursive: true });
  writeJournal(place, ONE);
  await until(() => changes.filter((change) => change === 'ADDED a').length === 2 || changes.includes('CHANGED a'));
  await sleep(50);
  changes.length = 0;
  appendFileSync(runPath(place), 'more\n');
  await until(() => changes.includes('CHANGED a'));
  expect(directory.mode).toBe('WATCH');
});

it('a directory that was moved away is no longer followed', async () => {
  const root = journalRoot();
  writeJournal({ root, sessionId: 's', runId: 'a' }, ONE);
  const { directory, changes } = await open(root);
  renameSync(join(root, 's'), join(root, 'elsewhere'));
  await until(() => changes.includes('REMOVED a'));
  expect(directory.runs).toEqual([]);
});

it('where events are missing the sweep takes over', async () => {
  const root = journalRoot();
  writeJournal({ root, sessionId: 's', runId: 'a' }, ONE);
  expect((await open(root)).directory.mode).toBe('WATCH');
  expect((await open(root, { watch: false })).directory.mode).toBe('POLL');
});

it('after close nothing is told', async () => {
  const root = journalRoot();
  writeJournal({ root, sessionId: 's', runId: 'a' }, ONE);
  const { directory, changes } = await open(root);
  directory.close();
  writeJournal({ root, sessionId: 's', runId: 'b' }, ONE);
  await sleep(50);
  expect(changes).toEqual(['ADDED a']);
});

it('a bad session id watches nothing', async () => {
  const { directory } = await open(journalRoot(), { sessionId: '../x' });
  expect(directory.runs).toEqual([]);
});
