/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
/** How a session came from its parent. */
export type EdgeKind =
  /** It started as a copy of the conversation. */
  | 'BRANCH'
  /** It continues the same conversation. */
  | 'COMPRESSION'
  /** A sub-agent, or an untagged child. */
  | 'DELEGATE'
  /** A new conversation took over the same place. */
  | 'RESET'
  /** A tool ran in it. */
  | 'TOOL'
  /** The parent is gone, and nothing says what it was. */
  | 'UNKNOWN';

/** LINEAGE: one entry a conversation, shown as its tip. NONE: every stored row. */
export type LineageCollapse =
  /** One entry a conversation, shown as its tip. */
  | 'LINEAGE'
  /** Every stored row. */
  | 'NONE';

/** What happened to a session since the last frame. */
export type LiveSessionChangeKind =
  /** It appeared. */
  | 'ADDED'
  /** It is gone. */
  | 'DELETED'
  /** It was ended. */
  | 'ENDED'
  /** Messages were added or taken back. */
  | 'MESSAGES'
  /** It was opened again. */
  | 'REOPENED'
  /** It appeared and continues previousSessionId. */
  | 'ROTATED'
  /** Nothing: this is how it is at the start. */
  | 'STATE'
  /** A turn of the Web UI began or ended; other turns show by their messages. */
  | 'TURN'
  /** Title, flags, usage, heartbeat or another column changed. */
  | 'UPDATED';

/** Whether a turn is running. */
export type LivenessState =
  /** The session was ended. */
  | 'ENDED'
  /** Open, and nothing is running. */
  | 'IDLE'
  /** Evidence says so: a lease, a lock, a gateway turn, a fresh heartbeat. */
  | 'LIVE'
  /** It was left behind as running; nothing has moved for minutes. */
  | 'STALE'
  /** A turn was submitted and has not shown itself yet. */
  | 'STARTING'
  /** It was running a short while ago, and nothing says so any more. */
  | 'SUSPECT'
  /** It can't be told. */
  | 'UNKNOWN';

/** Who speaks. */
export type MessageRole =
  /** The model. */
  | 'ASSISTANT'
  /** Anything else; see rawRole. */
  | 'OTHER'
  /** Instructions. */
  | 'SYSTEM'
  /** The result of a tool call. */
  | 'TOOL'
  /** A person, or a program in a person's place. */
  | 'USER';

/** What became of a row. */
export type MessageState =
  /** Summarised away by compaction; still history. */
  | 'ARCHIVED'
  /** Part of the live transcript. */
  | 'LIVE'
  /** Taken back, undone or superseded. */
  | 'REWOUND';

/** Which rows are shown. */
export type MessageView =
  /** Every row of the store, rewound ones too; where the store does not have the session, what its file holds. */
  | 'AUDIT'
  /** What a person reads: archived by compaction included, each logical message once, in its first place. Scaffolds are in it with displayKind "hidden": don't draw them. */
  | 'DISPLAY'
  /** What the model holds. Of a session with a file of the Web UI: what the Web UI sends. */
  | 'LIVE';

/** Where to search. Rows that are never shown are never found. */
export type SearchFilter = {
  /** Said before. */
  before?: string | null | undefined;
  /** Not these sources. */
  excludeSources?: Array<string> | null | undefined;
  /** Rewound rows too. */
  includeInactive?: boolean | null | undefined;
  /** Search what the model thought too; slower. */
  includeReasoning?: boolean | null | undefined;
  /** Only these roles; with TOOL the rows are read, since tool results are indexed in part only. */
  roles?: Array<MessageRole> | null | undefined;
  /** Only in this stored session. */
  sessionId?: string | null | undefined;
  /** Said at or after. */
  since?: string | null | undefined;
  /** Only these sources; an empty list finds nothing. */
  sources?: Array<string> | null | undefined;
};

/** How a search was answered. */
export type SearchRoute =
  /** By the index for Chinese, Japanese and Korean. */
  | 'CJK'
  /** Nothing searchable was left of the query. */
  | 'EMPTY'
  /** By the word index; a word without hits was tried as a substring too. */
  | 'FTS'
  /** By reading the rows: slower. */
  | 'LIKE'
  /** By the index of substrings. */
  | 'TRIGRAM';

