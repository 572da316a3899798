/**
 * Which session a gateway conversation is routed to: the routing index, and the look-ups that find a session again by its key, its peer or
 * its origin (`spec/state-db.md` 4.10, 12.3).
 */
import { inWindow, isJsonObject, parseJson, RowReader, type SqlRow } from './decode.ts';
import { RESET_REASONS } from './lineage.ts';
import { type Origin, originOf } from './session-details.ts';
import type { StoreReading } from './store-reading.ts';

/** One entry of the routing index; the parts of its JSON that are shown. */
export interface RoutingEntry {
  readonly scope: string;
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly displayName: string | null;
  readonly platform: string | null;
  readonly chatType: string | null;
  readonly suspended: boolean;
  readonly resumePending: boolean;
  readonly resumeReason: string | null;
  readonly autoResetReason: string | null;
  readonly previousSessionId: string | null;
  /** The start of a turn under way, epoch seconds; null without a turn, or when its start isn't told. */
  readonly activeTurnStartedAt: number | null;
  readonly hasActiveTurn: boolean;
  readonly lastPromptTokens: number | null;
  readonly origin: Origin | null;
  /** Epoch seconds. */
  readonly updatedAt: number | null;
  /** The whole entry as stored; may hold what nobody should see. */
  readonly raw: string;
}

const ROW_LIMIT = 10_000;

/** Entries of one scope, or of all; those that are no JSON object or name no safe session are left out (case 81). */
export function routingEntries(connection: StoreReading, scope: string | null = null): RoutingEntry[] {
  const { shape } = connection;
  if (!shape.hasTable('gateway_routing')) return [];
  const scopes = shape.columnOr('gateway_routing', 'scope', 'g', "''");
  const rows = connection.all(
    `SELECT ${scopes} AS scope, g.session_key AS session_key, g.entry_json AS entry_json, g.updated_at AS updated_at
     FROM gateway_routing g WHERE ${scope === null ? '1' : `${scopes} = ?`} ORDER BY 1, 2 LIMIT ${ROW_LIMIT}`,
    scope === null ? [] : [scope],
  );
  return rows.flatMap(decodeEntry);
}

function decodeEntry(row: SqlRow): RoutingEntry[] {
  const cells = new RowReader(row);
  const raw = cells.quietText('entry_json') ?? '';
  const entry = parseJson(raw);
  if (!isJsonObject(entry) || typeof entry.session_id !== 'string' || !isSafeSegment(entry.session_id)) return [];
  const text = (key: string) => (typeof entry[key] === 'string' ? entry[key] : null);
  const number = (key: string) => (typeof entry[key] === 'number' && Number.isFinite(entry[key]) ? entry[key] : null);
  const hasActiveTurn = (text('active_turn_token') ?? '') !== '';
  return [
    {
      scope: cells.quietText('scope') ?? '',
      sessionKey: cells.quietText('session_key') ?? '',
      sessionId: entry.session_id,
      displayName: text('display_name'),
      platform: text('platform'),
      chatType: text('chat_type'),
      suspended: entry.suspended === true,
      resumePending: entry.resume_pending === true,
      resumeReason: text('resume_reason'),
      autoResetReason: text('auto_reset_reason'),
      previousSessionId: text('prev_session_id'),
      activeTurnStartedAt: hasActiveTurn ? inWindow(number('active_turn_started_at')) : null,
      hasActiveTurn,
      lastPromptTokens: number('last_prompt_tokens'),
      origin: originOf(entry.origin),
      updatedAt: inWindow(row.updated_at),
      raw,
    },
  ];
}

/** 4.10: an id that could name a file outside its folder is no session's. */
export function isSafeSegment(id: string): boolean {
  return id !== '' && id !== '.' && id !== '..' && !/[/\\\u0000]/.test(id);
}

/** Values of `(source, session key)`; keys without one, or with 0, are missing (12.3). */
export function conversationGenerations(
  connection: StoreReading,
  keys: readonly { readonly source: string; readonly sessionKey: string }[],
): Map<string, number> {
  if (!connection.shape.hasTable('conversation_generations')) return new Map();
  const rows = connection.all(
    `SELECT k.key AS n, g.generation AS generation FROM json_each(?) k CROSS JOIN conversation_generations g
     ON g.source = k.value ->> 's' AND g.session_key = k.value ->> 'k'`,
    [JSON.stringify(keys.map(({ source, sessionKey }) => ({ s: source, k: sessionKey })))],
  );
  const found = new Map<string, number>();
  for (const row of rows) {
    const key = keys[Number(row.n)];
    const generation = new RowReader(row).count('generation');
    if (key !== undefined && generation > 0) found.set(generationKey(key), generation);
  }
  return found;
}

export function generationKey({ source, sessionKey }: { readonly source: string; readonly sessionKey: string }): string {
  return `${source}\u0000${sessionKey}`;
}

const RESETS = [...RESET_REASONS].map((reason) => `'${reason}'`).join(', ');
const ACCIDENTS = "'agent_close', 'ws_orphan_reap', 'superseded_by_resume', 'startup_orphan_reap'";
/** A time inside the window, else -1, so that damage never wins an ordering. */
const trusted = (column: string) => `(CASE WHEN ${column} BETWEEN 0.0 AND 4200000000.0 THEN ${column} ELSE -1 END)`;

export interface Peer {
  readonly source: string;
  readonly userId: string | null;
  readonly chatId: string | null;
  readonly chatType: string | null;
  readonly threadId: string | null;
  /** The profile of the store; null where it isn't known. A session of another profile isn't this peer's. */
  readonly profile: string | null;
}

