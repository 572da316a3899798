/**
 * Taking a session of another program into the Web UI: a file of its own under the same id (`spec/webui-listing.md` 16).
 */
import type { ClaimRefusal } from '../state-db/beside.ts';
import type { SqlRow } from '../state-db/decode.ts';
import type { StoreReading } from '../state-db/store-reading.ts';
import { claimable, claimedWorkspace, importAction, isDeletedHere } from '../web-ui/list/claim-policy.ts';
import { titleFromMessages } from '../web-ui/list/list-titles.ts';
import { fold, normaliseSource } from '../web-ui/list/source-class.ts';
import { ownProfile } from '../web-ui/own-sidecars.ts';
import { lastWorkspace } from '../web-ui/session-defaults.ts';
import { type Fields, finiteNumber, word } from '../web-ui/sidecar/coercions.ts';
import { readSidecar } from '../web-ui/sidecar/read-sidecar.ts';
import { writeSidecar } from '../web-ui/sidecar/write-sidecar.ts';
import { readTombstones } from '../web-ui/tombstones.ts';
import { withoutRowId } from '../web-ui/transcript/state-message.ts';
import { readStateMessages } from '../web-ui/transcript/state-messages.ts';
import { WriteRefused } from '../write-refused.ts';
import { type CommandHost, reading } from './command.ts';
import { fileCommand, repeatedly, sessionsDirOf } from './file-command.ts';
import { profileDefaults } from './profile-defaults.ts';

export interface ImportSessionInput {
  readonly sessionId: string;
  readonly profiles: readonly string[];
}

export interface ImportedSession {
  readonly sessionId: string;
  /** A file was, or would be, made. */
  readonly imported: boolean;
  /** Why the session can only be looked at: no file was made. */
  readonly readOnlyBecause: ClaimRefusal | null;
  readonly messageCount: number;
}

const COLUMNS = ['id', 'source', 'title', 'model', 'started_at', 'ended_at', 'cwd', 'parent_session_id'] as const;
const FALLBACK_TITLE = 'CLI Session';
const VIEWED: ReadonlySet<string> = new Set(['claude_code', 'subagent']);

/** A session that has a file keeps it as it is. Throws NOT_FOUND for one without a transcript, or that was deleted in the Web UI. */
export const importSessionCommand = fileCommand<ImportSessionInput, ImportedSession>('importSession', {
  work: async (host, { sessionId, profiles }, dryRun, planned) =>
    repeatedly(false, async () => {
      const present = await readSidecar(sessionsDirOf(host), sessionId);
      const { row, messages } = await transcriptOf(host, sessionId);
      const source = word(row?.source);
      const names = normaliseSource(source);
      const action = importAction({
        stored: present === null ? null : present.messages.map(comparable),
        external: messages.map(comparable),
        isRicher: false,
        isOtherProfile: present !== null && !ownProfile(host.profile, profiles)(present.row.profile),
        isReadOnly: VIEWED.has(fold(source)),
      });
      if (action === 'NOT_FOUND') throw new WriteRefused('NOT_FOUND');
      if (present !== null) return { sessionId, imported: false, readOnlyBecause: null, messageCount: present.messages.length };
      if (row === null) throw new WriteRefused('NOT_FOUND');
      await refuseDeleted(host, sessionId, source);
      const claim = claimable({ ...names, readOnly: false }, source);
      if (action === 'VIEW_ONLY' || !claim.ok) {
        return {
          sessionId,
          imported: false,
          readOnlyBecause: claim.reason ?? 'READ_ONLY',
          messageCount: messages.length,
        };
      }
      const result = { sessionId, imported: true, readOnlyBecause: null, messageCount: messages.length };
      if (dryRun) return result;
      const fields = await fieldsOf(host, row, messages);
      planned(result);
      await writeSidecar(sessionsDirOf(host), sessionId, fields, { mustBeNew: true });
      return result;
    }),
  /** A file that is there is the one that was planned: the id is the session's own. */
  wasMade: async (host, { sessionId, imported }) => imported && (await readSidecar(sessionsDirOf(host), sessionId)) !== null,
});

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

function comparable(message: unknown): string {
  const { role = null, content = null, tool_call_id = null } = (message ?? {}) as Fields;
  return JSON.stringify([role, content, tool_call_id]);
}

/** A row of the index alone proves no deletion: its file may be lost (`spec/webui-recovery.md` D22). */
async function refuseDeleted(host: CommandHost, sessionId: string, source: string | null): Promise<void> {
  const { ids } = await readTombstones(sessionsDirOf(host), 'DELETED');
  if (isDeletedHere(null, ids.has(sessionId), source))
    throw new WriteRefused('NOT_FOUND', 'It was deleted in the Web UI.', { details: { reason: 'DELETED' } });
}

async function fieldsOf(host: CommandHost, row: SqlRow, messages: readonly Fields[]): Promise<Fields> {
  const names = normaliseSource(word(row.source));
  const last = await lastWorkspace((await profileDefaults(host)).places);
  const startedAt = finiteNumber(row.started_at);
  return {
    title: word(row.title) ?? titleFromMessages(messages, FALLBACK_TITLE),
    workspace: claimedWorkspace(null, word(row.cwd), last),
    model: word(row.model) ?? 'unknown',
    created_at: startedAt,
    updated_at: finiteNumber(row.ended_at) ?? startedAt,
    profile: host.profile,
    parent_session_id: word(row.parent_session_id),
    is_cli_session: true,
    source_tag: names.sourceTag,
    raw_source: names.rawSource,
    session_source: names.sessionSource,
    source_label: names.sourceLabel,
    messages,
  };
}
