/**
 * Session files made anew from the store where they are lost (`spec/webui-recovery.md` 20.2, D21, `spec/webui-sidecars.md` 7.5): the live rows
 * with all that they have of tools and reasoning. A file that is there, or comes meanwhile, always wins.
 */
import { ROOT_PROFILE } from '../profiles.ts';
import { idList } from '../state-db/connection.ts';
import type { SqlRow } from '../state-db/decode.ts';
import type { StoreReading } from '../state-db/store-reading.ts';
import { NotJson } from '../state-db/write/python-json.ts';
import { readIndex } from '../web-ui/index-file/index-file.ts';
import { putIndexRow } from '../web-ui/index-file/patch-index.ts';
import { fold, normaliseSource } from '../web-ui/list/source-class.ts';
import { epochSeconds, type Fields, word } from '../web-ui/sidecar/coercions.ts';
import { listSidecars } from '../web-ui/sidecar/list-sidecars.ts';
import { refuseOverlay } from '../web-ui/sidecar/save-sidecar.ts';
import { lastMessageTime } from '../web-ui/sidecar/sidecar-messages.ts';
import { writeSidecar } from '../web-ui/sidecar/write-sidecar.ts';
import { isSidecarId } from '../web-ui/sidecar-file.ts';
import { isOfWebUi, isRowOfWebUi } from '../web-ui/sidecar-missing.ts';
import { readTombstones } from '../web-ui/tombstones.ts';
import { withoutRowId } from '../web-ui/transcript/state-message.ts';
import { readManyStateMessages } from '../web-ui/transcript/state-messages.ts';
import { type RefusalCode, WriteRefused } from '../write-refused.ts';
import { auditedStore } from './audited-store.ts';
import { type CommandHost, reading } from './command.ts';
import { fileCommand, sessionsDirOf } from './file-command.ts';

export interface MaterializeInput {
  /** Null: all that the audit calls missing. */
  readonly ids: readonly string[] | null;
}

/** Why no file was made of a session. */
export type NotMaterialized = 'UNSAFE_ID' | 'NOT_FOUND' | 'NOT_WEB_UI' | 'TOMBSTONED' | 'NO_MESSAGES' | 'FILE_EXISTS' | 'NOT_WRITTEN';

export interface MaterializedSession {
  readonly sessionId: string;
  readonly materialized: boolean;
  readonly reason: NotMaterialized | null;
  /** Why the system did not take the file; null unless NOT_WRITTEN. */
  readonly refusal: RefusalCode | null;
  /** Messages of the file. */
  readonly messages: number;
}

export interface Materialization {
  readonly sessions: readonly MaterializedSession[];
}

export const MOST_MATERIALIZED = 500;
const COLUMNS = ['id', 'source', 'title', 'model', 'started_at', 'cwd', 'parent_session_id'] as const;
const FALLBACK_TITLE = 'Recovered WebUI Session';
/** Sessions whose messages are in memory at a time. */
const AT_A_TIME = 8;

export const materializeSidecars = fileCommand<MaterializeInput, Materialization>('materializeSidecars', {
  work: async (host, { ids }, dryRun, planned) => {
    if ((ids?.length ?? 0) > MOST_MATERIALIZED)
      throw new WriteRefused('TOO_MANY', `At most ${MOST_MATERIALIZED} sessions are named at once.`);
    const wanted = ids ?? (await missingIds(host));
    if (dryRun) return { sessions: await materialize(host, wanted, { dryRun }) };
    if (wanted.length > 0) planned({ sessions: await materialize(host, wanted, { dryRun: true }) });
    return { sessions: await materialize(host, wanted, { dryRun }) };
  },
  /** Files that were made before the process ended get what belongs to them; the others are made by a repeat. */
  wasMade: async (host, { sessions }) => {
    const present = new Set((await listSidecars(sessionsDirOf(host))).ids);
    const made = sessions.filter(({ materialized }) => materialized);
    for (const { sessionId } of made) if (present.has(sessionId)) await putIndexRow(sessionsDirOf(host), sessionId);
    return made.every(({ sessionId }) => present.has(sessionId));
  },
});

/** Sessions of the Web UI with messages in the store, without a file and not deleted. Throws `WriteRefused` where the store can't be read. */
async function missingIds(host: CommandHost): Promise<readonly string[]> {
  const store = await auditedStore(host);
  if (store === null) throw new WriteRefused('STORE_UNREADABLE');
  const [{ ids: present }, { ids: deleted }] = await Promise.all([
    listSidecars(sessionsDirOf(host)),
    readTombstones(sessionsDirOf(host), 'DELETED'),
  ]);
  const files = new Set(present);
  return [...store.webUiSessions].flatMap(([id, messages]) => (messages > 0 && !files.has(id) && !deleted.has(id) ? [id] : [])).sort();
}

