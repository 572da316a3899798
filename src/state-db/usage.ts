/**
 * Tokens and cost: of one session by model and task, and of a whole store in groups (`spec/state-db.md` 4.4, 11).
 */
import { idList, type StoreConnection } from './connection.ts';
import { RowReader, type SqlRow } from './decode.ts';
import { withoutCredentials } from './session-details.ts';
import type { Positional } from './store-reading.ts';

export interface UsageFigures {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  readonly apiCalls: number;
  /** US dollars; null is unknown, 0 is a value. */
  readonly estimatedCostUsd: number | null;
  readonly actualCostUsd: number | null;
  readonly costStatus: string | null;
}

export interface ModelUsage extends UsageFigures {
  readonly sessionId: string;
  readonly model: string;
  readonly provider: string;
  /** Without the credentials that it may embed. */
  readonly billingBaseUrl: string;
  readonly billingMode: string;
  /** '' is the main loop; everything else is auxiliary work, which session totals don't include. */
  readonly task: string;
  readonly firstSeenAt: number | null;
  readonly lastSeenAt: number | null;
}

export type UsageDimension = 'MODEL' | 'PROVIDER' | 'SOURCE' | 'DAY' | 'PROFILE' | 'TASK';

export interface UsageFilter {
  /** Epoch seconds, inclusive; compared with the start of a session. */
  readonly since: number | null;
  /** Epoch seconds, exclusive. */
  readonly before: number | null;
  readonly sources: readonly string[] | null;
  readonly sessionId: string | null;
}

export interface UsageBucket {
  readonly key: Readonly<Record<string, string | null>>;
  readonly sessions: number;
  readonly sessionsWithoutCost: number;
  readonly usage: UsageFigures;
}

const COUNTERS = [
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'api_call_count',
] as const;
const COSTS = ['estimated_cost_usd', 'actual_cost_usd'] as const;
const LARGEST_ANSWER = 10_000;
/** Per-model rows hold 0 where no cost is known: a zero counts only when the status says that it is one. */
const MODEL_COSTS = `CASE WHEN u.estimated_cost_usd <> 0 OR u.cost_status IS NOT NULL THEN u.estimated_cost_usd END AS estimated_cost_usd,
  CASE WHEN u.actual_cost_usd <> 0 OR u.cost_status = 'actual' THEN u.actual_cost_usd END AS actual_cost_usd`;

/** Rows of session_model_usage for each session, main loop first; empty where the store has no such table. One statement. */
export function modelUsage(connection: StoreConnection, sessionIds: readonly string[]): Map<string, ModelUsage[]> {
  const { shape } = connection;
  if (!shape.hasTable('session_model_usage')) return new Map();
  const wanted = [
    'session_id',
    'model',
    'billing_provider',
    'billing_base_url',
    'billing_mode',
    'task',
    ...COUNTERS,
    ...COSTS,
    'cost_status',
    'first_seen',
    'last_seen',
  ];
  const rows = connection.all(
    `SELECT ${shape.selectList('session_model_usage', wanted, 'u')} FROM session_model_usage u
     WHERE u.session_id IN (SELECT value FROM json_each(?)) ORDER BY u.rowid`,
    [idList(sessionIds)],
  );
  const bySession = new Map<string, ModelUsage[]>();
  for (const row of rows) {
    const usage = decodeModelUsage(row);
    const known = bySession.get(usage.sessionId);
    if (known === undefined) bySession.set(usage.sessionId, [usage]);
    else known.push(usage);
  }
  return bySession;
}

function decodeModelUsage(row: SqlRow): ModelUsage {
  const cells = new RowReader(row);
  return {
    sessionId: cells.quietText('session_id') ?? '',
    model: cells.text('model') ?? '',
    provider: cells.text('billing_provider') ?? '',
    billingBaseUrl: withoutCredentials(cells.quietText('billing_base_url')) ?? '',
    billingMode: cells.text('billing_mode') ?? '',
    task: cells.text('task') ?? '',
    ...tokenFigures(cells),
    ...modelCosts(cells),
    firstSeenAt: cells.time('first_seen'),
    lastSeenAt: cells.time('last_seen'),
  };
}

/** The token and call counters of a row whose columns are named as in `COUNTERS`. */
export function tokenFigures(cells: RowReader): Omit<UsageFigures, 'estimatedCostUsd' | 'actualCostUsd' | 'costStatus'> {
  return {
    inputTokens: cells.count('input_tokens'),
    outputTokens: cells.count('output_tokens'),
    cacheReadTokens: cells.count('cache_read_tokens'),
    cacheWriteTokens: cells.count('cache_write_tokens'),
    reasoningTokens: cells.count('reasoning_tokens'),
    apiCalls: cells.count('api_call_count'),
  };
}

/** The same rule as in `MODEL_COSTS`, for one row. */
function modelCosts(cells: RowReader): Pick<UsageFigures, 'estimatedCostUsd' | 'actualCostUsd' | 'costStatus'> {
  const costStatus = cells.text('cost_status');
  const estimated = cells.number('estimated_cost_usd');
  const actual = cells.number('actual_cost_usd');
  return {
    costStatus,
    estimatedCostUsd: estimated === 0 && costStatus === null ? null : estimated,
    actualCostUsd: actual === 0 && costStatus !== 'actual' ? null : actual,
  };
}

