/**
 * One row of `sessions`, decoded (`spec/state-db.md` 4.1, 5). Heavy and private columns are not part of it: prompts, origins and tool
 * names are read on demand.
 */
import type { Beside } from './beside.ts';
import { type DataWarning, isJsonObject, parseJson, RowReader, type SqlRow } from './decode.ts';

/** A lineage marker as SQL's `json_extract` would give it: null when absent (`spec/state-db.md` 6.2). */
export type Marker = string | number | null;

export interface SessionRecord {
  readonly id: string;
  readonly source: string;
  readonly createdSource: string | null;
  readonly userId: string | null;
  readonly chatId: string | null;
  readonly chatType: string | null;
  readonly threadId: string | null;
  readonly sessionKey: string | null;
  readonly displayName: string | null;
  readonly model: string | null;
  readonly parentId: string | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly endReason: string | null;
  /** The column, which writers let drift; counts that are shown come from rows. */
  readonly storedMessageCount: number;
  readonly toolCallCount: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  readonly apiCallCount: number;
  readonly billingProvider: string | null;
  readonly billingMode: string | null;
  readonly estimatedCostUsd: number | null;
  readonly actualCostUsd: number | null;
  readonly costStatus: string | null;
  readonly costSource: string | null;
  readonly pricingVersion: string | null;
  readonly cwd: string | null;
  readonly gitBranch: string | null;
  readonly gitRepoRoot: string | null;
  readonly title: string | null;
  readonly titleSource: string | null;
  readonly lastActivityAt: number | null;
  readonly lastActivityDescription: string | null;
  readonly lastActivityProvenance: string | null;
  readonly handoffState: string | null;
  readonly handoffPlatform: string | null;
  readonly compressionCooldownUntil: number | null;
  readonly profileName: string | null;
  readonly rewindCount: number;
  readonly archived: boolean;
  readonly pinned: boolean;
  readonly hidden: boolean;
  readonly lastReadAt: number | null;
  readonly branchedFrom: Marker;
  readonly delegateFrom: Marker;
  readonly resetFrom: Marker;
  readonly warnings: readonly DataWarning[];
}

/** What lists, lineage and live updates need; `model_config` is read for its markers only. */
export const SESSION_COLUMNS = [
  'id',
  'source',
  'created_source',
  'user_id',
  'chat_id',
  'chat_type',
  'thread_id',
  'session_key',
  'display_name',
  'model',
  'model_config',
  'parent_session_id',
  'started_at',
  'ended_at',
  'end_reason',
  'message_count',
  'tool_call_count',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'api_call_count',
  'billing_provider',
  'billing_mode',
  'estimated_cost_usd',
  'actual_cost_usd',
  'cost_status',
  'cost_source',
  'pricing_version',
  'cwd',
  'git_branch',
  'git_repo_root',
  'title',
  'title_source',
  'last_activity_at',
  'last_activity_description',
  'last_activity_provenance',
  'handoff_state',
  'handoff_platform',
  'compression_failure_cooldown_until',
  'profile_name',
  'rewind_count',
  'archived',
  'pinned',
  'hidden',
  'last_read_at',
] as const;

