/**
 * What a session store can be asked, whatever lies behind it. Resolvers know this interface and nothing of SQLite: a second store can
 * stand beside `state-db/` behind the same resolvers and the same tests. Methods that take lists answer all of them at a constant
 * number of statements, in the order of the arguments or as a map in which unknown ids are missing.
 *
 * Every method may throw `StoreUnreadable`; `InvalidInput` where the arguments can be wrong.
 */
import type { CaduceusError, StoreHealth } from './errors.ts';
import type { Page, PageRequest } from './paging.ts';
import type { SessionHistory } from './session-history.ts';
import type { DailyUsage, TaskUsage } from './state-db/auxiliary-usage.ts';
import type { DataWarning } from './state-db/decode.ts';
import type { StoreExamination } from './state-db/examination/examine-store.ts';
import type { Family } from './state-db/family.ts';
import type { EdgeKind } from './state-db/lineage.ts';
import type { ListQuery, ListTotals } from './state-db/listing.ts';
import type { BaselineProbe, PassProbe, RowsReading } from './state-db/live-reading.ts';
import type { LiveRow } from './state-db/live-rows.ts';
import type { Backend, Delegation, Hold, Liveness } from './state-db/liveness.ts';
import type { PlatformMessageKey } from './state-db/message-facts.ts';
import type { MessageRecord } from './state-db/message-row.ts';
import type { Anchor, ToolCallKey } from './state-db/messages.ts';
import type { Preview } from './state-db/preview.ts';
import type { RecentTurn } from './state-db/recent-turns.ts';
import type { RoutingEntry } from './state-db/routing.ts';
import type { SearchRoute } from './state-db/search/route.ts';
import type { SearchOrder } from './state-db/search/search.ts';
import type { SessionDetails } from './state-db/session-details.ts';
import type { SessionEntry } from './state-db/session-record.ts';
import type { LifecycleStatus } from './state-db/session-state.ts';
import type { TranscriptView } from './state-db/transcript.ts';
import type { ModelUsage, UsageBucket, UsageDimension, UsageFilter } from './state-db/usage.ts';
import type { MessageView } from './state-db/visibility.ts';
import type { HeldRows } from './state-db/write/held-rows.ts';
import type { ExportRequest, WrittenExport } from './state-db/write-export.ts';
import type { FilesExamination, FilesRequest } from './web-ui/examination/examine-files.ts';
import type { MessageFacts } from './web-ui/transcript/message-facts.ts';
import type { OpenAnswer, OpenRequest } from './web-ui/transcript/open-transcripts.ts';

export interface StoredSession extends SessionEntry {
  readonly profile: string;
  /** The id of the first segment of the conversation. */
  readonly conversationId: string;
  readonly edgeKind: EdgeKind | null;
}

export interface StoredMessage extends MessageRecord {
  readonly profile: string;
  /** Rows that hold this logical message; 1 where that was not looked at. */
  readonly copies: number;
  /** Of a message of a file, and of a row that stands in a transcript with such. Without it `rowId` is always a row. */
  readonly opened?: OpenedPlace;
  /** Of a message whose payload was left out on the way here: whether it has one. */
  readonly hasPayload?: boolean;
  /** What the Web UI keeps beside a message of its files. */
  readonly facts?: MessageFacts | null;
}

/** What a message of a transcript knows that files have a part in. Its `rowId` is '' where no row of the store holds it. */
export interface OpenedPlace {
  /** Names it within its session, the same as long as it is in the file; null: its row names it. */
  readonly key: string | null;
  /** The message of the same transcript that answers a call of this one; null when there is none. */
  readonly answerTo: (toolCallId: string) => StoredMessage | null;
}

/** A conversation as seen from one of its sessions. */
export interface Conversation {
  readonly root: StoredSession;
  readonly tip: StoredSession;
  /** Root first; what came before the session, the session, and its best continuations. */
  readonly segments: readonly StoredSession[];
  readonly liveContinuation: StoredSession | null;
}

export interface StoreStatus {
  readonly path: string;
  readonly health: StoreHealth;
  readonly problem: string | null;
  readonly schemaVersion: number | null;
  readonly journalMode: string | null;
  readonly sizeBytes: number | null;
  readonly walBytes: number | null;
  readonly sessionCount: number | null;
  readonly messageCount: number | null;
  readonly searchDegraded: boolean;
  readonly search: { readonly layout: string; readonly trigram: boolean; readonly cjk: boolean; readonly indexPercent: number } | null;
  readonly missingColumns: readonly string[];
  readonly unknownColumns: readonly string[];
  readonly generation: string | null;
}

