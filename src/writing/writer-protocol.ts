/**
 * What passes between the server and the process that writes to one store.
 */
import type { Quarantine } from '../state-db/write/store-writer.ts';
import type { TranscriptEvent } from '../transcript/append-queue.ts';
import type { RefusalCode } from '../write-refused.ts';
import type { Envelope } from './command.ts';
import type { CommandName } from './commands.ts';

/** The first message: which store, and how. */
export interface WriterSetup {
  readonly kind: 'SETUP';
  readonly path: string;
  readonly home: string;
  readonly profile: string;
  readonly webUiDir: string;
  readonly webUiUrl: string | null;
  readonly receiptsPath: string;
  /** Why the store must not be written to any more; null: it may. */
  readonly quarantine: Quarantine | null;
  readonly longestPatienceSeconds: number;
  readonly detachCjkIndex: boolean;
  readonly cjkLibrary: string | null;
}

export interface CommandMessage {
  readonly kind: 'COMMAND';
  readonly id: number;
  readonly command: CommandName;
  readonly input: unknown;
  readonly envelope: Envelope;
}

/** Close what is open, keep what is queued in the spool, and end. */
export interface EndMessage {
  readonly kind: 'END';
}

/** The answer to `REBUILD`. */
export interface RebuildMessage {
  readonly kind: 'REBUILD';
  /** SKIPPED: others have the store open, or it was rebuilt a moment ago. */
  readonly outcome: 'REBUILT' | 'SKIPPED';
}

export type ToWriter = WriterSetup | CommandMessage | EndMessage | RebuildMessage;

export interface SentError {
  /** A refusal's code; null for a defect. */
  readonly code: RefusalCode | null;
  readonly message: string;
  readonly details: Record<string, unknown>;
}

/** Something that the operator of the server should read. */
export interface EventMessage {
  readonly kind: 'EVENT';
  readonly event: TranscriptEvent;
}

export interface ReplyMessage {
  readonly kind: 'REPLY';
  readonly id: number;
  readonly reply: { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: SentError };
  readonly quarantine: Quarantine | null;
  /** Whether anything is kept in memory that has to stay. */
  readonly isHolding: boolean;
}

/** That the writer keeps nothing in memory any more. */
export interface RestMessage {
  readonly kind: 'REST';
}

/** Asks for a new search index, without which no message can be written (A13). */
export interface RebuildRequest {
  readonly kind: 'REBUILD';
}

export type FromWriter = ReplyMessage | EventMessage | RestMessage | RebuildRequest;