/** Which sessions a list shows. With LINEAGE, source and flags are those of the first segment. */
export type SessionFilter = {
  /** Last active before. */
  activeBefore?: string | null | undefined;
  /** Last active at or after. */
  activeSince?: string | null | undefined;
  /** true: only archived ones. false or left out: none of them. */
  archived?: boolean | null | undefined;
  /** Only in this working folder or below it. */
  cwdPrefix?: string | null | undefined;
  /** Not these sources. */
  excludeSources?: Array<string> | null | undefined;
  /** Archived ones beside the others. */
  includeArchived?: boolean | null | undefined;
  /** Cron, webhook and kanban runs, tools and one-shots too. */
  includeBackground?: boolean | null | undefined;
  /** Delegated (sub-agent) children as entries of their own. */
  includeDelegates?: boolean | null | undefined;
  /** Conversations without any message too. */
  includeEmpty?: boolean | null | undefined;
  /** Hidden ones too. */
  includeHidden?: boolean | null | undefined;
  /** Children whose parent is missing, or part of a loop, as entries of their own. */
  includeOrphans?: boolean | null | undefined;
  /** Also what the Web UI's own list leaves out by its rules: snapshots, terminal sessions that hold too little, earlier chats. */
  includeUnlisted?: boolean | null | undefined;
  /** Only what is stored there. */
  origins?: Array<SessionOrigin> | null | undefined;
  /** Only pinned ones, or only the others. */
  pinned?: boolean | null | undefined;
  /** Only sessions of this project of the Web UI. */
  projectId?: string | number | null | undefined;
  /** Only with this routing key. */
  sessionKey?: string | null | undefined;
  /** Only these sources, background ones too; an empty list finds nothing. */
  sources?: Array<string> | null | undefined;
  /** Text in the title of any segment, case ignored; at most 500 characters. */
  titleContains?: string | null | undefined;
  /** Text in the title or id of any segment, case and separators ignored; at most 500 characters. */
  titleOrIdContains?: string | null | undefined;
};

/** Order of a session list. Unknown times come last. */
export type SessionOrder =
  /** Pinned ones first, then by activity. */
  | 'PINNED_THEN_RECENT'
  /** Newest activity first, over all segments of a conversation. */
  | 'RECENT_ACTIVITY'
  /** Newest start first. */
  | 'STARTED'
  /** By title, untitled ones last. */
  | 'TITLE';

/** Where a session is stored. */
export type SessionOrigin =
  /** In a Claude Code transcript. */
  | 'CLAUDE_CODE'
  /** In state.db. */
  | 'STATE_DB'
  /** In a file of the Web UI. */
  | 'WEB_UI';

/** What is wrong with a store as a whole. */
export type StoreHealth =
  /** Another program holds it locked. */
  | 'BUSY'
  /** Pages are damaged; what can be read is shown. */
  | 'CORRUPT'
  /** The file has no tables. */
  | 'EMPTY'
  /** The path, its permissions or the disk. */
  | 'IO_ERROR'
  /** The file is no SQLite database, or none of the Hermes Agent. */
  | 'NOT_A_DATABASE'
  /** There is no state.db. */
  | 'NOT_FOUND'
  /** It can be read. */
  | 'OK'
  /** Another file lies there now and is being opened. */
  | 'REPLACED'
  /** SQLite can't read the schema; the rows may be intact. */
  | 'SCHEMA_MALFORMED'
  /** The -wal file was removed while a program writes. */
  | 'WAL_GENERATION_LOST';

export type ResumeSubscriptionVariables = Exact<{
  after?: string | null | undefined;
}>;


export type ResumeSubscription = { liveSessions: { cursor: string, reset: boolean, changes: Array<{ sessionId: string, session: { title: string | null } | null }> } };

export type PageOfOneQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type PageOfOneQuery = { sessions: { pageInfo: { endCursor: string | null }, nodes: Array<{ sessionId: string, title: string | null }> } };

export type PlayedSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type PlayedSubscription = { liveSessions: { changes: Array<{ sessionId: string, kinds: Array<LiveSessionChangeKind>, session: { displayTitle: string } | null, liveness: { state: LivenessState } | null }> } };

export type TitlesOfAllQueryVariables = Exact<{ [key: string]: never; }>;


export type TitlesOfAllQuery = { sessions: { nodes: Array<{ sessionId: string, title: string | null }> } };

export type ChangesSubscriptionVariables = Exact<{
  ids?: Array<string> | string | null | undefined;
  after?: string | null | undefined;
}>;


