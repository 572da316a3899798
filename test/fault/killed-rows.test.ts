/**
 * Changes of rows that are killed before every statement (`spec/state-db-writes.md` K2 to K4, K21 to K23): the store is as it was or as it was to
 * be, never in between, and a repeat with the same id ends in what one undisturbed run ends in.
 */
import { copyFileSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, vi } from 'vitest';
import { storedRow } from '../../src/state-db/write/stored-row.ts';
import { WriteConnection } from '../../src/state-db/write/write-connection.ts';
import type { CommandInput, CommandName } from '../../src/writing/commands.ts';
import { commandHost } from '../support/command-host.ts';
import { copyOf, killedWrite } from '../support/killed-writer.ts';
import { someAtOnce } from '../support/program-start.ts';
import { storeFaults } from '../support/store-faults.ts';
import { buildStore, M, S } from '../support/stores.ts';

vi.setConfig({ testTimeout: 120_000 });

const ID = 'the-id';
const MESSAGES = `SELECT id, role, content, timestamp, active, compacted, api_content, display_metadata, display_order AS slot,
  lower(hex(display_identity)) AS identity FROM messages ORDER BY id`;

function built(): string {
  return buildStore({
    schema: 31,
    rows: [
      S('s', { message_count: 4, tool_call_count: 1, model_config: '{"_branched_from": "x"}' }),
      M('s', { content: 'do it', api_content: 'do it, really' }),
      M('s', { role: 'assistant', content: '[terminal]', tool_calls: '[{"id": "c"}]' }),
      M('s', { role: 'tool', tool_call_id: 'c', content: 'a long result' }),
      M('s', { content: 'thanks', display_metadata: '{"reactions": [{"emoji": "a", "author": "user", "at": 5}]}' }),
    ],
  });
}

function versionOf(path: string, rowId: string): string {
  const connection = WriteConnection.open(path);
  try {
    return storedRow(connection, rowId)?.version ?? '';
  } finally {
    connection.close();
  }
}

/** All but what is made up anew in each run. */
function picture(path: string): unknown {
  const db = new Database(path);
  try {
    return {
      messages: db.prepare(MESSAGES).all(),
      sessions: db.prepare('SELECT id, message_count, tool_call_count, model_config FROM sessions').all(),
    };
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

async function run<K extends CommandName>(path: string, command: K, input: CommandInput<K>): Promise<unknown> {
  const host = commandHost(path);
  try {
    return await host.run(command, input, { clientMutationId: ID });
  } finally {
    host.close();
  }
}

async function survives<K extends CommandName>(start: string, command: K, input: CommandInput<K>): Promise<void> {
  const before = picture(start);
  const write = { command, input, clientMutationId: ID };
  const undisturbed = copyWithReceipts(start);
  const statements = (await killedWrite({ ...write, path: undisturbed, killAt: null })) ?? 0;
  const done = picture(undisturbed);
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
    const answer = await run(path, command, input);
    expect(picture(path)).toEqual(done);
    expect(await run(path, command, input)).toEqual(answer);
    expect(picture(path)).toEqual(done);
  });
  // Both sides of the commit were met.
  expect(seen.before).toBeGreaterThan(2);
  expect(seen.done).toBeGreaterThan(0);
}

describe('a writer that is killed', () => {
  it('T115, K21, K22, K23: in a prune leaves every row as it was, or all rewritten with one twin each', async () => {
    const start = built();
    const changes = ['2', '3'].map((rowId) => ({ rowId, rowVersion: versionOf(start, rowId), content: 'short' }));
    await survives(start, 'pruneRows', { sessionId: 's', changes, modelConfigPatch: { k: 1 }, lease: null });
  });

  it('K2, K3, K4: in a batch leaves nothing or all of it, once', async () => {
    const messages = [
      { role: 'assistant', tool_calls: [{ id: 'd' }], timestamp: 50 },
      { role: 'tool', content: 'r', tool_call_id: 'd', timestamp: 51 },
    ];
    await survives(built(), 'appendMessages', { sessionId: 's', messages, lease: null });
  });

  it('in an edit leaves the old words or the new ones', async () => {
    const start = built();
    await survives(start, 'editUserMessage', { rowId: '1', rowVersion: versionOf(start, '1'), content: 'do that', lease: null });
  });

  it('while it takes a message out leaves it in or out, with counters that agree', async () => {
    const start = built();
    await survives(start, 'deactivateMessage', { rowId: '4', rowVersion: versionOf(start, '4'), lease: null });
  });

  it('while it cleans markers leaves all or none', async () => {
    await survives(built(), 'cleanMarkers', { backup: false, expectedRowIds: null });
  });

  it('while reactions are taken gives them once more to the same id, and to nobody else', async () => {
    await survives(built(), 'takeUnseenReactions', { sessionId: 's' });
  });
});
