/** Runs as they lie on disk: how they went, which there are, and their records in pages. */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRunEvents } from '../../../src/live/journal/run-events.ts';
import { listRuns, RunSummaries, sessionsOfRun, summarizeRun } from '../../../src/live/journal/run-summary.ts';
import { Following } from '../../support/journal-following.ts';
import { type JournalEntry, journalLine, journalRoot, type RunPlace, runPath, writeJournal } from '../../support/journal-lines.ts';

const newPlace = (): RunPlace => ({ root: journalRoot(), sessionId: 's', runId: 'r' });
const token = (seq: number, createdAt?: number): JournalEntry => ({
  event: 'token',
  seq,
  payload: { text: `${seq}` },
  ...(createdAt === undefined ? {} : { createdAt }),
});
const seqs = (page: { readonly records: readonly { readonly seq: number }[] } | null) => page?.records.map(({ seq }) => seq);

describe('a summary', () => {
  it('counts records, holes, duplicates, malformed lines and an open end', async () => {
    const place = newPlace();
    const entries = [token(1, 10), token(2, 11), token(5, 14), token(4, 13), token(2, 11), { event: 'cancel', seq: 9, createdAt: 20 }];
    writeJournal(
      place,
      entries,
      `not json\n\n[1]\n${journalLine({ ...place, sessionId: 'x' }, { event: 'token', seq: 6 })}\n{"version":1,"ev`,
    );
    expect(await summarizeRun(place.root, 's', 'r')).toMatchObject({
      lastSeq: 9,
      lastEvent: 'cancel',
      eventCount: 5,
      terminal: true,
      terminalState: 'interrupted-by-user',
      malformedLines: 3,
      duplicates: 1,
      openEnd: true,
      firstCreatedAt: 10,
      lastCreatedAt: 20,
      holes: [
        { from: 3, to: 3 },
        { from: 6, to: 8 },
      ],
    });
  });

  it('agrees with the tailer on the generation', async () => {
    const place = newPlace();
    writeJournal(place, [token(1), token(2)]);
    const following = new Following(place);
    await following.read();
    following.close();
    expect((await summarizeRun(place.root, 's', 'r'))?.generation).toBe(following.tailer.position?.generation);
  });

  it('of a run without end, without records, and of none', async () => {
    const place = newPlace();
    writeJournal(place, [token(1)]);
    expect(await summarizeRun(place.root, 's', 'r')).toMatchObject({ terminal: false, terminalState: 'running' });
    writeJournal({ ...place, runId: 'empty' }, []);
    expect(await summarizeRun(place.root, 's', 'empty')).toMatchObject({
      lastSeq: 0,
      eventCount: 0,
      terminalState: 'unknown',
      generation: null,
    });
    expect(await summarizeRun(place.root, 's', 'none')).toBeNull();
  });

  it('25-29: the line that counts tells the state', async () => {
    const place = newPlace();
    const stateOf = async (...events: JournalEntry[]) => {
      writeJournal(place, events);
      return (await summarizeRun(place.root, 's', 'r'))?.terminalState;
    };
    expect(await stateOf({ event: 'done' }, { event: 'metering' }, { event: 'stream_end' })).toBe('completed');
    expect(await stateOf({ event: 'stream_end' })).toBe('completed');
    expect(await stateOf({ event: 'done', payload: { terminal_state: 'tool_limit_reached' } }, { event: 'stream_end' })).toBe(
      'tool_limit_reached',
    );
    expect(await stateOf({ event: 'apperror', payload: { type: 'rate_limit' } }, { event: 'stream_end' })).toBe('errored');
    expect(await stateOf({ event: 'done' }, { event: 'cancel' })).toBe('interrupted-by-user');
  });

  it('is read again only when the file has changed', async () => {
    const place = newPlace();
    const path = writeJournal(place, [token(1)]);
    const summaries = new RunSummaries(place.root);
    const first = await summaries.get('s', 'r');
    expect(await summaries.get('s', 'r')).toBe(first);
    appendFileSync(path, `${journalLine(place, { event: 'done', seq: 2 })}\n`);
    expect(await summaries.get('s', 'r')).toMatchObject({ lastSeq: 2, terminalState: 'completed' });
    expect(await summaries.get('s', 'none')).toBeNull();
    expect(await summaries.get('..', 'r')).toBeNull();
  });

  it('reads a journal with a huge line and keeps its header', async () => {
    const place = newPlace();
    writeJournal(place, [token(1), { event: 'done', payload: { session: 'x'.repeat(1_000_000) } }, token(3)]);
    expect(await summarizeRun(place.root, 's', 'r')).toMatchObject({ eventCount: 3, terminalState: 'completed', malformedLines: 0 });
  });
});