export type ChangesSubscription = { liveSessions: { cursor: string, reset: boolean, changes: Array<{ sessionId: string, kinds: Array<LiveSessionChangeKind>, session: { title: string | null, messageCount: number | null } | null }> } };

export type AllQueryVariables = Exact<{
  profile: string;
}>;


export type AllQuery = { sessions: { totalCount: number, nodes: Array<{ sessionId: string, title: string | null, displayTitle: string, startedAt: string | null, messageCount: number | null, modelConfig: unknown, edgeKind: EdgeKind | null, archived: boolean, unread: boolean, warnings: Array<{ code: string, field: string | null }>, messages: { totalCount: number, nodes: Array<{ text: string, state: MessageState, toolCalls: Array<{ name: string }>, warnings: Array<{ code: string, field: string | null }> }> } | null }> } };

export type StoreOfQueryVariables = Exact<{
  profile: string;
}>;


export type StoreOfQuery = { profile: { store: { health: StoreHealth, problem: string | null, schemaVersion: number | null, sessionCount: number | null, messageCount: number | null, missingColumns: Array<string>, unknownColumns: Array<string>, searchDegraded: boolean } } | null };

export type DoctorQueryVariables = Exact<{
  profile?: string | null | undefined;
  deep?: boolean | null | undefined;
}>;


export type DoctorQuery = { doctor: { profile: string, deep: boolean, healthy: boolean, checkedAt: string, findings: Array<{ code: string, severity: string, area: string, message: string, subject: string | null, count: number | null, remedy: string | null }>, checks: Array<{ name: string, area: string, state: string, durationMs: number }> } };

export type FiguresQueryVariables = Exact<{
  profile: string;
}>;


export type FiguresQuery = { sessions: { nodes: Array<{ sessionId: string, title: string | null, displayTitle: string, preview: string | null, messageCount: number | null, storedMessageCount: number | null, toolCallCount: number | null, startedAt: string | null, endedAt: string | null, lastActiveAt: string | null, usage: { inputTokens: number | null, outputTokens: number | null, estimatedCostUsd: number | null, actualCostUsd: number | null, costStatus: string | null, apiCalls: number | null }, liveness: { state: LivenessState, certainty: string, evidence: Array<string> }, warnings: Array<{ code: string, field: string | null }>, messages: { totalCount: number, nodes: Array<{ rowId: string | null, text: string }> } | null, transcript: { messages: Array<{ text: string }> } | null }> }, visible: { totalCount: number, hiddenCounts: Array<{ reason: string, count: number }>, nodes: Array<{ sessionId: string, usage: { estimatedCostUsd: number | null, inputTokens: number | null }, lineage: { segments: Array<{ usage: { estimatedCostUsd: number | null } }> } }> }, usage: Array<{ sessions: number, sessionsWithoutCost: number, usage: { estimatedCostUsd: number | null, actualCostUsd: number | null, inputTokens: number | null } }> };

export type ListQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
  filter?: SessionFilter | null | undefined;
  orderBy?: SessionOrder | null | undefined;
  collapse?: LineageCollapse | null | undefined;
}>;


export type ListQuery = { sessions: { totalCount: number, hiddenCounts: Array<{ reason: string, count: number }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null }, nodes: Array<{ sessionId: string, conversationId: string, displayTitle: string, messageCount: number | null, edgeKind: EdgeKind | null, warnings: Array<{ code: string }> }> } };

export type LineageOfQueryVariables = Exact<{
  id: string;
}>;


export type LineageOfQuery = { session: { sessionId: string, conversationId: string, endReason: string | null, edgeKind: EdgeKind | null, tip: { sessionId: string }, parent: { sessionId: string } | null, children: Array<{ sessionId: string }>, warnings: Array<{ code: string, field: string | null }>, messages: { totalCount: number } | null, lineage: { root: { sessionId: string }, segments: Array<{ sessionId: string }>, problems: Array<{ code: string }> } } | null };

export type SearchQueryVariables = Exact<{
  profile: string;
  query: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
  filter?: SearchFilter | null | undefined;
}>;


export type SearchQuery = { searchMessages: { route: SearchRoute, degraded: boolean, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ snippet: string, message: { rowId: string | null, text: string, state: MessageState }, session: { sessionId: string } }> } };

export type ProfilesQueryVariables = Exact<{ [key: string]: never; }>;


