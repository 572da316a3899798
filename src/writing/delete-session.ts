/**
 * Deleting one session, wherever it is kept: by the rules of the Hermes Agent where only its store has the session (`spec/state-db-writes.md`
 * F11), by those of the Web UI where that keeps it (`spec/webui-transcript.md` 19).
 */
import { type DeleteInput, type DeleteResult, deleteSession } from '../state-db/write/delete-sessions.ts';
import { WriteRefused } from '../write-refused.ts';
import { profileFiles } from './cleanup.ts';
import { type Command, operationCommand } from './command.ts';
import { type CheckedDeleteInput, deleteWebUiSession } from './delete-web-ui-session.ts';
import { refusing } from './file-command.ts';
import { type DeletedSession, followsWebUi, planDeletion, type WebUiDeleteInput, type WebUiDeletion } from './plan-deletion.ts';
import { forgetSessions } from './session-files.ts';
import { WEB_UI_DELETION } from './unfinished.ts';

export interface DeleteSessionInput extends DeleteInput {
  /** What the Web UI's rules need; null or left out: only the store is looked at. */
  readonly webUi?: Omit<CheckedDeleteInput, keyof DeleteInput> | null;
}

/** `webUi` is left out where the rules of the Hermes Agent were followed. */
export type SessionDeletion = DeleteResult & { readonly webUi?: WebUiDeletion | null };

const deleteStored = operationCommand('deleteSession', deleteSession, {
  // For the files that are left, should this process end (K29).
  withReceipt: (result) => result,
  afterwards: (host, { deletedIds }) => forgetSessions(host, deletedIds),
});

export const deleteSessionCommand: Command<DeleteSessionInput, SessionDeletion> = async (host, { webUi = null, ...input }, envelope) => {
  if (webUi === null) return deleteStored(host, input, envelope);
  const { dryRun, clientMutationId: id } = envelope;
  // A repeat finds the session gone, and follows the rules of the first time.
  const earlier = dryRun || id === null ? null : host.receipts().find(id);
  const asked = { ...input, ...webUi };
  const isWebUi = earlier === null ? await refusing(() => followsWebUi(host, asked)) : earlier.mutation === WEB_UI_DELETION;
  return isWebUi ? deleteWebUiSession(host, asked, envelope) : deleteStored(host, input, envelope);
};

/** What a deletion would do, and every reason for which it would be refused. */
export interface DeletionPreview extends DeletedSession {
  readonly files: WebUiDeletion['files'];
  readonly refusals: readonly { readonly code: string; readonly message: string }[];
}

/** Changes nothing, whatever the envelope says. Throws NOT_FOUND, and VALIDATION for an id that no file may have. */
export const previewDeletion: Command<WebUiDeleteInput, DeletionPreview> = async (host, input) => {
  if (await refusing(() => followsWebUi(host, input))) {
    const { deletion, refusals } = await refusing(() => planDeletion(host, input));
    return { ...deletion, files: deletion.webUi.files, refusals: refusals.map(({ code, message }) => ({ code, message })) };
  }
  const { keepStateDb: _, force: __, profiles: ___, ...stored } = input;
  try {
    const { deletedIds, orphanedIds } = await deleteStored(host, stored, { dryRun: true, clientMutationId: null });
    return { deletedIds, orphanedIds, webUi: null, files: await profileFiles(host, deletedIds), refusals: [] };
  } catch (error) {
    if (!(error instanceof WriteRefused) || error.code !== 'SESSION_WRITE_GUARDED') throw error;
    return { deletedIds: [], orphanedIds: [], webUi: null, files: [], refusals: [{ code: error.code, message: error.message }] };
  }
};
