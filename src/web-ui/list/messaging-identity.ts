/** One row for each chat (`spec/webui-listing.md` 9.5). */
import type { GatewaySession } from '../gateway-sessions.ts';
import { type ChatIdentity, isBlank, type ListRow } from './list-row.ts';
import { chatTime } from './row-order.ts';
import { fold, MESSAGING_SOURCES, messagingSource } from './source-class.ts';

const REPLACED: ReadonlySet<string> = new Set(['session_reset', 'session_switch']);

/**
 * The ids of rows that are earlier segments of a chat: all but the newest row of each, and, where the gateway names the session of a
 * chat, what it has left behind. `gateway` is `sessions.json` of the profile by session id.
 */
export function previousSegments(rows: readonly ListRow[], gateway: ReadonlyMap<string, GatewaySession>): Set<string> {
  const chats = rows.filter((row) => MESSAGING_SOURCES.has(messagingSource(row)));
  const hidden = new Set<string>();
  if (chats.length === 0) return hidden;
  const snapshots = new Set(rows.filter((row) => row.isSnapshot).map((row) => row.id));
  const continuesSnapshot = (row: ListRow) => row.parentSessionId !== null && snapshots.has(row.parentSessionId);
  const newest = new Map<string, ListRow>();
  for (const row of chats) {
    const key = identityKey(row, gateway, continuesSnapshot(row));
    const known = newest.get(key);
    if (known === undefined || chatTime(row) > chatTime(known)) {
      if (known !== undefined) hidden.add(known.id);
      newest.set(key, row);
    } else hidden.add(row.id);
  }
  const current = currentSessions(chats, gateway);
  for (const row of chats) {
    const named = current.get(messagingSource(row));
    if (named === undefined || named.has(row.id)) continue;
    if (isLeftBehind(row, gateway, continuesSnapshot(row))) hidden.add(row.id);
  }
  return hidden;
}

function identityKey(row: ListRow, gateway: ReadonlyMap<string, GatewaySession>, continuesSnapshot: boolean): string {
  const source = messagingSource(row);
  if (continuesSnapshot) return `${source}|id|${row.id}`;
  const chat = identityOf(row, gateway);
  if (!isBlank(chat.sessionKey)) return `${source}|key|${chat.sessionKey}`;
  const parts = [chat.chatType, chat.chatId, chat.threadId, chat.userId].filter((part) => !isBlank(part));
  return parts.length === 0 ? source : `${source}|chat|${parts.join('|')}`;
}

function identityOf(row: ListRow, gateway: ReadonlyMap<string, GatewaySession>): ChatIdentity {
  const known = gateway.get(row.id);
  return {
    userId: known?.userId ?? row.userId,
    chatId: known?.chatId ?? row.chatId,
    chatType: known?.chatType ?? row.chatType,
    threadId: known?.threadId ?? row.threadId,
    sessionKey: known?.sessionKey ?? row.sessionKey,
    platform: known?.platform ?? row.platform,
  };
}

/** The sessions that the gateway names, those that the list has, by source. */
function currentSessions(chats: readonly ListRow[], gateway: ReadonlyMap<string, GatewaySession>): Map<string, Set<string>> {
  const current = new Map<string, Set<string>>();
  for (const row of chats) {
    const source = messagingSource(row);
    const named = gateway.get(row.id);
    if (named === undefined || fold(named.platform) !== source) continue;
    current.set(source, (current.get(source) ?? new Set()).add(row.id));
  }
  return current;
}

function isLeftBehind(row: ListRow, gateway: ReadonlyMap<string, GatewaySession>, continuesSnapshot: boolean): boolean {
  if (REPLACED.has(row.endReason ?? '')) return true;
  const chat = identityOf(row, gateway);
  const isNameless = [chat.sessionKey, chat.chatId, chat.threadId].every(isBlank);
  if (isNameless && !continuesSnapshot) return true;
  if (row.parentSessionId !== null && !continuesSnapshot) return true;
  return row.messageCount === 0 && (row.actualMessageCount ?? 0) === 0;
}
