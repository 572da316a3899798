/**
 * The folder that stands in for one that is gone, written into a session's file (`spec/webui-listing.md` 17.2, 17.3).
 */
import { saveMetadata } from '../web-ui/sidecar/save-sidecar.ts';
import { WriteRefused } from '../write-refused.ts';
import { boundWorkspaces } from './bind-workspaces.ts';
import { fileCommand, repeatedly, sessionsDirOf } from './file-command.ts';
import { type FileResult, told } from './sidecar-commands.ts';

const REASONS = {
  MISSING: 'The folder is gone, and this profile has no last folder that may stand in for it.',
  UNTRUSTED: 'The folder is not gone: it may not be a workspace, or can not be looked at.',
  REMOTE: "The profile's commands run elsewhere, so whether the folder is gone can not be told here.",
} as const;

export interface RecoverWorkspaceInput {
  readonly sessionId: string;
  /** The folder that the caller saw in the file. */
  readonly expected: string;
}

export interface RecoveredWorkspace extends FileResult {
  /** As the file says now, or would say. */
  readonly workspace: string | null;
}

/**
 * Unchanged where the expected folder can be used, or the file has the other one already. Throws CONFLICT for a file with another folder than
 * was expected, VALIDATION where nothing may stand in, and as `saveMetadata`.
 */
export const recoverWorkspace = fileCommand<RecoverWorkspaceInput, RecoveredWorkspace>('recoverWorkspace', {
  work: async (host, { sessionId, expected }, dryRun) => {
    const { bindings } = await boundWorkspaces(host, [expected]);
    const [binding] = bindings;
    if (binding === undefined) throw new Error('A folder was looked at without an answer.');
    const { state } = binding;
    const workspace = binding.recovered ? binding.resolved : null;
    const request = {
      id: sessionId,
      set: workspace === null ? {} : { workspace },
      swap: { workspace: expected },
      updatedAt: null,
      refuse: { readOnly: true, underWay: false },
    };
    const isPreview = dryRun || workspace === null;
    const saved = await repeatedly(false, () => saveMetadata(sessionsDirOf(host), request, { dryRun: isPreview, now: host.now }));
    if (workspace === null && state !== 'OK') throw new WriteRefused('VALIDATION', REASONS[state], { details: { state } });
    return { ...told(sessionId, saved), workspace: saved.row.workspace };
  },
});
