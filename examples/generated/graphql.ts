/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
/** What is told of sub-agents. */
export type DelegateMode =
  /** Their rows as well, with their depth. */
  | 'MESSAGES'
  /** Nothing. */
  | 'NONE'
  /** That they began, how far they are, that they are done. */
  | 'STATE';

/** How sure something is that was inferred. */
export type LiveCertainty =
  /** The owner said so, or its process is gone. */
  | 'CERTAIN'
  /** Several signs say so. */
  | 'HIGH'
  /** Nothing says otherwise for a long time. */
  | 'LOW'
  /** One sign says so. */
  | 'MEDIUM';

/** How an event may be left out. */
export type LiveEventClass =
  /** Comes once, in order, and is never left out; deltas may be joined. */
  | 'CONTENT'
  /** The latest counts; an older one may be left out. One with the id of a CONTENT event tells more of that fact. */
  | 'STATE';

/** How new rows come. */
export type LiveMessageMode =
  /** The messages themselves. */
  | 'FULL'
  /** Their ids. */
  | 'IDS';

/** What a subscriber wants to hear. */
export type LiveOptions = {
  /** Milliseconds between frames, 0 to 1,000; 0: a frame each time something was read. */
  coalesceMs?: number | null | undefined;
  /** What is told of sub-agents. */
  delegates?: DelegateMode | null | undefined;
  /** Go on in the sessions that continue the conversation; else only SessionContinued tells of them. */
  followContinuations?: boolean | null | undefined;
  /** Bytes of a frame, about; 4,096 to 4,194,304. */
  maxFrameBytes?: number | null | undefined;
  /** How new rows come. */
  messages?: LiveMessageMode | null | undefined;
  /** Whether figures come while the turn runs. */
  metering?: boolean | null | undefined;
  /** How reasoning comes. */
  reasoning?: LiveTextMode | null | undefined;
  /** How text comes. */
  text?: LiveTextMode | null | undefined;
  /** Whether ToolStarted shows arguments. */
  toolArgs?: boolean | null | undefined;
};

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

/** Why a snapshot comes. */
export type LiveSnapshotReason =
  /** Too much was missed to be told one by one: read the messages again. */
  | 'CATCH_UP'
  /** It is the first frame. */
  | 'INITIAL'
  /** What was told before does not hold any more: read the messages again. */
  | 'RESET'
  /** A subscriber came back. */
  | 'RESUME';

/** How text comes. */
export type LiveTextMode =
  /** What was added. */
  | 'DELTA'
  /** Not at all. */
  | 'NONE'
  /** The whole segment each time, as a STATE with offset 0. */
  | 'SNAPSHOT';

/** Whether a run still lives. */
export type LiveTurnState =
  /** Something says that it runs. */
  | 'ALIVE'
  /** It does not run any more. */
  | 'DEAD'
  /** Nothing was heard of it for a while. */
  | 'SUSPECT'
  /** It can't be told. */
  | 'UNKNOWN';

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

/** Where a session is stored. */
export type SessionOrigin =
  /** In a Claude Code transcript. */
  | 'CLAUDE_CODE'
  /** In state.db. */
  | 'STATE_DB'
  /** In a file of the Web UI. */
  | 'WEB_UI';

/** Why what was told before does not hold any more. */
export type StreamResetReason =
  /** The cursor is older than this server goes back. */
  | 'CURSOR_TOO_OLD'
  /** Another file is in the place of the store. */
  | 'DB_REPLACED'
  /** The journal of the run is gone, and its end had not been told. */
  | 'RUN_GONE'
  /** The journal of the run began anew. */
  | 'RUN_REWRITTEN'
  /** The store has other columns than before. */
  | 'SCHEMA_CHANGED'
  /** Rows that were told were changed while nobody followed. */
  | 'TRANSCRIPT_REWRITTEN_OFFLINE';

/** What a reset is about. */
export type StreamResetScope =
  /** Everything. */
  | 'ALL'
  /** The overlay of the run; rows hold. */
  | 'RUN'
  /** Rows and everything else. */
  | 'TRANSCRIPT';

/** Who runs a turn. */
export type TurnExecutor =
  /** Another surface: only its rows, lease and heartbeats are to be seen. */
  | 'OTHER'
  /** The Web UI, or a gateway for it: text comes while it is written. */
  | 'WEBUI';

