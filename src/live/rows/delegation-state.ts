/**
 * What a follower remembers of sub-agents (`spec/live-turns.md` 11.3).
 */
import type { DelegatesProbe } from '../../state-db/live-delegates.ts';

/** A task that was given to a sub-agent. */
export interface Delegation {
  /** Of the registry, with the number of the goal where there are several; else the child's session id. */
  readonly key: string;
  readonly delegationId: string;
  readonly parentSessionId: string;
  readonly depth: number;
  readonly background: boolean;
  readonly goal: string | null;
  readonly toolCallId: string | null;
  readonly dispatchedAt: number | null;
  /** The child's sessions, more than one after a rotation. */
  readonly sessionIds: readonly string[];
  readonly messageCount: number;
  readonly apiCalls: number;
  readonly lastTool: string | null;
  readonly finished: boolean;
  /** When its progress was told, and what was told. */
  readonly toldAt: number;
  readonly told: string;
}

export interface DelegationState {
  readonly tasks: ReadonlyMap<string, Delegation>;
  /** Sessions and tasks that nothing more is expected of. */
  readonly settled: ReadonlySet<string>;
  /** Children that began before following did are not news, unless somebody still waits for them. Epoch seconds. */
  readonly since: number;
}

export const NO_DELEGATIONS: DelegationState = { tasks: new Map(), settled: new Set(), since: 0 };

/** What has to be read again of them. */
export function delegatesProbe(state: DelegationState): DelegatesProbe {
  const tasks = [...state.tasks.values()];
  return {
    settledSessions: [...state.settled],
    knownSessions: tasks.flatMap(({ sessionIds }) => sessionIds),
    knownDelegations: [...new Set(tasks.filter(({ background }) => background).map(({ delegationId }) => delegationId))],
  };
}
