/**
 * What the rows of a store tell about a turn (`spec/live-turns.md` 12): the live events of database origin. Those of a journal are in
 * `../journal/events.ts`; fields that only a journal or a sidecar knows are missing here.
 */
import { hash } from 'node:crypto';
import type { EventClass } from '../journal/events.ts';
import type { TurnOutcome } from '../journal/terminal.ts';

export type { EventClass, TurnOutcome };

/** A row that took the place of an older copy of the same message (7.3 rule 2). */
export interface CarriedRow {
  readonly oldId: string;
  readonly newId: string;
  /** Nobody sees the older copy any more; else it stays as history and shows again should the new one be taken back. */
  readonly retired: boolean;
}

/** What a new row is, without its body. */
export interface AppendedRow {
  readonly id: string;
  readonly role: string;
  /** Epoch seconds; null when the row has no time that can be trusted. */
  readonly at: number | null;
  readonly toolCallId: string | null;
  readonly toolName: string | null;
  readonly calls: readonly { readonly id: string; readonly name: string }[];
  readonly finishReason: string | null;
  readonly displayKind: string | null;
  readonly observed: boolean;
  readonly summary: boolean;
  /** Never shown to people. */
  readonly modelOnly: boolean;
  /** The background delegation whose result the row brings. */
  readonly delegationId: string | null;
  /** Of an assistant's row the text, at most 64 KiB of it; null for others. */
  readonly text: string | null;
}

export type UpdatedField = 'CONTENT' | 'TOOL_CALLS' | 'DISPLAY' | 'UNKNOWN';
export type UpdateCause = 'PRUNE' | 'DISPLAY' | 'CLEANUP' | 'UNKNOWN';
export type RetractCause = 'REWIND' | 'REPLACED' | 'DELETED';
export type Certainty = 'CERTAIN' | 'HIGH' | 'MEDIUM' | 'LOW';
export type SessionField =
  | 'ENDED'
  | 'REOPENED'
  | 'MODEL'
  | 'SOURCE'
  | 'WORKSPACE'
  | 'ARCHIVED'
  | 'PINNED'
  | 'HIDDEN'
  | 'READ'
  | 'HANDOFF'
  | 'PARENT'
  | 'ROUTING'
  /** It changed while nobody looked. */
  | 'UNKNOWN';

/** Counters of a session as its row has them. */
export interface SettledUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  readonly apiCalls: number;
  readonly estimatedCostUsd: number | null;
  readonly actualCostUsd: number | null;
  readonly costStatus: string | null;
}

/** The own fields of each event. */
export interface RowEventFields {
  /** `turnId` stays the same as long as the turn runs; the same turn has another one in a journal. */
  TurnStarted: {
    readonly turnId: string;
    readonly userMessageId: string | null;
    readonly source: string | null;
    readonly baseMessageId: string | null;
    readonly model: string | null;
    readonly executor: 'OTHER';
    readonly platform: string | null;
  };
  TurnEnded: {
    readonly turnId: string;
    readonly outcome: TurnOutcome;
    readonly certainty: Certainty;
    readonly evidence: 'LEASE_GONE' | 'LEASE_EXPIRED' | 'FINAL_ROW' | 'NEXT_TURN' | 'SESSION_ENDED' | 'SESSION_DELETED' | 'SILENCE';
    readonly firstMessageId: string | null;
    readonly lastMessageId: string | null;
  };
  /** One row each, so that its id is the same however the rows come; `carried` when the row repeats an older one. */
  MessagesAppended: { readonly ids: readonly string[]; readonly rows: readonly AppendedRow[]; readonly carried: readonly CarriedRow[] };
  /** `twins`: archived rows that keep the earlier bodies of pruned ones. */
  MessagesUpdated: {
    readonly ids: readonly string[];
    readonly fields: readonly UpdatedField[];
    readonly cause: UpdateCause;
    readonly twins: readonly { readonly id: string; readonly twinId: string }[];
  };
  MessagesRetracted: { readonly fromId: string; readonly ids: readonly string[]; readonly cause: RetractCause };
  /** `carried`: those that a reader has a copy of. */
  MessagesRestored: {
    readonly fromId: string;
    readonly ids: readonly string[];
    readonly cause: 'REWIND';
    readonly carried: readonly CarriedRow[];
  };
  /** All live rows of the session were taken out and these put in. */
  TranscriptReplaced: { readonly newIds: readonly string[]; readonly activeCount: number; readonly carried: readonly CarriedRow[] };
  /** `archivedIds`: rows that left the live transcript and have no live copy. */
  TranscriptCompacted: {
    readonly archivedCount: number;
    readonly firstArchivedId: string | null;
    readonly lastArchivedId: string | null;
    readonly archivedIds: readonly string[];
    readonly summaryIds: readonly string[];
    readonly carried: readonly CarriedRow[];
    readonly activeCount: number;
  };
  SessionContinued: {
    readonly fromSessionId: string;
    readonly toSessionId: string;
    readonly handoffIds: readonly string[];
    readonly carried: readonly CarriedRow[];
  };
  ToolStarted: {
    readonly toolCallId: string;
    readonly name: string;
    readonly argsPreview: unknown;
    readonly argsComplete: boolean;
    readonly messageId: string;
  };
  ToolFinished: {
    readonly toolCallId: string;
    readonly name: string;
    readonly resultPreview: string | null;
    /** Null where the row doesn't say. */
    readonly isError: boolean | null;
    readonly durationMs: null;
    readonly messageId: string;
  };
  SessionChanged: { readonly changed: readonly SessionField[] };
  TitleChanged: { readonly title: string | null; readonly status: null; readonly reason: null; readonly automatic: boolean };
  /** `final`: no turn is under way. */
  UsageChanged: { readonly usage: SettledUsage; readonly final: boolean };
  CompressionStarted: { readonly holderPid: number | null; readonly provenance: string | null };
  /** `cooldownUntil`: epoch seconds. */
  CompressionFailed: { readonly error: string | null; readonly cooldownUntil: number | null };
  ActivityHeartbeat: {
    readonly description: string;
    readonly provenance: string | null;
    readonly lastActivityAt: number | null;
    readonly leaseExpiresAt: number | null;
    readonly holderPid: number | null;
    readonly platform: string | null;
  };
  /** `delegationId`: of the registry for one in the background, else the child's session id. */
  DelegationStarted: {
    readonly delegationId: string;
    readonly childSessionId: string | null;
    readonly goal: string | null;
    readonly background: boolean;
    readonly toolCallId: string | null;
  };
  DelegationProgress: {
    readonly delegationId: string;
    readonly childSessionId: string | null;
    readonly messageCount: number;
    readonly apiCalls: number;
    readonly lastTool: string | null;
    /** The row that brought the result into the conversation; told after DelegationFinished. */
    readonly deliveredMessageId: string | null;
  };
  DelegationFinished: {
    readonly delegationId: string;
    readonly childSessionId: string | null;
    readonly status: string;
    readonly summary: string | null;
  };
  SessionDeleted: Record<never, never>;
}

