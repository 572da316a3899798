/**
 * Upstream's appends, reactions, notes on messages and clean-up of markers in terms of ours.
 */
import { isJsonObject } from '../../src/state-db/decode.ts';
import type { TranscriptMessage } from '../../src/state-db/write/message-encoding.ts';
import type { TestHost } from '../support/command-host.ts';
import { type MutationHandler, quietly } from './mutation-runner.ts';

/** What a time line shows is stamped by the owning programs as they write; here it comes with the message. */
export const ROWS_ELSEWHERE: Readonly<Record<string, string>> = { set_latest_matching_message_display_kind: 'left-to-the-agent' };

export const ROW_HANDLERS: Readonly<Record<string, MutationHandler<TestHost>>> = {
  append_message: async (host, { args: [sessionId, role, content], kwargs: { turn_lease_holder: holder, ...fields } }) => {
    const appended = await append(host, sessionId, [{ role, content, ...fields }], holder);
    return Number(appended.rowIds[0]);
  },
  append_messages_batch: async (host, { args: [sessionId, messages] }) => {
    const list = Array.isArray(messages) ? messages.filter((message): message is TranscriptMessage => isJsonObject(message)) : [];
    return (await append(host, sessionId, list)).inserted.length;
  },
  set_message_reaction: (host, { args: [sessionId, rowId, emoji] }) =>
    quietly(
      async () => {
        // Upstream's call is a toggle; ours says what is to be.
        const isSo = reactions(host, rowId).some((reaction) => reaction.author === 'user' && reaction.emoji === emoji);
        const desired = typeof emoji === 'string' && !isSo ? emoji : null;
        await host.run('setMessageReaction', { sessionId: String(sessionId), rowId: String(rowId), desired, author: 'user' });
        return reactions(host, rowId);
      },
      { NOT_FOUND: null },
    ),
  take_unseen_reactions: async (host, { args: [sessionId] }) => {
    const taken = await host.run('takeUnseenReactions', { sessionId: String(sessionId) });
    return taken.reactions.map(({ rowId, role, emoji, text }) => ({ row_id: Number(rowId), role, emoji, text }));
  },
  set_latest_user_api_content: async (host, { args: [sessionId, content, apiContent] }) => {
    const input = { sessionId: String(sessionId), rowId: null, content, apiContent: String(apiContent) };
    return (await host.run('setApiContent', input)).rowId === null ? 0 : 1;
  },
  purge_stale_tool_call_markers: async (host, { kwargs }) => {
    const dryRun = kwargs.dry_run === true;
    const { rowIds, backupName } = await host.run('cleanMarkers', { backup: kwargs.backup !== false, expectedRowIds: null }, { dryRun });
    return { dry_run: dryRun, rows_affected: rowIds.length, row_ids: rowIds.map(Number), backup_path: backupName };
  },
};

function append(host: TestHost, sessionId: unknown, messages: readonly TranscriptMessage[], holder?: unknown) {
  const lease = typeof holder === 'string' ? { holder, ttlSeconds: 300 } : null;
  return host.run('appendMessages', { sessionId: String(sessionId), messages, lease });
}

function reactions(host: TestHost, rowId: unknown): Record<string, unknown>[] {
  const [row] = host.rows('SELECT display_metadata AS metadata FROM messages WHERE id = ?', rowId);
  const metadata: unknown = JSON.parse(String(row?.metadata ?? null));
  const list = isJsonObject(metadata) ? metadata.reactions : [];
  return Array.isArray(list) ? list.filter((reaction) => isJsonObject(reaction)) : [];
}
