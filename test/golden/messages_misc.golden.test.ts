/** Resumes, recent turns, newest rows, activity, neighbours, platform ids and reactions against upstream's functions of those names. */
import { displayLineage } from '../../src/state-db/lineage.ts';
import { messageFacts, platformMessageRows } from '../../src/state-db/message-facts.ts';
import { reactionsOf } from '../../src/state-db/message-row.ts';
import { messageCounts, messagesAround, messagesByRowId } from '../../src/state-db/messages.ts';
import { recentTurns } from '../../src/state-db/recent-turns.ts';
import { activityOf } from '../../src/state-db/session-state.ts';
import type { GoldenCase } from '../support/golden.ts';
import { answersInstead, goldenKind, type Handler, type Rule, verdict } from './compare.ts';
import { conversation, damaged, rowIds } from './conversations.ts';
import { type GoldenRow, goldenMessages } from './golden-rows.ts';
import { TIME_WINDOW } from './rules.ts';
import { Upstream } from './upstream.ts';

const STORES = ['basic', 'lineage', 'hostile', 'walled', 'badconfig'] as const;

const idOf = ({ args }: GoldenCase) => String(args.session_id);

function oddActive({ name }: Upstream, golden: GoldenCase): readonly GoldenRow[] {
  return (goldenMessages(name).get(idOf(golden)) ?? []).filter((row) => typeof row.active === 'number' && row.active > 1);
}

/** A row with an `active` of 2 is live, where upstream asks for 1; `change` says what that makes of the answer. */
function oddFlags(upstream: Upstream, golden: GoldenCase, change: (expected: unknown, rows: readonly GoldenRow[]) => unknown): Rule {
  const rows = oddActive(upstream, golden);
  return { id: 'flag-values', adjust: (expected) => (rows.length === 0 ? expected : change(expected, rows)) };
}

const resumeConversations: Handler<Upstream> = (upstream, golden) => {
  const model = conversation(upstream, { session_id: idOf(golden), repair_alternation: true });
  const display = conversation(upstream, { session_id: idOf(golden), include_ancestors: true });
  const odd = oddFlags(upstream, golden, (_, rows) => [rows.map(({ id }) => id), rows.map(({ id }) => id)]);
  return damaged(golden, display) ?? verdict([rowIds(model), rowIds(display)], golden.result, [odd]);
};

const ancestorPrefix: Handler<Upstream> = (upstream, golden) => {
  const display = conversation(upstream, { session_id: idOf(golden), include_ancestors: true });
  return verdict(display.filter((message) => message.sessionId !== idOf(golden)).length, golden.result);
};

/** Rows that a resume loads: what is live in the display lineage. An explicit branch stands alone; upstream counts its parents too. */
const resumeCount: Handler<Upstream> = (upstream, golden) => {
  const live = (goldenMessages(upstream.name).get(idOf(golden)) ?? []).filter(({ active }) => active === 1).length;
  const branch: Rule = {
    id: 'branch-stands-alone',
    adjust: (count) => (typeof upstream.catalogue.get(idOf(golden))?.branchedFrom === 'string' ? live : count),
  };
  const entry = upstream.catalogue.get(idOf(golden));
  const sessionIds = entry === undefined ? [] : displayLineage(upstream.catalogue, entry);
  const [count] = messageCounts(upstream.connection, [{ sessionIds, view: 'LIVE' }]);
  return verdict(count, golden.result, [branch, oddFlags(upstream, golden, (expected, rows) => Number(expected) + rows.length)]);
};

const recent: Handler<Upstream> = (upstream, golden) => {
  const id = idOf(golden);
  const turns = recentTurns(upstream.connection, [id], { limit: Number(golden.args.limit) }).get(id) ?? [];
  if (golden.error !== undefined) return answersInstead('not-utf8', golden, id === 'm_surrogate' && turns.length > 0);
  const odd = oddFlags(upstream, golden, (_, rows) =>
    rows.map(({ id: rowId, timestamp, content }) => ({ id: rowId, timestamp, preview: `${String(content).slice(0, 77)}...` })),
  );
  return verdict(
    turns.map(({ rowId, timestamp, preview }) => ({ id: Number(rowId), timestamp, preview })),
    golden.result,
    [odd, TIME_WINDOW],
  );
};