export type ProfilesQuery = { profiles: Array<{ name: string, isDefault: boolean, store: { health: StoreHealth, problem: string | null, sessionCount: number | null, messageCount: number | null, searchDegraded: boolean } }> };

export type TitlesQueryVariables = Exact<{
  profile?: string | null | undefined;
  allProfiles?: boolean | null | undefined;
  after?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type TitlesQuery = { sessions: { totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ sessionId: string, title: string | null, profile: { name: string } }> } };

export type OpenedQueryVariables = Exact<{
  profile: string;
  id: string;
}>;


export type OpenedQuery = { session: { sessionId: string, title: string | null, edgeKind: EdgeKind | null, endReason: string | null, messageCount: number | null, storedMessageCount: number | null, tip: { sessionId: string }, children: Array<{ sessionId: string, edgeKind: EdgeKind | null }>, warnings: Array<{ code: string }>, lineage: { problems: Array<{ code: string, sessionIds: Array<string> }> }, messages: { totalCount: number, nodes: Array<{ rowId: string | null, role: MessageRole, text: string, copies: number, session: { sessionId: string }, toolCalls: Array<{ result: { text: string } | null }> }> } | null, live: { totalCount: number } | null, audit: { totalCount: number } | null, segment: { nodes: Array<{ text: string }> } | null, transcript: { messages: Array<{ text: string }> } | null } | null, sessions: { totalCount: number, nodes: Array<{ sessionId: string, displayTitle: string }> } };

export type PagedQueryVariables = Exact<{
  profile: string;
  id: string;
  before?: string | null | undefined;
  view?: MessageView | null | undefined;
}>;


export type PagedQuery = { session: { messages: { totalCount: number, pageInfo: { hasPreviousPage: boolean, startCursor: string | null }, nodes: Array<{ rowId: string | null, state: MessageState }> } | null } | null };

export type ResolvedQueryVariables = Exact<{
  profile: string;
  reference: string;
  followTip?: boolean | null | undefined;
}>;


export type ResolvedQuery = { resolveSession: { sessionId: string } | null };

export type LiveSubscriptionVariables = Exact<{
  sessionIds?: Array<string> | string | null | undefined;
  after?: string | null | undefined;
}>;


export type LiveSubscription = { liveSessions: { cursor: string, reset: boolean, changes: Array<{ sessionId: string, conversationId: string, kinds: Array<LiveSessionChangeKind>, deleted: boolean, previousSessionId: string | null, liveness: { state: LivenessState } | null, session: { title: string | null, displayTitle: string, messageCount: number | null, messages: { nodes: Array<{ text: string }> } | null } | null }> } };

export type HealthSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type HealthSubscription = { storeHealthChanged: { health: StoreHealth, problem: string | null, sessionCount: number | null } };

export class TypedDocumentString<TResult, TVariables>
  extends String
  implements DocumentTypeDecoration<TResult, TVariables>
{
  __apiType?: NonNullable<DocumentTypeDecoration<TResult, TVariables>['__apiType']>;
  private value: string;
  public __meta__?: Record<string, any> | undefined;

  constructor(value: string, __meta__?: Record<string, any> | undefined) {
    super(value);
    this.value = value;
    this.__meta__ = __meta__;
  }

  override toString(): string & DocumentTypeDecoration<TResult, TVariables> {
    return this.value;
  }
}

export const ResumeDocument = new TypedDocumentString(`
    subscription Resume($after: LiveCursor) {
  liveSessions(after: $after, maxRateHz: 50) {
    cursor
    reset
    changes {
      sessionId
      session {
        title
      }
    }
  }
}
    `) as unknown as TypedDocumentString<ResumeSubscription, ResumeSubscriptionVariables>;
export const PageOfOneDocument = new TypedDocumentString(`
    query PageOfOne($after: String) {
  sessions(first: 1, after: $after) {
    pageInfo {
      endCursor
    }
    nodes {
      sessionId
      title
    }
  }
}
    `) as unknown as TypedDocumentString<PageOfOneQuery, PageOfOneQueryVariables>;
export const PlayedDocument = new TypedDocumentString(`
    subscription Played {
  liveSessions {
    changes {
      sessionId
      kinds
      session {
        displayTitle
      }
      liveness {
        state
      }
    }
  }
}
    `) as unknown as TypedDocumentString<PlayedSubscription, PlayedSubscriptionVariables>;
