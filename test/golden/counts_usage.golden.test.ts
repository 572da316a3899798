/** Counts, totals, statuses and smaller look-ups over a whole store against upstream's functions of those names. */
import { cronRuns } from '../../src/state-db/cron-runs.ts';
import { countsBySource, type ListQuery, listTotals, type SessionFilter, workspaces } from '../../src/state-db/listing.ts';
import { previews } from '../../src/state-db/previews.ts';
import { routingEntries } from '../../src/state-db/routing.ts';
import { isDisposable, lifecycleStatuses } from '../../src/state-db/session-state.ts';
import { storeMeta } from '../../src/state-db/store-meta.ts';
import { dominantRoute, modelUsage, storeTotals } from '../../src/state-db/usage.ts';
import { type GoldenCase, loadGolden } from '../support/golden.ts';
import { answersInstead, goldenKind, type Handler, type Rule, verdict } from './compare.ts';
import { type GoldenRow, goldenMessages, recencyOf, trusted } from './golden-rows.ts';
import { listQuery, Upstream } from './upstream.ts';

const STORES = ['basic', 'lineage', 'hostile', 'badconfig', 'walled'] as const;

/** Upstream counts children unless told not to, and hidden rows always. */
function countQuery(args: GoldenCase['args'], includeHidden: boolean): ListQuery {
  return listQuery({ ...args, include_children: args.exclude_children !== true, include_hidden: includeHidden });
}

