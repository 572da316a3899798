/**
 * Sub-agents at work for a conversation: their sessions, the calls that asked for them, the registry of those in the background
 * (`spec/live-turns.md` 11.3, `spec/state-db.md` 4.8).
 */
import { idList, type StoreConnection } from './connection.ts';
import { isJsonObject, parseJson, RowReader } from './decode.ts';
import { isForkBound } from './lineage.ts';
import { decodeSession, SESSION_COLUMNS, type SessionRecord, toEntry } from './session-record.ts';

/** What a follower has done with already and need not be read again. */
export interface DelegatesProbe {
  /** Sessions that are known to be over, or to be no delegates. */
  readonly settledSessions: readonly string[];
  /** Sessions whose goal is known. */
  readonly knownSessions: readonly string[];
  /** Delegations of the registry that are wanted even when they ended and were delivered. */
  readonly knownDelegations: readonly string[];
}

export interface DelegateSession {
  readonly session: SessionRecord;
  /** 1 for a delegate of the conversation, 2 for a delegate of such a one. */
  readonly depth: number;
  /** The delegate's session that this one continues after a rotation. */
  readonly continues: string | null;
  /** What it was asked: the head of its first user row; null where that was not read, or isn't text. */
  readonly goal: string | null;
  /** That row; null where it was not read, or isn't there yet. */
  readonly goalRowId: string | null;
  /** The tool of its newest row, if that row has to do with one. */
  readonly lastTool: string | null;
}

/** A `delegate_task` call of a session. */
export interface DelegateCall {
  readonly sessionId: string;
  readonly rowId: string;
  readonly at: number | null;
  readonly toolCallId: string;
  readonly goals: readonly string[];
  readonly resultRowId: string | null;
  /** The head of the result's text. */
  readonly result: string | null;
}

/** A row of `async_delegations`. */
export interface RegisteredDelegation {
  readonly delegationId: string;
  readonly parentSessionId: string;
  readonly state: string;
  readonly running: boolean;
  readonly dispatchedAt: number | null;
  readonly completedAt: number | null;
  readonly goals: readonly string[];
  readonly summary: string | null;
}

export interface DelegatesReading {
  readonly sessions: readonly DelegateSession[];
  /** Children that are no delegates: branches, resets, continuations. */
  readonly others: readonly string[];
  readonly calls: readonly DelegateCall[];
  readonly registry: readonly RegisteredDelegation[];
}

const DEEPEST = 2;
const MOST_SESSIONS = 500;
/** A call that is under way lies near the end of its session; no more rows than these are looked at. */
const CALLS_BACK = 100;
const LONGEST_TEXT = 4000;
const DELEGATE_TOOL = 'delegate_task';

/** Delegates of the segments and of their delegates; at most ten statements, whatever their number. */
export function readDelegates(connection: StoreConnection, segmentIds: readonly string[], probe: DelegatesProbe): DelegatesReading {
  const found = new Map<string, { session: SessionRecord; depth: number; continues: string | null }>();
  const others: string[] = [];
  const seen = new Set(segmentIds);
  for (let parents = new Map(segmentIds.map((id) => [id, 0])); parents.size > 0 && found.size < MOST_SESSIONS; ) {
    const next = new Map<string, number>();
    for (const child of childrenOf(connection, [...parents.keys()], probe.settledSessions)) {
      if (seen.has(child.id)) continue;
      seen.add(child.id);
      const parent = found.get(child.parentId ?? '');
      const above = parents.get(child.parentId ?? '') ?? 0;
      if (isDelegate(child) && above < DEEPEST) found.set(child.id, { session: child, depth: above + 1, continues: null });
      else if (parent !== undefined && parent.session.endReason === 'compression' && !isForkBound(toEntry(child, null), { resets: true }))
        found.set(child.id, { session: child, depth: parent.depth, continues: parent.session.id });
      else {
        others.push(child.id);
        continue;
      }
      next.set(child.id, found.get(child.id)?.depth ?? DEEPEST);
    }
    parents = next;
  }
  const known = new Set(probe.knownSessions);
  const goals = goalsOf(
    connection,
    [...found.keys()].filter((id) => !known.has(id)),
  );
  const tools = lastTools(connection, [...found.keys()]);
  const registry = registered(connection, [...segmentIds, ...found.keys()], probe.knownDelegations);
  return {
    sessions: [...found.values()].map((child) => ({
      ...child,
      goal: goals.get(child.session.id)?.goal ?? null,
      goalRowId: goals.get(child.session.id)?.rowId ?? null,
      lastTool: tools.get(child.session.id) ?? null,
    })),
    others,
    calls: found.size === 0 && registry.length === 0 ? [] : delegateCalls(connection, [...segmentIds.slice(-2), ...found.keys()]),
    registry,
  };
}

