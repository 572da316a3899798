/**
 * The process of one long piece of work on a store: it has no other connection to it, may take minutes, and may be killed at any moment
 * without harm.
 */
import { checkStore } from '../state-db/repair/check-store.ts';
import { optimizeStore } from '../state-db/repair/optimize.ts';
import { rebuildIndex } from '../state-db/repair/rebuild-index.ts';
import { repairStore } from '../state-db/repair/repair.ts';
import { WriteRefused } from '../write-refused.ts';
import type { FromMaintenance, MaintenanceRequest } from './maintenance-protocol.ts';

function send(message: FromMaintenance): void {
  if (process.connected) process.send?.(message);
}

function tell(step: string, done: number | null = null, total: number | null = null): void {
  send({ kind: 'STEP', step: { step, done, total } });
}

async function run({ path, job, ours, quarantined, cjkLibrary }: MaintenanceRequest): Promise<unknown> {
  const admission = { ours: new Set(ours), quarantined };
  switch (job.kind) {
    case 'CHECK':
      return checkStore(path, { deep: job.deep, writeProbe: job.writeProbe, quarantined });
    case 'REPAIR':
      return repairStore(path, {
        ...admission,
        confirmFingerprint: job.confirmFingerprint,
        backup: job.backup,
        onStep: (step) => tell(step),
      });
    case 'REBUILD_INDEX':
      return rebuildIndex(path, {
        ...admission,
        ...(job.tables === null ? {} : { tables: job.tables }),
        ...(cjkLibrary === null ? {} : { tokenizer: cjkLibrary }),
        dryRun: job.dryRun,
        lastRebuildAt: job.lastRebuildAt,
        onProgress: ({ done, total, next }) => tell(next === null ? 'finishing' : `rebuilding ${next}`, done, total),
      });
    case 'OPTIMIZE':
      return optimizeStore(path, { ...admission, onStep: (step) => tell(step) });
  }
}

process.on('message', (request: MaintenanceRequest) => {
  run(request)
    .then(
      (result) => send({ kind: 'DONE', result }),
      (error: unknown) => {
        const isRefusal = error instanceof WriteRefused;
        const message = error instanceof Error ? (isRefusal ? error.message : (error.stack ?? error.message)) : String(error);
        send({ kind: 'FAILED', code: isRefusal ? error.code : null, message, details: isRefusal ? { ...error.details } : {} });
      },
    )
    .finally(() => process.disconnect());
});
// Without the server nobody waits for it: SQLite undoes what was not committed.
process.on('disconnect', () => process.exit(0));
