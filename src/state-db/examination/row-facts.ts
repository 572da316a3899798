/**
 * What is wrong with the rows of sessions, taken together (`field-cases` F09, F13, F19, F23, F65; `spec/state-db.md` 5). Two statements for
 * the whole store, neither of which reads a message: for another process.
 */
import { inWindow, RowReader, type SqlRow } from '../decode.ts';
import type { StoreReading } from '../store-reading.ts';

/** How many there are, and the first of them. */
export interface Listed {
  readonly count: number;
  readonly ids: readonly string[];
}

export interface RowFacts {
  /** `model_config` is no JSON. */
  readonly invalidConfigs: Listed;
  readonly missingParents: Listed;
  readonly parentCycles: Listed;
  /** Closed by a compression, and no session names them as its parent. */
  readonly orphanedCompressions: Listed;
  /** The only continuations of a compressed session, without a row. */
  readonly emptyContinuations: Listed;
  /** Count messages and have no row. */
  readonly rowsMissing: Listed;
  /** Rows of sessions that aren't there. */
  readonly strayMessages: number;
  readonly unusableTimes: Listed;
  /** Sessions of the Web UI with the number of their rows. */
  readonly webUi: readonly (readonly [id: string, messages: number])[];
}

const MOST_IDS = 50;

interface Session {
  readonly id: string;
  readonly source: string;
  readonly parent: string | null;
  readonly isCompressed: boolean;
  readonly counted: number;
  readonly hasBadConfig: boolean;
  readonly hasBadTime: boolean;
}

export function rowFacts(store: StoreReading): RowFacts {
  const sessions = readSessions(store);
  const rows = new Map(
    store.all('SELECT session_id AS id, COUNT(*) AS n FROM messages GROUP BY session_id').map((row) => [textOf(row, 'id'), Number(row.n)]),
  );
  const byId = new Map(sessions.map((session) => [session.id, session]));
  const children = Map.groupBy(sessions, ({ parent }) => parent);
  const isContinued = ({ id }: Session) => (children.get(id)?.length ?? 0) > 0;
  const rowsOf = ({ id }: Session) => rows.get(id) ?? 0;
  const pick = (test: (session: Session) => boolean) => listed(sessions.filter(test).map(({ id }) => id));
  return {
    invalidConfigs: pick(({ hasBadConfig }) => hasBadConfig),
    missingParents: pick(({ parent }) => parent !== null && !byId.has(parent)),
    parentCycles: listed(inCycles(byId)),
    orphanedCompressions: pick((session) => session.isCompressed && !isContinued(session)),
    emptyContinuations: pick((session) => isEmptyContinuation(session)),
    rowsMissing: pick((session) => session.counted > 0 && rowsOf(session) === 0),
    strayMessages: [...rows].reduce((sum, [id, count]) => sum + (byId.has(id) ? 0 : count), 0),
    unusableTimes: pick(({ hasBadTime }) => hasBadTime),
    webUi: sessions.filter(({ source }) => source === 'webui').map((session) => [session.id, rowsOf(session)]),
  };

  function isEmptyContinuation(session: Session): boolean {
    const parent = session.parent === null ? undefined : byId.get(session.parent);
    if (parent?.isCompressed !== true || rowsOf(session) > 0 || rowsOf(parent) === 0) return false;
    return !isContinued(session) && children.get(session.parent)?.every((sibling) => rowsOf(sibling) === 0) === true;
  }
}

export function listed(ids: readonly string[]): Listed {
  return { count: ids.length, ids: ids.slice(0, MOST_IDS) };
}

function readSessions(store: StoreReading): Session[] {
  const { shape } = store;
  const column = (name: string) => `${shape.columnOr('sessions', name, 's', 'NULL')} AS ${name}`;
  const config = shape.hasColumn('sessions', 'model_config') ? 's.model_config IS NOT NULL AND NOT json_valid(s.model_config)' : '0';
  const wanted = ['id', 'source', 'parent_session_id', 'end_reason', 'message_count', 'started_at'].map(column).join(', ');
  return store.all(`SELECT ${wanted}, ${config} AS bad_config FROM sessions s ORDER BY s.id`).map((row) => ({
    id: textOf(row, 'id'),
    source: textOf(row, 'source'),
    parent: textOf(row, 'parent_session_id') || null,
    isCompressed: row.end_reason === 'compression',
    counted: typeof row.message_count === 'number' ? row.message_count : 0,
    hasBadConfig: Boolean(row.bad_config),
    hasBadTime: row.started_at !== null && inWindow(row.started_at) === null,
  }));
}

function textOf(row: SqlRow, name: string): string {
  return new RowReader(row).quietText(name) ?? '';
}

/** Those that are among their own ancestors. Each is walked over once. */
function inCycles(byId: ReadonlyMap<string, Session>): string[] {
  const settled = new Set<string>();
  const found: string[] = [];
  for (const start of byId.keys()) {
    const path = new Map<string, number>();
    let id: string | null = start;
    while (id !== null && byId.has(id) && !settled.has(id) && !path.has(id)) {
      path.set(id, path.size);
      id = byId.get(id)?.parent ?? null;
    }
    const entry = id === null ? undefined : path.get(id);
    if (entry !== undefined) found.push(...[...path.keys()].slice(entry));
    for (const seen of path.keys()) settled.add(seen);
  }
  return found.sort();
}
