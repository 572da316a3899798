/**
 * Commands on the Web UI's files: in the writing process, so that they have receipts and no file is read whole on the server's thread.
 */

import { bindWorkspaces } from './bind-workspaces.ts';
import { createWebUiSession } from './create-web-ui-session.ts';
import { importSessionCommand } from './import-session.ts';
import { JOURNAL_COMMANDS } from './journal-commands.ts';
import { materializeSidecars } from './materialize-sidecars.ts';
import { PROJECT_COMMANDS } from './project-commands.ts';
import { recoverWorkspace } from './recover-workspace.ts';
import { judgeTurns, previewRunOutput, RECOVERY_COMMANDS } from './recovery-commands.ts';
import { repairSafe } from './repair-safe.ts';
import { restoreFromBackup } from './restore-from-backup.ts';
import { clearPause, collapsePartials, inspectBackups, updateSidecar } from './sidecar-commands.ts';
import { startCompressionRecovery } from './start-compression-recovery.ts';
import { UPKEEP_COMMANDS } from './upkeep-commands.ts';

export const WEB_UI_COMMANDS = {
  bindWorkspaces,
  inspectBackups,
  updateSession: updateSidecar,
  clearWakeupPause: clearPause,
  persistCollapsedPartials: collapsePartials,
  recoverWorkspace,
  ...PROJECT_COMMANDS,
  importSession: importSessionCommand,
  createWebUiSession,
  restoreFromBackup,
  materializeSidecars,
  repairSafe,
  startCompressionRecovery,
  ...UPKEEP_COMMANDS,
  ...JOURNAL_COMMANDS,
  judgeTurns,
  previewRunOutput,
  ...RECOVERY_COMMANDS,
} as const;
