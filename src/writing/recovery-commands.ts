/**
 * Recoveries of session files as commands (`spec/webui-recovery.md` 11 to 14). Who is stopped in the middle has changed a file as a whole or not at
 * all, so a repeat only finds less to do; but for an undo, which has to know that it was done.
 */

import { randomUUID } from 'node:crypto';
import { runJournalRoot } from '../live/journal/ids.ts';
import { type JudgedTurn, judgeTurn } from '../web-ui/recovery/judge-turn.ts';
import { type OutputPreview, previewOutput } from '../web-ui/recovery/output-preview.ts';
import {
  clearStaleRun,
  type RecoveryOptions,
  type RecoverySources,
  repairSession,
  retrySession,
  type SessionRecovery,
  syncSession,
  undoSession,
} from '../web-ui/recovery/recover-session.ts';
import { readRunJournal } from '../web-ui/recovery/run-lines.ts';
import { readMetadata } from '../web-ui/sidecar/read-metadata.ts';
import { isNoSession, type SidecarRow } from '../web-ui/sidecar/sidecar-row.ts';
import { WriteRefused } from '../write-refused.ts';
import type { Command } from './command.ts';
import { fileCommand, sessionsDirOf } from './file-command.ts';
import { judgingSources, recoverySources } from './recovery-sources.ts';

export interface RecoverInput extends Omit<RecoveryOptions, 'dryRun'> {
  readonly sessionId: string;
}

export interface RecoverManyInput extends Omit<RecoveryOptions, 'dryRun'> {
  readonly sessionIds: readonly string[];
}

export interface UndoInput {
  readonly sessionId: string;
  readonly turns: number;
}

/** `generation`: what the file says of this change. */
export type UndoneSession = RecoveredSession & { readonly generation: string };

export type RecoveredSession = SessionRecovery & { readonly sessionId: string };

export interface RecoveredMany {
  readonly recoveries: readonly RecoveredSession[];
  /** Files that could not be changed at all. */
  readonly failed: readonly { readonly sessionId: string; readonly code: string; readonly message: string }[];
}

type Recovery = (sources: RecoverySources, id: string, options: RecoveryOptions) => Promise<SessionRecovery>;

export const RECOVERY_COMMANDS = {
  repairStalePending: recoveryCommand('repairStalePending', repairSession),
  clearStaleStream: recoveryCommand('clearStaleStream', clearStaleRun),
  retryJournalRecovery: recoveryCommand('retryJournalRecovery', retrySession),
  syncSidecarFromStateDb: recoveryCommand('syncSidecarFromStateDb', syncSession),
  undoSidecarTurns: fileCommand<UndoInput, UndoneSession>('undoSidecarTurns', {
    work: async (host, { sessionId, turns }, dryRun, planned) => {
      const generation = randomUUID().replaceAll('-', '');
      const undo = async (isDry: boolean) => {
        const undone = await undoSession(recoverySources(host), sessionId, { turns, generation, dryRun: isDry });
        return { ...undone, sessionId, generation };
      };
      const plan = await undo(true);
      if (dryRun || !plan.applied) return plan;
      planned(plan);
      return undo(false);
    },
    /** Done again it would take back more. */
    wasMade: async (host, { sessionId, generation }) =>
      (await readMetadata(sessionsDirOf(host), sessionId))?.truncation.shrinkGeneration === generation,
  }),
  repairStalePendingMany: fileCommand<RecoverManyInput, RecoveredMany>('repairStalePendingMany', {
    work: async (host, { sessionIds, ...options }, dryRun) => {
      const recoveries: RecoveredSession[] = [];
      const failed: { sessionId: string; code: string; message: string }[] = [];
      for (const sessionId of sessionIds) {
        try {
          recoveries.push({ ...(await repairSession(recoverySources(host), sessionId, { ...options, dryRun })), sessionId });
        } catch (error) {
          if (!(error instanceof WriteRefused)) throw error;
          failed.push({ sessionId, code: error.code, message: error.message });
        }
      }
      return { recoveries, failed };
    },
  }),
} as const;

function recoveryCommand(name: string, recover: Recovery): Command<RecoverInput, RecoveredSession> {
  return fileCommand<RecoverInput, RecoveredSession>(name, {
    work: async (host, { sessionId, ...options }, dryRun) => ({
      ...(await recover(recoverySources(host), sessionId, { ...options, dryRun })),
      sessionId,
    }),
  });
}

/** What there is to say of the turns of sessions; those without a file or a turn are left out. Changes nothing. */
export const judgeTurns: Command<{ readonly ids: readonly string[] }, readonly (readonly [string, JudgedTurn])[]> = async (
  host,
  { ids },
) => {
  const waiting: SidecarRow[] = [];
  for (const id of ids) {
    const row = await readMetadata(sessionsDirOf(host), id);
    if (row !== null && !isNoSession(row) && (row.pending !== null || row.activeStreamId !== null)) waiting.push(row);
  }
  if (waiting.length === 0) return [];
  const sources = await judgingSources(
    host,
    waiting.map(({ id }) => id),
  );
  const found: [string, JudgedTurn][] = [];
  for (const row of waiting) found.push([row.id, await judgeTurn(sources, row, { needsPrompt: row.pending !== null })]);
  return found;
};

/** What of the answer of a run lies in its journal; null for a run without one. Changes nothing. */
export const previewRunOutput: Command<{ readonly sessionId: string; readonly runId: string }, OutputPreview | null> = async (
  host,
  { sessionId, runId },
) => {
  const journal = await readRunJournal(runJournalRoot(sessionsDirOf(host)), { sessionId, runId });
  return journal === null ? null : previewOutput(journal, { sessionId, streamId: runId, now: host.now() });
};
