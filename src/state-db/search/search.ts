/**
 * Full-text search over every index layout, degraded honestly (`spec/state-db.md` 10). Runs outside the main thread: ranking many hits
 * can take seconds, and nothing inside SQLite can stop it.
 */
import { decodeCursor, encodeCursor } from '../../cursor.ts';
import { InvalidInput } from '../../errors.ts';
import type { StoreConnection } from '../connection.ts';
import { isIndexDamage, sqliteCode } from '../health.ts';
import { type IndexState, readIndexState } from './index-state.ts';
import { type RoutedQuery, routeQuery, type SearchRoute, substringRetry } from './route.ts';
import { gapRows, type IndexTable, likeRows, matchRows, type Position, type RawHit } from './rows.ts';
import { plainTokens, sanitizeQuery } from './sanitize.ts';
import type { SearchOrder, SearchQuery } from './search-query.ts';
import { snippets } from './snippets.ts';

export type { SearchOrder, SearchQuery };

export interface SearchHit {
  readonly rowId: string;
  readonly sessionId: string;
  readonly snippet: string;
  readonly cursor: string;
}

export interface SearchAnswer {
  readonly hits: readonly SearchHit[];
  readonly hasNextPage: boolean;
  /** What really answered: a second try or a fallback, when there was one. */
  readonly route: SearchRoute;
  readonly degraded: boolean;
  readonly indexPercent: number;
}

/** Where hits come from, one after the other: an index, the text itself, or the rows that a rebuild has not reached. */
type Phase = Exclude<SearchRoute, 'EMPTY'> | 'GAP';

interface PhasedHit extends RawHit {
  readonly phase: Phase;
}

interface Found {
  readonly hits: readonly PhasedHit[];
  readonly route: SearchRoute;
  readonly degraded: boolean;
  readonly table: IndexTable | null;
  readonly expression: string;
}

const TABLES = { FTS: 'messages_fts', CJK: 'messages_fts_cjk', TRIGRAM: 'messages_fts_trigram' } as const;
type IndexRoute = keyof typeof TABLES;

/** Throws `InvalidInput` for a damaged cursor, `StoreUnreadable` through the caller for a damaged store; a damaged index only degrades. */
export function search(connection: StoreConnection, query: SearchQuery, generation: string): SearchAnswer {
  const sanitized = sanitizeQuery(query.text);
  const state = readIndexState(connection);
  const run = new SearchRun(connection, query, sanitized, state);
  const found = run.from(query.after === null ? null : phaseOf(query.after, query.order, generation));
  const hits = found.hits.slice(0, query.limit);
  const texts = snippets(connection, hits, found.table, found.expression, plainTokens(sanitized));
  return {
    hits: hits.map((hit) => ({
      rowId: hit.rowId,
      sessionId: hit.sessionId,
      snippet: texts.get(hit.rowId) ?? '',
      cursor: encodeCursor(listName(hit.phase, query.order), generation, [hit.key, hit.rowId]),
    })),
    hasNextPage: found.hits.length > query.limit,
    route: found.route,
    degraded: found.degraded || state.rebuild !== null,
    indexPercent: state.unusable !== null ? 0 : (state.rebuild?.percent ?? 100),
  };
}

interface Start {
  readonly phase: Phase;
  readonly position: Position;
}

class SearchRun {
  readonly #connection: StoreConnection;
  readonly #query: SearchQuery;
  readonly #sanitized: string;
  readonly #state: IndexState;
  readonly #routed: RoutedQuery;

  constructor(connection: StoreConnection, query: SearchQuery, sanitized: string, state: IndexState) {
    this.#connection = connection;
    this.#query = query;
    this.#sanitized = sanitized;
    this.#state = state;
    this.#routed = routeQuery(sanitized, state, query);
  }