/** Never throws; absent columns get the defaults of `spec/state-db.md` 4.1. */
export function decodeSession(row: SqlRow): SessionRecord {
  const cells = new RowReader(row);
  const config = configObject(cells);
  return {
    id: cells.quietText('id') ?? '',
    source: cells.text('source') ?? '',
    createdSource: cells.text('created_source'),
    userId: cells.text('user_id'),
    chatId: cells.text('chat_id'),
    chatType: cells.text('chat_type'),
    threadId: cells.text('thread_id'),
    sessionKey: cells.text('session_key'),
    displayName: cells.text('display_name'),
    model: cells.text('model'),
    parentId: cells.quietText('parent_session_id'),
    startedAt: cells.time('started_at'),
    endedAt: cells.time('ended_at'),
    endReason: cells.text('end_reason'),
    storedMessageCount: cells.count('message_count'),
    toolCallCount: cells.count('tool_call_count'),
    inputTokens: cells.count('input_tokens'),
    outputTokens: cells.count('output_tokens'),
    cacheReadTokens: cells.count('cache_read_tokens'),
    cacheWriteTokens: cells.count('cache_write_tokens'),
    reasoningTokens: cells.count('reasoning_tokens'),
    apiCallCount: cells.count('api_call_count'),
    billingProvider: cells.text('billing_provider'),
    billingMode: cells.text('billing_mode'),
    estimatedCostUsd: cells.number('estimated_cost_usd'),
    actualCostUsd: cells.number('actual_cost_usd'),
    costStatus: cells.text('cost_status'),
    costSource: cells.text('cost_source'),
    pricingVersion: cells.text('pricing_version'),
    cwd: cells.text('cwd'),
    gitBranch: cells.text('git_branch'),
    gitRepoRoot: cells.text('git_repo_root'),
    title: cells.text('title'),
    titleSource: cells.text('title_source'),
    lastActivityAt: cells.time('last_activity_at'),
    lastActivityDescription: cells.text('last_activity_description'),
    lastActivityProvenance: cells.text('last_activity_provenance'),
    handoffState: cells.text('handoff_state'),
    handoffPlatform: cells.text('handoff_platform'),
    compressionCooldownUntil: cells.time('compression_failure_cooldown_until'),
    profileName: cells.text('profile_name'),
    rewindCount: cells.count('rewind_count'),
    archived: cells.flag('archived'),
    pinned: cells.flag('pinned'),
    hidden: cells.flag('hidden'),
    lastReadAt: cells.time('last_read_at'),
    branchedFrom: marker(config?._branched_from),
    delegateFrom: marker(config?._delegate_from),
    resetFrom: marker(config?._reset_from),
    warnings: cells.warnings,
  };
}

/** The configuration object; null without markers when the column is NULL, not JSON, or not an object. */
function configObject(cells: RowReader): Record<string, unknown> | null {
  const text = cells.quietText('model_config');
  if (text === null) return null;
  const parsed = parseJson(text);
  if (isJsonObject(parsed)) return parsed;
  if (text !== '') cells.warn('INVALID_JSON', 'model_config', 'model_config is not a JSON object; its markers and settings are ignored.');
  return null;
}

function marker(value: unknown): Marker {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' || typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  return JSON.stringify(value);
}

/** Counts and clocks of a session's rows, from a covering index (`spec/state-db.md` 7.2). Null where the rows can't be read. */
export interface RowStats {
  /** Rows of any state. */
  readonly total: number;
  /** Rows with active = 1 (NULL counts as 1). */
  readonly live: number;
  /** The largest timestamp inside the window over all rows, rewound ones too. */
  readonly lastTimestamp: number | null;
}

export const NO_ROWS: RowStats = { total: 0, live: 0, lastTimestamp: null };

/** A session as the lists know it: the row and what its messages say. */
export interface SessionEntry extends SessionRecord {
  readonly stats: RowStats | null;
  /** The larger of the heartbeat and the newest row; the start when there is neither; else null (`spec/state-db.md` 7.2). */
  readonly recency: number | null;
  /** What other places say of it; null for a session that state.db alone has. */
  readonly beside: Beside | null;
}

export function toEntry(record: SessionRecord, stats: RowStats | null): SessionEntry {
  return { ...record, stats, recency: recencyOf(record, stats), beside: null };
}

export function recencyOf(record: Pick<SessionRecord, 'lastActivityAt' | 'startedAt'>, stats: RowStats | null): number | null {
  const newestRow = stats?.lastTimestamp ?? null;
  if (record.lastActivityAt === null && newestRow === null) return record.startedAt;
  return Math.max(record.lastActivityAt ?? Number.NEGATIVE_INFINITY, newestRow ?? Number.NEGATIVE_INFINITY);
}