export type MessageScope = 'SEGMENT' | 'CONVERSATION';

export interface MessagesQuery {
  readonly sessionId: string;
  readonly view: MessageView;
  readonly scope: MessageScope;
}

export interface SearchRequest {
  readonly text: string;
  readonly order: SearchOrder;
  readonly limit: number;
  readonly after: string | null;
  readonly sessionId: string | null;
  readonly sources: readonly string[] | null;
  readonly excludeSources: readonly string[] | null;
  readonly roles: readonly string[] | null;
  readonly includeInactive: boolean;
  readonly includeReasoning: boolean;
  readonly since: number | null;
  readonly before: number | null;
}

export interface FoundMessage {
  readonly cursor: string;
  readonly message: StoredMessage;
  readonly session: StoredSession;
  readonly snippet: string;
}

export interface SearchResult {
  readonly hits: readonly FoundMessage[];
  readonly hasNextPage: boolean;
  readonly route: SearchRoute;
  readonly degraded: boolean;
  readonly indexPercent: number;
}

export interface TranscriptQuery {
  readonly sessionId: string;
  readonly view: TranscriptView;
}

export interface StoredTranscript {
  readonly messages: readonly StoredMessage[];
  readonly revision: string;
  /** Of the rows of the store alone, which guards of changes compare; null where the store has none of it. */
  readonly storeRevision: string | null;
  readonly source: string;
  readonly repairCount: number;
  readonly warnings: readonly DataWarning[];
}

/** An inbound event as a gateway names it. */
export interface InputOwner {
  readonly sessionId: string;
  readonly owner: string;
}

export type Resolution =
  | { readonly kind: 'FOUND'; readonly session: StoredSession }
  | { readonly kind: 'AMBIGUOUS'; readonly candidates: readonly string[] }
  | { readonly kind: 'NONE' };

/** A session before and after; null: there was none, or there is none any more. */
export interface SessionChange {
  readonly before: StoredSession | null;
  readonly after: StoredSession | null;
}

/** What a subscriber to many sessions hears. Sessions that appear, change, rotate or end; or that everything may be different. */
export type SessionsEvent = { readonly kind: 'SESSIONS'; readonly changes: readonly SessionChange[] } | { readonly kind: 'RESET' };

/** `isDegraded`: of files alone, since the store can't be read. */
export interface SessionPage extends Page<StoredSession> {
  readonly isDegraded: boolean;
}

export interface SessionStore extends SessionHistory {
  readonly profile: string;
  /** Where the store lies, for people and for watchers. */
  readonly path: string;
  /** Names the content behind cursors; changes when the store is replaced. */
  generation(): Promise<string>;
  status(): Promise<StoreStatus>;

  sessions(ids: readonly string[]): Promise<ReadonlyMap<string, StoredSession>>;
  allSessions(): Promise<readonly StoredSession[]>;
  /** Throws TOO_MANY_SESSIONS for a store with more of them than are compared: no change of one would be told. */
  ensureFollowable(): Promise<void>;
  children(ids: readonly string[]): Promise<ReadonlyMap<string, readonly StoredSession[]>>;
  conversations(ids: readonly string[]): Promise<ReadonlyMap<string, Conversation>>;
  families(ids: readonly string[]): Promise<ReadonlyMap<string, Family<StoredSession>>>;
  resolve(reference: string): Promise<Resolution>;
  list(query: ListQuery, page: PageRequest): Promise<SessionPage>;
  /** What the list's cursors are good for. Throws `StoreUnreadable` where there is no list. */
  listGeneration(query: ListQuery): Promise<string>;
  totals(query: ListQuery): Promise<ListTotals>;
  previews(ids: readonly string[]): Promise<ReadonlyMap<string, Preview>>;
  details(ids: readonly string[]): Promise<ReadonlyMap<string, SessionDetails>>;
  modelUsage(ids: readonly string[]): Promise<ReadonlyMap<string, readonly ModelUsage[]>>;
  liveness(ids: readonly string[]): Promise<ReadonlyMap<string, Liveness>>;
  lifecycleStatuses(ids: readonly string[]): Promise<ReadonlyMap<string, LifecycleStatus>>;
  /** Auxiliary work of each session and of what it continues or came from, up to the nearest branch. */
  auxiliaryUsage(ids: readonly string[]): Promise<ReadonlyMap<string, readonly TaskUsage[]>>;
  dailyUsage(ids: readonly string[]): Promise<ReadonlyMap<string, readonly DailyUsage[]>>;
  /** Up to twenty turns of a person in each session, newest first. */
  recentTurns(ids: readonly string[]): Promise<ReadonlyMap<string, readonly RecentTurn[]>>;
  /** Where a resume of each session would land. */
  resumeTargets(ids: readonly string[]): Promise<ReadonlyMap<string, StoredSession>>;
  cronRuns(jobId: string, limit: number): Promise<readonly StoredSession[]>;
  /** Null for the entries of every scope. */
  routing(scope: string | null): Promise<readonly RoutingEntry[]>;

