/** Sessions and lineages written out, against `SessionDB.export_session` and `export_session_lineage`. */
import { exportLineage, exportSessions } from '../../src/state-db/export.ts';
import { goldenKind, type Handler, verdict } from './compare.ts';
import { CALLS, TIME_WINDOW } from './rules.ts';
import { likeGolden, Upstream } from './upstream.ts';

const NO_LIMIT = { largest: 0 };

const session: Handler<Upstream> = (upstream, { args, result }) => {
  const [actual] = exportSessions(upstream.connection, [upstream.entry(String(args.session_id))], NO_LIMIT);
  return verdict(likeGolden(actual, result), result, [TIME_WINDOW, CALLS]);
};

const lineage: Handler<Upstream> = (upstream, { args, result }) => {
  const exported = exportLineage(upstream.connection, upstream.catalogue, upstream.entry(String(args.session_id)), NO_LIMIT);
  const ids = (rows: readonly { readonly id?: unknown }[]) => rows.map(({ id }) => id);
  const { id, message_count, lineage_session_ids, segments, messages } = exported;
  return verdict({ id, message_count, lineage_session_ids, segments: ids(segments), messages: ids(messages) }, result);
};

goldenKind('export', ['basic', 'lineage', 'hostile', 'badconfig', 'walled'], Upstream.open, {
  export_session: session,
  export_session_lineage: lineage,
});
