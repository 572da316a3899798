/** That nothing of a subscription stays when its client has left. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestServer } from './server.ts';

/** How many subscriptions the server counts. */
export async function subscribers(server: TestServer): Promise<number> {
  const answer = await server.read<{ server: { subscribers: number } }, unknown>('{ server { subscribers } }');
  return answer.server.subscribers;
}

/** Waits until the server has none left. Throws when some stay. */
export async function noSubscribers(server: TestServer, timeoutMs = 5000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (let left = await subscribers(server); left > 0; left = await subscribers(server)) {
    if (performance.now() > deadline) throw new Error(`${left} subscriptions are still counted`);
    await sleep(20);
  }
}
