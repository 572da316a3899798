/**
 * Every operation on stores of every schema that exists: it is done, or refused because the store lacks what it needs; it never stumbles over a
 * column or a table that is not there, and what it leaves is sound (`spec/state-db-writes.md` 0.1, 19).
 */
import { afterEach, describe, expect, it } from 'vitest';
import { storedRow } from '../../../src/state-db/write/stored-row.ts';
import { WriteConnection } from '../../../src/state-db/write/write-connection.ts';
import { WriteRefused } from '../../../src/write-refused.ts';
import type { CommandInput, CommandName } from '../../../src/writing/commands.ts';
import { commandHost, type TestHost } from '../../support/command-host.ts';
import { storeFaults } from '../../support/store-faults.ts';
import { buildStore, M, S, type SchemaVersion } from '../../support/stores.ts';

const SCHEMAS: readonly SchemaVersion[] = [6, 16, 22, 23, 26, '30-early', 30, 31];
/** For a store that has not what the operation is about. */
const LACKING: ReadonlySet<string> = new Set(['SCHEMA_UNSUPPORTED', 'ROUTE_NOT_FOUND', 'NOT_FOUND']);

const hosts: TestHost[] = [];
afterEach(() => {
  for (const host of hosts.splice(0)) host.close();
});

function built(schema: SchemaVersion): string {
  return buildStore({
    schema,
    rows: [
      S('s', { message_count: 3, tool_call_count: 1 }),
      S('p', { ended_at: 150, end_reason: 'compression' }),
      S('c', { parent_session_id: 'p', started_at: 150 }),
      S('idle', { ended_at: 150, end_reason: 'idle' }),
      S('orphan', { ended_at: 150, end_reason: 'compression' }),
      M('s', { content: 'do it' }),
      M('s', { role: 'assistant', content: '[terminal]', tool_calls: '[{"id": "c"}]' }),
      M('s', { role: 'tool', tool_call_id: 'c', content: 'a long result' }),
    ],
  });
}

type Case = { readonly [K in CommandName]: { readonly command: K; readonly input: CommandInput<K> } }[CommandName];

