/**
 * Reactions to messages, one for each author (`spec/state-db-writes.md` F13). They live in `display_metadata`, which is no part of a row's
 * version.
 */
import { WriteRefused } from '../../write-refused.ts';
import { contentText, decodeContent } from '../content.ts';
import { isJsonObject, RowReader, type SqlValue } from '../decode.ts';
import type { StoreReading } from '../store-reading.ts';
import { isVisibleSql } from '../visibility.ts';
import { conversationIds } from './conversation-ids.ts';
import type { StoreOperation } from './store-operation.ts';
import { metadataCell, storedMetadata } from './stored-metadata.ts';
import { storedRow } from './stored-row.ts';
import type { WriteTransaction } from './write-connection.ts';

export interface ReactionInput {
  readonly sessionId: string;
  readonly rowId: string;
  /** The author's reaction from now on; null for none. */
  readonly desired: string | null;
  readonly author: string;
}

export interface SetReaction {
  readonly sessionId: string;
  readonly rowId: string;
  /** False: it was so already. */
  readonly changed: boolean;
}

interface MetadataChange {
  readonly rowId: string;
  readonly cell: string | null;
}

interface ReactionPlan {
  readonly result: SetReaction;
  readonly change: MetadataChange | null;
}

const KEY = 'reactions';
/** Reactions of the agent are nothing that it has to be told. */
const AGENT = 'agent';
const UPDATE = 'UPDATE messages SET display_metadata = ? WHERE id = ?';

/**
 * Sets what an author thinks of a visible message of the conversation. The value is what it is to be and no toggle, so a repeat changes
 * nothing. Throws NOT_FOUND, and ROW_NOT_REWRITABLE for metadata that is no JSON object.
 */
export const setMessageReaction: StoreOperation<ReactionInput, ReactionPlan, SetReaction> = {
  patience: 'ROUTINE',
  touchesMessages: true,
  plan: (store, { sessionId, rowId, desired, author }, { now }) => {
    requireMetadata(store);
    const row = storedRow(store, rowId);
    const isVisible = row !== null && (row.isLive || row.isArchived);
    if (!isVisible || !conversationIds(store, sessionId).includes(row.sessionId)) {
      throw new WriteRefused('NOT_FOUND', 'There is no such message in the conversation.');
    }
    const metadata = storedMetadata(row.cells.display_metadata ?? null);
    if (metadata === null) throw new WriteRefused('ROW_NOT_REWRITABLE', 'Its display_metadata is no JSON object.', { details: { rowId } });
    const reactions = reactionList(metadata);
    const own = reactions.filter((reaction) => isJsonObject(reaction) && reaction.author === author);
    const isSo = desired === null ? own.length === 0 : own.some((reaction) => isJsonObject(reaction) && reaction.emoji === desired);
    if (isSo) return { result: { sessionId, rowId, changed: false }, change: null };
    const others = reactions.filter((reaction) => !own.includes(reaction));
    const next = desired === null ? others : [...others, { emoji: desired, author, at: now }];
    const cell = metadataCell(metadata, KEY, next.length === 0 ? undefined : next);
    return { result: { sessionId, rowId, changed: true }, change: { rowId, cell } };
  },
  execute: (transaction, { result, change }) => {
    if (change !== null) writeMetadata(transaction, change);
    return result;
  },
  preview: ({ result }) => result,
};

export interface UnseenInput {
  readonly sessionId: string;
}

export interface UnseenReaction {
  readonly rowId: string;
  readonly role: string;
  readonly emoji: string;
  readonly author: string;
  /** Of the message. */
  readonly text: string;
}

export interface TakenReactions {
  readonly sessionId: string;
  readonly reactions: readonly UnseenReaction[];
}

interface UnseenPlan extends TakenReactions {
  readonly changes: readonly MetadataChange[];
}

/**
 * Reactions to visible messages of the session that the agent has not been told of, oldest message first; each is given once. A repeat of an
 * answer that was lost needs the id of the mutation. Throws NOT_FOUND.
 */