/** How a turn ended. */
export type TurnOutcome =
  /** By a person. */
  | 'CANCELLED'
  /** With an answer. */
  | 'COMPLETED'
  /** With an error of the provider or the program. */
  | 'FAILED'
  /** Its process is gone. */
  | 'INTERRUPTED'
  /** With its session. */
  | 'SESSION_DELETED'
  /** Another run took over its session. */
  | 'SUPERSEDED'
  /** At the limit of tool calls. */
  | 'TOOL_LIMIT'
  /** It is over, and nothing says how. */
  | 'UNKNOWN';

/** What a turn does. */
export type TurnPhase =
  /** A person has to allow something. */
  | 'AWAITING_APPROVAL'
  /** A person was asked something. */
  | 'AWAITING_CLARIFY'
  /** It was told to stop. */
  | 'CANCELLING'
  /** The conversation is being compacted. */
  | 'COMPRESSING'
  /** The answer is there; something is still being finished. */
  | 'FINALIZING'
  /** It was submitted and has not shown itself yet. */
  | 'STARTING'
  /** The model reasons, or is waited for. */
  | 'THINKING'
  /** A tool runs. */
  | 'TOOL'
  /** The model writes. */
  | 'WRITING';

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

export type FollowedSnapshotFragment = { reason: LiveSnapshotReason, turn: { turnId: string, runId: string | null, phase: TurnPhase, phaseDetail: string | null, userText: string | null, userMessageId: string | null, turnState: LiveTurnState, segments: Array<{ index: number, offset: number, text: string, sealed: boolean, messageId: string | null }>, reasoning: Array<{ index: number, offset: number, text: string, sealed: boolean, messageId: string | null }>, tools: Array<{ toolCallId: string, name: string, argsPreview: unknown, segment: number | null, done: boolean, resultPreview: string | null, isError: boolean | null, durationMs: number | null, messageId: string | null }>, todos: Array<{ id: string, content: string, status: string }>, interactions: Array<{ interactionId: string, kind: string, question: string | null }> } | null, head: { sessionId: string, activeCount: number } | null };

