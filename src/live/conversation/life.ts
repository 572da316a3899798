/**
 * Whether the runs of a conversation still live, from all that there is to see, and what that tells (`spec/live-turns.md` 9).
 */
import { CaduceusError } from '../../errors.ts';
import { type RunEvidence, type RunVerdict, runVerdict } from '../liveness/verdict.ts';
import type { ConversationRows } from '../rows/conversation-rows.ts';
import type { LiveEvent, TurnPhase } from './events.ts';
import type { TurnMerger } from './merger.ts';
import type { RunTurn } from './run-turn.ts';
import type { Sidecars } from './sidecars.ts';
import type { ConversationSources } from './sources.ts';

/** The terminal entry of a turn journal may lie with a segment that came during the turn. */
const SEGMENTS = 4;

export class LifeWatch {
  readonly #sources: ConversationSources;
  /** Phases that something else than the journal tells. */
  readonly #phases = new WeakMap<RunTurn, TurnPhase>();

  constructor(sources: ConversationSources) {
    this.#sources = sources;
  }

  phaseOf(run: RunTurn): TurnPhase | null {
    const phase = this.#phases.get(run) ?? null;
    // A journal that has begun knows better.
    return phase === 'STARTING' && run.turn.lastSeq > 0 ? null : phase;
  }

  /** Whether a run without a terminal line is over, as far as there is to see. */
  async isOver(run: RunTurn, rows: ConversationRows, sidecars: Sidecars): Promise<boolean> {
    const verdict = await this.#verdict(run, rows, sidecars, this.#sources.now());
    return verdict !== null && verdict.ending !== null;
  }

  /** What is other than was told of a run without a terminal line. */
  async judge(run: RunTurn, merger: TurnMerger, rows: ConversationRows, sidecars: Sidecars): Promise<LiveEvent[]> {
    const now = this.#sources.now();
    const verdict = await this.#verdict(run, rows, sidecars, now);
    if (verdict === null) return [];
    const events: LiveEvent[] = [];
    if (verdict.state !== run.liveness) {
      run.liveness = verdict.state;
      const { state, certainty, evidence, lastSignalAt } = verdict;
      const says = [state, lastSignalAt];
      events.push(merger.derived('LivenessChanged', run.sessionId, run, now, says, { state, certainty, evidence, lastSignalAt }));
    }
    if (verdict.ending !== null) {
      const evidence = verdict.evidence.map(({ code }) => code).join(' ');
      const lastSign = rows.signs.tip?.lastActivityAt ?? null;
      return [...events, ...merger.endRun(run, verdict.ending, { evidence, lastSign }, now)];
    }
    if (run.ended !== null) merger.revive(run);
    return [...events, ...this.#phase(run, verdict, merger, now)];
  }

  #phase(run: RunTurn, { phase }: RunVerdict, merger: TurnMerger, now: number): LiveEvent[] {
    const told = this.#phases.get(run) ?? (run.turn.lastSeq === 0 ? 'STARTING' : null);
    if (phase === null) this.#phases.delete(run);
    else this.#phases.set(run, phase);
    if (phase === told || (phase === null && run.turn.lastSeq === 0)) return [];
    const shown = phase ?? run.turn.phase;
    return [merger.derived('TurnPhaseChanged', run.sessionId, run, now, [shown, run.turn.lastSeq], { phase: shown, detail: null })];
  }

  /** Null when files can't be read now: that is no news of the run. */
  async #verdict(run: RunTurn, rows: ConversationRows, sidecars: Sidecars, now: number): Promise<RunVerdict | null> {
    try {
      return await this.#readVerdict(run, rows, sidecars, now);
    } catch (error) {
      if (!(error instanceof CaduceusError)) throw error;
      this.#sources.onError(error);
      return null;
    }
  }

  async #readVerdict(run: RunTurn, rows: ConversationRows, sidecars: Sidecars, now: number): Promise<RunVerdict> {
    const sessionIds = [...new Set([run.sessionId, ...rows.segmentIds.slice(-SEGMENTS)])];
    const turn = await this.#sources.turnEvidence(sessionIds, run.runId);
    const process = turn.pid === null ? 'UNKNOWN' : await this.#sources.processLife(turn.pid, turn.submittedAt ?? run.startedAt);
    const { lease, tip } = rows.signs;
    return runVerdict({
      now,
      terminal: run.turn.end?.outcome ?? null,
      runStartedAt: run.startedAt,
      hasJournal: run.turn.lastSeq > 0,
      journalGrewAt: run.grewAt,
      sidecar: ownershipOf(run, sidecars),
      process,
      leaseLive: lease?.expiresAt != null && lease.expiresAt > now,
      lastActivityAt: tip?.lastActivityAt ?? null,
      completedAt: turn.completedAt,
    });
  }
}

function ownershipOf(run: RunTurn, sidecars: Sidecars): RunEvidence['sidecar'] {
  const head = sidecars.of(run.sessionId);
  if (head === 'GONE' || head === 'NEVER_SEEN') return head;
  const owns = sidecars.owns(run.runId);
  const cancelledAt = sidecars.tailOf(run.sessionId)?.cancelledAt ?? null;
  return { activeStreamId: head.activeStreamId, owns, clearedAt: owns ? null : run.disownedAt, cancelledAt };
}
