/**
 * `caduceus doctor`: the same report without a server, on standard output. Writes nothing in the home.
 */

import { join } from 'node:path';
import type { Command } from 'commander';
import { type Config, readConfig, SETTINGS } from '../config.ts';
import { CaduceusError } from '../errors.ts';
import { JobPool } from '../jobs/pool.ts';
import { runJournalRoot } from '../live/journal/ids.ts';
import { RunSummaries } from '../live/journal/run-summary.ts';
import { locateHome, noSuchProfile, profileNames, storePathOf } from '../profiles.ts';
import { programUrl } from '../program-url.ts';
import { StateDbStore } from '../state-db/store.ts';
import { SidecarWatch } from '../web-ui/sidecar-watch.ts';
import { WebUiHome } from '../web-ui/web-ui-home.ts';
import { BUDGETS, type DoctorReport, examine } from './examine.ts';
import { printable, printedReport } from './print-report.ts';
import { doctorSources } from './sources.ts';
import { StoreCopies } from './store-copies.ts';

/** What the process ends with. 1 is also what a wrong flag or a failure gives. */
export const EXIT_CODES = { HEALTHY: 0, WARNING: 1, ERROR: 2, FAILED: 3 } as const;

/** The settings that have a part in it. */
const SHARED = ['home', 'webUiDir', 'profile', 'slowReadLimit', 'largestCatalogue'] as const;

export function addDoctor(program: Command): void {
  const command = program
    .command('doctor')
    .description(
      'Say what is wrong with a store and the files beside it, and which mutation mends it. Needs no server and writes nothing. Exit code: 0 healthy, 1 warnings, 2 errors, 3 it could not be done.',
    )
    .option('--deep', 'Read everything: all pages of the store, all session files, backups and journals.')
    .option('--json', 'Print the report as JSON.');
  for (const name of SHARED) {
    const { flag, meaning, environment, shownDefault } = SETTINGS[name];
    command.option(flag, `${meaning} (${environment}; default: ${shownDefault || 'none'})`);
  }
  command.action(async ({ deep, json, ...flags }: Record<string, string | boolean>) => {
    process.exitCode = await run(flags, { deep: deep === true, json: json === true });
  });
}

async function run(flags: Record<string, string | boolean>, { deep, json }: { deep: boolean; json: boolean }): Promise<number> {
  // Processes that read are not waited for by themselves.
  const awake = setInterval(() => {}, 60_000);
  try {
    const report = await examineHome(readConfig(flags, process.env), deep);
    process.stdout.write(
      json
        ? `${JSON.stringify({ ...report, checkedAt: new Date(report.checkedAt * 1000).toISOString() }, null, 2)}\n`
        : printedReport(report),
    );
    return exitCodeOf(report);
  } catch (error) {
    if (!(error instanceof CaduceusError)) throw error;
    process.stderr.write(`caduceus: ${error.message}\n`);
    return EXIT_CODES.FAILED;
  } finally {
    clearInterval(awake);
  }
}

export function exitCodeOf({ findings }: Pick<DoctorReport, 'findings'>): number {
  if (findings.some(({ severity }) => severity === 'ERROR')) return EXIT_CODES.ERROR;
  return findings.some(({ severity }) => severity === 'WARNING') ? EXIT_CODES.WARNING : EXIT_CODES.HEALTHY;
}

/** The report on one profile of a home. Throws `CaduceusError`: PROFILE_NOT_FOUND, NO_SPACE. */
export async function examineHome(config: Config, deep: boolean): Promise<DoctorReport> {
  const hermes = locateHome(config.home);
  const profile = config.profile ?? hermes.profile;
  const names = await profileNames(hermes.root);
  if (!names.includes(profile)) throw noSuchProfile(profile, `There are: ${names.join(', ')}.`);
  const stateDir = config.webUiDir ?? join(hermes.root, 'webui');
  const sessionsDir = join(stateDir, 'sessions');
  const now = () => Date.now() / 1000;
  const jobs = new JobPool(programUrl('./jobs/job-process'), config.slowReaders);
  const copies = new StoreCopies();
  const stores = new Map<string, StateDbStore>();
  const webUiHome = new WebUiHome({ stateDir, claudeRoot: null, watch: new SidecarWatch({ sessionsDir }), onError: () => {} });
  const open = async (name: string): Promise<StateDbStore> => {
    const path = await copies.pathFor(storePathOf(hermes.root, name));
    const store = stores.get(name) ?? newStore(config, name, path, jobs, now);
    stores.set(name, store);
    return store;
  };
  try {
    const sources = doctorSources({
      store: await open(profile),
      storePath: storePathOf(hermes.root, profile),
      deep,
      now,
      webUiHome,
      runs: new RunSummaries(runJournalRoot(sessionsDir)),
      profiles: async () => names,
      stores: () => Promise.all(names.map(open)),
    });
    return await examine(sources, { budgetMs: deep ? BUDGETS.deep : BUDGETS.quick, onError: sayWhy });
  } finally {
    for (const store of stores.values()) store.close();
    webUiHome.close();
    await jobs.renew();
    jobs.close();
    await copies.close();
  }
}

/** The report itself says which check failed, and not why. */
function sayWhy(check: string, error: unknown): void {
  process.stderr.write(`caduceus: the check ${check} failed: ${printable(error instanceof Error ? error.message : String(error))}\n`);
}

function newStore(config: Config, profile: string, path: string, jobs: JobPool, now: () => number): StateDbStore {
  return new StateDbStore({
    profile,
    path,
    overlay: null,
    strictObserver: false,
    largestCatalogue: config.largestCatalogue,
    slowReadLimitMs: config.slowReadLimit,
    largestTranscript: config.maxTranscriptMessages,
    jobs,
    now,
  });
}
