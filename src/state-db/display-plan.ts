/**
 * Copies of one logical message, found without reading the conversation (`spec/state-db.md` 8.1, 8.3).
 *
 * Copies share their timestamp, so the covering index of (session, timestamp) tells which rows can have any; only those are read and
 * compared. What comes out says which rows a display page leaves out, and which row stands in whose place.
 */
import { idList, type StoreConnection } from './connection.ts';
import type { SqlRow } from './decode.ts';
import { liveByUid, liveTwin, projectLogicalMessages } from './logical-message.ts';
import { decodeMessage, MESSAGE_COLUMNS, type MessageRecord } from './message-row.ts';
import type { StoreReading } from './store-reading.ts';
import { inViewSql, isVisibleSql } from './visibility.ts';

export interface DisplayPlan {
  /** SLOT: rows are ordered by display_order. ROW: by row id. */
  readonly order: 'SLOT' | 'ROW';
  /** Row ids that a page leaves out. */
  readonly suppressed: ReadonlySet<string>;
  /** In ROW order: the row that is shown in the place of another one. */
  readonly shownAt: ReadonlyMap<string, string>;
  /** How many rows stand for a shown row; rows that are not listed have one. */
  readonly copies: ReadonlyMap<string, number>;
}

const NO_COPIES: DisplayPlan = { order: 'ROW', suppressed: new Set(), shownAt: new Map(), copies: new Map() };

/**
 * A plan for each conversation, given as the ids of its segments. One statement for any number of them, two where the store has slots,
 * none for those that were planned since the last commit: pages of a conversation that rests are asked for again and again.
 */
export function displayPlans(connection: StoreConnection, conversations: readonly (readonly string[])[]): DisplayPlan[] {
  const kept = keptPlans(connection);
  const keys = conversations.map((segments) => JSON.stringify(segments));
  const missing = [...new Map(keys.flatMap((key, index) => (kept.has(key) ? [] : [[key, conversations[index] ?? []] as const])))];
  const made = makePlans(
    connection,
    missing.map(([, segments]) => segments),
  );
  const fresh = new Map(missing.map(([key], index) => [key, made[index] ?? NO_COPIES]));
  for (const [key, plan] of fresh) if (kept.size < MOST_PLANS) kept.set(key, plan);
  return keys.map((key) => fresh.get(key) ?? kept.get(key) ?? NO_COPIES);
}

const MOST_PLANS = 1000;
const plansOf = new WeakMap<StoreConnection, { readonly version: number; readonly plans: Map<string, DisplayPlan> }>();

/** Plans made since the last commit of another program; after it, none. */
function keptPlans(connection: StoreConnection): Map<string, DisplayPlan> {
  const version = connection.dataVersion();
  const known = plansOf.get(connection);
  if (known?.version === version) return known.plans;
  const plans = new Map<string, DisplayPlan>();
  plansOf.set(connection, { version, plans });
  return plans;
}

function makePlans(connection: StoreReading, conversations: readonly (readonly string[])[]): DisplayPlan[] {
  if (conversations.length === 0) return [];
  const slotted = slottedSessions(connection, conversations.flat());
  const plans: DisplayPlan[] = conversations.map(() => NO_COPIES);
  const byRow: number[] = [];
  const bySlot: number[] = [];
  conversations.forEach((segments, index) => {
    (segments.length === 1 && slotted.has(segments[0] ?? '') ? bySlot : byRow).push(index);
  });
  for (const [index, rows] of repeatedRows(connection, conversations, byRow)) plans[index] = planByKey(rows);
  for (const [index, rows] of repeatedSlots(connection, conversations, bySlot)) plans[index] = planBySlot(rows);
  for (const index of bySlot) plans[index] = { ...(plans[index] ?? NO_COPIES), order: 'SLOT' };
  return plans;
}

/** Sessions in which every visible row has its identity and slot; one NULL makes the indexed grouping lose rows (8.1 rule 1). */
function slottedSessions(connection: StoreReading, ids: readonly string[]): Set<string> {
  const { shape } = connection;
  if (!shape.hasColumn('messages', 'display_order') || !shape.hasColumn('messages', 'display_identity')) return new Set();
  const rows = connection.all(
    `SELECT i.value AS id FROM json_each(?) i WHERE NOT EXISTS (
       SELECT 1 FROM messages m WHERE m.session_id = i.value AND ${isVisibleSql(shape, 'm')}
       AND (m.display_order IS NULL OR m.display_identity IS NULL))`,
    [idList(ids)],
  );
  return new Set(rows.map((row) => String(row.id)));
}

