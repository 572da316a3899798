/**
 * Whether a turn is running, from what the store alone shows: leases, locks, routing, heartbeats, delegations (`spec/state-db.md` 12,
 * `spec/live-turns.md` 9). The whole tables are read once for any number of sessions; they hold a row for each turn under way.
 */
import { idList } from './connection.ts';
import { inWindow, isJsonObject, parseJson, RowReader } from './decode.ts';
import { type LineageGraph, leaseKey } from './lineage.ts';
import type { SessionEntry } from './session-record.ts';
import type { StoreReading } from './store-reading.ts';

export type LivenessState = 'LIVE' | 'STARTING' | 'SUSPECT' | 'STALE' | 'IDLE' | 'ENDED' | 'UNKNOWN';

/** What the store's verdict rests on. */
export type LivenessBasis = 'LEASE' | 'LOCK' | 'GATEWAY' | 'ENDED' | 'HEARTBEAT' | 'ROW' | 'NOTHING';

export interface Liveness {
  readonly state: LivenessState;
  readonly certainty: 'CERTAIN' | 'HIGH' | 'MEDIUM' | 'LOW';
  /** What speaks for the state, one sentence each. */
  readonly evidence: readonly string[];
  /** Epoch seconds of the newest sign of life. */
  readonly lastSignalAt: number | null;
  readonly basis: LivenessBasis;
  /** The process that holds the lease or lock it rests on. */
  readonly holderPid: number | null;
}

/** A turn lease or a compression lock; of its holder only pid and platform are ever shown. */
export interface Hold {
  readonly key: string;
  readonly holderPid: number | null;
  readonly platform: string | null;
  readonly acquiredAt: number | null;
  readonly expiresAt: number | null;
  readonly live: boolean;
}

export interface Delegation {
  readonly delegationId: string;
  readonly parentSessionId: string | null;
  readonly state: string;
  readonly running: boolean;
  readonly undelivered: boolean;
  readonly dispatchedAt: number | null;
  readonly completedAt: number | null;
  readonly updatedAt: number | null;
  readonly deliveryState: string;
  readonly deliveryAttempts: number;
  /** When somebody began to deliver the result; a claim older than 300 s is stale (12.2). */
  readonly deliveryClaimedAt: number | null;
  readonly deliveredAt: number | null;
  readonly goal: string | null;
}

export interface Backend {
  readonly backendId: string;
  readonly pid: number | null;
  readonly startedAt: number | null;
  readonly lastHeartbeat: number | null;
  readonly profile: string | null;
  readonly host: string | null;
  readonly state: 'FRESH' | 'STALE' | 'DEAD';
}

/** Everything that speaks of running work in one store, as of one moment. */
export interface LiveFacts {
  readonly now: number;
  readonly leases: ReadonlyMap<string, Hold>;
  readonly locks: ReadonlyMap<string, Hold>;
  /** Session ids that a gateway routing entry with a turn token points at, with the start of the turn. */
  readonly gatewayTurns: ReadonlyMap<string, number | null>;
}

/** A heartbeat a minute and some slack; the life of a lease; how fresh a row is that speaks for a turn by itself (live-turns 9). */
const HEARTBEAT_SECONDS = 90;
const LEASE_SECONDS = 300;
const ROW_SECONDS = 5;
const BACKEND_FRESH_SECONDS = 90;
const BACKEND_WINDOW_SECONDS = 12 * 3600;
const ROW_LIMIT = 10_000;

/** Three statements at most, whatever the number of sessions. */
export function liveFacts(connection: StoreReading, now: number): LiveFacts {
  return { now, leases: leases(connection, now), locks: locks(connection, now), gatewayTurns: gatewayTurns(connection) };
}

/** 12.2: a lease counts while it expires after now. */
function leases(connection: StoreReading, now: number): Map<string, Hold> {
  if (!connection.shape.hasTable('session_turn_leases')) return new Map();
  const rows = connection.all(`SELECT conversation_id AS key, holder, acquired_at, expires_at FROM session_turn_leases LIMIT ${ROW_LIMIT}`);
  return holds(rows, (expiresAt) => expiresAt > now);
}