  /** From the beginning, or from where the page before ended: a page goes on in the phase that its cursor names. */
  from(start: Start | null): Found {
    const { route, degraded } = this.#routed;
    if (route === 'EMPTY') return { hits: [], route, degraded: false, table: null, expression: '' };
    if (start?.phase === 'GAP') return this.#withGap({ ...NOTHING, route, degraded }, start.position);
    const phase = start?.phase ?? route;
    if (phase === 'LIKE') return this.#like(start?.position ?? null, degraded || route !== 'LIKE');
    if (route === 'LIKE') throw new InvalidInput('The index that the cursor belongs to is gone. Start again without it.', {}, 'BAD_CURSOR');
    try {
      return this.#withGap(this.#match(phase, start?.position ?? null), null);
    } catch (error) {
      if (isSyntaxError(error)) return { ...NOTHING, route: phase, degraded };
      if (!isIndexDamage(error)) throw error;
      return this.#like(null, true);
    }
  }

  /** The index of the route; without a hit on the first page a Latin query is tried once more as a substring. */
  #match(phase: IndexRoute, position: Position | null): Found {
    const { route, degraded } = this.#routed;
    const retry = route === 'FTS' ? substringRetry(this.#sanitized, this.#state, this.#query) : null;
    const expression = phase === route || retry === null ? this.#routed.expression : retry.expression;
    const hits = matchRows(this.#connection, this.#query, TABLES[phase], expression, position);
    if (hits.length > 0 || position !== null || phase !== route || retry === null) {
      return { hits: inPhase(hits, phase), route: phase, degraded, table: TABLES[phase], expression };
    }
    const second = this.#match(retry.route, null);
    return second.hits.length > 0 ? second : { ...second, route: phase };
  }

  #like(position: Position | null, degraded: boolean): Found {
    const routed: RoutedQuery = { ...this.#routed, route: 'LIKE', expression: this.#sanitized };
    return { ...NOTHING, hits: inPhase(likeRows(this.#connection, this.#query, routed, position), 'LIKE'), route: 'LIKE', degraded };
  }

  /** Appends what a rebuild has not reached, as long as the page has room. */
  #withGap(found: Found, position: Position | null): Found {
    const { rebuild } = this.#state;
    if (rebuild === null || found.hits.length > this.#query.limit) return found;
    const known = new Set(found.hits.map((hit) => hit.rowId));
    const rows = gapRows(this.#connection, this.#query, this.#sanitized, rebuild, position).filter((hit) => !known.has(hit.rowId));
    return { ...found, hits: [...found.hits, ...inPhase(rows, 'GAP')] };
  }
}

const NOTHING = { hits: [], table: null, expression: '' } as const;

function inPhase(hits: readonly RawHit[], phase: Phase): PhasedHit[] {
  return hits.map((hit) => ({ ...hit, phase }));
}

/** What is left of a query after sanitising can still be no FTS5 expression (`-word`); that finds nothing (10.3). */
function isSyntaxError(error: unknown): boolean {
  return (
    sqliteCode(error) === 'SQLITE_ERROR' &&
    error instanceof Error &&
    /fts5: syntax error|no such column|unknown special query|unterminated string/.test(error.message)
  );
}

const PHASES: readonly Phase[] = ['FTS', 'CJK', 'TRIGRAM', 'LIKE', 'GAP'];

/** The phase and place that a cursor names. Throws `InvalidInput` for one of another list, order or store. */
function phaseOf(cursor: string, order: SearchOrder, generation: string): Start {
  for (const phase of PHASES) {
    const position = positionIn(cursor, listName(phase, order), generation, phase === 'GAP');
    if (position !== null) return { phase, position };
  }
  throw new InvalidInput('The cursor is damaged. Start again without it.', {}, 'BAD_CURSOR');
}

/** Null for a cursor of another phase, unless it is the last one that can be. */
function positionIn(cursor: string, list: string, generation: string, isLast: boolean): Position | null {
  try {
    const [key, rowId] = decodeCursor(cursor, list, generation);
    if (typeof key === 'number' && typeof rowId === 'string' && /^\d{1,19}$/.test(rowId)) return [key, rowId];
    return null;
  } catch (error) {
    if (!isLast && error instanceof InvalidInput && error.code === 'BAD_CURSOR') return null;
    throw error;
  }
}

function listName(phase: Phase, order: SearchOrder): string {
  return `search:${phase}:${order}`;
}
