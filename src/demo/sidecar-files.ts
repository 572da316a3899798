/** Sidecars as the Web UI saves them: one file for a session, replaced as a whole (`spec/webui-sidecars.md` 3.7, 6.2). */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type SidecarFields = Readonly<Record<string, unknown>>;
export type SidecarMessage = Readonly<Record<string, unknown>>;

export interface Sidecar {
  readonly fields: SidecarFields;
  readonly messages: readonly SidecarMessage[];
}

/** Step 1 of 3.7: the keys before `message_count`, all of them always written. */
const METADATA_KEYS = `
  session_id title workspace created_workspace model model_provider model_explicit_pick_signature created_at updated_at pinned archived
  project_id profile input_tokens output_tokens estimated_cost cache_read_tokens cache_write_tokens personality active_stream_id
  pending_user_message pending_attachments pending_started_at pending_user_source _webui_pending_user_timestamp_identity
  compression_anchor_visible_idx compression_anchor_message_key compression_anchor_summary pre_compression_snapshot context_engine
  compression_anchor_engine compression_anchor_mode compression_anchor_details context_engine_state context_length threshold_tokens
  last_prompt_tokens post_compression_context_tokens_estimate compression_recovery recommended_recovery_action
  compression_recovery_source_session_id compression_recovery_action truncation_watermark truncation_boundary clear_generation
  intentional_shrink_generation gateway_routing gateway_routing_history llm_title_generated manual_title parent_session_id worktree_path
  worktree_branch worktree_repo_root worktree_created_at is_cli_session source_tag raw_source session_source source_label read_only
  enabled_toolsets composer_draft process_wakeup_pause share_token share_created_at`
  .trim()
  .split(/\s+/);

/** What a key holds that was never set; null for those that aren't named here (3.1 to 3.5). */
const UNSET: SidecarFields = {
  title: 'Untitled',
  workspace: '/home/ada',
  created_workspace: '/home/ada',
  model: '',
  pinned: false,
  archived: false,
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  pending_attachments: [],
  pre_compression_snapshot: false,
  compression_anchor_details: {},
  context_engine_state: {},
  compression_recovery: {},
  gateway_routing_history: [],
  llm_title_generated: false,
  manual_title: false,
  is_cli_session: false,
  read_only: false,
  composer_draft: {},
  process_wakeup_pause: {},
};

/** No turn is under way ("clear pending state", `spec/webui-recovery.md` 2.1). */
export const NOTHING_PENDING: SidecarFields = {
  active_stream_id: null,
  pending_user_message: null,
  pending_attachments: [],
  pending_started_at: null,
  pending_user_source: null,
  _webui_pending_user_timestamp_identity: null,
};

export class SidecarFiles {
  private readonly directory: string;
  private readonly pid: number;
  /** The owner keeps its sessions in memory and never reads a file again. */
  private readonly loaded = new Map<string, Sidecar>();

  /** `directory`: the Web UI's session directory, which is made when it is missing; `pid` names the temporary files. */
  constructor(directory: string, pid: number) {
    this.directory = directory;
    this.pid = pid;
    mkdirSync(directory, { recursive: true });
  }

  /** The session as it was saved last; undefined when it has no sidecar. */
  load(sessionId: string): Sidecar | undefined {
    const known = this.loaded.get(sessionId);
    if (known !== undefined || !existsSync(this.pathOf(sessionId))) return known;
    const { messages, ...fields }: SidecarFields = JSON.parse(readFileSync(this.pathOf(sessionId), 'utf8'));
    const sidecar: Sidecar = { fields, messages: Array.isArray(messages) ? messages : [] };
    this.loaded.set(sessionId, sidecar);
    return sidecar;
  }

  /** Saves the session with these changes, in a temporary file that is synced and renamed over the old one. */
  save(sessionId: string, changes: SidecarFields, messages?: readonly SidecarMessage[]): Sidecar {
    const before = this.load(sessionId);
    const fields = { ...before?.fields, ...changes, session_id: sessionId };
    const sidecar: Sidecar = { fields, messages: messages ?? before?.messages ?? [] };
    const temporary = join(this.directory, `${sessionId}.tmp.${this.pid}.1`);
    const file = openSync(temporary, 'w');
    try {
      writeFileSync(file, sidecarText(sidecar));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, this.pathOf(sessionId));
    this.loaded.set(sessionId, sidecar);
    return sidecar;
  }

  remove(sessionId: string): void {
    rmSync(this.pathOf(sessionId), { force: true });
    this.loaded.delete(sessionId);
  }

  pathOf(sessionId: string): string {
    return join(this.directory, `${sessionId}.json`);
  }
}

/** The text of a sidecar: metadata first, so that a reader of the beginning needn't parse the messages (3.7). */
export function sidecarText(sidecar: Sidecar): string {
  return JSON.stringify(sidecarObject(sidecar), null, 2);
}

/** All keys in the order in which they are written. */
export function sidecarObject({ fields, messages }: Sidecar): SidecarFields {
  return {
    ...Object.fromEntries(METADATA_KEYS.map((key) => [key, fields[key] ?? UNSET[key] ?? null])),
    message_count: messages.length,
    anchor_scene_index: {},
    messages,
    tool_calls: [],
    anchor_activity_scenes: {},
    context_messages: [],
  };
}
