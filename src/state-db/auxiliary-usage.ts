/**
 * What a conversation used beside its main loop (titles, compression, vision, ...), and figures by day (`spec/state-db.md` 11).
 */
import { idList, type StoreConnection } from './connection.ts';
import { RowReader } from './decode.ts';
import { type LineageGraph, type LineageNode, parentWalk } from './lineage.ts';
import { type ModelUsage, tokenFigures, type UsageFigures } from './usage.ts';

/**
 * The sessions whose auxiliary work counts for s: s and its parents, up to the nearest explicit branch, which owns what came before it only
 * as a copy.
 */
export function auxiliaryScope(graph: LineageGraph, start: LineageNode): string[] {
  const ids: string[] = [];
  for (const id of parentWalk(graph, start)) {
    ids.push(id);
    if (typeof graph.get(id)?.branchedFrom === 'string') break;
  }
  return ids;
}

export interface TaskUsage extends UsageFigures {
  readonly task: string;
}

/** Figures by task over all the rows given, without the main loop; by name. Money is null where no row has any. */
export function auxiliaryUsage(rows: Iterable<ModelUsage>): TaskUsage[] {
  const tasks = new Map<string, TaskUsage>();
  for (const row of rows) {
    if (row.task === '') continue;
    const known = tasks.get(row.task);
    tasks.set(row.task, known === undefined ? ofTask(row) : { task: row.task, ...sum(known, row) });
  }
  return [...tasks.values()].sort((a, b) => (a.task < b.task ? -1 : 1));
}

function ofTask(row: ModelUsage): TaskUsage {
  const { task, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens, apiCalls } = row;
  const { estimatedCostUsd, actualCostUsd, costStatus } = row;
  return {
    task,
    inputTokens,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens,
    apiCalls,
    estimatedCostUsd,
    actualCostUsd,
    costStatus,
  };
}

function sum(a: UsageFigures, b: UsageFigures): UsageFigures {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    apiCalls: a.apiCalls + b.apiCalls,
    estimatedCostUsd: addKnown(a.estimatedCostUsd, b.estimatedCostUsd),
    actualCostUsd: addKnown(a.actualCostUsd, b.actualCostUsd),
    costStatus: a.costStatus === b.costStatus ? a.costStatus : null,
  };
}

function addKnown(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return a + b;
}

export interface DailyUsage extends UsageFigures {
  readonly sessionId: string;
  /** `YYYY-MM-DD` in the writer's time zone. */
  readonly day: string;
}

/** Figures by day of each session, days ascending; sessions without any are missing, as are all in stores that don't count by day (4.5). */
export function dailyUsage(connection: StoreConnection, sessionIds: readonly string[]): Map<string, DailyUsage[]> {
  const { shape } = connection;
  if (!shape.hasTable('session_daily_usage')) return new Map();
  const rows = connection.all(
    `SELECT ${shape.selectList('session_daily_usage', DAILY_COLUMNS, 'd')} FROM session_daily_usage d
     WHERE d.session_id IN (SELECT value FROM json_each(?)) ORDER BY d.day`,
    [idList(sessionIds)],
  );
  const bySession = new Map<string, DailyUsage[]>();
  for (const row of rows) {
    const cells = new RowReader(row);
    const usage: DailyUsage = {
      sessionId: cells.quietText('session_id') ?? '',
      day: cells.quietText('day') ?? '',
      ...tokenFigures(cells),
      estimatedCostUsd: cells.number('estimated_cost_usd'),
      actualCostUsd: cells.number('actual_cost_usd'),
      costStatus: null,
    };
    const known = bySession.get(usage.sessionId);
    if (known === undefined) bySession.set(usage.sessionId, [usage]);
    else known.push(usage);
  }
  return bySession;
}

const DAILY_COLUMNS = [
  'session_id',
  'day',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'api_call_count',
  'estimated_cost_usd',
  'actual_cost_usd',
] as const;
