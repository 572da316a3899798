/**
 * Work on large session files in threads of their own: parsing one holds whichever thread does it for up to seconds.
 */
import { Worker } from 'node:worker_threads';
import type { IndexReading } from '../index-file/index-file.ts';
import type { RecoverRequest } from '../recovery/recover-request.ts';
import type { Recovered } from '../recovery/recover-sidecar.ts';
import type { RefreshRequest } from '../refresh-import.ts';
import type { CompactSidecar } from './compact-sidecar.ts';
import type { EditOutcome, EditRequest } from './edit-sidecar.ts';
import type { SidecarRow, SidecarSignature } from './sidecar-row.ts';

export interface RowTask {
  readonly task: 'ROW';
  readonly bytes: Uint8Array;
  readonly id: string;
  readonly signature: SidecarSignature;
}

export interface CompactTask extends Omit<RowTask, 'task'> {
  readonly task: 'COMPACT';
}

export interface EditTask {
  readonly task: 'EDIT';
  readonly bytes: Uint8Array;
  readonly request: EditRequest;
}

export interface RecoverTask {
  readonly task: 'RECOVER';
  readonly bytes: Uint8Array;
  readonly request: RecoverRequest;
}

export interface RefreshTask {
  readonly task: 'REFRESH';
  readonly bytes: Uint8Array;
  readonly request: RefreshRequest;
}

/** Reads the index of the folder itself. */
export interface IndexTask {
  readonly task: 'INDEX';
  readonly bytes: Uint8Array;
  readonly sessionsDir: string;
}

export type SidecarTask = RowTask | CompactTask | EditTask | RecoverTask | RefreshTask | IndexTask;

export type SidecarTaskReply = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: string };

/** The built files have another extension than the sources. */
const ENTRY = new URL(`sidecar-thread.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);

/** Runs the task; its bytes are gone afterwards. */
export function inSidecarThread(task: RowTask): Promise<SidecarRow>;
export function inSidecarThread(task: CompactTask): Promise<CompactSidecar | null>;
export function inSidecarThread(task: EditTask): Promise<EditOutcome>;
export function inSidecarThread(task: RecoverTask): Promise<Recovered>;
export function inSidecarThread(task: RefreshTask): Promise<EditOutcome>;
export function inSidecarThread(task: IndexTask): Promise<IndexReading>;
export function inSidecarThread(task: SidecarTask): Promise<unknown> {
  const bytes = ownBuffer(task.bytes);
  return new Promise((resolve, reject) => {
    const worker = new Worker(ENTRY, { workerData: { ...task, bytes }, transferList: [bytes.buffer], execArgv: [] });
    worker.once('message', (reply: SidecarTaskReply) => (reply.ok ? resolve(reply.value) : reject(new Error(reply.error))));
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`The thread ended with code ${code} and no answer.`)));
  });
}

/** Only a buffer as a whole can be handed over. */
function ownBuffer(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes;
  return buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength ? new Uint8Array(buffer) : Uint8Array.from(bytes);
}