export type FollowedFrameFragment = { cursor: string, catchUp: boolean, events: Array<
    | { __typename: 'ActivityHeartbeat', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'ApprovalRequested', approvalId: string, command: string | null, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'ClarifyRequested', clarifyId: string, question: string | null, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'CompressionFailed', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'CompressionStarted', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'ContextStatus', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'DelegationFinished', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'DelegationProgress', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'DelegationStarted', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'GoalChanged', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'GoalContinuation', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'InteractionClosed', interactionId: string, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'LiveSnapshot', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean, reason: LiveSnapshotReason, turn: { turnId: string, runId: string | null, phase: TurnPhase, phaseDetail: string | null, userText: string | null, userMessageId: string | null, turnState: LiveTurnState, segments: Array<{ index: number, offset: number, text: string, sealed: boolean, messageId: string | null }>, reasoning: Array<{ index: number, offset: number, text: string, sealed: boolean, messageId: string | null }>, tools: Array<{ toolCallId: string, name: string, argsPreview: unknown, segment: number | null, done: boolean, resultPreview: string | null, isError: boolean | null, durationMs: number | null, messageId: string | null }>, todos: Array<{ id: string, content: string, status: string }>, interactions: Array<{ interactionId: string, kind: string, question: string | null }> } | null, head: { sessionId: string, activeCount: number } | null }
    | { __typename: 'LivenessChanged', certainty: LiveCertainty, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean, turnState: LiveTurnState }
    | { __typename: 'MessagesAppended', ids: Array<string>, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean, messages: Array<{ rowId: string | null, role: MessageRole, toolName: string | null, displayKind: string | null, shownText: string }> | null, carried: Array<{ oldId: string, newId: string, retired: boolean }>, supersedes: Array<{ runId: string, part: string, segment: number | null, toolCallId: string | null }> }
    | { __typename: 'MessagesRestored', ids: Array<string>, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean, carried: Array<{ oldId: string, newId: string, retired: boolean }> }
    | { __typename: 'MessagesRetracted', ids: Array<string>, cause: string, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'MessagesUpdated', ids: Array<string>, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'ReasoningDelta', segment: number, offset: number, text: string, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'RunWarning', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'SegmentSealed', segment: number, dropReasoningTail: string | null, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'SessionChanged', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'SessionContinued', fromSessionId: string, toSessionId: string, handoffIds: Array<string>, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean, carried: Array<{ oldId: string, newId: string, retired: boolean }> }
    | { __typename: 'SessionDeleted', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'StateSaved', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'SteerLeftover', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'StreamReset', scope: StreamResetScope, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean, resetReason: StreamResetReason }
    | { __typename: 'TextDelta', segment: number, offset: number, text: string, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'TitleChanged', title: string | null, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'TodoChanged', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean, todos: Array<{ id: string, content: string, status: string }> }
    | { __typename: 'ToolFinished', toolCallId: string, name: string, resultPreview: string | null, isError: boolean | null, durationMs: number | null, messageId: string | null, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'ToolStarted', toolCallId: string, name: string, argsPreview: unknown, messageId: string | null, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean, afterSegment: number | null }
    | { __typename: 'TranscriptCompacted', firstArchivedId: string | null, lastArchivedId: string | null, summaryIds: Array<string>, activeCount: number, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean, carried: Array<{ oldId: string, newId: string, retired: boolean }> }
    | { __typename: 'TranscriptRepaired', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'TranscriptReplaced', newIds: Array<string>, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean, carried: Array<{ oldId: string, newId: string, retired: boolean }> }
    | { __typename: 'TurnEnded', turnId: string, outcome: TurnOutcome, certainty: LiveCertainty, corrects: string | null, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean, error: { label: string | null, message: string | null } | null }
    | { __typename: 'TurnPhaseChanged', phase: TurnPhase, detail: string | null, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'TurnStarted', turnId: string, userMessageId: string | null, pendingText: string | null, executor: TurnExecutor, platform: string | null, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'UnknownRunEvent', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    | { __typename: 'UsageChanged', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
  > };

export type FollowTurnSubscriptionVariables = Exact<{
  sessionId: string;
  after?: string | null | undefined;
  options?: LiveOptions | null | undefined;
}>;


export type FollowTurnSubscription = { liveTurn: { cursor: string, catchUp: boolean, events: Array<
      | { __typename: 'ActivityHeartbeat', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'ApprovalRequested', approvalId: string, command: string | null, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'ClarifyRequested', clarifyId: string, question: string | null, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'CompressionFailed', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'CompressionStarted', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'ContextStatus', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'DelegationFinished', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'DelegationProgress', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'DelegationStarted', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'GoalChanged', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'GoalContinuation', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'InteractionClosed', interactionId: string, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'LiveSnapshot', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean, reason: LiveSnapshotReason, turn: { turnId: string, runId: string | null, phase: TurnPhase, phaseDetail: string | null, userText: string | null, userMessageId: string | null, turnState: LiveTurnState, segments: Array<{ index: number, offset: number, text: string, sealed: boolean, messageId: string | null }>, reasoning: Array<{ index: number, offset: number, text: string, sealed: boolean, messageId: string | null }>, tools: Array<{ toolCallId: string, name: string, argsPreview: unknown, segment: number | null, done: boolean, resultPreview: string | null, isError: boolean | null, durationMs: number | null, messageId: string | null }>, todos: Array<{ id: string, content: string, status: string }>, interactions: Array<{ interactionId: string, kind: string, question: string | null }> } | null, head: { sessionId: string, activeCount: number } | null }
      | { __typename: 'LivenessChanged', certainty: LiveCertainty, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean, turnState: LiveTurnState }
      | { __typename: 'MessagesAppended', ids: Array<string>, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean, messages: Array<{ rowId: string | null, role: MessageRole, toolName: string | null, displayKind: string | null, shownText: string }> | null, carried: Array<{ oldId: string, newId: string, retired: boolean }>, supersedes: Array<{ runId: string, part: string, segment: number | null, toolCallId: string | null }> }
      | { __typename: 'MessagesRestored', ids: Array<string>, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean, carried: Array<{ oldId: string, newId: string, retired: boolean }> }
      | { __typename: 'MessagesRetracted', ids: Array<string>, cause: string, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'MessagesUpdated', ids: Array<string>, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'ReasoningDelta', segment: number, offset: number, text: string, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'RunWarning', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'SegmentSealed', segment: number, dropReasoningTail: string | null, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'SessionChanged', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'SessionContinued', fromSessionId: string, toSessionId: string, handoffIds: Array<string>, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean, carried: Array<{ oldId: string, newId: string, retired: boolean }> }
      | { __typename: 'SessionDeleted', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'StateSaved', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'SteerLeftover', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'StreamReset', scope: StreamResetScope, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean, resetReason: StreamResetReason }
      | { __typename: 'TextDelta', segment: number, offset: number, text: string, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'TitleChanged', title: string | null, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'TodoChanged', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean, todos: Array<{ id: string, content: string, status: string }> }
      | { __typename: 'ToolFinished', toolCallId: string, name: string, resultPreview: string | null, isError: boolean | null, durationMs: number | null, messageId: string | null, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'ToolStarted', toolCallId: string, name: string, argsPreview: unknown, messageId: string | null, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean, afterSegment: number | null }
      | { __typename: 'TranscriptCompacted', firstArchivedId: string | null, lastArchivedId: string | null, summaryIds: Array<string>, activeCount: number, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean, carried: Array<{ oldId: string, newId: string, retired: boolean }> }
      | { __typename: 'TranscriptRepaired', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'TranscriptReplaced', newIds: Array<string>, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean, carried: Array<{ oldId: string, newId: string, retired: boolean }> }
      | { __typename: 'TurnEnded', turnId: string, outcome: TurnOutcome, certainty: LiveCertainty, corrects: string | null, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean, error: { label: string | null, message: string | null } | null }
      | { __typename: 'TurnPhaseChanged', phase: TurnPhase, detail: string | null, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'TurnStarted', turnId: string, userMessageId: string | null, pendingText: string | null, executor: TurnExecutor, platform: string | null, id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'UnknownRunEvent', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
      | { __typename: 'UsageChanged', id: string, class: LiveEventClass, sessionId: string, depth: number, runId: string | null, late: boolean }
    > } };

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
export const FollowedSnapshotFragmentDoc = new TypedDocumentString(`
    fragment FollowedSnapshot on LiveSnapshot {
  reason
  turn {
    turnId
    runId
    phase
    phaseDetail
    userText
    userMessageId
    turnState: liveness
    segments {
      index
      offset
      text
      sealed
      messageId
    }
    reasoning {
      index
      offset
      text
      sealed
      messageId
    }
    tools {
      toolCallId
      name
      argsPreview
      segment
      done
      resultPreview
      isError
      durationMs
      messageId
    }
    todos {
      id
      content
      status
    }
    interactions {
      interactionId
      kind
      question
    }
  }
  head {
    sessionId
    activeCount
  }
}
    `, {"fragmentName":"FollowedSnapshot"}) as unknown as TypedDocumentString<FollowedSnapshotFragment, unknown>;
export const FollowedFrameFragmentDoc = new TypedDocumentString(`
    fragment FollowedFrame on LiveFrame {
  cursor
  catchUp
  events {
    __typename
    id
    class
    sessionId
    depth
    runId
    late
    ... on LiveSnapshot {
      ...FollowedSnapshot
    }
    ... on StreamReset {
      resetReason: reason
      scope
    }
    ... on TurnStarted {
      turnId
      userMessageId
      pendingText
      executor
      platform
    }
    ... on TurnPhaseChanged {
      phase
      detail
    }
    ... on TextDelta {
      segment
      offset
      text
    }
    ... on ReasoningDelta {
      segment
      offset
      text
    }
    ... on SegmentSealed {
      segment
      dropReasoningTail
    }
    ... on ToolStarted {
      toolCallId
      name
      argsPreview
      afterSegment: segment
      messageId
    }
    ... on ToolFinished {
      toolCallId
      name
      resultPreview
      isError
      durationMs
      messageId
    }
    ... on TodoChanged {
      todos {
        id
        content
        status
      }
    }
    ... on ApprovalRequested {
      approvalId
      command
    }
    ... on ClarifyRequested {
      clarifyId
      question
    }
    ... on InteractionClosed {
      interactionId
    }
    ... on TurnEnded {
      turnId
      outcome
      certainty
      corrects
      error {
        label
        message
      }
    }
    ... on LivenessChanged {
      turnState: state
      certainty
    }
    ... on MessagesAppended {
      ids
      messages {
        rowId
        role
        shownText: text
        toolName
        displayKind
      }
      carried {
        oldId
        newId
        retired
      }
      supersedes {
        runId
        part
        segment
        toolCallId
      }
    }
    ... on MessagesUpdated {
      ids
    }
    ... on MessagesRetracted {
      ids
      cause
    }
    ... on MessagesRestored {
      ids
      carried {
        oldId
        newId
        retired
      }
    }
    ... on TranscriptReplaced {
      newIds
      carried {
        oldId
        newId
        retired
      }
    }
    ... on TranscriptCompacted {
      firstArchivedId
      lastArchivedId
      summaryIds
      carried {
        oldId
        newId
        retired
      }
      activeCount
    }
    ... on SessionContinued {
      fromSessionId
      toSessionId
      handoffIds
      carried {
        oldId
        newId
        retired
      }
    }
    ... on TitleChanged {
      title
    }
  }
}
    fragment FollowedSnapshot on LiveSnapshot {
  reason
  turn {
    turnId
    runId
    phase
    phaseDetail
    userText
    userMessageId
    turnState: liveness
    segments {
      index
      offset
      text
      sealed
      messageId
    }
    reasoning {
      index
      offset
      text
      sealed
      messageId
    }
    tools {
      toolCallId
      name
      argsPreview
      segment
      done
      resultPreview
      isError
      durationMs
      messageId
    }
    todos {
      id
      content
      status
    }
    interactions {
      interactionId
      kind
      question
    }
  }
  head {
    sessionId
    activeCount
  }
}`, {"fragmentName":"FollowedFrame"}) as unknown as TypedDocumentString<FollowedFrameFragment, unknown>;
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
export const FollowTurnDocument = new TypedDocumentString(`
    subscription FollowTurn($sessionId: String!, $after: LiveCursor, $options: LiveOptions) {
  liveTurn(sessionId: $sessionId, after: $after, options: $options) {
    ...FollowedFrame
  }
}
    fragment FollowedSnapshot on LiveSnapshot {
  reason
  turn {
    turnId
    runId
    phase
    phaseDetail
    userText
    userMessageId
    turnState: liveness
    segments {
      index
      offset
      text
      sealed
      messageId
    }
    reasoning {
      index
      offset
      text
      sealed
      messageId
    }
    tools {
      toolCallId
      name
      argsPreview
      segment
      done
      resultPreview
      isError
      durationMs
      messageId
    }
    todos {
      id
      content
      status
    }
    interactions {
      interactionId
      kind
      question
    }
  }
  head {
    sessionId
    activeCount
  }
}
fragment FollowedFrame on LiveFrame {
  cursor
  catchUp
  events {
    __typename
    id
    class
    sessionId
    depth
    runId
    late
    ... on LiveSnapshot {
      ...FollowedSnapshot
    }
    ... on StreamReset {
      resetReason: reason
      scope
    }
    ... on TurnStarted {
      turnId
      userMessageId
      pendingText
      executor
      platform
    }
    ... on TurnPhaseChanged {
      phase
      detail
    }
    ... on TextDelta {
      segment
      offset
      text
    }
    ... on ReasoningDelta {
      segment
      offset
      text
    }
    ... on SegmentSealed {
      segment
      dropReasoningTail
    }
    ... on ToolStarted {
      toolCallId
      name
      argsPreview
      afterSegment: segment
      messageId
    }
    ... on ToolFinished {
      toolCallId
      name
      resultPreview
      isError
      durationMs
      messageId
    }
    ... on TodoChanged {
      todos {
        id
        content
        status
      }
    }
    ... on ApprovalRequested {
      approvalId
      command
    }
    ... on ClarifyRequested {
      clarifyId
      question
    }
    ... on InteractionClosed {
      interactionId
    }
    ... on TurnEnded {
      turnId
      outcome
      certainty
      corrects
      error {
        label
        message
      }
    }
    ... on LivenessChanged {
      turnState: state
      certainty
    }
    ... on MessagesAppended {
      ids
      messages {
        rowId
        role
        shownText: text
        toolName
        displayKind
      }
      carried {
        oldId
        newId
        retired
      }
      supersedes {
        runId
        part
        segment
        toolCallId
      }
    }
    ... on MessagesUpdated {
      ids
    }
    ... on MessagesRetracted {
      ids
      cause
    }
    ... on MessagesRestored {
      ids
      carried {
        oldId
        newId
        retired
      }
    }
    ... on TranscriptReplaced {
      newIds
      carried {
        oldId
        newId
        retired
      }
    }
    ... on TranscriptCompacted {
      firstArchivedId
      lastArchivedId
      summaryIds
      carried {
        oldId
        newId
        retired
      }
      activeCount
    }
    ... on SessionContinued {
      fromSessionId
      toSessionId
      handoffIds
      carried {
        oldId
        newId
        retired
      }
    }
    ... on TitleChanged {
      title
    }
  }
}`) as unknown as TypedDocumentString<FollowTurnSubscription, FollowTurnSubscriptionVariables>;