/** Which sessions of a terminal are counted, and how often (`spec/webui-listing.md` 11.3). */
import { expect, it } from 'vitest';
import { decodeSession, type SessionEntry, toEntry } from '../../src/state-db/session-record.ts';
import { TerminalCounts } from '../../src/web-ui/terminal-counts.ts';

const AT = 1_782_000_000;

function session(id: string, total: number, columns: Record<string, string | number | null> = {}): readonly [string, SessionEntry] {
  const record = decodeSession({ id, source: 'cli', started_at: AT, ended_at: AT + 1, ...columns });
  return [id, toEntry(record, { total, live: total, lastTimestamp: null })];
}

/** Counts two messages for each session, and remembers who was asked for. */
function counter() {
  const asked: string[][] = [];
  const count = (ids: readonly string[]) => {
    asked.push([...ids]);
    return new Map(ids.map((id) => [id, 2]));
  };
  return { asked, count };
}

it('11.3: only those are counted whose place in the list depends on it', () => {
  const { asked, count } = counter();
  const sessions = new Map([
    session('ended', 5),
    session('open', 5, { ended_at: null }),
    session('titled', 5, { title: 'Tea' }),
    session('generated', 5, { title: 'CLI Session' }),
    session('tui', 5, { source: 'tui' }),
    session('editor', 5, { source: 'ACP', ended_at: null, title: 'Tea' }),
    session('chat', 5, { source: 'telegram' }),
    session('long', 201),
    session('empty', 0),
  ]);
  const counts = new TerminalCounts();
  expect(counts.read(sessions, count)).toBe(false);
  expect(asked).toEqual([['ended', 'generated', 'editor']]);
  expect([counts.of('ended'), counts.of('open'), counts.of('long')]).toEqual([2, null, null]);
});

it('11.3: a session is counted again when it has another number of rows, and forgotten when it has gone', () => {
  const { asked, count } = counter();
  const counts = new TerminalCounts();
  counts.read(new Map([session('a', 5), session('b', 5)]), count);
  counts.read(new Map([session('a', 5), session('b', 5)]), count);
  counts.read(new Map([session('a', 6)]), count);
  expect(asked).toEqual([['a', 'b'], ['a']]);
  expect(counts.of('b')).toBeNull();
});

it('11.3: what is too much for one time is left for the next', () => {
  const { asked, count } = counter();
  const counts = new TerminalCounts();
  const sessions = new Map(Array.from({ length: 30 }, (_, index) => session(`s${index}`, 200)));
  expect([counts.read(sessions, count), counts.read(sessions, count)]).toEqual([true, false]);
  expect(asked.map((ids) => ids.length)).toEqual([20, 10]);
});

it('11.3: where the store can not tell, all rows count and nobody asks again and again', () => {
  const counts = new TerminalCounts();
  const sessions = new Map(Array.from({ length: 30 }, (_, index) => session(`s${index}`, 200)));
  expect(counts.read(sessions, () => null)).toBe(false);
  expect(counts.of('s0')).toBeNull();
});
