/** One task on one session file, in a thread of its own; ends with it. */
import { parentPort, workerData } from 'node:worker_threads';
import { readIndexCounts } from '../index-file/index-file.ts';
import { recoverSidecar } from '../recovery/recover-sidecar.ts';
import { refreshImport } from '../refresh-import.ts';
import { compactSidecar } from './compact-sidecar.ts';
import { editSidecar } from './edit-sidecar.ts';
import { parseSidecar } from './parse-sidecar.ts';
import type { IndexTask, SidecarTask, SidecarTaskReply } from './sidecar-threads.ts';

async function answer(task: SidecarTask): Promise<SidecarTaskReply> {
  try {
    const bytes = Buffer.from(task.bytes.buffer, task.bytes.byteOffset, task.bytes.byteLength);
    return { ok: true, value: task.task === 'INDEX' ? await readIndexCounts(task.sessionsDir) : resultOf(task, bytes) };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

function resultOf(task: Exclude<SidecarTask, IndexTask>, bytes: Buffer): unknown {
  if (task.task === 'EDIT') return editSidecar(bytes, task.request);
  if (task.task === 'RECOVER') return recoverSidecar(bytes, task.request);
  if (task.task === 'REFRESH') return refreshImport(bytes, task.request);
  if (task.task === 'COMPACT') return compactSidecar(bytes, task.id, task.signature);
  return parseSidecar(bytes, task.id, task.signature).row;
}

parentPort?.postMessage(await answer(workerData as SidecarTask));
