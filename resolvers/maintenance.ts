/**
 * Long work on a store: check, repair, rebuild of the search index, packing.
 */
import { InvalidInput } from '../src/errors.ts';
import type { JobState } from '../src/maintenance/maintenance.ts';
import type { MaintenanceJob } from '../src/maintenance/maintenance-protocol.ts';
import type { CheckReport } from '../src/state-db/repair/check-store.ts';
import type { IndexName } from '../src/state-db/repair/fts-tables.ts';
import type { RebuildReport } from '../src/state-db/repair/index-rebuild.ts';
import type { OptimizeReport } from '../src/state-db/repair/optimize.ts';
import type { RepairReport } from '../src/state-db/repair/repair.ts';
import { WriteRefused } from '../src/write-refused.ts';
import type { Context } from './context.ts';
import type { WriteArguments, WritePayload } from './writes.ts';

/** How long a mutation waits for its job before it answers that it runs. */
const DEFAULT_WAIT_SECONDS = 25;
const LONGEST_WAIT_SECONDS = 600;

export interface JobArguments extends WriteArguments {
  readonly waitSeconds?: number | null | undefined;
}

/** The job, and its report once it is done. */
export interface JobPayload<Report> extends WritePayload {
  readonly job: JobState;
  readonly report: Report | null;
}

async function runJob<Report>(args: JobArguments, ctx: Context, work: MaintenanceJob, changes: boolean): Promise<JobPayload<Report>> {
  const { maintenance, writers } = ctx.services;
  const waitSeconds = args.waitSeconds ?? DEFAULT_WAIT_SECONDS;
  if (!(waitSeconds >= 0 && waitSeconds <= LONGEST_WAIT_SECONDS)) {
    throw new WriteRefused('VALIDATION', `waitSeconds is between 0 and ${LONGEST_WAIT_SECONDS}.`);
  }
  if (changes && !writers.allowWrites) throw new WriteRefused('WRITES_OFF');
  const store = await ctx.store(args.profile);
  const { jobId } = maintenance.start({ profile: store.profile, path: store.path }, work);
  const job = await maintenance.outcome(jobId, waitSeconds * 1000);
  ctx.reset();
  const report = job.state === 'DONE' ? (job.result as Report) : null;
  return { job, report, profile: store.profile, clientMutationId: args.clientMutationId ?? null };
}

export type CheckPayload = JobPayload<CheckReport>;

export function checkStore(
  args: JobArguments & { readonly deep?: boolean | null | undefined; readonly writeProbe?: boolean | null | undefined },
  ctx: Context,
): Promise<CheckPayload> {
  const writeProbe = args.writeProbe ?? false;
  return runJob(args, ctx, { kind: 'CHECK', deep: args.deep ?? true, writeProbe }, writeProbe);
}

export type RepairPayload = JobPayload<RepairReport>;

export function repairStore(
  args: JobArguments & { readonly confirmFingerprint: string; readonly backup?: boolean | null | undefined },
  ctx: Context,
): Promise<RepairPayload> {
  const { confirmFingerprint } = args;
  return runJob(args, ctx, { kind: 'REPAIR', confirmFingerprint, backup: args.backup ?? true }, true);
}

export type RebuildPayload = JobPayload<RebuildReport>;

export async function rebuildSearchIndex(
  args: JobArguments & { readonly tables?: readonly IndexName[] | null | undefined },
  ctx: Context,
): Promise<RebuildPayload> {
  const dryRun = args.dryRun ?? false;
  const { path } = await ctx.store(args.profile);
  const lastRebuildAt = dryRun ? null : ctx.services.maintenance.lastRebuildOf(path);
  return runJob(args, ctx, { kind: 'REBUILD_INDEX', tables: args.tables ?? null, dryRun, lastRebuildAt }, !dryRun);
}

export type OptimizePayload = JobPayload<OptimizeReport>;

export function optimizeStore(args: JobArguments & { readonly confirmNoHolders: boolean }, ctx: Context): Promise<OptimizePayload> {
  if (!args.confirmNoHolders)
    throw new WriteRefused('VALIDATION', 'Stop every program that uses the store, then say confirmNoHolders: true.');
  return runJob(args, ctx, { kind: 'OPTIMIZE' }, true);
}

export function job(_: unknown, args: { readonly jobId: string }, ctx: Context): JobState | null {
  return ctx.services.maintenance.find(args.jobId);
}

export function jobProgress(_: unknown, args: { readonly jobId: string }, ctx: Context): AsyncIterable<JobState> {
  const stream = ctx.services.maintenance.follow(args.jobId, ctx.signal);
  if (stream === null) throw new InvalidInput('There is no such job; jobs are forgotten when the server ends.', {}, 'JOB_NOT_FOUND');
  return stream;
}
