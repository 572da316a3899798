/** What the parts of the benchmark share: a run that is written, the operation that follows it, and what its readers heard. */
import type { WebUi } from '../../test/support/web-ui-turn.ts';
import { median, quantile } from '../load.ts';
import type { ServerProcess } from '../server-process.ts';
import type { Latency } from './report.ts';

export const LIVE_TURN = `subscription Follow($sessionId: String!) {
  liveTurn(sessionId: $sessionId) {
    cursor
    catchUp
    events { __typename id kind ... on LiveEvent { at } ... on TextDelta { segment offset text } ... on MessagesAppended { ids supersedes { part segment } } }
  }
}`;

/** Lines a second where many are written at a pace. */
export const HZ = 20;

export function socketUrl(server: ServerProcess): string {
  return `${server.url.replace(/^http/, 'ws')}graphql`;
}

let lastRun = 0;

/** A run of a session that is under way, until it is settled. */
export async function beginRun(ui: WebUi, sessionId: string): Promise<{ readonly runId: string; readonly end: () => Promise<void> }> {
  const runId = `bench${++lastRun}`;
  await ui.submit({ sessionId, runId, text: 'go' });
  await ui.journal(sessionId, runId, [{ event: 'reasoning', payload: { text: 'so' } }]);
  return {
    runId,
    end: async () => {
      await ui.settle({ sessionId, runId });
      await ui.journal(sessionId, runId, [
        { event: 'done', payload: {} },
        { event: 'stream_end', payload: { session_id: sessionId } },
      ]);
    },
  };
}

export function tokens(count: number, length = 20) {
  return Array.from({ length: count }, () => ({ event: 'token', payload: { text: 'word '.repeat(Math.ceil(length / 5)) } }));
}

export function latencyOf(name: string, subscribers: number, latenciesMs: readonly number[]): Latency {
  return { name, subscribers, count: latenciesMs.length, p50Ms: median(latenciesMs), p99Ms: quantile(latenciesMs, 0.99) };
}
