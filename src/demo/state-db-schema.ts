/**
 * The definitions of a session store of schema 26 (`spec/state-db.md` 3, 4 and 10.1, layout X1), equal in effect to what the owning
 * agent creates. Only the demo and tests make stores with it: a store of somebody else is never created or changed by this server.
 */
import { randomBytes } from 'node:crypto';
import Database from 'better-sqlite3';

export const SCHEMA_VERSION = 26;

const SESSIONS = `
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, session_key TEXT, chat_id TEXT, chat_type TEXT, thread_id TEXT,
  display_name TEXT, origin_json TEXT, expiry_finalized INTEGER DEFAULT 0, model TEXT, model_config TEXT,
  system_prompt TEXT, system_prompt_hash TEXT, parent_session_id TEXT,
  started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
  message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0,
  input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0, cache_read_tokens INTEGER DEFAULT 0,
  cache_write_tokens INTEGER DEFAULT 0, reasoning_tokens INTEGER DEFAULT 0,
  cwd TEXT, git_branch TEXT, git_repo_root TEXT, git_metadata_generation INTEGER NOT NULL DEFAULT 0,
  billing_provider TEXT, billing_base_url TEXT, billing_mode TEXT,
  estimated_cost_usd REAL, actual_cost_usd REAL, cost_status TEXT, cost_source TEXT, pricing_version TEXT,
  title TEXT, title_source TEXT,
  last_activity_at REAL, last_activity_description TEXT, last_activity_provenance TEXT,
  api_call_count INTEGER DEFAULT 0,
  handoff_state TEXT, handoff_platform TEXT, handoff_error TEXT,
  compression_failure_cooldown_until REAL, compression_failure_error TEXT,
  compression_fallback_streak INTEGER NOT NULL DEFAULT 0, compression_ineffective_count INTEGER NOT NULL DEFAULT 0,
  profile_name TEXT, rewind_count INTEGER NOT NULL DEFAULT 0,
  archived INTEGER NOT NULL DEFAULT 0, pinned INTEGER NOT NULL DEFAULT 0, hidden INTEGER NOT NULL DEFAULT 0,
  last_read_at REAL,
  FOREIGN KEY (parent_session_id) REFERENCES sessions(id),
  FOREIGN KEY (system_prompt_hash) REFERENCES system_prompts(hash)
);`;

const MESSAGES = `
CREATE TABLE messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id),
  role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, effect_disposition TEXT,
  timestamp REAL NOT NULL, token_count INTEGER, finish_reason TEXT,
  reasoning TEXT, reasoning_content TEXT, reasoning_details TEXT, codex_reasoning_items TEXT, codex_message_items TEXT,
  platform_message_id TEXT, observed INTEGER DEFAULT 0,
  active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0,
  api_content TEXT, display_kind TEXT, display_metadata TEXT
);`;

/** Usage and settings (`spec/state-db.md` 4.3, 4.4, 4.6). */
const LEDGERS = `
CREATE TABLE schema_version (version INTEGER NOT NULL);
CREATE TABLE system_prompts (hash TEXT PRIMARY KEY, prompt TEXT NOT NULL);
CREATE TABLE session_model_usage (
  session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, model TEXT NOT NULL,
  billing_provider TEXT NOT NULL DEFAULT '', billing_base_url TEXT NOT NULL DEFAULT '', billing_mode TEXT NOT NULL DEFAULT '',
  task TEXT NOT NULL DEFAULT '',
  api_call_count INTEGER NOT NULL DEFAULT 0, input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0,
  cache_read_tokens INTEGER NOT NULL DEFAULT 0, cache_write_tokens INTEGER NOT NULL DEFAULT 0,
  reasoning_tokens INTEGER NOT NULL DEFAULT 0,
  estimated_cost_usd REAL NOT NULL DEFAULT 0, actual_cost_usd REAL NOT NULL DEFAULT 0, cost_status TEXT, cost_source TEXT,
  first_seen REAL, last_seen REAL,
  PRIMARY KEY (session_id, model, billing_provider, billing_base_url, billing_mode, task)
);
CREATE TABLE state_meta (key TEXT PRIMARY KEY, value TEXT);`;