describe('a list of runs', () => {
  it('is ordered by the first time and then by id; runs that tell none come last', async () => {
    const place = newPlace();
    writeJournal({ ...place, runId: 'late' }, [token(1, 30)]);
    writeJournal({ ...place, runId: 'b' }, [token(1, 20)]);
    writeJournal({ ...place, runId: 'a' }, [token(1, 20), token(2, 40)]);
    writeJournal({ ...place, runId: 'first' }, [token(1, 10)]);
    writeJournal({ ...place, runId: 'empty' }, []);
    const path = writeJournal({ ...place, runId: 'noise' }, [token(1, 5)]);
    writeFileSync(path, `noise\n${readFileSync(path, 'utf8')}`);
    expect((await listRuns(place.root, 's')).map(({ runId }) => runId)).toEqual(['noise', 'first', 'a', 'b', 'late', 'empty']);
    expect(await listRuns(place.root, 'none')).toEqual([]);
  });

  it('more runs than are opened at a time', async () => {
    const place = newPlace();
    for (let index = 0; index < 30; index++) writeJournal({ ...place, runId: `r${index}` }, [token(1, 100 - index)]);
    expect((await listRuns(place.root, 's')).map(({ runId }) => runId)).toEqual(Array.from({ length: 30 }, (_, index) => `r${29 - index}`));
  });

  it('finds the sessions of a run', async () => {
    const place = newPlace();
    writeJournal(place, [token(1)]);
    writeJournal({ ...place, sessionId: 'a' }, [token(1)]);
    mkdirSync(`${dirname(runPath(place))}-empty`);
    expect(await sessionsOfRun(place.root, 'r')).toEqual(['a', 's']);
    expect(await sessionsOfRun(place.root, '../r')).toEqual([]);
    expect(await sessionsOfRun('/nowhere', 'r')).toEqual([]);
  });
});

describe('records in pages', () => {
  it('follow one another in the order of their numbers, each once', async () => {
    const place = newPlace();
    const order = Array.from({ length: 1000 }, (_, index) => index + 1).map((seq) => (seq % 7 === 0 ? seq + 20 : seq));
    writeJournal(
      place,
      order.map((seq) => token(seq)),
    );
    const expected = [...new Set(order)].sort((a, b) => a - b);
    const read: number[] = [];
    let next: number | null = 0;
    while (next !== null) {
      const page = await readRunEvents(place.root, 's', 'r', { afterSeq: next, limit: 64 });
      read.push(...(seqs(page) ?? []));
      next = page?.next ?? null;
    }
    expect(read).toEqual(expected);
  });

  it('keep to a window', async () => {
    const place = newPlace();
    writeJournal(place, [token(1), token(2), token(3)]);
    const of = async (window: { afterSeq?: number; maxSeq?: number }) =>
      seqs(await readRunEvents(place.root, 's', 'r', { limit: 10, ...window }));
    expect(await of({})).toEqual([1, 2, 3]);
    expect(await of({ afterSeq: 1 })).toEqual([2, 3]);
    expect(await of({ maxSeq: 2 })).toEqual([1, 2]);
    expect(await of({ afterSeq: 3 })).toEqual([]);
    expect(await readRunEvents(place.root, 's', 'none', { limit: 1 })).toBeNull();
  });

  it('end before they hold more than 4 MiB', async () => {
    const place = newPlace();
    writeJournal(
      place,
      Array.from({ length: 30 }, () => ({ event: 'token', payload: { text: 'x'.repeat(200_000) } })),
    );
    const page = await readRunEvents(place.root, 's', 'r', { limit: 30 });
    expect(page?.records.length).toBe(20);
    expect(page?.next).toBe(20);
  });
});
