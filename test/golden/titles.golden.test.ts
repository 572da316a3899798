/** Sessions by title, by the beginning and by a part of their id, and what becomes of titles, against upstream's functions. */
import { InvalidInput } from '../../src/errors.ts';
import { inWindow } from '../../src/state-db/decode.ts';
import { findById } from '../../src/state-db/find-sessions.ts';
import { resolveReference } from '../../src/state-db/resolve.ts';
import { exactTitle, nextTitle, pickByTitle, sanitizeTitle, type TitledSession } from '../../src/state-db/titles.ts';
import { loadGolden } from '../support/golden.ts';
import { answersInstead, goldenKind, type Handler, type Rule, verdict } from './compare.ts';
import { type GoldenRow, goldenMessages, recencyOf, trusted } from './golden-rows.ts';
import { Upstream } from './upstream.ts';

const STORES = ['basic', 'lineage', 'hostile', 'walled', 'badconfig'] as const;

function titled({ catalogue }: Upstream): TitledSession[] {
  return [...catalogue.entries()].flatMap(({ id, title, startedAt }) =>
    title === null ? [] : [{ id, title, startedAt: inWindow(startedAt) }],
  );
}

const byTitle: Handler<Upstream> = (upstream, { args, result }) => {
  const found = exactTitle(String(args.title), titled(upstream));
  return verdict(found === null ? null : { id: found.id }, result);
};

const sanitized: Handler<Upstream> = (_, golden) => {
  const title = golden.args.title as string | null;
  if (golden.error === undefined) return verdict(sanitizeTitle(title), golden.result);
  try {
    sanitizeTitle(title);
  } catch (error) {
    if (error instanceof InvalidInput && golden.error.type === 'ValueError') return { deviations: [] };
  }
  return { difference: 'upstream was expected to raise ValueError, and so were we' };
};

/** Blank text is refused by name; upstream finds nothing, or the session whose id is empty. */
const resolveId: Handler<Upstream> = (upstream, golden) => {
  const reference = String(golden.args.session_id_or_prefix);
  const { connection, catalogue } = upstream;
  try {
    const found = resolveReference({ connection, catalogue, generation: 'golden' }, reference);
    return verdict(found.kind === 'FOUND' ? found.id : null, golden.result);
  } catch (error) {
    const refused = error instanceof InvalidInput && error.code === 'BAD_SESSION_ID' && (golden.result ?? '') === '';
    return refused ? { deviations: ['blank-reference'] } : { difference: String(error) };
  }
};

const byId: Handler<Upstream> = (upstream, { args, result, error }) => {
  const query = String(args.query);
  const actual = findById(upstream.catalogue, query, typeof args.limit === 'number' ? args.limit : 20).map(({ tip }) => tip.id);
  if (error !== undefined) return answersInstead('bad-model-config', { args, error }, actual.join() === matching(upstream, query).join());
  return verdict(actual, result, [trustedOrder(upstream, query)]);
};

/** Rows of the store by upstream's get_session, those with the text in their ids, newest activity first. */
function matching({ name }: Upstream, query: string): string[] {
  const messages = goldenMessages(name);
  const rows = loadGolden(name, 'get_session').cases.flatMap(({ result }) => (result === null ? [] : [result as GoldenRow]));
  const wanted = query.toLowerCase();
  return [...new Map(rows.map((row) => [String(row.id), row])).values()]
    .filter((row) => wanted !== '' && row.parent_session_id === null && String(row.id).toLowerCase().includes(wanted))
    .map((row) => ({
      id: String(row.id),
      start: trusted(row.started_at) ?? -1,
      recency: recencyOf(row, messages.get(String(row.id)) ?? []) ?? -1,
    }))
    .sort((a, b) => b.recency - a.recency || b.start - a.start || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id);
}

/** Only hostile has damaged times, and no chain there has two segments. */
function trustedOrder(upstream: Upstream, query: string): Rule {
  return { id: 'time-window', adjust: (ids) => (upstream.name === 'hostile' ? matching(upstream, query).slice(0, 20) : ids) };
}

goldenKind('titles', STORES, Upstream.open, {
  search_sessions_by_id: byId,
  get_session_by_title: byTitle,
  resolve_session_by_title: (upstream, { args, result }) => verdict(pickByTitle(String(args.title), titled(upstream))?.id ?? null, result),
  get_next_title_in_lineage: (upstream, { args, result }) =>
    verdict(
      nextTitle(
        String(args.base_title),
        titled(upstream).map(({ title }) => title),
      ),
      result,
    ),
  sanitize_title: sanitized,
  resolve_session_id: resolveId,
  get_session_title: ({ catalogue }, { args, result }) => verdict(catalogue.get(String(args.session_id))?.title ?? null, result),
});
