/**
 * Sessions as their owner writes them out: rows under the names of their columns, with their messages (`spec/state-db.md` 9.7). A value
 * that can't be trusted is null there too; the owner's own export would write the damage on.
 */
import { CaduceusError } from '../errors.ts';
import { idList } from './connection.ts';
import { messageColumns } from './display-plan.ts';
import { compressionLineage, type LineageGraph, type LineageNode } from './lineage.ts';
import { decodeMessage, type MessageRecord } from './message-row.ts';
import { type SessionDetails, sessionDetails } from './session-details.ts';
import type { SessionRecord } from './session-record.ts';
import type { StoreReading } from './store-reading.ts';
import { isLiveSql, isVisibleSql } from './visibility.ts';

export type ExportedRow = Readonly<Record<string, unknown>>;

export interface ExportedSession extends ExportedRow {
  readonly id: string;
  readonly messages: readonly ExportedRow[];
}

export interface ExportedLineage extends ExportedSession {
  readonly segments: readonly ExportedSession[];
  readonly lineage_session_ids: readonly string[];
  readonly message_count: number;
}

export interface ExportOptions {
  /** Live rows that a session may have; 0 is no limit. */
  readonly largest: number;
  /** Also rows that a compression archived. */
  readonly includeArchivedRows?: boolean;
}

/**
 * The sessions that exist, in the order given, each with its live rows. Throws EXPORT_TOO_LARGE with count and limit when one has more
 * rows than `largest` (9.6; 0 is no limit), before any message is read.
 */
export function exportSessions(connection: StoreReading, sessions: readonly SessionRecord[], options: ExportOptions): ExportedSession[] {
  return connection.snapshot(() => {
    const ids = sessions.map(({ id }) => id);
    refuseTooLarge(connection, ids, options.largest);
    const details = sessionDetails(connection, ids);
    const messages = exportedRows(connection, ids, options.includeArchivedRows === true);
    return sessions.map((session) => ({
      ...exportedSession(session, details.get(session.id) ?? null),
      id: session.id,
      messages: (messages.get(session.id) ?? []).map(exportedMessage),
    }));
  });
}

/** The whole compression lineage of a session: the row of its last segment, every segment, and all their messages one after the other. */
export function exportLineage<N extends SessionRecord & LineageNode>(
  connection: StoreReading,
  graph: LineageGraph<N>,
  start: N,
  options: ExportOptions,
): ExportedLineage {
  const records = compressionLineage(graph, start).flatMap((id) => graph.get(id) ?? []);
  const segments = exportSessions(connection, records, options);
  const messages = segments.flatMap((segment) => segment.messages);
  return {
    ...(segments.at(-1) ?? { id: start.id }),
    segments,
    lineage_session_ids: segments.map(({ id }) => id),
    messages,
    message_count: messages.length,
  };
}

function refuseTooLarge(connection: StoreReading, ids: readonly string[], largest: number): void {
  if (largest === 0) return;
  const row = connection.get(
    `SELECT s.value AS id FROM json_each(?) s
     WHERE (SELECT COUNT(*) FROM (SELECT 1 FROM messages m WHERE m.session_id = s.value AND ${isLiveSql(connection.shape, 'm')} LIMIT ?)) > ? LIMIT 1`,
    [idList(ids), largest + 1, largest],
  );
  if (row === undefined) return;
  throw new CaduceusError(
    'EXPORT_TOO_LARGE',
    `The session ${String(row.id)} has more than ${largest} messages. Page through messages instead, or raise --max-transcript-messages.`,
    { details: { sessionId: String(row.id), count: largest + 1, limit: largest } },
  );
}

function exportedRows(connection: StoreReading, ids: readonly string[], archived: boolean): Map<string, MessageRecord[]> {
  const { shape } = connection;
  const rows = connection.all(
    `SELECT ${messageColumns(connection, 'm')} FROM json_each(?) s CROSS JOIN messages m ON m.session_id = s.value
     WHERE ${archived ? isVisibleSql(shape, 'm') : isLiveSql(shape, 'm')} ORDER BY m.id`,
    [idList(ids)],
  );
  const bySession = new Map<string, MessageRecord[]>();
  for (const row of rows) {
    const record = decodeMessage(row);
    const known = bySession.get(record.sessionId);
    if (known === undefined) bySession.set(record.sessionId, [record]);
    else known.push(record);
  }
  return bySession;
}