/** Rows of the store by upstream's get_session, for what a deviation wants; some files ask for an id twice. */
function storedRows({ name }: Upstream): GoldenRow[] {
  const rows = loadGolden(name, 'get_session').cases.flatMap(({ result }) => (result === null ? [] : [result as GoldenRow]));
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

/** The answer with hidden rows is upstream's; the one that goes with our lists leaves them out. */
function counted<T>(
  upstream: Upstream,
  golden: GoldenCase,
  count: (query: ListQuery) => T,
  rules: readonly Rule[],
  whenRaised: T,
): ReturnType<Handler<Upstream>> {
  const withHidden = count(countQuery(golden.args, true));
  const ours = count(countQuery(golden.args, false));
  if (golden.error !== undefined) return answersInstead('bad-model-config', golden, JSON.stringify(ours) === JSON.stringify(whenRaised));
  const found = verdict(withHidden, golden.result, rules);
  if ('difference' in found || JSON.stringify(ours) === JSON.stringify(withHidden)) return found;
  const hides = storedRows(upstream).some((row) => row.hidden !== 0);
  return hides ? { deviations: [...found.deviations, 'hidden-not-counted'] } : { difference: 'nothing is hidden, yet the counts differ' };
}

/** An archived flag of 2 is set, also where upstream asks for 1: one more, of its source. */
function oddFlags(upstream: Upstream, { args }: GoldenCase): Rule {
  const odd = args.archived_only === true ? storedRows(upstream).filter((row) => Number(row.archived) > 1) : [];
  const adjust = (expected: unknown) => {
    if (typeof expected === 'number') return expected + odd.length;
    const counts = { ...(expected as Record<string, number>) };
    for (const { source } of odd) counts[String(source)] = (counts[String(source)] ?? 0) + 1;
    return counts;
  };
  return { id: 'flag-values', adjust };
}

const sessionCount: Handler<Upstream> = (upstream, golden) => {
  const roots = storedRows(upstream).filter((row) => row.parent_session_id === null).length;
  return counted(upstream, golden, (query) => listTotals(upstream.catalogue, query).visible, [oddFlags(upstream, golden)], roots);
};

const countBySource: Handler<Upstream> = (upstream, golden) => {
  const roots = storedRows(upstream).filter((row) => row.parent_session_id === null);
  const count = (query: ListQuery) => Object.fromEntries(countsBySource(upstream.catalogue, query));
  return counted(upstream, golden, count, [oddFlags(upstream, golden)], { cli: roots.length });
};

const usageTotals: Handler<Upstream> = ({ connection }, { args, result }) => {
  const totals = storeTotals(connection, {
    includeArchived: args.include_archived === true,
    minMessageCount: typeof args.min_message_count === 'number' ? args.min_message_count : 1,
  });
  return verdict({ tokens: totals.tokens, cost_usd: totals.costUsd }, result);
};

const EVERYTHING: SessionFilter = {
  includeHidden: true,
  includeBackground: true,
  includeDelegates: true,
  includeOrphans: true,
  includeEmpty: true,
};

const folders: Handler<Upstream> = ({ catalogue }, { args, result }) => {
  const filter = { ...EVERYTHING, includeArchived: args.include_archived === true };
  const found = workspaces(catalogue, { filter, order: 'STARTED', collapse: 'NONE' });
  return verdict(
    found.map(({ cwd, sessions, lastStartedAt }) => ({ cwd, sessions, last_active: lastStartedAt })),
    result,
  );
};

const messageCount: Handler<Upstream> = ({ catalogue, name }, { args, result }) => {
  if (typeof args.session_id === 'string') return verdict(catalogue.get(args.session_id)?.stats?.total ?? 0, result);
  const known = new Set(
    loadGolden(name, 'get_session').cases.flatMap((golden) => (golden.result === null ? [] : [golden.args.session_id])),
  );
  const rowsOfNobody = [...goldenMessages(name)].flatMap(([id, rows]) => (known.has(id) ? [] : rows)).length;
  const rule: Rule = { id: 'rows-without-session', adjust: (count) => Number(count) - Math.max(1, rowsOfNobody) };
  return verdict(catalogue.storedRows, result, [rule]);
};

const route: Handler<Upstream> = ({ connection }, { args, result }) => {
  const id = String(args.session_id);
  const found = dominantRoute(modelUsage(connection, [id]).get(id) ?? []);
  const shown = found && {
    model: found.model,
    billing_provider: found.provider,
    billing_base_url: found.billingBaseUrl,
    billing_mode: found.billingMode,
    api_call_count: found.apiCalls,
  };
  return verdict(shown, result);
};

const statuses: Handler<Upstream> = ({ connection }, { args, result }) => {
  const found = lifecycleStatuses(connection, args.session_ids as string[]);
  return verdict(Object.fromEntries([...found].map(([id, status]) => [id, status.toLowerCase()])), result);
};

const runs: Handler<Upstream> = ({ connection, catalogue }, { args, result }) => {
  const ids = cronRuns(connection, String(args.job_id), typeof args.limit === 'number' ? args.limit : 50);
  const texts = previews(connection, ids);
  return verdict(
    ids.map((id) => ({ id, preview: texts.get(id)?.text, last_active: catalogue.get(id)?.recency })),
    result,
  );
};

/** Most recently used: every stored row by its own recency. */
const recentlyUsed: Handler<Upstream> = (upstream, { args, result }) => {
  const filter = { ...EVERYTHING, includeArchived: true, sources: typeof args.source === 'string' ? [args.source] : null };
  const items = upstream.everyItem({ filter, order: 'RECENT_ACTIVITY', collapse: 'NONE' }).slice(0, Number(args.limit));
  const actual = items.map(({ root }) => ({ id: root.id, last_active: root.recency }));
  return verdict(actual, result, [trustedOrder(upstream, args)]);
};

function trustedOrder(upstream: Upstream, args: GoldenCase['args']): Rule {
  const messages = goldenMessages(upstream.name);
  const adjust = () =>
    storedRows(upstream)
      .filter((row) => args.source === undefined || row.source === args.source)
      .map((row) => ({
        id: String(row.id),
        started: trusted(row.started_at) ?? -1,
        last_active: recencyOf(row, messages.get(String(row.id)) ?? []),
      }))
      .sort((a, b) => (b.last_active ?? -1) - (a.last_active ?? -1) || b.started - a.started || (a.id < b.id ? 1 : -1))
      .slice(0, Number(args.limit))
      .map(({ id, last_active }) => ({ id, last_active }));
  return { id: 'time-window', adjust };
}

const routing: Handler<Upstream> = ({ connection }, { result }) => {
  const isJson = (text: unknown) => {
    try {
      return typeof JSON.parse(String(text)) === 'object';
    } catch {
      return false;
    }
  };
  const rule: Rule = {
    id: 'invalid-routing-entry',
    adjust: (entries) => Object.fromEntries(Object.entries(entries as GoldenRow).filter(([, text]) => isJson(text))),
  };
  return verdict(Object.fromEntries(routingEntries(connection).map((entry) => [entry.sessionKey, entry.raw])), result, [rule]);
};

/** Upstream stamps the version of its index when it opens a store for writing; the files don't have it. */
const meta: Handler<Upstream> = ({ connection }, { args, result }) => {
  const key = String(args.key);
  const unstamped: Rule = { id: 'opens-read-only', adjust: (value) => (key === 'fts_storage_version' ? null : value) };
  return verdict(storeMeta(connection, [key]).get(key) ?? null, result, [unstamped]);
};

goldenKind('counts_usage', STORES, Upstream.open, {
  session_count: sessionCount,
  session_count_by_source: countBySource,
  session_count_ge: ({ catalogue }, { args, result }) => verdict(catalogue.storedSize >= Number(args.n), result),
  usage_totals: usageTotals,
  count_empty_sessions: ({ catalogue }, { result }) => verdict([...catalogue.entries()].filter(isDisposable).length, result),
  distinct_session_cwds: folders,
  message_count: messageCount,
  get_dominant_session_model_route: route,
  session_lifecycle_statuses: statuses,
  list_cron_job_runs: runs,
  search_sessions: recentlyUsed,
  get_meta: meta,
  load_gateway_routing_entries: routing,
});
