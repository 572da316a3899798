/**
 * Taking a session of another program into the Web UI: a file of its own under the same id (`spec/webui-listing.md` 16).
 */
import type { ClaimRefusal } from '../state-db/beside.ts';
import type { SqlRow } from '../state-db/decode.ts';
import type { StoreReading } from '../state-db/store-reading.ts';
import { readCronJobNames } from '../web-ui/cron-jobs.ts';
import { claimable, claimedWorkspace, isDeletedHere, isOwnSource } from '../web-ui/list/claim-policy.ts';
import { cronJobName, titleFromMessages } from '../web-ui/list/list-titles.ts';
import { fold, isCron, normaliseSource } from '../web-ui/list/source-class.ts';
import { ownProfile } from '../web-ui/own-sidecars.ts';
import { messagesGained, type RefreshRequest, refreshImport } from '../web-ui/refresh-import.ts';
import { lastWorkspace } from '../web-ui/session-defaults.ts';
import { type Fields, finiteNumber, word } from '../web-ui/sidecar/coercions.ts';
import type { EditOutcome } from '../web-ui/sidecar/edit-sidecar.ts';
import { readMetadata } from '../web-ui/sidecar/read-metadata.ts';
import { MAX_INLINE_BYTES } from '../web-ui/sidecar/read-sidecar.ts';
import { saveEdited } from '../web-ui/sidecar/save-sidecar.ts';
import type { SidecarRow } from '../web-ui/sidecar/sidecar-row.ts';
import { inSidecarThread } from '../web-ui/sidecar/sidecar-threads.ts';
import { writeSidecar } from '../web-ui/sidecar/write-sidecar.ts';
import { readTombstones } from '../web-ui/tombstones.ts';
import { withoutRowId } from '../web-ui/transcript/state-message.ts';
import { readStateMessages } from '../web-ui/transcript/state-messages.ts';
import { WriteRefused } from '../write-refused.ts';
import { type CommandHost, reading } from './command.ts';
import { fileCommand, repeatedly, sessionsDirOf } from './file-command.ts';
import { profileDefaults } from './profile-defaults.ts';
import { systemProjectOf } from './project-commands.ts';

export interface ImportSessionInput {
  readonly sessionId: string;
  readonly profiles: readonly string[];
}

export interface ImportedSession {
  readonly sessionId: string;
  /** A file was, or would be, made. */
  readonly imported: boolean;
  /** The file that was there was, or would be, changed. */
  readonly changed: boolean;
  /** Why the session can only be looked at. */
  readonly readOnlyBecause: ClaimRefusal | null;
  readonly messageCount: number;
  /** How many of them the file did not have. */
  readonly addedMessages: number;
  readonly mayBeOverwritten: boolean;
}

/** Who a chat was with. */
const CHAT_COLUMNS = ['user_id', 'chat_id', 'chat_type', 'thread_id', 'session_key'] as const;
const COLUMNS = ['id', 'source', 'title', 'model', 'started_at', 'ended_at', 'cwd', 'parent_session_id', ...CHAT_COLUMNS] as const;
const FALLBACK_TITLE = 'CLI Session';
const CRON_TITLE = 'Cron Session';
const VIEWED: ReadonlySet<string> = new Set(['claude_code', 'subagent']);
const NOTHING_DONE = { imported: false, changed: false, addedMessages: 0, mayBeOverwritten: false } as const;

/**
 * A session that has a file gets what its own program wrote since. Throws NOT_FOUND for one without a transcript, of another profile, or that was
 * deleted in the Web UI; for a file as `saveEdited`.
 */
export const importSessionCommand = fileCommand<ImportSessionInput, ImportedSession>('importSession', {
  work: async (host, { sessionId, profiles }, dryRun, planned) =>
    repeatedly(false, async () => {
      const present = await readMetadata(sessionsDirOf(host), sessionId);
      if (present !== null && !ownProfile(host.profile, profiles)(present.profile)) throw new WriteRefused('NOT_FOUND');
      const { row, messages } = await transcriptOf(host, sessionId);
      if (present !== null) return refreshed(host, present, row, messages, dryRun);
      if (row === null || messages.length === 0) throw new WriteRefused('NOT_FOUND');
      const source = word(row.source);
      await refuseDeleted(host, sessionId, source);
      const isViewed = VIEWED.has(fold(source));
      const result = {
        ...NOTHING_DONE,
        sessionId,
        imported: !isViewed,
        readOnlyBecause: claimable({ ...normaliseSource(source), readOnly: false }, source).reason,
        messageCount: messages.length,
        addedMessages: isViewed ? 0 : messages.length,
      };
      if (isViewed || dryRun) return result;
      const fields = await fieldsOf(host, row, messages);
      planned(result);
      await writeSidecar(sessionsDirOf(host), sessionId, fields, { mustBeNew: true });
      return result;
    }),
  /** A file that is there is the one that was planned: the id is the session's own. */
  wasMade: async (host, { sessionId, imported }) => imported && (await readMetadata(sessionsDirOf(host), sessionId)) !== null,
});

