/**
 * The metadata of a session file from its parsed members (`spec/webui-sidecars.md` 3, 10, 11.3). Nothing here throws, whatever they hold.
 */
import { isJsonObject } from '../../state-db/decode.ts';
import {
  epochSeconds,
  type Fields,
  finiteNumber,
  listOf,
  lowered,
  NO_FIELDS,
  nonNegativeInteger,
  objectOf,
  roundHalfEven,
  trimmedWord,
  truthy,
  word,
} from './coercions.ts';
import { isKnownKey, MESSAGES } from './sidecar-keys.ts';
import { countUserMessages, lastMessageTime, repeatedPartials, sceneIndexOf } from './sidecar-messages.ts';
import type { SidecarHealth, SidecarPending, SidecarRow, SidecarSignature, SidecarWakeupPause, SidecarWarning } from './sidecar-row.ts';

export interface SidecarSource {
  /** The stem of the file's name. */
  readonly id: string;
  readonly signature: SidecarSignature;
  readonly health: SidecarHealth;
  /** The members that were read; null when the file is no object. */
  readonly fields: Fields | null;
  /** The fields are all that the file has. */
  readonly isWhole: boolean;
  readonly layout: SidecarRow['layout'];
  /** For a file that doesn't tell its count. */
  readonly messageCount?: number | null;
  readonly warnings?: readonly SidecarWarning[];
}

