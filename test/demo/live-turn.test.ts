import Database from 'better-sqlite3';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { playTurn, type TurnOptions, type TurnStep } from '../../src/demo/live-turn.ts';
import { SeededRandom } from '../../src/demo/random.ts';
import { parseScripts, type Script } from '../../src/demo/script.ts';
import { TurnLost, TurnWriter } from '../../src/demo/turn-writer.ts';
import { buildStore, M, removeStores, S } from '../support/stores.ts';

const SCRIPT = scriptOf(`
## tea | cli | openai/gpt-5 | 0 | Tea
> How long does green tea take?
~ Two minutes.
: I look it up.
! web_search {"query": "green tea"}
| 2 minutes at 75 °C
& memory {"action": "list"}
| nothing
! terminal {"command": "date"}
| now
< Two minutes at 75 °C.
`);

let path: string;
let db: Database.Database;
let clock = 0;

beforeEach(() => {
  path = buildStore({
    rows: [S('a', { model: 'openai/gpt-5', title: 'Kitchen', title_source: 'user', message_count: 1 }), M('a', { content: 'hello' })],
  });
  db = new Database(path);
  db.pragma('foreign_keys = OFF');
  clock = 1_900_000_000;
});
afterEach(() => db.close());
afterAll(removeStores);

function scriptOf(play: string): Script {
  const [script] = parseScripts(play);
  if (script === undefined) throw new Error('no script');
  return script;
}

function turn(options: Partial<TurnOptions> = {}): Generator<TurnStep, string, undefined> {
  return playTurn(db, { script: SCRIPT, now: () => (clock += 1), pid: 77, random: new SeededRandom(clock), ...options });
}

const names = (steps: Iterable<TurnStep>): string[] => [...steps].map((step) => step.name);
const namesOf = (steps: Iterable<TurnStep>): string => names(steps).join(' ');
const all = (sql: string, ...values: unknown[]): unknown[] => db.prepare(sql).all(...values);

/** Ids of sessions whose counters don't say what their rows say. */
function miscounted(): unknown[] {
  return all(`SELECT id FROM sessions s WHERE message_count <> (SELECT COUNT(*) FROM messages WHERE session_id = s.id AND active = 1)
    OR tool_call_count <> (SELECT COALESCE(SUM(json_array_length(tool_calls)), 0) FROM messages WHERE session_id = s.id AND active = 1)`);
}

