/**
 * The focused continuation of a session whose context could not be compressed any further (`spec/webui-recovery.md` 19.3): a new session
 * without messages, once for each exhausted one.
 */
import { createHash } from 'node:crypto';
import { compressionRecoveryOf, FOCUSED_CONTINUATION } from '../web-ui/compression-recovery.ts';
import { putIndexRow } from '../web-ui/index-file/patch-index.ts';
import { ownProfile } from '../web-ui/own-sidecars.ts';
import type { Fields } from '../web-ui/sidecar/coercions.ts';
import { readMetadata } from '../web-ui/sidecar/read-metadata.ts';
import { readSidecar } from '../web-ui/sidecar/read-sidecar.ts';
import { refuseOverlay } from '../web-ui/sidecar/save-sidecar.ts';
import { isNoSession, type SidecarRow } from '../web-ui/sidecar/sidecar-row.ts';
import { writeSidecar } from '../web-ui/sidecar/write-sidecar.ts';
import { readTombstones } from '../web-ui/tombstones.ts';
import { WriteRefused } from '../write-refused.ts';
import { asked } from './audited-store.ts';
import type { CommandHost } from './command.ts';
import { fileCommand, sessionsDirOf } from './file-command.ts';

export interface StartRecoveryInput {
  /** The exhausted session. */
  readonly sessionId: string;
  readonly profiles: readonly string[];
}

export interface StartedRecovery {
  readonly created: boolean;
  /** The continuation. */
  readonly sessionId: string;
  readonly sourceSessionId: string;
  readonly action: string;
}

const SUFFIX = ' (focused continuation)';
/** Hex digits, as of the owner's own ids. */
const ID_LENGTH = 12;
const MOST_IDS = 100;
const HAS_ROW = 'SELECT 1 FROM sessions WHERE id = ?';

/**
 * The caller has looked for one that is there. The id follows from the exhausted session, so that of two servers at once the second finds
 * the file of the first. Throws SIDECAR_MISSING, SIDECAR_CORRUPT, NOT_FOUND for a session of another profile, NOT_EXHAUSTED.
 */
export const startCompressionRecovery = fileCommand<StartRecoveryInput, StartedRecovery>('startCompressionRecovery', {
  work: async (host, { sessionId, profiles }, dryRun, planned) => {
    const dir = sessionsDirOf(host);
    await refuseOverlay(dir, {});
    const source = await readSidecar(dir, sessionId);
    if (source === null) throw new WriteRefused('SIDECAR_MISSING');
    if (isNoSession(source.row)) throw new WriteRefused('SIDECAR_CORRUPT');
    if (!ownProfile(host.profile, profiles)(source.row.profile)) throw new WriteRefused('NOT_FOUND');
    if (compressionRecoveryOf(source.row) === null) throw new WriteRefused('NOT_EXHAUSTED');
    const deleted = (await readTombstones(dir, 'DELETED')).ids;
    for (let attempt = 0; attempt < MOST_IDS; attempt += 1) {
      const id = idOf(sessionId, attempt);
      const result = { created: true, sessionId: id, sourceSessionId: sessionId, action: FOCUSED_CONTINUATION };
      // One that was deleted, or whose file is lost, is another.
      if (deleted.has(id) || (await isInStore(host, id))) continue;
      if ((await readMetadata(dir, id)) === null) {
        if (dryRun) return result;
        planned(result);
        if (await create(host, id, source.row)) return result;
      }
      const present = await readMetadata(dir, id);
      if (present !== null && answers(present, sessionId)) return { ...result, created: false };
    }
    throw new WriteRefused('CONFLICT');
  },
  wasMade: async (host, { sessionId }) => {
    if ((await readMetadata(sessionsDirOf(host), sessionId)) === null) return false;
    await putIndexRow(sessionsDirOf(host), sessionId);
    return true;
  },
});

function idOf(sourceId: string, attempt: number): string {
  return createHash('sha256').update(`${FOCUSED_CONTINUATION}\n${sourceId}\n${attempt}`).digest('hex').slice(0, ID_LENGTH);
}

async function isInStore(host: CommandHost, id: string): Promise<boolean> {
  return asked(host, (store) => store.all(HAS_ROW, [id]).length > 0, false);
}

function answers({ compressionRecovery: { sourceSessionId, action } }: SidecarRow, sourceId: string): boolean {
  return sourceSessionId === sourceId && action === FOCUSED_CONTINUATION;
}

/** False where a file of that name came meanwhile. */
async function create(host: CommandHost, id: string, source: SidecarRow): Promise<boolean> {
  try {
    await writeSidecar(sessionsDirOf(host), id, fieldsOf(source, host.now()), { mustBeNew: true });
  } catch (error) {
    if (error instanceof WriteRefused && error.code === 'CONFLICT') return false;
    throw error;
  }
  await putIndexRow(sessionsDirOf(host), id);
  return true;
}

function fieldsOf(source: SidecarRow, now: number): Fields {
  const { worktree, context } = source;
  return {
    title: titleOf(source.title ?? 'Untitled'),
    workspace: source.workspace,
    model: source.model ?? '',
    model_provider: source.modelProvider,
    created_at: now,
    updated_at: now,
    project_id: source.projectId,
    profile: source.profile,
    personality: source.personality,
    context_length: context.length,
    threshold_tokens: context.thresholdTokens,
    compression_recovery_source_session_id: source.id,
    compression_recovery_action: FOCUSED_CONTINUATION,
    gateway_routing: source.gatewayRouting,
    gateway_routing_history: source.gatewayRoutingHistory,
    parent_session_id: source.id,
    worktree_path: worktree?.path ?? null,
    worktree_branch: worktree?.branch ?? null,
    worktree_repo_root: worktree?.repoRoot ?? null,
    worktree_created_at: worktree?.createdAt ?? null,
    session_source: 'fork',
    enabled_toolsets: source.enabledToolsets,
    composer_draft: { text: '', files: [] },
    messages: [],
  };
}

function titleOf(title: string): string {
  return title.endsWith(SUFFIX) ? title : `${title}${SUFFIX}`;
}
