/**
 * Every setting of the server in one table: flag, environment variable, default, meaning. The flag wins over the variable.
 */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { claudeProjectsRoot } from './claude-code/project-folders.ts';
import { InvalidInput } from './errors.ts';

interface Setting<T> {
  /** As typed on the command line, with the placeholder of its value; a flag without one is a switch. */
  readonly flag: string;
  readonly environment: string;
  readonly type: z.ZodType<T, string>;
  /** Computed where it depends on the machine. */
  readonly fallback: (environment: NodeJS.ProcessEnv) => T;
  /** The default as documentation shows it. */
  readonly shownDefault: string;
  readonly meaning: string;
}

const text = z.string().trim().min(1, 'must not be empty');
const folder = text.transform((path) => resolve(path.replace(/^~(?=$|\/)/, homedir())));
const toggle = z.enum(['1', 'true', '0', 'false', ''], { error: 'must be 1 or 0' }).transform((value) => value === '1' || value === 'true');
const list = z.string().transform((value) =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);

function wholeNumber(least: number, most: number): z.ZodType<number, string> {
  const message = `must be a whole number between ${least} and ${most}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .refine((value) => value >= least && value <= most, message);
}

function isWebAddress(value: string): boolean {
  return ['http:', 'https:'].includes(URL.parse(value)?.protocol ?? '');
}

function setting<T>(
  flag: string,
  environment: string,
  type: z.ZodType<T, string>,
  fallback: T | ((environment: NodeJS.ProcessEnv) => T),
  meaning: string,
  shownDefault?: string,
): Setting<T> {
  const compute = typeof fallback === 'function' ? (fallback as (environment: NodeJS.ProcessEnv) => T) : () => fallback;
  const shown =
    shownDefault ??
    (typeof fallback === 'boolean' ? (fallback ? '1' : '0') : Array.isArray(fallback) ? fallback.join(',') : String(fallback ?? ''));
  return { flag, environment, type, fallback: compute, shownDefault: shown, meaning };
}

export const SETTINGS = {
  home: setting('--home <dir>', 'HERMES_HOME', folder, defaultHome, 'The Hermes home; its profiles are served too.', '~/.hermes'),
  webUiDir: setting<string | null>(
    '--web-ui-dir <dir>',
    'HERMES_WEBUI_STATE_DIR',
    folder,
    null,
    'The state folder of the Hermes Web UI: its session files, projects and run journals.',
    'webui in the Hermes home',
  ),
  webUiUrl: setting<string | null>(
    '--web-ui-url <url>',
    'CADUCEUS_WEB_UI_URL',
    z.string().trim().refine(isWebAddress, 'must be an address that begins with http:// or https://'),
    null,
    'Where a running Hermes Web UI answers. It is asked whether a turn that was left behind still runs, and nothing else is sent to it.',
    'it is not asked',
  ),
  claudeProjectsDir: setting<string | null>(
    '--claude-projects-dir <dir>',
    'HERMES_WEBUI_CLAUDE_PROJECTS_DIR',
    folder,
    claudeProjectsRoot,
    'Where Claude Code keeps its transcripts; they are listed where there is a Web UI.',
    '~/.claude/projects',
  ),
  profile: setting<string | null>(
    '--profile <name>',
    'CADUCEUS_PROFILE',
    text,
    null,
    'The profile that requests mean when they name none.',
    "the home's own profile",
  ),
  host: setting('--host <address>', 'CADUCEUS_HOST', text, '127.0.0.1', 'The address to listen on. Anything but loopback needs a token.'),
  port: setting('--port <number>', 'CADUCEUS_PORT', wholeNumber(0, 65_535), 4000, 'The port to listen on; 0 picks a free one.'),
  token: setting<string | null>(
    '--token <secret>',
    'CADUCEUS_TOKEN',
    // It travels in a header.
    z.string().regex(/^[!-~]{16,}$/, 'must have at least 16 characters: letters, digits and signs of ASCII, without spaces'),
    null,
    'The token that every request must carry.',
    'made at first start, kept in the state folder',
  ),
  noAuth: setting('--no-auth', 'CADUCEUS_NO_AUTH', toggle, false, 'Ask for no token; on loopback only.'),
  allowWrites: setting(
    '--allow-writes',
    'CADUCEUS_ALLOW_WRITES',
    toggle,
    false,
    'Allow operations that change a store; without it only their dry runs are answered.',
  ),
  writePatience: setting(
    '--write-patience <seconds>',
    'CADUCEUS_WRITE_PATIENCE',
    wholeNumber(0, 60),
    60,
    'Seconds that a write waits at most while other programs keep the store locked.',
  ),
  detachCjkIndex: setting(
    '--detach-cjk-index',
    'CADUCEUS_DETACH_CJK_INDEX',
    toggle,
    false,
    'Give up the index for Chinese, Japanese and Korean where its tokenizer is missing, instead of refusing to write messages.',
  ),
  cjkLibrary: setting<string | null>(
    '--cjk-library <file>',
    'HERMES_FTS5_CJK_SO',
    folder,
    null,
    'The library of the tokenizer cjk_unicode61.',
    'lib/libfts5_cjk.so in the Hermes home',
  ),
  demo: setting('--demo', 'CADUCEUS_DEMO', toggle, false, 'Serve invented sessions instead of your own, with a live turn that plays.'),
  stateDir: setting(
    '--state-dir <dir>',
    'CADUCEUS_STATE_DIR',
    folder,
    defaultStateDir,
    "The server's own files: its token, the receipts of mutations and the demo store.",
    '~/.local/state/caduceus',
  ),
  logLevel: setting(
    '--log-level <level>',
    'CADUCEUS_LOG_LEVEL',
    z.enum(['silent', 'error', 'warn', 'info', 'debug'], { error: 'must be silent, error, warn, info or debug' }),
    'info',
    'How much is logged on standard error: silent, error, warn, info or debug.',
  ),
  readyFile: setting<string | null>(
    '--ready-file <file>',
    'CADUCEUS_READY_FILE',
    folder,
    null,
    'Where to write the address as JSON once the server listens.',
    'none',
  ),
  allowedHosts: setting<string[]>(
    '--allowed-hosts <names>',
    'CADUCEUS_ALLOWED_HOSTS',
    list,
    () => [],
    'More host names under which the server may be reached, separated by commas.',
    'none',
  ),
  allowedOrigins: setting<string[]>(
    '--allowed-origins <origins>',
    'CADUCEUS_ALLOWED_ORIGINS',
    list,
    () => [],
    'Web origins whose pages may use the API, separated by commas.',
    'none',
  ),
  strictObserver: setting(
    '--strict-observer',
    'CADUCEUS_STRICT_OBSERVER',
    toggle,
    false,
    'Do not open a store whose -wal file is absent, since opening would create it.',
  ),
  slowReadLimit: setting(
    '--slow-read-limit <ms>',
    'CADUCEUS_SLOW_READ_LIMIT',
    wholeNumber(10, 600_000),
    10_000,
    'Milliseconds that a search, an aggregate or a long transcript may take.',
  ),
  slowReaders: setting('--slow-readers <number>', 'CADUCEUS_SLOW_READERS', wholeNumber(1, 16), 2, 'Processes for slow reads.'),
  largestCatalogue: setting(
    '--largest-catalogue <sessions>',
    'CADUCEUS_LARGEST_CATALOGUE',
    wholeNumber(0, 10_000_000),
    200_000,
    'Sessions of a store that are kept in memory; lists of larger stores come from SQL.',
  ),
  maxTranscriptMessages: setting(
    '--max-transcript-messages <number>',
    'CADUCEUS_MAX_TRANSCRIPT_MESSAGES',
    wholeNumber(0, 10_000_000),
    20_000,
    'Messages that a whole transcript may have; 0 is no limit.',
  ),
  maxDepth: setting('--max-depth <levels>', 'CADUCEUS_MAX_DEPTH', wholeNumber(1, 1000), 16, 'Levels of fields that an operation may nest.'),
  maxCost: setting(
    '--max-cost <points>',
    'CADUCEUS_MAX_COST',
    wholeNumber(1, 1_000_000_000),
    100_000,
    'Cost that an operation may have: its fields, times the sizes of its pages.',
  ),
  maxAliases: setting('--max-aliases <number>', 'CADUCEUS_MAX_ALIASES', wholeNumber(0, 100_000), 50, 'Aliases that a document may use.'),
  maxTokens: setting('--max-tokens <number>', 'CADUCEUS_MAX_TOKENS', wholeNumber(10, 1_000_000), 5000, 'Tokens that a document may have.'),
  maxBodyBytes: setting(
    '--max-body-bytes <bytes>',
    'CADUCEUS_MAX_BODY_BYTES',
    wholeNumber(1024, 1_000_000_000),
    1_048_576,
    'Bytes that a request may have.',
  ),
  maxBatch: setting(
    '--max-batch <operations>',
    'CADUCEUS_MAX_BATCH',
    wholeNumber(1, 1000),
    10,
    'Operations that one HTTP request may hold.',
  ),
  maxSubscriptions: setting(
    '--max-subscriptions <number>',
    'CADUCEUS_MAX_SUBSCRIPTIONS',
    wholeNumber(1, 100_000),
    200,
    'Operations that may run at once on one WebSocket.',
  ),
} as const;

export type SettingName = keyof typeof SETTINGS;
export type Config = { readonly [K in SettingName]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never };

/**
 * The configuration from flags (by setting name, as typed) and environment variables. Blank variables count as not set.
 * Throws `InvalidInput` with one sentence that names the setting, the rule and the value.
 */
export function readConfig(flags: Readonly<Record<string, string | boolean | undefined>>, environment: NodeJS.ProcessEnv): Config {
  const entries = Object.entries(SETTINGS).map(([name, entry]) => [name, readSetting(entry as Setting<unknown>, flags[name], environment)]);
  const config = Object.fromEntries(entries) as Config;
  if (config.noAuth && !isLoopback(config.host)) {
    throw new InvalidInput(
      `--no-auth would let everyone who reaches ${config.host} read your sessions. Leave it out, or listen on 127.0.0.1.`,
    );
  }
  return config;
}

function readSetting<T>(entry: Setting<T>, flag: string | boolean | undefined, environment: NodeJS.ProcessEnv): T {
  const variable = environment[entry.environment];
  const given = typeof flag === 'boolean' ? (flag ? '1' : '0') : (flag ?? (variable?.trim() === '' ? undefined : variable));
  if (given === undefined) return entry.fallback(environment);
  const parsed = entry.type.safeParse(given);
  if (parsed.success) return parsed.data;
  const name = flag === undefined ? entry.environment : (entry.flag.split(' ')[0] ?? entry.flag);
  const shown = entry.environment === 'CADUCEUS_TOKEN' ? '' : `; it was ${JSON.stringify(given)}`;
  throw new InvalidInput(`${name} ${parsed.error.issues[0]?.message ?? 'has a wrong value'}${shown}.`);
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

/** `spec/state-db.md` 1: ~/.hermes, on Windows the local application data. */
function defaultHome(environment: NodeJS.ProcessEnv): string {
  if (process.platform !== 'win32') return join(homedir(), '.hermes');
  return join(environment.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'hermes');
}

function defaultStateDir(environment: NodeJS.ProcessEnv): string {
  const base = environment.XDG_STATE_HOME?.trim();
  return join(base ? base : join(homedir(), '.local', 'state'), 'caduceus');
}
