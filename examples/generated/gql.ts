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
    "\n  fragment FollowedSnapshot on LiveSnapshot {\n    reason\n    turn {\n      turnId runId phase phaseDetail userText userMessageId turnState: liveness\n      segments { index offset text sealed messageId }\n      reasoning { index offset text sealed messageId }\n      tools { toolCallId name argsPreview segment done resultPreview isError durationMs messageId }\n      todos { id content status }\n      interactions { interactionId kind question }\n    }\n    head { sessionId activeCount }\n  }\n": typeof types.FollowedSnapshotFragmentDoc,
    "\n  fragment FollowedFrame on LiveFrame {\n    cursor\n    catchUp\n    events {\n      __typename\n      id\n      class\n      sessionId\n      depth\n      runId\n      late\n      ... on LiveSnapshot { ...FollowedSnapshot }\n      ... on StreamReset { resetReason: reason scope }\n      ... on TurnStarted { turnId userMessageId pendingText executor platform }\n      ... on TurnPhaseChanged { phase detail }\n      ... on TextDelta { segment offset text }\n      ... on ReasoningDelta { segment offset text }\n      ... on SegmentSealed { segment dropReasoningTail }\n      ... on ToolStarted { toolCallId name argsPreview afterSegment: segment messageId }\n      ... on ToolFinished { toolCallId name resultPreview isError durationMs messageId }\n      ... on TodoChanged { todos { id content status } }\n      ... on ApprovalRequested { approvalId command }\n      ... on ClarifyRequested { clarifyId question }\n      ... on InteractionClosed { interactionId }\n      ... on TurnEnded { turnId outcome certainty corrects error { label message } }\n      ... on LivenessChanged { turnState: state certainty }\n      ... on MessagesAppended {\n        ids\n        messages { rowId role shownText: text toolName displayKind }\n        carried { oldId newId retired }\n        supersedes { runId part segment toolCallId }\n      }\n      ... on MessagesUpdated { ids }\n      ... on MessagesRetracted { ids cause }\n      ... on MessagesRestored { ids carried { oldId newId retired } }\n      ... on TranscriptReplaced { newIds carried { oldId newId retired } }\n      ... on TranscriptCompacted { firstArchivedId lastArchivedId summaryIds carried { oldId newId retired } activeCount }\n      ... on SessionContinued { fromSessionId toSessionId handoffIds carried { oldId newId retired } }\n      ... on TitleChanged { title }\n    }\n  }\n": typeof types.FollowedFrameFragmentDoc,
    "\n  subscription FollowTurn($sessionId: String!, $after: LiveCursor, $options: LiveOptions) {\n    liveTurn(sessionId: $sessionId, after: $after, options: $options) { ...FollowedFrame }\n  }\n": typeof types.FollowTurnDocument,
};
const documents: Documents = {
    "\n  subscription Follow($after: LiveCursor) {\n    liveSessions(after: $after) {\n      cursor\n      reset\n      changes { sessionId kinds session { displayTitle messageCount endedAt } liveness { state } }\n    }\n  }\n": types.FollowDocument,
    "\n  query Known($after: String, $everything: SessionFilter!) {\n    sessions(first: 200, after: $after, collapse: NONE, orderBy: STARTED, filter: $everything) {\n      pageInfo { hasNextPage endCursor }\n      nodes { sessionId displayTitle messageCount endedAt }\n    }\n  }\n": types.KnownDocument,
    "\n  query Conversations($after: String) {\n    sessions(first: 100, after: $after) {\n      totalCount\n      pageInfo { hasNextPage endCursor }\n      nodes { sessionId displayTitle lastActiveAt messageCount source { label } liveness { state } }\n    }\n  }\n": types.ConversationsDocument,
    "\n  fragment FollowedSnapshot on LiveSnapshot {\n    reason\n    turn {\n      turnId runId phase phaseDetail userText userMessageId turnState: liveness\n      segments { index offset text sealed messageId }\n      reasoning { index offset text sealed messageId }\n      tools { toolCallId name argsPreview segment done resultPreview isError durationMs messageId }\n      todos { id content status }\n      interactions { interactionId kind question }\n    }\n    head { sessionId activeCount }\n  }\n": types.FollowedSnapshotFragmentDoc,
    "\n  fragment FollowedFrame on LiveFrame {\n    cursor\n    catchUp\n    events {\n      __typename\n      id\n      class\n      sessionId\n      depth\n      runId\n      late\n      ... on LiveSnapshot { ...FollowedSnapshot }\n      ... on StreamReset { resetReason: reason scope }\n      ... on TurnStarted { turnId userMessageId pendingText executor platform }\n      ... on TurnPhaseChanged { phase detail }\n      ... on TextDelta { segment offset text }\n      ... on ReasoningDelta { segment offset text }\n      ... on SegmentSealed { segment dropReasoningTail }\n      ... on ToolStarted { toolCallId name argsPreview afterSegment: segment messageId }\n      ... on ToolFinished { toolCallId name resultPreview isError durationMs messageId }\n      ... on TodoChanged { todos { id content status } }\n      ... on ApprovalRequested { approvalId command }\n      ... on ClarifyRequested { clarifyId question }\n      ... on InteractionClosed { interactionId }\n      ... on TurnEnded { turnId outcome certainty corrects error { label message } }\n      ... on LivenessChanged { turnState: state certainty }\n      ... on MessagesAppended {\n        ids\n        messages { rowId role shownText: text toolName displayKind }\n        carried { oldId newId retired }\n        supersedes { runId part segment toolCallId }\n      }\n      ... on MessagesUpdated { ids }\n      ... on MessagesRetracted { ids cause }\n      ... on MessagesRestored { ids carried { oldId newId retired } }\n      ... on TranscriptReplaced { newIds carried { oldId newId retired } }\n      ... on TranscriptCompacted { firstArchivedId lastArchivedId summaryIds carried { oldId newId retired } activeCount }\n      ... on SessionContinued { fromSessionId toSessionId handoffIds carried { oldId newId retired } }\n      ... on TitleChanged { title }\n    }\n  }\n": types.FollowedFrameFragmentDoc,
    "\n  subscription FollowTurn($sessionId: String!, $after: LiveCursor, $options: LiveOptions) {\n    liveTurn(sessionId: $sessionId, after: $after, options: $options) { ...FollowedFrame }\n  }\n": types.FollowTurnDocument,
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
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment FollowedSnapshot on LiveSnapshot {\n    reason\n    turn {\n      turnId runId phase phaseDetail userText userMessageId turnState: liveness\n      segments { index offset text sealed messageId }\n      reasoning { index offset text sealed messageId }\n      tools { toolCallId name argsPreview segment done resultPreview isError durationMs messageId }\n      todos { id content status }\n      interactions { interactionId kind question }\n    }\n    head { sessionId activeCount }\n  }\n"): typeof import('./graphql.ts').FollowedSnapshotFragmentDoc;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment FollowedFrame on LiveFrame {\n    cursor\n    catchUp\n    events {\n      __typename\n      id\n      class\n      sessionId\n      depth\n      runId\n      late\n      ... on LiveSnapshot { ...FollowedSnapshot }\n      ... on StreamReset { resetReason: reason scope }\n      ... on TurnStarted { turnId userMessageId pendingText executor platform }\n      ... on TurnPhaseChanged { phase detail }\n      ... on TextDelta { segment offset text }\n      ... on ReasoningDelta { segment offset text }\n      ... on SegmentSealed { segment dropReasoningTail }\n      ... on ToolStarted { toolCallId name argsPreview afterSegment: segment messageId }\n      ... on ToolFinished { toolCallId name resultPreview isError durationMs messageId }\n      ... on TodoChanged { todos { id content status } }\n      ... on ApprovalRequested { approvalId command }\n      ... on ClarifyRequested { clarifyId question }\n      ... on InteractionClosed { interactionId }\n      ... on TurnEnded { turnId outcome certainty corrects error { label message } }\n      ... on LivenessChanged { turnState: state certainty }\n      ... on MessagesAppended {\n        ids\n        messages { rowId role shownText: text toolName displayKind }\n        carried { oldId newId retired }\n        supersedes { runId part segment toolCallId }\n      }\n      ... on MessagesUpdated { ids }\n      ... on MessagesRetracted { ids cause }\n      ... on MessagesRestored { ids carried { oldId newId retired } }\n      ... on TranscriptReplaced { newIds carried { oldId newId retired } }\n      ... on TranscriptCompacted { firstArchivedId lastArchivedId summaryIds carried { oldId newId retired } activeCount }\n      ... on SessionContinued { fromSessionId toSessionId handoffIds carried { oldId newId retired } }\n      ... on TitleChanged { title }\n    }\n  }\n"): typeof import('./graphql.ts').FollowedFrameFragmentDoc;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  subscription FollowTurn($sessionId: String!, $after: LiveCursor, $options: LiveOptions) {\n    liveTurn(sessionId: $sessionId, after: $after, options: $options) { ...FollowedFrame }\n  }\n"): typeof import('./graphql.ts').FollowTurnDocument;


export function graphql(source: string) {
  return (documents as any)[source] ?? {};
}