/** A marker that names the parent; older stores have none and tell it by the source. */
function isDelegate(child: SessionRecord): boolean {
  if (child.delegateFrom !== null) return child.delegateFrom === child.parentId;
  return child.source === 'subagent' && child.branchedFrom !== child.parentId && child.resetFrom !== child.parentId;
}

function childrenOf(connection: StoreConnection, parentIds: readonly string[], without: readonly string[]): SessionRecord[] {
  const sql = `SELECT ${connection.shape.selectList('sessions', SESSION_COLUMNS, 's')} FROM sessions s
    WHERE s.parent_session_id IN (SELECT value FROM json_each(?)) AND s.id NOT IN (SELECT value FROM json_each(?))
    ORDER BY s.started_at DESC, s.rowid DESC LIMIT ${MOST_SESSIONS}`;
  return connection
    .all(sql, [idList(parentIds), idList(without)])
    .map(decodeSession)
    .reverse();
}

function goalsOf(connection: StoreConnection, sessionIds: readonly string[]): Map<string, { rowId: string; goal: string | null }> {
  if (sessionIds.length === 0) return new Map();
  const rows = connection.all(
    `SELECT s.value AS session_id, CAST(m.id AS TEXT) AS id, substr(m.content, 1, ${LONGEST_TEXT}) AS goal
     FROM json_each(?) s CROSS JOIN messages m
     ON m.id = (SELECT MIN(x.id) FROM messages x WHERE x.session_id = s.value AND x.role = 'user')`,
    [idList(sessionIds)],
  );
  return new Map(
    rows.map((row) => {
      const goal = typeof row.goal === 'string' && row.goal !== '' ? row.goal : null;
      return [String(row.session_id), { rowId: String(row.id), goal }];
    }),
  );
}

function lastTools(connection: StoreConnection, sessionIds: readonly string[]): Map<string, string> {
  if (sessionIds.length === 0) return new Map();
  const rows = connection.all(
    `SELECT s.value AS session_id, m.tool_name AS tool_name, m.tool_calls AS tool_calls FROM json_each(?) s CROSS JOIN messages m
     ON m.id = (SELECT MAX(x.id) FROM messages x WHERE x.session_id = s.value)`,
    [idList(sessionIds)],
  );
  return new Map(
    rows.flatMap((row): [string, string][] => {
      if (typeof row.tool_name === 'string' && row.tool_name !== '') return [[String(row.session_id), row.tool_name]];
      const name = callsIn(row.tool_calls).at(-1)?.name;
      return name === undefined ? [] : [[String(row.session_id), name]];
    }),
  );
}

/** The newest calls of each session, oldest first, each with the row that answers it. */
function delegateCalls(connection: StoreConnection, sessionIds: readonly string[]): DelegateCall[] {
  const rows = connection.all(
    `SELECT m.session_id AS session_id, CAST(m.id AS TEXT) AS id, m.timestamp AS timestamp, m.tool_calls AS tool_calls
     FROM json_each(?) s CROSS JOIN messages m ON m.id IN (
       SELECT x.id FROM messages x WHERE x.session_id = s.value ORDER BY x.id DESC LIMIT ${CALLS_BACK})
     WHERE m.role = 'assistant' AND instr(m.tool_calls, '${DELEGATE_TOOL}') > 0 ORDER BY m.id`,
    [idList(sessionIds)],
  );
  const calls = rows.flatMap((row) => {
    const at = new RowReader(row).time('timestamp');
    return callsIn(row.tool_calls)
      .filter(({ name }) => name === DELEGATE_TOOL)
      .map(({ id, goals }) => ({ sessionId: String(row.session_id), rowId: String(row.id), at, toolCallId: id, goals }));
  });
  const results = resultsOf(connection, calls);
  return calls.map((call) => {
    const answer = results.find(({ rowId, toolCallId }) => toolCallId === call.toolCallId && BigInt(rowId) > BigInt(call.rowId));
    return { ...call, resultRowId: answer?.rowId ?? null, result: answer?.text ?? null };
  });
}

