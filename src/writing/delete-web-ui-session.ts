/**
 * Deleting a session that the Web UI keeps: its files, then its rows (`spec/webui-transcript.md` 19). What is to be done is in a receipt before the
 * first file goes, and every step may run again, so that a deletion that was cut off anywhere is finished by the next process.
 */
import { randomBytes } from 'node:crypto';
import { isJsonObject } from '../state-db/decode.ts';
import { SessionGraph } from '../state-db/write/session-graph.ts';
import { publishManifest } from '../web-ui/deletion/cleanup-manifests.ts';
import { planLineageRemoval, removeLineage } from '../web-ui/deletion/lineage-removal.ts';
import { removeWebUiFiles, webUiPlaces } from '../web-ui/deletion/session-files.ts';
import { WriteRefused } from '../write-refused.ts';
import { type CleanupOutcome, drainManifests, withCleanupLock } from './cleanup.ts';
import { type Command, type CommandHost, once } from './command.ts';
import { refusing } from './file-command.ts';
import { forgetPending } from './forget-pending.ts';
import {
  type DeletedSession,
  type DeletionPlan,
  type DeletionTarget,
  type PlannedDeletion,
  planDeletion,
  type WebUiDeleteInput,
} from './plan-deletion.ts';
import { WEB_UI_DELETION } from './unfinished.ts';

export interface CheckedDeleteInput extends WebUiDeleteInput {
  /** The signature of each session file in which no turn was seen running, null for a session without one. Null: that was not looked at. */
  readonly checked: Readonly<Record<string, string | null>> | null;
}

const TOKEN_BYTES = 16;

/**
 * Throws what `planDeletion` throws and finds, CONFLICT where a session file is another than the one that was checked, and with nothing done
 * CLEANUP_LOCK_UNAVAILABLE. Where only the rest can't be done, `pendingIds` says of which sessions.
 */
export const deleteWebUiSession: Command<CheckedDeleteInput, DeletedSession> = async (host, input, { dryRun, clientMutationId }) => {
  const { checked, profiles: _, ...asked } = input;
  const plan = () => refusing(async () => unlessRefused(await planDeletion(host, input)));
  if (dryRun) return plan();
  const id = clientMutationId ?? host.mintUid();
  const result = await once<DeletedSession>(
    host,
    { id, name: WEB_UI_DELETION, input: asked },
    async (planned) => perform(host, await plan(), checked, planned),
    (planned) => finishDeletion(host, planned),
    isFinal,
  );
  if (isFinal(result)) host.receipts().settled(id);
  return result;
};

/**
 * Finishes a deletion whose process is gone, from what its receipt says. A session whose file was written again since lives, and keeps what it
 * has. Throws `WriteRefused` where something still can't be done.
 */
export async function finishDeletion(host: CommandHost, planned: unknown): Promise<boolean> {
  if (!isPlanned(planned)) return false;
  const result = await underLock(host, planned, () => carryOut(host, planned, true));
  if (!isFinal(result)) throw new WriteRefused('INDETERMINATE', '', { details: { pendingIds: result.webUi.pendingIds } });
  return true;
}

function isPlanned(planned: unknown): planned is PlannedDeletion {
  return isJsonObject(planned) && isJsonObject(planned.webUi) && Array.isArray(planned.webUi.targets);
}

function isFinal({ webUi }: DeletedSession): boolean {
  return webUi === null || webUi.pendingIds.length === 0;
}

function unlessRefused({ deletion, refusals: [refusal] }: DeletionPlan): PlannedDeletion {
  if (refusal !== undefined) throw refusal;
  return deletion;
}

async function perform(
  host: CommandHost,
  deletion: PlannedDeletion,
  checked: CheckedDeleteInput['checked'],
  planned: (result: DeletedSession) => void,
): Promise<PlannedDeletion> {
  const { targets } = deletion.webUi;
  const isOther = ({ id, ownsFiles, signature }: DeletionTarget) => ownsFiles && checked !== null && checked[id] !== signature;
  if (targets.some(isOther)) throw new WriteRefused('CONFLICT');
  if (targets.length === 0) return deletion;
  return underLock(host, deletion, () => {
    planned(deletion);
    return carryOut(host, deletion, false);
  });
}

