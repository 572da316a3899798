/** Conversations as a model is given them, and over their lineage, against `SessionDB.get_messages_as_conversation`. */
import { expect, it } from 'vitest';
import type { ConversationRules } from '../../src/state-db/conversation.ts';
import { type GoldenCase, loadGolden, matchesGolden, toUpstreamMessage } from '../support/golden.ts';
import { goldenKind, type Handler, type Rule, type Verdict, verdict } from './compare.ts';
import { conversation, damaged, rowIds } from './conversations.ts';
import { type GoldenRow, goldenMessages } from './golden-rows.ts';
import { CALLS, TIME_WINDOW } from './rules.ts';
import { Upstream } from './upstream.ts';

const STORES = ['basic', 'lineage', 'hostile', 'walled', 'badconfig'] as const;

const assembled: Handler<Upstream> = (upstream, golden, cases) => {
  const same = golden.same_as;
  const reference = same === undefined ? golden : cases.find(({ args }) => matchesGolden(args, same));
  if (reference === undefined) return { difference: 'the case that it equals is missing' };
  const actual = conversation(upstream, golden.args);
  const found =
    damaged(reference, actual) ??
    (golden.projection === '_row_id'
      ? verdict(rowIds(actual), golden.result, [oddFlags(upstream, golden)])
      : verdict(actual.map(toUpstreamMessage), reference.result, [oddFlags(upstream, golden), ABSENT_TIME, CALLS]));
  return byNewestRules(upstream, golden.args, found);
};

/** A time that can't be trusted is left out, as every value is that upstream doesn't have. */
const ABSENT_TIME: Rule = {
  id: TIME_WINDOW.id,
  adjust: (messages) =>
    (TIME_WINDOW.adjust(messages) as GoldenRow[]).map(({ timestamp, ...message }) => (timestamp ? { ...message, timestamp } : message)),
};

/** A row with an `active` of 2 is live, where upstream asks for 1. */
function oddFlags({ name }: Upstream, { args, projection }: GoldenCase): Rule {
  const rows = goldenMessages(name).get(String(args.session_id)) ?? [];
  const live = rows.filter((row) => typeof row.active === 'number' && row.active > 1);
  const shown = live.map(({ id, role, content, timestamp }) => (projection === '_row_id' ? id : { role, content, timestamp }));
  return { id: 'flag-values', adjust: (messages) => (shown.length > 0 && args.include_inactive !== true ? shown : messages) };
}

/** The comparison is with v26's rules; what the server answers can differ by the newest ones. */
function byNewestRules(upstream: Upstream, args: Parameters<typeof conversation>[1], found: Verdict): Verdict {
  if ('difference' in found) return found;
  const differs = replay(upstream, args, 'V26').join() !== replay(upstream, args, 'NEWEST').join();
  return differs ? { deviations: [...found.deviations, 'newest-rules'] } : found;
}

function replay(upstream: Upstream, args: Parameters<typeof conversation>[1], rules: ConversationRules): string[] {
  return conversation(upstream, args, rules).map((message) => message.rowIds.join('+'));
}

goldenKind('get_messages_as_conversation', STORES, Upstream.open, { '': assembled });

/** Replays that the newest rules repair otherwise than v26 (9.5), by the row ids that each message stands for. */
const NEWER_REPAIRS: readonly { store: string; session: string; v26: string[]; newest: string[] }[] = [
  {
    // 107 to 111: the call of 108 has no result, so that the message goes with it (pass C), and the user messages around it meet (pass D).
    store: 'basic',
    session: 'm_odd_rows',
    v26: ['103', '104', '107', '108', '110+111', '112+113', '114', '115', '116', '117'],
    newest: ['103', '104', '107+110+111', '112+113', '114', '115', '116', '117'],
  },
  {
    // 203 is a summary: the user message behind it stays on its own (pass D).
    store: 'lineage',
    session: 'm_COMP',
    v26: ['203+204', '205', '206', '207'],
    newest: ['203', '204', '205', '206', '207'],
  },
  {
    // 36 is a tool result without any id (pass B).
    store: 'hostile',
    session: 'm_surrogate',
    v26: ['34', '35'],
    newest: ['34', '35', '36'],
  },
  {
    // 49 answers a call that nobody made; 48 has nothing but its call, which is unanswered then (passes B, C).
    store: 'hostile',
    session: 'm_big_tool',
    v26: ['47', '48', '50'],
    newest: ['47', '50'],
  },
];

it.each(STORES)('the newest rules repair otherwise than v26 in the listed sessions of %s only', async (store) => {
  const upstream = await Upstream.open(store, 0);
  const sessions = new Set(loadGolden(store, 'get_messages_as_conversation').cases.map(({ args }) => String(args.session_id)));
  const differing = [...sessions]
    .map((session) => ({ session, args: { session_id: session, repair_alternation: true } }))
    .map(({ session, args }) => ({ store, session, v26: replay(upstream, args, 'V26'), newest: replay(upstream, args, 'NEWEST') }))
    .filter(({ v26, newest }) => v26.join() !== newest.join());
  upstream.close();
  expect(differing).toEqual(NEWER_REPAIRS.filter((repair) => repair.store === store));
});