/**
 * The session that a gateway conversation goes on in after a restart: open, or ended by accident, or handed over; and not before a reset of
 * the same conversation (12.3). Null where there is none.
 */
export function recoverableByKey(connection: StoreReading, source: string, sessionKey: string): string | null {
  if (!connection.shape.hasColumn('sessions', 'session_key') || sessionKey === '') return null;
  return recoverable(connection, 's.session_key = :key AND s.source = :source', 'f.session_key = :key AND f.source = :source', {
    key: sessionKey,
    source,
  });
}

/** The same by who is talking where; only a session with messages. */
export function recoverableByPeer(connection: StoreReading, peer: Peer): string | null {
  const { shape } = connection;
  if (!shape.hasColumn('sessions', 'chat_id')) return null;
  const same = (alias: string) =>
    `${alias}.source = :source AND ifnull(${alias}.user_id, '') = :user AND ifnull(${alias}.chat_id, '') = :chat
     AND ifnull(${alias}.chat_type, '') = :type AND ifnull(${alias}.thread_id, '') = :thread`;
  const owner = `(:profile = '' OR ifnull(${shape.columnOr('sessions', 'profile_name', 's', 'NULL')}, :profile) = :profile)`;
  return recoverable(connection, `${same('s')} AND ${owner} AND EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id)`, same('f'), {
    source: peer.source,
    user: peer.userId ?? '',
    chat: peer.chatId ?? '',
    type: peer.chatType ?? '',
    thread: peer.threadId ?? '',
    profile: peer.profile ?? '',
  });
}

function recoverable(connection: StoreReading, candidate: string, fence: string, parameters: Record<string, string>): string | null {
  const { shape } = connection;
  const activity = `(CASE WHEN ${shape.columnOr('sessions', 'last_activity_at', 's', 'NULL')} BETWEEN 0.0 AND 4200000000.0
    THEN ${shape.columnOr('sessions', 'last_activity_at', 's', 'NULL')} ELSE ${trusted('s.started_at')} END)`;
  const handedOver = `${shape.columnOr('sessions', 'handoff_state', 's', 'NULL')} IS 'completed'`;
  const row = connection.get(
    `SELECT s.id AS id FROM sessions s
     WHERE ${candidate} AND ((s.ended_at IS NULL AND s.end_reason IS NULL) OR s.end_reason IN (${ACCIDENTS}) OR ${handedOver})
       AND NOT EXISTS (SELECT 1 FROM sessions f WHERE ${fence} AND f.end_reason IN (${RESETS}) AND ${trusted('f.ended_at')} > ${activity})
     ORDER BY EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id) DESC, ${activity} DESC, s.id DESC LIMIT 1`,
    parameters,
  );
  return row === undefined ? null : String(row.id);
}

export interface OriginQuery {
  readonly source: string;
  readonly chatId: string;
  readonly threadId: string | null;
  readonly userId: string | null;
}

/** The open session of a chat (12.3). With a user their newest; several sessions of others, or of several users, mean none. */
export function sessionByOrigin(connection: StoreReading, query: OriginQuery): string | null {
  if (!connection.shape.hasColumn('sessions', 'chat_id')) return null;
  const rows = connection.all(
    `SELECT s.id AS id, ifnull(s.user_id, '') AS user_id FROM sessions s
     WHERE lower(s.source) = lower(:source) AND s.chat_id = :chat AND ifnull(s.thread_id, '') = :thread
       AND s.ended_at IS NULL AND s.session_key IS NOT NULL
     ORDER BY ${trusted('s.started_at')} DESC, s.id DESC LIMIT 1000`,
    { source: query.source, chat: query.chatId, thread: query.threadId ?? '' },
  );
  const ids = (matches: (row: SqlRow) => boolean) => rows.filter(matches).map((row) => String(row.id));
  const [newest] = ids(() => true);
  if (newest === undefined) return null;
  if (query.userId !== null) return ids((row) => row.user_id === query.userId)[0] ?? (rows.length === 1 ? newest : null);
  return new Set(rows.map((row) => row.user_id)).size > 1 ? null : newest;
}

/** The current session of each routing key, or of those of one platform; newest activity first. Equal starts give several for one key (12.3). */
export function currentGatewaySessions(
  connection: StoreReading,
  options: { readonly platform?: string; readonly activeOnly?: boolean } = {},
): string[] {
  if (!connection.shape.hasColumn('sessions', 'session_key')) return [];
  const rows = connection.all(
    `SELECT s.id AS id FROM sessions s
     WHERE s.session_key IS NOT NULL AND (:platform = '' OR lower(s.source) = lower(:platform)) AND (:active = 0 OR s.ended_at IS NULL)
       AND ${trusted('s.started_at')} = (SELECT MAX(${trusted('k.started_at')}) FROM sessions k WHERE k.session_key = s.session_key)
     ORDER BY max(${trusted(connection.shape.columnOr('sessions', 'last_activity_at', 's', 'NULL'))},
       ifnull((SELECT MAX(CASE WHEN m.timestamp BETWEEN 0.0 AND 4200000000.0 THEN m.timestamp END) FROM messages m WHERE m.session_id = s.id), -1)) DESC,
       ${trusted('s.started_at')} DESC, s.id DESC LIMIT ${ROW_LIMIT}`,
    { platform: options.platform ?? '', active: options.activeOnly === true ? 1 : 0 },
  );
  return rows.map((row) => String(row.id));
}