/** The route that the main loop used last: the greatest last_seen, then the later row; `unknown` models and blank providers don't count. */
export function recentRoute(rows: readonly ModelUsage[]): ModelUsage | null {
  let best: ModelUsage | null = null;
  for (const row of rows) {
    if (row.task !== '' || row.model === 'unknown' || row.provider === '') continue;
    if (best === null || (row.lastSeenAt ?? -1) >= (best.lastSeenAt ?? -1)) best = row;
  }
  return best;
}

/** The route that the main loop used most, by calls; of equal ones the one that was used last. */
export function dominantRoute(rows: readonly ModelUsage[]): ModelUsage | null {
  let best: ModelUsage | null = null;
  for (const row of rows) {
    if (row.task !== '' || row.model === 'unknown' || row.provider === '') continue;
    const calls = row.apiCalls - (best?.apiCalls ?? -1);
    if (calls > 0 || (calls === 0 && (row.lastSeenAt ?? -1) >= (best?.lastSeenAt ?? -1))) best = row;
  }
  return best;
}

/** Tokens and money of roots alone, as the owning program sums them up: actual cost, else estimated, else nothing (11). */
export function storeTotals(
  connection: StoreConnection,
  options: { includeArchived: boolean; minMessageCount: number },
): { tokens: number; costUsd: number } {
  const { shape } = connection;
  const archived = options.includeArchived ? '1' : `${shape.columnOr('sessions', 'archived', 's', '0')} = 0`;
  const row = connection.get(
    `SELECT TOTAL(${counter('s.input_tokens')} + ${counter('s.output_tokens')}) AS tokens, TOTAL(COALESCE(s.actual_cost_usd, s.estimated_cost_usd, 0)) AS cost
     FROM sessions s WHERE s.parent_session_id IS NULL AND s.message_count >= ? AND ${archived}`,
    [options.minMessageCount],
  );
  return { tokens: Number(row?.tokens ?? 0), costUsd: Number(row?.cost ?? 0) };
}

/**
 * Figures in groups. With MODEL, PROVIDER or TASK they come from the per-model rows, auxiliary tasks included, and what a session's total
 * exceeds its rows is a group with null for model and provider; otherwise from the totals of the sessions.
 */
export function usageBuckets(
  connection: StoreConnection,
  filter: UsageFilter,
  groupBy: readonly UsageDimension[],
  profile: string,
): UsageBucket[] {
  const perModel = groupBy.some((dimension) => dimension === 'MODEL' || dimension === 'PROVIDER' || dimension === 'TASK');
  const dimensions = [...new Set(groupBy)].filter((dimension) => dimension !== 'PROFILE');
  const { sql, parameters } = perModel ? modelRows(connection, filter) : dailyOrTotals(connection, filter, dimensions);
  const keys = dimensions.map((dimension) => KEY_COLUMNS[dimension]);
  const grouping = keys.length === 0 ? '' : `GROUP BY ${keys.map((_, index) => index + 1).join(', ')}`;
  const rows = connection.all(
    `SELECT ${[...keys, 'COUNT(DISTINCT id) AS sessions', 'COUNT(DISTINCT CASE WHEN estimated_cost_usd IS NULL AND actual_cost_usd IS NULL THEN id END) AS costless'].join(', ')},
       ${COUNTERS.map((name) => `TOTAL(${name}) AS ${name}`).join(', ')}, SUM(estimated_cost_usd + 0.0) AS estimated_cost_usd, SUM(actual_cost_usd + 0.0) AS actual_cost_usd,
       CASE WHEN COUNT(DISTINCT cost_status) = 1 THEN MAX(cost_status) END AS cost_status
     FROM (${sql}) ${grouping} LIMIT ${LARGEST_ANSWER}`,
    parameters,
  );
  return rows.filter((row) => Number(row.sessions) > 0).map((row) => toBucket(row, groupBy, profile));
}

const KEY_COLUMNS: Record<Exclude<UsageDimension, 'PROFILE'>, string> = {
  MODEL: 'model',
  PROVIDER: 'provider',
  SOURCE: 'source',
  DAY: 'day',
  TASK: 'task',
};
const KEY_NAMES: Record<UsageDimension, string> = {
  MODEL: 'model',
  PROVIDER: 'provider',
  SOURCE: 'source',
  DAY: 'day',
  PROFILE: 'profile',
  TASK: 'task',
};

function toBucket(row: SqlRow, groupBy: readonly UsageDimension[], profile: string): UsageBucket {
  const cells = new RowReader(row);
  const key: Record<string, string | null> = {};
  for (const dimension of groupBy) key[KEY_NAMES[dimension]] = dimension === 'PROFILE' ? profile : cells.text(KEY_COLUMNS[dimension]);
  return {
    key,
    sessions: cells.count('sessions'),
    sessionsWithoutCost: cells.count('costless'),
    usage: {
      ...tokenFigures(cells),
      estimatedCostUsd: cells.number('estimated_cost_usd'),
      actualCostUsd: cells.number('actual_cost_usd'),
      costStatus: cells.text('cost_status'),
    },
  };
}

