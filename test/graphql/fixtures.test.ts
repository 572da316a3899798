/** Every field of every session and message of the fixture stores: whatever a cell holds, a query is answered (`field-cases` F57). */
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { copyStore } from '../support/golden.ts';
import { startInProcess, storePathOf, type TestServer } from '../support/server.ts';
import { temporaryFolder } from '../support/stores.ts';
import { everythingOf } from './everything.ts';

const STORES = ['hostile', 'badconfig', 'lineage', 'basic', 'legacy-04', 'legacy-06', 'walled', 'dense'] as const;

let server: TestServer;
beforeAll(async () => {
  const home = temporaryFolder();
  for (const name of STORES) {
    const path = storePathOf(home, name);
    mkdirSync(dirname(path), { recursive: true });
    const copy = copyStore(name);
    copyFileSync(copy, path);
    if (name === 'walled') copyFileSync(`${copy}-wal`, `${path}-wal`);
  }
  mkdirSync(join(home, 'profiles'), { recursive: true });
  server = await startInProcess({ home, settings: { maxCost: '1000000000', maxDepth: '100', maxTokens: '1000000' } });
});

interface FoundSession {
  readonly sessionId: string;
  readonly warnings: readonly { code: string }[];
  readonly messages: { nodes: readonly FoundMessage[] };
}
interface FoundMessage {
  readonly rowId: string;
  readonly warnings: readonly { code: string }[];
}
interface Page<T> {
  readonly nodes: readonly T[];
  readonly totalCount: number;
  readonly pageInfo: { hasNextPage: boolean; endCursor: string };
}

const ALL_ROWS =
  'collapse: NONE, filter: { includeEmpty: true, includeDelegates: true, includeBackground: true, includeOrphans: true, includeArchived: true, includeHidden: true }';

async function everySession(profile: string): Promise<FoundSession[]> {
  const found: FoundSession[] = [];
  const everything = everythingOf('SessionConnection', {
    args: { 'Session.messages': '(last: 5)' },
    without: new Set(['SessionConnection.edges']),
  });
  for (let after = '', more = true; more; ) {
    const { sessions } = await server.read<{ sessions: Page<FoundSession> }, unknown>(
      `query Sessions { sessions(profile: "${profile}", first: 20, ${after} ${ALL_ROWS}) ${everything} }`,
    );
    found.push(...sessions.nodes);
    expect(sessions.nodes.length).toBeGreaterThan(0);
    after = `after: "${sessions.pageInfo.endCursor}",`;
    more = sessions.pageInfo.hasNextPage;
  }
  return found;
}

async function everyMessage(profile: string, sessionId: string, view: string): Promise<FoundMessage[]> {
  const found: FoundMessage[] = [];
  const everything = everythingOf('MessageConnection');
  for (let after: string | null = null, more = true; more; ) {
    const { session }: { session: { messages: Page<FoundMessage> } } = await server.read(
      `query Messages($id: String!, $after: String) { session(profile: "${profile}", sessionId: $id) {
        messages(first: 200, after: $after, view: ${view}, scope: SEGMENT) ${everything} } }`,
      { id: sessionId, after },
    );
    found.push(...session.messages.nodes);
    expect(found.length).toBeLessThanOrEqual(session.messages.totalCount);
    after = session.messages.pageInfo.endCursor;
    more = session.messages.pageInfo.hasNextPage;
    if (!more) expect(found).toHaveLength(session.messages.totalCount);
  }
  return found;
}

describe.each(STORES)('the store %s', (profile) => {
  it('answers every field of every session and message', async () => {
    const sessions = await everySession(profile);
    const { profile: facts } = await server.read<
      { profile: { store: { sessionCount: number; messageCount: number; health: string } } },
      unknown
    >(`{ profile(name: "${profile}") ${everythingOf('Profile')} }`);
    expect(facts.store.health).toBe('OK');
    expect(sessions).toHaveLength(facts.store.sessionCount);
    expect(new Set(sessions.map(({ sessionId }) => sessionId)).size).toBe(sessions.length);
    let rows = 0;
    for (const { sessionId } of sessions) {
      rows += (await everyMessage(profile, sessionId, 'AUDIT')).length;
      if (profile === 'hostile') await everyMessage(profile, sessionId, 'DISPLAY');
    }
    expect(rows).toBe(facts.store.messageCount);
  });

  it('answers every root field', async () => {
    const arg = `profile: "${profile}"`;
    await server.read(`{
      usage(${arg}, groupBy: [MODEL, PROVIDER, TASK]) ${everythingOf('UsageBucket')}
      days: usage(${arg}, groupBy: [DAY, SOURCE, PROFILE]) ${everythingOf('UsageBucket')}
      turnLeases(${arg}) ${everythingOf('Hold')}
      compressionLocks(${arg}) ${everythingOf('Hold')}
      backends(${arg}) ${everythingOf('Backend')}
      delegations(${arg}) ${everythingOf('Delegation')}
      searchMessages(${arg}, query: "the") ${everythingOf('SearchConnection', { without: new Set(['Session.transcript', 'Session.messages']) })}
    }`);
  });
});

describe('F57: the hostile store', () => {
  it('says of each value that could not be trusted what was done about it', async () => {
    const codes = async (profile: string) => {
      const sessions = await everySession(profile);
      const messages = (await Promise.all(sessions.map(({ sessionId }) => everyMessage(profile, sessionId, 'AUDIT')))).flat();
      const codesOf = (found: readonly { warnings: readonly { code: string }[] }[]) =>
        [...new Set(found.flatMap(({ warnings }) => warnings.map(({ code }) => code)))].sort();
      return { sessions: codesOf(sessions), messages: codesOf(messages) };
    };
    expect(await codes('badconfig')).toEqual({ sessions: ['INVALID_JSON'], messages: [] });
    expect(await codes('hostile')).toEqual({
      sessions: ['COUNT_MISMATCH', 'MISSING_PARENT', 'NEGATIVE_COUNT', 'NUMBER_TOO_LARGE', 'TIME_OUT_OF_RANGE'],
      messages: ['INVALID_JSON', 'NOT_TEXT', 'TIME_OUT_OF_RANGE', 'UNDECODABLE_TEXT'],
    });
  });

  it('lists in every order and collapse, with its warnings', async () => {
    for (const order of ['RECENT_ACTIVITY', 'STARTED', 'PINNED_THEN_RECENT', 'TITLE'])
      for (const collapse of ['LINEAGE', 'NONE'])
        await server.read(
          `{ sessions(profile: "hostile", orderBy: ${order}, collapse: ${collapse}) { totalCount hiddenCounts { reason count } nodes { title lineage { problems { code } } } } }`,
        );
  });
});
