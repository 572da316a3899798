/**
 * Prints a line for every change that another program makes to your sessions. A connection that is lost is made again and goes on from the
 * last cursor: what happened meanwhile is shown, too.
 *
 *   node examples/follow-sessions.ts 'http://127.0.0.1:4000/#token=…'
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { addressFrom, fail, plain } from './connect.ts';
import { graphql } from './generated/gql.ts';
import type { FollowSubscription, FollowSubscriptionVariables, KnownQuery, KnownQueryVariables } from './generated/graphql.ts';

const FOLLOW = graphql(`
  subscription Follow($after: LiveCursor) {
    liveSessions(after: $after) {
      cursor
      reset
      changes { sessionId kinds session { displayTitle messageCount endedAt } liveness { state } }
    }
  }
`);
const KNOWN = graphql(`
  query Known($after: String, $everything: SessionFilter!) {
    sessions(first: 200, after: $after, collapse: NONE, orderBy: STARTED, filter: $everything) {
      pageInfo { hasNextPage endCursor }
      nodes { sessionId displayTitle messageCount endedAt }
    }
  }
`);

const EVERYTHING: KnownQueryVariables['everything'] = {
  includeArchived: true,
  includeBackground: true,
  includeDelegates: true,
  includeEmpty: true,
  includeHidden: true,
  includeOrphans: true,
};
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;
const WRONG_TOKEN = 4403;

const address = addressFrom(process.argv.slice(2));
let connected = false;
const client = createClient({
  url: address.graphql.replace(/^http/, 'ws'),
  connectionParams: { token: address.token },
  retryAttempts: Number.POSITIVE_INFINITY,
  shouldRetry: (event) => !isRefusal(event),
  // Not in step with other clients of a server that comes back.
  retryWait: (retries) => sleep(Math.min(FIRST_WAIT_MS * 2 ** retries, LONGEST_WAIT_MS) * (0.5 + Math.random() / 2)),
  on: {
    connected: () => {
      console.error(`Connected to ${address.graphql}.`);
      connected = true;
    },
    closed: (event) => {
      if (!isRefusal(event)) console.error(connected ? 'The connection is lost; trying again.' : `No server at ${address.graphql} yet.`);
      connected = false;
    },
  },
});

/** What a line says of a session: the state that was last seen of each, so that a frame which holds everything shows what is new. */
const known = new Map<string, string>();

function stateOf({
  displayTitle,
  messageCount,
  endedAt,
}: Pick<KnownQuery['sessions']['nodes'][number], 'displayTitle' | 'messageCount' | 'endedAt'>): string {
  return `${plain(displayTitle)} (${messageCount ?? '?'} messages${endedAt === null ? '' : ', ended'})`;
}

function show({ changes, reset }: FollowSubscription['liveSessions']): void {
  const gone = new Set(reset ? known.keys() : []);
  for (const { sessionId, kinds, session, liveness } of changes) {
    gone.delete(sessionId);
    const state = session === null ? 'is gone' : stateOf(session);
    if (!reset || known.get(sessionId) !== state) print(kinds.join('+'), sessionId, `${state}${liveness?.state === 'LIVE' ? ' *' : ''}`);
    if (session === null) known.delete(sessionId);
    else known.set(sessionId, state);
  }
  for (const sessionId of gone) {
    print('DELETED', sessionId, 'is gone');
    known.delete(sessionId);
  }
}

function print(kinds: string, sessionId: string, state: string): void {
  console.log(`${new Date().toISOString().slice(11, 19)}  ${kinds.padEnd(8)}  ${plain(sessionId)}  ${state}`);
}

/** How every session is now. Asked on the same socket, once the feed has begun: what changes in between comes after it. */
async function learn(): Promise<void> {
  const variables: KnownQueryVariables = { everything: EVERYTHING };
  for (let more = true; more; ) {
    for await (const { data, errors } of client.iterate<KnownQuery>({ query: String(KNOWN), variables })) {
      if (!data) return fail(messagesOf(errors));
      for (const { sessionId, ...session } of data.sessions.nodes) known.set(sessionId, stateOf(session));
      variables.after = data.sessions.pageInfo.endCursor;
      more = data.sessions.pageInfo.hasNextPage;
    }
  }
}

function messagesOf(errors: unknown): string {
  return Array.isArray(errors) ? errors.map((error) => plain((error as { message?: string }).message)).join('\n') : String(errors);
}

function isRefusal(event: unknown): boolean {
  return typeof event === 'object' && event !== null && 'code' in event && event.code === WRONG_TOKEN;
}

// A reader like head may have seen enough.
process.stdout.on('error', () => process.exit(0));
// The client subscribes with this very object again when it was cut off, hence from the newest cursor.
const variables: FollowSubscriptionVariables = {};
try {
  for await (const { data, errors } of client.iterate<FollowSubscription>({ query: String(FOLLOW), variables })) {
    if (!data) fail(messagesOf(errors));
    if (variables.after === undefined) await learn();
    variables.after = data.liveSessions.cursor;
    show(data.liveSessions);
  }
} catch (error) {
  fail(isRefusal(error) ? 'That is not the token of this server.' : messagesOf(error));
}