interface Source {
  readonly sql: string;
  readonly parameters: Positional;
}

function dailyOrTotals(connection: StoreConnection, filter: UsageFilter, dimensions: readonly UsageDimension[]): Source {
  const { shape } = connection;
  const sessions = sessionFilter(filter);
  if (dimensions.includes('DAY') && shape.hasTable('session_daily_usage')) {
    const columns = [...COUNTERS, ...COSTS].map((name) => `${shape.columnOr('session_daily_usage', name, 'd', 'NULL')} AS ${name}`);
    return {
      sql: `SELECT s.id AS id, s.source AS source, d.day AS day, NULL AS model, NULL AS provider, '' AS task, NULL AS cost_status, ${columns.join(', ')}
            FROM session_daily_usage d JOIN sessions s ON s.id = d.session_id WHERE ${sessions.sql}`,
      parameters: sessions.parameters,
    };
  }
  return {
    sql: `SELECT s.id AS id, s.source AS source, ${dayOf('s.started_at')} AS day, s.model AS model, s.billing_provider AS provider, '' AS task,
            s.cost_status AS cost_status, ${totals(connection)} FROM sessions s WHERE ${sessions.sql}`,
    parameters: sessions.parameters,
  };
}

function modelRows(connection: StoreConnection, filter: UsageFilter): Source {
  const { shape } = connection;
  if (!shape.hasTable('session_model_usage')) return dailyOrTotals(connection, filter, []);
  const sessions = sessionFilter(filter);
  const task = shape.columnOr('session_model_usage', 'task', 'u', "''");
  const attributed = COUNTERS.map((name) => `TOTAL(CASE WHEN ${task} = '' THEN ${counter(`u.${name}`)} ELSE 0 END) AS ${name}`);
  const rest = COUNTERS.map((name) => `MAX(${counter(shape.columnOr('sessions', name, 's', '0'))} - ifnull(a.${name}, 0), 0) AS ${name}`);
  const anyRest = COUNTERS.map((name) => `${counter(shape.columnOr('sessions', name, 's', '0'))} > ifnull(a.${name}, 0)`).join(' OR ');
  return {
    sql: `SELECT s.id AS id, s.source AS source, ${dayOf('u.last_seen')} AS day, u.model AS model, NULLIF(u.billing_provider, '') AS provider, ${task} AS task,
            u.cost_status AS cost_status, ${COUNTERS.map((name) => `${counter(`u.${name}`)} AS ${name}`).join(', ')}, ${MODEL_COSTS}
          FROM session_model_usage u JOIN sessions s ON s.id = u.session_id WHERE ${sessions.sql}
          UNION ALL
          SELECT s.id, s.source, ${dayOf('s.started_at')}, NULL, NULL, '', s.cost_status, ${rest.join(', ')},
            CASE WHEN a.id IS NULL THEN s.estimated_cost_usd END, CASE WHEN a.id IS NULL THEN s.actual_cost_usd END
          FROM sessions s LEFT JOIN (SELECT u.session_id AS id, ${attributed.join(', ')} FROM session_model_usage u GROUP BY u.session_id) a ON a.id = s.id
          WHERE ${sessions.sql} AND (${anyRest})`,
    parameters: [...sessions.parameters, ...sessions.parameters],
  };
}

function sessionFilter(filter: UsageFilter): Source {
  const parts: [string, ...(string | number)[]][] = [['1']];
  if (filter.sessionId !== null) parts.push(['s.id = ?', filter.sessionId]);
  if (filter.sources !== null) parts.push(['s.source IN (SELECT value FROM json_each(?))', idList(filter.sources)]);
  if (filter.since !== null) parts.push(['s.started_at >= ? AND s.started_at <= 4200000000.0', filter.since]);
  if (filter.before !== null) parts.push(['s.started_at < ? AND s.started_at >= 0.0', filter.before]);
  return { sql: parts.map(([sql]) => sql).join(' AND '), parameters: parts.flatMap(([, ...parameters]) => parameters) };
}

function totals(connection: StoreConnection): string {
  const { shape } = connection;
  const counters = COUNTERS.map((name) => `${counter(shape.columnOr('sessions', name, 's', '0'))} AS ${name}`);
  return [...counters, 's.estimated_cost_usd AS estimated_cost_usd', 's.actual_cost_usd AS actual_cost_usd'].join(', ');
}

/** A counter as a number that can be summed without overflow: what is no number, and negatives, count as 0 (`spec/state-db.md` 5). */
function counter(column: string): string {
  return `(CASE WHEN typeof(${column}) IN ('integer', 'real') AND ${column} > 0 THEN ${column} + 0.0 ELSE 0.0 END)`;
}

/** The UTC day of a time, null outside the window. */
function dayOf(column: string): string {
  return `CASE WHEN ${column} BETWEEN 0.0 AND 4200000000.0 THEN date(${column}, 'unixepoch') END`;
}
