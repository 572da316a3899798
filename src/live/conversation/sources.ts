/**
 * What a follower of a conversation reads beside the store: the Web UI's files, and whether a process lives.
 */

import type { SessionStore } from '../../session-store.ts';
import type { SidecarHead, SidecarTail } from '../../web-ui/sidecar-head.ts';
import type { TurnEvidence } from '../liveness/turn-evidence.ts';

export interface ConversationSources {
  readonly store: SessionStore;
  /** The directory `_run_journal`. */
  readonly journalRoot: string;
  /** FOREIGN: there is one, of another profile. */
  readonly head: (sessionId: string) => Promise<SidecarHead | 'FOREIGN' | null>;
  readonly tail: (sessionId: string) => Promise<SidecarTail | null>;
  readonly turnEvidence: (sessionIds: readonly string[], runId: string) => Promise<TurnEvidence>;
  readonly processLife: (pid: number, startedAt: number | null) => Promise<'ALIVE' | 'DEAD' | 'UNKNOWN'>;
  /** Epoch seconds. */
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}
