/** Rows and pages of single sessions against `SessionDB.get_messages`. */
import { encodeCursor } from '../../src/cursor.ts';
import { exportedMessage } from '../../src/state-db/export.ts';
import { type MessagePageRequest, messagePages, type PagedMessage } from '../../src/state-db/messages.ts';
import type { MessageView } from '../../src/state-db/visibility.ts';
import type { GoldenCase } from '../support/golden.ts';
import { answersInstead, goldenKind, type Handler, type Rule, type Verdict, verdict } from './compare.ts';
import { type GoldenRow, goldenMessages } from './golden-rows.ts';
import { MESSAGE_RULES } from './rules.ts';
import { likeGolden, Upstream } from './upstream.ts';

const STORES = ['basic', 'lineage', 'hostile', 'badconfig', 'walled'] as const;

function viewOf({ include_inactive, include_compacted }: GoldenCase['args']): MessageView {
  return include_inactive === true ? 'AUDIT' : include_compacted === true ? 'DISPLAY' : 'LIVE';
}

const WHOLE = 1000;

/** An offset is a page before the page; `latest` pages from the end. */
function pages(upstream: Upstream, args: GoldenCase['args']): PagedMessage[] {
  const view = viewOf(args);
  const list = `messages:${view}:${String(args.session_id)}`;
  const direction = args.latest === true ? 'BACKWARD' : 'FORWARD';
  let after = typeof args.after_id === 'number' ? encodeCursor(list, GENERATION, [String(args.after_id)]) : null;
  let before: string | null = null;
  const page = (size: number) => {
    const request: MessagePageRequest = { sessionIds: [String(args.session_id)], view, page: { size, direction, after, before } };
    return messagePages(upstream.connection, [request], GENERATION)[0]?.items ?? [];
  };
  if (typeof args.offset === 'number' && args.offset > 0) {
    const skipped = page(args.offset);
    if (skipped.length < args.offset) return [];
    if (direction === 'FORWARD') after = skipped.at(-1)?.cursor ?? null;
    else before = skipped[0]?.cursor ?? null;
  }
  return page(typeof args.limit === 'number' ? args.limit : WHOLE).map(({ node }) => node);
}

const GENERATION = 'golden';

const messages: Handler<Upstream> = (upstream, golden) => {
  const actual = pages(upstream, golden.args);
  if (golden.error !== undefined) return insteadOfError(upstream, golden, actual);
  if (golden.projection === 'id') {
    return verdict(
      actual.map(({ rowId }) => Number(rowId)),
      golden.result,
      [golden.args.include_compacted === true ? bySmallestCopy(upstream, golden) : liveByFlag(upstream, golden)],
    );
  }
  return verdict(likeGolden(actual.map(exportedMessage), golden.result), golden.result, MESSAGE_RULES);
};

/** 8.3: a message stands where its first copy stood, and the copy that shows it comes there; upstream sorts by the copy that shows it. */
function bySmallestCopy({ name }: Upstream, { args }: GoldenCase): Rule {
  const adjust = () => {
    const rows = goldenMessages(name).get(String(args.session_id)) ?? [];
    const shown = new Map<string, number>();
    for (const row of rows) {
      if (row.active === 0 && row.compacted === 0) continue;
      const key = JSON.stringify([row.role, row.content, row.timestamp, row.tool_call_id, row.tool_calls, row.tool_name]);
      const known = rows.find(({ id }) => id === shown.get(key));
      if (known === undefined || !(known.active === 1 && row.active === 0)) shown.set(key, Number(row.id));
    }
    const all = [...shown.values()];
    const size = typeof args.limit === 'number' ? args.limit : WHOLE;
    const from = typeof args.offset === 'number' ? args.offset : 0;
    return args.latest === true ? all.slice(Math.max(0, all.length - from - size), all.length - from) : all.slice(from, from + size);
  };
  return { id: 'display-order', adjust };
}

/** Any number but 0 is set: a row with an `active` of 2 is live, where upstream asks for 1. */
function liveByFlag({ name }: Upstream, { args }: GoldenCase): Rule {
  const rows = goldenMessages(name).get(String(args.session_id)) ?? [];
  const odd = rows.some((row) => typeof row.active === 'number' && row.active > 1);
  const live = rows.filter((row) => row.active !== 0).map((row) => row.id);
  return { id: 'flag-values', adjust: (ids) => (odd ? live : ids) };
}

function insteadOfError({ name }: Upstream, golden: GoldenCase, actual: readonly PagedMessage[]): Verdict {
  const ids = actual.map(({ rowId }) => Number(rowId));
  if (golden.error?.type === 'OperationalError') {
    const replaced = actual.some(({ content }) => String(content).includes('\ufffd'));
    return answersInstead('not-utf8', golden, name === 'hostile' && ids.join() === '34,35,36' && replaced);
  }
  const rows = (goldenMessages(name).get(String(golden.args.session_id)) ?? []) as readonly GoldenRow[];
  const wanted = rows.filter((row) => row.active === 1 && Number(row.id) > Number(golden.args.after_id)).map(({ id }) => id);
  return answersInstead('pages-combine', golden, ids.join() === wanted.join(), 'ValueError');
}

goldenKind('get_messages', STORES, Upstream.open, { get_messages: messages });
