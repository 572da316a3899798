/**
 * First words of sessions, and columns of sessions that lists don't carry, read for many sessions at once.
 */
import { idList, rowIdList, type StoreConnection } from './connection.ts';
import { isJsonObject, parseJson, RowReader, type SqlRow } from './decode.ts';
import { type Preview, type PreviewRow, previewOf } from './preview.ts';

/** User rows looked at first; sessions whose first rows are all scaffolds are looked at again. */
const FIRST_LOOK = 3;
const SECOND_LOOK = 50;
/** Rows above this size are read apart, so that a pasted file doesn't make a list slow. */
const LARGE_CONTENT = 64 * 1024;

/** The preview of each session (`spec/state-db.md` 7.5). At most four statements for any number of sessions, one as a rule. */
export function previews(connection: StoreConnection, sessionIds: readonly string[]): Map<string, Preview> {
  const found = look(connection, sessionIds, FIRST_LOOK);
  const undecided = sessionIds.filter((id) => found.get(id)?.full === true && found.get(id)?.preview.source === 'NONE');
  const again = undecided.length === 0 ? new Map() : look(connection, undecided, SECOND_LOOK);
  return new Map(sessionIds.map((id) => [id, (again.get(id) ?? found.get(id))?.preview ?? previewOf([])]));
}

function look(connection: StoreConnection, sessionIds: readonly string[], depth: number): Map<string, { preview: Preview; full: boolean }> {
  const { shape } = connection;
  const rows = connection.all(
    `SELECT m.session_id AS session_id, CAST(m.id AS TEXT) AS id, octet_length(m.content) > ${LARGE_CONTENT} AS large,
       CASE WHEN octet_length(m.content) <= ${LARGE_CONTENT} THEN m.content END AS content, ${shape.columnOr('messages', 'display_kind', 'm', 'NULL')} AS display_kind
     FROM json_each(?) s CROSS JOIN messages m ON m.id IN (
       SELECT x.id FROM messages x WHERE x.session_id = s.value AND x.role = 'user' AND x.content IS NOT NULL ORDER BY x.timestamp, x.id LIMIT ?)
     ORDER BY m.timestamp, m.id`,
    [idList(sessionIds), depth],
  );
  const large = rows.filter((row) => row.large === 1).map((row) => String(row.id));
  const contents = large.length === 0 ? new Map<string, SqlRow>() : largeContents(connection, large);
  const bySession = new Map<string, PreviewRow[]>();
  for (const row of rows) {
    const cells = new RowReader(row.large === 1 ? { ...row, content: contents.get(String(row.id))?.content } : row);
    const preview = { rowId: String(row.id), content: cells.quietText('content'), displayKind: cells.quietText('display_kind') };
    const known = bySession.get(String(row.session_id));
    if (known === undefined) bySession.set(String(row.session_id), [preview]);
    else known.push(preview);
  }
  return new Map([...bySession].map(([id, candidates]) => [id, { preview: previewOf(candidates), full: candidates.length === depth }]));
}

function largeContents(connection: StoreConnection, rowIds: readonly string[]): Map<string, SqlRow> {
  const rows = connection.all('SELECT CAST(id AS TEXT) AS id, content FROM messages WHERE id IN (SELECT value FROM json_each(?))', [
    rowIdList(rowIds),
  ]);
  return new Map(rows.map((row) => [String(row.id), row]));
}

/** Private or heavy columns of a session, read only when asked for (`spec/state-db.md` 4.1, 4.3, 4.10). */
export interface SessionDetails {
  readonly systemPrompt: string | null;
  /** Settings without lineage markers, credentials and keys that are not known to be harmless. */
  readonly modelConfig: Readonly<Record<string, unknown>> | null;
  readonly toolNames: readonly string[];
}

const NO_DETAILS: SessionDetails = { systemPrompt: null, modelConfig: null, toolNames: [] };

/** Keys of model_config that are shown (4.10: a whitelist, since unknown keys may be private). */
const SHOWN_CONFIG = [
  'model',
  'provider',
  'api_mode',
  'temperature',
  'top_p',
  'max_tokens',
  'cwd',
  'yolo_mode',
  'reasoning_effort',
  'reasoning',
  'reasoning_config',
  'browser_model_lock',
  'gateway_runtime',
];
const SHOWN_RUNTIME = ['model', 'provider', 'api_mode', 'model_options', 'route_source', 'confirmed', 'updated_at'];

export function sessionDetails(connection: StoreConnection, sessionIds: readonly string[]): Map<string, SessionDetails> {
  const { shape } = connection;
  const hashed = shape.hasTable('system_prompts') && shape.hasColumn('sessions', 'system_prompt_hash');
  const named = shape.hasTable('system_prompts') && shape.hasColumn('sessions', 'tool_names');
  const prompt = (hash: string) => `(SELECT p.prompt FROM system_prompts p WHERE p.hash = ${hash})`;
  const inline = shape.columnOr('sessions', 'system_prompt', 's', 'NULL');
  const rows = connection.all(
    `SELECT s.id AS id, s.model_config AS model_config, ${hashed ? `COALESCE(${prompt('s.system_prompt_hash')}, ${inline})` : inline} AS system_prompt,
       ${named ? `COALESCE(${prompt('s.tool_names')}, s.tool_names)` : shape.columnOr('sessions', 'tool_names', 's', 'NULL')} AS tool_names
     FROM sessions s WHERE s.id IN (SELECT value FROM json_each(?))`,
    [idList(sessionIds)],
  );
  const details = new Map<string, SessionDetails>(sessionIds.map((id) => [id, NO_DETAILS]));
  for (const row of rows) {
    const cells = new RowReader(row);
    const config = parseJson(cells.quietText('model_config') ?? '');
    const names = parseJson(cells.quietText('tool_names') ?? '');
    details.set(String(row.id), {
      systemPrompt: cells.quietText('system_prompt'),
      modelConfig: isJsonObject(config) ? shownConfig(config) : null,
      toolNames: Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [],
    });
  }
  return details;
}

function shownConfig(config: Record<string, unknown>): Record<string, unknown> {
  const shown = pick(config, SHOWN_CONFIG);
  for (const key of ['browser_model_lock', 'gateway_runtime']) {
    if (isJsonObject(shown[key])) shown[key] = pick(shown[key], SHOWN_RUNTIME);
    else delete shown[key];
  }
  return shown;
}

function pick(object: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.flatMap((key) => (key in object ? [[key, object[key]]] : [])));
}
