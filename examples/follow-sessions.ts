/**
 * Prints a line for every change that another program makes to your sessions. A connection that is lost is made again, and goes on from
 * the last cursor: nothing that happened meanwhile is missed.
 *
 *   node examples/follow-sessions.ts 'http://127.0.0.1:4000/#token=…'
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, createClient } from 'graphql-ws';
import { addressFrom, fail, plain } from './connect.ts';
import { graphql } from './generated/gql.ts';
import type { FollowSubscription, KnownQuery } from './generated/graphql.ts';

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
  query Known($after: String) {
    sessions(first: 200, after: $after, collapse: NONE, filter: { includeArchived: true, includeBackground: true, includeDelegates: true, includeEmpty: true, includeHidden: true, includeOrphans: true }) {
      pageInfo { hasNextPage endCursor }
      nodes { sessionId displayTitle messageCount endedAt }
    }
  }
`);

type Frame = FollowSubscription['liveSessions'];
type Session = KnownQuery['sessions']['nodes'][number];

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;
/** Close codes after which trying again changes nothing. */
const REFUSED = new Set([4400, 4401, 4403, 4406]);

/** What is known of each session, so that a frame that holds everything tells what is new. */
const known = new Map<string, string>();
let cursor: string | null = null;
let wait = FIRST_WAIT_MS;

function show({ changes, reset }: Frame): void {
  for (const { sessionId, kinds, session, liveness } of changes) {
    const state = session === null ? 'gone' : stateOf({ sessionId, ...session });
    if (reset && known.get(sessionId) === state) continue;
    known.set(sessionId, state);
    console.log(`${new Date().toISOString()}  ${kinds.join('+').padEnd(8)}  ${sessionId}  ${state}${liveness?.state === 'LIVE' ? '  *' : ''}`);
  }
}

function stateOf({ displayTitle, messageCount, endedAt }: Pick<Session, 'displayTitle' | 'messageCount' | 'endedAt'>): string {
  return `${plain(displayTitle)} (${messageCount ?? '?'} messages${endedAt === null ? '' : ', ended'})`;
}
