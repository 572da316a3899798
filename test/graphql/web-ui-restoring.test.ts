/** Lost and shrunken session files, and exhausted sessions, as a user meets them over HTTP. */
import { existsSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TestServer } from '../support/server.ts';
import { type Fields, saveSidecar, sidecarPath, sidecarText } from '../support/sidecars.ts';
import { M, type Row, S } from '../support/stores.ts';
import { everythingIn } from '../support/web-ui-folder.ts';
import { fileFields, MESSAGES, mutate, startWebUi } from '../support/web-ui-server.ts';

const TOMBSTONES = '_deleted_webui_sessions.json';
const FOUR: readonly Row[] = [
  S('x', { source: 'webui', title: 'Tea' }),
  M('x', { content: 'one' }),
  M('x', { role: 'assistant', content: '', tool_calls: '[{"id":"c1","type":"function","function":{"name":"terminal","arguments":"{}"}}]' }),
  M('x', { role: 'tool', content: 'two', tool_call_id: 'c1', tool_name: 'terminal' }),
  M('x', { role: 'assistant', content: 'three' }),
  M('x', { content: 'undone', active: 0 }),
];
const RENAME = { sessionId: 'x', title: 'Coffee' };

async function sessionOf(server: TestServer, fields: string, sessionId = 'x'): Promise<Fields | null> {
  const query = `query ($sessionId: String!) { session(sessionId: $sessionId) { ${fields} } }`;
  return (await server.read<{ session: Fields | null }, { sessionId: string }>(query, { sessionId })).session;
}

async function gone(server: TestServer, sessionId: string): Promise<unknown> {
  const query = 'query ($sessionId: String!) { sessionGone(sessionId: $sessionId) { sessionId reason } }';
  return (await server.read<{ sessionGone: unknown }, { sessionId: string }>(query, { sessionId })).sessionGone;
}

const SEEN = 'origins sidecarMissing title messages { totalCount } backing { sidecar }';