export const TitlesOfAllDocument = new TypedDocumentString(`
    query TitlesOfAll {
  sessions(orderBy: STARTED) {
    nodes {
      sessionId
      title
    }
  }
}
    `) as unknown as TypedDocumentString<TitlesOfAllQuery, TitlesOfAllQueryVariables>;
export const ChangesDocument = new TypedDocumentString(`
    subscription Changes($ids: [String!], $after: LiveCursor) {
  liveSessions(sessionIds: $ids, after: $after, maxRateHz: 50) {
    cursor
    reset
    changes {
      sessionId
      kinds
      session {
        title
        messageCount
      }
    }
  }
}
    `) as unknown as TypedDocumentString<ChangesSubscription, ChangesSubscriptionVariables>;
export const AllDocument = new TypedDocumentString(`
    query All($profile: String!) {
  sessions(profile: $profile, first: 20, orderBy: STARTED) {
    totalCount
    nodes {
      sessionId
      title
      displayTitle
      startedAt
      messageCount
      modelConfig
      edgeKind
      archived
      unread
      warnings {
        code
        field
      }
      messages {
        totalCount
        nodes {
          text
          toolCalls {
            name
          }
          state
          warnings {
            code
            field
          }
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<AllQuery, AllQueryVariables>;
export const StoreOfDocument = new TypedDocumentString(`
    query StoreOf($profile: String!) {
  profile(name: $profile) {
    store {
      health
      problem
      schemaVersion
      sessionCount
      messageCount
      missingColumns
      unknownColumns
      searchDegraded
    }
  }
}
    `) as unknown as TypedDocumentString<StoreOfQuery, StoreOfQueryVariables>;
export const DoctorDocument = new TypedDocumentString(`
    query Doctor($profile: String, $deep: Boolean) {
  doctor(profile: $profile, deep: $deep) {
    profile
    deep
    healthy
    checkedAt
    findings {
      code
      severity
      area
      message
      subject
      count
      remedy
    }
    checks {
      name
      area
      state
      durationMs
    }
  }
}
    `) as unknown as TypedDocumentString<DoctorQuery, DoctorQueryVariables>;
export const FiguresDocument = new TypedDocumentString(`
    query Figures($profile: String!) {
  sessions(
    profile: $profile
    first: 100
    collapse: NONE
    filter: { includeEmpty: true }
    orderBy: STARTED
  ) {
    nodes {
      sessionId
      title
      displayTitle
      preview
      messageCount
      storedMessageCount
      toolCallCount
      startedAt
      endedAt
      lastActiveAt
      usage {
        inputTokens
        outputTokens
        estimatedCostUsd
        actualCostUsd
        costStatus
        apiCalls
      }
      liveness {
        state
        certainty
        evidence
      }
      warnings {
        code
        field
      }
      messages {
        totalCount
        nodes {
          rowId
          text
        }
      }
      transcript(view: REPLAY) {
        messages {
          text
        }
      }
    }
  }
  visible: sessions(profile: $profile) {
    totalCount
    hiddenCounts {
      reason
      count
    }
    nodes {
      sessionId
      usage {
        estimatedCostUsd
        inputTokens
      }
      lineage {
        segments {
          usage {
            estimatedCostUsd
          }
        }
      }
    }
  }
  usage(profile: $profile, groupBy: [PROFILE]) {
    sessions
    sessionsWithoutCost
    usage {
      estimatedCostUsd
      actualCostUsd
      inputTokens
    }
  }
}
    `) as unknown as TypedDocumentString<FiguresQuery, FiguresQueryVariables>;
export const ListDocument = new TypedDocumentString(`
    query List($first: Int, $after: String, $last: Int, $before: String, $filter: SessionFilter, $orderBy: SessionOrder, $collapse: LineageCollapse) {
  sessions(
    first: $first
    after: $after
    last: $last
    before: $before
    filter: $filter
    orderBy: $orderBy
    collapse: $collapse
  ) {
    totalCount
    hiddenCounts {
      reason
      count
    }
    pageInfo {
      hasNextPage
      hasPreviousPage
      startCursor
      endCursor
    }
    nodes {
      sessionId
      conversationId
      displayTitle
      messageCount
      edgeKind
      warnings {
        code
      }
    }
  }
}
    `) as unknown as TypedDocumentString<ListQuery, ListQueryVariables>;
export const LineageOfDocument = new TypedDocumentString(`
    query LineageOf($id: String!) {
  session(sessionId: $id) {
    sessionId
    conversationId
    endReason
    edgeKind
    tip {
      sessionId
    }
    parent {
      sessionId
    }
    children {
      sessionId
    }
    warnings {
      code
      field
    }
    messages {
      totalCount
    }
    lineage {
      root {
        sessionId
      }
      segments {
        sessionId
      }
      problems {
        code
      }
    }
  }
}
    `) as unknown as TypedDocumentString<LineageOfQuery, LineageOfQueryVariables>;
export const SearchDocument = new TypedDocumentString(`
    query Search($profile: String!, $query: String!, $first: Int, $after: String, $filter: SearchFilter) {
  searchMessages(
    profile: $profile
    query: $query
    first: $first
    after: $after
    filter: $filter
  ) {
    route
    degraded
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      snippet
      message {
        rowId
        text
        state
      }
      session {
        sessionId
      }
    }
  }
}
    `) as unknown as TypedDocumentString<SearchQuery, SearchQueryVariables>;
export const ProfilesDocument = new TypedDocumentString(`
    query Profiles {
  profiles {
    name
    isDefault
    store {
      health
      problem
      sessionCount
      messageCount
      searchDegraded
    }
  }
}
    `) as unknown as TypedDocumentString<ProfilesQuery, ProfilesQueryVariables>;
export const TitlesDocument = new TypedDocumentString(`
    query Titles($profile: String, $allProfiles: Boolean, $after: String, $first: Int) {
  sessions(
    profile: $profile
    allProfiles: $allProfiles
    after: $after
    first: $first
  ) {
    totalCount
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      sessionId
      title
      profile {
        name
      }
    }
  }
}
    `) as unknown as TypedDocumentString<TitlesQuery, TitlesQueryVariables>;
export const OpenedDocument = new TypedDocumentString(`
    query Opened($profile: String!, $id: String!) {
  session(profile: $profile, sessionId: $id) {
    sessionId
    title
    edgeKind
    endReason
    messageCount
    storedMessageCount
    tip {
      sessionId
    }
    children {
      sessionId
      edgeKind
    }
    warnings {
      code
    }
    lineage {
      problems {
        code
        sessionIds
      }
    }
    messages {
      totalCount
      nodes {
        rowId
        role
        text
        copies
        session {
          sessionId
        }
        toolCalls {
          result {
            text
          }
        }
      }
    }
    live: messages(view: LIVE) {
      totalCount
    }
    audit: messages(view: AUDIT) {
      totalCount
    }
    segment: messages(scope: SEGMENT) {
      nodes {
        text
      }
    }
    transcript {
      messages {
        text
      }
    }
  }
  sessions(profile: $profile) {
    totalCount
    nodes {
      sessionId
      displayTitle
    }
  }
}
    `) as unknown as TypedDocumentString<OpenedQuery, OpenedQueryVariables>;
export const PagedDocument = new TypedDocumentString(`
    query Paged($profile: String!, $id: String!, $before: String, $view: MessageView) {
  session(profile: $profile, sessionId: $id) {
    messages(last: 100, before: $before, view: $view) {
      totalCount
      pageInfo {
        hasPreviousPage
        startCursor
      }
      nodes {
        rowId
        state
      }
    }
  }
}
    `) as unknown as TypedDocumentString<PagedQuery, PagedQueryVariables>;
export const ResolvedDocument = new TypedDocumentString(`
    query Resolved($profile: String!, $reference: String!, $followTip: Boolean) {
  resolveSession(profile: $profile, reference: $reference, followTip: $followTip) {
    sessionId
  }
}
    `) as unknown as TypedDocumentString<ResolvedQuery, ResolvedQueryVariables>;
export const LiveDocument = new TypedDocumentString(`
    subscription Live($sessionIds: [String!], $after: LiveCursor) {
  liveSessions(sessionIds: $sessionIds, after: $after, maxRateHz: 50) {
    cursor
    reset
    changes {
      sessionId
      conversationId
      kinds
      deleted
      previousSessionId
      liveness {
        state
      }
      session {
        title
        displayTitle
        messageCount
        messages(last: 1) {
          nodes {
            text
          }
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<LiveSubscription, LiveSubscriptionVariables>;
export const HealthDocument = new TypedDocumentString(`
    subscription Health {
  storeHealthChanged {
    health
    problem
    sessionCount
  }
}
    `) as unknown as TypedDocumentString<HealthSubscription, HealthSubscriptionVariables>;