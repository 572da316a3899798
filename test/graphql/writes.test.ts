/** Mutations over HTTP: writes are off by default, a refusal is a type, a dry run works all the same. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startInProcess, startTestServer, type TestServer } from '../support/server.ts';
import { S, temporaryFolder } from '../support/stores.ts';

const servers: TestServer[] = [];
afterAll(() => Promise.all(servers.map((server) => server.stop())));

async function start(allowWrites: boolean): Promise<TestServer> {
  const server = await startInProcess({ rows: [S('s')], settings: allowWrites ? { allowWrites: true } : {} });
  servers.push(server);
  return server;
}

const ACQUIRE = `mutation ($input: AcquireTurnLeaseInput!) {
  acquireTurnLease(input: $input) {
    __typename
    ... on AcquireTurnLeasePayload { leaseToken conversationId clientMutationId }
    ... on UserError { code retryable settled message details }
  }
}`;
interface Answer {
  readonly acquireTurnLease: Readonly<Record<string, unknown>>;
}

describe('a mutation', () => {
  it('is refused with what turns writing on, where the server only reads', async () => {
    const server = await start(false);
    const { data } = await server.query<Answer, unknown>(ACQUIRE, { input: { sessionId: 's' } });
    expect(data?.acquireTurnLease).toMatchObject({ __typename: 'WritesOffError', code: 'WRITES_OFF', retryable: false, settled: true });
    expect(data?.acquireTurnLease.message).toContain('--allow-writes');
  });

  it('makes the folder for its receipts, where nobody else may look', async () => {
    const stateDir = join(temporaryFolder(), 'not', 'there', 'yet');
    const server = await startTestServer({ rows: [S('s')], settings: { allowWrites: true, noAuth: true, stateDir } });
    servers.push(server);
    const { data } = await server.query<Answer, unknown>(ACQUIRE, { input: { sessionId: 's' } });
    expect(data?.acquireTurnLease.__typename).toBe('AcquireTurnLeasePayload');
    expect(statSync(stateDir).mode & 0o777).toBe(0o700);
    expect(statSync(join(stateDir, 'receipts.db')).mode & 0o777).toBe(0o600);
  });

  it('is done once, and its refusal has a type of its own', async () => {
    const server = await start(true);
    const first = await server.query<Answer, unknown>(ACQUIRE, { input: { sessionId: 's', clientMutationId: 'a' } });
    expect(first.data?.acquireTurnLease).toMatchObject({
      __typename: 'AcquireTurnLeasePayload',
      conversationId: 's',
      clientMutationId: 'a',
    });
    const second = await server.query<Answer, unknown>(ACQUIRE, { input: { sessionId: 's' } });
    expect(second.data?.acquireTurnLease).toMatchObject({ __typename: 'LeaseHeldError', code: 'LEASE_HELD', retryable: true });
    expect(JSON.stringify(second.data)).not.toContain(String(first.data?.acquireTurnLease.leaseToken));
  });

  it('T57: that acquires a lease gives the same lease to a repeat, and none to the same id for another session', async () => {
    const server = await start(true);
    const acquire = async (sessionId: string) => {
      const { data } = await server.query<Answer, unknown>(ACQUIRE, { input: { sessionId, clientMutationId: 'lease' } });
      return data?.acquireTurnLease;
    };
    const first = await acquire('s');
    expect(first).toMatchObject({ __typename: 'AcquireTurnLeasePayload' });
    expect(await acquire('s')).toEqual(first);
    expect(await acquire('other')).toMatchObject({ code: 'VALIDATION' });
  });
});
