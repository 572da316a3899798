/**
 * All sessions of a store at once, for operations that judge each of them.
 */
import type { SqlRow } from '../decode.ts';
import type { LineageGraph } from '../lineage.ts';
import { decodeSession, recencyOf, SESSION_COLUMNS, type SessionRecord } from '../session-record.ts';
import type { StoreReading } from '../store-reading.ts';

export interface JudgedSession extends SessionRecord {
  /** As stored: a time of the end that can't be trusted is an end all the same. */
  readonly isEnded: boolean;
  readonly hasRows: boolean;
  /** The later of the heartbeat and the newest row, the start where there is neither; null when none can be trusted. */
  readonly recency: number | null;
}

export class AllSessions implements LineageGraph<JudgedSession> {
  readonly #byId = new Map<string, JudgedSession>();
  readonly #children = new Map<string, JudgedSession[]>();

  constructor(store: StoreReading) {
    const rows = store.all(
      `SELECT ${store.shape.selectList('sessions', SESSION_COLUMNS, 's')}, s.ended_at IS NOT NULL AS is_ended,
         EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id) AS has_rows,
         (SELECT MAX(m.timestamp) FROM messages m WHERE m.session_id = s.id AND m.timestamp BETWEEN 0.0 AND 4200000000.0) AS newest_row
       FROM sessions s ORDER BY s.id`,
    );
    for (const row of rows) this.#add(judged(row));
  }

  get(id: string): JudgedSession | undefined {
    return this.#byId.get(id);
  }

  children(id: string): readonly JudgedSession[] {
    return this.#children.get(id) ?? [];
  }

  all(): IterableIterator<JudgedSession> {
    return this.#byId.values();
  }

  #add(session: JudgedSession): void {
    this.#byId.set(session.id, session);
    if (session.parentId === null) return;
    const siblings = this.#children.get(session.parentId);
    if (siblings === undefined) this.#children.set(session.parentId, [session]);
    else siblings.push(session);
  }
}

function judged(row: SqlRow): JudgedSession {
  const record = decodeSession(row);
  const lastTimestamp = typeof row.newest_row === 'number' ? row.newest_row : null;
  const recency = recencyOf(record, { total: 0, live: 0, lastTimestamp });
  return { ...record, isEnded: row.is_ended === 1, hasRows: row.has_rows === 1, recency };
}
