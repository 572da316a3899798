/** Following a journal while another process writes, cuts, replaces or removes it. */
import {
  appendFileSync,
  chmodSync,
  cpSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { JournalRecord } from '../../../src/live/journal/line.ts';
import type { RunTailerOptions } from '../../../src/live/journal/tailer.ts';
import { Following, until } from '../../support/journal-following.ts';
import { type JournalEntry, journalLine, journalRoot, type RunPlace, runPath, writeJournal } from '../../support/journal-lines.ts';
import { type JournalWriter, startJournalWriter } from '../../support/journal-writer.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function newPlace(): RunPlace {
  return { root: journalRoot(), sessionId: 's', runId: 'r' };
}

function follow(place: RunPlace, options: Partial<RunTailerOptions> = {}): Following {
  const following = new Following(place, options);
  closing.push(() => following.close());
  return following;
}

async function writerOf(place: RunPlace): Promise<JournalWriter> {
  const writer = await startJournalWriter(place);
  closing.push(() => writer.kill());
  return writer;
}

const token = (text: string): JournalEntry => ({ event: 'token', payload: { text } });
const tokens = (count: number) => Array.from({ length: count }, (_, index) => token(`${index + 1} `));
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

function add(place: RunPlace, ...entries: (JournalEntry & { seq: number })[]): void {
  appendFileSync(runPath(place), entries.map((entry) => `${journalLine(place, entry)}\n`).join(''));
}

function records(following: Following): JournalRecord[] {
  return following.events.flatMap((event) => (event.kind === 'RECORDS' ? event.deliveries.map(({ record }) => record) : []));
}