describe('F25: reads say yes, writes say no', () => {
  it('F25: a lost file is shown from the store, told by the audit, made anew after a dry run, and can be renamed then', async () => {
    const server = await startWebUi({ rows: FOUR });
    expect(await sessionOf(server, SEEN)).toMatchObject({ origins: ['STATE_DB'], sidecarMissing: true, messages: { totalCount: 4 } });
    expect(await gone(server, 'x')).toBeNull();
    expect(await mutate(server, 'updateSession', RENAME)).toMatchObject({ code: 'SIDECAR_MISSING', details: { materialisable: true } });
    const audit = '{ webUiAudit { status items { sessionId kind recommendation } } }';
    const found = { sessionId: 'x', kind: 'STATE_DB_MISSING_SIDECAR', recommendation: 'MATERIALIZE_FROM_STATE_DB' };
    expect(await server.read(audit)).toEqual({ webUiAudit: { status: 'WARN', items: [found] } });

    const before = everythingIn(server.sessionsDir);
    const fields = 'materialized sessions { sessionId outcome reason messageCount session { sidecarMissing } }';
    const dry = await mutate(server, 'materializeSidecars', { dryRun: true }, fields);
    expect(dry).toMatchObject({
      materialized: 1,
      sessions: [{ sessionId: 'x', outcome: 'MATERIALIZED', reason: null, messageCount: 4, session: { sidecarMissing: true } }],
    });
    expect(everythingIn(server.sessionsDir)).toEqual(before);
    expect(await mutate(server, 'materializeSidecars', { ids: ['x'] }, fields)).toMatchObject({
      materialized: 1,
      sessions: [{ outcome: 'MATERIALIZED', session: { sidecarMissing: false } }],
    });
    expect(fileFields(server, 'x')).toMatchObject({ messages: [{}, { tool_calls: [{ id: 'c1' }] }, { tool_call_id: 'c1' }, {}] });

    expect(await mutate(server, 'updateSession', RENAME, 'changed session { title }')).toMatchObject({ changed: true });
    expect(await sessionOf(server, SEEN)).toMatchObject({ sidecarMissing: false, title: 'Coffee', backing: { sidecar: true } });
    expect(await server.read('{ session(sessionId: "x") { transcript { messages { text } } } }')).toMatchObject({
      session: { transcript: { messages: [{ text: 'one' }, {}, {}, { text: 'three' }] } },
    });
    expect(await mutate(server, 'materializeSidecars', { ids: ['x'] }, fields)).toMatchObject({
      materialized: 0,
      sessions: [{ outcome: 'SKIPPED', reason: 'FILE_EXISTS' }],
    });
  });

  it('F25: one that was deleted is gone for queries and for mutations', async () => {
    const server = await startWebUi({ rows: [...FOUR, S('t', { source: 'telegram' }), M('t')] });
    writeFileSync(join(server.sessionsDir, TOMBSTONES), '{"version": 1, "ids": ["x", "t"]}');
    writeFileSync(join(server.sessionsDir, '_index.json'), '[{"session_id": "ghost", "source_tag": "webui", "updated_at": 1}]');
    expect(await sessionOf(server, SEEN)).toBeNull();
    const { sessions } = await server.read<{ sessions: { nodes: { id: string; sessionId: string }[] } }, object>(
      '{ sessions(filter: { includeUnlisted: true }) { nodes { id sessionId } } }',
    );
    const id = sessions.nodes.find(({ sessionId }) => sessionId === 'x')?.id;
    expect(await server.read('query ($id: ID!) { node(id: $id) { id } }', { id })).toEqual({ node: null });
    expect(await server.read('{ resolveSession(reference: "x") { sessionId } }')).toEqual({ resolveSession: null });
    expect(await gone(server, 'x')).toEqual({ sessionId: 'x', reason: 'DELETED' });
    expect(await gone(server, 'ghost')).toEqual({ sessionId: 'ghost', reason: 'SIDECAR_MISSING' });
    expect(await gone(server, 'nobody')).toBeNull();
    expect(await mutate(server, 'updateSession', RENAME)).toMatchObject({ code: 'NOT_FOUND', details: { reason: 'DELETED' } });
    const made = await mutate(server, 'materializeSidecars', { ids: ['x'] }, 'sessions { outcome reason }');
    expect(made).toMatchObject({ sessions: [{ outcome: 'SKIPPED', reason: 'TOMBSTONED' }] });
    expect(existsSync(sidecarPath(server.sessionsDir, 'x'))).toBe(false);
    // The list of deleted ones means no session of another program.
    expect(await sessionOf(server, SEEN, 't')).toMatchObject({ sidecarMissing: false });
    expect(await mutate(server, 'updateSession', { ...RENAME, sessionId: 't' })).toMatchObject({
      code: 'SIDECAR_MISSING',
      details: { materialisable: false },
    });
  });

  it('D22: a row of the index without a file proves no deletion', async () => {
    const server = await startWebUi({ rows: [S('x', { source: '' }), M('x'), S('y', { source: 'cli' }), M('y')] });
    const row = (id: string, source: string) => ({ session_id: id, source_tag: source, updated_at: 1 });
    writeFileSync(join(server.sessionsDir, '_index.json'), JSON.stringify([row('x', 'webui'), row('y', 'cli')]));
    expect(await sessionOf(server, SEEN)).toMatchObject({ origins: ['STATE_DB'], sidecarMissing: true });
    expect(await sessionOf(server, SEEN, 'y')).toMatchObject({ sidecarMissing: false });
  });
});

const BACKUP = 'backup { recommendation reason liveMessages backupMessages liveIsNewer }';