/** A session under the names of its columns; without `details` those that only they have are missing. */
export function exportedSession(session: SessionRecord, details: SessionDetails | null): ExportedRow {
  return {
    id: session.id,
    source: session.source,
    created_source: session.createdSource,
    user_id: session.userId,
    session_key: session.sessionKey,
    chat_id: session.chatId,
    chat_type: session.chatType,
    thread_id: session.threadId,
    display_name: session.displayName,
    model: session.model,
    parent_session_id: session.parentId,
    started_at: session.startedAt,
    ended_at: session.endedAt,
    end_reason: session.endReason,
    message_count: session.storedMessageCount,
    tool_call_count: session.toolCallCount,
    input_tokens: session.inputTokens,
    output_tokens: session.outputTokens,
    cache_read_tokens: session.cacheReadTokens,
    cache_write_tokens: session.cacheWriteTokens,
    reasoning_tokens: session.reasoningTokens,
    api_call_count: session.apiCallCount,
    billing_provider: session.billingProvider,
    billing_mode: session.billingMode,
    estimated_cost_usd: session.estimatedCostUsd,
    actual_cost_usd: session.actualCostUsd,
    cost_status: session.costStatus,
    cost_source: session.costSource,
    pricing_version: session.pricingVersion,
    cwd: session.cwd,
    git_branch: session.gitBranch,
    git_repo_root: session.gitRepoRoot,
    title: session.title,
    title_source: session.titleSource,
    last_activity_at: session.lastActivityAt,
    last_activity_description: session.lastActivityDescription,
    last_activity_provenance: session.lastActivityProvenance,
    handoff_state: session.handoffState,
    handoff_platform: session.handoffPlatform,
    compression_failure_cooldown_until: session.compressionCooldownUntil,
    profile_name: session.profileName,
    rewind_count: session.rewindCount,
    archived: Number(session.archived),
    pinned: Number(session.pinned),
    hidden: Number(session.hidden),
    last_read_at: session.lastReadAt,
    ...(details === null ? {} : exportedDetails(details)),
  };
}

function exportedDetails(details: SessionDetails): ExportedRow {
  return {
    model_config: details.rawModelConfig,
    origin_json: details.rawOrigin,
    system_prompt: details.systemPrompt,
    system_prompt_hash: details.systemPromptHash,
    billing_base_url: details.billingBaseUrl,
    handoff_error: details.handoffError,
    compression_failure_error: details.compressionError,
    compression_fallback_streak: details.compressionFallbackStreak,
    compression_ineffective_count: details.compressionIneffectiveCount,
    compression_overload_streak: details.compressionOverloadStreak,
    compression_recovery_deadline: details.compressionRecoveryDeadline,
    transport_profile: details.transportProfile,
    expiry_finalized: Number(details.expiryFinalized),
    auto_archived: Number(details.autoArchived),
    git_metadata_generation: details.gitMetadataGeneration,
    tool_names: details.toolNames,
  };
}

/** A message under the names of its columns: content, calls and display metadata decoded, provider state as stored. */
export function exportedMessage(message: MessageRecord): ExportedRow {
  return {
    id: exactId(message.rowId),
    session_id: message.sessionId,
    role: message.role,
    content: message.content,
    tool_call_id: message.toolCallId,
    tool_calls: message.rawToolCalls ? message.toolCalls : null,
    tool_name: message.toolName,
    effect_disposition: message.effectDisposition,
    timestamp: message.timestamp,
    token_count: message.tokenCount,
    finish_reason: message.finishReason,
    reasoning: message.reasoning,
    reasoning_content: message.reasoningContent,
    reasoning_details: message.rawReasoningDetails,
    codex_reasoning_items: message.rawCodexReasoningItems,
    codex_message_items: message.rawCodexMessageItems,
    platform_message_id: message.platformMessageId,
    observed: Number(message.observed),
    _compressed_summary: Number(message.compressedSummary),
    active: Number(message.active),
    compacted: Number(message.compacted),
    api_content: message.apiContent,
    display_kind: message.displayKind,
    display_metadata: message.displayMetadata,
    message_uid: message.messageUid,
    absorbed_message_uids: message.rawAbsorbedMessageUids,
    tool_call_uids: message.rawToolCallUids,
    tool_call_uid: message.toolCallUid,
  };
}

/** Ids are numbers in an export; one that a number can't hold exactly stays text (case 90). */
function exactId(rowId: string): number | string {
  const id = Number(rowId);
  return Number.isSafeInteger(id) ? id : rowId;
}
