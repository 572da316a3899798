/**
 * Who is deleted together with a session, and who stays and becomes a root (`spec/webui-transcript.md` 19.4). Pure, over all rows of
 * `sessions`.
 */
import { isJsonObject, type SqlRow, type SqlValue } from '../../state-db/decode.ts';
import { trimSpace } from '../../state-db/whitespace.ts';
import { parseSidecarJson } from '../sidecar/sidecar-json.ts';
import { exactTime, isoSeconds } from '../transcript/timestamps.ts';

/** What a marker of a configuration names; a number names no session. UNUSABLE: a list or an object, which proves nothing. */
type Marker = { readonly kind: 'ABSENT' | 'UNUSABLE' } | { readonly kind: 'NAMED'; readonly id: string | null };

export interface LineageRow {
  readonly id: string;
  readonly parentId: string | null;
  readonly source: string | null;
  readonly endReason: string | null;
  readonly startedAt: SqlValue;
  readonly endedAt: SqlValue;
  /** Whether the configuration is empty or a JSON object. */
  readonly isConfigKnown: boolean;
  readonly delegateFrom: Marker;
  readonly isBranch: boolean;
}

const ABSENT: Marker = { kind: 'ABSENT' };

/** A row of `sessions`: `id`, `parent_session_id`, `model_config`, `source`, `end_reason`, `started_at`, `ended_at`; absent columns are null. */
export function lineageRow(row: SqlRow): LineageRow {
  const config = configOf(row.model_config ?? null);
  return {
    id: textOf(row.id) ?? '',
    parentId: textOf(row.parent_session_id),
    source: textOf(row.source),
    endReason: textOf(row.end_reason),
    startedAt: row.started_at ?? null,
    endedAt: row.ended_at ?? null,
    isConfigKnown: config !== null,
    delegateFrom: markerOf(config?._delegate_from),
    isBranch: (config?._branched_from ?? null) !== null,
  };
}

function textOf(value: SqlValue | undefined): string | null {
  if (value === null || value === undefined) return null;
  return value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : String(value);
}

function configOf(cell: SqlValue): Readonly<Record<string, unknown>> | null {
  const text = textOf(cell);
  if (text === null || trimSpace(text) === '') return {};
  const value = parseSidecarJson(text);
  return isJsonObject(value) ? value : null;
}

function markerOf(value: unknown): Marker {
  if (value === null || value === undefined) return ABSENT;
  if (typeof value === 'object') return { kind: 'UNUSABLE' };
  return { kind: 'NAMED', id: typeof value === 'string' ? value : null };
}

/**
 * The targets, then what goes with them, nearest first. A target needs no row: what still names it as its owner goes all the same. Only a
 * target is deleted against evidence that it should stay.
 */
export function removedWith(rows: readonly LineageRow[], targets: readonly string[]): string[] {
  const removed = new Set(targets);
  const preserved = preservedRows(rows, removed);
  const delegates = grouped(rows, ({ delegateFrom }) => (delegateFrom.kind === 'NAMED' ? delegateFrom.id : null));
  const subagents = grouped(rows, (row) => (isUnmarkedSubagent(row) ? row.parentId : null));
  // The set grows while it is walked: each layer is found after the one before.
  for (const id of removed) {
    for (const row of [...(delegates.get(id) ?? []), ...(subagents.get(id) ?? [])]) if (!preserved.has(row.id)) removed.add(row.id);
  }
  return [...removed];
}

function isUnmarkedSubagent({ delegateFrom, source, isConfigKnown }: LineageRow): boolean {
  return delegateFrom.kind === 'ABSENT' && source === 'subagent' && isConfigKnown;
}

/** Every row that has to stay, with everything below it: a whole subtree is out of reach, whatever markers it inherited. */
function preservedRows(rows: readonly LineageRow[], targets: ReadonlySet<string>): Set<string> {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const children = grouped(rows, ({ parentId }) => parentId);
  const preserved = new Set<string>();
  for (const row of rows) if (!targets.has(row.id) && mustStay(row, byId)) preserved.add(row.id);
  for (const id of preserved) {
    for (const child of children.get(id) ?? []) if (!targets.has(child.id)) preserved.add(child.id);
  }
  return preserved;
}

function mustStay(row: LineageRow, byId: ReadonlyMap<string, LineageRow>): boolean {
  if (row.isBranch || row.delegateFrom.kind === 'UNUSABLE') return true;
  const parentId = row.delegateFrom.kind === 'NAMED' ? row.delegateFrom.id : row.parentId;
  const parent = parentId === null ? undefined : byId.get(parentId);
  if (parent?.endReason === 'compression') return true;
  if (parent?.endReason !== 'branched') return false;
  const started = timeOf(row.startedAt);
  const ended = timeOf(parent.endedAt);
  return started === null || ended === null || started >= ended;
}

/** A number, numeric text, or ISO-8601 text with an offset; anything else is unknown. */
function timeOf(cell: SqlValue): number | null {
  if (cell instanceof Uint8Array) return null;
  const time = exactTime(typeof cell === 'bigint' ? Number(cell) : cell);
  if (time.valid) return time.value;
  return typeof cell === 'string' ? isoSeconds(cell, 'REFUSED') : null;
}

function grouped(rows: readonly LineageRow[], keyOf: (row: LineageRow) => string | null): Map<string, LineageRow[]> {
  const groups = new Map<string, LineageRow[]>();
  for (const row of rows) {
    const key = keyOf(row);
    if (key === null) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}