async function refreshed(
  host: CommandHost,
  present: SidecarRow,
  row: SqlRow | null,
  messages: readonly Fields[],
  dryRun: boolean,
): Promise<ImportedSession> {
  const { id: sessionId } = present;
  const source = word(row?.source);
  if (row === null) {
    return {
      ...NOTHING_DONE,
      sessionId,
      readOnlyBecause: claimable(present, source).reason,
      messageCount: present.storedMessageCount ?? 0,
    };
  }
  const request = { id: sessionId, source, parentSessionId: word(row.parent_session_id), messages };
  let addedMessages = 0;
  const edit = async (bytes: Buffer) => {
    const outcome = await refreshing(bytes, request);
    addedMessages = messagesGained(outcome);
    return outcome;
  };
  const saved = await saveEdited(sessionsDirOf(host), sessionId, { edit, mayDrop: false }, { dryRun, now: host.now });
  return {
    sessionId,
    imported: false,
    changed: saved.changed,
    readOnlyBecause: claimable(saved.row, source).reason,
    messageCount: saved.row.storedMessageCount ?? 0,
    addedMessages,
    mayBeOverwritten: saved.changed && saved.mayBeOverwritten,
  };
}

function refreshing(bytes: Buffer, request: RefreshRequest): EditOutcome | Promise<EditOutcome> {
  return bytes.length <= MAX_INLINE_BYTES ? refreshImport(bytes, request) : inSidecarThread({ task: 'REFRESH', bytes, request });
}

async function transcriptOf(host: CommandHost, sessionId: string): Promise<{ row: SqlRow | null; messages: readonly Fields[] }> {
  return reading(host, (store) => ({
    row: sessionRow(store, sessionId),
    messages: readStateMessages(store, sessionId, { stitch: true }).messages.map(withoutRowId),
  }));
}

function sessionRow(store: StoreReading, sessionId: string): SqlRow | null {
  const columns = COLUMNS.filter((column) => store.shape.hasColumn('sessions', column));
  return store.all(`SELECT ${columns.map((column) => `"${column}"`).join(', ')} FROM sessions WHERE id = ?`, [sessionId])[0] ?? null;
}

/** A row of the index alone proves no deletion: its file may be lost (`spec/webui-recovery.md` D22). */
async function refuseDeleted(host: CommandHost, sessionId: string, source: string | null): Promise<void> {
  const { ids } = await readTombstones(sessionsDirOf(host), 'DELETED');
  if (isDeletedHere(null, ids.has(sessionId), source))
    throw new WriteRefused('NOT_FOUND', 'It was deleted in the Web UI.', { details: { reason: 'DELETED' } });
}

async function fieldsOf(host: CommandHost, row: SqlRow, messages: readonly Fields[]): Promise<Fields> {
  const source = word(row.source);
  const names = normaliseSource(source);
  const last = await lastWorkspace((await profileDefaults(host)).places);
  const startedAt = finiteNumber(row.started_at);
  const id = word(row.id) ?? '';
  const isOfCron = isCron(id, fold(source));
  const untitled = isOfCron
    ? (cronJobName(id, await readCronJobNames(host.home)) ?? CRON_TITLE)
    : titleFromMessages(messages, FALLBACK_TITLE);
  const project = isOfCron ? await systemProjectOf(host, 'CRON') : null;
  return {
    title: word(row.title) ?? untitled,
    workspace: claimedWorkspace(null, word(row.cwd), last),
    model: word(row.model) ?? 'unknown',
    created_at: startedAt,
    updated_at: finiteNumber(row.ended_at) ?? startedAt,
    project_id: project?.id ?? null,
    profile: host.profile,
    parent_session_id: word(row.parent_session_id),
    is_cli_session: !isOwnSource(source),
    source_tag: names.sourceTag,
    raw_source: names.rawSource,
    session_source: names.sessionSource,
    source_label: names.sourceLabel,
    messages,
    ...Object.fromEntries(CHAT_COLUMNS.flatMap((key) => (word(row[key]) === null ? [] : [[key, row[key]]]))),
  };
}