/** Routing, leases and delegations (`spec/state-db.md` 4.7, 4.8). */
const COORDINATION = `
CREATE TABLE gateway_routing (
  scope TEXT NOT NULL DEFAULT '', session_key TEXT NOT NULL, entry_json TEXT NOT NULL, updated_at REAL NOT NULL,
  PRIMARY KEY (scope, session_key)
);
CREATE TABLE gateway_hygiene_state (session_key TEXT PRIMARY KEY, failure_streak INTEGER NOT NULL DEFAULT 0);
CREATE TABLE compression_locks (
  session_id TEXT PRIMARY KEY, holder TEXT NOT NULL, acquired_at REAL NOT NULL, expires_at REAL NOT NULL
);
CREATE TABLE session_turn_leases (
  conversation_id TEXT PRIMARY KEY, holder TEXT NOT NULL, acquired_at REAL NOT NULL, expires_at REAL NOT NULL
);
CREATE TABLE async_delegations (
  delegation_id TEXT PRIMARY KEY, origin_session TEXT NOT NULL, origin_ui_session_id TEXT NOT NULL DEFAULT '',
  parent_session_id TEXT, state TEXT NOT NULL, dispatched_at REAL NOT NULL, completed_at REAL, updated_at REAL NOT NULL,
  event_json TEXT, result_json TEXT,
  delivery_state TEXT NOT NULL DEFAULT 'pending', delivery_attempts INTEGER NOT NULL DEFAULT 0, delivered_at REAL,
  owner_pid INTEGER, owner_started_at INTEGER, task_json TEXT, delivery_claim TEXT, delivery_claimed_at REAL
);`;

/** `spec/state-db.md` 4.11. */
const INDEXES = `
CREATE INDEX idx_sessions_source ON sessions(source);
CREATE INDEX idx_sessions_source_id ON sessions(source, id);
CREATE INDEX idx_sessions_parent ON sessions(parent_session_id);
CREATE INDEX idx_sessions_started ON sessions(started_at DESC);
CREATE INDEX idx_sessions_session_key ON sessions(session_key, started_at DESC);
CREATE INDEX idx_sessions_gateway_peer ON sessions(source, user_id, chat_id, chat_type, thread_id, started_at DESC);
CREATE INDEX idx_sessions_handoff_state ON sessions(handoff_state, started_at);
CREATE INDEX idx_sessions_system_prompt_hash ON sessions(system_prompt_hash);
CREATE UNIQUE INDEX idx_sessions_title_unique ON sessions(title) WHERE title IS NOT NULL;
CREATE INDEX idx_messages_session ON messages(session_id, timestamp);
CREATE INDEX idx_messages_session_id ON messages(session_id, id);
CREATE INDEX idx_messages_session_active ON messages(session_id, active, timestamp);
CREATE INDEX idx_messages_active_null ON messages(active) WHERE active IS NULL;
CREATE INDEX idx_messages_assistant_calls_by_session ON messages(session_id) WHERE role = 'assistant' AND tool_calls IS NOT NULL;
CREATE INDEX idx_messages_platform_msg_id ON messages(session_id, platform_message_id) WHERE platform_message_id IS NOT NULL;
CREATE INDEX idx_compression_locks_expires ON compression_locks(expires_at);
CREATE INDEX idx_session_turn_leases_expires ON session_turn_leases(expires_at);
CREATE INDEX idx_session_model_usage_session ON session_model_usage(session_id);
CREATE INDEX idx_session_model_usage_model ON session_model_usage(model);
CREATE INDEX idx_async_delegations_delivery ON async_delegations(delivery_state, completed_at);`;

/** While a rebuild is under way, only rows that it has passed, or that came after it began, are kept in step (`spec/state-db.md` 10.2). */
const inStep = (row: 'new' | 'old'): string => `(
  ${row}.id > COALESCE((SELECT CAST(value AS INTEGER) FROM state_meta WHERE key = 'fts_rebuild_high_water'), -1)
  OR ${row}.id <= COALESCE((SELECT CAST(value AS INTEGER) FROM state_meta WHERE key = 'fts_rebuild_progress'), -1))`;

const FTS_COLUMNS = 'content, tool_name, tool_calls';
const ftsValues = (row: 'new' | 'old'): string => `${row}.id, ${row}.content, ${row}.tool_name, ${row}.tool_calls`;

