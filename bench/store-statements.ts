/**
 * How the benchmark's store is filled, in SQL: sessions as they begin and as they end, their rows, their usage.
 */
import type Database from 'better-sqlite3';

export interface Statements {
  readonly session: Database.Statement;
  readonly message: Database.Statement;
  readonly close: Database.Statement;
  readonly usage: Database.Statement;
  readonly archive: Database.Statement;
  readonly rewind: Database.Statement;
}

const SESSION_COLUMNS =
  'id source user_id session_key chat_id model model_config system_prompt_hash parent_session_id started_at cwd git_branch archived pinned hidden';
const USAGE_COLUMNS =
  'model task api_call_count input_tokens output_tokens cache_read_tokens estimated_cost_usd cost_status billing_provider billing_base_url billing_mode first_seen last_seen';

/** Every statement with which the generator fills a store, prepared once. */
export function prepareStatements(db: Database.Database): Statements {
  const named = (columns: string) => columns.replace(/\w+/g, '@$&').replaceAll(' ', ', ');
  return {
    session: db.prepare(
      `INSERT INTO sessions (profile_name, chat_type, ${SESSION_COLUMNS.replaceAll(' ', ', ')})
       VALUES ('default', CASE WHEN @chat_id IS NULL THEN NULL ELSE 'dm' END, ${named(SESSION_COLUMNS)})`,
    ),
    message: db.prepare(
      `INSERT INTO messages (session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp, token_count, finish_reason, reasoning, display_kind)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    close: db.prepare(
      `UPDATE sessions SET ended_at = @ended_at, end_reason = @end_reason, message_count = @message_count, tool_call_count = @tool_call_count,
         title = @title, title_source = CASE WHEN @title IS NULL THEN NULL ELSE 'llm' END, last_activity_at = @last_activity_at,
         api_call_count = @api_call_count, input_tokens = @input_tokens, output_tokens = @output_tokens, cache_read_tokens = @cache_read_tokens,
         estimated_cost_usd = @estimated_cost_usd, cost_status = @cost_status, billing_provider = @billing_provider,
         billing_base_url = @billing_base_url, billing_mode = @billing_mode
       WHERE id = @id`,
    ),
    usage: db.prepare(
      `INSERT INTO session_model_usage (session_id, ${USAGE_COLUMNS.replaceAll(' ', ', ')}) VALUES (@id, ${named(USAGE_COLUMNS)})`,
    ),
    archive: db.prepare('UPDATE messages SET active = 0, compacted = 1 WHERE session_id = ? AND active = 1'),
    rewind: db.prepare('UPDATE messages SET active = 0 WHERE session_id = ? AND id > ? AND active = 1'),
  };
}