describe('a turn', () => {
  it('makes its commits in the order of the agent, with counters that agree after each', () => {
    const steps: string[] = [];
    for (const step of turn({ sessionId: 'a' })) {
      steps.push(step.name);
      expect(miscounted()).toEqual([]);
      const leases = all('SELECT conversation_id, holder FROM session_turn_leases');
      const over = step.name === 'release';
      expect(leases).toEqual(
        over ? [] : [{ conversation_id: 'a', holder: expect.stringMatching(/^pid=77:turn=[0-9a-f]{8}:platform=cli$/) }],
      );
    }
    expect(steps.join(' ')).toBe('lease user heartbeat calls usage tool tool calls usage tool answer usage labels release');
    expect(all("SELECT role, content, tool_name, finish_reason FROM messages WHERE session_id = 'a' AND id > 1")).toEqual([
      { role: 'user', content: 'How long does green tea take?', tool_name: null, finish_reason: null },
      { role: 'assistant', content: 'I look it up.', tool_name: null, finish_reason: 'tool_calls' },
      { role: 'tool', content: '2 minutes at 75 °C', tool_name: 'web_search', finish_reason: null },
      { role: 'tool', content: 'nothing', tool_name: 'memory', finish_reason: null },
      { role: 'assistant', content: '', tool_name: null, finish_reason: 'tool_calls' },
      { role: 'tool', content: 'now', tool_name: 'terminal', finish_reason: null },
      { role: 'assistant', content: 'Two minutes at 75 °C.', tool_name: null, finish_reason: 'stop' },
    ]);
    expect(all("SELECT message_count, tool_call_count, api_call_count, last_activity_description FROM sessions WHERE id = 'a'")).toEqual([
      { message_count: 8, tool_call_count: 3, api_call_count: 3, last_activity_description: '' },
    ]);
    expect(all('SELECT task, api_call_count FROM session_model_usage')).toEqual([{ task: '', api_call_count: 3 }]);
  });

  it('lets each result name the call that it answers', () => {
    names(turn({ sessionId: 'a' }));
    const called = all("SELECT value ->> 'id' AS id FROM messages, json_each(tool_calls) ORDER BY messages.id, key");
    expect(called).toEqual(all("SELECT tool_call_id AS id FROM messages WHERE role = 'tool' ORDER BY id"));
  });

  it('stamps its activity at most once a minute', () => {
    clock = 1_900_000_000;
    const slow = names(playTurn(db, { script: SCRIPT, sessionId: 'a', now: () => (clock += 31) }));
    expect(slow.filter((name) => name === 'heartbeat').length).toBeGreaterThan(1);
    const { at } = db.prepare("SELECT last_activity_at AS at FROM sessions WHERE id = 'a'").get() as { at: number };
    db.exec("UPDATE sessions SET last_activity_at = 4e9 WHERE id = 'a'");
    expect(names(turn({ sessionId: 'a' }))).not.toContain('heartbeat');
    expect(at).toBeLessThan(clock);
  });

  it('begins a session without a lease, and gives it a title and its price afterwards', () => {
    const steps = [...turn({ end: 'cli_close' })];
    expect(namesOf(steps)).toBe('session heartbeat calls usage tool tool calls usage tool answer usage labels title usage end');
    const id = steps.at(-1)?.sessionId;
    expect(all('SELECT source, title, title_source, message_count, end_reason FROM sessions WHERE id = ?', id)).toEqual([
      { source: 'cli', title: 'Tea', title_source: 'llm', message_count: 7, end_reason: 'cli_close' },
    ]);
    expect(all('SELECT task FROM session_model_usage WHERE session_id = ? ORDER BY 1', id)).toEqual([
      { task: '' },
      { task: 'title_generation' },
    ]);
    expect(miscounted()).toEqual([]);
    names(turn());
    expect(all("SELECT title FROM sessions WHERE title LIKE 'Tea%' ORDER BY 1")).toEqual([{ title: 'Tea' }, { title: 'Tea #2' }]);
  });

  it('waits for somebody else who has the lease, takes over a stale one, and leaves others alone', () => {
    const expires = clock + 5;
    db.prepare("INSERT INTO session_turn_leases VALUES ('a', 'pid=1:turn=x:platform=cli', 0, ?)").run(expires);
    db.prepare("INSERT INTO session_turn_leases VALUES ('other', 'pid=2', ?, ?)").run(clock, clock + 300);
    const steps = names(turn({ sessionId: 'a' }));
    expect(steps.filter((name) => name === 'waiting').length).toBeGreaterThan(0);
    expect(steps.at(-1)).toBe('release');
    expect(all('SELECT conversation_id FROM session_turn_leases')).toEqual([{ conversation_id: 'other' }]);
  });

  it('gives the lease back when it is stopped in the middle, and goes on in a session that had ended', () => {
    db.exec("UPDATE sessions SET ended_at = 5, end_reason = 'cli_close'");
    const started = turn({ sessionId: 'a' });
    for (let step = 0; step < 5; step += 1) started.next();
    expect(all('SELECT ended_at, end_reason FROM sessions')).toEqual([{ ended_at: null, end_reason: null }]);
    expect(all('SELECT 1 FROM session_turn_leases')).toHaveLength(1);
    started.return('');
    expect(all('SELECT 1 FROM session_turn_leases')).toEqual([]);
    expect(miscounted()).toEqual([]);
  });

  it('is lost, and leaves nothing behind, when its session is deleted under it', () => {
    const started = turn({ sessionId: 'a' });
    for (let step = 0; step < 3; step += 1) started.next();
    db.exec("DELETE FROM messages WHERE session_id = 'a'; DELETE FROM sessions WHERE id = 'a'");
    expect(() => names(started)).toThrow(TurnLost);
    for (const table of ['messages', 'session_turn_leases', 'session_model_usage']) expect(all(`SELECT 1 FROM ${table}`)).toEqual([]);
  });
});

