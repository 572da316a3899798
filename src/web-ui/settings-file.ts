/** The Web UI's settings that decide what a list shows: `settings.json` of its state folder (`spec/webui-listing.md` 9.1). */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../live/journal/open-journal.ts';
import { isJsonObject, parseJson } from '../state-db/decode.ts';

export interface ListSettings {
  readonly showCli: boolean;
  readonly showClaudeCode: boolean;
  readonly showCron: boolean;
  readonly showWebhook: boolean;
  readonly showKanban: boolean;
  readonly showPreviousMessaging: boolean;
  /** Conversations that may be pinned, 1 to 99. */
  readonly pinnedLimit: number;
  /** One source only, as written; null for all. */
  readonly sourceFilter: string | null;
  /** Titles are to be redacted in answers. */
  readonly redactTitles: boolean;
  /** The file is there but holds no JSON object; then these are the values of a new installation. */
  readonly damaged: boolean;
}

const PINNED_LIMIT = 3;
const MOST_PINNED = 99;

/** The settings; the defaults when there is no file. Throws for a file that can't be read. */
export async function readListSettings(stateDir: string): Promise<ListSettings> {
  try {
    return parseListSettings(await readFile(join(stateDir, 'settings.json'), 'utf8'));
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return parseListSettings(null);
    throw error;
  }
}

/** A value of another type than its setting has counts as absent. */
export function parseListSettings(text: string | null): ListSettings {
  const parsed = text === null ? {} : parseJson(text);
  const saved = isJsonObject(parsed) ? parsed : {};
  const flag = (key: string, otherwise: boolean) => (typeof saved[key] === 'boolean' ? saved[key] : otherwise);
  const limit = saved.pinned_sessions_limit;
  const filter = saved.agent_session_source_filter;
  return {
    // Who had saved settings before there was this one had no terminal sessions in the list.
    showCli: flag('show_cli_sessions', Object.keys(saved).length === 0),
    showClaudeCode: flag('show_claude_code_sessions', true),
    showCron: flag('show_cron_sessions', false),
    showWebhook: flag('show_webhook_sessions', false),
    showKanban: flag('show_kanban_sessions', false),
    showPreviousMessaging: flag('show_previous_messaging_sessions', false),
    pinnedLimit: isWhole(limit) && limit >= 1 && limit <= MOST_PINNED ? limit : PINNED_LIMIT,
    sourceFilter: typeof filter === 'string' && filter.trim() !== '' ? filter : null,
    redactTitles: flag('api_redact_enabled', true),
    damaged: !isJsonObject(parsed),
  };
}

function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value);
}
