/** Session files of the Web UI, read whole and from their beginning, against upstream's load functions. */
import { compactRow } from '../../src/web-ui/index-file/compact-row.ts';
import type { WholeSidecar } from '../../src/web-ui/sidecar/parse-sidecar.ts';
import { readMetadata } from '../../src/web-ui/sidecar/read-metadata.ts';
import { readSidecar } from '../../src/web-ui/sidecar/read-sidecar.ts';
import type { SidecarRow } from '../../src/web-ui/sidecar/sidecar-row.ts';
import { goldenKind, type Handler, type Rule, verdict } from './compare.ts';
import { openWebUiHome, type WebUiHome } from './session-files.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The public attributes of upstream's session object, from what we decoded. */
function attributes({ row, fields, ...whole }: WholeSidecar): Fields {
  return {
    session_id: row.id,
    title: row.title,
    workspace: row.workspace,
    created_workspace: row.createdWorkspace,
    model: row.model,
    model_provider: row.modelProvider,
    messages: whole.messages,
    tool_calls: whole.toolCalls,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
    pinned: row.pinned,
    archived: row.archived,
    project_id: row.projectId,
    profile: row.profile,
    personality: row.personality,
    active_stream_id: row.activeStreamId,
    pending_user_message: row.pending?.text ?? null,
    pending_attachments: row.pending?.attachments ?? [],
    pending_started_at: row.pending?.startedAt ?? null,
    pending_user_source: row.pending?.source ?? null,
    context_messages: whole.contextMessages,
    ...accounts(row),
    llm_title_generated: row.llmTitleGenerated,
    manual_title: row.manualTitle,
    parent_session_id: row.parentSessionId,
    worktree_path: row.worktree?.path ?? null,
    worktree_branch: row.worktree?.branch ?? null,
    worktree_repo_root: row.worktree?.repoRoot ?? null,
    worktree_created_at: row.worktree?.createdAt ?? null,
    is_cli_session: row.isCliSession,
    source_tag: row.sourceTag,
    raw_source: row.rawSource,
    session_source: row.sessionSource,
    source_label: row.sourceLabel,
    read_only: row.readOnly,
    enabled_toolsets: row.enabledToolsets,
    anchor_activity_scenes: whole.activityScenes,
    share_created_at: row.shareCreatedAt,
    // What a row of ours does not hold, or not as it is in the file.
    composer_draft: fields?.composer_draft ?? {},
    process_wakeup_pause: fields?.process_wakeup_pause ?? {},
    context_engine_state: fields?.context_engine_state ?? {},
    model_explicit_pick_signature: fields?.model_explicit_pick_signature ?? null,
    share_token: fields?.share_token ?? null,
  };
}

function accounts(row: SidecarRow): Fields {
  return {
    input_tokens: row.usage.inputTokens,
    output_tokens: row.usage.outputTokens,
    estimated_cost: row.usage.estimatedCost,
    cache_read_tokens: row.usage.cacheReadTokens,
    cache_write_tokens: row.usage.cacheWriteTokens,
    compression_anchor_visible_idx: row.compression.anchorVisibleIndex,
    compression_anchor_message_key: row.compression.anchorMessageKey,
    compression_anchor_summary: row.compression.summary,
    compression_anchor_engine: row.compression.engine,
    compression_anchor_mode: row.compression.mode,
    compression_anchor_details: row.compression.details,
    context_engine: row.compression.contextEngine,
    pre_compression_snapshot: row.isCompressionSnapshot,
    context_length: row.context.length,
    threshold_tokens: row.context.thresholdTokens,
    last_prompt_tokens: row.context.lastPromptTokens,
    post_compression_context_tokens_estimate: row.context.postCompressionEstimate,
    compression_recovery: row.compressionRecovery.payload,
    recommended_recovery_action: row.compressionRecovery.recommendedAction,
    compression_recovery_source_session_id: row.compressionRecovery.sourceSessionId,
    compression_recovery_action: row.compressionRecovery.action,
    truncation_watermark: row.truncation.watermark,
    truncation_boundary: row.truncation.boundary,
    clear_generation: row.truncation.clearGeneration,
    intentional_shrink_generation: row.truncation.shrinkGeneration,
    gateway_routing: row.gatewayRouting,
    gateway_routing_history: row.gatewayRoutingHistory,
  };
}

const change = (id: string, adjust: (session: Fields) => Fields): Rule => ({ id, adjust: (expected) => adjust(expected as Fields) });

/** The name of the file is the id. */
const fileName = (sid: string) => change('file-name-is-id', (session) => ({ ...session, session_id: sid }));
const countAfter = (messages: number) => change('messages-counted', (session) => ({ ...session, message_count: messages }));
const USERS_UNKNOWN = change('users-not-counted', (session) => ({ ...session, user_message_count: null }));

type Answer = (
  home: WebUiHome,
  sid: string,
) => Promise<{ readonly row: SidecarRow; readonly value: Fields; readonly rules: readonly Rule[] } | null>;

function comparing(answer: Answer): Handler<WebUiHome> {
  return async (home, golden) => {
    const sid = String(golden.args.sid);
    const ours = await answer(home, sid);
    if (golden.error !== undefined) {
      if (!['JSONDecodeError', 'AttributeError'].includes(golden.error.type)) return { difference: `upstream raised ${golden.error.type}` };
      return ours?.row.health === 'CORRUPT' ? { deviations: ['damaged-file-shown'] } : { difference: 'the damage is not told' };
    }
    return verdict(ours?.value ?? null, golden.result, [fileName(sid), ...(ours?.rules ?? [])]);
  };
}

goldenKind<WebUiHome>('session_load', ['webui-home'], async (store) => openWebUiHome(store), {
  'Session.load': comparing(async ({ sessionsDir }, sid) => {
    const whole = await readSidecar(sessionsDir, sid);
    return whole === null ? null : { row: whole.row, value: attributes(whole), rules: [] };
  }),
  'Session.load(...).compact': comparing(async ({ sessionsDir }, sid) => {
    const whole = await readSidecar(sessionsDir, sid);
    if (whole === null) return null;
    return { row: whole.row, value: compactRow(whole.fields ?? {}, whole.row), rules: [countAfter(whole.messages.length)] };
  }),
  'Session.load_metadata_only(...).compact': comparing(async ({ sessionsDir }, sid) => {
    const row = await readMetadata(sessionsDir, sid);
    const { fields } = (await readSidecar(sessionsDir, sid)) ?? {};
    return row === null ? null : { row, value: compactRow(fields ?? {}, row), rules: row.isWhole ? [] : [USERS_UNKNOWN] };
  }),
});