function repeatedRows(
  connection: StoreReading,
  conversations: readonly (readonly string[])[],
  indexes: readonly number[],
): Map<number, MessageRecord[]> {
  if (indexes.length === 0) return new Map();
  const segments = JSON.stringify(indexes.flatMap((index) => (conversations[index] ?? []).map((id) => ({ c: index, s: id }))));
  const rows = connection.all(
    `WITH repeated(c, t) AS (
       SELECT r.value ->> 'c', m.timestamp FROM json_each(:segments) r CROSS JOIN messages m ON m.session_id = r.value ->> 's'
       GROUP BY 1, 2 HAVING COUNT(*) > 1)
     SELECT repeated.c AS c, ${messageColumns(connection, 'm')}
     FROM repeated CROSS JOIN json_each(:segments) r ON r.value ->> 'c' = repeated.c
       CROSS JOIN messages m ON m.session_id = r.value ->> 's' AND m.timestamp = repeated.t
     WHERE ${inViewSql(connection.shape, 'DISPLAY', 'm')}
     ORDER BY m.id`,
    { segments },
  );
  return groupRows(rows);
}

function repeatedSlots(
  connection: StoreReading,
  conversations: readonly (readonly string[])[],
  indexes: readonly number[],
): Map<number, MessageRecord[]> {
  if (indexes.length === 0) return new Map();
  const { shape } = connection;
  // Nothing in the lists may name the row that is looked at: they are made once, not once a row.
  const rows = connection.all(
    `WITH asked(c, s) AS MATERIALIZED (SELECT value ->> 'c', value ->> 's' FROM json_each(?)),
     repeated(c, slot) AS (
       SELECT asked.c, o.display_order FROM asked CROSS JOIN messages o ON o.session_id = asked.s
       WHERE ${inViewSql(shape, 'DISPLAY', 'o')} GROUP BY 1, 2 HAVING COUNT(*) > 1)
     SELECT asked.c AS c, ${messageColumns(connection, 'm')}
     FROM asked CROSS JOIN messages m ON m.session_id = asked.s
     WHERE ${inViewSql(shape, 'DISPLAY', 'm')}
       AND ((asked.c, m.display_order) IN (SELECT c, slot FROM repeated) ${shape.hasColumn('messages', 'message_uid') ? APART_SQL : ''})
     ORDER BY m.id`,
    [JSON.stringify(indexes.map((index) => ({ c: index, s: conversations[index]?.[0] ?? '' })))],
  );
  return groupRows(rows);
}

/** Archived rows and the live ones of the same uid, where a compaction gave them different slots (Z13 of the writes); they keep their time. */
const APART_SQL = `OR m.id IN (
  SELECT iif(k.value = 0, o.id, n.id) FROM asked CROSS JOIN messages o ON o.session_id = asked.s AND o.active = 0
  CROSS JOIN messages n ON n.session_id = asked.s AND n.active = 1 AND n.timestamp = o.timestamp
  CROSS JOIN json_each('[0,1]') k WHERE n.message_uid = o.message_uid AND n.display_order <> o.display_order)`;

function planByKey(rows: readonly MessageRecord[]): DisplayPlan {
  const suppressed = new Set(rows.map((row) => row.rowId));
  const shownAt = new Map<string, string>();
  const copies = new Map<string, number>();
  for (const message of projectLogicalMessages(rows)) {
    suppressed.delete(message.slotRowId);
    if (message.slotRowId !== message.representative.rowId) shownAt.set(message.slotRowId, message.representative.rowId);
    copies.set(message.representative.rowId, message.copies);
  }
  return { order: 'ROW', suppressed, shownAt, copies };
}

/** The row with the highest active, then the highest id, represents its slot (8.1 rule 2). */
function planBySlot(rows: readonly MessageRecord[]): DisplayPlan {
  const slots = new Map<string, MessageRecord[]>();
  const liveSlots = liveByUid(rows, ({ displayOrder }) => displayOrder ?? '');
  for (const row of rows) {
    const slot = liveTwin(row, liveSlots) ?? row.displayOrder ?? '';
    const known = slots.get(slot);
    if (known === undefined) slots.set(slot, [row]);
    else known.push(row);
  }
  const suppressed = new Set<string>();
  const copies = new Map<string, number>();
  for (const group of slots.values()) {
    const shown = group.reduce((best, row) => (Number(row.active) >= Number(best.active) ? row : best));
    for (const row of group) if (row !== shown) suppressed.add(row.rowId);
    copies.set(shown.rowId, group.length);
  }
  return { order: 'SLOT', suppressed, shownAt: new Map(), copies };
}

function groupRows(rows: readonly SqlRow[]): Map<number, MessageRecord[]> {
  const groups = new Map<number, MessageRecord[]>();
  for (const row of rows) {
    const index = Number(row.c);
    const known = groups.get(index);
    if (known === undefined) groups.set(index, [decodeMessage(row)]);
    else known.push(decodeMessage(row));
  }
  return groups;
}

/** Every message column of the store; the id as text, since it can exceed what a number holds exactly. */
export function messageColumns(connection: StoreReading, alias: string): string {
  const others = MESSAGE_COLUMNS.filter((column) => column !== 'id');
  return `CAST(${alias}.id AS TEXT) AS id, ${connection.shape.selectList('messages', others, alias)}`;
}
