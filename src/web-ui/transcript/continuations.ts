/**
 * The segments that a session goes on from, oldest first (`spec/webui-transcript.md` 5): the Web UI's own, narrow notion of a continuation,
 * for reading the transcript of another program as one.
 */
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
  const { shape } = store;
  const ids = [sessionId];
  if (REQUIRED.some((column) => !shape.hasColumn('sessions', column))) return { ids, truncated: false };
  const sql = `SELECT ${shape.selectList('sessions', [...REQUIRED, ...OPTIONAL], 's')} FROM sessions s WHERE s.id = ?`;
  let child = store.get(sql, [sessionId]);
  const seen = new Set(ids);
  while (child !== undefined) {
    const parentId = textOf(withoutBytes(child.parent_session_id ?? null));
    if (isBlank(parentId) || seen.has(parentId)) break;
    const parent = store.get(sql, [parentId]);
    if (parent === undefined || !isContinuation(parent, child)) break;
    if (ids.length > MOST_PARENTS) return { ids, truncated: true };
    ids.unshift(parentId);
    seen.add(parentId);
    child = parent;
  }
  return { ids, truncated: false };
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