export type RowEventKind = keyof RowEventFields;

export interface RowEventBase {
  /** The same fact has the same id whenever it is read again (13). */
  readonly id: string;
  readonly class: EventClass;
  /** The session that physically owns the fact. */
  readonly sessionId: string;
  /** 0 for the conversation followed, n for the n-th level of delegates. */
  readonly depth: number;
  /** Epoch seconds by the writer's clock; where the store has none, when it was read. */
  readonly at: number;
  readonly origin: 'STATE_DB' | 'DERIVED';
}

export type RowEventOf<K extends RowEventKind> = RowEventBase & { readonly kind: K } & RowEventFields[K];

/** A live event of database origin. */
export type RowEvent = { [K in RowEventKind]: RowEventOf<K> }[RowEventKind];

const ORIGIN_AND_CLASS: Readonly<Record<RowEventKind, readonly [RowEventBase['origin'], EventClass]>> = {
  TurnStarted: ['DERIVED', 'CONTENT'],
  TurnEnded: ['DERIVED', 'CONTENT'],
  MessagesAppended: ['STATE_DB', 'CONTENT'],
  MessagesUpdated: ['STATE_DB', 'STATE'],
  MessagesRetracted: ['STATE_DB', 'CONTENT'],
  MessagesRestored: ['STATE_DB', 'CONTENT'],
  TranscriptReplaced: ['DERIVED', 'CONTENT'],
  TranscriptCompacted: ['DERIVED', 'CONTENT'],
  SessionContinued: ['DERIVED', 'CONTENT'],
  ToolStarted: ['STATE_DB', 'CONTENT'],
  ToolFinished: ['STATE_DB', 'CONTENT'],
  SessionChanged: ['STATE_DB', 'STATE'],
  TitleChanged: ['STATE_DB', 'STATE'],
  UsageChanged: ['STATE_DB', 'STATE'],
  CompressionStarted: ['STATE_DB', 'STATE'],
  CompressionFailed: ['DERIVED', 'STATE'],
  ActivityHeartbeat: ['STATE_DB', 'STATE'],
  DelegationStarted: ['DERIVED', 'CONTENT'],
  DelegationProgress: ['STATE_DB', 'STATE'],
  DelegationFinished: ['DERIVED', 'CONTENT'],
  SessionDeleted: ['STATE_DB', 'CONTENT'],
};

/** Who an event is about and when. */
export interface EventPlace {
  readonly sessionId: string;
  readonly at: number;
  readonly depth?: number;
}

export function rowEvent<K extends RowEventKind>(kind: K, id: string, place: EventPlace, fields: RowEventFields[K]): RowEventOf<K> {
  const [origin, eventClass] = ORIGIN_AND_CLASS[kind];
  const base = { kind, id, class: eventClass, sessionId: place.sessionId, depth: place.depth ?? 0, at: place.at, origin };
  return Object.assign(base, fields);
}

/** The id of a state: what it is about, and the digest of what it says. */
export function stateId(kind: RowEventKind, scope: string, says: unknown): string {
  return `s:${kind}:${scope}:${digest8(says)}`;
}

/** The id of a fact that was inferred, by its evidence. */
export function derivedId(kind: RowEventKind, scope: string, evidence: unknown): string {
  return `d:${kind}:${scope}:${digest8(evidence)}`;
}

export function digest8(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'hex').slice(0, 8);
}
