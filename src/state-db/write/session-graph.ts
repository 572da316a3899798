/**
 * The sessions around one, read as a walk asks for them: a write looks at a few of them, inside its own transaction, so that what it decides
 * on can't change under it (`spec/state-db-writes.md` G-1, G-2, R1).
 */
import type { SqlRow } from '../decode.ts';
import type { LineageGraph } from '../lineage.ts';
import { decodeSession, type RowStats, recencyOf, SESSION_COLUMNS, type SessionRecord } from '../session-record.ts';
import type { StoreReading } from '../store-reading.ts';

export interface GraphSession extends SessionRecord {
  /** As lists have it: the larger of the heartbeat and the newest row. */
  readonly recency: number | null;
}

const NEWEST_ROW = '(SELECT MAX(m.timestamp) FROM messages m WHERE m.session_id = s.id AND m.timestamp BETWEEN 0.0 AND 4200000000.0)';

export class SessionGraph implements LineageGraph<GraphSession> {
  readonly #store: StoreReading;
  readonly #select: string;
  readonly #known = new Map<string, GraphSession | null>();
  #delegates: Map<string, GraphSession[]> | null = null;

  /** For one transaction only: what was read is kept. */
  constructor(store: StoreReading) {
    this.#store = store;
    this.#select = `SELECT ${store.shape.selectList('sessions', SESSION_COLUMNS, 's')}, ${NEWEST_ROW} AS newest_row FROM sessions s`;
  }

  get(id: string): GraphSession | undefined {
    const known = this.#known.get(id);
    if (known !== undefined) return known ?? undefined;
    const row = this.#store.get(`${this.#select} WHERE s.id = ?`, [id]);
    const session = row === undefined ? null : toSession(row);
    this.#known.set(id, session);
    return session ?? undefined;
  }

  children(id: string): GraphSession[] {
    return this.#keep(this.#store.all(`${this.#select} WHERE s.parent_session_id = ?`, [id]));
  }

  /** Sessions whose `_delegate_from` marker names this one, wherever their parent pointer leads. */
  delegatesOf(id: string): GraphSession[] {
    this.#delegates ??= this.#readDelegates();
    return this.#delegates.get(id) ?? [];
  }

  /** All of the store at once: no index leads to them, and a cascade asks for those of each session that it reaches. */
  #readDelegates(): Map<string, GraphSession[]> {
    const delegates = new Map<string, GraphSession[]>();
    if (!this.#store.shape.hasColumn('sessions', 'model_config')) return delegates;
    // The text is looked for first: most configurations hold no marker, and one that is no JSON must not end the walk.
    const rows = this.#store.all(`${this.#select} WHERE s.model_config IS NOT NULL AND instr(s.model_config, '"_delegate_from"') > 0`);
    for (const session of this.#keep(rows)) {
      if (typeof session.delegateFrom !== 'string') continue;
      const known = delegates.get(session.delegateFrom);
      if (known === undefined) delegates.set(session.delegateFrom, [session]);
      else known.push(session);
    }
    return delegates;
  }

  #keep(rows: readonly SqlRow[]): GraphSession[] {
    const sessions = rows.map(toSession);
    for (const session of sessions) this.#known.set(session.id, session);
    return sessions;
  }
}

function toSession(row: SqlRow): GraphSession {
  const record = decodeSession(row);
  const lastTimestamp = typeof row.newest_row === 'number' ? row.newest_row : null;
  const stats: RowStats = { total: 0, live: 0, lastTimestamp };
  return { ...record, recency: recencyOf(record, stats) };
}
