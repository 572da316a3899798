/**
 * The doctor over a home, with the parts that a server has:
 *
 *   const report = await examined(home, { deep: true });
 */
import { join } from 'node:path';
import { type DoctorReport, type ExamineOptions, examine } from '../../src/doctor/examine.ts';
import { type DoctorSources, doctorSources } from '../../src/doctor/sources.ts';
import { RunSummaries } from '../../src/live/journal/run-summary.ts';
import { SidecarWatch } from '../../src/web-ui/sidecar-watch.ts';
import { WebUiHome } from '../../src/web-ui/web-ui-home.ts';
import { openStore } from './open-store.ts';

export interface ExaminedAt {
  readonly deep?: boolean;
  /** Epoch seconds; default: the wall clock. */
  readonly now?: number;
}

export function sourcesOf(home: string, { deep = false, now: at }: ExaminedAt = {}): DoctorSources {
  const stateDir = join(home, 'webui');
  const sessionsDir = join(stateDir, 'sessions');
  const now = () => at ?? Date.now() / 1000;
  const store = openStore(join(home, 'state.db'), { now });
  return doctorSources({
    store,
    storePath: store.path,
    deep,
    now,
    webUiHome: new WebUiHome({ stateDir, claudeRoot: null, watch: new SidecarWatch({ sessionsDir }), onError: () => {} }),
    runs: new RunSummaries(join(sessionsDir, '_run_journal')),
    profiles: async () => ['default'],
    stores: async () => [store],
  });
}

export function examined(home: string, at: ExaminedAt = {}, options: Partial<ExamineOptions> = {}): Promise<DoctorReport> {
  return examine(sourcesOf(home, at), { budgetMs: 30_000, ...options });
}

/** `CODE subject` of each finding, the machine's left out: they depend on where the test runs. */
export function told({ findings }: DoctorReport): string[] {
  return findings.filter(({ area }) => area !== 'MACHINE').map(({ code, subject }) => (subject === null ? code : `${code} ${subject}`));
}