describe('two turns with a rotation', () => {
  it('end in the child, whose lease is that of the root', () => {
    names(turn({ sessionId: 'a' }));
    const before = db.prepare("SELECT message_count FROM sessions WHERE id = 'a'").pluck().get();
    const steps: TurnStep[] = [];
    for (const step of turn({ sessionId: 'a', rotate: true })) {
      steps.push(step);
      expect(miscounted()).toEqual([]);
      const closedAlone = all(
        "SELECT 1 FROM sessions p WHERE end_reason = 'compression' AND NOT EXISTS (SELECT 1 FROM sessions WHERE parent_session_id = p.id AND message_count > 0)",
      );
      expect(closedAlone).toEqual([]);
      if (step.name === 'lock') expect(all('SELECT session_id FROM compression_locks')).toEqual([{ session_id: 'a' }]);
      if (step.name === 'answer') expect(all('SELECT conversation_id FROM session_turn_leases')).toEqual([{ conversation_id: 'a' }]);
    }
    expect(namesOf(steps)).toBe(
      'lease user calls usage tool tool lock rotation unlock title heartbeat calls usage tool answer usage labels release',
    );
    const child = steps.at(-1)?.sessionId;
    expect(all('SELECT parent_session_id, source, model, title, end_reason FROM sessions WHERE id = ?', child)).toEqual([
      { parent_session_id: 'a', source: 'cli', model: 'openai/gpt-5', title: 'Kitchen', end_reason: null },
    ]);
    expect(all("SELECT title, end_reason, message_count FROM sessions WHERE id = 'a'")).toEqual([
      { title: null, end_reason: 'compression', message_count: Number(before) + 4 },
    ]);
    const [summary, ...carried] = all(
      'SELECT role, content, timestamp, display_kind FROM messages WHERE session_id = ? ORDER BY id LIMIT 5',
      child,
    );
    expect(summary).toMatchObject({
      role: 'user',
      display_kind: 'hidden',
      content: expect.stringContaining('[CONTEXT COMPACTION — REFERENCE ONLY]'),
    });
    expect(carried).toEqual(
      all("SELECT role, content, timestamp, display_kind FROM messages WHERE session_id = 'a' ORDER BY id DESC LIMIT 4").reverse(),
    );
    expect(all('SELECT 1 FROM compression_locks UNION ALL SELECT 1 FROM session_turn_leases')).toEqual([]);
  });

  it('go on at the tip, and stop to rotate before the chain grows without end', () => {
    for (let round = 0; round < 22; round += 1) names(turn({ sessionId: 'a', rotate: true }));
    expect(all('SELECT COUNT(*) AS segments FROM sessions')).toEqual([{ segments: 20 }]);
    expect(all('SELECT title FROM sessions WHERE title IS NOT NULL')).toEqual([{ title: 'Kitchen' }]);
    expect(miscounted()).toEqual([]);
    for (const index of ['messages_fts', 'messages_fts_trigram'])
      db.prepare(`INSERT INTO ${index}(${index}, rank) VALUES ('integrity-check', 1)`).run();
  });

  it("don't publish a child when the parent was closed meanwhile", () => {
    const writer = new TurnWriter(db);
    db.exec("UPDATE sessions SET ended_at = 5, end_reason = 'session_reset'");
    expect(() => writer.rotate('a', 'child', 'in short', 0)).toThrow(TurnLost);
    expect(all('SELECT id FROM sessions')).toEqual([{ id: 'a' }]);
  });
});
