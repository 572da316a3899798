/**
 * Private, heavy or internal columns of a session, read only when asked for (`spec/state-db.md` 4.1, 4.3, 4.10).
 */
import { idList } from './connection.ts';
import { isJsonObject, parseJson, RowReader, type SqlRow } from './decode.ts';
import type { StoreReading } from './store-reading.ts';

export interface SessionDetails {
  readonly systemPrompt: string | null;
  /** Settings without lineage markers, credentials and keys that are not known to be harmless. */
  readonly modelConfig: Readonly<Record<string, unknown>> | null;
  /** As stored, markers included; may hold what nobody should see. */
  readonly rawModelConfig: string | null;
  readonly toolNames: readonly string[];
  readonly origin: Origin | null;
  readonly rawOrigin: string | null;
  readonly systemPromptHash: string | null;
  /** Without the credentials that it may embed. */
  readonly billingBaseUrl: string | null;
  readonly handoffError: string | null;
  readonly compressionError: string | null;
  readonly compressionFallbackStreak: number;
  readonly compressionIneffectiveCount: number;
  readonly compressionOverloadStreak: number;
  /** Epoch seconds; null when it isn't armed. */
  readonly compressionRecoveryDeadline: number | null;
  readonly transportProfile: string | null;
  readonly expiryFinalized: boolean;
  readonly autoArchived: boolean;
  readonly gitMetadataGeneration: number;
}

/** Where the messages of a session come from (4.10); every field may be missing. */
export interface Origin {
  readonly platform: string | null;
  readonly chatId: string | null;
  readonly chatName: string | null;
  readonly chatType: string | null;
  readonly chatTopic: string | null;
  readonly userId: string | null;
  readonly userName: string | null;
  readonly threadId: string | null;
  readonly scopeId: string | null;
  readonly parentChatId: string | null;
  readonly messageId: string | null;
  readonly profile: string | null;
}

const COLUMNS = [
  'id',
  'model_config',
  'origin_json',
  'system_prompt_hash',
  'billing_base_url',
  'handoff_error',
  'compression_failure_error',
  'compression_fallback_streak',
  'compression_ineffective_count',
  'compression_overload_streak',
  'compression_recovery_deadline',
  'transport_profile',
  'expiry_finalized',
  'auto_archived',
  'git_metadata_generation',
] as const;

/** Details of each session; ids without a row are missing. One statement. */
export function sessionDetails(connection: StoreReading, sessionIds: readonly string[]): Map<string, SessionDetails> {
  const { shape } = connection;
  const hashed = shape.hasTable('system_prompts') && shape.hasColumn('sessions', 'system_prompt_hash');
  const named = shape.hasTable('system_prompts') && shape.hasColumn('sessions', 'tool_names');
  const prompt = (hash: string) => `(SELECT p.prompt FROM system_prompts p WHERE p.hash = ${hash})`;
  const inline = shape.columnOr('sessions', 'system_prompt', 's', 'NULL');
  const rows = connection.all(
    `SELECT ${shape.selectList('sessions', COLUMNS, 's')}, ${hashed ? `COALESCE(${prompt('s.system_prompt_hash')}, ${inline})` : inline} AS system_prompt,
       ${named ? `COALESCE(${prompt('s.tool_names')}, s.tool_names)` : shape.columnOr('sessions', 'tool_names', 's', 'NULL')} AS tool_names
     FROM sessions s WHERE s.id IN (SELECT value FROM json_each(?))`,
    [idList(sessionIds)],
  );
  return new Map(rows.map((row) => [String(row.id), decodeDetails(row)]));
}

function decodeDetails(row: SqlRow): SessionDetails {
  const cells = new RowReader(row);
  const rawModelConfig = cells.quietText('model_config');
  const config = parseJson(rawModelConfig ?? '');
  const names = parseJson(cells.quietText('tool_names') ?? '');
  const rawOrigin = cells.quietText('origin_json');
  return {
    systemPrompt: cells.quietText('system_prompt'),
    modelConfig: isJsonObject(config) ? shownConfig(config) : null,
    rawModelConfig,
    toolNames: Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [],
    origin: originOf(parseJson(rawOrigin ?? '')),
    rawOrigin,
    systemPromptHash: cells.quietText('system_prompt_hash'),
    billingBaseUrl: withoutCredentials(cells.quietText('billing_base_url')),
    handoffError: cells.quietText('handoff_error'),
    compressionError: cells.quietText('compression_failure_error'),
    compressionFallbackStreak: cells.count('compression_fallback_streak'),
    compressionIneffectiveCount: cells.count('compression_ineffective_count'),
    compressionOverloadStreak: cells.count('compression_overload_streak'),
    compressionRecoveryDeadline: cells.time('compression_recovery_deadline') || null,
    transportProfile: cells.quietText('transport_profile'),
    expiryFinalized: cells.flag('expiry_finalized'),
    autoArchived: cells.flag('auto_archived'),
    gitMetadataGeneration: cells.count('git_metadata_generation'),
  };
}

/** Keys of model_config that are shown (4.10: a whitelist, since unknown keys may be private). */
const SHOWN_CONFIG = [
  'model',
  'provider',
  'api_mode',
  'temperature',
  'top_p',
  'max_tokens',
  'cwd',
  'yolo_mode',
  'reasoning_effort',
  'reasoning',
  'reasoning_config',
  'browser_model_lock',
  'gateway_runtime',
];
const SHOWN_RUNTIME = ['model', 'provider', 'api_mode', 'model_options', 'route_source', 'confirmed', 'updated_at'];

function shownConfig(config: Record<string, unknown>): Record<string, unknown> {
  const shown = pick(config, SHOWN_CONFIG);
  for (const key of ['browser_model_lock', 'gateway_runtime']) {
    if (isJsonObject(shown[key])) shown[key] = pick(shown[key], SHOWN_RUNTIME);
    else delete shown[key];
  }
  return shown;
}

function pick(object: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.flatMap((key) => (key in object ? [[key, object[key]]] : [])));
}

/** An origin as sessions and routing entries hold it; null for anything but an object. */
export function originOf(value: unknown): Origin | null {
  if (!isJsonObject(value)) return null;
  const text = (key: string) => {
    const field = value[key];
    return typeof field === 'string' || typeof field === 'number' ? String(field) : null;
  };
  return {
    platform: text('platform'),
    chatId: text('chat_id'),
    chatName: text('chat_name'),
    chatType: text('chat_type'),
    chatTopic: text('chat_topic'),
    userId: text('user_id'),
    userName: text('user_name'),
    threadId: text('thread_id'),
    scopeId: text('scope_id') ?? text('guild_id'),
    parentChatId: text('parent_chat_id'),
    messageId: text('message_id'),
    profile: text('profile'),
  };
}

/** A base URL without user, password, query and fragment, which can hold keys (4.1); null for what is no URL. */
export function withoutCredentials(url: string | null): string | null {
  if (url === null || url === '') return url;
  const parsed = URL.parse(url);
  if (parsed === null) return null;
  return parsed.username === '' && parsed.password === '' && parsed.search === '' && parsed.hash === ''
    ? url
    : `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
}
