/**
 * Titles of sessions: who may set one over whom, and whose title it was (`spec/state-db-writes.md` F7).
 */
import { InvalidInput } from '../../errors.ts';
import { WriteRefused } from '../../write-refused.ts';
import { chainAncestors } from '../lineage.ts';
import type { StoreReading } from '../store-reading.ts';
import { CANONICAL_TITLE, sanitizeTitle, titleAuthority } from '../titles.ts';
import { SessionGraph } from './session-graph.ts';
import type { StoreOperation } from './store-operation.ts';
import type { WriteTransaction } from './write-connection.ts';

/** A person's title always lands; the automatic ones rank below it, `llm` above `derived`. */
export type TitleSource = 'user' | 'llm' | 'derived';

export interface TitleInput {
  readonly sessionId: string;
  /** Null or blank takes the title away. */
  readonly title: string | null;
  readonly source: TitleSource;
  /** The title that was read, as `{ title }`; null: none is expected. */
  readonly expected: { readonly title: string | null } | null;
}

export interface TitleResult {
  readonly sessionId: string;
  readonly title: string | null;
  readonly changed: boolean;
  /** The earlier segment of the conversation that had the title. */
  readonly transferredFrom: string | null;
}

interface StoredTitle {
  readonly title: string | null;
  readonly source: string | null;
}

/** What makes room for a title: sessions that lose it, and one of them the ancestor that hands it on. */
export interface TitleRoom {
  readonly transferredFrom: string | null;
  readonly clearedIds: readonly string[];
}

interface TitlePlan extends TitleResult {
  readonly before: StoredTitle;
  readonly source: TitleSource | null;
  readonly room: TitleRoom;
}

const NO_ROOM_NEEDED: TitleRoom = { transferredFrom: null, clearedIds: [] };

/**
 * F7. Throws NOT_FOUND, TITLE_TOO_LONG, TITLE_IN_USE with the session that has it, TITLE_PROTECTED for the hidden chat of a bot, CONFLICT
 * when the title is not the expected one. An automatic title that ranks too low changes nothing.
 */
export const setSessionTitle: StoreOperation<TitleInput, TitlePlan, TitleResult> = {
  patience: 'ROUTINE',
  touchesMessages: false,
  plan: (store, { sessionId, title: wanted, source, expected }) => {
    const row = store.get(
      `SELECT title, ${sourceColumn(store)} AS title_source, ${hiddenColumn(store)} AS hidden FROM sessions WHERE id = ?`,
      [sessionId],
    );
    if (row === undefined) throw new WriteRefused('NOT_FOUND', 'There is no such session.');
    const before = { title: textOf(row.title), source: textOf(row.title_source) };
    const title = cleanTitle(wanted);
    if (expected !== null && expected.title !== before.title) throw new WriteRefused('CONFLICT', '', { details: { title: before.title } });
    const unchanged = { sessionId, title: before.title, changed: false, transferredFrom: null, before, source, room: NO_ROOM_NEEDED };
    const isProtected = before.title === CANONICAL_TITLE && row.hidden === 1 && title !== CANONICAL_TITLE;
    if (source === 'user') {
      if (isProtected) throw new WriteRefused('TITLE_PROTECTED');
    } else if (isProtected || title === null || !outranks(source, before)) return unchanged;
    const room = title === null ? NO_ROOM_NEEDED : roomFor(store, sessionId, title);
    const kept = store.shape.hasColumn('sessions', 'title_source') && title !== null ? source : null;
    return {
      sessionId,
      title,
      changed: title !== before.title || kept !== before.source,
      transferredFrom: room.transferredFrom,
      before,
      source: kept,
      room,
    };
  },
  execute: (transaction, plan) => {
    if (plan.changed) {
      makeRoom(transaction, plan.room);
      writeTitle(transaction, plan);
    }
    return told(plan);
  },
  preview: told,
  wasMade: (store, { sessionId, title }) =>
    store.get('SELECT 1 AS made FROM sessions WHERE id = ? AND title IS ?', [sessionId, title]) !== undefined,
};

