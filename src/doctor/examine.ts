/**
 * Runs the checks, each by itself: one that fails or takes too long is a finding, and hides no other. Sorted by severity, then by code and
 * subject.
 */
import { StoreUnreadable, TimeLimitExceeded } from '../errors.ts';
import { SidecarUnreadable } from '../web-ui/sidecar-file.ts';
import { storeFinding } from './checks/stores.ts';
import { CHECKS, type Check } from './checks.ts';
import { type Finding, finding, MOST_NAMED, moreOf } from './finding.ts';
import { type Area, SEVERITIES } from './kind.ts';
import type { DoctorSources } from './sources.ts';

/** SKIPPED: only a deep look makes it, or the store can't be read, which another finding says. */
export type CheckState = 'DONE' | 'FAILED' | 'TIMED_OUT' | 'SKIPPED';

export interface CheckRun {
  readonly name: string;
  readonly area: Area;
  readonly state: CheckState;
  readonly durationMs: number;
}

export interface DoctorReport {
  readonly profile: string;
  readonly deep: boolean;
  /** Nothing worse than INFO was found. */
  readonly healthy: boolean;
  readonly findings: readonly Finding[];
  readonly checks: readonly CheckRun[];
  /** Epoch seconds. */
  readonly checkedAt: number;
}

/** Milliseconds for each check; reads of a store have a limit of their own, `--slow-read-limit`. */
export const BUDGETS = { quick: 60_000, deep: 900_000 } as const;

export interface ExamineOptions {
  /** Milliseconds for each check. */
  readonly budgetMs: number;
  /** Default: all. */
  readonly checks?: readonly Check[];
  /** Of checks that failed: the finding doesn't tell what. */
  readonly onError?: (check: string, error: unknown) => void;
}

interface Outcome {
  readonly run: CheckRun;
  readonly findings: readonly Finding[];
}

export async function examine(sources: DoctorSources, options: ExamineOptions): Promise<DoctorReport> {
  const checkedAt = sources.now();
  const outcomes = await Promise.all((options.checks ?? CHECKS).map((check) => runCheck(check, sources, options)));
  const findings = bounded(inOrder(outcomes.flatMap((outcome) => outcome.findings)), sources.profile);
  return {
    profile: sources.profile,
    deep: sources.deep,
    healthy: findings.every(({ severity }) => severity === 'INFO'),
    findings,
    checks: outcomes.map(({ run }) => run),
    checkedAt,
  };
}

async function runCheck(check: Check, sources: DoctorSources, { budgetMs, onError }: ExamineOptions): Promise<Outcome> {
  const { name, area } = check;
  const startedAt = performance.now();
  const ended = (state: CheckState, findings: readonly Finding[]): Outcome => ({
    run: { name, area, state, durationMs: Math.round(performance.now() - startedAt) },
    findings,
  });
  const tooLong = () => finding('CHECK_FAILED', sources.profile, { subject: name, detail: 'It took too long.' });
  if (check.onlyDeep && !sources.deep) return ended('SKIPPED', []);
  try {
    const findings = await withinBudget(check.run(sources), budgetMs);
    return findings === 'TIMED_OUT' ? ended('TIMED_OUT', [tooLong()]) : ended('DONE', findings);
  } catch (error) {
    if (error instanceof TimeLimitExceeded) return ended('TIMED_OUT', [tooLong()]);
    if (error instanceof StoreUnreadable) return ended('SKIPPED', [storeFinding(error.health, sources.profile)]);
    if (error instanceof SidecarUnreadable) return ended('SKIPPED', [finding('FILES_UNLISTABLE', sources.profile)]);
    onError?.(name, error);
    return ended('FAILED', [finding('CHECK_FAILED', sources.profile, { subject: name })]);
  }
}

async function withinBudget<T>(work: Promise<T>, budgetMs: number): Promise<T | 'TIMED_OUT'> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<'TIMED_OUT'>((resolve) => {
    timer = setTimeout(() => resolve('TIMED_OUT'), budgetMs);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}

/** Two checks may meet the same trouble with the store. */
function inOrder(findings: readonly Finding[]): Finding[] {
  const different = new Map(findings.map((each) => [JSON.stringify([each.code, each.subject, each.count]), each]));
  const key = ({ severity, code, subject }: Finding) =>
    [SEVERITIES.indexOf(severity), code, subject === null ? 1 : 0, subject ?? ''] as const;
  return [...different.values()].sort((a, b) => compare(key(a), key(b)));
}

/** Of each code the first, and one finding for the rest. */
function bounded(found: readonly Finding[], profile: string): Finding[] {
  return [...Map.groupBy(found, ({ code }) => code)].flatMap(([code, each]) => {
    if (each.length <= MOST_NAMED + 1) return each;
    const rest = each.slice(MOST_NAMED).reduce((sum, { count }) => sum + count, 0);
    return [...each.slice(0, MOST_NAMED), moreOf(code, profile, rest)];
  });
}

function compare(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  for (const [index, part] of a.entries()) {
    const other = b[index] ?? '';
    if (part !== other) return part < other ? -1 : 1;
  }
  return 0;
}
