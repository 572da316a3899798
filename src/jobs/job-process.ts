/**
 * The process that runs slow reads: one job at a time, connections kept between jobs, gone when its server is.
 */
import { flushCompileCache } from 'node:module';
import { CaduceusError } from '../errors.ts';
import { Meter, metered } from '../meter.ts';
import { patiently, StoreConnection } from '../state-db/connection.ts';
import { fileIdentity, isSameFile } from '../state-db/health.ts';
import { runStoreJob, type StoreJobMessage } from '../state-db/jobs.ts';
import { runFileJob } from '../web-ui/file-jobs.ts';
import { openTranscripts } from '../web-ui/transcript/open-transcripts.ts';
import type { JobReply } from './pool.ts';

/** Nothing else waits on this thread, so a lock may block it for a while. */
const LOCK_WAIT_MS = 2000;

const connections = new Map<string, { readonly connection: StoreConnection; readonly epoch: number }>();

/** The connection that was opened in this epoch of the store: the server tells when the file behind a path is another one. */
function connectionTo({ path, strictObserver, epoch }: StoreJobMessage): StoreConnection {
  const known = connections.get(path);
  if (known?.epoch === epoch && isSameFile(known.connection.identity, fileIdentity(path)) && !known.connection.schemaMoved()) {
    return known.connection;
  }
  known?.connection.close();
  connections.delete(path);
  const connection = StoreConnection.open(path, { lockWaitMs: LOCK_WAIT_MS, strictObserver });
  connections.set(path, { connection, epoch });
  return connection;
}

async function answer(message: StoreJobMessage): Promise<JobReply> {
  const meter = new Meter();
  try {
    const { job } = message;
    const value = await metered(meter, () => {
      const connect = () => connectionTo(message);
      switch (job.kind) {
        case 'openTranscripts':
          return openTranscripts(connect, job.sessionsDir, job.requests);
        case 'contextDeltas':
        case 'activityScenes':
        case 'examineFiles':
          return runFileJob(connect, job);
        default:
          return patiently(() => runStoreJob(connect(), job));
      }
    });
    return { ok: true, value, statements: meter.statements, rows: meter.rows };
  } catch (error) {
    return { ok: false, error: parts(error) };
  }
}

function parts(error: unknown): Extract<JobReply, { ok: false }>['error'] {
  if (error instanceof CaduceusError) return { name: error.name, code: error.code, message: error.message, details: { ...error.details } };
  return { name: 'Error', code: '', message: error instanceof Error ? (error.stack ?? error.message) : String(error), details: {} };
}

process.on('message', (message: StoreJobMessage) => {
  void answer(message).then((reply) => process.send?.(reply));
});
process.on('disconnect', () => process.exit(0));
// It ends by being killed, which keeps nothing: where NODE_COMPILE_CACHE is set, the next one starts in half the time.
flushCompileCache();