describe('backups', () => {
  it('T86: are told with and without a file, and restored, once for a repeat, and refused while a turn runs', async () => {
    const server = await startWebUi({
      rows: [S('x', { source: 'webui' }), S('lost', { source: 'webui' }), M('lost')],
      files: { x: sidecarText('x', {}, MESSAGES.slice(0, 1)), plain: {} },
    });
    for (const id of ['x', 'lost']) writeFileSync(`${sidecarPath(server.sessionsDir, id)}.bak`, sidecarText(id, {}, MESSAGES));
    const counts = { recommendation: 'RESTORE', reason: null, backupMessages: 2, liveIsNewer: false };
    expect(await sessionOf(server, BACKUP)).toEqual({ backup: { ...counts, liveMessages: 1 } });
    expect(await sessionOf(server, BACKUP, 'lost')).toEqual({ backup: { ...counts, liveMessages: null } });
    expect(await sessionOf(server, BACKUP, 'plain')).toEqual({ backup: null });

    const fields =
      'restored recommendation reason messagesBefore backupMessages messagesAfter keptAs session { messages(merged: true) { totalCount } }';
    const before = everythingIn(server.sessionsDir);
    expect(await mutate(server, 'restoreFromBackup', { sessionId: 'x', dryRun: true }, fields)).toMatchObject({ restored: true });
    expect(everythingIn(server.sessionsDir)).toEqual(before);
    const input = { sessionId: 'x', clientMutationId: 'once' };
    const done = await mutate(server, 'restoreFromBackup', input, fields);
    expect(done).toMatchObject({
      restored: true,
      recommendation: 'RESTORE',
      reason: null,
      messagesBefore: 1,
      messagesAfter: 2,
      keptAs: expect.stringMatching(/^x\.json\.before-restore-\d+$/),
      session: { messages: { totalCount: 2 } },
    });
    expect(await mutate(server, 'restoreFromBackup', input, fields)).toEqual(done);
    expect(await mutate(server, 'restoreFromBackup', { sessionId: 'x' }, fields)).toMatchObject({
      restored: false,
      reason: 'BACKUP_HAS_NO_MORE_MESSAGES',
    });
    expect(await mutate(server, 'restoreFromBackup', { sessionId: 'x', ifSignature: 'another' }, fields)).toMatchObject({
      code: 'CONFLICT',
    });
    expect(await mutate(server, 'restoreFromBackup', { sessionId: 'nobody' }, fields)).toMatchObject({ code: 'NOT_FOUND' });
    const running = { active_stream_id: 'r', pending_user_message: 'go', pending_started_at: Date.now() / 1000 };
    saveSidecar(server.sessionsDir, 'x', sidecarText('x', running, MESSAGES.slice(0, 1)));
    expect(await mutate(server, 'restoreFromBackup', { sessionId: 'x' }, fields)).toMatchObject({ code: 'SESSION_BUSY' });
    const left = await mutate(server, 'repairSafe', {}, 'repaired restoredIds left { sessionId reason } clean after { status }');
    expect(left).toMatchObject({ repaired: 1, restoredIds: ['lost'], left: [{ sessionId: 'x', reason: 'SESSION_BUSY' }], clean: false });
  });
});