/** 12.2: a compression lock counts up to and including its last moment. */
function locks(connection: StoreReading, now: number): Map<string, Hold> {
  if (!connection.shape.hasTable('compression_locks')) return new Map();
  const rows = connection.all(`SELECT session_id AS key, holder, acquired_at, expires_at FROM compression_locks LIMIT ${ROW_LIMIT}`);
  return holds(rows, (expiresAt) => expiresAt >= now);
}

export function holds(rows: ReturnType<StoreReading['all']>, isLive: (expiresAt: number) => boolean): Map<string, Hold> {
  return new Map(
    rows.map((row) => {
      const cells = new RowReader(row);
      const key = cells.quietText('key') ?? '';
      const holder = cells.quietText('holder') ?? '';
      const expiresAt = inWindow(row.expires_at);
      const pid = /(?:^|:)pid=(\d{1,10})(?=:|$)/.exec(holder)?.[1];
      const platform = /(?:^|:)platform=([A-Za-z0-9_.-]{1,40})/.exec(holder)?.[1];
      return [
        key,
        {
          key,
          holderPid: pid === undefined ? null : Number(pid),
          platform: platform ?? null,
          acquiredAt: inWindow(row.acquired_at),
          expiresAt,
          live: expiresAt !== null && isLive(expiresAt),
        },
      ];
    }),
  );
}

/** 4.10, 12.2: an entry whose turn token is a non-empty string; entries that can't be parsed are skipped. */
function gatewayTurns(connection: StoreReading): Map<string, number | null> {
  if (!connection.shape.hasTable('gateway_routing')) return new Map();
  const turns = new Map<string, number | null>();
  for (const row of connection.all(
    `SELECT entry_json FROM gateway_routing WHERE instr(entry_json, 'active_turn_token') > 0 LIMIT ${ROW_LIMIT}`,
  )) {
    const entry = typeof row.entry_json === 'string' ? parseJson(row.entry_json) : undefined;
    if (!isJsonObject(entry) || typeof entry.session_id !== 'string') continue;
    if (typeof entry.active_turn_token !== 'string' || entry.active_turn_token === '') continue;
    turns.set(entry.session_id, typeof entry.active_turn_started_at === 'number' ? inWindow(entry.active_turn_started_at) : null);
  }
  return turns;
}

/** Pure: the state of one session from the facts of its store. */
export function livenessOf(graph: LineageGraph<SessionEntry>, session: SessionEntry, facts: LiveFacts): Liveness {
  const lease = facts.leases.get(leaseKey(graph, session));
  const lock = facts.locks.get(session.id);
  const signal = latest(session.recency, lease?.acquiredAt, lock?.acquiredAt);
  const says = (
    state: LivenessState,
    certainty: Liveness['certainty'],
    basis: LivenessBasis,
    sentences: readonly string[],
    holderPid: number | null = null,
  ): Liveness => ({ state, certainty, evidence: sentences, lastSignalAt: signal, basis, holderPid });
  const evidence: string[] = [];
  if (lease?.live) evidence.push(`A turn lease is held until ${iso(lease.expiresAt)}.`);
  if (lock?.live) evidence.push(`A compression lock is held until ${iso(lock.expiresAt)}.`);
  if (facts.gatewayTurns.has(session.id)) evidence.push('The gateway has a turn under way for this session.');
  if (lease?.live) return says('LIVE', 'HIGH', 'LEASE', evidence, lease.holderPid);
  if (lock?.live) return says('LIVE', 'HIGH', 'LOCK', evidence, lock.holderPid);
  if (evidence.length > 0) return says('LIVE', 'MEDIUM', 'GATEWAY', evidence);
  if (session.endedAt !== null || session.endReason !== null) {
    const reason = session.endReason === null ? '' : ` (${session.endReason})`;
    return says('ENDED', 'CERTAIN', 'ENDED', [`The session was ended${reason}.`]);
  }
  const age = session.lastActivityAt === null ? null : facts.now - session.lastActivityAt;
  if (age !== null && (session.lastActivityDescription ?? '') !== '') return says(...byHeartbeat(age));
  if (session.stats?.lastTimestamp != null && facts.now - session.stats.lastTimestamp < ROW_SECONDS) {
    return says('LIVE', 'MEDIUM', 'ROW', ['A row was written within the last five seconds.']);
  }
  if (lease !== undefined) return says('IDLE', 'HIGH', 'NOTHING', [`A turn lease ran out at ${iso(lease.expiresAt)}.`]);
  return says('IDLE', 'HIGH', 'NOTHING', ['Nothing says that a turn is under way.']);
}

