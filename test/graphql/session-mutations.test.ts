/** Mutations of sessions as a whole over HTTP: their payloads, previews and refusals. */
import { afterAll, describe, expect, it } from 'vitest';
import { startInProcess, type TestServer } from '../support/server.ts';
import { M, type Row, S, T } from '../support/stores.ts';

const servers: TestServer[] = [];
afterAll(() => Promise.all(servers.map((server) => server.stop())));

async function start(rows: readonly Row[], allowWrites = true): Promise<TestServer> {
  const server = await startInProcess({ schema: 31, rows, settings: allowWrites ? { allowWrites: true } : {} });
  servers.push(server);
  return server;
}

/** Runs a mutation and gives its answer; `fields` are those of the payload. */
async function run(server: TestServer, name: string, input: object, fields: string): Promise<Record<string, unknown>> {
  const type = name.charAt(0).toUpperCase() + name.slice(1);
  const query = `mutation ($input: ${type}Input!) { answer: ${name}(input: $input) {
    __typename ... on ${type}Payload { ${fields} } ... on UserError { code message details settled } } }`;
  const { data, errors } = await server.query<{ answer: Record<string, unknown> }, { input: object }>(query, { input });
  if (data == null) throw new Error(JSON.stringify(errors));
  return data.answer;
}

const CHAIN = [
  S('p', { ended_at: 150, end_reason: 'compression', title: 'Tea' }),
  S('c', { parent_session_id: 'p' }),
  S('d', { parent_session_id: 'c', model_config: '{"_delegate_from":"c"}' }),
  M('c'),
];

describe('the life of a session', () => {
  it('can be written from its creation to its deletion', async () => {
    const server = await start([]);
    const created = await run(server, 'createSession', { id: 'n', title: 'Tea' }, 'created sessionId session { id title source { raw } }');
    expect(created).toMatchObject({ created: true, sessionId: 'n', session: { title: 'Tea', source: { raw: 'api_server' } } });
    expect(await run(server, 'endSession', { sessionId: 'n', reason: 'cli_close' }, 'changed session { endReason }')).toMatchObject({
      changed: true,
      session: { endReason: 'cli_close' },
    });
    expect(await run(server, 'endSession', { sessionId: 'n', reason: 'branched' }, 'changed')).toMatchObject({
      __typename: 'InvalidReasonError',
    });
    expect(await run(server, 'markSessionReset', { sessionId: 'n' }, 'changed')).toMatchObject({ changed: false });
    expect(await run(server, 'reopenSession', { sessionId: 'n' }, 'changed clearedReason session { endReason }')).toMatchObject({
      changed: true,
      clearedReason: 'cli_close',
      session: { endReason: null },
    });
    expect(await run(server, 'reopenOrphanedCompressionParent', { sessionId: 'n' }, 'reopened')).toMatchObject({ reopened: false });
    expect(await run(server, 'clearSession', { sessionId: 'n', confirm: true }, 'deletedMessages')).toMatchObject({ deletedMessages: 0 });
    const remove = (dryRun: boolean) => run(server, 'deleteSession', { sessionId: 'n', dryRun }, 'deletedIds orphanedIds dryRun');
    expect(await remove(true)).toMatchObject({ deletedIds: ['n'], dryRun: true });
    expect(await remove(false)).toMatchObject({ deletedIds: ['n'], orphanedIds: [], dryRun: false });
    expect(await remove(false)).toMatchObject({ code: 'NOT_FOUND', settled: true });
  });

  it('hands its title on, and tells who has it', async () => {
    const server = await start([...CHAIN, S('x')]);
    const fields = 'changed transferredFrom session { title }';
    expect(await run(server, 'setSessionTitle', { sessionId: 'x', title: 'Tea' }, fields)).toMatchObject({
      __typename: 'TitleInUseError',
      details: { sessionId: 'p' },
    });
    expect(await run(server, 'setSessionTitle', { sessionId: 'c', title: 'Tea', expectedTitle: null }, fields)).toMatchObject({
      transferredFrom: 'p',
      session: { title: 'Tea' },
    });
    expect(await run(server, 'setSessionTitle', { sessionId: 'c', title: 'Rum', expectedTitle: null }, fields)).toMatchObject({
      code: 'CONFLICT',
    });
    expect(await run(server, 'setSessionTitle', { sessionId: 'c', title: 'Rum', source: 'LLM' }, fields)).toMatchObject({ changed: false });
  });

  it('has flags that its whole conversation has', async () => {
    const server = await start(CHAIN);
    const archive = { sessionId: 'c', archived: true };
    expect(await run(server, 'setSessionArchived', { ...archive, dryRun: true }, 'sessionIds cascadeCount')).toMatchObject({
      sessionIds: ['c', 'p'],
      cascadeCount: 2,
    });
    expect(await run(server, 'setSessionArchived', { ...archive, expectedCascade: ['c'] }, 'cascadeCount')).toMatchObject({
      code: 'CASCADE_CHANGED',
    });
    expect(await run(server, 'setSessionArchived', { ...archive, expectedCascade: ['p', 'c'] }, 'sessions { id archived }')).toMatchObject({
      sessions: [{ archived: true }, { archived: true }],
    });
    expect(await run(server, 'setSessionFlags', { sessionId: 'c', pinned: true }, 'session { pinned } sessions { pinned }')).toMatchObject({
      session: { pinned: true },
      sessions: [{ pinned: true }, { pinned: true }],
    });
    expect(await run(server, 'setSessionFlags', { sessionId: 'c' }, 'session { id }')).toMatchObject({ code: 'VALIDATION' });
  });
});

