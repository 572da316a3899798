/** A live turn of the demo with the Web UI's files: they agree with the rows, and each comes when its owner would write it. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { playTurn, type TurnOptions, type TurnStep } from '../../src/demo/live-turn.ts';
import { playTurns } from '../../src/demo/live-turn-player.ts';
import { removeOldRuns } from '../../src/demo/old-runs.ts';
import { SeededRandom } from '../../src/demo/random.ts';
import { parseScripts, type Script } from '../../src/demo/script.ts';
import { TurnLost } from '../../src/demo/turn-writer.ts';
import { WebUiFiles } from '../../src/demo/web-ui-files.ts';
import { WebUiRun } from '../../src/demo/web-ui-run.ts';
import { readTurnJournal } from '../../src/live/journal/turn-journal.ts';
import { foldedRun, recordsOf } from '../support/folded-run.ts';
import { buildStore, M, removeStores, S, temporaryFolder } from '../support/stores.ts';

const [SCRIPT] = parseScripts(`
## tea | webui | openai/gpt-5 | 0 | Tea
> How long does grüner 茶 take?
~ Two minutes, I think; better look.
: I look it up 🫖.
! web_search {"query": "green tea"}
| 2 minutes at 75 °C
& memory {"action": "list"}
| nothing
! terminal {"command": "date"}
| now
~ Now I know.
< Two minutes at 75 °C,\u2028not more.
`) as [Script];

let directory: string;
let db: Database.Database;
let files: WebUiFiles;

beforeEach(() => {
  directory = temporaryFolder();
  const rows = [S('a', { model: 'openai/gpt-5', title: 'Kitchen', title_source: 'user', message_count: 1 }), M('a', { content: 'hello' })];
  db = new Database(buildStore({ rows }));
  db.pragma('foreign_keys = OFF');
  files = new WebUiFiles(directory);
});
afterEach(() => db.close());
afterAll(removeStores);

const root = (): string => join(directory, 'sessions', '_run_journal');
const all = (sql: string, ...values: unknown[]): Record<string, unknown>[] =>
  db.prepare<unknown[], Record<string, unknown>>(sql).all(...values);
const sidecar = (id: string): Record<string, unknown> => JSON.parse(readFileSync(join(directory, 'sessions', `${id}.json`), 'utf8'));
const place = (sessionId: string) => ({ root: root(), sessionId, runId: 'r' });

function turn(options: Partial<TurnOptions> = {}): Generator<TurnStep, string, undefined> {
  return playTurn(db, { script: SCRIPT, sessionId: 'a', webUi: new WebUiRun(files, new SeededRandom(3), 'r'), ...options });
}

/** The events of the journal so far, repeats of one left out. */
function events(sessionId: string): string[] {
  const names = recordsOf(place(sessionId)).map(({ event }) => event);
  return names.filter((name, index) => name !== names[index - 1]);
}

