/** The chats of the gateway and their sessions: `sessions/sessions.json` of a profile (`spec/webui-listing.md` 9.5). */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../live/journal/open-journal.ts';
import { isJsonObject, parseJson } from '../state-db/decode.ts';
import type { ChatIdentity } from './list/list-row.ts';

export interface GatewaySession extends ChatIdentity {
  readonly sessionId: string;
}

/** By session id; empty when there is no file, or when it holds no JSON object. Throws for a file that can't be read. */
export async function readGatewaySessions(profileHome: string): Promise<Map<string, GatewaySession>> {
  try {
    return parseGatewaySessions(await readFile(join(profileHome, 'sessions', 'sessions.json'), 'utf8'));
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return new Map();
    throw error;
  }
}

/** Entries without a session id are left out; of two with the same id the later stands. */
export function parseGatewaySessions(text: string): Map<string, GatewaySession> {
  const parsed = parseJson(text);
  const sessions = new Map<string, GatewaySession>();
  for (const [key, entry] of isJsonObject(parsed) ? Object.entries(parsed) : []) {
    if (!isJsonObject(entry)) continue;
    const sessionId = word(entry.session_id);
    if (sessionId === null) continue;
    const origin = isJsonObject(entry.origin) ? entry.origin : {};
    sessions.set(sessionId, {
      sessionId,
      sessionKey: word(entry.session_key) ?? word(entry.key) ?? key,
      platform: word(origin.platform) ?? word(entry.platform),
      chatId: word(origin.chat_id),
      threadId: word(origin.thread_id),
      chatType: word(origin.chat_type) ?? word(entry.chat_type),
      userId: word(origin.user_id),
    });
  }
  return sessions;
}

function word(value: unknown): string | null {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}
