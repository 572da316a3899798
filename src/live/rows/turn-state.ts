/**
 * When a turn is over, by the rows and the lease alone, and how sure that is (`spec/live-turns.md` 9).
 */
import type { LiveSession } from '../../state-db/live-segments.ts';
import type { Hold } from '../../state-db/liveness.ts';
import { holdKey } from './activity.ts';
import type { AppendedRow, Certainty, RowEventFields, TurnOutcome } from './events.ts';
import { isOver } from './session-changes.ts';

export type TurnEvidence = RowEventFields['TurnEnded']['evidence'];

/** A turn that is under way. */
export interface OpenTurn {
  /** `l:` and the lease's key, or `r:` and the id of the user's row. */
  readonly turnId: string;
  readonly leaseKey: string | null;
  /** Epoch seconds. */
  readonly startedAt: number;
  readonly userMessageId: string | null;
  readonly firstMessageId: string | null;
  readonly lastMessageId: string | null;
  readonly lastRow: TurnRow | null;
}

export type TurnRow = Pick<AppendedRow, 'role' | 'at' | 'finishReason' | 'calls'>;

export interface TurnState {
  readonly open: OpenTurn | null;
  /** The last turn that ended, while something could still show that it did not. */
  readonly ended: { readonly turn: OpenTurn; readonly evidence: TurnEvidence } | null;
  /** The newest time of a row. */
  readonly newestAt: number | null;
}

export interface TurnFacts {
  readonly sessionId: string;
  readonly tip: LiveSession | null;
  readonly lease: Hold | null;
  readonly keepsLeases: boolean;
  /** The last row before this pass. */
  readonly lastKnownRow: string | null;
  /** Rows that were missed are told: their times are those of turns long past. */
  readonly replay: boolean;
  /** There are more rows to tell before anything can be said of the lease. */
  readonly more: boolean;
  /** The session that the turn ran in is gone. */
  readonly deleted: boolean;
  readonly now: number;
}

export interface Ending {
  readonly outcome: TurnOutcome;
  readonly certainty: Certainty;
  readonly evidence: TurnEvidence;
  readonly at: number | null;
}

/** Clocks of rows differ within a turn, and are put back sometimes; what lies further back than a lease lives came late. */
export const SLACK_SECONDS = 300;
/** How fresh a row is that speaks for a turn by itself; the life of a heartbeat; that of a lease (9). */
const ROW_SECONDS = 5;
/** A row without a lease speaks for a turn while it is as young as a heartbeat may be old. */
export const FRESH_SECONDS = 60;
const HEARTBEAT_SECONDS = 90;
const SILENCE_SECONDS = 300;

const FAILED_FINISHES: ReadonlySet<string> = new Set(['error', 'agent_error', 'content_filter']);
const UNFINISHED: ReadonlySet<string> = new Set(['tool_calls', 'incomplete', 'verification_required', 'verify_hook_continue']);
/** User rows that begin a turn although nobody typed them. */
const STARTING_KINDS: ReadonlySet<string> = new Set(['', 'async_delegation_complete', 'auto_continue', 'skill_invocation']);

export function isTurnStart(row: AppendedRow): boolean {
  return row.role === 'user' && !row.observed && !row.summary && !row.modelOnly && STARTING_KINDS.has(row.displayKind ?? '');
}

/** ANSWERED: the answer is there. FAILED: the owner wrote that it failed. OPEN: something is still due. NONE: there is no row yet. */
export function progressOf(row: TurnRow | null): 'ANSWERED' | 'FAILED' | 'OPEN' | 'NONE' {
  if (row === null) return 'NONE';
  const finish = (row.finishReason ?? '').trim().toLowerCase();
  if (FAILED_FINISHES.has(finish)) return 'FAILED';
  return row.role === 'assistant' && row.calls.length === 0 && !UNFINISHED.has(finish) ? 'ANSWERED' : 'OPEN';
}

/** Whether a lease that shows up belongs to the turn that a row began. */
export function adopt(turn: OpenTurn, lease: Hold): boolean {
  return turn.leaseKey === null && progressOf(turn.lastRow) !== 'ANSWERED' && (lease.acquiredAt ?? 0) <= turn.startedAt + ROW_SECONDS;
}

