/** Run journals and turn journals by the cases of `spec/webui-recovery.md` 26, and what no hostile file may do. */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseLine } from '../../../src/live/journal/line.ts';
import { readLiveMessage } from '../../../src/live/journal/live-message.ts';
import { parseRunCursor, REPLAY_LIMITS, type ReadRun, replaySession, replayStatus } from '../../../src/live/journal/replay.ts';
import { readRunEvents } from '../../../src/live/journal/run-events.ts';
import { listRuns, RunSummaries } from '../../../src/live/journal/run-summary.ts';
import { readTurnJournal, sessionsWithTurnJournals } from '../../../src/live/journal/turn-journal.ts';
import { turnsOf } from '../../../src/live/journal/turns.ts';
import { type JournalEntry, journalLine, journalRoot, runPath, writeJournal } from '../../support/journal-lines.ts';

const token = (createdAt: number, text = 'x'): JournalEntry => ({ event: 'token', payload: { text }, createdAt });

/** The session of T81: run r1 with four lines, r2 with one, and another session with r3. */
function twoRuns() {
  const place = { root: journalRoot(), sessionId: 's1', runId: 'r1' };
  writeJournal(
    place,
    [10, 11, 12, 13].map((at) => token(at)),
  );
  writeJournal({ ...place, runId: 'r2' }, [token(20)]);
  writeJournal({ ...place, sessionId: 's2', runId: 'r3' }, [token(5)]);
  return place;
}

async function replayed(root: string, cursor: string) {
  const { status, events } = await replaySession(root, 's1', cursor);
  return [status, ...events.map(({ runId, record }) => `${runId}:${record.seq}`)].join(' ');
}

describe('a replay after a cursor', () => {
  it.each([
    ['r1:2', 'OK r1:3 r1:4 r2:1'],
    ['r1:4', 'OK r2:1'],
    ['r1:5', 'CURSOR_EVENT_MISSING'],
    ['r1', 'CURSOR_INVALID'],
    ['r1:0', 'CURSOR_INVALID'],
    ['r9:1', 'CURSOR_RUN_MISSING'],
    ['r3:1', 'CURSOR_SESSION_MISMATCH'],
  ])('T81: %s gives %s', async (cursor, expected) => {
    expect(await replayed(twoRuns().root, cursor)).toBe(expected);
  });

  it.each(['../r1:1', '_r1:1', 'r1:1.5', 'r1:-1', 'r1:1:1', `r1:${'9'.repeat(40)}`, ':1'])('%s is no cursor', async (cursor) => {
    expect(parseRunCursor(cursor)).toBeNull();
    expect(await replayed(twoRuns().root, cursor)).toBe('CURSOR_INVALID');
  });

  it('without a cursor gives nothing, whatever the files are like', async () => {
    const place = twoRuns();
    appendFileSync(runPath(place), 'garbage\n');
    expect(await replayed(place.root, ' ')).toBe('OK');
  });

  it('T82: one line that is no event, in whatever run, ends it', async () => {
    const place = twoRuns();
    appendFileSync(runPath(place), 'garbage\n');
    expect(await replayed(place.root, 'r2:1')).toBe('REPLAY_MALFORMED');
  });

  it.each([
    ['a hole', [1, 3]],
    ['a number twice', [1, 1]],
    ['a beginning after 1', [2]],
    ['lines out of order', [2, 1]],
  ])('ends at %s', async (_, numbers) => {
    const place = twoRuns();
    writeJournal(
      { ...place, runId: 'r4' },
      numbers.map((seq) => ({ ...token(30), seq })),
    );
    expect(await replayed(place.root, 'r1:4')).toBe('REPLAY_NONCONTIGUOUS');
  });

  it('ends at a line of another run', async () => {
    const place = twoRuns();
    appendFileSync(runPath(place), `${journalLine({ ...place, runId: 'r2' }, { ...token(14), seq: 5 })}\n`);
    expect(await replayed(place.root, 'r1:4')).toBe('REPLAY_NONCONTIGUOUS');
  });

  it('is bounded by 4,096 lines of all runs together', async () => {
    const place = twoRuns();
    const lines = (count: number) => writeJournal({ ...place, runId: 'r0' }, Array(count).fill(token(1)) as JournalEntry[]);
    lines(REPLAY_LIMITS.rows - 5);
    expect(await replayed(place.root, 'r1:4')).toBe('OK r2:1');
    lines(REPLAY_LIMITS.rows - 4);
    expect(await replayed(place.root, 'r1:4')).toBe('REPLAY_LIMIT_ROWS');
  });

  it('is bounded by 4 MiB of all runs together, and tells that before anything else', async () => {
    const place = twoRuns();
    writeJournal(
      { ...place, runId: 'r5' },
      Array.from({ length: 25 }, () => token(40, 'x'.repeat(200_000))),
      'garbage\n',
    );
    expect(await replayed(place.root, 'r1:4')).toBe('REPLAY_LIMIT_BYTES');
  });

  it('orders runs by their least time and then by id', () => {
    const run = (runId: string, ...times: number[]): ReadRun => ({
      runId,
      lines: times.map((at, index) => {
        const bytes = Buffer.from(journalLine({ sessionId: 's1', runId }, { ...token(at), seq: index + 1 }));
        return parseLine({ bytes, length: bytes.length, glued: null, end: 0 }, { sessionId: 's1', runId });
      }),
    });
    const source = { runs: [run('c', 9), run('b', 20, 5), run('a', 9)], bytes: 0, rows: 0, elsewhere: false };
    const { events } = replayStatus('b:1', source);
    expect(events.map(({ runId, record }) => `${runId}:${record.seq}`)).toEqual(['b:2', 'a:1', 'c:1']);
  });
});

