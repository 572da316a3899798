/**
 * Routes of gateway conversations, put right where a compression moved the conversation on (`spec/state-db-writes.md` R3 to R6). Only while no
 * gateway runs: it keeps its routes in memory and would overwrite the change.
 */
import { WriteRefused } from '../../write-refused.ts';
import { isJsonObject, type SqlRow } from '../decode.ts';
import { tip } from '../lineage.ts';
import type { StoreReading } from '../store-reading.ts';
import { pythonJson } from './python-json.ts';
import { parsePythonJson } from './python-json-value.ts';
import { SessionGraph } from './session-graph.ts';
import type { StoreOperation } from './store-operation.ts';

/** A gateway tells that it is there at least once a minute. */
const FRESH_SECONDS = 90;

export interface HealInput {
  readonly sessionKey: string;
  readonly expectedSessionId: string;
  /** The index that is meant: the folder of sessions that it serves. Null: the only one that has the key. */
  readonly scope: string | null;
}

export interface HealResult {
  readonly scope: string;
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly changed: boolean;
  readonly expectedSessionId: string;
}

interface HealPlan extends HealResult {
  /** The entry as it is to be stored. */
  readonly entry: string;
}

/**
 * R4. Throws ROUTE_NOT_FOUND, ROUTE_MOVED when the route leads neither to the expected session nor to where that goes on, GATEWAY_ONLINE,
 * VALIDATION when several indexes have the key and none is named.
 */
export const healCompressionRoute: StoreOperation<HealInput, HealPlan, HealResult> = {
  patience: 'ROUTINE',
  touchesMessages: false,
  plan: (store, { sessionKey, expectedSessionId, scope: wanted }, { now }) => {
    refuseOnline(store, now);
    const { scope, entry } = entryOf(store, sessionKey, wanted);
    const stored = typeof entry === 'string' ? parsePythonJson(entry) : undefined;
    if (!isJsonObject(stored) || typeof stored.session_id !== 'string') throw new WriteRefused('ROUTE_NOT_FOUND', 'Its entry is damaged.');
    const graph = new SessionGraph(store);
    const expected = graph.get(expectedSessionId);
    const canonical = expected === undefined ? expectedSessionId : tip(graph, expected).id;
    if (stored.session_id !== expectedSessionId && stored.session_id !== canonical) {
      throw new WriteRefused('ROUTE_MOVED', '', { details: { sessionId: stored.session_id } });
    }
    const changed = stored.session_id !== canonical;
    // Its times stay: this is bookkeeping, and no activity (R5).
    stored.session_id = canonical;
    return { scope, sessionKey, sessionId: canonical, changed, expectedSessionId, entry: pythonJson(stored) };
  },
  execute: (transaction, plan) => {
    if (plan.changed) {
      const scoped = transaction.shape.hasColumn('gateway_routing', 'scope');
      transaction.run(`UPDATE gateway_routing SET entry_json = ? WHERE session_key = ?${scoped ? ' AND scope = ?' : ''}`, [
        plan.entry,
        plan.sessionKey,
        ...(scoped ? [plan.scope] : []),
      ]);
    }
    return told(plan);
  },
  preview: told,
  wasMade: (store, planned) => !planned.changed || leadsTo(store, planned),
};

function told({ scope, sessionKey, sessionId, changed, expectedSessionId }: HealPlan): HealResult {
  return { scope, sessionKey, sessionId, changed, expectedSessionId };
}

/** R6. Throws GATEWAY_ONLINE while a gateway told of itself a moment ago, also by a clock that is ahead. */
export function refuseOnline(store: StoreReading, now: number): void {
  if (!store.shape.hasTable('gateway_heartbeats')) return;
  const row = store.get('SELECT 1 AS fresh FROM gateway_heartbeats WHERE last_heartbeat >= ? LIMIT 1', [now - FRESH_SECONDS]);
  if (row !== undefined) throw new WriteRefused('GATEWAY_ONLINE');
}

function entryOf(store: StoreReading, sessionKey: string, scope: string | null): { scope: string; entry: SqlRow[string] } {
  if (!store.shape.hasTable('gateway_routing')) throw new WriteRefused('SCHEMA_UNSUPPORTED', 'It has no table of routes.');
  const rows = store
    .all(
      `SELECT ${store.shape.columnOr('gateway_routing', 'scope', 'g', "''")} AS scope, g.entry_json AS entry
       FROM gateway_routing g WHERE g.session_key = ?`,
      [sessionKey],
    )
    .map((row) => ({ scope: String(row.scope ?? ''), entry: row.entry }))
    .filter((row) => scope === null || row.scope === scope);
  const [first, second] = rows;
  if (first === undefined) throw new WriteRefused('ROUTE_NOT_FOUND');
  if (second !== undefined) throw new WriteRefused('VALIDATION', 'Several indexes have this key: name the scope.');
  return first;
}

function leadsTo(store: StoreReading, { scope, sessionKey, sessionId }: HealResult): boolean {
  const { entry } = entryOf(store, sessionKey, scope);
  const stored = typeof entry === 'string' ? parsePythonJson(entry) : undefined;
  return isJsonObject(stored) && stored.session_id === sessionId;
}