export const takeUnseenReactions: StoreOperation<UnseenInput, UnseenPlan, TakenReactions> = {
  patience: 'ROUTINE',
  touchesMessages: true,
  plan: (store, { sessionId }) => {
    requireMetadata(store);
    if (store.get('SELECT 1 AS found FROM sessions WHERE id = ?', [sessionId]) === undefined) throw new WriteRefused('NOT_FOUND');
    const found = reactedRows(store, sessionId).map(({ row, metadata }) => unseenOf(row, metadata));
    return { sessionId, reactions: found.flatMap(({ reactions }) => reactions), changes: found.flatMap(({ change }) => change ?? []) };
  },
  execute: (transaction, { sessionId, reactions, changes }) => {
    for (const change of changes) writeMetadata(transaction, change);
    return { sessionId, reactions };
  },
  preview: ({ sessionId, reactions }) => ({ sessionId, reactions }),
  wasMade: (store, { sessionId, reactions }) => {
    const unseen = reactedRows(store, sessionId).flatMap(({ row, metadata }) => unseenOf(row, metadata).reactions);
    return !reactions.some((taken) => unseen.some((left) => left.rowId === taken.rowId && left.author === taken.author));
  },
};

function requireMetadata(store: StoreReading): void {
  if (!store.shape.hasColumn('messages', 'display_metadata'))
    throw new WriteRefused('SCHEMA_UNSUPPORTED', 'Its messages have no metadata.');
}

function writeMetadata(transaction: WriteTransaction, { rowId, cell }: MetadataChange): void {
  transaction.run(UPDATE, [cell, BigInt(rowId)]);
}

function reactionList(metadata: Readonly<Record<string, unknown>>): readonly unknown[] {
  const list = metadata[KEY];
  return Array.isArray(list) ? list : [];
}

interface ReactedRow {
  readonly rowId: string;
  readonly role: string;
  readonly content: SqlValue;
}

function reactedRows(store: StoreReading, sessionId: string): { row: ReactedRow; metadata: Readonly<Record<string, unknown>> }[] {
  const rows = store.all(
    `SELECT CAST(m.id AS TEXT) AS id, m.role AS role, m.content AS content, m.display_metadata AS metadata FROM messages m
     WHERE m.session_id = ? AND ${isVisibleSql(store.shape, 'm')} AND instr(m.display_metadata, '${KEY}') > 0
     ORDER BY m.id`,
    [sessionId],
  );
  return rows.flatMap((row) => {
    const metadata = storedMetadata(new RowReader(row).quietText('metadata'));
    if (metadata === null) return [];
    const cells = new RowReader(row);
    return [{ row: { rowId: String(row.id), role: cells.quietText('role') ?? '', content: row.content ?? null }, metadata }];
  });
}

function unseenOf(
  { rowId, role, content }: ReactedRow,
  metadata: Readonly<Record<string, unknown>>,
): { reactions: UnseenReaction[]; change: MetadataChange | null } {
  const list = reactionList(metadata);
  const text = contentText(decodeContent(typeof content === 'string' ? content : null));
  const reactions = list.flatMap((reaction) => {
    if (!isUnseen(reaction)) return [];
    return [{ rowId, role, emoji: reaction.emoji, author: reaction.author, text }];
  });
  if (reactions.length === 0) return { reactions, change: null };
  const seen = list.map((reaction) => (isUnseen(reaction) ? { ...reaction, seen: true } : reaction));
  return { reactions, change: { rowId, cell: metadataCell(metadata, KEY, seen) } };
}

function isUnseen(reaction: unknown): reaction is { readonly emoji: string; readonly author: string; readonly seen?: unknown } {
  if (!isJsonObject(reaction) || typeof reaction.emoji !== 'string' || typeof reaction.author !== 'string') return false;
  return reaction.author !== AGENT && reaction.seen !== true;
}
