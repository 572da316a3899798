/** Lists with their filters, orders, pages, tips, previews and unread marks against `SessionDB.list_sessions_rich`. */
import type { GoldenCase } from '../support/golden.ts';
import { goldenKind, type Handler, type Rule, type Verdict, verdict } from './compare.ts';
import { type GoldenRow, goldenMessages, previewOf, recencyOf, trusted } from './golden-rows.ts';
import { SESSION_RULES } from './rules.ts';
import { Upstream } from './upstream.ts';

const STORES = ['basic', 'lineage', 'hostile', 'badconfig', 'walled'] as const;

class Lists {
  readonly upstream: Upstream;
  readonly messages: ReadonlyMap<string, readonly GoldenRow[]>;

  private constructor(upstream: Upstream, store: string) {
    this.upstream = upstream;
    this.messages = goldenMessages(store);
  }

  static async open(store: string, now: number): Promise<Lists> {
    return new Lists(await Upstream.open(store, now), store);
  }

  close(): void {
    this.upstream.close();
  }

  messagesOf(row: GoldenRow): readonly GoldenRow[] {
    return this.messages.get(String(row.id)) ?? [];
  }
}

const list: Handler<Lists> = (lists, golden, cases) => {
  const actual = lists.upstream.listSessions(golden.args);
  if (golden.error !== undefined) return instead(actual, golden, cases);
  const rules = [oddArchived(golden, cases), structuredPreview(lists), barePreview(lists), ordered(lists, golden, cases), ...SESSION_RULES];
  return verdict(tiesSorted(likeRows(actual, columnsOf(golden)), golden), tiesSorted(golden.result, golden), rules);
};

/** Each row with the columns that upstream's rows of this case have; only projected rows name their first segment. */
function likeRows(rows: readonly GoldenRow[], columns: readonly string[]): GoldenRow[] {
  return rows.map((row) => Object.fromEntries(columns.flatMap((column) => (row[column] === undefined ? [] : [[column, row[column]]]))));
}

function columnsOf({ projection, result }: GoldenCase): string[] {
  if (Array.isArray(projection)) return projection as string[];
  const [first] = Array.isArray(result) ? (result as GoldenRow[]) : [];
  return ['_lineage_root_id', ...Object.keys(first ?? {})];
}

/** Rows with equal starts have no defined order in lists by start; here by id. */
function tiesSorted(rows: unknown, { args }: GoldenCase): unknown {
  if (!Array.isArray(rows) || args.order_by_last_active === true) return rows;
  const indexed = (rows as GoldenRow[]).map((row, index) => ({ row, index }));
  const isTie = (a: GoldenRow, b: GoldenRow) => typeof a.started_at === 'number' && a.started_at === b.started_at;
  return indexed.sort((a, b) => (isTie(a.row, b.row) ? byId(a.row, b.row) : a.index - b.index)).map(({ row }) => row);
}

function eachRow(id: string, change: (row: GoldenRow) => GoldenRow): Rule {
  return { id, adjust: (rows) => (Array.isArray(rows) ? rows.map(change) : rows) };
}

const structuredPreview = (lists: Lists): Rule =>
  eachRow('structured-preview', (row) => {
    const isStructured = lists.messagesOf(row).some(({ role, content }) => role === 'user' && Array.isArray(content));
    return row.preview === '' && isStructured ? { ...row, preview: previewOf(lists.messagesOf(row)) } : row;
  });