describe('files beside the journals', () => {
  it('T90: an index of runs that ended is no run, and stops no replay', async () => {
    const place = twoRuns();
    for (const name of ['_terminal_runs.jsonl', '_terminal_runs.authority.json', '._terminal_runs.jsonl.lock']) {
      writeFileSync(join(dirname(runPath(place)), name), '{"version":1,"run_id":"r1","terminal":true}\ngarbage\n');
    }
    expect((await listRuns(place.root, 's1')).map(({ runId }) => runId)).toEqual(['r1', 'r2']);
    expect(await replayed(place.root, 'r1:4')).toBe('OK r2:1');
    expect(await new RunSummaries(place.root).get('s1', '_terminal_runs')).toBeNull();
    expect(await readRunEvents(place.root, 's1', '_terminal_runs', { limit: 5 })).toBeNull();
    expect(await readLiveMessage(place.root, { sessionId: 's1', runId: '_terminal_runs' })).toBeNull();
  });
});

function turnRoot(files: Readonly<Record<string, readonly (object | string)[]>>): string {
  const root = join(journalRoot(), '_turn_journal');
  mkdirSync(root);
  for (const [name, lines] of Object.entries(files)) {
    writeFileSync(join(root, name), lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  }
  return root;
}

const turnLine = (event: string, createdAt: number, more: object = {}) => ({
  version: 1,
  event,
  turn_id: 't1',
  stream_id: 'r1',
  created_at: createdAt,
  ...(event === 'completed' || event === 'interrupted' ? { terminal: true } : {}),
  ...more,
});

describe('turns', () => {
  it('T84: of two ends at one time the later line counts, and both are told', async () => {
    const root = turnRoot({
      's1~7.jsonl': [
        turnLine('submitted', 1, { role: 'user', content: 'Hello' }),
        turnLine('worker_started', 2),
        turnLine('completed', 3),
        turnLine('interrupted', 3, { reason: 'cancelled' }),
      ],
    });
    const [turn, ...others] = turnsOf((await readTurnJournal(root, 's1')).events);
    expect(others).toEqual([]);
    expect(turn).toMatchObject({
      turnId: 't1',
      streamId: 'r1',
      state: 'INTERRUPTED',
      terminal: true,
      reason: 'cancelled',
      submittedAt: 1,
      content: 'Hello',
      pid: 7,
    });
    expect(turn?.collisions.map(({ event }) => event)).toEqual(['completed', 'interrupted']);
  });

  it('T85: files of several processes are merged by time, lines that are none are named with their file', async () => {
    const root = turnRoot({
      's.1~12.jsonl': [turnLine('completed', 9)],
      's.1.jsonl': [turnLine('submitted', 1), 'garbage', '[1]', turnLine('worker_started', 5)],
    });
    const { events, malformed, malformedCount } = await readTurnJournal(root, 's.1');
    expect(events.map(({ event, pid }) => [event, pid])).toEqual([
      ['submitted', null],
      ['worker_started', null],
      ['completed', 12],
    ]);
    expect(malformed).toEqual([
      { line: 2, shard: 's.1.jsonl' },
      { line: 3, shard: 's.1.jsonl' },
    ]);
    expect(malformedCount).toBe(2);
    expect(await sessionsWithTurnJournals(root)).toEqual(['s.1']);
  });

  it('are listed newest first; events of later versions keep their name', async () => {
    const root = turnRoot({
      's1~7.jsonl': [
        turnLine('submitted', 1),
        turnLine('submitted', 5, { turn_id: 't2', content: 'y'.repeat(100_000) }),
        turnLine('constructor', 6, { turn_id: 't2' }),
      ],
    });
    const turns = turnsOf((await readTurnJournal(root, 's1')).events);
    expect(turns.map(({ turnId, state, event }) => [turnId, state, event])).toEqual([
      ['t2', 'OTHER', 'constructor'],
      ['t1', 'SUBMITTED', 'submitted'],
    ]);
    expect(turns[0]?.content).toHaveLength(64 * 1024);
  });

  it('with names that go on for ever are cut', async () => {
    const long = 'x'.repeat(50_000);
    const end = turnLine('interrupted', 2, { turn_id: long, stream_id: long, reason: long });
    const [turn] = turnsOf((await readTurnJournal(turnRoot({ 's1.jsonl': Array(50).fill(end) as object[] }), 's1')).events);
    expect(JSON.stringify({ ...turn, collisions: [] }).length).toBeLessThan(2000);
    expect(turn?.collisions).toHaveLength(16);
  });

  it('of a file with more lines than anybody writes the first are read, and it is said', async () => {
    const root = turnRoot({ 's1.jsonl': Array(100_500).fill('{}') as string[] });
    const { events, truncated } = await readTurnJournal(root, 's1');
    expect(truncated).toBe(true);
    expect(events.length).toBeLessThanOrEqual(100_001);
  });

  it('of lines that are none the first hundred are named, the others counted', async () => {
    const root = turnRoot({ 's1.jsonl': Array(500).fill('garbage') as string[] });
    const { malformed, malformedCount } = await readTurnJournal(root, 's1');
    expect([malformed.length, malformedCount]).toEqual([100, 500]);
  });
});

describe('a page of events', () => {
  it('names the lines that are none with their numbers and reasons, the first hundred of many', async () => {
    const place = twoRuns();
    appendFileSync(runPath(place), `garbage\n[1]\n{"seq":0}\n${'garbage\n'.repeat(200)}`);
    const page = await readRunEvents(place.root, 's1', 'r1', { limit: 50 });
    expect(page?.malformed.slice(0, 4)).toEqual([
      { line: 5, reason: 'NOT_JSON' },
      { line: 6, reason: 'NOT_AN_OBJECT' },
      { line: 7, reason: 'BAD_SEQ' },
      { line: 8, reason: 'NOT_JSON' },
    ]);
    expect([page?.malformed.length, page?.malformedCount]).toEqual([100, 203]);
  });
});

describe('the message that a run writes', () => {
  async function written(entries: readonly JournalEntry[], extra = '') {
    const place = { root: journalRoot(), sessionId: 's1', runId: 'r1' };
    writeJournal(place, entries, extra);
    const before = readFileSync(runPath(place));
    const message = await readLiveMessage(place.root, place);
    expect(readFileSync(runPath(place)).equals(before)).toBe(true);
    return message;
  }
  const text = (value: string): JournalEntry => ({ event: 'token', payload: { text: value } });
  const interim = (value: string, streamed: boolean, more: object = {}): JournalEntry => ({
    event: 'interim_assistant',
    payload: { text: value, already_streamed: streamed, ...more },
  });
  const tool = (payload: Record<string, unknown>): JournalEntry => ({ event: 'tool', payload });
  const complete = (payload: Record<string, unknown>): JournalEntry => ({ event: 'tool_complete', payload });

  it('joins tokens as they are, over calls too, and sets interim texts off by a blank line', async () => {
    const message = await written([
      text('Let me '),
      text('look. '),
      tool({ name: 'terminal', tid: 'c1' }),
      text('Found.'),
      interim('Next step', false),
      text('Done'),
      interim('Done', true),
      { event: 'metering' },
    ]);
    expect(message?.content).toBe('Let me look. Found.\n\nNext step\n\nDone');
    expect(message?.lastSeq).toBe(8);
  });

  it('takes a streamed interim text where its tokens are lost', async () => {
    expect((await written([interim('All of it', true)]))?.content).toBe('All of it');
  });

  it('takes an echo off the reasoning', async () => {
    const message = await written([
      { event: 'reasoning', payload: { text: 'I should look. Looking now' } },
      interim('Looking now', false, { reasoning_echo: true }),
    ]);
    expect([message?.content, message?.reasoning]).toEqual(['Looking now', 'I should look. ']);
  });

  it('pairs calls by their ids, by name without one; questions and calls without a name are left out', async () => {
    const message = await written([
      tool({ name: 'x', tid: 'c1' }),
      tool({ name: 'x', tid: 'c2' }),
      complete({ name: 'x', tid: 'c2', preview: 'two' }),
      complete({ name: 'x', preview: 'one' }),
      tool({ name: 'clarify' }),
      tool({ preview: 'nobody' }),
      complete({ name: 'y', tid: 'c9', preview: 'alone' }),
    ]);
    expect(message?.toolCalls.map(({ toolCallId, name, done, resultPreview }) => [toolCallId, name, done, resultPreview])).toEqual([
      ['c1', 'x', true, 'one'],
      ['c2', 'x', true, 'two'],
      ['c9', 'y', true, 'alone'],
    ]);
  });

  it('cuts arguments to 64 items, depth 8 and 8,192 characters a text', async () => {
    const args = { long: 'x'.repeat(10_000), many: Array(100).fill(1) };
    const message = await written([tool({ name: 'x', tid: 'c1', args })]);
    const [call] = message?.toolCalls ?? [];
    expect(call?.argsPreview).toEqual({ long: `${'x'.repeat(8192)}...[truncated]`, many: Array(64).fill(1) });
  });

  it('is none without events, and once a line says that the run is over', async () => {
    expect(await written([], 'garbage\n')).toBeNull();
    expect(await written([text('x'), { event: 'done' }])).toBeNull();
    expect(await readLiveMessage(journalRoot(), { sessionId: 's1', runId: 'r1' })).toBeNull();
  });

  it('takes lines in the order of their numbers, past those that are missing', async () => {
    const message = await written([
      { ...text('c'), seq: 3 },
      { ...text('a'), seq: 1 },
      { ...text('e'), seq: 5 },
    ]);
    expect([message?.content, message?.lastSeq]).toEqual(['ace', 5]);
  });

  it('of a journal with more calls than anybody makes is cut', async () => {
    const message = await written(Array.from({ length: 5000 }, (_, at) => tool({ name: 'x', tid: `c${at}` })));
    expect(message?.truncated).toBe(true);
    expect(message?.toolCalls).toHaveLength(4097);
  });
});
