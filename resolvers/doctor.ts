/**
 * What is wrong with a profile's store and the files beside it.
 */
import { BUDGETS, type CheckRun, type DoctorReport, examine } from '../src/doctor/examine.ts';
import type { Finding } from '../src/doctor/finding.ts';
import { doctorSources } from '../src/doctor/sources.ts';
import type { Context } from './context.ts';

export type { CheckRun, DoctorReport, Finding };

export interface DoctorArguments {
  readonly profile?: string | null | undefined;
  readonly deep?: boolean | null | undefined;
}

export async function doctor(_: unknown, args: DoctorArguments, ctx: Context): Promise<DoctorReport> {
  const store = await ctx.store(args.profile);
  const { webUiHome, runs, profiles } = ctx.services;
  const deep = args.deep ?? false;
  const sources = doctorSources({
    store,
    storePath: store.path,
    deep,
    now: () => Date.now() / 1000,
    webUiHome,
    runs,
    profiles: () => profiles.names(),
    stores: () => profiles.stores(),
  });
  return examine(sources, { budgetMs: deep ? BUDGETS.deep : BUDGETS.quick });
}