describe('an exhausted session', () => {
  const exhausted = {
    title: 'Long talk',
    recommended_recovery_action: 'start_focused_continuation',
    compression_recovery: {
      terminal_state: 'compression_exhausted',
      recommended_action: 'start_focused_continuation',
      title: 'Context compression exhausted',
      action_label: 'Start focused continuation',
      context_length: 1000,
    },
  };
  const fields = 'created sessionId sourceSessionId action session { title compressionRecoveryChild { sessionId } }';

  it('19: goes on in a focused continuation that never shows its messages', async () => {
    const rows = [S('x', { source: 'webui', ended_at: 105, end_reason: 'compression' }), M('x', { content: 'row of the parent' })];
    const server = await startWebUi({ rows, files: { x: sidecarText('x', exhausted, MESSAGES), y: {} } });
    expect(await sessionOf(server, 'compressionRecovery { recommendedAction title actionLabel contextLength thresholdTokens }')).toEqual({
      compressionRecovery: {
        recommendedAction: 'start_focused_continuation',
        title: 'Context compression exhausted',
        actionLabel: 'Start focused continuation',
        contextLength: 1000,
        thresholdTokens: 0,
      },
    });
    const none = { compressionRecovery: null, compressionRecoveryChild: null, continuation: null };
    const links = 'compressionRecovery { title } compressionRecoveryChild { sessionId } continuation { sessionId }';
    expect(await sessionOf(server, links, 'y')).toEqual(none);
    expect(await mutate(server, 'startCompressionRecovery', { sessionId: 'y' }, fields)).toMatchObject({ code: 'NOT_EXHAUSTED' });

    const started = await mutate(server, 'startCompressionRecovery', { sessionId: 'x', clientMutationId: 'm' }, fields);
    expect(started).toMatchObject({
      created: true,
      sourceSessionId: 'x',
      action: 'start_focused_continuation',
      session: { title: 'Long talk (focused continuation)' },
    });
    const child = String(started.sessionId);
    expect(await mutate(server, 'startCompressionRecovery', { sessionId: 'x', clientMutationId: 'm' }, fields)).toEqual(started);
    expect(await mutate(server, 'startCompressionRecovery', { sessionId: 'x' }, fields)).toMatchObject({
      created: false,
      sessionId: child,
    });
    expect(await sessionOf(server, links)).toMatchObject({ compressionRecoveryChild: { sessionId: child }, continuation: null });

    const transcripts = 'transcript { messages { text } } replay: transcript(view: REPLAY) { messages { text } } messages { totalCount }';
    const empty = { transcript: { messages: [] }, replay: { messages: [] }, messages: { totalCount: 0 } };
    expect(await sessionOf(server, transcripts, child)).toEqual(empty);
    const ofConversation = 'messages(scope: CONVERSATION, merged: true) { totalCount } lineage { segments { sessionId } }';
    expect(await sessionOf(server, ofConversation, child)).toEqual({
      messages: { totalCount: 0 },
      lineage: { segments: [{ sessionId: child }] },
    });
  });

  it('19: keeps what the store says of its parent out of it', async () => {
    const files = { x: sidecarText('x', exhausted, MESSAGES) };
    const planned = await startWebUi({ files });
    const { sessionId: child } = await mutate(planned, 'startCompressionRecovery', { sessionId: 'x', dryRun: true }, 'sessionId');
    const id = String(child);
    const answered = {
      parent_session_id: 'x',
      session_source: 'fork',
      compression_recovery_source_session_id: 'x',
      compression_recovery_action: 'start_focused_continuation',
    };
    const server = await startWebUi({
      rows: [
        S('x', { source: 'webui', ended_at: 105, end_reason: 'compression' }),
        M('x', { content: 'row of the parent' }),
        S(id, { source: 'webui', parent_session_id: 'x', started_at: 110 }),
        M(id, { content: 'the next task' }),
      ],
      files: { ...files, [id]: sidecarText(id, answered, []) },
    });
    const own = { messages: [{ text: 'the next task' }] };
    const views = `transcript { messages { text } } replay: transcript(view: REPLAY) { messages { text } }
      all: messages(scope: CONVERSATION, merged: true) { nodes { text } }`;
    expect(await sessionOf(server, views, id)).toEqual({ transcript: own, replay: own, all: { nodes: own.messages } });
  });

  it('19.4: a snapshot leads to its newest continuation, in one look for a whole list', async () => {
    const files = {
      old: sidecarText('old', { title: 'Trip', pre_compression_snapshot: true }, MESSAGES),
      mid: sidecarText('mid', { title: 'Trip', pre_compression_snapshot: true, parent_session_id: 'old' }, MESSAGES),
      new: sidecarText('new', { title: 'Trip', parent_session_id: 'mid', updated_at: 9 }, MESSAGES),
      fork: sidecarText('fork', { title: 'Trip', parent_session_id: 'old', session_source: 'fork', updated_at: 99 }, MESSAGES),
    };
    const server = await startWebUi({ files });
    const query =
      '{ sessions(collapse: NONE, filter: { includeUnlisted: true }) { nodes { sessionId continuation { sessionId } sidecarMissing } } }';
    const { sessions } = await server.read<{ sessions: { nodes: { sessionId: string; continuation: Fields | null }[] } }, object>(query);
    const found = Object.fromEntries(sessions.nodes.map(({ sessionId, continuation }) => [sessionId, continuation?.sessionId ?? null]));
    expect(found).toEqual({ old: 'new', mid: 'new', new: null, fork: null });
  });
});