describe('many sessions', () => {
  it('go, are pruned, swept and ended together', async () => {
    const old = { ended_at: 150, end_reason: 'cli_close' };
    const server = await start([S('a', old), S('b', { ...old, pinned: 1 }), S('e', old), S('o'), M('a'), M('b'), M('o', { timestamp: 1 })]);
    expect(await run(server, 'deleteEmptySessions', {}, 'count ids')).toMatchObject({ count: 1, ids: ['e'] });
    expect(await run(server, 'pruneSessions', { olderThanDays: -1 }, 'count')).toMatchObject({ code: 'VALIDATION' });
    expect(await run(server, 'pruneSessions', { dryRun: true }, 'ids count skippedGuarded dryRun')).toMatchObject({
      ids: ['a'],
      dryRun: true,
    });
    expect(await run(server, 'pruneSessions', { expectedIds: [] }, 'ids')).toMatchObject({ code: 'SET_CHANGED' });
    expect(await run(server, 'pruneSessions', { expectedIds: ['a'] }, 'ids vacuumDue closedIds')).toMatchObject({ ids: ['a'] });
    expect(await run(server, 'archiveStaleSessions', {}, 'tipIds sessionIds count')).toMatchObject({ tipIds: ['o'], count: 1 });
    expect(await run(server, 'finalizeOrphanedCompressions', {}, 'sessionIds')).toMatchObject({ sessionIds: [] });
    expect(await run(server, 'deleteSessions', { ids: ['b', 'x'] }, 'deletedIds skippedIds')).toMatchObject({
      deletedIds: ['b'],
      skippedIds: ['x'],
    });
    expect(await run(server, 'deleteSessions', { ids: Array.from({ length: 501 }, String) }, 'deletedIds')).toMatchObject({
      code: 'TOO_MANY',
    });
  });

  it('come in from an export, or are refused with every fault', async () => {
    const server = await start([]);
    const fields = 'imported skipped detached importedIds skippedIds messageCount';
    const sessions = [{ id: 'a', messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] }];
    expect(await run(server, 'importSessions', { sessions, dryRun: true }, fields)).toMatchObject({ imported: 1, messageCount: 1 });
    expect(await run(server, 'importSessions', { sessions }, fields)).toMatchObject({ imported: 1, importedIds: ['a'] });
    expect(await run(server, 'importSessions', { sessions }, fields)).toMatchObject({ imported: 0, skipped: 1 });
    expect(await run(server, 'importSessions', { sessions: [{ id: 'b', messages: [{}] }] }, fields)).toMatchObject({
      __typename: 'ImportInvalidError',
      details: { errors: [{ index: 0, sessionId: 'b' }] },
    });
  });
});

describe('a route', () => {
  it('is put right, and left to a gateway that runs', async () => {
    const route = T('gateway_routing', { session_key: 'k', entry_json: '{"session_id": "p"}', updated_at: 1 });
    const fields = 'changed route { sessionKey sessionId } session { id }';
    const server = await start([...CHAIN, route]);
    const input = { sessionKey: 'k', expectedSessionId: 'p' };
    expect(await run(server, 'healCompressionRoute', input, fields)).toMatchObject({ changed: true, route: { sessionId: 'c' } });
    expect(await run(server, 'healCompressionRoute', input, fields)).toMatchObject({ changed: false, route: { sessionId: 'c' } });
    const beat = T('gateway_heartbeats', { backend_id: 'b', pid: 1, started_at: 1, last_heartbeat: Date.now() / 1000 });
    const running = await start([...CHAIN, route, beat]);
    expect(await run(running, 'healCompressionRoute', input, fields)).toMatchObject({ __typename: 'GatewayOnlineError' });
  });
});

describe('a server that only reads', () => {
  it('previews a deletion and makes none', async () => {
    const server = await start(CHAIN, false);
    const remove = (dryRun: boolean) => run(server, 'deleteSession', { sessionId: 'c', scope: 'LINEAGE', dryRun }, 'deletedIds');
    expect(await remove(true)).toMatchObject({ deletedIds: ['p', 'c', 'd'] });
    expect(await remove(false)).toMatchObject({ code: 'WRITES_OFF' });
  });
});
