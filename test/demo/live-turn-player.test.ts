import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { playTurns } from '../../src/demo/live-turn-player.ts';
import { buildStore, M, removeStores, S, T } from '../support/stores.ts';

let path: string;
let db: Database.Database;

beforeEach(() => {
  path = buildStore({ rows: [S('a', { model: 'openai/gpt-5', message_count: 1 }), M('a', { content: 'hello' })] });
  db = new Database(path, { readonly: true });
});
afterEach(() => db.close());
afterAll(removeStores);

const all = (sql: string): unknown[] => db.prepare(sql).all();
const leases = (): unknown[] => all('SELECT conversation_id FROM session_turn_leases');

describe('the player', () => {
  it('plays every kind of turn, in sessions that nobody is busy with', async () => {
    const busy = [
      S('busy', { started_at: 900, message_count: 1 }),
      S('waits', { started_at: 800, message_count: 1 }),
      S('free', { started_at: 700, message_count: 1 }),
    ];
    const store = buildStore({
      rows: [
        ...busy,
        ...['busy', 'waits', 'free'].map((id) => M(id, { content: 'hi' })),
        T('session_turn_leases', { conversation_id: 'busy', holder: 'pid=1', acquired_at: 1, expires_at: 4e9 }),
        T('async_delegations', {
          delegation_id: 'd',
          origin_session: 'k',
          parent_session_id: 'waits',
          state: 'running',
          dispatched_at: 1,
          updated_at: 1,
        }),
      ],
    });
    await playTurns(store, { paceMs: 0, turns: 6 });
    const played = new Database(store);
    expect(played.prepare("SELECT id FROM sessions WHERE id IN ('busy', 'waits') AND message_count > 1").all()).toEqual([]);
    expect(played.prepare("SELECT end_reason FROM sessions WHERE id = 'free'").pluck().get()).toBe('compression');
    expect(played.prepare("SELECT COUNT(*) FROM sessions WHERE source = 'telegram'").pluck().get()).toBe(1);
    expect(played.prepare("SELECT end_reason FROM sessions WHERE title = 'A timer for the bread'").pluck().get()).toBe('cli_close');
    expect(played.prepare("SELECT COUNT(*) FROM session_turn_leases WHERE holder <> 'pid=1'").pluck().get()).toBe(0);
    played.close();
  });
});

describe('the program', () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  });

  function start(...args: string[]): ChildProcess {
    const child = fork(new URL('../../src/demo/live-turn-player.ts', import.meta.url), args, {
      execArgv: [],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    children.push(child);
    return child;
  }

  async function untilRowsOver(minimum: number): Promise<void> {
    const deadline = Date.now() + 10_000;
    while (Number(db.prepare('SELECT COUNT(*) FROM messages').pluck().get()) <= minimum) {
      if (Date.now() > deadline) throw new Error('nothing was played');
      await sleep(20);
    }
  }

  it('ends after its turns, in the session that it was told', async () => {
    const [code] = await once(start(path, '--session', 'a', '--pace-ms', '0', '--turns', '2'), 'exit');
    expect(code).toBe(0);
    expect(all('SELECT id FROM sessions')).toEqual([{ id: 'a' }]);
    expect(Number(db.prepare('SELECT message_count FROM sessions').pluck().get())).toBeGreaterThan(8);
  });

  it.each(['SIGTERM', 'disconnect'] as const)('ends at %s and gives its lease back', async (how) => {
    const child = start(path, '--session', 'a', '--pace-ms', '300');
    await untilRowsOver(1);
    expect(leases()).toEqual([{ conversation_id: 'a' }]);
    const exit = once(child, 'exit');
    if (how === 'disconnect') child.disconnect();
    else child.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
    expect(leases()).toEqual([]);
  });

  it('ends when the process of --parent-pid is gone', async () => {
    const parent = fork(new URL('../support/writer-process.ts', import.meta.url), [path], { execArgv: [] });
    children.push(parent);
    const child = start(path, '--session', 'a', '--pace-ms', '100', '--parent-pid', String(parent.pid));
    await untilRowsOver(1);
    parent.kill('SIGKILL');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(leases()).toEqual([]);
  });

  it('says how it is used', async () => {
    const child = start('--turns', 'many');
    const [text] = (await once(child.stderr as NodeJS.ReadableStream, 'data')) as [Buffer];
    expect(String(text)).toMatch(/^Usage: /);
    expect(child.exitCode ?? (await once(child, 'exit'))[0]).toBe(2);
  });
});