describe('what a file says wrongly', () => {
  it('T89c, T92: costs that are no number, ids that are none, and a file that is no session', async () => {
    const nan = sidecarText('nan', { estimated_cost: 'NAN' }, MESSAGES).replace('"NAN"', 'NaN');
    const server = await startWebUi({ rows: [S('torn', { source: 'webui' }), M('torn')], files: { nan, torn: '{broken' } });
    expect(await sessionOf(server, 'usage { estimatedCostUsd } warnings { code field }', 'nan')).toMatchObject({
      usage: { estimatedCostUsd: null },
      warnings: expect.arrayContaining([{ code: 'SIDECAR_VALUE', field: 'estimated_cost' }]),
    });
    for (const id of ['../nan', '', 'unknown']) expect([id, await sessionOf(server, 'sessionId', id)]).toEqual([id, null]);
    expect(await sessionOf(server, 'sidecar { health } sidecarMissing warnings { code } messages { totalCount }', 'torn')).toMatchObject({
      sidecar: { health: 'CORRUPT' },
      sidecarMissing: false,
      warnings: expect.arrayContaining([{ code: 'SIDECAR_CORRUPT' }]),
      messages: { totalCount: 1 },
    });
  });

  it('is not there without a Web UI', async () => {
    const server = await startWebUi({ rows: FOUR });
    rmSync(server.sessionsDir, { recursive: true });
    expect(await sessionOf(server, SEEN)).toMatchObject({ sidecarMissing: false });
    expect(await mutate(server, 'materializeSidecars', {})).toMatchObject({ code: 'NOT_FOUND' });
  });
});

it('a file that is over the limit takes down neither the audit and the repair of the others nor their backups', async () => {
  const server = await startWebUi({ files: { small: sidecarText('small', { title: 'Small' }, []), large: {} } });
  const backup = sidecarText('x', { title: 'Small' }, [{ role: 'user', content: 'Hello' }]);
  for (const id of ['small', 'large']) writeFileSync(`${sidecarPath(server.sessionsDir, id)}.bak`, backup);
  truncateSync(sidecarPath(server.sessionsDir, 'large'), 65 * 1024 * 1024);
  const kinds = '{ webUiAudit { items { sessionId kind } } }';
  const { webUiAudit } = await server.read<{ webUiAudit: { items: object[] } }, object>(kinds);
  expect(webUiAudit.items).toContainEqual({ sessionId: 'small', kind: 'SHRUNKEN_LIVE' });
  const backups = await server.query<{ small: object; large: object }, object>(
    '{ small: session(sessionId: "small") { backup { recommendation } } large: session(sessionId: "large") { title backup { recommendation } } }',
  );
  expect(backups.data).toMatchObject({ small: { backup: { recommendation: 'RESTORE' } }, large: { backup: null } });
  expect(backups.errors.map(({ extensions }) => extensions.code)).toEqual(['SIDECAR_TOO_LARGE']);
  expect(await mutate(server, 'repairSafe', {}, 'restoredIds')).toMatchObject({ restoredIds: ['small'] });
});
