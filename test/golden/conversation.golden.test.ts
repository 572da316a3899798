/**
 * Conversations, previews and titles against the answers of upstream's own code (v26) for five stores. Every case of the functions named
 * here is compared; where this server differs on purpose, the case is listed with its rule and the difference is checked too.
 */
import Database from 'better-sqlite3';
import { afterAll, describe, expect, it } from 'vitest';
import { InvalidInput } from '../../src/errors.ts';
import { repairAlternation } from '../../src/state-db/alternation.ts';
import { assembleConversation, type ConversationMessage, type ConversationRules } from '../../src/state-db/conversation.ts';
import { inWindow, isJsonObject, type SqlRow, type SqlValue } from '../../src/state-db/decode.ts';
import { decodeMessage, MESSAGE_COLUMNS, type MessageRecord } from '../../src/state-db/message-row.ts';
import { isRecentTurn, previewOf, recentTurnPreview } from '../../src/state-db/preview.ts';
import { isSummaryContent } from '../../src/state-db/summary-markers.ts';
import { exactTitle, nextTitle, pickByTitle, sanitizeTitle, type TitledSession } from '../../src/state-db/titles.ts';
import { copyStore, type GoldenCase, goldenDifference, loadGolden, matchesGolden, toUpstreamMessage } from '../support/golden.ts';

const STORES = ['basic', 'lineage', 'hostile', 'walled', 'badconfig'] as const;

/** Where this server answers otherwise on purpose. */
const RULES = {
  notUtf8: 'state-db.md 5: bytes that are not UTF-8 are replaced; upstream raises OperationalError',
  notAList: 'state-db.md 4.10: tool_calls that is no list gives no calls; upstream passes the value on, and raises TypeError in the repair',
  badTime: 'state-db.md 5: a time outside the window is null; upstream passes it on',
  structured: 'state-db.md 7.5: structured content is flattened; upstream shows an empty preview',
  summary: 'state-db.md 7.5: a bare summary gives no preview; v26 shows its text',
} as const;

const totals = new Map<string, number>();
const deviations = new Map<string, number>();

function count(map: Map<string, number>, key: string): void {
  map.set(key, (map.get(key) ?? 0) + 1);
}

afterAll(() => {
  for (const [store, cases] of totals) console.log(`${store}: ${cases} cases compared`);
  console.log(`${[...totals.values()].reduce((sum, cases) => sum + cases, 0)} cases compared`);
  for (const [rule, cases] of deviations) console.log(`  ${cases} of them differ by rule: ${rule}`);
});

class Store {
  readonly name: string;
  readonly #db: Database.Database;
  readonly #columns: string;
  readonly #lineages = new Map<string, string[]>();

