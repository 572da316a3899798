/**
 * What the rows of a session say together, without reading them: newest rows, clocks, whether something was archived
 * (`spec/state-db.md` 8.1). Every figure is found through an index, for any number of sessions with one statement.
 */
import { idList } from './connection.ts';
import { inWindow, type SqlRow } from './decode.ts';
import type { StoreReading } from './store-reading.ts';
import { isLiveSql, isVisibleSql } from './visibility.ts';

export interface MessageFacts {
  /** Row ids, as decimal digits, of the newest live row of a role that has content; null where there is none. */
  readonly latestUserRowId: string | null;
  readonly latestAssistantRowId: string | null;
  /** The same of the newest live row of all. */
  readonly latestLiveRowId: string | null;
  /** The role of the newest live row that is neither bookkeeping nor a system row. */
  readonly latestRole: string | null;
  /** Epoch seconds of the newest visible row of a person or the assistant. */
  readonly lastMessageAt: number | null;
  /** Whether a row is no part of the live transcript any more: archived, or taken back. */
  readonly hasInactive: boolean;
}

const NO_FACTS: MessageFacts = {
  latestUserRowId: null,
  latestAssistantRowId: null,
  latestLiveRowId: null,
  latestRole: null,
  lastMessageAt: null,
  hasInactive: false,
};

/** Facts of each session; a session without rows has none of them. */
export function messageFacts(connection: StoreReading, sessionIds: readonly string[]): Map<string, MessageFacts> {
  const { shape } = connection;
  const live = isLiveSql(shape, 'm');
  const newest = (column: string, condition: string) =>
    `(SELECT ${column} FROM messages m WHERE m.session_id = s.value AND ${live} AND ${condition} ORDER BY m.id DESC LIMIT 1)`;
  const rows = connection.all(
    `SELECT s.value AS session_id,
       ${newest('CAST(m.id AS TEXT)', "m.role = 'user' AND m.content <> ''")} AS latest_user,
       ${newest('CAST(m.id AS TEXT)', "m.role = 'assistant' AND m.content <> ''")} AS latest_assistant,
       ${newest('CAST(m.id AS TEXT)', '1')} AS latest_live,
       ${newest('m.role', "m.role NOT IN ('session_meta', 'system')")} AS latest_role,
       (SELECT MAX(m.timestamp) FROM messages m WHERE m.session_id = s.value AND m.role IN ('user', 'assistant')
          AND ${isVisibleSql(shape, 'm')} AND m.timestamp BETWEEN 0.0 AND 4200000000.0) AS last_message_at,
       EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.value AND NOT ${live}) AS has_inactive
     FROM json_each(?) s`,
    [idList(sessionIds)],
  );
  const facts = new Map<string, MessageFacts>(sessionIds.map((id) => [id, NO_FACTS]));
  for (const row of rows) facts.set(String(row.session_id), decodeFacts(row));
  return facts;
}

function decodeFacts(row: SqlRow): MessageFacts {
  const text = (value: SqlRow[string]) => (typeof value === 'string' ? value : null);
  return {
    latestUserRowId: text(row.latest_user),
    latestAssistantRowId: text(row.latest_assistant),
    latestLiveRowId: text(row.latest_live),
    latestRole: text(row.latest_role),
    lastMessageAt: inWindow(row.last_message_at),
    hasInactive: row.has_inactive === 1,
  };
}

export interface PlatformMessageKey {
  readonly sessionId: string;
  readonly platformMessageId: string;
}

/** Row ids of the messages that a platform knows under an id, oldest first; one id may have several (14). */
export function platformMessageRows(connection: StoreReading, keys: readonly PlatformMessageKey[]): string[][] {
  const found: string[][] = keys.map(() => []);
  if (!connection.shape.hasColumn('messages', 'platform_message_id')) return found;
  const rows = connection.all(
    `SELECT k.key AS n, CAST(m.id AS TEXT) AS id FROM json_each(?) k
     CROSS JOIN messages m ON m.session_id = k.value ->> 's' AND m.platform_message_id = k.value ->> 'p' ORDER BY m.id`,
    [JSON.stringify(keys.map(({ sessionId, platformMessageId }) => ({ s: sessionId, p: platformMessageId })))],
  );
  for (const row of rows) found[Number(row.n)]?.push(String(row.id));
  return found;
}

export interface MessageUidKey {
  readonly sessionId: string;
  readonly role: string;
  readonly uid: string;
}

/** The row that a durable id means: the newest live one of the session and role (8.4); null where there is none. */
export function rowsByUid(connection: StoreReading, keys: readonly MessageUidKey[]): (string | null)[] {
  const found: (string | null)[] = keys.map(() => null);
  const { shape } = connection;
  if (!shape.hasColumn('messages', 'message_uid')) return found;
  const rows = connection.all(
    `SELECT k.key AS n, CAST(MAX(m.id) AS TEXT) AS id FROM json_each(?) k
     CROSS JOIN messages m ON m.session_id = k.value ->> 's' AND m.message_uid = k.value ->> 'u' AND m.role = k.value ->> 'r' AND ${isLiveSql(shape, 'm')}
     GROUP BY k.key`,
    [JSON.stringify(keys.map(({ sessionId, role, uid }) => ({ s: sessionId, r: role, u: uid })))],
  );
  for (const row of rows) found[Number(row.n)] = String(row.id);
  return found;
}
