/**
 * Whether an inbound event was stored as a message of a person already (`spec/state-db-writes.md` L2): its metadata names the event. What the
 * message says is never evidence.
 */
import type { StoreReading } from './store-reading.ts';
import { isVisibleSql } from './visibility.ts';

export interface InputOwnerKey {
  /** The segments to look through: the tip and what was compressed into it. */
  readonly sessionIds: readonly string[];
  readonly owner: string;
}

/** The owner that a row's metadata names, also where it was encoded twice; metadata that is no JSON names none. */
const OWNER = `CASE WHEN json_valid(m.display_metadata) THEN CASE json_type(m.display_metadata)
  WHEN 'object' THEN json_extract(m.display_metadata, '$.gateway_input_owner')
  WHEN 'text' THEN CASE WHEN json_valid(json_extract(m.display_metadata, '$'))
    THEN json_extract(json_extract(m.display_metadata, '$'), '$.gateway_input_owner') END END END`;

/** One answer for each key, with one statement. */
export function inputOwnersExist(store: StoreReading, keys: readonly InputOwnerKey[]): boolean[] {
  const { shape } = store;
  if (!shape.hasColumn('messages', 'display_metadata')) return keys.map(() => false);
  const rows = store.all(
    `SELECT DISTINCT k.key AS n FROM json_each(?) k CROSS JOIN json_each(k.value, '$.s') s CROSS JOIN messages m ON m.session_id = s.value
     WHERE m.role = 'user' AND COALESCE(${shape.columnOr('messages', 'observed', 'm', '0')}, 0) = 0 AND ${isVisibleSql(shape, 'm')}
       AND instr(m.display_metadata, 'gateway_input_owner') > 0 AND ${OWNER} = k.value ->> 'o'`,
    [JSON.stringify(keys.map(({ sessionIds, owner }) => ({ s: sessionIds, o: owner })))],
  );
  const found = new Set(rows.map((row) => Number(row.n)));
  return keys.map((_, index) => found.has(index));
}