  constructor(name: string) {
    this.name = name;
    this.#db = new Database(copyStore(name), { readonly: true });
    this.#db.defaultSafeIntegers();
    const present = this.#db.prepare('SELECT name FROM pragma_table_info(?)').pluck().all('messages');
    this.#columns = MESSAGE_COLUMNS.filter((column) => present.includes(column)).join(', ');
    for (const golden of loadGolden(name, 'lineage').cases) {
      const id = golden.args.session_id as string;
      if (golden.function === '_session_lineage_root_to_tip' && !this.#lineages.has(id)) this.#lineages.set(id, golden.result as string[]);
      if (golden.function === '_is_explicit_branch_session' && golden.result === true) this.#lineages.set(id, [id]);
    }
  }

  /** A branch owns its copied transcript: its display lineage is itself. */
  lineage(sessionId: string): string[] {
    return this.#lineages.get(sessionId) ?? [sessionId];
  }

  rows(sessionIds: readonly string[], where = 'TRUE', order = 'id'): MessageRecord[] {
    const marks = sessionIds.map(() => '?').join(', ');
    const sql = `SELECT ${this.#columns} FROM messages WHERE session_id IN (${marks}) AND ${where} ORDER BY ${order}`;
    return this.#db
      .prepare<SqlValue[], SqlRow>(sql)
      .all(...sessionIds)
      .map(decodeMessage);
  }

  titles(): TitledSession[] {
    return this.#db
      .prepare<[], { id: string; title: string; started_at: SqlValue }>(
        'SELECT id, title, started_at FROM sessions WHERE title IS NOT NULL',
      )
      .all()
      .map(({ id, title, started_at }) => ({ id, title, startedAt: inWindow(started_at) }));
  }

  /** The messages that the arguments of upstream's call ask for: of a lineage, with inactive rows, repaired. */
  conversation(args: GoldenCase['args'], rules: ConversationRules = 'V26'): readonly ConversationMessage[] {
    const id = args.session_id as string;
    const ancestors = args.include_ancestors === true;
    const rows = this.rows(ancestors ? this.lineage(id) : [id], args.include_inactive === true ? 'TRUE' : 'active = 1');
    const messages = assembleConversation(rows, { replay: !ancestors, rules });
    return args.repair_alternation === true ? repairAlternation(messages, { rules }).messages : messages;
  }
}

function rowIds(messages: readonly ConversationMessage[]): number[] {
  return messages.map(({ rowIds: [first] }) => Number(first));
}

/** The golden messages under the rule that a time outside the window is null. */
function withTrustedTimes<T>(messages: readonly T[]): readonly unknown[] {
  return messages.map((message) => {
    if (!isJsonObject(message) || !('timestamp' in message)) return message;
    return { ...message, timestamp: inWindow(message.timestamp as SqlValue) ?? undefined };
  });
}

function withoutAbsent(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** Compares messages; a difference that only the rule on times explains counts as a deviation. */
function messageDifference(actual: readonly unknown[], expected: readonly unknown[]): string | null {
  const difference = goldenDifference(actual, expected);
  if (difference === null) return null;
  const trusted = goldenDifference(withoutAbsent(actual), withoutAbsent(withTrustedTimes(expected)));
  if (trusted === null) count(deviations, RULES.badTime);
  return trusted;
}

/** The answer of one golden case; a string tells what is wrong with ours. */
type Comparison = (store: Store, golden: GoldenCase, cases: readonly GoldenCase[]) => string | null;

const sessionOf = (golden: GoldenCase) => golden.args.session_id as string;

/** The three sessions with values on which upstream fails or passes damage on. */
function damagedCase(store: Store, golden: GoldenCase, actual: readonly ConversationMessage[]): string | null | undefined {
  if (store.name !== 'hostile') return undefined;
  if (sessionOf(golden) === 'm_surrogate') {
    if (golden.error?.type !== 'OperationalError') return 'upstream was expected to raise';
    count(deviations, RULES.notUtf8);
    return actual.length > 0 ? null : 'the rows are missing';
  }
  if (sessionOf(golden) === 'm_json_scalar' && (golden.error !== undefined || golden.projection === undefined)) {
    count(deviations, RULES.notAList);
    if (golden.error !== undefined) return golden.error.type === 'TypeError' && actual.length > 0 ? null : 'the rows are missing';
    const expected = (golden.result as Record<string, unknown>[]).map((message) => ({ ...message, tool_calls: [] }));
    return goldenDifference(actual.map(toUpstreamMessage), expected);
  }
  return undefined;
}

const conversation: Comparison = (store, golden, cases) => {
  const same = golden.same_as;
  const reference = same === undefined ? golden : cases.find(({ args }) => matchesGolden(args, same));
  if (reference === undefined) return 'the case that it equals is missing';
  const actual = store.conversation(golden.args);
  const damaged = damagedCase(store, reference, actual);
  if (damaged !== undefined) return damaged;
  if (golden.projection === '_row_id') return goldenDifference(rowIds(actual), golden.result);
  if (!Array.isArray(reference.result)) return 'no result to compare with';
  return messageDifference(actual.map(toUpstreamMessage), reference.result);
};

const resumeConversations: Comparison = (store, golden) => {
  const id = sessionOf(golden);
  const model = store.conversation({ session_id: id, repair_alternation: true });
  const display = store.conversation({ session_id: id, include_ancestors: true });
  const damaged = damagedCase(store, golden, display);
  return damaged !== undefined ? damaged : goldenDifference([rowIds(model), rowIds(display)], golden.result);
};

const ancestorPrefix: Comparison = (store, golden) => {
  const id = sessionOf(golden);
  const display = store.conversation({ session_id: id, include_ancestors: true });
  return goldenDifference(display.filter((message) => message.sessionId !== id).length, golden.result);
};

const recentTurns: Comparison = (store, golden) => {
  const id = sessionOf(golden);
  const turns = store
    .rows([id], "role = 'user' AND active = 1", 'id DESC')
    .filter((row) => isRecentTurn({ content: row.rawContent, displayKind: row.displayKind }))
    .slice(0, golden.args.limit as number)
    .map((row) => ({ id: Number(row.rowId), timestamp: row.timestamp ?? undefined, preview: recentTurnPreview(row.rawContent) }));
  if (golden.error !== undefined) {
    count(deviations, RULES.notUtf8);
    return id === 'm_surrogate' && golden.error.type === 'OperationalError' && turns.length > 0 ? null : 'the rows are missing';
  }
  return messageDifference(turns, golden.result as unknown[]);
};

const byTitle: Comparison = (store, golden) => {
  const found = exactTitle(golden.args.title as string, store.titles());
  return goldenDifference(found === null ? null : { id: found.id }, golden.result);
};

const resolveTitle: Comparison = (store, golden) =>
  goldenDifference(pickByTitle(golden.args.title as string, store.titles())?.id ?? null, golden.result);

const nextInLineage: Comparison = (store, golden) => {
  const titles = store.titles().map(({ title }) => title);
  return goldenDifference(nextTitle(golden.args.base_title as string, titles), golden.result);
};

const cleanTitle: Comparison = (_store, golden) => {
  const title = golden.args.title as string | null;
  if (golden.error === undefined) return goldenDifference(sanitizeTitle(title), golden.result);
  expect(() => sanitizeTitle(title)).toThrow(InvalidInput);
  return golden.error.type === 'ValueError' ? null : 'upstream was expected to raise ValueError';
};

const COMPARISONS: Readonly<Record<string, Readonly<Record<string, Comparison>>>> = {
  get_messages_as_conversation: { get_messages_as_conversation: conversation },
  messages_misc: {
    get_resume_conversations: resumeConversations,
    get_ancestor_display_prefix: ancestorPrefix,
    list_recent_user_messages: recentTurns,
  },
  titles: {
    get_session_by_title: byTitle,
    resolve_session_by_title: resolveTitle,
    get_next_title_in_lineage: nextInLineage,
    sanitize_title: cleanTitle,
  },
};

/** Cases of the same files that other modules answer; everything else has to be compared here. */
const COMPARED_ELSEWHERE: Readonly<Record<string, string>> = {
  get_resume_message_count: 'a COUNT in SQL',
  get_messages_around: 'a window in SQL',
  latest_message_row_id: 'SQL',
  has_archived_messages: 'SQL',
  get_active_message_watermark: 'SQL',
  get_session_activity: 'SQL',
  has_platform_message_id: 'SQL',
  get_message_reactions: 'a column of the row',
  get_session_title: 'a column of the session',
  resolve_session_id: 'id look-up, state-db.md 7.8',
  search_sessions_by_id: 'id look-up, state-db.md 7.8',
};

function compareFile(store: Store, file: string): { differences: string[]; compared: number; skipped: string[] } {
  const differences: string[] = [];
  const skipped: string[] = [];
  let compared = 0;
  const { cases } = loadGolden(store.name, file);
  for (const golden of cases) {
    const name = golden.function ?? file;
    const compare = COMPARISONS[file]?.[name];
    if (compare === undefined) {
      if (!(name in COMPARED_ELSEWHERE)) skipped.push(name);
      continue;
    }
    compared += 1;
    count(totals, store.name);
    const difference = compare(store, golden, cases);
    if (difference !== null) differences.push(`${name} ${JSON.stringify(golden.args)}: ${difference}`);
  }
  return { differences, compared, skipped };
}

describe.each(STORES)('upstream agrees on %s:', (name) => {
  const store = new Store(name);

  it.each(Object.keys(COMPARISONS))('every case of %s', (file) => {
    const { differences, compared, skipped } = compareFile(store, file);
    expect(differences).toEqual([]);
    expect(skipped).toEqual([]);
    expect(compared).toBeGreaterThan(0);
  });

  it('the preview of every listed session', () => {
    const previews = new Map<string, string>();
    for (const golden of loadGolden(name, 'list_sessions_rich').cases) {
      for (const row of Array.isArray(golden.result) ? (golden.result as Record<string, unknown>[]) : []) {
        if (typeof row.preview === 'string') previews.set(row.id as string, row.preview);
      }
    }
    expect(previews.size).toBeGreaterThan(0);
    const differences = [...previews].flatMap(([id, expected]) => previewDifference(store, id, expected) ?? []);
    expect(differences).toEqual([]);
  });
});

/** Replays that the newest rules repair otherwise than v26 (state-db.md 9.5), by the row ids that each message stands for. */
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

describe.each(STORES)('the newest rules on %s', (name) => {
  it('repair otherwise than v26 in the listed sessions only', () => {
    const store = new Store(name);
    const sessions = new Set(loadGolden(name, 'get_messages_as_conversation').cases.map((golden) => golden.args.session_id as string));
    const replay = (session: string, rules: ConversationRules) =>
      store.conversation({ session_id: session, repair_alternation: true }, rules).map((message) => message.rowIds.join('+'));
    const differing = [...sessions]
      .map((session) => ({ store: name, session, v26: replay(session, 'V26'), newest: replay(session, 'NEWEST') }))
      .filter(({ v26, newest }) => v26.join() !== newest.join());
    expect(differing).toEqual(NEWER_REPAIRS.filter((repair) => repair.store === name));
  });
});

function previewDifference(store: Store, id: string, expected: string): string | null {
  count(totals, store.name);
  const rows = store.rows([id], "role = 'user'", 'timestamp, id').map((row) => ({ ...row, content: row.rawContent }));
  const preview = previewOf(rows);
  if (preview.text === expected) return null;
  if (preview.source === 'STRUCTURED' && expected === '') {
    count(deviations, RULES.structured);
    return null;
  }
  const first = rows.find((row) => row.content !== null && row.displayKind !== 'hidden')?.content ?? '';
  if (isSummaryContent(first) && first.replace(/[\r\n]/g, ' ').startsWith(expected.replace(/\.\.\.$/, ''))) {
    count(deviations, RULES.summary);
    return null;
  }
  return `preview of ${id}: ${JSON.stringify(preview.text)} instead of ${JSON.stringify(expected)}`;
}
