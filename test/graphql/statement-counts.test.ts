/** No field of a list runs a statement for each of its rows: the number is the same for five sessions and for fifty. */
import { beforeAll, describe, expect, it } from 'vitest';
import { calls } from '../support/message-rows.ts';
import { startInProcess, type TestServer } from '../support/server.ts';
import { M, type Row, S, T } from '../support/stores.ts';
import { everythingOf } from './everything.ts';

const CONVERSATIONS = 120;
const STARTED = 1_780_000_000;

let server: TestServer;
beforeAll(async () => {
  server = await startInProcess({
    rows: Array.from({ length: CONVERSATIONS }, (_, index) => conversation(index)).flat(),
    settings: { maxCost: '100000000', maxDepth: '50', maxTokens: '100000', maxAliases: '1000' },
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

async function statementsOf(operationName: string, selection: string, first: number): Promise<number> {
  const { sessions } = await server.read<{ sessions: { nodes: unknown[] } }, unknown>(
    `query ${operationName} { sessions(first: ${first}) ${selection} }`,
  );
  expect(sessions.nodes).toHaveLength(first);
  return Number((await server.requestLine(operationName)).statements);
}

describe('statements of a list', () => {
  it('are at most two for the plain list', async () => {
    const plain = '{ totalCount hiddenCounts { reason count } nodes { sessionId title displayTitle model lastActiveAt messageCount } }';
    expect(await statementsOf('Warm', plain, 5)).toBeLessThanOrEqual(40);
    expect(await statementsOf('PlainFive', plain, 5)).toBeLessThanOrEqual(2);
    expect(await statementsOf('PlainFifty', plain, 50)).toBeLessThanOrEqual(2);
  });

  it('stay the same for five sessions and for fifty when every field is asked for', async () => {
    const everything = everythingOf('SessionConnection', { args: { 'Session.messages': '(last: 5)' } });
    await statementsOf('Warm', everything, 5);
    const five = await statementsOf('EverythingOfFive', everything, 5);
    const fifty = await statementsOf('EverythingOfFifty', everything, 50);
    console.log(five, fifty);
    expect(fifty).toBe(five);
  });
});