/** A label that was not cleared: a turn was under way at that moment. Fresh it counts as running, old as left behind. */
function byHeartbeat(age: number): [LivenessState, Liveness['certainty'], LivenessBasis, readonly string[]] {
  const text = `The last heartbeat says that work was under way, ${Math.max(0, Math.round(age))} s ago; no lease is held.`;
  if (age < HEARTBEAT_SECONDS) return ['LIVE', 'MEDIUM', 'HEARTBEAT', [text]];
  if (age < LEASE_SECONDS) return ['SUSPECT', 'LOW', 'HEARTBEAT', [text]];
  return ['STALE', 'MEDIUM', 'HEARTBEAT', [text]];
}

/** 4.8, 12.2: background sub-agents, newest first. */
export function delegations(connection: StoreReading, parentIds: readonly string[] | null, limit: number): Delegation[] {
  if (!connection.shape.hasTable('async_delegations')) return [];
  const where = parentIds === null ? '' : 'WHERE parent_session_id IN (SELECT value FROM json_each(?))';
  const times = connection.shape.selectList('async_delegations', ['delivery_claimed_at', 'delivered_at'], 'd');
  const rows = connection.all(
    `SELECT delegation_id, parent_session_id, state, dispatched_at, completed_at, updated_at, delivery_state, delivery_attempts,
       event_json IS NOT NULL AS has_event, substr(task_json, 1, 65536) AS task_json${times === '' ? '' : `, ${times}`}
     FROM async_delegations d ${where} ORDER BY dispatched_at DESC LIMIT ?`,
    parentIds === null ? [limit] : [idList(parentIds), limit],
  );
  return rows.map((row) => {
    const cells = new RowReader(row);
    const state = cells.text('state') ?? '';
    const running = state === 'running' || state === 'finalizing';
    const deliveryState = cells.text('delivery_state') ?? 'pending';
    const task = parseJson(cells.quietText('task_json') ?? '');
    return {
      delegationId: cells.text('delegation_id') ?? '',
      parentSessionId: cells.text('parent_session_id'),
      state,
      running,
      undelivered: !running && deliveryState === 'pending' && cells.flag('has_event'),
      dispatchedAt: cells.time('dispatched_at'),
      completedAt: cells.time('completed_at'),
      updatedAt: cells.time('updated_at'),
      deliveryState,
      deliveryAttempts: cells.count('delivery_attempts'),
      deliveryClaimedAt: cells.time('delivery_claimed_at'),
      deliveredAt: cells.time('delivered_at'),
      goal: isJsonObject(task) && typeof task.goal === 'string' ? task.goal : null,
    };
  });
}

/** 12.2: back ends by their heartbeat: fresh up to 90 s, stale up to 12 hours, then dead. */
export function backends(connection: StoreReading, now: number): Backend[] {
  if (!connection.shape.hasTable('gateway_heartbeats')) return [];
  return connection
    .all(`SELECT backend_id, pid, started_at, last_heartbeat, profile, host FROM gateway_heartbeats LIMIT ${ROW_LIMIT}`)
    .map((row) => {
      const cells = new RowReader(row);
      const lastHeartbeat = cells.time('last_heartbeat');
      const age = lastHeartbeat === null ? Number.POSITIVE_INFINITY : now - lastHeartbeat;
      return {
        backendId: cells.text('backend_id') ?? '',
        pid: cells.number('pid'),
        startedAt: cells.time('started_at'),
        lastHeartbeat,
        profile: cells.text('profile'),
        host: cells.text('host'),
        state: age <= BACKEND_FRESH_SECONDS ? 'FRESH' : age <= BACKEND_WINDOW_SECONDS ? 'STALE' : 'DEAD',
      };
    });
}

function latest(...times: (number | null | undefined)[]): number | null {
  const known = times.filter((time): time is number => typeof time === 'number');
  return known.length === 0 ? null : Math.max(...known);
}

function iso(time: number | null): string {
  return time === null ? 'an unknown time' : new Date(time * 1000).toISOString();
}
