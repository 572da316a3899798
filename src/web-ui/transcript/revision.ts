/**
 * The revision of a session's live rows, equal to the agent's own: it fences what is built on them (`spec/webui-transcript.md` 6.1, 6.2).
 * It sees inserts, deletions, rewinds and changed payloads, but not a changed content (hazard H20).
 */
import { createHash } from 'node:crypto';
import { idList } from '../../state-db/connection.ts';
import type { SqlRow } from '../../state-db/decode.ts';
import type { StoreReading } from '../../state-db/store-reading.ts';

export interface TranscriptRevision {
  readonly sessionId: string;
  readonly activeMessageCount: number;
  /** 0 without rows. */
  readonly maxActiveMessageId: number;
  /** Null where the store has no payloads; "" where no row has one. */
  readonly activeRowsDigest: string | null;
}

const FACTS = `
  SELECT session_id, COUNT(*) AS n, MAX(id) AS newest,
    SUM(CASE WHEN typeof(active) = 'integer' AND active = 1 THEN 0 ELSE 1 END) AS odd
  FROM messages WHERE session_id IN (SELECT value FROM json_each(?)) AND (active IS NULL OR active <> 0) GROUP BY session_id`;
const PAYLOADS = `
  SELECT session_id, id, api_content FROM messages
  WHERE session_id IN (SELECT value FROM json_each(?)) AND (active IS NULL OR active <> 0) AND api_content IS NOT NULL
  ORDER BY session_id, id`;

/** Of rows that one query gave, in order; null where a row's `active` isn't the integer 1 or a payload is no text. */
export function revisionOf(sessionId: string, rows: readonly SqlRow[], hasPayloads: boolean): TranscriptRevision | null {
  if (rows.some(({ active }) => active !== 1)) return null;
  const digest = hasPayloads ? payloadDigest(rows) : null;
  if (digest === undefined) return null;
  const maxActiveMessageId = rows.reduce((newest, { id }) => Math.max(newest, Number(id ?? 0)), 0);
  return { sessionId, activeMessageCount: rows.length, maxActiveMessageId, activeRowsDigest: digest };
}

/** Hex SHA-256 of a line `[id,payload]` for each payload; "" without any; undefined where one is no text. */
export function payloadDigest(rows: readonly SqlRow[]): string | undefined {
  const payloads = rows.filter(({ api_content: payload }) => payload !== null && payload !== undefined);
  if (payloads.length === 0) return '';
  if (payloads.some(({ api_content: payload }) => typeof payload !== 'string')) return undefined;
  const hash = createHash('sha256');
  for (const { id, api_content: payload } of payloads) hash.update(`${JSON.stringify([Number(id), payload])}\n`);
  return hash.digest('hex');
}

/** The revisions of many sessions: two statements, on one snapshot. Null for all where the store can't tell. */
export function readRevisions(store: StoreReading, ids: readonly string[]): Map<string, TranscriptRevision | null> {
  const { shape } = store;
  if (!shape.hasColumn('messages', 'id') || !shape.hasColumn('messages', 'active')) return new Map(ids.map((id) => [id, null]));
  const hasPayloads = shape.hasColumn('messages', 'api_content');
  return store.snapshot(() => {
    const wanted = [idList(ids)];
    const facts = new Map(store.all(FACTS, wanted).map((row) => [String(row.session_id), row]));
    const payloads = Map.groupBy(hasPayloads ? store.all(PAYLOADS, wanted) : [], (row) => String(row.session_id));
    return new Map(
      ids.map((sessionId) => {
        const row = facts.get(sessionId);
        const digest = hasPayloads ? payloadDigest(payloads.get(sessionId) ?? []) : null;
        if (digest === undefined || Number(row?.odd ?? 0) > 0) return [sessionId, null];
        const activeMessageCount = Number(row?.n ?? 0);
        return [sessionId, { sessionId, activeMessageCount, maxActiveMessageId: Number(row?.newest ?? 0), activeRowsDigest: digest }];
      }),
    );
  });
}
