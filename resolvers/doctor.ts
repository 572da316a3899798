/**
 * What is wrong with a profile's store and the files beside it.
 */
import { BUDGETS, type CheckRun, type DoctorReport, examine } from '../src/doctor/examine.ts';
import type { Finding } from '../src/doctor/finding.ts';
import { doctorSources } from '../src/doctor/sources.ts';
import type { SessionStore } from '../src/session-store.ts';
import type { Context } from './context.ts';

export type { CheckRun, DoctorReport, Finding };

export interface DoctorArguments {
  readonly profile?: string | null | undefined;
  readonly deep?: boolean | null | undefined;
}

/** Whoever asks while the same look is under way gets its report. */
const underWay = new WeakMap<SessionStore, Map<boolean, Promise<DoctorReport>>>();

export async function doctor(_: unknown, args: DoctorArguments, ctx: Context): Promise<DoctorReport> {
  const store = await ctx.store(args.profile);
  const deep = args.deep ?? false;
  const looks = underWay.get(store) ?? new Map<boolean, Promise<DoctorReport>>();
  underWay.set(store, looks);
  const known = looks.get(deep);
  if (known !== undefined) return known;
  const look = lookAt(store, deep, ctx).finally(() => looks.delete(deep));
  looks.set(deep, look);
  return look;
}

function lookAt(store: SessionStore, deep: boolean, { services }: Context): Promise<DoctorReport> {
  const { webUiHome, runs, profiles, onError } = services;
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
  return examine(sources, { budgetMs: deep ? BUDGETS.deep : BUDGETS.quick, onError: (_, error) => onError(error) });
}