/** What becomes of each session, in the order of the ids, each once. A dry run reads the same and writes nothing. */
export async function materialize(
  host: CommandHost,
  ids: readonly string[],
  { dryRun }: { readonly dryRun: boolean },
): Promise<MaterializedSession[]> {
  const dir = sessionsDirOf(host);
  await refuseOverlay(dir, {});
  const [{ ids: present }, { ids: deleted }, { rows: indexed }] = await Promise.all([
    listSidecars(dir),
    readTombstones(dir, 'DELETED'),
    readIndex(dir),
  ]);
  const files = new Set(present);
  const found: MaterializedSession[] = [];
  const unique = [...new Set(ids)];
  for (let at = 0; at < unique.length; at += AT_A_TIME) {
    const some = unique.slice(at, at + AT_A_TIME);
    const stored = await reading(host, (store) => storedSessions(store, some.filter(isSidecarId)));
    for (const id of some) {
      const session = stored.get(id);
      const reason = whyNot(id, session, { files, deleted, isIndexed: isRowOfWebUi(indexed.get(id)) });
      found.push(reason === null && session !== undefined ? await make(host, id, session, dryRun) : skipped(id, reason ?? 'NOT_FOUND'));
    }
  }
  return found;
}

interface StoredSession {
  readonly row: SqlRow;
  readonly messages: readonly Fields[];
}

function storedSessions(store: StoreReading, ids: readonly string[]): Map<string, StoredSession> {
  const columns = COLUMNS.filter((column) => store.shape.hasColumn('sessions', column));
  const sql = `SELECT ${columns.map((column) => `"${column}"`).join(', ')} FROM sessions WHERE id IN (SELECT value FROM json_each(?))`;
  return store.snapshot(() => {
    const messages = readManyStateMessages(store, ids);
    const rows = store.all(sql, [idList(ids)]);
    return new Map(
      rows.map((row) => [String(row.id), { row, messages: (messages.get(String(row.id))?.messages ?? []).map(withoutRowId) }]),
    );
  });
}

function whyNot(
  id: string,
  session: StoredSession | undefined,
  known: { readonly files: ReadonlySet<string>; readonly deleted: ReadonlySet<string>; readonly isIndexed: boolean },
): NotMaterialized | null {
  if (!isSidecarId(id)) return 'UNSAFE_ID';
  if (known.files.has(id)) return 'FILE_EXISTS';
  if (session === undefined) return 'NOT_FOUND';
  if (!known.isIndexed && !isOfWebUi(word(session.row.source))) return 'NOT_WEB_UI';
  if (known.deleted.has(id)) return 'TOMBSTONED';
  return session.messages.length === 0 ? 'NO_MESSAGES' : null;
}

async function make(host: CommandHost, id: string, { row, messages }: StoredSession, dryRun: boolean): Promise<MaterializedSession> {
  const made = { sessionId: id, materialized: true, reason: null, refusal: null, messages: messages.length };
  if (dryRun) return made;
  try {
    await writeSidecar(sessionsDirOf(host), id, fieldsOf(host, row, messages), { mustBeNew: true });
    await putIndexRow(sessionsDirOf(host), id);
    return made;
  } catch (error) {
    if (error instanceof NotJson) return { ...skipped(id, 'NOT_WRITTEN'), refusal: 'VALIDATION' };
    if (!(error instanceof WriteRefused)) throw error;
    return error.code === 'CONFLICT' ? skipped(id, 'FILE_EXISTS') : { ...skipped(id, 'NOT_WRITTEN'), refusal: error.code };
  }
}

function skipped(sessionId: string, reason: NotMaterialized): MaterializedSession {
  return { sessionId, materialized: false, reason, refusal: null, messages: 0 };
}

function fieldsOf(host: CommandHost, row: SqlRow, messages: readonly Fields[]): Fields {
  const names = normaliseSource('webui');
  const createdAt = epochSeconds(row.started_at);
  return {
    title: word(row.title) ?? FALLBACK_TITLE,
    workspace: word(row.cwd) ?? '',
    model: word(row.model) ?? 'unknown',
    created_at: createdAt,
    updated_at: lastMessageTime(messages) ?? createdAt,
    profile: host.profile === ROOT_PROFILE ? null : host.profile,
    parent_session_id: word(row.parent_session_id),
    source_tag: names.sourceTag,
    raw_source: names.rawSource,
    session_source: fold(word(row.source)) === 'fork' ? 'fork' : names.sessionSource,
    source_label: names.sourceLabel,
    messages,
    _recovered_from_state_db: true,
  };
}
