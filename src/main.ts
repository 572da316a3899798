/**
 * Puts the house together: configuration, stores, schema, server. The only file of src/ that knows schema/ and resolvers/.
 */

import { readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import pino, { type Logger } from 'pino';
import { type Context, createContext, type Services } from '../resolvers/context.ts';
import { schema } from '../schema/index.ts';
import { collapseRepeats } from './collapse-repeats.ts';
import { type Config, readConfig, SETTINGS } from './config.ts';
import { addDoctor } from './doctor/command.ts';
import { CaduceusError } from './errors.ts';
import { ExportFiles } from './exports/export-files.ts';
import { JobPool } from './jobs/pool.ts';
import { runJournalRoot } from './live/journal/ids.ts';
import { RunSummaries } from './live/journal/run-summary.ts';
import { LiveTurns } from './live/live-turns.ts';
import { WebUiLiveness } from './live/liveness/web-ui-liveness.ts';
import { SessionFeed } from './live/session-feed.ts';
import { StoreWatches } from './live/store-watches.ts';
import { WebUiTurns } from './live/web-ui-turns.ts';
import { Maintenance } from './maintenance/maintenance.ts';
import { type HermesHome, locateHome, ProfileRegistry } from './profiles.ts';
import { programUrl } from './program-url.ts';
import { Engine } from './server/engine.ts';
import { Gate } from './server/gate.ts';
import { GraphQLHttp } from './server/graphql-http.ts';
import { ENDPOINT, HttpServer } from './server/http-server.ts';
import { loadToken, TokenCheck } from './server/token.ts';
import { StateDbStore } from './state-db/store.ts';
import { OpenSessions } from './web-ui/open-sessions.ts';
import { ProfileOverlay } from './web-ui/profile-overlay.ts';
import { SidecarWatch } from './web-ui/sidecar-watch.ts';
import { WebUiHome } from './web-ui/web-ui-home.ts';
import { finishAtStart, storesWithLeftovers } from './writing/finish-at-start.ts';
import { StoreWriters } from './writing/store-writers.ts';

/** How long a message that can't be written waits for a new index. */
const REBUILD_WAIT_MS = 60_000;

export interface RunningServer {
  /** Without the token. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** The command line. Ends the process with code 1 and one sentence when it can't start. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('caduceus')
    .description('A GraphQL API over the session store of the Hermes Agent and the Hermes Web UI.')
    .version(version())
    .configureOutput({ outputError: (text, write) => write(usageProblem(text)) });
  const serve = program.command('serve').description('Serve the stores of this machine over HTTP, SSE and WebSocket.');
  for (const entry of Object.values(SETTINGS))
    serve.option(entry.flag, `${entry.meaning} (${entry.environment}; default: ${entry.shownDefault || 'none'})`);
  serve.action(async (flags: Record<string, string | boolean>) => {
    // Commander takes --no-auth for the negation of an option called auth.
    const { auth, ...others } = flags;
    await run({ ...others, ...(auth === false ? { noAuth: true } : {}) });
  });
  addDoctor(program);
  await program.parseAsync([...argv], { from: 'user' });
}

/** What Commander says of a wrong flag, as one sentence of ours. */
function usageProblem(text: string): string {
  const [problem = '', hint = ''] = text
    .replace(/^error: /, '')
    .trim()
    .replace(/\.$/, '')
    .split(/\s*\n\s*/);
  return `caduceus: ${problem}${hint === '' ? '' : ` ${hint}`}; "caduceus serve --help" shows what there is.\n`;
}

async function run(flags: Record<string, string | boolean>): Promise<void> {
  try {
    const config = readConfig(flags, process.env);
    const log = pino({ level: config.logLevel, base: null, redact: ['token', '*.token'] }, pino.destination({ dest: 2, sync: false }));
    const starting = startServer(config, log);
    // Also for a signal that comes during the start, or the moment after it. One that fails is reported below.
    const stop = () => {
      starting
        .then((server) => server.close())
        .then(
          () => process.exit(0),
          () => {},
        );
    };
    process.once('SIGINT', stop);
    process.once('SIGTERM', stop);
    await starting;
  } catch (error) {
    if (!(error instanceof CaduceusError)) throw error;
    process.stderr.write(`caduceus: ${error.message}\n`);
    process.exit(1);
  }
}

/** Starts everything and prints the address. Throws `CaduceusError` when it can't. */
export async function startServer(
  config: Config,
  log: Logger,
  print: (line: string) => void = (line) => process.stdout.write(`${line}\n`),
): Promise<RunningServer> {
  const secret = config.noAuth
    ? null
    : (config.token ?? (await loadToken(config.stateDir).catch(pathProblem('--state-dir', config.stateDir))));
  const token = secret === null ? null : new TokenCheck(secret);
  const demo = await startDemo(config).catch(pathProblem('--state-dir', config.stateDir));
  const jobs = new JobPool(programUrl('./jobs/job-process'), config.slowReaders);
  // The demo is a root of its own, wherever it lies.
  const hermes = demo === null ? locateHome(config.home) : locateHome(demo.home, demo.home);
  // It has its Web UI in its own home, wherever that of this machine is, and shows nobody's transcripts.
  const webUiDir = (demo === null ? config.webUiDir : null) ?? join(hermes.root, 'webui');
  const sessionsDir = join(webUiDir, 'sessions');
  const onError = collapseRepeats((error, times) => log.error({ err: error, times }, 'looking at a store failed'));
  const watches = new StoreWatches(onError);
  const sidecarWatch = new SidecarWatch({ sessionsDir });
  const webUiHome = new WebUiHome({
    stateDir: webUiDir,
    claudeRoot: demo === null ? config.claudeProjectsDir : null,
    watch: sidecarWatch,
    onError,
  });
  const profiles = openProfiles(config, hermes, { jobs, webUiHome, onError });
  const journalRoot = runJournalRoot(sessionsDir);
  const runs = new RunSummaries(journalRoot);
  const feed = new SessionFeed(watches, new WebUiTurns({ sessionsDir, watch: sidecarWatch, onError }));
  const liveTurns = new LiveTurns({ watches, sidecarWatch, sessionsDir, now: () => Date.now() / 1000, onError });
  const writers = new StoreWriters({
    entry: programUrl('./writing/writer-process'),
    allowWrites: config.allowWrites,
    receiptsPath: join(config.stateDir, 'receipts.db'),
    webUiDir,
    webUiUrl: demo === null ? config.webUiUrl : null,
    longestPatienceSeconds: config.writePatience,
    detachCjkIndex: config.detachCjkIndex,
    cjkLibrary: config.cjkLibrary,
    rebuildIndex: async (store) => {
      const work = { kind: 'REBUILD_INDEX', tables: null, dryRun: false, lastRebuildAt: maintenance.lastRebuildOf(store.path) } as const;
      try {
        const { jobId } = maintenance.start(store, work);
        const { state } = await maintenance.outcome(jobId, REBUILD_WAIT_MS);
        return state === 'DONE' ? 'REBUILT' : 'SKIPPED';
      } catch (error) {
        log.warn({ err: error, profile: store.profile }, 'the search index could not be rebuilt');
        return 'SKIPPED';
      }
    },
    onEvent: (profile, event) => log.warn({ profile, ...event }, 'messages of a session could not be written as usual'),
  });
  const maintenance = new Maintenance({
    entry: programUrl('./maintenance/maintenance-process'),
    now: () => Date.now() / 1000,
    cjkLibrary: config.cjkLibrary,
    ours: () => [process.pid, ...jobs.pids, ...writers.pids],
    isQuarantined: (path) => writers.quarantineOf(path) !== null,
    closeStore: async ({ profile, path }) => {
      const reopen = await (await profiles.store(profile)).suspend();
      await Promise.all([jobs.renew(), writers.endWriterOf(path)]);
      return reopen;
    },
  });
  const exports = new ExportFiles(join(config.stateDir, `exports-${process.pid}`));
  const services: Services = {
    exports,
    maintenance,
    profiles,
    writers,
    feed,
    liveTurns,
    journalRoot,
    runs,
    webUi: new WebUiLiveness({ sessionsDir, runs, now: () => Date.now() / 1000 }),
    webUiHome,
    openSessions: new OpenSessions(webUiHome, config.maxTranscriptMessages),
    onError,
    version: version(),
    writable: config.allowWrites,
    limits: { maxCost: config.maxCost, maxDepth: config.maxDepth },
  };
  const engine = new Engine<Context>({
    schema,
    createContext: (signal) => createContext(services, signal),
    log,
    limits: config,
    endpoint: ENDPOINT,
  });
  const gate = new Gate({ token, host: config.host, allowedHosts: config.allowedHosts, allowedOrigins: config.allowedOrigins });
  const graphql = new GraphQLHttp(engine, config);
  const server = new HttpServer({
    engine,
    graphql,
    gate,
    token,
    exports,
    log,
    maxBodyBytes: config.maxBodyBytes,
    maxSubscriptions: config.maxSubscriptions,
  });
  const close = async () => {
    demo?.stop();
    await server.close();
    await Promise.all([writers.close(), maintenance.close(), exports.close()]);
    feed.close();
    liveTurns.close();
    watches.close();
    profiles.close();
    webUiHome.close();
    jobs.close();
  };
  try {
    const left = await storesWithLeftovers(writers, await profiles.stores(), Date.now() / 1000);
    const port = await server.listen(config.host, config.port);
    const url = `http://${config.host.includes(':') && !config.host.startsWith('[') ? `[${config.host}]` : config.host}:${port}/`;
    if (config.readyFile !== null)
      await writeReadyFile(config.readyFile, {
        url,
        graphql: new URL(ENDPOINT, url).href,
        port,
        pid: process.pid,
        token: secret,
        home: profiles.home.root,
      }).catch(pathProblem('--ready-file', config.readyFile));
    print(secret === null ? url : `${url}#token=${encodeURIComponent(secret)}`);
    log.info({ url, home: profiles.home.root, demo: demo !== null, version: version() }, 'listening');
    // Opened ahead of the first request, so that it doesn't wait for the catalogue or for a process to start.
    jobs.warmUp();
    void profiles
      .stores()
      .then(async (stores) => {
        await Promise.all(stores.map((store) => store.check()));
        await finishAtStart(writers, left);
      })
      .catch((error: unknown) => log.error({ err: error }, 'opening the stores, or finishing what was left in them, failed'));
    return { url, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface StoreParts {
  readonly jobs: JobPool;
  readonly webUiHome: WebUiHome;
  readonly onError: (error: unknown) => void;
}

function openProfiles(config: Config, home: HermesHome, { jobs, webUiHome, onError }: StoreParts): ProfileRegistry {
  const registry: ProfileRegistry = new ProfileRegistry(home, config.profile, (profile, path) => {
    const beside = { home: webUiHome, profile, profileHome: dirname(path), profiles: () => registry.names(), onError };
    return new StateDbStore({
      profile,
      path,
      overlay: new ProfileOverlay(beside),
      overlayAlone: new ProfileOverlay({ ...beside, isAlone: true }),
      strictObserver: config.strictObserver,
      largestCatalogue: config.largestCatalogue,
      slowReadLimitMs: config.slowReadLimit,
      largestTranscript: config.maxTranscriptMessages,
      jobs,
      now: () => Date.now() / 1000,
    });
  });
  return registry;
}

interface Demo {
  readonly home: string;
  readonly stop: () => void;
}

/** The demo home when it was asked for, or when the machine has neither a store nor a Web UI of its own; with a turn that plays in another process. */
async function startDemo(config: Config): Promise<Demo | null> {
  if (!config.demo && (await hasStore(config))) return null;
  const [{ ensureDemoHome, webUiDir }, { fork }] = await Promise.all([import('./demo/demo-store.ts'), import('node:child_process')]);
  const { home } = await ensureDemoHome(join(config.stateDir, 'demo'));
  const player = fork(
    programUrl('./demo/live-turn-player'),
    [join(home, 'state.db'), '--web-ui-dir', webUiDir(home), '--turns', 'forever'],
    { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
  );
  player.unref();
  player.channel?.unref();
  return { home, stop: () => player.kill() };
}

async function hasStore(config: Config): Promise<boolean> {
  const { stat } = await import('node:fs/promises');
  const { root } = locateHome(config.home);
  const exists = (path: string) =>
    stat(path).then(
      () => true,
      () => false,
    );
  // A home that was named is served as it is, so that a wrong path shows as NOT_FOUND and not as a demo.
  const named = config.home !== SETTINGS.home.fallback(process.env);
  const places = [join(root, 'state.db'), join(root, 'profiles'), join(config.webUiDir ?? join(root, 'webui'), 'sessions')];
  return named || (await Promise.all(places.map(exists))).includes(true);
}

/** A handler for what goes wrong with a folder or file that a flag names. */
function pathProblem(flag: string, path: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof CaduceusError || !(error instanceof Error && 'code' in error)) throw error;
    throw new CaduceusError('PATH_UNUSABLE', `${path} can't be used (${error.code}). Choose another with ${flag}.`, { cause: error });
  };
}

/** Written beside and renamed: whoever waits for the file reads all of it. It holds the token, so only its owner may read it. */
async function writeReadyFile(path: string, facts: object): Promise<void> {
  // A file that is there already would keep its own mode.
  await rm(`${path}.tmp`, { force: true });
  await writeFile(`${path}.tmp`, `${JSON.stringify(facts)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(`${path}.tmp`, path);
}

function version(): string {
  for (const path of ['../package.json', '../../package.json']) {
    try {
      const found: unknown = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
      if (typeof found === 'object' && found !== null && 'version' in found) return String(found.version);
    } catch {
      // A build lies one folder deeper than the sources.
    }
  }
  return 'unknown';
}
