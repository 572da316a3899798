/** No field of a list runs a statement for each of its rows: the number is the same for five sessions and for fifty. */
import { beforeAll, describe, expect, it } from 'vitest';
import { calls } from '../support/message-rows.ts';
import { startInProcess, type TestServer } from '../support/server.ts';
import { M, type Row, S, T } from '../support/stores.ts';
import { everythingOf } from './everything.ts';

const CONVERSATIONS = 120;
const STARTED = 1_780_000_000;

const LAST_FIVE = { args: { 'Session.messages': '(last: 5)' } };
const SESSIONS = everythingOf('SessionConnection', LAST_FIVE);

let server: TestServer;
beforeAll(async () => {
  server = await startInProcess({
    rows: [
      ...Array.from({ length: CONVERSATIONS }, (_, index) => conversation(index)).flat(),
      S('long', { message_count: 100 }),
      ...Array.from({ length: 50 }, (_, index) => [
        M('long', { role: 'assistant', tool_calls: calls(`long-${index}`), timestamp: 10 + index }),
        M('long', { role: 'tool', tool_call_id: `long-${index}`, content: 'found', timestamp: 10 + index }),
      ]).flat(),
    ],
    settings: { maxCost: '1000000000', maxDepth: '50', maxTokens: '100000', maxAliases: '1000' },
  });
});

/** Two segments, a branch of the second, tool calls with results, a row stored twice, usage and a lease. */
function conversation(index: number): Row[] {
  const id = `s${String(index).padStart(3, '0')}`;
  const at = STARTED + index * 100;
  const config = JSON.stringify({ model: 'm', _branched_from: `${id}b` });
  return [
    S(id, { started_at: at, ended_at: at + 20, end_reason: 'compression', message_count: 3, title: `Conversation ${index}` }),
    S(`${id}b`, { started_at: at + 20, parent_session_id: id, message_count: 4, input_tokens: 10, system_prompt: 'You help.' }),
    S(`${id}c`, { started_at: at + 30, parent_session_id: `${id}b`, model_config: config, message_count: 1 }),
    M(id, { content: 'Please look', timestamp: at }),
    M(id, { role: 'assistant', content: 'Looking', tool_calls: calls(`call-${index}`), timestamp: at + 1 }),
    M(id, { role: 'tool', tool_call_id: `call-${index}`, tool_name: 'terminal', content: 'found', timestamp: at + 2 }),
    M(`${id}b`, { content: 'Go on', timestamp: at + 21 }),
    M(`${id}b`, { role: 'assistant', content: null, tool_calls: calls(`call-b-${index}`), timestamp: at + 22 }),
    M(`${id}b`, { role: 'tool', tool_call_id: `call-b-${index}`, tool_name: 'terminal', content: 'found', timestamp: at + 23 }),
    M(`${id}b`, { role: 'assistant', content: 'Twice', timestamp: at + 24, active: 0, compacted: 1 }),
    M(`${id}b`, { role: 'assistant', content: 'Twice', timestamp: at + 24 }),
    M(`${id}c`, { content: 'Another way', timestamp: at + 31 }),
    T('session_model_usage', { session_id: `${id}b`, model: 'm', input_tokens: 10 }),
    T('session_turn_leases', { conversation_id: id, holder: 'pid=1', acquired_at: at, expires_at: at + 300 }),
  ];
}

async function statementsOf(operationName: string, selection: string): Promise<number> {
  const { found } = await server.read<{ found: { nodes: unknown[] } }, unknown>(`query ${operationName} { found: ${selection} }`);
  expect(found.nodes.length).toBe(Number(/(?:first|last): (\d+)/.exec(selection)?.[1]));
  return Number((await server.requestLine(operationName)).statements);
}

describe('statements of a list', () => {
  it('are at most two for the plain list', async () => {
    const plain = '{ totalCount hiddenCounts { reason count } nodes { sessionId title model lastActiveAt messageCount edgeKind } }';
    await statementsOf('Warm', `sessions(first: 5) ${plain}`);
    expect(await statementsOf('PlainFive', `sessions(first: 5) ${plain}`)).toBeLessThanOrEqual(2);
    expect(await statementsOf('PlainFifty', `sessions(first: 50) ${plain}`)).toBeLessThanOrEqual(2);
  });

  it.each([
    ['of sessions', (size: number) => `sessions(first: ${size}) ${SESSIONS}`],
    ['of every stored row, from the end', (size: number) => `sessions(last: ${size}, collapse: NONE) ${SESSIONS}`],
    ['of sessions of all profiles', (size: number) => `sessions(first: ${size}, allProfiles: true) ${SESSIONS}`],
    ['of search hits', (size: number) => `searchMessages(query: "look", first: ${size}) ${everythingOf('SearchConnection', LAST_FIVE)}`],
  ])('stay the same for five and for fifty with every field: %s', async (_, selection) => {
    await statementsOf('Warm', selection(5));
    const five = await statementsOf('EverythingOfFive', selection(5));
    // The plans of the five pages were kept from the warm-up; those of the fifty take one statement.
    expect((await statementsOf('EverythingOfFifty', selection(50))) - five).toBeOneOf([0, 1]);
    expect(five).toBeLessThan(60);
  });

  it('stay the same for five messages and for fifty', async () => {
    const count = async (size: number) => {
      await server.read(`query M${size} { session(sessionId: "long") { messages(last: ${size}) ${everythingOf('MessageConnection')} } }`);
      return (await server.requestLine(`M${size}`)).statements;
    };
    await count(5);
    expect(await count(50)).toBe(await count(5));
  });

  it('F67: do not grow with the store, and neither do the rows that a page reads', async () => {
    const small = await server.requestLine('PlainFifty');
    expect(small.rows).toBe(0);
    const page = 'sessions(first: 20) { nodes { displayTitle preview messages(last: 3) { nodes { text } } } }';
    const rowsOf = async (of: TestServer, name: string) => {
      await of.read(`query ${name} { ${page} }`);
      await of.read(`query ${name} { ${page} }`);
      return (await of.requestLine(name)).rows;
    };
    const large = await startInProcess({ rows: Array.from({ length: 6 * CONVERSATIONS }, (_, index) => conversation(index)).flat() });
    expect(await rowsOf(large, 'Large')).toBe(await rowsOf(server, 'Small'));
    await large.stop();
  });
});
