/** What a reader of a live turn asks for: the fields that `turn-view.ts` folds, and what a terminal shows beside them. */
import { graphql } from './generated/gql.ts';
import type { FollowedFrameFragment, FollowedSnapshotFragment } from './generated/graphql.ts';

export type Frame = FollowedFrameFragment;
export type Snapshot = FollowedSnapshotFragment;
export type LiveEvent = Frame['events'][number];
export type EventOf<Kind extends LiveEvent['__typename']> = Extract<LiveEvent, { __typename: Kind }>;

export const FOLLOWED_SNAPSHOT = graphql(`
  fragment FollowedSnapshot on LiveSnapshot {
    reason
    turn {
      turnId runId phase phaseDetail userText userMessageId turnState: liveness
      segments { index offset text sealed messageId }
      reasoning { index offset text sealed messageId }
      tools { toolCallId name argsPreview segment done resultPreview isError durationMs messageId }
      todos { id content status }
      interactions { interactionId kind question }
    }
    head { sessionId activeCount }
  }
`);

/** Aliases stand where two kinds of event use one name for different types. */
export const FOLLOWED_FRAME = graphql(`
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
      ... on LiveSnapshot { ...FollowedSnapshot }
      ... on StreamReset { resetReason: reason scope }
      ... on TurnStarted { turnId userMessageId pendingText executor platform }
      ... on TurnPhaseChanged { phase detail }
      ... on TextDelta { segment offset text }
      ... on ReasoningDelta { segment offset text }
      ... on SegmentSealed { segment dropReasoningTail }
      ... on ToolStarted { toolCallId name argsPreview afterSegment: segment messageId }
      ... on ToolFinished { toolCallId name resultPreview isError durationMs messageId }
      ... on TodoChanged { todos { id content status } }
      ... on ApprovalRequested { approvalId command }
      ... on ClarifyRequested { clarifyId question }
      ... on InteractionClosed { interactionId }
      ... on TurnEnded { turnId outcome certainty corrects error { label message } }
      ... on LivenessChanged { turnState: state certainty }
      ... on MessagesAppended {
        ids
        messages { rowId role shownText: text toolName displayKind }
        carried { oldId newId retired }
        supersedes { runId part segment toolCallId }
      }
      ... on MessagesUpdated { ids }
      ... on MessagesRetracted { ids cause }
      ... on MessagesRestored { ids carried { oldId newId retired } }
      ... on TranscriptReplaced { newIds carried { oldId newId retired } }
      ... on TranscriptCompacted { firstArchivedId lastArchivedId summaryIds carried { oldId newId retired } activeCount }
      ... on SessionContinued { fromSessionId toSessionId handoffIds carried { oldId newId retired } }
      ... on TitleChanged { title }
    }
  }
`);

export const FOLLOW_TURN = graphql(`
  subscription FollowTurn($sessionId: String!, $after: LiveCursor, $options: LiveOptions) {
    liveTurn(sessionId: $sessionId, after: $after, options: $options) { ...FollowedFrame }
  }
`);
