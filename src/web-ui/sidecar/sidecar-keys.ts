/**
 * The keys of a session file and their order (`spec/webui-sidecars.md` 3.7): what reads only the beginning of a file depends on it.
 */

/** Before the counts. All of them are always written. */
export const METADATA_KEYS = [
  'session_id',
  'title',
  'workspace',
  'created_workspace',
  'model',
  'model_provider',
  'model_explicit_pick_signature',
  'created_at',
  'updated_at',
  'pinned',
  'archived',
  'project_id',
  'profile',
  'input_tokens',
  'output_tokens',
  'estimated_cost',
  'cache_read_tokens',
  'cache_write_tokens',
  'personality',
  'active_stream_id',
  'pending_user_message',
  'pending_attachments',
  'pending_started_at',
  'pending_user_source',
  '_webui_pending_user_timestamp_identity',
  'compression_anchor_visible_idx',
  'compression_anchor_message_key',
  'compression_anchor_summary',
  'pre_compression_snapshot',
  'context_engine',
  'compression_anchor_engine',
  'compression_anchor_mode',
  'compression_anchor_details',
  'context_engine_state',
  'context_length',
  'threshold_tokens',
  'last_prompt_tokens',
  'post_compression_context_tokens_estimate',
  'compression_recovery',
  'recommended_recovery_action',
  'compression_recovery_source_session_id',
  'compression_recovery_action',
  'truncation_watermark',
  'truncation_boundary',
  'clear_generation',
  'intentional_shrink_generation',
  'gateway_routing',
  'gateway_routing_history',
  'llm_title_generated',
  'manual_title',
  'parent_session_id',
  'worktree_path',
  'worktree_branch',
  'worktree_repo_root',
  'worktree_created_at',
  'is_cli_session',
  'source_tag',
  'raw_source',
  'session_source',
  'source_label',
  'read_only',
  'enabled_toolsets',
  'composer_draft',
  'process_wakeup_pause',
  'share_token',
  'share_created_at',
] as const;

export const COUNT_KEYS = ['message_count', 'anchor_scene_index'] as const;
export const MESSAGES = 'messages';
export const SCENES = 'anchor_activity_scenes';
export const BULK_KEYS = [MESSAGES, 'tool_calls', SCENES, 'context_messages'] as const;

/** In the order of a file. */
export const SIDECAR_KEYS: readonly string[] = [...METADATA_KEYS, ...COUNT_KEYS, ...BULK_KEYS];

const KNOWN = new Set(SIDECAR_KEYS);

/** Whether the owner knows the key; it drops all others when it saves (3.8). */
export function isKnownKey(key: string): boolean {
  return KNOWN.has(key);
}