/** The end of a turn that is over whatever its rows say. */
export function endingBy(turn: OpenTurn, evidence: TurnEvidence): Ending {
  const sure = evidence === 'LEASE_GONE' || evidence === 'SESSION_ENDED';
  const at = turn.lastRow?.at ?? null;
  switch (progressOf(turn.lastRow)) {
    case 'ANSWERED':
      return { outcome: 'COMPLETED', certainty: sure ? 'HIGH' : 'MEDIUM', evidence, at };
    case 'FAILED':
      return { outcome: 'FAILED', certainty: sure ? 'HIGH' : 'MEDIUM', evidence, at };
    case 'NONE':
      return { outcome: 'UNKNOWN', certainty: sure ? 'MEDIUM' : 'LOW', evidence, at };
    default:
      return {
        outcome: 'INTERRUPTED',
        certainty: evidence === 'LEASE_GONE' ? 'MEDIUM' : sure || evidence === 'LEASE_EXPIRED' ? 'HIGH' : 'LOW',
        evidence,
        at,
      };
  }
}

/** Null while the turn runs, or may run. */
export function endingOf(turn: OpenTurn, facts: TurnFacts): Ending | null {
  const { lease, tip, now } = facts;
  if (facts.deleted) return { outcome: 'SESSION_DELETED', certainty: 'CERTAIN', evidence: 'SESSION_DELETED', at: now };
  const held = lease !== null && turn.leaseKey === holdKey(lease);
  if (held && lease.live) return null;
  if (tip !== null && isOver(tip) && tip.endReason !== 'compression') return endingBy(turn, 'SESSION_ENDED');
  if (turn.leaseKey !== null) return endingBy(turn, held ? 'LEASE_EXPIRED' : 'LEASE_GONE');
  const label = (tip?.lastActivityDescription ?? '') !== '' && now - (tip?.lastActivityAt ?? 0) < HEARTBEAT_SECONDS;
  if (label) return null;
  const silence = now - Math.max(turn.startedAt, turn.lastRow?.at ?? 0, tip?.lastActivityAt ?? 0);
  const progress = progressOf(turn.lastRow);
  if (progress === 'ANSWERED' || progress === 'FAILED') {
    // With a reason to finish the row is the answer; without one it may be a remark before the next call.
    return turn.lastRow?.finishReason != null || silence >= ROW_SECONDS ? endingBy(turn, 'FINAL_ROW') : null;
  }
  return silence >= SILENCE_SECONDS ? endingBy(turn, 'SILENCE') : null;
}

/**
 * The turn under way when following begins. `known`: the one that a reader has heard of, null for none; without it rows and lease tell.
 */
export function openTurnAt(
  tail: { readonly start: AppendedRow | null; readonly last: AppendedRow | null },
  facts: TurnFacts,
  known: string | null | undefined,
): OpenTurn | null {
  const leaseKey = facts.lease?.live === true ? holdKey(facts.lease) : null;
  const { start, last } = tail;
  const turn = (turnId: string, key: string | null, startedAt: number): OpenTurn => {
    const own = start !== null && (key === null || (start.at ?? 0) >= startedAt - HEARTBEAT_SECONDS) ? start : null;
    const begun = own !== null && last !== null && BigInt(last.id) >= BigInt(own.id);
    return {
      turnId,
      leaseKey: key,
      startedAt,
      userMessageId: own?.id ?? null,
      firstMessageId: begun ? own.id : null,
      lastMessageId: begun ? last.id : null,
      lastRow: begun ? last : null,
    };
  };
  if (known !== undefined) {
    if (known === null) return null;
    return turn(known, known.startsWith('l:') ? known.slice(2) : null, start?.at ?? facts.now);
  }
  if (leaseKey !== null) return turn(`l:${leaseKey}`, leaseKey, facts.lease?.acquiredAt ?? facts.now);
  if (start === null || last === null || start.at === null) return null;
  const byRow = turn(`r:${start.id}`, null, start.at);
  const overdue = facts.now - Math.max(last.at ?? 0, start.at) >= (facts.keepsLeases ? ROW_SECONDS : SILENCE_SECONDS);
  const label = (facts.tip?.lastActivityDescription ?? '') !== '' && facts.now - (facts.tip?.lastActivityAt ?? 0) < HEARTBEAT_SECONDS;
  return (label || !overdue) && endingOf(byRow, facts) === null ? byRow : null;
}
