/** Conversations of a golden store, assembled as the arguments of upstream's calls ask for. */
import { repairAlternation } from '../../src/state-db/alternation.ts';
import { idList } from '../../src/state-db/connection.ts';
import { assembleConversation, type ConversationMessage, type ConversationRules } from '../../src/state-db/conversation.ts';
import { messageColumns } from '../../src/state-db/display-plan.ts';
import { displayLineage } from '../../src/state-db/lineage.ts';
import { decodeMessage, type MessageRecord } from '../../src/state-db/message-row.ts';
import type { StoreReading } from '../../src/state-db/store-reading.ts';
import { inViewSql } from '../../src/state-db/visibility.ts';
import type { GoldenCase } from '../support/golden.ts';
import { answersInstead, type Verdict } from './compare.ts';
import type { Upstream } from './upstream.ts';

/** The messages that the arguments ask for: of a lineage, with inactive rows, repaired. */
export function conversation(
  upstream: Upstream,
  args: GoldenCase['args'],
  rules: ConversationRules = 'V26',
): readonly ConversationMessage[] {
  const id = String(args.session_id);
  const ancestors = args.include_ancestors === true;
  const entry = upstream.catalogue.get(id);
  const ids = ancestors && entry !== undefined ? displayLineage(upstream.catalogue, entry) : [id];
  const messages = assembleConversation(rowsOf(upstream.connection, ids, args.include_inactive === true), { replay: !ancestors, rules });
  return args.repair_alternation === true ? repairAlternation(messages, { rules }).messages : messages;
}

/** The live messages of one segment as a model is given them, by the newest rules. */
export function replayed(connection: StoreReading, id: string): readonly ConversationMessage[] {
  return repairAlternation(assembleConversation(rowsOf(connection, [id], false), { replay: true })).messages;
}

function rowsOf(connection: StoreReading, ids: readonly string[], inactive: boolean): MessageRecord[] {
  const rows = connection.all(
    `SELECT ${messageColumns(connection, 'm')} FROM messages m WHERE m.session_id IN (SELECT value FROM json_each(?))
     AND ${inViewSql(connection.shape, inactive ? 'AUDIT' : 'LIVE', 'm')} ORDER BY m.id`,
    [idList(ids)],
  );
  return rows.map(decodeMessage);
}

export function rowIds(messages: readonly ConversationMessage[]): number[] {
  return messages.map(({ rowIds: [first] }) => Number(first));
}

/** The two sessions on whose damage upstream raises: bytes that are not UTF-8, and calls that are no list. Undefined for all others. */
export function damaged(golden: GoldenCase, actual: readonly unknown[]): Verdict | undefined {
  if (golden.error === undefined) return undefined;
  const id = golden.args.session_id;
  if (id === 'm_surrogate') return answersInstead('not-utf8', golden, actual.length > 0);
  if (id === 'm_json_scalar') return answersInstead('tool-calls-list', golden, actual.length > 0, 'TypeError');
  return { difference: `upstream raised ${golden.error.type}` };
}