describe('a journal that another process writes', () => {
  it('6: ten lines 20 ms apart come in order, each in its own delivery', async () => {
    const place = newPlace();
    const following = await follow(place).watch(place);
    const writer = await writerOf(place);
    await writer.play(tokens(10).map((entry) => ({ ...entry, afterMs: 20 })));
    await until(() => following.seqs.length === 10);
    expect(following.seqs).toEqual(numbers(1, 10));
    // How many exactly is up to the machine; one delivery would mean that nobody watches.
    expect(following.events.length).toBeGreaterThanOrEqual(4);
  });

  it('15: half of a 2 MB line is nothing until its newline comes, then one record whose payload is not read', async () => {
    const place = newPlace();
    const following = await follow(place).watch(place);
    const writer = await writerOf(place);
    await writer.append(token('before'));
    const done = { event: 'done', payload: { session: { messages: ['x'.repeat(2_000_000)] }, usage: {} } };
    await writer.torn(done, 1_000_000);
    await until(() => following.tailer.carried === 1_000_000);
    await sleep(50);
    expect(following.seqs).toEqual([1]);
    await writer.run({ kind: 'rest' });
    await until(() => following.seqs.length === 2);
    expect(records(following)[1]).toMatchObject({ event: 'done', terminal: true, truncated: true, payload: {} });
    expect(following.tailer.statistics.malformed).toBe(0);
  });

  it('16: behind a tail that a killed writer left, the next record is delivered and one part counts as malformed', async () => {
    const place = newPlace();
    const following = await follow(place).watch(place);
    const killed = await writerOf(place);
    await killed.append(token('one'), token('two'));
    void killed.torn(token('torn'), 90, 60_000).catch(() => undefined);
    await until(() => following.tailer.carried === 90);
    await killed.kill();
    const next = await writerOf(place);
    await next.append({ ...token('three'), seq: 3 }, { ...token('four'), seq: 4 });
    await until(() => following.seqs.length === 4);
    expect(records(following).map(({ payload }) => payload.text)).toEqual(['one', 'two', 'three', 'four']);
    expect(following.tailer.statistics.malformed).toBe(1);
  });

  it('17: odd line breaks and NaN arrive', async () => {
    const place = newPlace();
    const following = await follow(place).watch(place);
    const writer = await writerOf(place);
    await writer.append(token('a\u2028b\u0085c'), token('next'));
    await writer.run({ kind: 'raw', text: `${journalLine(place, { event: 'metering', seq: 3, payload: { tps: Number.NaN } })}\n` });
    await until(() => following.seqs.length === 3);
    expect(records(following).map(({ payload }) => payload)).toEqual([{ text: 'a\u2028b\u0085c' }, { text: 'next' }, { tps: null }]);
  });

  it('18: lines out of order are delivered in order', async () => {
    const place = newPlace();
    const following = await follow(place).watch(place);
    const writer = await writerOf(place);
    await writer.play([1, 2, 5, 3, 4, 6].map((seq) => ({ ...token('x'), seq, afterMs: 15 })));
    await until(() => following.seqs.length === 6);
    expect(following.seqs).toEqual(numbers(1, 6));
    expect(following.tailer.position).toMatchObject({ seq: 6, holes: [] });
  });

  it('19: a number that never comes holds the next one up for a quarter of a second, then it is a hole of the position', async () => {
    const place = newPlace();
    const following = await follow(place).watch(place);
    const writer = await writerOf(place);
    await writer.append(token('1'), token('2'));
    await writer.run({ kind: 'hole', count: 1 });
    const at = performance.now();
    await writer.append(token('4'));
    await until(() => following.seqs.length === 3);
    expect(following.seqs).toEqual([1, 2, 4]);
    expect(performance.now() - at).toBeGreaterThan(240);
    expect(following.tailer.position).toMatchObject({ seq: 4, holes: [{ from: 3, to: 3 }] });
  });

  it('20: when it comes after all it is delivered late and once, also to a client that had left in between', async () => {
    const place = newPlace();
    const following = await follow(place).watch(place);
    const writer = await writerOf(place);
    await writer.append(token('1'), token('2'), { ...token('4'), seq: 4 });
    await until(() => following.seqs.length === 3);
    const position = following.tailer.position;
    await writer.append({ ...token('3'), seq: 3 }, { ...token('5'), seq: 5 });
    await until(() => following.seqs.length === 5);
    expect(following.seqs).toEqual([1, 2, 4, -3, 5]);
    const back = follow(place, position === null ? {} : { after: position });
    await back.read();
    expect(back.seqs).toEqual([-3, 5]);
    expect(back.turns).toEqual([]);
  });

  it('23: a file that was removed with its session and comes again from 1 is a new generation', async () => {
    const place = newPlace();
    const following = await follow(place).watch(place);
    const writer = await writerOf(place);
    await writer.append(token('old 1'), token('old 2'));
    await until(() => following.seqs.length === 2);
    const before = following.tailer.position?.generation;
    await writer.run({ kind: 'removeSession' });
    await until(() => following.turns.includes('GONE'));
    await writer.append(token('new 1'));
    await until(() => following.seqs.length === 3);
    expect(following.turns).toEqual(['GONE', 'RESET RECREATED']);
    expect(following.seqs).toEqual([1, 2, 1]);
    expect(following.tailer.position?.generation).not.toBe(before);
  });

  it('24: cutting the file in half voids what was delivered', async () => {
    const place = newPlace();
    writeJournal(place, tokens(10));
    const following = await follow(place).watch(place);
    await until(() => following.seqs.length === 10);
    const writer = await writerOf(place);
    await writer.run({ kind: 'truncate', size: Math.floor(statSync(runPath(place)).size / 2) });
    await until(() => following.seqs.length === 15);
    expect(following.turns).toEqual(['RESET TRUNCATED']);
    expect(following.seqs).toEqual([...numbers(1, 10), ...numbers(1, 5)]);
  });
});

