/** The tables, columns and indexes of the store's versions (`spec/state-db.md` 3, 4, 4.11). */
export type SchemaVersion = 6 | 16 | 22 | 23 | 26 | 30 | '30-early' | 31;

/** The versions in the order in which they came: the later copy of 30 counts as a version of its own. */
const ORDER: readonly SchemaVersion[] = [6, 16, 22, 23, 26, '30-early', 30, 31];

/** Whether `version` has what came with `since`. */
export function isAtLeast(version: SchemaVersion, since: SchemaVersion): boolean {
  return ORDER.indexOf(version) >= ORDER.indexOf(since);
}

/** `name type` by the version that added it, in the order of the owner's own definition. */
type ColumnList = readonly (readonly [since: SchemaVersion, definitions: string])[];

const SESSIONS: ColumnList = [
  [6, 'id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT'],
  [22, 'session_key TEXT, chat_id TEXT, chat_type TEXT, thread_id TEXT, display_name TEXT, origin_json TEXT'],
  [22, 'expiry_finalized INTEGER DEFAULT 0'],
  [6, 'model TEXT, model_config TEXT, system_prompt TEXT'],
  [26, 'system_prompt_hash TEXT'],
  [6, 'parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT'],
  [6, 'message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0'],
  [6, 'output_tokens INTEGER DEFAULT 0, cache_read_tokens INTEGER DEFAULT 0, cache_write_tokens INTEGER DEFAULT 0'],
  [6, 'reasoning_tokens INTEGER DEFAULT 0'],
  [16, 'cwd TEXT'],
  [22, 'git_branch TEXT, git_repo_root TEXT'],
  [26, 'git_metadata_generation INTEGER NOT NULL DEFAULT 0'],
  [6, 'billing_provider TEXT, billing_base_url TEXT, billing_mode TEXT, estimated_cost_usd REAL, actual_cost_usd REAL'],
  [6, 'cost_status TEXT, cost_source TEXT, pricing_version TEXT, title TEXT'],
  [26, 'title_source TEXT, last_activity_at REAL, last_activity_description TEXT, last_activity_provenance TEXT'],
  [16, 'api_call_count INTEGER DEFAULT 0, handoff_state TEXT, handoff_platform TEXT, handoff_error TEXT'],
  [22, 'compression_failure_cooldown_until REAL, compression_failure_error TEXT'],
  [22, 'compression_fallback_streak INTEGER NOT NULL DEFAULT 0'],
  [23, 'compression_ineffective_count INTEGER NOT NULL DEFAULT 0'],
  [22, 'profile_name TEXT'],
  [16, 'rewind_count INTEGER NOT NULL DEFAULT 0, archived INTEGER NOT NULL DEFAULT 0'],
  [26, 'pinned INTEGER NOT NULL DEFAULT 0, hidden INTEGER NOT NULL DEFAULT 0, last_read_at REAL'],
  ['30-early', 'compression_recovery_deadline REAL, tool_names TEXT'],
  [30, 'created_source TEXT, compression_overload_streak INTEGER NOT NULL DEFAULT 0, transport_profile TEXT'],
  [31, 'auto_archived INTEGER NOT NULL DEFAULT 0'],
  [6, 'FOREIGN KEY (parent_session_id) REFERENCES sessions(id)'],
  [26, 'FOREIGN KEY (system_prompt_hash) REFERENCES system_prompts(hash)'],
];

const MESSAGES: ColumnList = [
  [6, 'id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL, content TEXT'],
  [6, 'tool_call_id TEXT, tool_calls TEXT, tool_name TEXT'],
  [22, 'effect_disposition TEXT'],
  [6, 'timestamp REAL NOT NULL, token_count INTEGER, finish_reason TEXT, reasoning TEXT'],
  [16, 'reasoning_content TEXT'],
  [6, 'reasoning_details TEXT, codex_reasoning_items TEXT'],
  [16, 'codex_message_items TEXT, platform_message_id TEXT, observed INTEGER DEFAULT 0'],
  ['30-early', '_compressed_summary INTEGER NOT NULL DEFAULT 0'],
  [16, 'active INTEGER NOT NULL DEFAULT 1'],
  [22, 'compacted INTEGER NOT NULL DEFAULT 0, api_content TEXT'],
  [23, 'display_kind TEXT, display_metadata TEXT'],
  [30, 'display_identity BLOB, display_order INTEGER'],
  [31, 'message_uid TEXT, absorbed_message_uids TEXT, tool_call_uids TEXT, tool_call_uid TEXT'],
];