/** The versions are those of the rows of `s`. */
function cases(version: (rowId: string) => string): readonly Case[] {
  const words = [{ role: 'user', content: 'more' }];
  const row = (rowId: string) => ({ rowId, rowVersion: version(rowId) });
  return [
    { command: 'appendMessage', input: { sessionId: 'c', message: { role: 'user', content: 'x' }, lease: null } },
    { command: 'appendMessages', input: { sessionId: 's', messages: words, lease: null } },
    { command: 'acquireTurnLease', input: { sessionId: 's', holder: 'h', ttlSeconds: 10 } },
    { command: 'renewTurnLease', input: { sessionId: 's', holder: 'h', ttlSeconds: 10 } },
    { command: 'releaseTurnLease', input: { holder: 'h' } },
    { command: 'rewindSession', input: { sessionId: 's', turns: 1 } },
    { command: 'rewriteTranscript', input: { sessionId: 's', mode: 'ARCHIVE_DROPPED', messages: words } },
    { command: 'rewriteTranscript', input: { sessionId: 's', mode: 'ACTIVE_ONLY', messages: words, force: true } },
    {
      command: 'rewriteTranscript',
      input: { sessionId: 's', mode: 'DESTRUCTIVE', messages: words, force: true, expectedActiveIds: ['1', '2', '3'] },
    },
    {
      command: 'pruneRows',
      input: { sessionId: 's', changes: [{ ...row('3'), content: 'short' }], modelConfigPatch: { k: 1 }, lease: null },
    },
    { command: 'editUserMessage', input: { ...row('1'), content: 'do that', lease: null } },
    { command: 'deactivateMessage', input: { ...row('1'), lease: null } },
    { command: 'setApiContent', input: { sessionId: 's', rowId: '1', content: 'do it', apiContent: 'wire' } },
    { command: 'setMessageReaction', input: { sessionId: 's', rowId: '2', desired: '👍', author: 'user' } },
    { command: 'takeUnseenReactions', input: { sessionId: 's' } },
    { command: 'patchSessionConfig', input: { sessionId: 's', patch: { k: 1 } } },
    { command: 'deliverDelegationResult', input: { sessionId: 's', delegationId: 'd', notice: null, content: 'done', suppressed: false } },
    { command: 'cleanMarkers', input: { backup: false, expectedRowIds: null } },
    {
      command: 'createSession',
      input: {
        id: 'n',
        source: 'cli',
        model: 'm',
        parentSessionId: 'p',
        title: 'Tea',
        cwd: null,
        kind: 'ROOT',
        modelConfig: { a: 1 },
        systemPrompt: 'x',
      },
    },
    { command: 'endSession', input: { sessionId: 's', reason: 'session_reset' } },
    { command: 'markSessionReset', input: { sessionId: 's', reason: 'daily' } },
    { command: 'reopenSession', input: { sessionId: 'idle', explicitCloseOnly: false, expectedEndReason: null } },
    { command: 'reopenOrphanedCompressionParent', input: { sessionId: 'orphan' } },
    { command: 'finalizeOrphanedCompressions', input: {} },
    { command: 'setSessionTitle', input: { sessionId: 's', title: 'Tea', source: 'user', expected: null } },
    { command: 'setSessionArchived', input: { sessionId: 's', archived: true, expectedCascade: null } },
    { command: 'setSessionFlags', input: { sessionId: 's', pinned: true, hidden: null, read: null } },
    { command: 'deleteSession', input: { sessionId: 'p', scope: 'LINEAGE', expectedDeleteIds: null, onlyIfEmpty: false } },
    { command: 'deleteSessions', input: { ids: ['s'], expectedDeleteIds: null } },
    { command: 'deleteEmptySessions', input: { expectedDeleteIds: null } },
    { command: 'clearSession', input: { sessionId: 's', confirm: true } },
    { command: 'pruneSessions', input: { filter: 'INACTIVE', olderThanDays: 0, source: null, closeStale: true, expectedIds: null } },
    { command: 'archiveStaleSessions', input: { idleDays: 0, expectedIds: null } },
    { command: 'healCompressionRoute', input: { sessionKey: 'k', expectedSessionId: 'p', scope: null } },
    { command: 'importSessions', input: { sessions: [{ id: 'i', messages: words }] } },
  ] as readonly Case[];
}

function versionsOf(path: string): (rowId: string) => string {
  const connection = WriteConnection.open(path);
  try {
    const versions = new Map(['1', '2', '3'].map((rowId) => [rowId, storedRow(connection, rowId)?.version ?? '']));
    return (rowId) => versions.get(rowId) ?? '';
  } finally {
    connection.close();
  }
}

describe.each(SCHEMAS)('a store of schema %s', (schema) => {
  it('takes every operation, or refuses it for what it lacks', async () => {
    const outcomes: string[] = [];
    for (const index of cases(() => '').keys()) {
      const path = built(schema);
      const one = cases(versionsOf(path))[index];
      if (one === undefined) continue;
      const { command, input } = one;
      const host = commandHost(path, { now: 1_700_000_000 });
      hosts.push(host);
      for (const dryRun of [true, false]) {
        const outcome = await host.run(command, input as never, { dryRun: dryRun && command !== 'appendMessage' }).then(
          () => 'done',
          (error: unknown) => (error instanceof WriteRefused ? error.code : String(error)),
        );
        outcomes.push(outcome);
        if (outcome !== 'done' && !(command === 'renewTurnLease' && outcome === 'TURN_LEASE_LOST')) {
          expect(LACKING, `${command}, dry run ${dryRun}: ${outcome}`).toContain(outcome);
        }
      }
      host.close();
      expect(storeFaults(path), command).toEqual([]);
    }
    // What every store can.
    expect(outcomes.filter((outcome) => outcome === 'done').length).toBeGreaterThan(30);
  });
});
