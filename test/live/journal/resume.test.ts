/** Going on in a journal where a client has come to: offsets that hold and that don't, files that changed meanwhile. */
import { appendFileSync, readFileSync, statSync, truncateSync, unlinkSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import type { RunPosition } from '../../../src/live/journal/resume.ts';
import { Following, until } from '../../support/journal-following.ts';
import { type JournalEntry, journalLine, journalRoot, type RunPlace, runPath, writeJournal } from '../../support/journal-lines.ts';

const closing: Following[] = [];
afterEach(() => {
  for (const following of closing.splice(0)) following.close();
});

const newPlace = (): RunPlace => ({ root: journalRoot(), sessionId: 's', runId: 'r' });
const token = (text: string): JournalEntry => ({ event: 'token', payload: { text } });
const tokens = (count: number) => Array.from({ length: count }, (_, index) => token(`${index + 1} `));

function follow(place: RunPlace, after?: RunPosition): Following {
  const following = new Following(place, after === undefined ? {} : { after });
  closing.push(following);
  return following;
}

function add(place: RunPlace, ...entries: (JournalEntry & { seq: number })[]): void {
  appendFileSync(runPath(place), entries.map((entry) => `${journalLine(place, entry)}\n`).join(''));
}

describe('going on where a client has come to', () => {
  async function positionAfter(place: RunPlace): Promise<RunPosition> {
    const following = follow(place);
    await following.read();
    const { position } = following.tailer;
    if (position === null) throw new Error('no position');
    return position;
  }

  it('the offset hint is used: only what follows is read', async () => {
    const place = newPlace();
    writeJournal(place, tokens(1000));
    const position = await positionAfter(place);
    expect(position).toMatchObject({ seq: 1000, holes: [], offset: statSync(runPath(place)).size });
    const back = follow(place, position);
    await back.read();
    expect(back.tailer.position).toEqual(position);
    add(place, { ...token('next'), seq: 1001 });
    await back.read();
    expect(back.seqs).toEqual([1001]);
    expect(back.tailer.statistics.bytesRead).toBeLessThan(400);
    expect(back.tailer.position?.seq).toBe(1001);
  });

  it.each([
    ['no offset', null],
    ['beyond the end', 1_000_000],
    ['inside a line', 50],
    ['after another line', 'FIRST'],
    ['negative', -1],
    ['no integer', 1.5],
  ])('a hint that does not hold is passed over, and nothing comes twice: %s', async (_, offset) => {
    const place = newPlace();
    const path = writeJournal(place, tokens(20));
    const position = await positionAfter(place);
    add(place, { ...token('next'), seq: 21 });
    const wrong = offset === 'FIRST' ? readFileSync(path).indexOf(0x0a) + 1 : (offset as number | null);
    const back = follow(place, { ...position, offset: wrong });
    await back.read();
    expect(back.seqs).toEqual([21]);
    expect(back.turns).toEqual([]);
  });

  it('a hint that would pass over a line is not followed', async () => {
    const place = newPlace();
    const path = writeJournal(place, tokens(20));
    const position = await positionAfter(place);
    add(place, ...[21, 22, 23].map((seq) => ({ ...token('next'), seq })));
    const text = readFileSync(path, 'utf8');
    const back = follow(place, { ...position, offset: text.lastIndexOf('\n', text.length - 2) + 1 });
    await back.read();
    expect(back.seqs).toEqual([21, 22, 23]);
  });

  it('a line that stood before its place gives no hint that would pass over it', async () => {
    const place = newPlace();
    writeJournal(
      place,
      [1, 2, 6, 3].map((seq) => ({ ...token(`${seq}`), seq })),
    );
    const position = await positionAfter(place);
    expect(position).toMatchObject({ seq: 3, offset: null });
    add(place, { ...token('4'), seq: 4 }, { ...token('5'), seq: 5 });
    const back = follow(place, position);
    await back.read();
    expect(back.seqs).toEqual([4, 5, 6]);
  });

  it('a generation that is not the file’s is told as rewritten, and everything comes', async () => {
    const place = newPlace();
    writeJournal(place, tokens(3));
    const back = follow(place, { ...(await positionAfter(place)), generation: 'deadbeef' });
    await back.read();
    expect(back.turns).toEqual(['RESET REWRITTEN']);
    expect(back.seqs).toEqual([1, 2, 3]);
  });

  it('24: a file that was cut meanwhile is told as rewritten', async () => {
    const place = newPlace();
    const path = writeJournal(place, tokens(10));
    const position = await positionAfter(place);
    truncateSync(path, Math.floor(statSync(path).size / 2));
    const back = follow(place, position);
    await back.read();
    await until(() => back.seqs.length > 0);
    expect(back.turns).toEqual(['RESET REWRITTEN']);
    expect(back.seqs).toEqual([1, 2, 3, 4, 5]);
  });

  it('a file that is gone is told', async () => {
    const place = newPlace();
    const path = writeJournal(place, tokens(3));
    const position = await positionAfter(place);
    unlinkSync(path);
    const back = follow(place, position);
    await back.read();
    expect(back.turns).toEqual(['GONE']);
    await back.read();
    expect(back.turns).toEqual(['GONE']);
  });
});
