/**
 * A row of the Web UI's index as it computes it from a session file (`spec/webui-sidecars.md` 10). It holds the pending prompt and the
 * share token: for the index alone.
 */
import { type Fields, lowered, truthy, word } from '../sidecar/coercions.ts';
import type { SidecarRow } from '../sidecar/sidecar-row.ts';

/** Keys that a row has as the file has them, with what stands for an absent one. */
const AS_STORED: readonly (readonly [string, unknown])[] = [
  ['project_id', null],
  ['profile', null],
  ['personality', null],
  ['compression_anchor_visible_idx', null],
  ['compression_anchor_message_key', null],
  ['compression_anchor_summary', null],
  ['context_engine', null],
  ['compression_anchor_engine', null],
  ['compression_anchor_mode', null],
  ['context_length', null],
  ['threshold_tokens', null],
  ['last_prompt_tokens', null],
  ['recommended_recovery_action', null],
  ['active_stream_id', null],
  ['pending_user_message', null],
  ['source_tag', null],
  ['raw_source', null],
  ['session_source', null],
  ['source_label', null],
  ['enabled_toolsets', null],
  ['share_token', null],
  ['share_created_at', null],
];
const OBJECTS = ['compression_anchor_details', 'context_engine_state', 'compression_recovery', 'composer_draft', 'process_wakeup_pause'];
const WORKTREE = ['worktree_branch', 'worktree_repo_root', 'worktree_created_at'];

/** `fields` are the members of the file, `row` what was decoded of them. */
export function compactRow(fields: Fields, row: SidecarRow): Fields {
  const child = [row.compressionRecovery.sourceSessionId, row.compressionRecovery.action];
  return {
    session_id: row.id,
    title: fields.title === undefined ? row.title : (fields.title ?? null),
    workspace: row.workspace,
    model: fields.model ?? null,
    model_provider: lowered(fields.model_provider) || null,
    message_count: row.messageCount ?? 0,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
    last_message_at: row.lastMessageAt,
    pinned: row.pinned,
    archived: row.archived,
    input_tokens: row.usage.inputTokens,
    output_tokens: row.usage.outputTokens,
    estimated_cost: row.usage.estimatedCost,
    cache_read_tokens: row.usage.cacheReadTokens,
    cache_write_tokens: row.usage.cacheWriteTokens,
    cache_hit_percent: row.usage.cacheHitPercent,
    pre_compression_snapshot: row.isCompressionSnapshot,
    post_compression_context_tokens_estimate: row.context.postCompressionEstimate,
    gateway_routing: row.gatewayRouting,
    gateway_routing_history: row.gatewayRoutingHistory,
    manual_title: row.manualTitle,
    created_workspace: row.createdWorkspace,
    user_message_count: row.userMessageCount,
    has_pending_user_message: truthy(fields.pending_user_message),
    is_cli_session: row.isCliSession,
    read_only: row.readOnly,
    ...Object.fromEntries(AS_STORED.map(([key, absent]) => [key, fields[key] ?? absent])),
    ...Object.fromEntries(OBJECTS.map((key) => [key, isPlainObject(fields[key]) ? fields[key] : {}])),
    ...(row.parentSessionId === null ? {} : { parent_session_id: row.parentSessionId }),
    ...(child.every((part) => part === null)
      ? {}
      : { compression_recovery_source_session_id: child[0], compression_recovery_action: child[1] }),
    ...(word(fields.worktree_path) === null
      ? {}
      : { worktree_path: fields.worktree_path, ...Object.fromEntries(WORKTREE.map((key) => [key, fields[key] ?? null])) }),
    is_streaming: false,
  };
}

function isPlainObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
