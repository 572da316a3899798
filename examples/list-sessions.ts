/**
 * Prints a table of your conversations, newest activity first, page by page. Needs nothing but fetch.
 *
 *   node examples/list-sessions.ts 'http://127.0.0.1:4000/#token=…'
 */
import { type Address, addressFrom, fail, plain } from './connect.ts';
import { graphql } from './generated/gql.ts';
import type { ConversationsQuery, ConversationsQueryVariables, TypedDocumentString } from './generated/graphql.ts';

const CONVERSATIONS = graphql(`
  query Conversations($after: String) {
    sessions(first: 100, after: $after) {
      totalCount
      pageInfo { hasNextPage endCursor }
      nodes { sessionId displayTitle lastActiveAt messageCount source { label } liveness { state } }
    }
  }
`);

type Conversation = ConversationsQuery['sessions']['nodes'][number];

/** One request. Ends the program when the server can't be reached, or answers with errors. */
async function ask<R, V>({ graphql, token }: Address, document: TypedDocumentString<R, V>, variables: V): Promise<R> {
  const response = await fetch(graphql, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: document, variables }),
  }).catch(() => fail(`There is no server at ${graphql}.`));
  const { data, errors = [] } = (await response.json()) as { data?: R; errors?: { message: string }[] };
  // With errors in places that may be null there are data as well; what is there is shown.
  for (const { message } of errors) console.error(plain(message));
  return data ?? process.exit(1);
}

function row({ lastActiveAt, source, messageCount, liveness, displayTitle }: Conversation): string {
  const when = lastActiveAt === null ? '' : new Date(lastActiveAt).toISOString().slice(0, 16).replace('T', ' ');
  return line(when, plain(source.label), String(messageCount ?? '?'), liveness.state === 'LIVE' ? '*' : '', plain(displayTitle));
}

function line(when: string, source: string, messages: string, live: string, title: string): string {
  return `${when.padEnd(16)}  ${source.padEnd(12).slice(0, 12)}  ${messages.padStart(8)}  ${live.padEnd(1)} ${title.slice(0, 80)}`;
}

// A reader like head may have seen enough.
process.stdout.on('error', () => process.exit(0));
const address = addressFrom(process.argv.slice(2));
console.log(line('LAST ACTIVE, UTC', 'SOURCE', 'MESSAGES', '', 'TITLE'));
const variables: ConversationsQueryVariables = {};
for (let more = true; more; ) {
  const { sessions } = await ask(address, CONVERSATIONS, variables);
  for (const conversation of sessions.nodes) console.log(row(conversation));
  variables.after = sessions.pageInfo.endCursor;
  more = sessions.pageInfo.hasNextPage;
  if (!more) console.log(`${sessions.totalCount} conversations; * marks one in which a turn is running.`);
}
