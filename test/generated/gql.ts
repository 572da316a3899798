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
    "\n  subscription Resume($after: LiveCursor) {\n    liveSessions(after: $after, maxRateHz: 50) { cursor reset changes { sessionId session { title } } }\n  }\n": typeof types.ResumeDocument,
    "\n  query PageOfOne($after: String) { sessions(first: 1, after: $after) { pageInfo { endCursor } nodes { sessionId title } } }\n": typeof types.PageOfOneDocument,
    "\n  subscription Played { liveSessions { changes { sessionId kinds session { displayTitle } liveness { state } } } }\n": typeof types.PlayedDocument,
    "\n  query TitlesOfAll { sessions(orderBy: STARTED) { nodes { sessionId title } } }\n": typeof types.TitlesOfAllDocument,
    "\n  subscription Changes($ids: [String!], $after: LiveCursor) {\n    liveSessions(sessionIds: $ids, after: $after, maxRateHz: 50) { cursor reset changes { sessionId kinds session { title messageCount } } }\n  }\n": typeof types.ChangesDocument,
    "\n  query All($profile: String!) {\n    sessions(profile: $profile, first: 20, orderBy: STARTED) {\n      totalCount\n      nodes {\n        sessionId\n        title\n        displayTitle\n        startedAt\n        messageCount\n        modelConfig\n        edgeKind\n        archived\n        unread\n        warnings { code field }\n        messages { totalCount nodes { text toolCalls { name } state warnings { code field } } }\n      }\n    }\n  }\n": typeof types.AllDocument,
    "\n  query StoreOf($profile: String!) {\n    profile(name: $profile) {\n      store { health problem schemaVersion sessionCount messageCount missingColumns unknownColumns searchDegraded }\n    }\n  }\n": typeof types.StoreOfDocument,
    "\n  query Doctor($profile: String, $deep: Boolean) {\n    doctor(profile: $profile, deep: $deep) {\n      profile deep healthy checkedAt\n      findings { code severity area message subject count remedy }\n      checks { name area state durationMs }\n    }\n  }\n": typeof types.DoctorDocument,
    "\n  query Figures($profile: String!) {\n    sessions(profile: $profile, first: 100, collapse: NONE, filter: { includeEmpty: true }, orderBy: STARTED) {\n      nodes {\n        sessionId\n        title\n        displayTitle\n        preview\n        messageCount\n        storedMessageCount\n        toolCallCount\n        startedAt\n        endedAt\n        lastActiveAt\n        usage { inputTokens outputTokens estimatedCostUsd actualCostUsd costStatus apiCalls }\n        liveness { state certainty evidence }\n        warnings { code field }\n        messages { totalCount nodes { rowId text } }\n        transcript(view: REPLAY) { messages { text } }\n      }\n    }\n    visible: sessions(profile: $profile) {\n      totalCount\n      hiddenCounts { reason count }\n      nodes { sessionId usage { estimatedCostUsd inputTokens } lineage { segments { usage { estimatedCostUsd } } } }\n    }\n    usage(profile: $profile, groupBy: [PROFILE]) { sessions sessionsWithoutCost usage { estimatedCostUsd actualCostUsd inputTokens } }\n  }\n": typeof types.FiguresDocument,
    "\n  query List(\n    $first: Int\n    $after: String\n    $last: Int\n    $before: String\n    $filter: SessionFilter\n    $orderBy: SessionOrder\n    $collapse: LineageCollapse\n  ) {\n    sessions(first: $first, after: $after, last: $last, before: $before, filter: $filter, orderBy: $orderBy, collapse: $collapse) {\n      totalCount\n      hiddenCounts { reason count }\n      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }\n      nodes { sessionId conversationId displayTitle messageCount edgeKind warnings { code } }\n    }\n  }\n": typeof types.ListDocument,
    "\n  query LineageOf($id: String!) {\n    session(sessionId: $id) {\n      sessionId\n      conversationId\n      endReason\n      edgeKind\n      tip { sessionId }\n      parent { sessionId }\n      children { sessionId }\n      warnings { code field }\n      messages { totalCount }\n      lineage { root { sessionId } segments { sessionId } problems { code } }\n    }\n  }\n": typeof types.LineageOfDocument,
    "\n  query Search($profile: String!, $query: String!, $first: Int, $after: String, $filter: SearchFilter) {\n    searchMessages(profile: $profile, query: $query, first: $first, after: $after, filter: $filter) {\n      route\n      degraded\n      pageInfo { hasNextPage endCursor }\n      nodes { snippet message { rowId text state } session { sessionId } }\n    }\n  }\n": typeof types.SearchDocument,
    "\n  query Profiles { profiles { name isDefault store { health problem sessionCount messageCount searchDegraded } } }\n": typeof types.ProfilesDocument,
    "\n  query Titles($profile: String, $allProfiles: Boolean, $after: String, $first: Int) {\n    sessions(profile: $profile, allProfiles: $allProfiles, after: $after, first: $first) {\n      totalCount\n      pageInfo { hasNextPage endCursor }\n      nodes { sessionId title profile { name } }\n    }\n  }\n": typeof types.TitlesDocument,
    "\n  query Opened($profile: String!, $id: String!) {\n    session(profile: $profile, sessionId: $id) {\n      sessionId\n      title\n      edgeKind\n      endReason\n      messageCount\n      storedMessageCount\n      tip { sessionId }\n      children { sessionId edgeKind }\n      warnings { code }\n      lineage { problems { code sessionIds } }\n      messages { totalCount nodes { rowId role text copies session { sessionId } toolCalls { result { text } } } }\n      live: messages(view: LIVE) { totalCount }\n      audit: messages(view: AUDIT) { totalCount }\n      segment: messages(scope: SEGMENT) { nodes { text } }\n      transcript { messages { text } }\n    }\n    sessions(profile: $profile) { totalCount nodes { sessionId displayTitle } }\n  }\n": typeof types.OpenedDocument,
    "\n  query Paged($profile: String!, $id: String!, $before: String, $view: MessageView) {\n    session(profile: $profile, sessionId: $id) {\n      messages(last: 100, before: $before, view: $view) {\n        totalCount\n        pageInfo { hasPreviousPage startCursor }\n        nodes { rowId state }\n      }\n    }\n  }\n": typeof types.PagedDocument,
    "\n  query Resolved($profile: String!, $reference: String!, $followTip: Boolean) {\n    resolveSession(profile: $profile, reference: $reference, followTip: $followTip) { sessionId }\n  }\n": typeof types.ResolvedDocument,
    "\n  subscription Live($sessionIds: [String!], $after: LiveCursor) {\n    liveSessions(sessionIds: $sessionIds, after: $after, maxRateHz: 50) {\n      cursor\n      reset\n      changes {\n        sessionId\n        conversationId\n        kinds\n        deleted\n        previousSessionId\n        liveness { state }\n        session { title displayTitle messageCount messages(last: 1) { nodes { text } } }\n      }\n    }\n  }\n": typeof types.LiveDocument,
    "\n  subscription Health { storeHealthChanged { health problem sessionCount } }\n": typeof types.HealthDocument,
};
const documents: Documents = {
    "\n  subscription Resume($after: LiveCursor) {\n    liveSessions(after: $after, maxRateHz: 50) { cursor reset changes { sessionId session { title } } }\n  }\n": types.ResumeDocument,
    "\n  query PageOfOne($after: String) { sessions(first: 1, after: $after) { pageInfo { endCursor } nodes { sessionId title } } }\n": types.PageOfOneDocument,
    "\n  subscription Played { liveSessions { changes { sessionId kinds session { displayTitle } liveness { state } } } }\n": types.PlayedDocument,
    "\n  query TitlesOfAll { sessions(orderBy: STARTED) { nodes { sessionId title } } }\n": types.TitlesOfAllDocument,
    "\n  subscription Changes($ids: [String!], $after: LiveCursor) {\n    liveSessions(sessionIds: $ids, after: $after, maxRateHz: 50) { cursor reset changes { sessionId kinds session { title messageCount } } }\n  }\n": types.ChangesDocument,
    "\n  query All($profile: String!) {\n    sessions(profile: $profile, first: 20, orderBy: STARTED) {\n      totalCount\n      nodes {\n        sessionId\n        title\n        displayTitle\n        startedAt\n        messageCount\n        modelConfig\n        edgeKind\n        archived\n        unread\n        warnings { code field }\n        messages { totalCount nodes { text toolCalls { name } state warnings { code field } } }\n      }\n    }\n  }\n": types.AllDocument,
    "\n  query StoreOf($profile: String!) {\n    profile(name: $profile) {\n      store { health problem schemaVersion sessionCount messageCount missingColumns unknownColumns searchDegraded }\n    }\n  }\n": types.StoreOfDocument,
    "\n  query Doctor($profile: String, $deep: Boolean) {\n    doctor(profile: $profile, deep: $deep) {\n      profile deep healthy checkedAt\n      findings { code severity area message subject count remedy }\n      checks { name area state durationMs }\n    }\n  }\n": types.DoctorDocument,
    "\n  query Figures($profile: String!) {\n    sessions(profile: $profile, first: 100, collapse: NONE, filter: { includeEmpty: true }, orderBy: STARTED) {\n      nodes {\n        sessionId\n        title\n        displayTitle\n        preview\n        messageCount\n        storedMessageCount\n        toolCallCount\n        startedAt\n        endedAt\n        lastActiveAt\n        usage { inputTokens outputTokens estimatedCostUsd actualCostUsd costStatus apiCalls }\n        liveness { state certainty evidence }\n        warnings { code field }\n        messages { totalCount nodes { rowId text } }\n        transcript(view: REPLAY) { messages { text } }\n      }\n    }\n    visible: sessions(profile: $profile) {\n      totalCount\n      hiddenCounts { reason count }\n      nodes { sessionId usage { estimatedCostUsd inputTokens } lineage { segments { usage { estimatedCostUsd } } } }\n    }\n    usage(profile: $profile, groupBy: [PROFILE]) { sessions sessionsWithoutCost usage { estimatedCostUsd actualCostUsd inputTokens } }\n  }\n": types.FiguresDocument,
    "\n  query List(\n    $first: Int\n    $after: String\n    $last: Int\n    $before: String\n    $filter: SessionFilter\n    $orderBy: SessionOrder\n    $collapse: LineageCollapse\n  ) {\n    sessions(first: $first, after: $after, last: $last, before: $before, filter: $filter, orderBy: $orderBy, collapse: $collapse) {\n      totalCount\n      hiddenCounts { reason count }\n      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }\n      nodes { sessionId conversationId displayTitle messageCount edgeKind warnings { code } }\n    }\n  }\n": types.ListDocument,
    "\n  query LineageOf($id: String!) {\n    session(sessionId: $id) {\n      sessionId\n      conversationId\n      endReason\n      edgeKind\n      tip { sessionId }\n      parent { sessionId }\n      children { sessionId }\n      warnings { code field }\n      messages { totalCount }\n      lineage { root { sessionId } segments { sessionId } problems { code } }\n    }\n  }\n": types.LineageOfDocument,
    "\n  query Search($profile: String!, $query: String!, $first: Int, $after: String, $filter: SearchFilter) {\n    searchMessages(profile: $profile, query: $query, first: $first, after: $after, filter: $filter) {\n      route\n      degraded\n      pageInfo { hasNextPage endCursor }\n      nodes { snippet message { rowId text state } session { sessionId } }\n    }\n  }\n": types.SearchDocument,
    "\n  query Profiles { profiles { name isDefault store { health problem sessionCount messageCount searchDegraded } } }\n": types.ProfilesDocument,
    "\n  query Titles($profile: String, $allProfiles: Boolean, $after: String, $first: Int) {\n    sessions(profile: $profile, allProfiles: $allProfiles, after: $after, first: $first) {\n      totalCount\n      pageInfo { hasNextPage endCursor }\n      nodes { sessionId title profile { name } }\n    }\n  }\n": types.TitlesDocument,
    "\n  query Opened($profile: String!, $id: String!) {\n    session(profile: $profile, sessionId: $id) {\n      sessionId\n      title\n      edgeKind\n      endReason\n      messageCount\n      storedMessageCount\n      tip { sessionId }\n      children { sessionId edgeKind }\n      warnings { code }\n      lineage { problems { code sessionIds } }\n      messages { totalCount nodes { rowId role text copies session { sessionId } toolCalls { result { text } } } }\n      live: messages(view: LIVE) { totalCount }\n      audit: messages(view: AUDIT) { totalCount }\n      segment: messages(scope: SEGMENT) { nodes { text } }\n      transcript { messages { text } }\n    }\n    sessions(profile: $profile) { totalCount nodes { sessionId displayTitle } }\n  }\n": types.OpenedDocument,
    "\n  query Paged($profile: String!, $id: String!, $before: String, $view: MessageView) {\n    session(profile: $profile, sessionId: $id) {\n      messages(last: 100, before: $before, view: $view) {\n        totalCount\n        pageInfo { hasPreviousPage startCursor }\n        nodes { rowId state }\n      }\n    }\n  }\n": types.PagedDocument,
    "\n  query Resolved($profile: String!, $reference: String!, $followTip: Boolean) {\n    resolveSession(profile: $profile, reference: $reference, followTip: $followTip) { sessionId }\n  }\n": types.ResolvedDocument,
    "\n  subscription Live($sessionIds: [String!], $after: LiveCursor) {\n    liveSessions(sessionIds: $sessionIds, after: $after, maxRateHz: 50) {\n      cursor\n      reset\n      changes {\n        sessionId\n        conversationId\n        kinds\n        deleted\n        previousSessionId\n        liveness { state }\n        session { title displayTitle messageCount messages(last: 1) { nodes { text } } }\n      }\n    }\n  }\n": types.LiveDocument,
    "\n  subscription Health { storeHealthChanged { health problem sessionCount } }\n": types.HealthDocument,
};

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  subscription Resume($after: LiveCursor) {\n    liveSessions(after: $after, maxRateHz: 50) { cursor reset changes { sessionId session { title } } }\n  }\n"): typeof import('./graphql.ts').ResumeDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query PageOfOne($after: String) { sessions(first: 1, after: $after) { pageInfo { endCursor } nodes { sessionId title } } }\n"): typeof import('./graphql.ts').PageOfOneDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  subscription Played { liveSessions { changes { sessionId kinds session { displayTitle } liveness { state } } } }\n"): typeof import('./graphql.ts').PlayedDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query TitlesOfAll { sessions(orderBy: STARTED) { nodes { sessionId title } } }\n"): typeof import('./graphql.ts').TitlesOfAllDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  subscription Changes($ids: [String!], $after: LiveCursor) {\n    liveSessions(sessionIds: $ids, after: $after, maxRateHz: 50) { cursor reset changes { sessionId kinds session { title messageCount } } }\n  }\n"): typeof import('./graphql.ts').ChangesDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query All($profile: String!) {\n    sessions(profile: $profile, first: 20, orderBy: STARTED) {\n      totalCount\n      nodes {\n        sessionId\n        title\n        displayTitle\n        startedAt\n        messageCount\n        modelConfig\n        edgeKind\n        archived\n        unread\n        warnings { code field }\n        messages { totalCount nodes { text toolCalls { name } state warnings { code field } } }\n      }\n    }\n  }\n"): typeof import('./graphql.ts').AllDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query StoreOf($profile: String!) {\n    profile(name: $profile) {\n      store { health problem schemaVersion sessionCount messageCount missingColumns unknownColumns searchDegraded }\n    }\n  }\n"): typeof import('./graphql.ts').StoreOfDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query Doctor($profile: String, $deep: Boolean) {\n    doctor(profile: $profile, deep: $deep) {\n      profile deep healthy checkedAt\n      findings { code severity area message subject count remedy }\n      checks { name area state durationMs }\n    }\n  }\n"): typeof import('./graphql.ts').DoctorDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query Figures($profile: String!) {\n    sessions(profile: $profile, first: 100, collapse: NONE, filter: { includeEmpty: true }, orderBy: STARTED) {\n      nodes {\n        sessionId\n        title\n        displayTitle\n        preview\n        messageCount\n        storedMessageCount\n        toolCallCount\n        startedAt\n        endedAt\n        lastActiveAt\n        usage { inputTokens outputTokens estimatedCostUsd actualCostUsd costStatus apiCalls }\n        liveness { state certainty evidence }\n        warnings { code field }\n        messages { totalCount nodes { rowId text } }\n        transcript(view: REPLAY) { messages { text } }\n      }\n    }\n    visible: sessions(profile: $profile) {\n      totalCount\n      hiddenCounts { reason count }\n      nodes { sessionId usage { estimatedCostUsd inputTokens } lineage { segments { usage { estimatedCostUsd } } } }\n    }\n    usage(profile: $profile, groupBy: [PROFILE]) { sessions sessionsWithoutCost usage { estimatedCostUsd actualCostUsd inputTokens } }\n  }\n"): typeof import('./graphql.ts').FiguresDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query List(\n    $first: Int\n    $after: String\n    $last: Int\n    $before: String\n    $filter: SessionFilter\n    $orderBy: SessionOrder\n    $collapse: LineageCollapse\n  ) {\n    sessions(first: $first, after: $after, last: $last, before: $before, filter: $filter, orderBy: $orderBy, collapse: $collapse) {\n      totalCount\n      hiddenCounts { reason count }\n      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }\n      nodes { sessionId conversationId displayTitle messageCount edgeKind warnings { code } }\n    }\n  }\n"): typeof import('./graphql.ts').ListDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query LineageOf($id: String!) {\n    session(sessionId: $id) {\n      sessionId\n      conversationId\n      endReason\n      edgeKind\n      tip { sessionId }\n      parent { sessionId }\n      children { sessionId }\n      warnings { code field }\n      messages { totalCount }\n      lineage { root { sessionId } segments { sessionId } problems { code } }\n    }\n  }\n"): typeof import('./graphql.ts').LineageOfDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query Search($profile: String!, $query: String!, $first: Int, $after: String, $filter: SearchFilter) {\n    searchMessages(profile: $profile, query: $query, first: $first, after: $after, filter: $filter) {\n      route\n      degraded\n      pageInfo { hasNextPage endCursor }\n      nodes { snippet message { rowId text state } session { sessionId } }\n    }\n  }\n"): typeof import('./graphql.ts').SearchDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query Profiles { profiles { name isDefault store { health problem sessionCount messageCount searchDegraded } } }\n"): typeof import('./graphql.ts').ProfilesDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query Titles($profile: String, $allProfiles: Boolean, $after: String, $first: Int) {\n    sessions(profile: $profile, allProfiles: $allProfiles, after: $after, first: $first) {\n      totalCount\n      pageInfo { hasNextPage endCursor }\n      nodes { sessionId title profile { name } }\n    }\n  }\n"): typeof import('./graphql.ts').TitlesDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query Opened($profile: String!, $id: String!) {\n    session(profile: $profile, sessionId: $id) {\n      sessionId\n      title\n      edgeKind\n      endReason\n      messageCount\n      storedMessageCount\n      tip { sessionId }\n      children { sessionId edgeKind }\n      warnings { code }\n      lineage { problems { code sessionIds } }\n      messages { totalCount nodes { rowId role text copies session { sessionId } toolCalls { result { text } } } }\n      live: messages(view: LIVE) { totalCount }\n      audit: messages(view: AUDIT) { totalCount }\n      segment: messages(scope: SEGMENT) { nodes { text } }\n      transcript { messages { text } }\n    }\n    sessions(profile: $profile) { totalCount nodes { sessionId displayTitle } }\n  }\n"): typeof import('./graphql.ts').OpenedDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query Paged($profile: String!, $id: String!, $before: String, $view: MessageView) {\n    session(profile: $profile, sessionId: $id) {\n      messages(last: 100, before: $before, view: $view) {\n        totalCount\n        pageInfo { hasPreviousPage startCursor }\n        nodes { rowId state }\n      }\n    }\n  }\n"): typeof import('./graphql.ts').PagedDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query Resolved($profile: String!, $reference: String!, $followTip: Boolean) {\n    resolveSession(profile: $profile, reference: $reference, followTip: $followTip) { sessionId }\n  }\n"): typeof import('./graphql.ts').ResolvedDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  subscription Live($sessionIds: [String!], $after: LiveCursor) {\n    liveSessions(sessionIds: $sessionIds, after: $after, maxRateHz: 50) {\n      cursor\n      reset\n      changes {\n        sessionId\n        conversationId\n        kinds\n        deleted\n        previousSessionId\n        liveness { state }\n        session { title displayTitle messageCount messages(last: 1) { nodes { text } } }\n      }\n    }\n  }\n"): typeof import('./graphql.ts').LiveDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  subscription Health { storeHealthChanged { health problem sessionCount } }\n"): typeof import('./graphql.ts').HealthDocument;


export function graphql(source: string) {
  return (documents as any)[source] ?? {};
}
