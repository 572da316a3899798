/**
 * The segments that a session goes on from, oldest first (`spec/webui-transcript.md` 5): the Web UI's own, narrow notion of a continuation,
 * for reading the transcript of another program as one.
 */
import { idList } from '../../state-db/connection.ts';
import { isJsonObject, parseJson, type SqlRow, type SqlValue } from '../../state-db/decode.ts';
import type { StoreReading } from '../../state-db/store-reading.ts';
import { isBlank, trimSpace } from '../../state-db/whitespace.ts';
import { withoutBytes } from './structured-content.ts';
import { finiteNumber, isBlankValue, isEmpty, numberOf, textOf } from './values.ts';

export interface ContinuationChain {
  /** Ends with the session that was asked for. */
  readonly ids: readonly string[];
  /** More ancestors exist than are read (hazard H11). */
  readonly truncated: boolean;
}

const MOST_PARENTS = 20;
const REQUIRED = ['id', 'parent_session_id', 'end_reason', 'started_at', 'source'] as const;
const OPTIONAL = ['ended_at', 'session_source', 'model_config'] as const;
const GOES_ON: ReadonlySet<unknown> = new Set(['compression', 'cli_close']);

/** Walks to the parents; only the session itself where the store lacks what tells a continuation. At most 22 statements. */
export function continuationChain(store: StoreReading, sessionId: string): ContinuationChain {
  return continuationChains(store, [sessionId]).get(sessionId) ?? { ids: [sessionId], truncated: false };
}

/** The same of many sessions, at the same number of statements: all of them go up one step at a time. */
export function continuationChains(store: StoreReading, sessionIds: readonly string[]): Map<string, ContinuationChain> {
  const { shape } = store;
  const walks = [...new Set(sessionIds)].map((id): Walk => ({ ids: [id], child: undefined, parentId: null, truncated: false }));
  const found = new Map(walks.map((walk) => [walk.ids[0] ?? '', walk]));
  if (REQUIRED.some((column) => !shape.hasColumn('sessions', column))) return chainsOf(found);
  const sql = `SELECT ${shape.selectList('sessions', [...REQUIRED, ...OPTIONAL], 's')} FROM sessions s
    WHERE s.id IN (SELECT value FROM json_each(?))`;
  const rowsOf = (ids: readonly string[]) => new Map(store.all(sql, [idList([...new Set(ids)])]).map((row) => [String(row.id), row]));
  const first = rowsOf([...found.keys()]);
  for (const [id, walk] of found) walk.child = first.get(id);
  let going = walks.filter(findParent);
  while (going.length > 0) {
    const parents = rowsOf(going.map(({ parentId }) => parentId ?? ''));
    going = going.filter((walk) => goUp(walk, parents.get(walk.parentId ?? '')) && findParent(walk));
  }
  return chainsOf(found);
}

function chainsOf(walks: ReadonlyMap<string, Walk>): Map<string, ContinuationChain> {
  return new Map([...walks].map(([id, { ids, truncated }]) => [id, { ids, truncated }]));
}

interface Walk {
  readonly ids: string[];
  /** The row of the first of them; undefined: the store doesn't have it. */
  child: SqlRow | undefined;
  parentId: string | null;
  truncated: boolean;
}

function findParent(walk: Walk): boolean {
  walk.parentId = walk.child === undefined ? null : textOf(withoutBytes(walk.child.parent_session_id ?? null));
  return walk.parentId !== null && !isBlank(walk.parentId) && !walk.ids.includes(walk.parentId);
}

function goUp(walk: Walk, parent: SqlRow | undefined): boolean {
  const { child, parentId, ids } = walk;
  if (child === undefined || parentId === null || parent === undefined || !isContinuation(parent, child)) return false;
  walk.truncated = ids.length > MOST_PARENTS;
  if (walk.truncated) return false;
  ids.unshift(parentId);
  walk.child = parent;
  return true;
}

/** Whether a child goes on where its parent ended; blank sources fit any. */
export function isContinuation(parent: SqlRow, child: SqlRow): boolean {
  if (word(child.session_source) === 'fork' || word(child.source) === 'tool' || isMarked(child.model_config)) return false;
  const [from, to] = [word(parent.source), word(child.source)];
  if (from !== '' && to !== '' && from !== to) return false;
  if (!GOES_ON.has(withoutBytes(parent.end_reason ?? null))) return false;
  if (parent.ended_at === null || parent.ended_at === undefined) return true;
  const ended = numberOf(withoutBytes(parent.ended_at));
  const started = isBlankValue(child.started_at) ? 0 : finiteNumber(withoutBytes(child.started_at ?? null));
  return ended !== null && started !== null && started >= ended;
}

/** A branch or a delegate by the marks of its configuration; what is no JSON object has none. */
function isMarked(config: SqlValue | undefined): boolean {
  const text = withoutBytes(config ?? null);
  const parsed = typeof text === 'string' ? parseJson(text) : null;
  return isJsonObject(parsed) && (!isEmpty(parsed._branched_from) || !isEmpty(parsed._delegate_from));
}

function word(value: SqlValue | undefined): string {
  return trimSpace(textOf(withoutBytes(value ?? null))).toLowerCase();
}
