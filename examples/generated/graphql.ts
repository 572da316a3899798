/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
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

/** Where a session is stored. */
export type SessionOrigin =
  /** In a Claude Code transcript. */
  | 'CLAUDE_CODE'
  /** In state.db. */
  | 'STATE_DB'
  /** In a file of the Web UI. */
  | 'WEB_UI';

export type FollowSubscriptionVariables = Exact<{
  after?: string | null | undefined;
}>;


export type FollowSubscription = { liveSessions: { cursor: string, reset: boolean, changes: Array<{ sessionId: string, kinds: Array<LiveSessionChangeKind>, session: { displayTitle: string, messageCount: number | null, endedAt: string | null } | null, liveness: { state: LivenessState } | null }> } };

export type KnownQueryVariables = Exact<{
  after?: string | null | undefined;
  everything: SessionFilter;
}>;


export type KnownQuery = { sessions: { pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ sessionId: string, displayTitle: string, messageCount: number | null, endedAt: string | null }> } };

export type ConversationsQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type ConversationsQuery = { sessions: { totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ sessionId: string, displayTitle: string, lastActiveAt: string | null, messageCount: number | null, source: { label: string }, liveness: { state: LivenessState } }> } };

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

export const FollowDocument = new TypedDocumentString(`
    subscription Follow($after: LiveCursor) {
  liveSessions(after: $after) {
    cursor
    reset
    changes {
      sessionId
      kinds
      session {
        displayTitle
        messageCount
        endedAt
      }
      liveness {
        state
      }
    }
  }
}
    `) as unknown as TypedDocumentString<FollowSubscription, FollowSubscriptionVariables>;
export const KnownDocument = new TypedDocumentString(`
    query Known($after: String, $everything: SessionFilter!) {
  sessions(
    first: 200
    after: $after
    collapse: NONE
    orderBy: STARTED
    filter: $everything
  ) {
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      sessionId
      displayTitle
      messageCount
      endedAt
    }
  }
}
    `) as unknown as TypedDocumentString<KnownQuery, KnownQueryVariables>;
export const ConversationsDocument = new TypedDocumentString(`
    query Conversations($after: String) {
  sessions(first: 100, after: $after) {
    totalCount
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      sessionId
      displayTitle
      lastActiveAt
      messageCount
      source {
        label
      }
      liveness {
        state
      }
    }
  }
}
    `) as unknown as TypedDocumentString<ConversationsQuery, ConversationsQueryVariables>;