/** Rewind, restore and rewrite over HTTP, as a client uses them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startInProcess, type TestServer } from '../support/server.ts';
import { M, S } from '../support/stores.ts';

let server: TestServer;
beforeAll(async () => {
  const rows = ['s', 'w'].flatMap((id) => [
    S(id),
    M(id, { content: 'u1' }),
    M(id, { role: 'assistant', content: 'a1' }),
    M(id, { content: 'u2' }),
    M(id, { role: 'assistant', content: 'a2' }),
  ]);
  server = await startInProcess({ rows, settings: { allowWrites: true } });
});
afterAll(() => server.stop());

const ERROR = '... on UserError { code settled message }';
const SESSION = 'session { messageCount rewindCount }';

async function run(name: string, payload: string, input: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>> {
  const upper = name.charAt(0).toUpperCase() + name.slice(1);
  const query = `mutation ($input: ${upper}Input!) { ${name}(input: $input) { __typename ... on ${upper}Payload { ${payload} } ${ERROR} } }`;
  const { data, errors } = await server.query<Record<string, Record<string, unknown>>, unknown>(query, { input });
  expect(errors).toEqual([]);
  return data?.[name] ?? {};
}

async function revision(id: string, view: string): Promise<unknown> {
  const query = `query ($id: String!) { session(sessionId: $id) { transcript(view: ${view}) { revision } } }`;
  const { data, errors } = await server.query<{ session: { transcript: { revision: string } } }, unknown>(query, { id });
  expect(errors).toEqual([]);
  return data?.session.transcript.revision;
}

describe('an undo', () => {
  it('is looked at first, made, and taken back', async () => {
    const payload = `rewoundCount turnsUndone targetText targetId retiredIds receipt newHead { text } replacementMessage { id } ${SESSION}`;
    const input = { sessionId: 's', expectedRevision: await revision('s', 'DISPLAY') };
    const planned = await run('rewindSession', payload, { ...input, dryRun: true });
    expect(planned).toMatchObject({ rewoundCount: 2, targetText: 'u2', receipt: null, session: { rewindCount: 0 } });
    const done = await run('rewindSession', payload, { ...input, clientMutationId: 'undo' });
    expect(done).toMatchObject({
      __typename: 'RewindSessionPayload',
      retiredIds: planned.retiredIds,
      receipt: 'undo',
      newHead: { text: 'a1' },
      replacementMessage: null,
      session: { messageCount: 2, rewindCount: 1 },
    });
    expect(await run('rewindSession', payload, { ...input, clientMutationId: 'undo' })).toEqual(done);
    expect(await run('rewindSession', payload, input)).toMatchObject({ __typename: 'TranscriptChangedError', settled: true });
    expect(await run('restoreRewind', `restoredCount ${SESSION}`, { receipt: 'undo' })).toMatchObject({
      restoredCount: 2,
      session: { messageCount: 4, rewindCount: 1 },
    });
    expect(await run('restoreRewind', 'restoredCount', { receipt: 'nobody' })).toMatchObject({ code: 'RECEIPT_UNKNOWN' });
  });
});

describe('a rewrite', () => {
  it('keeps what is the same, and says what it did', async () => {
    const input = {
      sessionId: 'w',
      mode: 'ARCHIVE_DROPPED',
      messages: [
        { role: 'user', content: 'u1' },
        { role: 'assistant', content: [{ type: 'text', text: 'b' }], timestamp: '2026-01-02T03:04:05Z' },
      ],
      expectedRevision: await revision('w', 'REPLAY'),
    };
    const payload = `kept inserted insertedIds retiredIds deletedCount ${SESSION}`;
    expect(await run('rewriteTranscript', payload, input)).toMatchObject({
      kept: 1,
      inserted: 1,
      insertedIds: ['9'],
      retiredIds: ['6', '7', '8'],
      deletedCount: 0,
      session: { messageCount: 2 },
    });
    expect(await run('rewriteTranscript', payload, input)).toMatchObject({ code: 'TRANSCRIPT_CHANGED' });
  });

  it('refuses messages that no store should hold, and to delete without a word', async () => {
    const input = { sessionId: 'w', mode: 'ACTIVE_ONLY', messages: [{ role: 'robot' }] };
    expect(await run('rewriteTranscript', 'kept', input)).toMatchObject({
      code: 'VALIDATION',
      message: expect.stringContaining('messages[0]'),
    });
    expect(await run('rewriteTranscript', 'kept', { ...input, messages: [] })).toMatchObject({ code: 'VALIDATION' });
  });
});
