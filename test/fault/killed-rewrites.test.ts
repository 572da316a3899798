/**
 * Rewinds, restores and rewrites that are killed before every statement (`spec/state-db-writes.md` K17 to K20): the store is as it was or as
 * it was to be, never in between, and a repeat with the same id ends in what one undisturbed run ends in.
 */
import { copyFileSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, vi } from 'vitest';
import { END, SUM } from '../../src/state-db/summary-markers.ts';
import type { CommandInput, CommandName } from '../../src/writing/commands.ts';
import { commandHost } from '../support/command-host.ts';
import { copyOf, killedWrite } from '../support/killed-writer.ts';
import { someAtOnce } from '../support/program-start.ts';
import { storeFaults } from '../support/store-faults.ts';
import { buildStore, M, S } from '../support/stores.ts';

vi.setConfig({ testTimeout: 120_000 });

const ID = 'the-id';

function built(): string {
  const rows = [
    S('s', { message_count: 4 }),
    M('s', { content: 'old', active: 0, compacted: 1 }),
    M('s', { role: 'assistant', content: 'kept' }),
    M('s', { content: `${SUM}body ${END} ask`, _compressed_summary: 1 }),
    M('s', { role: 'assistant', content: null, tool_calls: '[{"id": "c"}]' }),
    M('s', { role: 'tool', tool_call_id: 'c', content: 'result' }),
  ];
  return buildStore({ schema: 31, rows });
}

/** All but what is made up anew in each run. */
function picture(path: string): unknown {
  const db = new Database(path);
  try {
    const messages = db.prepare('SELECT id, role, content, timestamp, active, compacted, display_order FROM messages ORDER BY id').all();
    return { messages, sessions: db.prepare('SELECT id, message_count, tool_call_count, rewind_count FROM sessions').all() };
  } finally {
    db.close();
  }
}

function copyWithReceipts(path: string): string {
  const copy = copyOf(path);
  const receipts = join(dirname(path), 'receipts.db');
  if (existsSync(receipts)) copyFileSync(receipts, join(dirname(copy), 'receipts.db'));
  return copy;
}

async function run<K extends CommandName>(path: string, command: K, input: CommandInput<K>, id: string): Promise<unknown> {
  const host = commandHost(path);
  try {
    return await host.run(command, input, { clientMutationId: id });
  } finally {
    host.close();
  }
}

async function survives<K extends CommandName>(start: string, command: K, input: CommandInput<K>): Promise<void> {
  const before = picture(start);
  const undisturbed = copyWithReceipts(start);
  const write = { command, input, clientMutationId: ID };
  const statements = (await killedWrite({ ...write, path: undisturbed, killAt: null })) ?? 0;
  const done = picture(undisturbed);
  expect(statements).toBeGreaterThan(10);
  expect(done).not.toEqual(before);
  const seen = { before: 0, done: 0 };
  await someAtOnce([...Array.from({ length: statements }, (_, index) => index + 1), 'REPLY' as const], async (killAt) => {
    const path = copyWithReceipts(start);
    await killedWrite({ ...write, path, killAt });
    expect(storeFaults(path)).toEqual([]);
    const after = picture(path);
    const isDone = JSON.stringify(after) === JSON.stringify(done);
    seen[isDone ? 'done' : 'before'] += 1;
    if (!isDone) expect(after).toEqual(before);
    if (killAt === 'REPLY') expect(isDone).toBe(true);
    const answer = await run(path, command, input, ID);
    expect(picture(path)).toEqual(done);
    expect(storeFaults(path, ['s'])).toEqual([]);
    expect(await run(path, command, input, ID)).toEqual(answer);
    expect(picture(path)).toEqual(done);
  });
  // Both sides of the commit were met.
  expect(seen.before).toBeGreaterThan(5);
  expect(seen.done).toBeGreaterThan(0);
}

describe('a writer that is killed', () => {
  it('T92: K19, K20: in a rewind undoes the turn once, whoever asks again', async () => {
    await survives(built(), 'rewindSession', { sessionId: 's', turns: 1 });
  });

  it('in the restoring of a rewind restores it once', async () => {
    const start = built();
    await run(start, 'rewindSession', { sessionId: 's', turns: 1 }, 'rewind');
    await survives(start, 'restoreRewind', { receipt: 'rewind', leaseToken: null });
  });

  it.each(['ARCHIVE_DROPPED', 'ACTIVE_ONLY', 'DESTRUCTIVE'] as const)(
    'F33: K17, K18: in a rewrite (%s) leaves the old transcript or the new one',
    async (mode) => {
      const messages = [
        { role: 'assistant', content: 'kept' },
        { role: 'user', content: 'new', timestamp: 7 },
      ];
      const expectedActiveIds = ['2', '3', '4', '5'];
      await survives(built(), 'rewriteTranscript', { sessionId: 's', mode, messages, force: true, expectedActiveIds });
    },
  );
});