const latestRow: Handler<Upstream> = (upstream, golden) => {
  const facts = messageFacts(upstream.connection, [idOf(golden)]).get(idOf(golden));
  const { role } = golden.args;
  const rowId = role === 'user' ? facts?.latestUserRowId : role === 'assistant' ? facts?.latestAssistantRowId : null;
  const odd = oddFlags(upstream, golden, (expected, rows) => rows.findLast((row) => row.role === role)?.id ?? expected);
  return verdict(rowId == null ? null : Number(rowId), golden.result, [odd]);
};

const archived: Handler<Upstream> = (upstream, golden) =>
  verdict(messageFacts(upstream.connection, [idOf(golden)]).get(idOf(golden))?.hasInactive, golden.result);

const watermark: Handler<Upstream> = (upstream, golden) => {
  const rowId = messageFacts(upstream.connection, [idOf(golden)]).get(idOf(golden))?.latestLiveRowId ?? null;
  const odd = oddFlags(upstream, golden, (_, rows) => rows.at(-1)?.id);
  return verdict(rowId === null ? 0 : Number(rowId), golden.result, [odd]);
};

const activity: Handler<Upstream> = (upstream, golden) => {
  const entry = upstream.catalogue.get(idOf(golden));
  if (entry === undefined) return verdict(null, golden.result);
  const { at, description, provenance, secondsAgo } = activityOf(entry, upstream.now);
  const actual = {
    last_activity_at: at,
    last_activity_description: description,
    last_activity_provenance: provenance,
    // Upstream rounds to a tenth.
    seconds_since_activity: secondsAgo === null ? null : Math.round(secondsAgo * 10) / 10,
    last_activity_ts: at,
    last_activity_desc: description,
    description,
    provenance,
  };
  const unknownAge: Rule = {
    id: TIME_WINDOW.id,
    adjust: (expected) => expected && { ...(TIME_WINDOW.adjust(expected) as GoldenRow), seconds_since_activity: null },
  };
  // The store has a session whose id is empty; upstream finds its row, and nothing that is asked about it.
  const ofEmptyId: Rule = { id: 'empty-id', adjust: (expected) => (idOf(golden) === '' && expected === null ? IDLE : expected) };
  return verdict(actual, golden.result, [unknownAge, ofEmptyId]);
};

const IDLE = {
  last_activity_at: null,
  last_activity_description: '',
  last_activity_provenance: 'unknown',
  seconds_since_activity: null,
  last_activity_ts: null,
  last_activity_desc: '',
  description: '',
  provenance: 'unknown',
};

const around: Handler<Upstream> = ({ connection }, { args, result }) => {
  const anchor = String(args.around_message_id);
  const window = Math.max(0, typeof args.window === 'number' ? args.window : 5);
  const [rows = []] = messagesAround(connection, [{ sessionId: String(args.session_id), rowId: anchor, window }], 'ROW');
  const at = rows.findIndex(({ rowId }) => rowId === anchor);
  const actual = {
    window: rows.map(({ rowId }) => Number(rowId)),
    messages_before: Math.max(0, at),
    messages_after: rows.length === 0 ? 0 : rows.length - 1 - at,
  };
  return verdict(actual, result);
};

const platformId: Handler<Upstream> = ({ connection }, { args, result }) => {
  const [rows = []] = platformMessageRows(connection, [
    { sessionId: String(args.session_id), platformMessageId: String(args.platform_message_id) },
  ]);
  return verdict(rows.length > 0, result);
};

const reactions: Handler<Upstream> = ({ connection }, { args, result }) => {
  const message = messagesByRowId(connection, new Set([String(args.message_row_id)])).get(String(args.message_row_id));
  const found = message === undefined ? [] : reactionsOf(message).map(({ seen, ...shown }) => (seen === null ? shown : { ...shown, seen }));
  return verdict(found, result);
};

goldenKind('messages_misc', STORES, Upstream.open, {
  get_resume_conversations: resumeConversations,
  get_ancestor_display_prefix: ancestorPrefix,
  get_resume_message_count: resumeCount,
  list_recent_user_messages: recent,
  latest_message_row_id: latestRow,
  has_archived_messages: archived,
  get_active_message_watermark: watermark,
  get_session_activity: activity,
  get_messages_around: around,
  has_platform_message_id: platformId,
  get_message_reactions: reactions,
});