describe('a turn with the files of the Web UI', () => {
  it('writes rows and lines in the order of their owners', () => {
    const shown: string[] = [];
    let rows = all('SELECT 1 FROM messages').length;
    let lines = 0;
    for (const _ of turn()) {
      for (const { role } of all('SELECT role FROM messages ORDER BY id LIMIT -1 OFFSET ?', rows)) shown.push(`DB ${role}`);
      rows = all('SELECT 1 FROM messages').length;
      const records = recordsOf(place('a'));
      for (const { event } of records.slice(lines)) if (event !== 'metering' || shown.at(-1) === 'done') shown.push(event);
      lines = records.length;
      const owner = existsSync(join(directory, 'sessions', 'a.json')) ? sidecar('a').active_stream_id : null;
      const mark = owner === null ? 'SC free' : 'SC owned';
      if (shown.findLast((name) => name.startsWith('SC')) !== mark) shown.push(mark);
    }
    const told = shown.filter((name, index) => name !== shown[index - 1]);
    expect(told.join(', ')).toBe(
      [
        'SC owned, context_status, DB user, reasoning, token, DB assistant, interim_assistant, tool, DB tool, tool_complete',
        'DB tool, tool_complete, DB assistant, tool, DB tool, tool_complete, reasoning, token, DB assistant',
        'SC free, done, metering, stream_end',
      ].join(', '),
    );
  });

  it.each([
    ['', {}],
    [' that is rotated', { rotate: true }],
    [' that is compacted in place', { compact: true }],
  ])('%s tells in the journal what the rows say', async (_, options) => {
    const steps = [...turn(options)];
    const end = steps.at(-1)?.sessionId ?? '';
    const folded = foldedRun(place('a'));
    const rows = all(
      `SELECT content, reasoning, tool_calls, tool_call_id FROM messages
        WHERE session_id IN ('a', ?) AND role <> 'user' GROUP BY role, timestamp, content ORDER BY MIN(id)`,
      end,
    );
    const said = rows.filter(({ tool_call_id: id }) => id === null);
    expect(folded.segments.map(({ text }) => text)).toEqual(said.map(({ content }) => content).filter((text) => text !== ''));
    expect(folded.reasoning.map(({ text }) => text)).toEqual(said.flatMap(({ reasoning }) => reasoning ?? []));
    expect(folded.tools.map(({ toolCallId }) => toolCallId)).toEqual(rows.flatMap(({ tool_call_id: id }) => id ?? []));
    const results = rows.filter(({ tool_call_id: id }) => id !== null);
    expect(folded.tools.map(({ resultPreview }) => resultPreview)).toEqual(results.map(({ content }) => content));
    expect(folded).toMatchObject({ phase: expect.any(String), end: { outcome: 'COMPLETED', event: 'done' } });
    expect(folded.holes).toEqual([]);
    expect(sidecar(end)).toMatchObject({ active_stream_id: null, title: 'Kitchen', message_count: 8 });
    const journal = await readTurnJournal(join(directory, 'sessions', '_turn_journal'), 'a');
    expect(journal.events.map(({ event }) => event)).toContain('worker_started');
    if (end === 'a') return;
    expect(folded.continuationSessionId).toBe(end);
    expect(sidecar('a')).toMatchObject({ pre_compression_snapshot: true, active_stream_id: null });
  });

  it('gives a new session its sidecar, its title and an id of the Web UI', () => {
    const id = [...turn({ sessionId: undefined })].at(-1)?.sessionId ?? '';
    expect(id).toMatch(/^[0-9a-f]{12}$/);
    expect(events(id).slice(-5)).toEqual(['done', 'metering', 'title_status', 'title', 'stream_end']);
    expect(sidecar(id)).toMatchObject({ title: 'Tea', llm_title_generated: true, message_count: 7, parent_session_id: null });
    expect(all('SELECT title, source FROM sessions WHERE id = ?', id)).toEqual([{ title: 'Tea', source: 'webui' }]);
  });

  it('writes the metadata of a sidecar before its messages', () => {
    const started = turn();
    for (let step = 0; step < 3; step += 1) started.next();
    const keys = Object.keys(sidecar('a'));
    expect(keys.slice(0, 3)).toEqual(['session_id', 'title', 'workspace']);
    expect(keys.indexOf('active_stream_id')).toBeLessThan(keys.indexOf('message_count'));
    expect(keys.slice(-6)).toEqual([
      'message_count',
      'anchor_scene_index',
      'messages',
      'tool_calls',
      'anchor_activity_scenes',
      'context_messages',
    ]);
    expect(readdirSync(join(directory, 'sessions')).filter((name) => name.includes('.tmp.'))).toEqual([]);
    started.return('');
  });

  it('is cancelled when it is stopped, and ends with an error when its session is taken away', () => {
    const stopped = turn();
    for (let step = 0; step < 20; step += 1) stopped.next();
    stopped.return('');
    expect(events('a').at(-1)).toBe('cancel');
    expect(sidecar('a').active_stream_id).toBeNull();

    const lost = turn({ webUi: new WebUiRun(files, new SeededRandom(4), 'lost') });
    for (let step = 0; step < 20; step += 1) lost.next();
    db.exec("DELETE FROM messages WHERE session_id = 'a'; DELETE FROM sessions WHERE id = 'a'");
    expect(() => [...lost]).toThrow(TurnLost);
    expect(foldedRun({ ...place('a'), runId: 'lost' }).end).toMatchObject({ outcome: 'FAILED' });
  });
});

describe('the player', () => {
  it('plays the Web UI where no chat platform does, and keeps five journals', async () => {
    const store = buildStore({
      rows: [
        S('talk', { source: 'telegram', model: 'nous/hermes-4-405b', message_count: 1 }),
        S('page', { model: 'openai/gpt-5', message_count: 1 }),
        ...['talk', 'page'].map((id) => M(id, { content: 'hi' })),
      ],
    });
    await playTurns(store, { paceMs: 0, turns: 10, webUiDir: directory });
    const sessions = readdirSync(root());
    expect(sessions).not.toContain('talk');
    expect(sidecar('page')).toMatchObject({ is_cli_session: true, raw_source: 'cli', active_stream_id: null });
    const runs = sessions.flatMap((sessionId) => readdirSync(join(root(), sessionId)).map((name) => ({ sessionId, name })));
    expect(runs).toHaveLength(5);
    for (const { sessionId, name } of runs) {
      const run = { root: root(), sessionId, runId: name.replace('.jsonl', '') };
      expect(foldedRun(run).end).toMatchObject({ outcome: 'COMPLETED' });
      expect(statSync(join(root(), sessionId, name)).mode & 0o777).toBe(0o600);
    }
    const shards = readdirSync(join(directory, 'sessions', '_turn_journal')).map((name) => name.replace(/~.*/, ''));
    for (const { sessionId } of runs) expect(shards).toContain(sessionId);
  });

  it('leaves alone a journal that may still grow, until it is an hour old', () => {
    const write = (runId: string, terminal: boolean, ageSeconds: number): string => {
      mkdirSync(join(root(), 's'), { recursive: true });
      const path = files.runs.pathOf({ sessionId: 's', runId });
      writeFileSync(path, `{"version":1,"terminal":${terminal},"payload":{}}\n`);
      utimesSync(path, Date.now() / 1000 - ageSeconds, Date.now() / 1000 - ageSeconds);
      return path;
    };
    const newest = write('newest', true, 1);
    const open = write('open', false, 60);
    const ended = write('ended', true, 70);
    const abandoned = write('abandoned', false, 4000);
    removeOldRuns(files, 1);
    expect([newest, open, ended, abandoned].map(existsSync)).toEqual([true, true, false, false]);
    removeOldRuns(files, 0, Date.now() + 7_200_000);
    expect(readdirSync(root())).toEqual([]);
  });
});
