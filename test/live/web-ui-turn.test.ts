/** The commanded Web UI of `test/support`: what it leaves on disk is what the readers of this server expect. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventsOfRun, pidOfRun, readTurnJournal } from '../../src/live/journal/turn-journal.ts';
import { foldedRun, recordsOf } from '../support/folded-run.ts';
import { removeStores, temporaryFolder } from '../support/stores.ts';
import { type PlayOptions, startWebUi, type WebUi } from '../support/web-ui-turn.ts';

let home: string;
let ui: WebUi;
let db: Database.Database;

beforeEach(async () => {
  home = temporaryFolder();
  ui = await startWebUi({ home });
  db = new Database(ui.statePath, { readonly: true });
});
afterEach(async () => {
  db.close();
  await ui.kill();
});
afterAll(removeStores);

const all = (sql: string, ...values: unknown[]): Record<string, unknown>[] =>
  db.prepare<unknown[], Record<string, unknown>>(sql).all(...values);
const sidecar = (id: string): Record<string, unknown> => JSON.parse(readFileSync(join(ui.sessions, `${id}.json`), 'utf8'));
const turnJournal = (id: string) => readTurnJournal(join(ui.sessions, '_turn_journal'), id);
const fold = (sessionId: string, runId: string) => foldedRun({ root: join(ui.sessions, '_run_journal'), sessionId, runId });

describe('single steps', () => {
  it('make a turn that journal, rows, sidecar and turn journal tell alike', async () => {
    await ui.createSession('s', { title: 'Tea', rows: [{ role: 'user', content: 'earlier' }] });
    await ui.submit({ sessionId: 's', runId: 'r', text: 'hi' });
    expect(sidecar('s')).toMatchObject({ title: 'Tea', active_stream_id: 'r', pending_user_message: 'hi', message_count: 1 });
    const { ino } = statSync(join(ui.sessions, 's.json'));
    expect(await ui.lease('s', 'acquire')).toBe(true);
    expect(all('SELECT conversation_id, holder FROM session_turn_leases')).toEqual([
      { conversation_id: 's', holder: expect.stringContaining(`pid=${ui.pid}:turn=`) },
    ]);
    await ui.rows('s', [{ role: 'user', content: 'hi' }]);
    expect(await ui.heartbeat('s', 'starting API call #1')).toBe(true);
    expect(
      await ui.journal('s', 'r', [
        { event: 'token', payload: { text: 'I ' } },
        { event: 'token', payload: { text: 'look.' } },
      ]),
    ).toBe(2);
    const calls = ['a', 'b'].map((id) => ({ id, name: 'terminal', args: { command: 'ls' } }));
    const [row] = await ui.rows('s', [{ role: 'assistant', content: 'I look.', toolCalls: calls }]);
    await ui.journal('s', 'r', [
      { event: 'interim_assistant', payload: { text: 'I look.', already_streamed: true } },
      { event: 'tool', payload: { name: 'terminal', args: {}, tid: 'a' } },
      { event: 'tool', payload: { name: 'terminal', args: {}, tid: 'b' } },
    ]);
    const results = ['a', 'b'].map((id) => ({ role: 'tool' as const, content: 'x', toolCallId: id, toolName: 'terminal' }));
    expect(await ui.rows('s', results)).toEqual([Number(row) + 1, Number(row) + 2]);
    await ui.journal('s', 'r', [{ event: 'tool_complete', payload: { name: 'terminal', tid: 'a', is_error: false } }]);
    await ui.lease('s', 'release');
    await ui.settle({ sessionId: 's', runId: 'r' });
    expect(sidecar('s')).toMatchObject({ active_stream_id: null, pending_user_message: null, message_count: 5 });
    expect(statSync(join(ui.sessions, 's.json')).ino).not.toBe(ino);
    await ui.journal('s', 'r', [
      { event: 'done', payload: { session: {} } },
      { event: 'stream_end', payload: { session_id: 's' } },
    ]);

    expect(fold('s', 'r')).toMatchObject({ lastSeq: 8, segments: [{ text: 'I look.' }], end: { outcome: 'COMPLETED', event: 'done' } });
    expect(all("SELECT message_count, tool_call_count FROM sessions WHERE id = 's'")).toEqual([{ message_count: 5, tool_call_count: 2 }]);
    const { events, malformed } = await turnJournal('s');
    expect(malformed).toEqual([]);
    // `assistant_started` is written late and bears the time of its message.
    expect(events.map(({ event }) => event)).toEqual(['submitted', 'worker_started', 'assistant_started', 'completed']);
    expect(new Set(events.map(({ turnId }) => turnId)).size).toBe(1);
    expect(pidOfRun(events, 'r')).toBe(ui.pid);
  });

  it('record the intent of a regeneration before the sidecar, and leave a relayed run without an end', async () => {
    await ui.createSession('s', { title: 'Tea' });
    await ui.submit({ sessionId: 's', runId: 'r', text: 'again', order: 'TURN_JOURNAL_FIRST', worker: false });
    await ui.settle({ sessionId: 's', runId: 'r', relayed: true });
    expect((await turnJournal('s')).events.map(({ event }) => event)).toEqual(['submitted']);
    expect(sidecar('s').active_stream_id).toBeNull();
  });

  it('cancel: the marker is in the sidecar before the journal says anything', async () => {
    await ui.createSession('s');
    await ui.submit({ sessionId: 's', runId: 'r', text: 'hi' });
    await ui.journal('s', 'r', [{ event: 'token', payload: { text: 'a' } }]);
    await ui.settle({ sessionId: 's', runId: 'r', cancelled: true });
    expect(sidecar('s')).toMatchObject({ active_stream_id: null, messages: [{ role: 'assistant', _error: true, type: 'cancelled' }] });
    expect((await turnJournal('s')).events.at(-1)).toMatchObject({ event: 'interrupted', terminal: true, fields: { reason: 'cancelled' } });
    expect(fold('s', 'r').end).toBeNull();
  });

  it('rotate in one commit, and settle in the child under a turn id of its own', async () => {
    const [first = 0] = await ui.createSession('s', { title: 'Tea', rows: [{ role: 'user', content: 'hi' }] });
    await ui.submit({ sessionId: 's', runId: 'r', text: 'go on' });
    const ids = await ui.rotate('s', 'c', { handoff: [{ role: 'user', content: 'in short' }], cloneFrom: first });
    expect(all("SELECT id, content FROM messages WHERE session_id = 'c' ORDER BY id")).toEqual([
      { id: ids[0], content: 'in short' },
      { id: ids[1], content: 'hi' },
    ]);
    expect(all("SELECT end_reason FROM sessions WHERE id = 's'")).toEqual([{ end_reason: 'compression' }]);
    await ui.rows('c', [{ role: 'assistant', content: 'done' }]);
    await ui.settle({ sessionId: 's', runId: 'r', childId: 'c' });
    expect(sidecar('s')).toMatchObject({ active_stream_id: null, pre_compression_snapshot: true });
    expect(sidecar('c')).toMatchObject({ active_stream_id: null, parent_session_id: 's', title: 'Tea', message_count: 2 });
    const events = [...(await turnJournal('s')).events, ...(await turnJournal('c')).events];
    expect(eventsOfRun(events, 'r')).toHaveLength(4);
    expect(new Set(events.map(({ turnId }) => turnId)).size).toBe(2);
  });

  it('compact in place, rewind, restore and replace with counters that agree', async () => {
    const ids = await ui.createSession('s', { rows: ['a', 'b', 'c', 'd'].map((content) => ({ role: 'user', content })) });
    const [, , third = 0, fourth = 0] = ids;
    const { handoff, carried } = await ui.compact('s', { handoff: 'in short', carryFrom: third });
    expect(carried.map(([from]) => from)).toEqual([third, fourth]);
    const flags = all("SELECT active, compacted FROM messages WHERE session_id = 's' ORDER BY id").map((row) => Object.values(row).join());
    expect(flags).toEqual(['0,1', '0,1', '0,0', '0,0', '1,0', '1,0', '1,0']);
    const identities = all(
      "SELECT content FROM messages WHERE session_id = 's' GROUP BY display_identity HAVING COUNT(*) = 2 ORDER BY content",
    );
    expect(identities).toEqual([{ content: 'c' }, { content: 'd' }]);
    expect(all("SELECT message_count FROM sessions WHERE id = 's'")).toEqual([{ message_count: 3 }]);
    const last = carried.map(([, to]) => to);
    expect(await ui.rewind('s', last[0] ?? 0)).toEqual(last);
    expect(all("SELECT id FROM messages WHERE session_id = 's' AND active = 1")).toEqual(handoff.map((id) => ({ id })));
    await ui.restore('s', last);
    const [only] = await ui.replace('s', [{ role: 'user', content: 'all' }]);
    expect(all("SELECT id FROM messages WHERE session_id = 's' AND active = 1")).toEqual([{ id: only }]);
    expect(all("SELECT message_count, rewind_count FROM sessions WHERE id = 's'")).toEqual([{ message_count: 1, rewind_count: 1 }]);
  });

  it('delete a session with its files; a run that goes on makes its journal anew and counts from 1', async () => {
    await ui.createSession('s', { rows: [{ role: 'user', content: 'hi' }] });
    await ui.submit({ sessionId: 's', runId: 'r', text: 'go on' });
    await ui.journal('s', 'r', [
      { event: 'token', payload: { text: 'a' } },
      { event: 'token', payload: { text: 'b' } },
    ]);
    await ui.deleteSession('s');
    expect(readdirSync(ui.sessions).sort()).toEqual(['_run_journal', '_turn_journal']);
    expect(all('SELECT 1 FROM messages UNION ALL SELECT 1 FROM sessions')).toEqual([]);
    expect(await ui.journal('s', 'r', [{ event: 'token', payload: { text: 'c' } }])).toBe(1);
  });

  it('make what goes wrong: a number without a line, a line in two parts, a lock that runs out', async () => {
    await ui.createSession('s');
    await ui.hole('s', 'r', 2);
    await ui.torn('s', 'r', { event: 'token', payload: { text: 'a' } }, 30, 10);
    await ui.journal('s', 'r', [{ event: 'token', payload: { text: 'b' }, seq: 9 }, { event: 'token' }], { stamp: true, afterMs: 2 });
    const records = recordsOf({ root: join(ui.sessions, '_run_journal'), sessionId: 's', runId: 'r' });
    expect(records.map(({ seq }) => seq)).toEqual([3, 9, 10]);
    expect(Math.abs(Number(records[1]?.payload.at) - Date.now())).toBeLessThan(10_000);
    await ui.lock('s', 'acquire', 5);
    expect(all('SELECT session_id, expires_at FROM compression_locks')).toEqual([{ session_id: 's', expires_at: 5 }]);
    await ui.lock('s', 'release');
    expect(all('SELECT 1 FROM compression_locks')).toEqual([]);
    await ui.sidecar('s', { active_stream_id: 'other' });
    expect(sidecar('s')).toMatchObject({ active_stream_id: 'other', title: 'Untitled' });
  });

  it('own the store of another profile, beside the files of the home', async () => {
    const other = await startWebUi({ home, profile: 'work', schema: 26 });
    await other.createSession('w');
    expect(sidecar('w').profile).toBe('work');
    expect(existsSync(join(home, 'profiles', 'work', 'state.db'))).toBe(true);
    await other.close();
  });

  it('reject with what the store says, and go on', async () => {
    await ui.createSession('s');
    await expect(ui.createSession('s')).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT_PRIMARYKEY' });
    await expect(ui.rows('nobody', [{ role: 'user', content: 'hi' }])).rejects.toThrow('session nobody is gone');
    expect(await ui.rows('s', [{ role: 'user', content: 'hi' }])).toHaveLength(1);
  });
});

describe('a played turn', () => {
  it.each<[string, PlayOptions]>([
    ['in one session', {}],
    ['with a rotation', { compress: 'ROTATE' }],
    ['with a compaction', { compress: 'COMPACT' }],
  ])('%s: each text of the journal is the text of a row', async (_, options) => {
    await ui.createSession('s', { title: 'Tea', rows: [{ role: 'user', content: 'earlier' }] });
    const played = await ui.play('s', { seed: 7, rounds: 3, words: 12, beatMs: 1, ...options });
    const turn = fold('s', played.runId);
    const rows = all(
      "SELECT content, reasoning FROM messages WHERE session_id IN ('s', ?) AND role = 'assistant' GROUP BY timestamp ORDER BY timestamp",
      played.sessionId,
    );
    expect(rows.map(({ content }) => content)).toEqual(played.texts);
    expect(turn.segments.map(({ text }) => text)).toEqual(played.texts.filter((text) => text !== ''));
    expect(turn.reasoning.map(({ text }) => text)).toEqual(played.reasonings);
    expect(turn).toMatchObject({ lastSeq: played.lastSeq, end: { outcome: 'COMPLETED' } });
    expect(all('SELECT 1 FROM session_turn_leases UNION ALL SELECT 1 FROM compression_locks')).toEqual([]);
    expect(played.sessionId === 's').toBe(options.compress !== 'ROTATE');
    expect(sidecar(played.sessionId)).toMatchObject({ active_stream_id: null });
    // The next turn goes on at the tip.
    const next = await ui.play('s', { seed: 8, rounds: 1, words: 4, beatMs: 1 });
    expect(next.sessionId).toBe(played.sessionId);
  });

  it('stopped on the way: the sidecar is cleared and the journal ends with its cancel', async () => {
    await ui.createSession('s', { rows: [{ role: 'user', content: 'earlier' }] });
    const played = await ui.play('s', { cancelAfter: 20, beatMs: 1 });
    expect(fold('s', played.runId).end).toMatchObject({ outcome: 'CANCELLED' });
    expect(sidecar('s')).toMatchObject({ active_stream_id: null });
    expect(all('SELECT 1 FROM session_turn_leases')).toEqual([]);
  });

  it('killed on the way: everything stays as it was, and another process goes on', async () => {
    await ui.createSession('s', { rows: [{ role: 'user', content: 'earlier' }] });
    const playing = ui.play('s', { runId: 'r', beatMs: 200, words: 200 }).catch((error: unknown) => error);
    const journal = join(ui.sessions, '_run_journal', 's', 'r.jsonl');
    while (!existsSync(journal)) await new Promise((resolve) => setTimeout(resolve, 5));
    await ui.kill();
    expect(String(await playing)).toContain('SIGKILL');
    expect(sidecar('s').active_stream_id).toBe('r');
    ui = await startWebUi({ home });
    await ui.createSession('t');
    expect((await ui.play('t', { beatMs: 0, rounds: 0, words: 2 })).sessionId).toBe('t');
  });
});