  messagePages(queries: readonly (MessagesQuery & { readonly page: PageRequest })[]): Promise<readonly Page<StoredMessage>[]>;
  messageCounts(queries: readonly MessagesQuery[]): Promise<readonly number[]>;
  messages(rowIds: readonly string[]): Promise<ReadonlyMap<string, StoredMessage>>;
  /** Neighbours of rows by id (ROW) or by time (CLOCK), the rows themselves included; empty for a row that isn't there. */
  messagesAround(anchors: readonly Anchor[], order: 'ROW' | 'CLOCK'): Promise<readonly (readonly StoredMessage[])[]>;
  toolResults(keys: readonly ToolCallKey[]): Promise<readonly (StoredMessage | null)[]>;
  rowVersions(rowIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The rows of each request that say something else than in the version that is held. Throws VALIDATION for a text that is no version. */
  staleHeldRows(requests: readonly HeldRows[]): Promise<readonly (readonly string[])[]>;
  /** Whether an inbound event was stored as a message of a person, anywhere in its conversation as seen from its tip. */
  inputOwnersExist(keys: readonly InputOwner[]): Promise<readonly boolean[]>;
  /** Whether a row of the session, whatever became of it, has the id that a platform gave a message. */
  platformMessagesExist(keys: readonly PlatformMessageKey[]): Promise<readonly boolean[]>;
  /** An error in the place of a transcript that is too large. */
  transcripts(queries: readonly TranscriptQuery[]): Promise<readonly (StoredTranscript | CaduceusError)[]>;
  /** Transcripts of session files in a folder, each put together with the rows of its session, and of rows alone. */
  openTranscripts(sessionsDir: string, requests: readonly OpenRequest[]): Promise<readonly OpenAnswer[]>;

  /** What is wrong inside the store; `deep` reads all of it, and may take thirty times as long as other reads. */
  examine(deep: boolean): Promise<StoreExamination>;
  /** What is wrong with files beside the store, as far as they have to be read whole. */
  examineFiles(request: FilesRequest): Promise<FilesExamination>;

  search(request: SearchRequest): Promise<SearchResult>;
  usage(filter: UsageFilter, groupBy: readonly UsageDimension[]): Promise<readonly UsageBucket[]>;

  turnLeases(): Promise<readonly Hold[]>;
  compressionLocks(): Promise<readonly Hold[]>;
  delegations(parentIds: readonly string[] | null, limit: number): Promise<readonly Delegation[]>;
  backends(): Promise<readonly Backend[]>;

  /** What a follower of one conversation reads, on one snapshot; null when nothing was committed since the probe's stamp. */
  readRows(probe: BaselineProbe | PassProbe): Promise<RowsReading | null>;

  /** Names the state of the store: another one means that something was committed. */
  commitStamp(): Promise<string>;
  /** Rows of the sessions with ids above one and up to another, in id order; at most 2,000. */
  rowsBetween(sessionIds: readonly string[], after: string, upTo: string): Promise<readonly LiveRow[]>;

  /** Looks for changes by other programs now; listeners hear of them. Never throws for a store that can't be read. */
  check(): Promise<void>;
  onSessions(listener: (event: SessionsEvent) => void): () => void;
  onHealth(listener: () => void): () => void;
  /** Calls when files beside the store may be others, which a check then tells; watches them until the returned function is called. */
  watchBeside(listener: () => void): () => void;
  /** Writes a session to a file; null for an unknown one. Throws EXPORT_TOO_LARGE. */
  writeExport(request: Omit<ExportRequest, 'largest'>): Promise<WrittenExport | null>;
  /** Closes the store for work that wants it for itself; reads are told that it is busy until the function that this gives is called. */
  suspend(): Promise<() => void>;
  close(): void;
}