const COUNTERS = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens', 'reasoning_tokens'];
const counters = COUNTERS.map((name) => `${name} INTEGER NOT NULL DEFAULT 0`).join(', ');
const LEASE = 'holder TEXT NOT NULL, acquired_at REAL NOT NULL, expires_at REAL NOT NULL';

/** The other tables: the version that added each, its name, and what it consists of. */
const TABLES: readonly (readonly [since: SchemaVersion, name: string, columns: ColumnList])[] = [
  [6, 'schema_version', [[6, 'version INTEGER NOT NULL']]],
  [26, 'system_prompts', [[26, 'hash TEXT PRIMARY KEY, prompt TEXT NOT NULL']]],
  [
    22,
    'session_model_usage',
    [
      [22, 'session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, model TEXT NOT NULL'],
      [22, "billing_provider TEXT NOT NULL DEFAULT '', billing_base_url TEXT NOT NULL DEFAULT '', billing_mode TEXT NOT NULL DEFAULT ''"],
      [22, `task TEXT NOT NULL DEFAULT '', api_call_count INTEGER NOT NULL DEFAULT 0, ${counters}`],
      [22, 'estimated_cost_usd REAL NOT NULL DEFAULT 0, actual_cost_usd REAL NOT NULL DEFAULT 0, cost_status TEXT, cost_source TEXT'],
      [22, 'first_seen REAL, last_seen REAL'],
      [22, 'PRIMARY KEY (session_id, model, billing_provider, billing_base_url, billing_mode, task)'],
    ],
  ],
  [16, 'state_meta', [[16, 'key TEXT PRIMARY KEY, value TEXT']]],
  [
    22,
    'gateway_routing',
    [
      [22, "scope TEXT NOT NULL DEFAULT '', session_key TEXT NOT NULL, entry_json TEXT NOT NULL, updated_at REAL NOT NULL"],
      [22, 'PRIMARY KEY (scope, session_key)'],
    ],
  ],
  [26, 'gateway_hygiene_state', [[26, 'session_key TEXT PRIMARY KEY, failure_streak INTEGER NOT NULL DEFAULT 0']]],
  [16, 'compression_locks', [[16, `session_id TEXT PRIMARY KEY, ${LEASE}`]]],
  [26, 'session_turn_leases', [[26, `conversation_id TEXT PRIMARY KEY, ${LEASE}`]]],
  [
    22,
    'async_delegations',
    [
      [22, "delegation_id TEXT PRIMARY KEY, origin_session TEXT NOT NULL, origin_ui_session_id TEXT NOT NULL DEFAULT ''"],
      [30, "origin_session_id TEXT NOT NULL DEFAULT ''"],
      [22, 'parent_session_id TEXT, state TEXT NOT NULL, dispatched_at REAL NOT NULL, completed_at REAL, updated_at REAL NOT NULL'],
      [22, "event_json TEXT, result_json TEXT, delivery_state TEXT NOT NULL DEFAULT 'pending'"],
      [22, 'delivery_attempts INTEGER NOT NULL DEFAULT 0, delivered_at REAL, owner_pid INTEGER, owner_started_at INTEGER'],
      [22, 'task_json TEXT, delivery_claim TEXT, delivery_claimed_at REAL'],
    ],
  ],
  [
    '30-early',
    'conversation_generations',
    [
      [
        '30-early',
        'source TEXT NOT NULL, session_key TEXT NOT NULL, generation INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (source, session_key)',
      ],
    ],
  ],
  [
    '30-early',
    'gateway_heartbeats',
    [
      ['30-early', 'backend_id TEXT PRIMARY KEY, pid INTEGER NOT NULL, started_at REAL NOT NULL, last_heartbeat REAL NOT NULL'],
      ['30-early', "profile TEXT NOT NULL DEFAULT '', host TEXT NOT NULL DEFAULT ''"],
    ],
  ],
  [
    31,
    'session_daily_usage',
    [
      [31, `session_id TEXT NOT NULL, day TEXT NOT NULL, ${counters}, estimated_cost_usd REAL NOT NULL DEFAULT 0`],
      [31, 'actual_cost_usd REAL NOT NULL DEFAULT 0, api_call_count INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (session_id, day)'],
    ],
  ],
];