/** The word index: every row, as stored. */
const WORD_INDEX = `
CREATE VIRTUAL TABLE messages_fts USING fts5(${FTS_COLUMNS}, content='messages', content_rowid='id');
CREATE TRIGGER messages_fts_insert AFTER INSERT ON messages WHEN ${inStep('new')}
BEGIN
  INSERT INTO messages_fts(rowid, ${FTS_COLUMNS}) VALUES (${ftsValues('new')});
END;
CREATE TRIGGER messages_fts_delete AFTER DELETE ON messages WHEN ${inStep('old')}
BEGIN
  INSERT INTO messages_fts(messages_fts, rowid, ${FTS_COLUMNS}) VALUES ('delete', ${ftsValues('old')});
END;
CREATE TRIGGER messages_fts_update AFTER UPDATE OF ${FTS_COLUMNS} ON messages
WHEN (old.content IS NOT new.content OR old.tool_name IS NOT new.tool_name OR old.tool_calls IS NOT new.tool_calls)
  AND ${inStep('old')}
BEGIN
  INSERT INTO messages_fts(messages_fts, rowid, ${FTS_COLUMNS}) VALUES ('delete', ${ftsValues('old')});
  INSERT INTO messages_fts(rowid, ${FTS_COLUMNS}) VALUES (${ftsValues('new')});
END;`;

/** The trigram index: every row but those of tools. */
const TRIGRAM_INDEX = `
CREATE VIEW messages_fts_trigram_src AS SELECT id, role, ${FTS_COLUMNS} FROM messages WHERE role <> 'tool';
CREATE VIRTUAL TABLE messages_fts_trigram USING fts5(
  ${FTS_COLUMNS}, content='messages_fts_trigram_src', content_rowid='id', tokenize='trigram'
);
CREATE TRIGGER messages_fts_trigram_insert AFTER INSERT ON messages WHEN new.role <> 'tool' AND ${inStep('new')}
BEGIN
  INSERT INTO messages_fts_trigram(rowid, ${FTS_COLUMNS}) VALUES (${ftsValues('new')});
END;
CREATE TRIGGER messages_fts_trigram_delete AFTER DELETE ON messages WHEN old.role <> 'tool' AND ${inStep('old')}
BEGIN
  INSERT INTO messages_fts_trigram(messages_fts_trigram, rowid, ${FTS_COLUMNS}) VALUES ('delete', ${ftsValues('old')});
END;
CREATE TRIGGER messages_fts_trigram_update AFTER UPDATE OF ${FTS_COLUMNS}, role ON messages
WHEN (old.content IS NOT new.content OR old.tool_name IS NOT new.tool_name OR old.tool_calls IS NOT new.tool_calls
    OR old.role IS NOT new.role)
  AND ${inStep('old')}
BEGIN
  INSERT INTO messages_fts_trigram(messages_fts_trigram, rowid, ${FTS_COLUMNS})
    SELECT 'delete', ${ftsValues('old')} WHERE old.role <> 'tool';
  INSERT INTO messages_fts_trigram(rowid, ${FTS_COLUMNS}) SELECT ${ftsValues('new')} WHERE new.role <> 'tool';
END;`;

/** Everything that FTS layout X1 consists of: two virtual tables, one view, six triggers. They need `messages` and `state_meta`. */
export const FTS_X1 = `${WORD_INDEX}\n${TRIGRAM_INDEX}`;

/** The whole store: tables, indexes, full-text search. */
export const STATE_DB_SCHEMA = [LEDGERS, SESSIONS, MESSAGES, COORDINATION, INDEXES, FTS_X1].join('\n');

/**
 * Creates an empty store of schema 26 at `path` and gives the open read-write connection, which the caller closes. The connection
 * writes as the owner does: WAL, full synchronisation, foreign keys not enforced. The file gets its own generation (`spec/state-db.md` 2.3).
 * Throws SqliteError when there is already such a store, or the file can't be made.
 */
export function createStateDb(path: string): Database.Database {
  const db = new Database(path);
  try {
    db.pragma('journal_mode = WAL');
    setWriterPragmas(db);
    db.transaction(() => {
      db.exec(STATE_DB_SCHEMA);
      db.prepare('INSERT INTO schema_version (version) VALUES (?)').run(SCHEMA_VERSION);
      stampGeneration(db, randomBytes(16).toString('hex'));
    }).immediate();
  } catch (error) {
    db.close();
    throw error;
  }
  return db;
}

/** What the owner's writers use, where the defaults of better-sqlite3 differ from it. */
export function setWriterPragmas(db: Database.Database): void {
  db.pragma('foreign_keys = OFF');
  db.pragma('synchronous = FULL');
}

/** The token of 32 hex digits in `state_meta`, and the number in the file's header that is derived from its first eight. */
function stampGeneration(db: Database.Database, generation: string): void {
  db.prepare("INSERT INTO state_meta (key, value) VALUES ('db_file_generation', ?)").run(generation);
  const applicationId = Number.parseInt(generation.slice(0, 8), 16) & 0x7fffffff || 1;
  db.pragma(`application_id = ${applicationId}`);
}
