/**
 * Rows that hold a message already (`spec/state-db-writes.md` A14 O5, RW4): by its uid, by the id that a platform gave it, or byte for byte.
 */
import { idList } from '../connection.ts';
import type { SqlRow, SqlValue } from '../decode.ts';
import type { Bindable, StoreReading } from '../store-reading.ts';
import { conversationIds } from './conversation-ids.ts';
import type { EncodedMessage, TranscriptMessage } from './message-encoding.ts';
import { nonEmptyString } from './stored-value.ts';

/** A row that was there before. */
export interface KnownRow {
  readonly rowId: string;
  readonly uid: string | null;
  /** Epoch seconds; null where the cell holds none. */
  readonly timestamp: number | null;
}

/** What makes two rows copies of one message, for those that bring neither a uid nor an id. */
const PAYLOAD = ['role', 'content', 'timestamp', 'tool_call_id', 'tool_calls', 'tool_name'] as const;

/** The live row of a message first, and of several the newest. */
const BEST_FIRST = 'ORDER BY (m.active = 1) DESC, m.id DESC';

/**
 * The rows of messages that were written before. In a store with uids those of the whole conversation count, whatever became of them: a
 * rotation takes messages along, and a repeat must not bring back what was rewound. In an older store the platform's id counts, inside the
 * session and for the same role.
 */
export class KnownMessages {
  readonly #byUid = new Map<string, KnownRow>();
  readonly #byPlatformId = new Map<string, KnownRow>();
  readonly #hasUids: boolean;

  /** Two statements for any number of messages, besides the walk over the conversation. */
  static read(store: StoreReading, sessionId: string, messages: readonly TranscriptMessage[]): KnownMessages {
    const known = new KnownMessages(store.shape.hasColumn('messages', 'message_uid'));
    if (known.#hasUids) known.#readUids(store, sessionId, messages);
    else if (store.shape.hasColumn('messages', 'platform_message_id')) known.#readPlatformIds(store, sessionId, messages);
    return known;
  }

  private constructor(hasUids: boolean) {
    this.#hasUids = hasUids;
  }

  find(message: TranscriptMessage): KnownRow | null {
    const uid = nonEmptyString(message.message_uid);
    if (this.#hasUids) return uid === null ? null : (this.#byUid.get(uid) ?? null);
    return this.#byPlatformId.get(platformKey(message.role, platformMessageId(message))) ?? null;
  }

  /** Remembers a row that was written since, for a uid that comes twice in one call. */
  add(message: TranscriptMessage, row: KnownRow): void {
    const uid = nonEmptyString(message.message_uid);
    if (this.#hasUids && uid !== null) this.#byUid.set(uid, row);
  }

  #readUids(store: StoreReading, sessionId: string, messages: readonly TranscriptMessage[]): void {
    const uids = messages.flatMap((message) => nonEmptyString(message.message_uid) ?? []);
    if (uids.length === 0) return;
    const rows = store.all(
      `SELECT m.message_uid AS known, ${rowColumns(store)} FROM messages m
       WHERE m.session_id IN (SELECT value FROM json_each(?)) AND m.message_uid IN (SELECT value FROM json_each(?)) ${BEST_FIRST}`,
      [idList(conversationIds(store, sessionId)), idList(uids)],
    );
    for (const row of rows.reverse()) this.#byUid.set(String(row.known), toKnownRow(row));
  }

  #readPlatformIds(store: StoreReading, sessionId: string, messages: readonly TranscriptMessage[]): void {
    const ids = messages.flatMap((message) => platformMessageId(message) ?? []);
    if (ids.length === 0) return;
    const active = store.shape.hasColumn('messages', 'active') ? BEST_FIRST : 'ORDER BY m.id DESC';
    const rows = store.all(
      `SELECT m.role AS role, m.platform_message_id AS known, ${rowColumns(store)} FROM messages m
       WHERE m.session_id = ? AND m.platform_message_id IN (SELECT value FROM json_each(?)) ${active}`,
      [sessionId, idList(ids)],
    );
    for (const row of rows.reverse()) this.#byPlatformId.set(platformKey(row.role, String(row.known)), toKnownRow(row));
  }
}

/** A live row of the session that is the message byte for byte and whose id is not among those taken; the oldest of several (RW4). */
export function liveTwin(store: StoreReading, sessionId: string, encoded: EncodedMessage, taken: ReadonlySet<string>): KnownRow | null {
  const { shape } = store;
  const columns = PAYLOAD.filter((column) => shape.hasColumn('messages', column));
  const parameters: Bindable[] = [sessionId, ...columns.map((column) => cellOf(encoded, column))];
  const isLive = shape.hasColumn('messages', 'active') ? 'AND m.active = 1' : '';
  const rows = store.all(
    `SELECT ${rowColumns(store)} FROM messages m
     WHERE m.session_id = ? AND ${columns.map((column) => `m."${column}" IS ?`).join(' AND ')} ${isLive} ORDER BY m.id`,
    parameters,
  );
  return rows.map(toKnownRow).find(({ rowId }) => !taken.has(rowId)) ?? null;
}

function cellOf(encoded: EncodedMessage, column: string): SqlValue {
  return encoded.values[encoded.columns.indexOf(column)] ?? null;
}

/** As the cell of a TEXT column will read. */
function platformMessageId(message: TranscriptMessage): string | null {
  const id = message.platform_message_id ?? message.message_id ?? null;
  return typeof id === 'string' ? nonEmptyString(id) : Number.isSafeInteger(id) ? String(id) : null;
}

function platformKey(role: unknown, id: string | null): string {
  return JSON.stringify([role ?? null, id]);
}

function rowColumns(store: StoreReading): string {
  const uid = store.shape.columnOr('messages', 'message_uid', 'm', 'NULL');
  return `CAST(m.id AS TEXT) AS row_id, ${uid} AS uid, m.timestamp AS timestamp`;
}

function toKnownRow(row: SqlRow): KnownRow {
  return {
    rowId: String(row.row_id),
    uid: typeof row.uid === 'string' ? row.uid : null,
    timestamp: typeof row.timestamp === 'number' ? row.timestamp : null,
  };
}