const VISIBLE = 'active = 1 OR compacted = 1';

const INDEXES: readonly (readonly [since: SchemaVersion, sql: string])[] = [
  [6, 'INDEX idx_sessions_source ON sessions(source)'],
  [6, 'INDEX idx_sessions_parent ON sessions(parent_session_id)'],
  [6, 'INDEX idx_sessions_started ON sessions(started_at DESC)'],
  [6, 'INDEX idx_messages_session ON messages(session_id, timestamp)'],
  [6, 'UNIQUE INDEX idx_sessions_title_unique ON sessions(title) WHERE title IS NOT NULL'],
  [16, 'INDEX idx_sessions_source_id ON sessions(source, id)'],
  [16, 'INDEX idx_messages_session_active ON messages(session_id, active, timestamp)'],
  [16, 'INDEX idx_messages_platform_msg_id ON messages(session_id, platform_message_id) WHERE platform_message_id IS NOT NULL'],
  [16, 'INDEX idx_compression_locks_expires ON compression_locks(expires_at)'],
  [22, 'INDEX idx_messages_active_null ON messages(active) WHERE active IS NULL'],
  [22, 'INDEX idx_sessions_session_key ON sessions(session_key, started_at DESC)'],
  [22, 'INDEX idx_sessions_gateway_peer ON sessions(source, user_id, chat_id, chat_type, thread_id, started_at DESC)'],
  [22, 'INDEX idx_sessions_handoff_state ON sessions(handoff_state, started_at)'],
  [22, 'INDEX idx_session_model_usage_session ON session_model_usage(session_id)'],
  [22, 'INDEX idx_session_model_usage_model ON session_model_usage(model)'],
  [22, 'INDEX idx_async_delegations_delivery ON async_delegations(delivery_state, completed_at)'],
  [26, 'INDEX idx_messages_session_id ON messages(session_id, id)'],
  [26, "INDEX idx_messages_assistant_calls_by_session ON messages(session_id) WHERE role = 'assistant' AND tool_calls IS NOT NULL"],
  [26, 'INDEX idx_sessions_system_prompt_hash ON sessions(system_prompt_hash)'],
  [26, 'INDEX idx_session_turn_leases_expires ON session_turn_leases(expires_at)'],
  ['30-early', 'INDEX idx_sessions_effective_activity ON sessions(COALESCE(last_activity_at, started_at) DESC, started_at DESC)'],
  [30, 'INDEX idx_sessions_tool_names ON sessions(tool_names)'],
  [30, `INDEX idx_messages_display_page ON messages(session_id, display_order, active DESC, id DESC) WHERE ${VISIBLE}`],
  [30, `INDEX idx_messages_display_identity ON messages(session_id, display_identity) WHERE ${VISIBLE}`],
  [
    30,
    `INDEX idx_messages_display_backfill ON messages(session_id, id) WHERE (${VISIBLE}) AND (display_identity IS NULL OR display_order IS NULL)`,
  ],
  [31, 'INDEX idx_messages_session_uid ON messages(session_id, message_uid)'],
];

/** Columns that a version adds to an existing store come without these when an older owner added them. */
const CONSTRAINTS = / NOT NULL DEFAULT \d+| DEFAULT \d+/g;

/**
 * The DDL of all tables and indexes of a version; full-text search and the triggers of display columns are made elsewhere. `reconciled`:
 * flags and counters of sessions and messages have neither NOT NULL nor a default, as older owners added them (`spec/state-db.md` 3).
 */
export function tablesOf(version: SchemaVersion, reconciled = false): string {
  const tables: typeof TABLES = [...TABLES, [6, 'sessions', SESSIONS], [6, 'messages', MESSAGES]];
  const created = tables
    .filter(([since]) => isAtLeast(version, since))
    .map(([, name, columns]) => {
      const definitions = columnsOf(columns, version);
      const loose = reconciled && (name === 'sessions' || name === 'messages');
      return `CREATE TABLE ${name} (${loose ? definitions.replace(CONSTRAINTS, '') : definitions});`;
    });
  return [...created, ...INDEXES.filter(([since]) => isAtLeast(version, since)).map(([, sql]) => `CREATE ${sql};`)].join('\n');
}

function columnsOf(columns: ColumnList, version: SchemaVersion): string {
  return columns
    .filter(([since]) => isAtLeast(version, since))
    .map(([, definitions]) => definitions)
    .join(', ');
}