/** As it is stored. Throws TITLE_TOO_LONG. */
export function cleanTitle(title: string | null): string | null {
  try {
    return sanitizeTitle(title);
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    throw new WriteRefused('TITLE_TOO_LONG', '', { cause: error, details: error.details });
  }
}

/**
 * What has to give way so that the session can have the title; one that is still to be created names the segment that it continues. Throws
 * TITLE_IN_USE when another session keeps it.
 */
export function roomFor(store: StoreReading, sessionId: string, title: string, continuedId: string | null = null): TitleRoom {
  const holders = store.all(
    `SELECT id, ${hiddenColumn(store)} AS hidden, ${archivedColumn(store)} AS archived FROM sessions WHERE title = ? AND id <> ?`,
    [title, sessionId],
  );
  if (holders.length === 0) return NO_ROOM_NEEDED;
  const ancestors = ancestorsOf(store, sessionId, continuedId);
  let transferredFrom: string | null = null;
  const clearedIds: string[] = [];
  for (const holder of holders) {
    const id = String(holder.id);
    if (ancestors.has(id)) transferredFrom = id;
    else if (title === CANONICAL_TITLE && holder.hidden === 1 && holder.archived === 1) clearedIds.push(id);
    else throw new WriteRefused('TITLE_IN_USE', '', { details: { sessionId: id } });
  }
  return { transferredFrom, clearedIds };
}

function ancestorsOf(store: StoreReading, sessionId: string, continuedId: string | null): Set<string> {
  const graph = new SessionGraph(store);
  const session = graph.get(sessionId);
  if (session !== undefined) return new Set(chainAncestors(graph, session).map(({ id }) => id));
  const continued = continuedId === null ? undefined : graph.get(continuedId);
  if (continued?.endReason !== 'compression') return new Set();
  return new Set([...chainAncestors(graph, continued), continued].map(({ id }) => id));
}

/** An ancestor keeps the source of the title that it hands on, as the owning programs leave it. */
export function makeRoom(transaction: WriteTransaction, { transferredFrom, clearedIds }: TitleRoom): void {
  if (transferredFrom !== null) transaction.run('UPDATE sessions SET title = NULL WHERE id = ?', [transferredFrom]);
  const source = transaction.shape.hasColumn('sessions', 'title_source') ? ', title_source = NULL' : '';
  for (const id of clearedIds) transaction.run(`UPDATE sessions SET title = NULL${source} WHERE id = ?`, [id]);
}

function writeTitle(transaction: WriteTransaction, { sessionId, title, source, before }: TitlePlan): void {
  const hasSource = transaction.shape.hasColumn('sessions', 'title_source');
  const { changes } = hasSource
    ? transaction.run('UPDATE sessions SET title = ?, title_source = ? WHERE id = ? AND title IS ? AND title_source IS ?', [
        title,
        source,
        sessionId,
        before.title,
        before.source,
      ])
    : transaction.run('UPDATE sessions SET title = ? WHERE id = ? AND title IS ?', [title, sessionId, before.title]);
  if (changes !== 1) throw new WriteRefused('CONFLICT');
}

function told({ sessionId, title, changed, transferredFrom }: TitlePlan): TitleResult {
  return { sessionId, title, changed, transferredFrom };
}

function outranks(source: TitleSource, before: StoredTitle): boolean {
  const stored = titleAuthority(before.title, before.source);
  return stored === null || stored < (source === 'llm' ? 1 : 0);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

const sourceColumn = (store: StoreReading) => store.shape.columnOr('sessions', 'title_source', 'sessions', 'NULL');
const hiddenColumn = (store: StoreReading) => `(ifnull(${store.shape.columnOr('sessions', 'hidden', 'sessions', '0')}, 0) <> 0)`;
const archivedColumn = (store: StoreReading) => `(ifnull(${store.shape.columnOr('sessions', 'archived', 'sessions', '0')}, 0) <> 0)`;
