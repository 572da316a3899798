/**
 * Which sessions the store of the benchmark has, before a row of it is written: conversations of every source, a fifth of them compressed
 * into chains, with delegates and branches, and how many rows each session gets.
 */
import type { SeededRandom } from '../src/demo/random.ts';

/** A session of exactly this many messages, all of them live, in a conversation of its own. */
export const LONG_SESSION = { id: 'bench_long', rows: 2000 } as const;

export interface PlannedSession {
  readonly kind: 'ROOT' | 'SEGMENT' | 'BRANCH' | 'DELEGATE';
  readonly source: string;
  /** The session whose id `parent_session_id` names. */
  readonly parent: PlannedSession | null;
  /** Message rows, copies included. */
  rows: number;
  /** The segment that goes on when this one is compressed. */
  next: PlannedSession | null;
  readonly branches: PlannedSession[];
  readonly archived: boolean;
  readonly pinned: boolean;
  readonly hidden: boolean;
  /** Half way through, older rows are summarised in place. */
  readonly compactsInPlace: boolean;
  /** The last turn is taken back. */
  readonly rewinds: boolean;
  readonly isLong: boolean;
}

export interface StoreSize {
  readonly sessions: number;
  readonly messages: number;
}

const SOURCES: readonly [source: string, share: number][] = [
  ['cli', 0.36],
  ['telegram', 0.22],
  ['webui', 0.22],
  ['discord', 0.08],
  ['cron', 0.12],
];
/** Of the conversations that are compressed at all, and aren't cron's. */
const CHAIN_SHARE = 0.2;
const LONGEST_CHAIN = 6;
const DELEGATE_SHARE = 0.14;
const BRANCH_SHARE = 0.05;
const EMPTY_SHARE = 0.01;

/**
 * The conversations in the order in which they begin; delegates follow their parent as entries of their own, segments and branches hang
 * on theirs. Together they have exactly the sessions and messages asked for. Throws RangeError for a store too small for that.
 */
export function planSessions(size: StoreSize, random: SeededRandom): PlannedSession[] {
  const starts: PlannedSession[] = [];
  const all: { session: PlannedSession; weight: number }[] = [];
  const add = (session: PlannedSession): PlannedSession => {
    all.push({ session, weight: weightOf(session, random) });
    return session;
  };
  let left = size.sessions - 1;
  while (left > 0) {
    const root = add(planned('ROOT', sourceOf(random), null, random));
    starts.push(root);
    left--;
    const canSplit = root.source !== 'cron';
    if (canSplit && random.next() < CHAIN_SHARE) {
      let tip = root;
      for (let more = 1 + Math.floor(random.next() ** 2 * (LONGEST_CHAIN - 1)); more > 0 && left > 0; more--, left--) {
        tip.next = add(planned('SEGMENT', root.source, tip, random));
        tip = tip.next;
      }
    }
    if (canSplit && left > 0 && random.next() < BRANCH_SHARE) {
      root.branches.push(add(planned('BRANCH', root.source, root, random)));
      left--;
    }
    if (canSplit && random.next() < DELEGATE_SHARE) {
      for (let more = 1 + Math.floor(random.next() * 3); more > 0 && left > 0; more--, left--) {
        starts.push(add(planned('DELEGATE', 'subagent', root, random)));
      }
    }
  }
  shareOut(all, size.messages - LONG_SESSION.rows);
  starts.splice(Math.floor(starts.length * 0.6), 0, planned('ROOT', 'cli', null, random, true));
  return starts;
}

function planned(
  kind: PlannedSession['kind'],
  source: string,
  parent: PlannedSession | null,
  random: SeededRandom,
  isLong = false,
): PlannedSession {
  const flags = {
    archived: random.next() < 0.08,
    pinned: random.next() < 0.02,
    hidden: random.next() < 0.02,
    compactsInPlace: random.next() < 0.03,
    rewinds: random.next() < 0.03,
  };
  const own = isLong ? { archived: false, pinned: false, hidden: false, compactsInPlace: false, rewinds: false } : flags;
  // Flags are written to a whole chain at once.
  const inherited = kind === 'SEGMENT' && parent !== null ? parent : own;
  const { archived, pinned, hidden } = inherited;
  return {
    kind,
    source,
    parent,
    ...own,
    archived,
    pinned,
    hidden,
    rows: isLong ? LONG_SESSION.rows : 0,
    next: null,
    branches: [],
    isLong,
  };
}

function sourceOf(random: SeededRandom): string {
  let at = random.next();
  for (const [source, share] of SOURCES) {
    at -= share;
    if (at < 0) return source;
  }
  return 'cli';
}

/** How long a session is beside others: most are short, some very long; what gets compressed was long. */
function weightOf(session: PlannedSession, random: SeededRandom): number {
  const size = Math.exp(gaussian(random) * 1.1);
  if (session.kind === 'SEGMENT') return size * 2;
  if (session.kind === 'DELEGATE') return size * 0.5;
  if (session.kind === 'ROOT' && random.next() < EMPTY_SHARE) return 0;
  return session.source === 'cron' ? size * 0.3 : size;
}

const SMALLEST = 2;

/** Rows by weight, at least two each where the weight isn't 0, so that the sum comes out exactly. */
function shareOut(all: readonly { session: PlannedSession; weight: number }[], messages: number): void {
  const total = all.reduce((sum, { weight }) => sum + weight, 0);
  const filled = all.filter(({ weight }) => weight > 0);
  const spare = messages - filled.length * SMALLEST;
  if (spare < 0) throw new RangeError(`A store with ${all.length + 1} sessions needs more than ${messages + LONG_SESSION.rows} messages.`);
  let left = spare;
  for (const { session, weight } of filled) {
    const more = Math.floor((spare * weight) / total);
    session.rows = SMALLEST + more;
    left -= more;
  }
  for (let index = 0; left > 0; index = (index + 1) % filled.length, left--) {
    const target = filled[index];
    if (target !== undefined) target.session.rows++;
  }
}

function gaussian(random: SeededRandom): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}
