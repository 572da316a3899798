/** Rows and messages changed over GraphQL: names of the contract, typed refusals, what to ask before a write. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startInProcess, type TestServer } from '../support/server.ts';
import { M, S, T, temporaryFolder } from '../support/stores.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startInProcess({
    schema: 31,
    rows: [
      S('s', { message_count: 3 }),
      S('busy'),
      S('closed', { ended_at: 150, end_reason: 'compression' }),
      M('s', { content: 'do it', platform_message_id: 'p7', display_metadata: '{"gateway_input_owner": "telegram:7"}' }),
      M('s', { role: 'assistant', content: '[terminal]', tool_calls: '[{"id": "c"}]' }),
      M('s', { role: 'tool', content: 'a long result', tool_call_id: 'c' }),
      M('busy', { content: 'wait' }),
      T('session_turn_leases', { conversation_id: 'busy', holder: 'h', acquired_at: 0, expires_at: 4_000_000_000 }),
    ],
    settings: { allowWrites: true },
  });
});
afterAll(() => server.stop());

async function ask<T = Record<string, unknown>>(document: string, variables: Record<string, unknown> = {}): Promise<T> {
  const { data, errors } = await server.query<{ answer: T }, unknown>(document, variables);
  if (data == null) throw new Error(JSON.stringify(errors));
  return data.answer;
}
function change(name: string, selection: string, input: Record<string, unknown>): Promise<Record<string, unknown>> {
  const upper = name.charAt(0).toUpperCase() + name.slice(1);
  const document = `mutation ($input: ${upper}Input!) { answer: ${name}(input: $input) {
    __typename ... on ${upper}Payload { ${selection} } ... on UserError { code details } } }`;
  return ask(document, { input });
}
const version = async (rowId: string) =>
  (await ask<{ rowVersion: string }>('query ($rowId: ID!) { answer: message(rowId: $rowId) { rowVersion } }', { rowId })).rowVersion;

describe('rows over GraphQL', () => {
  it('are appended together, each once', async () => {
    const messages = [
      { role: 'assistant', content: 'two', messageUid: 'm-1', timestamp: '2026-05-28T20:26:40Z' },
      { role: 'user', content: 'three', messageUid: 'm-2' },
    ];
    const selection = 'inserted { rowId messageUid rowVersion } adopted { rowId } messages { rowId text } session { storedMessageCount }';
    const first = await change('appendMessages', selection, { sessionId: 's', messages });
    expect(first).toMatchObject({
      __typename: 'AppendMessagesPayload',
      inserted: [{ messageUid: 'm-1' }, { messageUid: 'm-2' }],
      adopted: [],
      messages: [{ text: 'two' }, { text: 'three' }],
      session: { storedMessageCount: 5 },
    });
    const second = await change('appendMessages', selection, { sessionId: 's', messages });
    expect(second).toMatchObject({ inserted: [], messages: first.messages, session: { storedMessageCount: 5 } });
    expect(await change('appendMessages', selection, { sessionId: 'closed', messages })).toMatchObject({ code: 'SESSION_CLOSED' });
    const many = Array.from({ length: 1001 }, () => ({ role: 'user', content: 'x' }));
    expect(await change('appendMessages', selection, { sessionId: 's', messages: many })).toMatchObject({ code: 'TOO_MANY' });
    const held = [{ index: 5, rowId: '1' }];
    expect(await change('appendMessages', selection, { sessionId: 's', messages, held })).toMatchObject({ code: 'VALIDATION' });
  });

  it('are rewritten in place, and told as done to who asks again', async () => {
    const changes = [{ rowId: '3', rowVersion: await version('3'), content: 'short' }];
    const selection =
      'rewrittenCount rewritten { rowId rowVersion archivedTwinRowId } unchangedIds alreadyApplied messages { rowId text } session { sessionId }';
    expect(await change('pruneRows', selection, { sessionId: 's', changes, dryRun: true })).toMatchObject({
      rewrittenCount: 1,
      messages: [{ rowId: '3', text: 'a long result' }],
    });
    const pruned = await change('pruneRows', selection, { sessionId: 's', changes, modelConfigPatch: { k: 1 } });
    expect(pruned).toMatchObject({
      rewrittenCount: 1,
      rewritten: [{ rowId: '3', rowVersion: await version('3') }],
      unchangedIds: [],
      alreadyApplied: false,
      messages: [{ rowId: '3', text: 'short' }],
    });
    expect(await change('pruneRows', selection, { sessionId: 's', changes })).toMatchObject({ rewrittenCount: 0, alreadyApplied: true });
    const other = [{ ...changes[0], content: 'otherwise' }];
    expect(await change('pruneRows', selection, { sessionId: 's', changes: other })).toMatchObject({
      __typename: 'RowVersionConflictError',
      details: { rowId: '3', currentRowVersion: await version('3') },
    });
    const odd = [{ ...changes[0], rowId: '3; DROP TABLE messages' }];
    expect(await change('pruneRows', selection, { sessionId: 's', changes: odd })).toMatchObject({ code: 'VALIDATION' });
    const reserved = { sessionId: 's', changes, modelConfigPatch: { _delegate_from: 'x' } };
    expect(await change('pruneRows', selection, reserved)).toMatchObject({ code: 'VALIDATION' });
  });

  it('of a person are edited and taken out, but not while a turn runs', async () => {
    const rowVersion = await version('1');
    const edit = { rowId: '1', rowVersion, content: 'do that' };
    const selection = 'alreadyApplied rowVersion message { text state } session { sessionId }';
    expect(await change('editUserMessage', selection, edit)).toMatchObject({ alreadyApplied: false, message: { text: 'do that' } });
    expect(await change('deactivateMessage', selection, { rowId: '1', rowVersion })).toMatchObject({ code: 'ROW_VERSION_CONFLICT' });
    expect(await change('deactivateMessage', selection, { rowId: '1', rowVersion: await version('1'), dryRun: true })).toMatchObject({
      message: { state: 'LIVE' },
    });
    const busy = { rowId: '4', rowVersion: await version('4') };
    expect(await change('deactivateMessage', selection, busy)).toMatchObject({ __typename: 'SessionBusyError' });
    expect(await change('editUserMessage', selection, { ...busy, content: 'x', leaseToken: 'h' })).toMatchObject({ alreadyApplied: false });
    expect(await change('setApiContent', 'message { rowId }', { sessionId: 'busy', content: 'x', apiContent: 'wire' })).toMatchObject({
      message: { rowId: '4' },
    });
  });

  it('T140: carry the reactions that were asked for, and give them to the agent once', async () => {
    const input = { sessionId: 's', rowId: '2', desired: '👍' };
    const selection = 'changed message { reactions { emoji author } }';
    const reactions = [{ emoji: '👍', author: 'user' }];
    expect(await change('setMessageReaction', selection, input)).toMatchObject({ changed: true, message: { reactions } });
    expect(await change('setMessageReaction', selection, input)).toMatchObject({ changed: false, message: { reactions } });
    const taken = 'reactions { rowId emoji author role text }';
    expect(await change('takeUnseenReactions', taken, { sessionId: 's' })).toMatchObject({ reactions: [{ rowId: '2', emoji: '👍' }] });
    expect(await change('takeUnseenReactions', taken, { sessionId: 's' })).toMatchObject({ reactions: [] });
    expect(await change('setMessageReaction', selection, { ...input, desired: 'x'.repeat(65) })).toMatchObject({ code: 'VALIDATION' });
    expect(await change('setMessageReaction', selection, { ...input, author: 'a b' })).toMatchObject({ code: 'VALIDATION' });
  });

  it('are cleaned of markers as a dry run foretold, with a copy beside the store', async () => {
    expect(await change('cleanMarkers', 'rowIds backupName', { dryRun: true })).toMatchObject({ rowIds: ['2'], backupName: null });
    expect(await change('cleanMarkers', 'rowIds backupName', { expectedRowIds: ['1'] })).toMatchObject({ code: 'SET_CHANGED' });
    const cleaned = await change('cleanMarkers', 'rowIds backupName', { expectedRowIds: ['2'] });
    expect(cleaned).toMatchObject({ rowIds: ['2'] });
    expect(cleaned.backupName).toMatch(/^state\.db\.pre-clean-markers-backup-\d{8}-\d{6}$/);
  });

  it('belong to a session whose configuration can be patched', async () => {
    const selection = 'changed session { modelConfig }';
    const input = { sessionId: 'busy', patch: { temperature: 0.5 } };
    expect(await change('patchSessionConfig', selection, input)).toMatchObject({ changed: true });
    expect(await change('patchSessionConfig', selection, input)).toMatchObject({ changed: false });
    expect(await change('patchSessionConfig', selection, { ...input, patch: [1] })).toMatchObject({ code: 'VALIDATION' });
  });
});

describe('what to ask before a write', () => {
  it('T117: which held rows changed', async () => {
    const held = [
      { rowId: '3', rowVersion: `v2:${'0'.repeat(32)}` },
      { rowId: '2', rowVersion: await version('2') },
    ];
    const document = 'query ($held: [HeldRowInput!]!) { answer: staleHeldRows(sessionId: "s", held: $held) }';
    expect(await ask(document, { held })).toEqual(['3']);
    const { errors } = await server.query<unknown, unknown>(document, { held: [{ rowVersion: 'v2:' }] });
    expect(errors).toMatchObject([{ extensions: { code: 'VALIDATION' } }]);
  });

  it('T157: whether an event or a message of a platform was stored', async () => {
    const document = `query { answer: __typename
      known: inputOwnerExists(sessionId: "s", owner: "telegram:7") unknown: inputOwnerExists(sessionId: "s", owner: "telegram:8")
      seen: platformMessageExists(sessionId: "s", platformMessageId: "p7") unseen: platformMessageExists(sessionId: "s", platformMessageId: "p8") }`;
    const { data } = await server.query<Record<string, unknown>, unknown>(document, {});
    expect(data).toMatchObject({ known: true, unknown: false, seen: true, unseen: false });
  });

  it('T156: says that it can not tell where the store can not be read, and never no', async () => {
    const home = temporaryFolder();
    writeFileSync(join(home, 'state.db'), 'no database at all, whatever its name says'.repeat(100));
    const damaged = await startInProcess({ home, settings: { allowWrites: true } });
    const { errors } = await damaged.query<unknown, unknown>('query { answer: inputOwnerExists(sessionId: "s", owner: "o") }');
    expect(errors).toMatchObject([{ extensions: { code: 'TRANSCRIPT_UNREADABLE' } }]);
    await damaged.stop();
  });
});