const barePreview = (lists: Lists): Rule =>
  eachRow('bare-summary-preview', (row) =>
    /^\[CONTEXT (SUMMARY|COMPACTION)/.test(String(row.preview)) ? { ...row, preview: previewOf(lists.messagesOf(row)) } : row,
  );

/** A damaged time neither wins an order nor is it shown: the whole list in the order of 7.3, and the page cut out of that. */
function ordered(lists: Lists, golden: GoldenCase, cases: readonly GoldenCase[]): Rule {
  const { args } = golden;
  const adjust = (rows: unknown) => {
    const { limit, offset, ...others } = args;
    const whole =
      cases.find((other) => sameArguments(other.args, { ...others, limit: 200 })) ??
      cases.find((other) => sameArguments(other.args, { limit: 200 }));
    if (!Array.isArray(rows) || !Array.isArray(whole?.result)) return rows;
    const all = Object.keys(others).some((key) => !ORDERING.has(key)) ? rows : (whole.result as GoldenRow[]);
    const sorted = all.map((row) => trustedRow(lists, row)).toSorted(args.order_by_last_active === true ? byActivity : byStart);
    const from = typeof offset === 'number' ? offset : 0;
    const size = typeof limit === 'number' ? limit : 20;
    const page = sorted.slice(all === rows ? 0 : from, size < 0 || all === rows ? undefined : from + size);
    return tiesSorted(likeRows(page, columnsOf(golden)), golden);
  };
  return { id: 'time-window', adjust };
}

const ORDERING = new Set(['order_by_last_active', 'include_pinned', 'compact_rows', 'project_compression_tips']);

function sameArguments(a: GoldenCase['args'], b: GoldenCase['args']): boolean {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => JSON.stringify(a[key]) === JSON.stringify(b[key]));
}

function trustedRow(lists: Lists, row: GoldenRow): GoldenRow {
  return { ...row, started_at: trusted(row.started_at), last_active: recencyOf(row, lists.messagesOf(row)) };
}

function descending(a: unknown, b: unknown): number {
  return (typeof b === 'number' ? b : -1) - (typeof a === 'number' ? a : -1);
}
const byId = (a: GoldenRow, b: GoldenRow) => (String(a.id) < String(b.id) ? 1 : -1);
const byStart = (a: GoldenRow, b: GoldenRow) => descending(a.started_at, b.started_at) || byId(a, b);
const byActivity = (a: GoldenRow, b: GoldenRow) => descending(a.last_active, b.last_active) || byStart(a, b);

/** A flag of 2 is set, also where upstream asks for 1. */
function oddArchived(golden: GoldenCase, cases: readonly GoldenCase[]): Rule {
  const everyRow = rowsOf(cases.find(({ args }) => args.include_archived === true));
  const shown = new Set(rowsOf(cases.find(({ args }) => sameArguments(args, { limit: 200 }))).map((row) => row.id));
  const odd = golden.args.archived_only === true ? everyRow.filter((row) => !shown.has(row.id)) : [];
  return { id: 'flag-values', adjust: (rows) => (odd.length > 0 ? likeRows(odd, columnsOf(golden)) : rows) };
}

function rowsOf(golden: GoldenCase | undefined): GoldenRow[] {
  return Array.isArray(golden?.result) ? (golden.result as GoldenRow[]) : [];
}

/** One damaged configuration fails upstream's statement; the answer here is what the list with children says of the rows without a parent. */
function instead(actual: readonly GoldenRow[], { args, error }: GoldenCase, cases: readonly GoldenCase[]): Verdict {
  if (error?.type !== 'OperationalError') return { difference: 'upstream was expected to raise OperationalError' };
  const withChildren = cases.find((other) => other.args.include_children === true);
  if (withChildren === undefined) return { difference: 'no list to compare with' };
  const least = typeof args.min_message_count === 'number' ? args.min_message_count : 0;
  const isEmpty = args.archived_only === true || typeof args.cwd_prefix === 'string';
  const matching = (isEmpty ? [] : rowsOf(withChildren))
    .filter((row) => row.parent_session_id === null && Number(row.message_count) >= least)
    .toSorted(args.order_by_last_active === true ? byActivity : byStart);
  const from = typeof args.offset === 'number' ? args.offset : 0;
  const page = matching.slice(from, typeof args.limit === 'number' && args.limit >= 0 ? from + args.limit : undefined);
  const found = verdict(likeRows(actual, columnsOf(withChildren)), page);
  return 'difference' in found ? found : { deviations: ['bad-model-config'] };
}

goldenKind('list_sessions_rich', STORES, Lists.open, { '': list });