const AUTO_TITLE = 'Untitled';
const MOST_ROUTINGS = 50;
const SHRINK_GENERATION = /^[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$/;
const PENDING_IDENTITY = '_webui_pending_user_timestamp_identity';
const IDENTITY_SOURCES = new Set(['webui', 'fork']);

export function decodeSidecar(source: SidecarSource): SidecarRow {
  const fields = source.fields ?? NO_FIELDS;
  const reader = new FieldReader(fields, source.warnings ?? []);
  if (source.fields !== null) checkId(source.id, fields, reader);
  const messages = source.isWhole ? visibleMessages(fields, reader) : null;
  const stored = messages?.length ?? nonNegativeInteger(fields.message_count) ?? source.messageCount ?? null;
  const pending = pendingOf(fields, reader);
  const hasPending = truthy(fields.pending_user_message);
  const updatedAt = reader.time('updated_at');
  const pendingSince = hasPending ? (pending?.startedAt ?? null) : null;
  return {
    id: source.id,
    innerId: word(fields.session_id),
    health: source.health,
    signature: source.signature,
    layout: source.fields === null ? null : source.layout,
    isWhole: source.isWhole,
    title: source.fields === null ? null : fields.title === undefined ? AUTO_TITLE : reader.text('title'),
    manualTitle: truthy(fields.manual_title),
    llmTitleGenerated: truthy(fields.llm_title_generated),
    workspace: workspaceOf(fields, reader),
    createdWorkspace: fields.created_workspace === undefined ? word(fields.workspace) : reader.word('created_workspace'),
    model: reader.word('model'),
    modelProvider: lowered(fields.model_provider) || null,
    profile: reader.word('profile'),
    personality: reader.word('personality'),
    enabledToolsets: toolsetsOf(fields, reader),
    createdAt: reader.time('created_at'),
    updatedAt,
    lastMessageAt: pendingSince ?? (messages === null ? null : lastMessageTime(messages)) ?? updatedAt,
    messageCount: hasPending ? Math.max(1, stored ?? 0) : stored,
    storedMessageCount: stored,
    userMessageCount: messages === null ? null : countUserMessages(messages),
    pinned: truthy(fields.pinned),
    archived: truthy(fields.archived),
    projectId: reader.word('project_id'),
    worktree: worktreeOf(fields, reader),
    hasShare: trimmedWord(fields.share_token) !== null,
    shareCreatedAt: reader.time('share_created_at'),
    composerDraft: { text: word(objectOf(fields.composer_draft).text) ?? '', files: listOf(objectOf(fields.composer_draft).files) },
    parentSessionId: reader.word('parent_session_id'),
    sessionSource: reader.word('session_source'),
    sourceTag: reader.word('source_tag'),
    rawSource: reader.word('raw_source'),
    sourceLabel: reader.word('source_label'),
    isCliSession: truthy(fields.is_cli_session),
    readOnly: truthy(fields.read_only),
    isCompressionSnapshot: truthy(fields.pre_compression_snapshot),
    ...accounts(fields, reader),
    activeStreamId: reader.word('active_stream_id'),
    pending,
    wakeupPause: pauseOf(objectOf(fields.process_wakeup_pause)),
    hasWakeupPauseRecord: truthy(objectOf(fields.process_wakeup_pause)),
    sceneIndex: source.isWhole ? sceneIndexOf(fields.anchor_activity_scenes) : numbersOf(objectOf(fields.anchor_scene_index)),
    unknownKeys: Object.keys(fields).filter((key) => !isKnownKey(key)),
    warnings: reader.warnings,
  };
}

/** The list of messages as it is shown, the partial answers that repeat another left out (4.2). */
export function visibleMessages(fields: Fields, reader?: FieldReader): readonly unknown[] {
  const messages = fields[MESSAGES];
  if (!Array.isArray(messages)) {
    if (truthy(messages)) reader?.warn('MESSAGES_NOT_ARRAY', MESSAGES);
    return [];
  }
  const repeated = new Set(repeatedPartials(messages));
  return repeated.size === 0 ? messages : messages.filter((_, index) => !repeated.has(index));
}

/** Reads members and remembers what was wrong with them. */
export class FieldReader {
  readonly warnings: SidecarWarning[];
  readonly #fields: Fields;

  constructor(fields: Fields, warnings: readonly SidecarWarning[]) {
    this.#fields = fields;
    this.warnings = [...warnings];
  }

  warn(code: SidecarWarning['code'], field: string | null): void {
    this.warnings.push({ code, field });
  }

  text(key: string): string | null {
    const value = this.#fields[key] ?? null;
    if (value !== null && typeof value !== 'string') this.warn('WRONG_TYPE', key);
    return typeof value === 'string' ? value : null;
  }

  word(key: string): string | null {
    return word(this.text(key));
  }

  time(key: string): number | null {
    const value = this.#fields[key];
    const read = epochSeconds(value);
    if (read === null && truthy(value)) this.warn(typeof value === 'number' ? 'TIME_OUT_OF_RANGE' : 'WRONG_TYPE', key);
    return read;
  }

  /** `whenFalsy` for what is missing, null, 0 or empty. */
  number<T extends number | null>(key: string, whenFalsy: T): number | T | null {
    const value = this.#fields[key];
    if (!truthy(value) && value !== 0) return whenFalsy;
    const read = finiteNumber(value);
    if (read === null) this.warn(typeof value === 'number' ? 'NOT_FINITE' : 'WRONG_TYPE', key);
    return read;
  }
}

function checkId(id: string, fields: Fields, reader: FieldReader): void {
  const inner = fields.session_id;
  if (!truthy(inner)) reader.warn('ID_MISSING', 'session_id');
  else if (inner !== id) reader.warn('ID_MISMATCH', 'session_id');
}

function workspaceOf(fields: Fields, reader: FieldReader): string | null {
  const { workspace } = fields;
  if (workspace !== undefined && typeof workspace !== 'string') reader.warn('WORKSPACE_INVALID', 'workspace');
  return word(workspace);
}

function toolsetsOf({ enabled_toolsets: toolsets }: Fields, reader: FieldReader): readonly string[] | null {
  if (toolsets === undefined || toolsets === null) return null;
  if (!Array.isArray(toolsets)) reader.warn('WRONG_TYPE', 'enabled_toolsets');
  return Array.isArray(toolsets) ? toolsets.filter((name) => typeof name === 'string') : null;
}

function worktreeOf(fields: Fields, reader: FieldReader): SidecarRow['worktree'] {
  const path = reader.word('worktree_path');
  if (path === null) return null;
  return {
    path,
    branch: reader.word('worktree_branch'),
    repoRoot: word(fields.worktree_repo_root),
    createdAt: reader.time('worktree_created_at'),
  };
}

function accounts(fields: Fields, reader: FieldReader) {
  const cacheReadTokens = reader.number('cache_read_tokens', 0);
  const inputTokens = reader.number('input_tokens', 0);
  return {
    usage: {
      inputTokens,
      outputTokens: reader.number('output_tokens', 0),
      cacheReadTokens,
      cacheWriteTokens: reader.number('cache_write_tokens', 0),
      cacheHitPercent: cacheHitPercent(cacheReadTokens, inputTokens),
      estimatedCost: reader.number('estimated_cost', null),
    },
    context: {
      length: reader.number('context_length', null),
      thresholdTokens: reader.number('threshold_tokens', null),
      lastPromptTokens: reader.number('last_prompt_tokens', null),
      postCompressionEstimate: nonNegativeInteger(fields.post_compression_context_tokens_estimate) || null,
    },
    gatewayRouting: isJsonObject(fields.gateway_routing) ? fields.gateway_routing : null,
    gatewayRoutingHistory: listOf(fields.gateway_routing_history).filter(isJsonObject).slice(-MOST_ROUTINGS),
    compression: {
      anchorVisibleIndex: reader.number('compression_anchor_visible_idx', null),
      anchorMessageKey: isJsonObject(fields.compression_anchor_message_key) ? fields.compression_anchor_message_key : null,
      summary: reader.word('compression_anchor_summary'),
      mode: reader.word('compression_anchor_mode'),
      engine: reader.word('compression_anchor_engine'),
      details: objectOf(fields.compression_anchor_details),
      contextEngine: reader.word('context_engine'),
    },
    compressionRecovery: {
      payload: objectOf(fields.compression_recovery),
      recommendedAction: reader.word('recommended_recovery_action'),
      sourceSessionId: trimmedWord(fields.compression_recovery_source_session_id),
      action: trimmedWord(fields.compression_recovery_action),
    },
    truncation: {
      watermark: reader.number('truncation_watermark', null),
      boundary: reader.number('truncation_boundary', null),
      clearGeneration: reader.word('clear_generation'),
      shrinkGeneration: shrinkGeneration(fields.intentional_shrink_generation),
    },
  };
}

/** The mark of a list that was shortened on purpose; null when it isn't a valid one (3.4). */
export function shrinkGeneration(value: unknown): string | null {
  return typeof value === 'string' && SHRINK_GENERATION.test(value) ? value : null;
}

/** Cached per cent of the prompt, half to even; null when either is not positive. */
export function cacheHitPercent(read: number | null, input: number | null): number | null {
  const [cached, all] = [Math.trunc(read ?? 0), Math.trunc(input ?? 0)];
  return cached <= 0 || all <= 0 ? null : Math.min(100, roundHalfEven((100 * cached) / all));
}

function pendingOf(fields: Fields, reader: FieldReader): SidecarPending | null {
  const text = reader.word('pending_user_message');
  if (text === null) return null;
  return {
    text,
    attachments: listOf(fields.pending_attachments),
    startedAt: reader.time('pending_started_at'),
    source: word(fields.pending_user_source) ?? 'webui',
    identity: identityOf(fields),
  };
}

function identityOf(fields: Fields): SidecarPending['identity'] {
  const identity = fields[PENDING_IDENTITY];
  if (!Array.isArray(identity) || identity.length !== 2) return null;
  const streamId = word(fields.active_stream_id);
  const timestamp = finiteNumber(identity[1]);
  const isProven =
    streamId !== null &&
    identity[0] === streamId &&
    IDENTITY_SOURCES.has(lowered(fields.pending_user_source)) &&
    timestamp !== null &&
    finiteNumber(fields.pending_started_at) === timestamp;
  return isProven ? { streamId, timestamp } : null;
}

function pauseOf(pause: Fields): SidecarWakeupPause | null {
  if (!truthy(pause.paused)) return null;
  return {
    classification: word(pause.classification),
    model: word(pause.model),
    provider: word(pause.provider),
    firstPausedAt: epochSeconds(pause.first_paused_at),
    lastErrorAt: epochSeconds(pause.last_error_at),
    visibleErrorCount: nonNegativeInteger(pause.visible_error_count) ?? 0,
    suppressedCount: nonNegativeInteger(pause.suppressed_count) ?? 0,
    lastSuppressedAt: epochSeconds(pause.last_suppressed_at),
    lastSuppressedReason: word(pause.last_suppressed_reason),
    credentialFingerprint: word(pause.credential_state_fingerprint),
  };
}

function numbersOf(fields: Fields): Record<string, number> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) => {
      const read = finiteNumber(value);
      return read === null ? [] : [[key, read] as const];
    }),
  );
}