function underLock(host: CommandHost, { webUi }: PlannedDeletion, work: () => Promise<PlannedDeletion>): Promise<PlannedDeletion> {
  if (!webUi.targets.some(({ deletesRow }) => deletesRow)) return work();
  return withCleanupLock(host, async () => {
    await drainManifests(host, 'RECOVERY');
    return work();
  });
}

/** What is told is thrown only while nothing was done yet. */
async function carryOut(host: CommandHost, deletion: PlannedDeletion, isRepeat: boolean): Promise<PlannedDeletion> {
  const { targets, files } = deletion.webUi;
  const outcomes = new Map<string, 'GONE' | 'LIVES' | 'LEFT'>();
  for (const target of targets) outcomes.set(target.id, await removeFiles(host, target, isRepeat || outcomes.size > 0));
  const lives = (id: string) => outcomes.get(id) === 'LIVES';
  const rowTargets = targets.filter(({ id, deletesRow }) => deletesRow && !lives(id)).map(({ id }) => id);
  const isBegun = isRepeat || files.some(({ home }) => home !== 'PROFILE');
  const rows = await removeRows(host, rowTargets, deletion.deletedIds, isBegun);
  const left = targets.filter(({ id }) => outcomes.get(id) === 'LEFT').map(({ id }) => id);
  const { pendingIds: pendingArtifacts, blockedManifests } = rows ?? { pendingIds: rowTargets, blockedManifests: [] };
  return {
    ...deletion,
    deletedIds: deletion.deletedIds.filter((id) => !lives(id)),
    webUi: {
      ...deletion.webUi,
      rowsDeleted: rows !== null && deletion.webUi.rowsDeleted,
      pendingIds: [...new Set([...left, ...(rows === null ? rowTargets : [])])],
      pendingArtifacts,
      blockedManifests,
    },
  };
}

async function removeFiles(host: CommandHost, target: DeletionTarget, isBegun: boolean): Promise<'GONE' | 'LIVES' | 'LEFT'> {
  if (!target.ownsFiles) return 'GONE';
  try {
    const outcome = await removeWebUiFiles(webUiPlaces(host.webUiDir, process.env), target.id, target);
    if (outcome === 'LIVES' && !isBegun) throw new WriteRefused('CONFLICT');
    return outcome;
  } catch (error) {
    if (!isBegun || !(error instanceof WriteRefused)) throw error;
    return 'LEFT';
  }
}

/** In one transaction, with the manifest on the disk before its commit. Null where that can't be done now and files are gone already. */
async function removeRows(
  host: CommandHost,
  targets: readonly string[],
  among: readonly string[],
  isBegun: boolean,
): Promise<CleanupOutcome | null> {
  if (targets.length === 0) return { pendingIds: [], blockedManifests: [], drained: [] };
  const token = randomBytes(TOKEN_BYTES).toString('hex');
  let ids: readonly string[];
  try {
    ids = await host.writer.write(
      (transaction) => {
        const removal = planLineageRemoval(transaction, new SessionGraph(transaction), targets, host.now(), among);
        removeLineage(transaction, removal);
        return removal.ids;
      },
      { patience: 'ROUTINE', touchesMessages: true, beforeCommit: (removed) => publish(host, token, removed) },
    );
  } catch (error) {
    if (!isBegun || !(error instanceof WriteRefused)) throw error;
    return null;
  }
  for (const id of ids) await forgetPending(host, id, host.now(), { wasDeleted: true });
  return drainManifests(host, 'AFTER_COMMIT');
}

function publish(host: CommandHost, token: string, ids: readonly string[]): void {
  try {
    publishManifest(host.home, token, ids);
  } catch (error) {
    throw new WriteRefused('FILE_NOT_WRITTEN', 'The record of what is to be cleaned up could not be made.', { cause: error });
  }
}
