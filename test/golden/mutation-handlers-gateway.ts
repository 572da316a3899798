/**
 * Upstream's turn leases, the append and load path of its gateway, and the upkeep of its indexes in terms of ours.
 */
import { StoreConnection } from '../../src/state-db/connection.ts';
import { leaseKey, tip } from '../../src/state-db/lineage.ts';
import { optimizeStore } from '../../src/state-db/repair/optimize.ts';
import { rebuildIndex } from '../../src/state-db/repair/rebuild-index.ts';
import { readIndexState } from '../../src/state-db/search/index-state.ts';
import type { TranscriptMessage } from '../../src/state-db/write/message-encoding.ts';
import { SessionGraph } from '../../src/state-db/write/session-graph.ts';
import type { TestHost } from '../support/command-host.ts';
import { toUpstreamMessage } from '../support/golden.ts';
import type { Rule } from './compare.ts';
import { replayed } from './conversations.ts';
import { type Answers, type MutationBench, type MutationHandler, quietly } from './mutation-runner.ts';
import { CALLS } from './rules.ts';

const TTL_SECONDS = 300;

/** The messages of a session with a row that is not UTF-8, which upstream can't read. */
const NOT_UTF8: readonly object[] = [
  { role: 'user', content: 'lone \ufffd surrogate and pair 😀', timestamp: 1780002443.5 },
  { role: 'assistant', content: [{ type: 'text', text: 'json \udfff kept' }], timestamp: 1780002443.5 },
  { role: 'tool', content: 'lone \ufffd\ufffd\ufffd!', timestamp: 1780002443.5 },
];

export const GATEWAY_HANDLERS: Readonly<Record<string, MutationHandler<TestHost>>> = {
  try_acquire_session_turn_lease: (host, { args: [id, holder] }) =>
    quietly(
      async () => {
        await host.run('acquireTurnLease', { sessionId: String(id), holder: String(holder), ttlSeconds: TTL_SECONDS });
        return true;
      },
      // Upstream answers false for a session without an id, and ours that there is none.
      { LEASE_HELD: false, NOT_FOUND: false },
    ),
  refresh_session_turn_lease: (host, { args: [id, holder] }) =>
    quietly(
      async () => {
        await host.run('renewTurnLease', { sessionId: String(id), holder: String(holder), ttlSeconds: TTL_SECONDS });
        return true;
      },
      { TURN_LEASE_LOST: false },
    ),
  release_session_turn_lease: async (host, { args: [, holder] }) => {
    await host.run('releaseTurnLease', { holder: String(holder) });
  },
  _session_turn_lease_key: (host, { args: [id] }) =>
    reading(host, (store) => {
      const graph = new SessionGraph(store);
      const session = graph.get(String(id));
      return session === undefined ? id : leaseKey(graph, session);
    }),
  'SessionStore.append_to_transcript': async (host, { args: [id, message] }) => {
    const sessionId = String(id);
    try {
      await host.run('appendMessage', { sessionId, message: message as TranscriptMessage, lease: null });
    } catch (error) {
      // What nobody can write any more has to be found again.
      const kept = await host.run('spoolEntries', { sessionId });
      if (!kept.some(({ state, preview }) => state === 'DEAD' && preview === 'lost')) throw new Error('no dead letter', { cause: error });
      throw error;
    }
  },
  'SessionStore.load_transcript': (host, { args: [id] }) =>
    reading(host, (store) => {
      const graph = new SessionGraph(store);
      const session = graph.get(String(id));
      return replayed(store, session === undefined ? String(id) : tip(graph, session).id).map(toUpstreamMessage);
    }),
  rebuild_fts: async (host) => (await rebuildIndex(host.path)).rebuilt.length,
  optimize_fts: async (host) => (await optimizeStore(host.path)).merged.length,
  fts_rebuild_status: (host) => reading(host, (store) => readIndexState(store).rebuild),
  fts_optimize_available: (host) => reading(host, (store) => ['E', 'I'].includes(readIndexState(store).layout)),
};

/** Only who compresses takes these locks. */
export const LOCKS_ELSEWHERE: Readonly<Record<string, string>> = Object.fromEntries(
  ['try_acquire_compression_lock', 'get_compression_lock_holder', 'refresh_compression_lock', 'release_compression_lock'].map((name) => [
    name,
    'left-to-the-agent',
  ]),
);

export const gatewayRules: NonNullable<MutationBench<TestHost>['rules']> = ({ name }) => {
  switch (name) {
    case 'gateway append to a dead chain is dropped':
      return [{ id: 'dead-letters', adjust: (expected) => withSteps(expected, () => ({ error: 'NO_LIVE_CONTINUATION', result: null })) }];
    case 'gateway load_transcript m_COMP':
      return [{ id: 'newest-rules', adjust: (expected) => withSteps(expected, ({ result }) => ({ error: null, result: apart(result) })) }];
    case 'append to a dead-pid lease and negative counters':
      return [{ id: 'holders-not-probed', adjust: leaseStillHeld }];
    case 'load odd contents':
      return ODD_CONTENTS;
    default:
      return [];
  }
};

const ODD_CONTENTS: readonly Rule[] = [
  { id: 'not-utf8', adjust: (expected) => withSteps(expected, (step, index) => (index === 2 ? { error: null, result: NOT_UTF8 } : step)) },
  CALLS,
];

function withSteps(expected: unknown, adjust: (step: Answers['steps'][number], index: number) => Answers['steps'][number]): Answers {
  const answers = expected as Answers;
  return { ...answers, steps: answers.steps.map(adjust) };
}

/** Merged by upstream: the summary of a compaction, and the words of a person behind it. */
function apart(result: unknown): unknown {
  const [merged, ...rest] = result as Record<string, unknown>[];
  const [summary, words] = String(merged?.content).split('\n\n');
  return [{ ...merged, content: summary }, { role: 'user', content: words, timestamp: 1780003676.75 }, ...rest];
}

/** Nothing that could be tried would be as sure as the time at which a lease ends. */
function leaseStillHeld(expected: unknown): Answers {
  return withSteps(expected, (step, index) => (index === 1 ? { error: null, result: false } : step));
}

function reading<T>(host: TestHost, work: (store: StoreConnection) => T): T {
  const connection = StoreConnection.open(host.path, { lockWaitMs: 1000 });
  try {
    return work(connection);
  } finally {
    connection.close();
  }
}
