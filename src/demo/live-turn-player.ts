/**
 * A program that plays live turns into a demo store, in a process of its own, as an agent would:
 *
 *   node live-turn-player.js <path to state.db> [--web-ui-dir DIR] [--session ID] [--pace-ms N] [--turns N|forever] [--parent-pid PID]
 *
 * With `--web-ui-dir`, the state directory of a Web UI, it plays the Web UI's part too: turns that aren't those of a chat platform stream
 * their text into a run journal, as `spec/live-turns.md` 2 orders it. It ends after its turns, at SIGTERM or SIGINT, or when the process that started it is gone; a lease that
 * it holds is given back, and a run of the Web UI counts as cancelled.
 */
import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import { playTurn, type TurnOptions } from './live-turn.ts';
import { removeOldRuns } from './old-runs.ts';
import { SeededRandom } from './random.ts';
import { parseScripts, type Script } from './script.ts';
import { LIVE_SCRIPTS } from './scripts-live.ts';
import { setWriterPragmas } from './state-db-schema.ts';
import { TurnLost } from './turn-writer.ts';
import { WebUiFiles } from './web-ui-files.ts';
import { WebUiRun } from './web-ui-run.ts';

export { playTurn, type TurnOptions, type TurnStep } from './live-turn.ts';

/** One beat: slow enough to follow, fast enough not to wait for. A turn has about fifteen. */
const DEFAULT_PACE_MS = 1500;
const REST_BEATS = 8;
/** A session that has grown longer is left to rest: a player that runs for days must not make one without end. */
const MAX_MESSAGES = 300;
/** Journals of finished runs that stay: enough to look back at, and a player that runs for days fills no disk. */
const KEPT_RUNS = 5;
/** Their turns run in the gateway, which writes no journal. */
const CHAT_PLATFORMS: ReadonlySet<string> = new Set(['telegram', 'discord']);
const PARENT_POLL_MS = 1000;
/** The owner's patience with other writers; waiting blocks nobody in this process. */
const BUSY_TIMEOUT_MS = 20_000;

export interface PlayerOptions {
  /** Play in this session only; without it the scripts choose. */
  readonly session?: string | undefined;
  readonly paceMs?: number;
  /** The Web UI's state directory, which has `sessions/` below it; without it only the store shows the turns. */
  readonly webUiDir?: string | undefined;
  /** How many turns; `Infinity` goes on until the signal. */
  readonly turns?: number;
  readonly signal?: AbortSignal;
}

/**
 * Plays turns into the store at `path`, one after another. Ends when the turns are done or the signal is aborted; the lease is released
 * either way. Throws SqliteError when the store can't be opened or written.
 */
export async function playTurns(path: string, options: PlayerOptions = {}): Promise<void> {
  const { paceMs = DEFAULT_PACE_MS, turns = Number.POSITIVE_INFINITY, signal = new AbortController().signal } = options;
  const webUi = options.webUiDir === undefined ? null : new WebUiFiles(options.webUiDir);
  const scripts = parseScripts(LIVE_SCRIPTS);
  const db = new Database(path, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
  try {
    setWriterPragmas(db);
    let last: string | undefined;
    for (let turn = 0; turn < turns && !signal.aborted; turn += 1) {
      const script = scripts[turn % scripts.length];
      if (script === undefined) return;
      const chosen = turnOptions(db, script, options.session, last);
      last = await perform(db, webUi === null ? chosen : throughWebUi(chosen, webUi), paceMs, signal);
      if (webUi !== null) removeOldRuns(webUi, KEPT_RUNS);
      await pause(REST_BEATS * paceMs, signal);
    }
  } finally {
    db.close();
  }
}

/** What would be said in a terminal is said in the Web UI, which may go on with sessions of the terminal and closes none. */
function throughWebUi(options: TurnOptions, files: WebUiFiles): TurnOptions {
  if (CHAT_PLATFORMS.has(options.script.source)) return options;
  const random = new SeededRandom(randomBytes(4).readUInt32LE());
  const webUi = new WebUiRun(files, random, randomBytes(16).toString('hex'));
  return { ...options, script: { ...options.script, source: 'webui' }, end: undefined, webUi };
}

/** Gives the session where the turn ended; undefined when it was lost. */
async function perform(db: Database.Database, options: TurnOptions, paceMs: number, signal: AbortSignal): Promise<string | undefined> {
  let sessionId = options.sessionId;
  try {
    for (const step of playTurn(db, options)) {
      sessionId = step.sessionId;
      await pause(step.beats * paceMs, signal);
      if (signal.aborted) break;
    }
  } catch (error) {
    if (error instanceof TurnLost) return undefined;
    throw error;
  }
  return sessionId;
}

function turnOptions(db: Database.Database, script: Script, only: string | undefined, last: string | undefined): TurnOptions {
  const rotate = script.settings.has('rotate');
  if (only !== undefined) return { script, sessionId: only, rotate };
  const where = script.settings.get('where');
  const sessionId = where === 'new' ? undefined : where === 'last' ? last : newestOpen(db, script.source);
  return { script, sessionId, rotate, end: script.settings.get('end') };
}

/** The newest session of a source that somebody could be talking in: open, in the list, not busy, not waiting for a helper. */
function newestOpen(db: Database.Database, source: string): string | undefined {
  const sql = `
    SELECT id FROM sessions WHERE source = ? AND ended_at IS NULL AND archived = 0 AND hidden = 0
      AND message_count BETWEEN 1 AND ? AND id NOT IN (SELECT conversation_id FROM session_turn_leases WHERE expires_at > ?)
      AND id NOT IN (SELECT parent_session_id FROM async_delegations WHERE state IN ('running', 'finalizing') AND parent_session_id IS NOT NULL)
    ORDER BY started_at DESC LIMIT 1`;
  return db.prepare<[string, number, number], { id: string }>(sql).get(source, MAX_MESSAGES, Date.now() / 1000)?.id;
}

/** Waits, or returns at once when the signal is aborted. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done);
  });
}

/** A signal that is aborted when this process should end. */
function endOfProcess(parentPid: number | null): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  for (const event of ['SIGTERM', 'SIGINT', 'disconnect']) process.on(event, stop);
  if (parentPid !== null) setInterval(() => isAlive(parentPid) || stop(), PARENT_POLL_MS).unref();
  return controller.signal;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

const USAGE =
  'Usage: live-turn-player <path to state.db> [--web-ui-dir DIR] [--session ID] [--pace-ms N] [--turns N|forever] [--parent-pid PID]';

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'web-ui-dir': { type: 'string' },
      session: { type: 'string' },
      'pace-ms': { type: 'string', default: String(DEFAULT_PACE_MS) },
      turns: { type: 'string', default: 'forever' },
      'parent-pid': { type: 'string' },
    },
  });
  const [path] = positionals;
  const paceMs = Number(values['pace-ms']);
  const turns = values.turns === 'forever' ? Number.POSITIVE_INFINITY : Number(values.turns);
  const parentPid = values['parent-pid'] === undefined ? null : Number(values['parent-pid']);
  if (path === undefined || !(paceMs >= 0) || !(turns >= 0) || (parentPid !== null && !(parentPid > 0))) {
    process.stderr.write(`${USAGE}\n`);
    process.exitCode = 2;
    return;
  }
  await playTurns(path, { webUiDir: values['web-ui-dir'], session: values.session, paceMs, turns, signal: endOfProcess(parentPid) });
  // An open IPC channel would keep a process alive that has nothing left to do.
  if (process.connected) process.disconnect();
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await main();