describe('another file behind the same name', () => {
  it('cut and grown beyond the old end between two reads', async () => {
    const place = newPlace();
    writeJournal(place, tokens(4));
    const following = follow(place);
    await following.read();
    truncateSync(runPath(place), 0);
    add(place, ...numbers(1, 8).map((seq) => ({ ...token(`other ${seq}`), seq })));
    await following.read();
    await until(() => following.seqs.length === 12);
    expect(following.turns).toEqual(['RESET REWRITTEN']);
    expect(following.seqs).toEqual([...numbers(1, 4), ...numbers(1, 8)]);
  });

  it('other content at the same size', async () => {
    const place = newPlace();
    writeJournal(place, [token('aaa'), token('bbb'), token('ccc')]);
    const following = follow(place);
    await following.read();
    writeFileSync(runPath(place), readFileSync(runPath(place), 'utf8').replace('bbb', 'BBB'));
    following.tailer.poke();
    await until(() => following.seqs.length === 6);
    expect(following.turns).toEqual(['RESET REWRITTEN']);
    expect(records(following)[4]?.payload.text).toBe('BBB');
  });

  it('the same content with another time is no other file', async () => {
    const place = newPlace();
    writeJournal(place, tokens(3));
    const following = follow(place);
    await following.read();
    utimesSync(runPath(place), 1, 1);
    await following.read();
    await sleep(120);
    await following.read();
    add(place, { ...token('4'), seq: 4 });
    await following.read();
    expect(following.turns).toEqual([]);
    expect(following.seqs).toEqual([1, 2, 3, 4]);
  });

  it('replaced by renaming', async () => {
    const place = newPlace();
    const path = writeJournal(place, tokens(3));
    const following = follow(place);
    await following.read();
    cpSync(path, `${path}.new`);
    renameSync(`${path}.new`, path);
    await following.read();
    expect(following.turns).toEqual(['RESET RECREATED']);
    expect(following.seqs).toEqual([1, 2, 3, 1, 2, 3]);
  });

  it('a path that was never there tells nothing, and begins when it comes', async () => {
    const place = newPlace();
    const following = follow(place);
    await following.read();
    expect(following.events).toEqual([]);
    expect(following.tailer.position).toBeNull();
    writeJournal(place, tokens(1));
    await following.read();
    expect(following.turns).toEqual([]);
    expect(following.seqs).toEqual([1]);
  });

  it('bad ids never become a path', async () => {
    const following = follow({ root: journalRoot(), sessionId: '..', runId: 'r' });
    await following.read();
    expect(following.events).toEqual([]);
  });
});

describe('reading', () => {
  it('is bounded: a large file comes in many deliveries, and another journal has its turn in between', async () => {
    const place = newPlace();
    writeJournal(place, tokens(12_000));
    const other = { ...place, runId: 'other' };
    writeJournal(other, tokens(1));
    const order: string[] = [];
    const tell = (name: string) => ({ onEvent: () => void order.push(name) });
    const large = new Following(place, tell('large'));
    const small = new Following(other, tell('small'));
    closing.push(
      () => large.close(),
      () => small.close(),
    );
    large.tailer.poke();
    small.tailer.poke();
    await until(() => large.tailer.position?.seq === 12_000);
    expect(order.indexOf('small')).toBeGreaterThan(-1);
    expect(order.indexOf('small')).toBeLessThan(order.lastIndexOf('large'));
    expect(order.length).toBeGreaterThanOrEqual(8);
  });

  it.skipIf(process.getuid?.() === 0)('a file that can’t be read is told and tried again', async () => {
    const place = newPlace();
    const path = writeJournal(place, tokens(1));
    chmodSync(path, 0);
    const following = follow(place);
    await following.read();
    expect(following.turns).toEqual(['FAILED']);
    chmodSync(path, 0o600);
    await until(() => following.seqs.length === 1);
  });

  it('after close nothing is told', async () => {
    const place = newPlace();
    writeJournal(place, tokens(5000));
    const following = follow(place);
    following.tailer.poke();
    following.close();
    await following.tailer.settled();
    expect(following.events).toEqual([]);
  });

  it('pokes without pause read about every 10 ms and miss nothing', async () => {
    const place = newPlace();
    writeJournal(place, tokens(1));
    const following = follow(place);
    const end = performance.now() + 200;
    for (let seq = 2; performance.now() < end; seq++) {
      add(place, { ...token('x'), seq });
      following.tailer.poke();
      await sleep(0);
    }
    const written = readFileSync(runPath(place), 'utf8').split('\n').length - 1;
    await until(() => following.seqs.length === written);
    expect(following.events.length).toBeLessThanOrEqual(26);
    rmSync(runPath(place));
  });
});