/** Rows that answer the calls, behind them in their sessions; a call that was carried into a continuation is answered there. */
function resultsOf(
  connection: StoreConnection,
  calls: readonly Omit<DelegateCall, 'resultRowId' | 'result'>[],
): { rowId: string; toolCallId: string; text: string | null }[] {
  const first = new Map<string, string>();
  for (const { sessionId, rowId } of calls) if (!first.has(sessionId)) first.set(sessionId, rowId);
  if (first.size === 0) return [];
  const rows = connection.all(
    `SELECT CAST(m.id AS TEXT) AS id, m.tool_call_id AS tool_call_id, substr(m.content, 1, ${LONGEST_TEXT}) AS text
     FROM json_each(?) s CROSS JOIN messages m ON m.session_id = s.value ->> 's' AND m.id > s.value ->> 'a'
     WHERE m.role = 'tool' AND m.tool_call_id IN (SELECT value FROM json_each(?)) ORDER BY m.id`,
    [
      `[${[...first].map(([id, rowId]) => `{"s":${JSON.stringify(id)},"a":${rowId}}`).join(',')}]`,
      idList(new Set(calls.map(({ toolCallId }) => toolCallId))),
    ],
  );
  return rows.map((row) => ({
    rowId: String(row.id),
    toolCallId: String(row.tool_call_id),
    text: typeof row.text === 'string' && row.text !== '' ? row.text : null,
  }));
}

function callsIn(toolCalls: unknown): { id: string; name: string; goals: string[] }[] {
  const list = typeof toolCalls === 'string' ? parseJson(toolCalls) : null;
  if (!Array.isArray(list)) return [];
  return list.flatMap((call: unknown) => {
    if (!isJsonObject(call) || !isJsonObject(call.function) || typeof call.function.name !== 'string') return [];
    const id = typeof call.id === 'string' ? call.id : typeof call.call_id === 'string' ? call.call_id : '';
    const args = typeof call.function.arguments === 'string' ? parseJson(call.function.arguments) : call.function.arguments;
    return [{ id, name: call.function.name, goals: goalsIn(args) }];
  });
}

/** Goals of a call or of a task: `goal`, `goals`, and the goals of `tasks`. */
function goalsIn(value: unknown): string[] {
  if (!isJsonObject(value)) return [];
  const listed = [value.goals, value.tasks].flatMap((list) => (Array.isArray(list) ? list : []));
  const goals = listed.flatMap((item: unknown) => (typeof item === 'string' ? [item] : goalsIn(item)));
  if (goals.length > 0) return goals;
  return typeof value.goal === 'string' && value.goal !== '' ? [value.goal] : [];
}

function registered(connection: StoreConnection, parentIds: readonly string[], known: readonly string[]): RegisteredDelegation[] {
  if (!connection.shape.hasTable('async_delegations')) return [];
  const rows = connection.all(
    `SELECT delegation_id, parent_session_id, state, dispatched_at, completed_at, substr(task_json, 1, 65536) AS task_json,
       substr(result_json, 1, 65536) AS result_json, substr(event_json, 1, 65536) AS event_json
     FROM async_delegations WHERE parent_session_id IN (SELECT value FROM json_each(?))
       AND (state IN ('running', 'finalizing') OR delivery_state = 'pending' OR delegation_id IN (SELECT value FROM json_each(?)))
     ORDER BY dispatched_at, delegation_id LIMIT ${MOST_SESSIONS}`,
    [idList(parentIds), idList(known)],
  );
  return rows.map((row) => {
    const cells = new RowReader(row);
    const state = cells.text('state') ?? '';
    const result = parseJson(cells.quietText('result_json') ?? '');
    const event = parseJson(cells.quietText('event_json') ?? '');
    return {
      delegationId: cells.text('delegation_id') ?? '',
      parentSessionId: cells.text('parent_session_id') ?? '',
      state,
      running: state === 'running' || state === 'finalizing',
      dispatchedAt: cells.time('dispatched_at'),
      completedAt: cells.time('completed_at'),
      goals: goalsIn(parseJson(cells.quietText('task_json') ?? '')),
      summary: summaryIn(result) ?? summaryIn(event),
    };
  });
}

function summaryIn(value: unknown): string | null {
  if (!isJsonObject(value)) return null;
  const text = [value.summary, value.error].find((part) => typeof part === 'string' && part !== '');
  return typeof text === 'string' ? text.slice(0, LONGEST_TEXT) : null;
}
