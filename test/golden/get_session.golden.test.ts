/** Every column of every session, decoded, against `SessionDB.get_session`. */
import { goldenKind, verdict } from './compare.ts';
import { SESSION_RULES } from './rules.ts';
import { likeGolden, Upstream } from './upstream.ts';

goldenKind<Upstream>('get_session', ['basic', 'lineage', 'hostile', 'badconfig', 'walled'], Upstream.open, {
  '': (upstream, golden) => {
    const actual = upstream.getSession(String(golden.args.session_id));
    return verdict(likeGolden(actual, golden.result), golden.result, SESSION_RULES);
  },
});
