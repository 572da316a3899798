/**
 * States that change all the time are told at a pace: usage twice a second, heartbeats and progress once (`spec/live-turns.md` 15.2). The
 * latest is never lost, only late; the end of a turn waits for none (`docs/live-protocol.md` 8.2).
 */
import { stateScope } from './coalesce.ts';
import type { LiveEvent, LiveEventKind } from './events.ts';

const INTERVAL_MS: ReadonlyMap<LiveEventKind, number> = new Map([
  ['UsageChanged', 500],
  ['ActivityHeartbeat', 1000],
  ['DelegationProgress', 1000],
]);

export class StatePace {
  readonly #told = new Map<string, number>();
  readonly #held = new Map<string, LiveEvent>();

  /** When something that is held is due, by the clock of `take`; null when nothing is. */
  get dueAt(): number | null {
    const due = [...this.#held].map(([scope, { kind }]) => (this.#told.get(scope) ?? 0) + (INTERVAL_MS.get(kind) ?? 0));
    return due.length === 0 ? null : Math.min(...due);
  }

  /** The events that may be told now, with those held before that are due. `now`: milliseconds. */
  take(events: readonly LiveEvent[], now: number): LiveEvent[] {
    const everything = events.some(({ kind }) => kind === 'TurnEnded');
    const told: LiveEvent[] = [];
    for (const event of events) {
      const scope = stateScope(event);
      if (this.#mayTell(event, scope, now) || everything) {
        this.#note(event, scope, now);
        told.push(event);
      } else this.#held.set(scope, event);
    }
    for (const [scope, event] of [...this.#held]) {
      if (!this.#mayTell(event, scope, now) && !everything) continue;
      this.#note(event, scope, now);
      told.push(event);
    }
    return told;
  }

  #mayTell({ kind }: LiveEvent, scope: string, now: number): boolean {
    const interval = INTERVAL_MS.get(kind);
    const last = this.#told.get(scope);
    return interval === undefined || last === undefined || now - last >= interval;
  }

  #note({ kind }: LiveEvent, scope: string, now: number): void {
    this.#held.delete(scope);
    if (INTERVAL_MS.has(kind)) this.#told.set(scope, now);
  }
}
