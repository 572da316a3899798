/* eslint-disable */
import * as types from './graphql.ts';



/**
 * Map of all GraphQL operations in the project.
 *
 * This map has several performance disadvantages:
 * 1. It is not tree-shakeable, so it will include all operations in the project.
 * 2. It is not minifiable, so the string of a GraphQL query will be multiple times inside the bundle.
 * 3. It does not support dead code elimination, so it will add unused operations.
 *
 * Therefore it is highly recommended to use the babel or swc plugin for production.
 * Learn more about it here: https://the-guild.dev/graphql/codegen/plugins/presets/preset-client#reducing-bundle-size
 */
type Documents = {
    "\n  subscription Follow($after: LiveCursor) {\n    liveSessions(after: $after) {\n      cursor\n      reset\n      changes { sessionId kinds session { displayTitle messageCount endedAt } liveness { state } }\n    }\n  }\n": typeof types.FollowDocument,
    "\n  query Known($after: String, $everything: SessionFilter!) {\n    sessions(first: 200, after: $after, collapse: NONE, orderBy: STARTED, filter: $everything) {\n      pageInfo { hasNextPage endCursor }\n      nodes { sessionId displayTitle messageCount endedAt }\n    }\n  }\n": typeof types.KnownDocument,
    "\n  query Conversations($after: String) {\n    sessions(first: 100, after: $after) {\n      totalCount\n      pageInfo { hasNextPage endCursor }\n      nodes { sessionId displayTitle lastActiveAt messageCount source { label } liveness { state } }\n    }\n  }\n": typeof types.ConversationsDocument,
};
const documents: Documents = {
    "\n  subscription Follow($after: LiveCursor) {\n    liveSessions(after: $after) {\n      cursor\n      reset\n      changes { sessionId kinds session { displayTitle messageCount endedAt } liveness { state } }\n    }\n  }\n": types.FollowDocument,
    "\n  query Known($after: String, $everything: SessionFilter!) {\n    sessions(first: 200, after: $after, collapse: NONE, orderBy: STARTED, filter: $everything) {\n      pageInfo { hasNextPage endCursor }\n      nodes { sessionId displayTitle messageCount endedAt }\n    }\n  }\n": types.KnownDocument,
    "\n  query Conversations($after: String) {\n    sessions(first: 100, after: $after) {\n      totalCount\n      pageInfo { hasNextPage endCursor }\n      nodes { sessionId displayTitle lastActiveAt messageCount source { label } liveness { state } }\n    }\n  }\n": types.ConversationsDocument,
};

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  subscription Follow($after: LiveCursor) {\n    liveSessions(after: $after) {\n      cursor\n      reset\n      changes { sessionId kinds session { displayTitle messageCount endedAt } liveness { state } }\n    }\n  }\n"): typeof import('./graphql.ts').FollowDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query Known($after: String, $everything: SessionFilter!) {\n    sessions(first: 200, after: $after, collapse: NONE, orderBy: STARTED, filter: $everything) {\n      pageInfo { hasNextPage endCursor }\n      nodes { sessionId displayTitle messageCount endedAt }\n    }\n  }\n"): typeof import('./graphql.ts').KnownDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query Conversations($after: String) {\n    sessions(first: 100, after: $after) {\n      totalCount\n      pageInfo { hasNextPage endCursor }\n      nodes { sessionId displayTitle lastActiveAt messageCount source { label } liveness { state } }\n    }\n  }\n"): typeof import('./graphql.ts').ConversationsDocument;


export function graphql(source: string) {
  return (documents as any)[source] ?? {};
}
