/**
 * Reads of whole session files that aren't transcripts, as jobs for another process: files can be tens of megabytes. In the order of what is
 * asked for; files are read one after the other.
 */
import { patiently, type StoreConnection } from '../state-db/connection.ts';
import { isJsonObject } from '../state-db/decode.ts';
import { examineFiles, type FilesExamination, type FilesRequest } from './examination/examine-files.ts';
import { epochSeconds, type Fields } from './sidecar/coercions.ts';
import { LastSidecar, type SidecarReading } from './sidecar/last-sidecar.ts';
import type { WholeSidecar } from './sidecar/parse-sidecar.ts';
import { isCompressedContext } from './transcript/compaction-anchor.ts';
import { contextDelta } from './transcript/context-delta.ts';
import { bounded, type ShownStateMessage, shownStateMessage } from './transcript/shown-state-message.ts';
import { readStateSnapshots, type StateSnapshot } from './transcript/state-messages.ts';

export interface ScenesKey {
  readonly sessionId: string;
  /** Of the scenes that are wanted. */
  readonly keys: readonly string[];
}

export type FileJob =
  | { readonly kind: 'contextDeltas'; readonly sessionsDir: string; readonly ids: readonly string[]; readonly largest: number }
  | { readonly kind: 'activityScenes'; readonly sessionsDir: string; readonly asked: readonly ScenesKey[] }
  | { readonly kind: 'examineFiles'; readonly request: FilesRequest };

/** GONE: there is no such file any more. */
export type FileFailure = 'SIDECAR_CORRUPT' | 'SIDECAR_UNREADABLE' | 'SIDECAR_TOO_LARGE' | 'SIDECAR_GONE' | 'TOO_LARGE';

export interface ContextDelta {
  /** Messages that the model was last sent, as the file has them. */
  readonly contextCount: number;
  /** A summary is among them that stands for what was compacted. */
  readonly isCompressed: boolean;
  /** Live rows that are newer. */
  readonly messages: readonly ShownStateMessage[];
}

export interface ActivityScene {
  readonly key: string;
  readonly messageIndex: number | null;
  readonly messageRef: unknown;
  readonly streamId: string | null;
  /** Epoch seconds. */
  readonly updatedAt: number | null;
  readonly scene: unknown;
}

export interface FileJobResults {
  contextDeltas: (ContextDelta | FileFailure)[];
  activityScenes: (ActivityScene[] | FileFailure)[];
  examineFiles: FilesExamination;
}

export async function runFileJob(connect: () => StoreConnection, job: FileJob): Promise<FileJobResults[FileJob['kind']]> {
  if (job.kind === 'examineFiles') return examineFiles(job.request);
  return job.kind === 'contextDeltas' ? contextDeltas(connect, job) : activityScenes(job);
}

/** Rows are read before files: what is written meanwhile is in the file (`spec/webui-transcript.md` 13, C17). */
async function contextDeltas(
  connect: () => StoreConnection,
  { sessionsDir, ids, largest }: Extract<FileJob, { kind: 'contextDeltas' }>,
): Promise<(ContextDelta | FileFailure)[]> {
  const snapshots = await patiently(() => readStateSnapshots(connect(), ids, {}, largest));
  const files = new LastSidecar(sessionsDir);
  const found: (ContextDelta | FileFailure)[] = [];
  for (const [index, id] of ids.entries()) {
    const state = snapshots[index] ?? 'TOO_LARGE';
    const file = usable(await files.read(id));
    found.push(state === 'TOO_LARGE' || typeof file === 'string' ? toFailure(state, file) : deltaOf(file, state));
  }
  return found;
}

function toFailure(state: StateSnapshot | 'TOO_LARGE', file: WholeSidecar | FileFailure): FileFailure {
  return state === 'TOO_LARGE' || typeof file !== 'string' ? 'TOO_LARGE' : file;
}

/** A file without a context of its own has its messages as the context (17). */
function deltaOf({ contextMessages, messages }: WholeSidecar, { messages: state, rowIds }: StateSnapshot): ContextDelta {
  const context = contextMessages.length > 0 ? contextMessages : messages;
  const newer = contextDelta(context, state);
  return {
    contextCount: context.length,
    isCompressed: isCompressedContext(context),
    messages: newer.flatMap((at) => {
      const message = state[at];
      return message === undefined ? [] : [shownStateMessage(message, rowIds[at] ?? null)];
    }),
  };
}

/** C30: those of the keys that have a scene (`spec/webui-sidecars.md` 3.6). */
async function activityScenes({
  sessionsDir,
  asked,
}: Extract<FileJob, { kind: 'activityScenes' }>): Promise<(ActivityScene[] | FileFailure)[]> {
  const files = new LastSidecar(sessionsDir);
  const found: (ActivityScene[] | FileFailure)[] = [];
  for (const { sessionId, keys } of asked) {
    const file = usable(await files.read(sessionId));
    found.push(typeof file === 'string' ? file : keys.flatMap((key) => sceneOf(file.activityScenes, key)));
  }
  return found;
}

function sceneOf(scenes: Fields, key: string): ActivityScene[] {
  const record = Object.hasOwn(scenes, key) ? scenes[key] : undefined;
  if (key === '' || !isJsonObject(record)) return [];
  const { message_index: index, message_ref: messageRef, stream_id: streamId, updated_at: updatedAt, scene } = record;
  return [
    {
      key,
      messageIndex: typeof index === 'number' ? index : null,
      messageRef: bounded(messageRef),
      streamId: typeof streamId === 'string' ? streamId : null,
      updatedAt: epochSeconds(updatedAt),
      scene: bounded(scene),
    },
  ];
}

function usable(file: SidecarReading): WholeSidecar | FileFailure {
  if (file === 'UNREADABLE') return 'SIDECAR_UNREADABLE';
  if (file === null) return 'SIDECAR_GONE';
  if (file.row.health === 'CORRUPT') return 'SIDECAR_CORRUPT';
  return file.row.health === 'TOO_LARGE' ? 'SIDECAR_TOO_LARGE' : file;
}
