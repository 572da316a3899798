/**
 * The append path over one store: its queue, its spool, and what they ask of `state.db`.
 */
import { chain, chainAncestors } from '../state-db/lineage.ts';
import type { StoreReading } from '../state-db/store-reading.ts';
import { type AppendedMessage, type AppendInput, appendMessage } from '../state-db/write/append-message.ts';
import { type GraphSession, SessionGraph } from '../state-db/write/session-graph.ts';
import type { OperationContext } from '../state-db/write/store-operation.ts';
import { type StoreWriter, unreadableAsRefusal } from '../state-db/write/store-writer.ts';
import { AppendQueue, type TranscriptEvent, type TranscriptStore } from './append-queue.ts';
import { SpoolDirectory } from './spool-directory.ts';
import type { SpoolFiles } from './spool-files.ts';

export interface StoreTranscriptOptions {
  readonly writer: StoreWriter;
  readonly context: () => OperationContext;
  /** The Hermes home that owns the store. */
  readonly home: string;
  readonly isNamedProfile: boolean;
  readonly onEvent: (event: TranscriptEvent) => void;
  readonly rebuildIndex: () => Promise<'REBUILT' | 'SKIPPED'>;
  readonly files?: SpoolFiles;
}

export class StoreTranscript {
  readonly queue: AppendQueue;
  readonly spool: SpoolDirectory;
  readonly store: TranscriptStore;
  readonly onEvent: (event: TranscriptEvent) => void;
  /** Sessions that this process wrote to: one that is gone since then may come back (T56). */
  readonly written = new Set<string>();

  constructor({ writer, context, home, isNamedProfile, onEvent, rebuildIndex, files }: StoreTranscriptOptions) {
    const now = () => context().now;
    const read = <T>(work: (store: StoreReading) => T): Promise<T> =>
      writer.read(work).catch((error: unknown) => {
        throw unreadableAsRefusal(error);
      });
    this.onEvent = onEvent;
    this.spool = new SpoolDirectory(home, {
      namedProfile: isNamedProfile,
      now: () => now() * 1000,
      ...(files === undefined ? {} : { files }),
    });
    this.store = {
      commit: async (input, beforeCommit) => {
        const appended = await commit(writer, context, input, beforeCommit);
        this.written.add(input.sessionId);
        return appended;
      },
      openTip: (sessionId) => read((store) => openTip(store, sessionId)),
      ancestors: (sessionId) => read((store) => ancestors(store, sessionId)),
      rebuildIndex,
    };
    this.queue = new AppendQueue({ store: this.store, spool: this.spool, now, onEvent });
  }
}

function commit(
  writer: StoreWriter,
  context: () => OperationContext,
  input: AppendInput,
  beforeCommit: (appended: AppendedMessage) => void = () => {},
): Promise<AppendedMessage> {
  const { patience, touchesMessages, plan, execute } = appendMessage;
  return writer.write(
    (transaction) => {
      const attempt = context();
      return execute(transaction, plan(transaction, input, attempt), attempt);
    },
    { patience, touchesMessages, beforeCommit },
  );
}

/** Only a compression closes a transcript (T31): its tip, where that is open or was ended by something else than a compression. */
export function openTip(store: StoreReading, sessionId: string): string | null {
  const graph = new SessionGraph(store);
  const session = graph.get(sessionId);
  if (session === undefined) return sessionId;
  if (!isClosed(session)) return sessionId;
  const tip = chain(graph, session).at(-1);
  return tip === undefined || tip.id === sessionId || tip.endedAt !== null ? null : tip.id;
}

function isClosed(session: GraphSession): boolean {
  return session.endedAt !== null && session.endReason === 'compression';
}

/** Nearest first. */
export function ancestors(store: StoreReading, sessionId: string): string[] {
  const graph = new SessionGraph(store);
  const session = graph.get(sessionId);
  return session === undefined
    ? []
    : chainAncestors(graph, session)
        .map(({ id }) => id)
        .reverse();
}
