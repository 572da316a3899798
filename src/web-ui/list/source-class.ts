/**
 * What kind of session a row is, told from the names of its source (`spec/webui-listing.md` 11). Names are compared without case and
 * without the whitespace around them, unless a rule says otherwise.
 */
import { isBlank, type ListRow, type SourceFields } from './list-row.ts';

export type SourceFamily =
  | 'WEBUI'
  | 'CLI'
  | 'MESSAGING'
  | 'CRON'
  | 'WEBHOOK'
  | 'KANBAN'
  | 'TOOL'
  | 'API'
  | 'EXTERNAL'
  | 'FORK'
  | 'DELEGATE'
  | 'OTHER';

/** `session_source` and `source_label` of each known source (11.1). */
const SOURCES: Readonly<Record<string, readonly [sessionSource: string, label: string]>> = {
  webui: ['webui', 'WebUI'],
  cli: ['cli', 'CLI'],
  tui: ['cli', 'TUI'],
  acp: ['cli', 'ACP'],
  discord: ['messaging', 'Discord'],
  email: ['messaging', 'Email'],
  matrix: ['messaging', 'Matrix'],
  slack: ['messaging', 'Slack'],
  telegram: ['messaging', 'Telegram'],
  wecom: ['messaging', 'WeCom'],
  wecom_callback: ['messaging', 'WeCom Callback'],
  weixin: ['messaging', 'Weixin'],
  signal: ['messaging', 'Signal'],
  cron: ['cron', 'Cron'],
  webhook: ['webhook', 'Webhook'],
  kanban: ['kanban', 'Kanban'],
  tool: ['tool', 'Tool'],
  api_server: ['api', 'API'],
  subagent: ['other', 'Subagent'],
};

export const MESSAGING_SOURCES: ReadonlySet<string> = new Set(Object.keys(SOURCES).filter((name) => SOURCES[name]?.[0] === 'messaging'));

/** Gateway platforms that the Web UI takes for nothing in particular; to us they are chats like the others. */
const MORE_CHATS: ReadonlySet<string> = new Set([
  'whatsapp',
  'whatsapp_cloud',
  'mattermost',
  'homeassistant',
  'sms',
  'dingtalk',
  'feishu',
  'bluebubbles',
  'qqbot',
  'yuanbao',
  'msgraph_webhook',
  'relay',
]);

const FAMILIES: Readonly<Record<string, SourceFamily>> = {
  webui: 'WEBUI',
  cli: 'CLI',
  messaging: 'MESSAGING',
  cron: 'CRON',
  webhook: 'WEBHOOK',
  kanban: 'KANBAN',
  tool: 'TOOL',
  api: 'API',
  external_agent: 'EXTERNAL',
  'external-agent': 'EXTERNAL',
  fork: 'FORK',
};

/** The source fields of a row of state.db (11.1); the tag is the name as stored, `cli` when it is blank. */
export function normaliseSource(stored: string | null): SourceFields {
  const known = NORMALISED.get(stored);
  if (known !== undefined) return known;
  const made = normalise(stored);
  if (NORMALISED.size < MOST_REMEMBERED) NORMALISED.set(stored, made);
  return made;
}

const NORMALISED = new Map<string | null, SourceFields>();
const MOST_REMEMBERED = 200;

function normalise(stored: string | null): SourceFields {
  const sourceTag = stored === null || isBlank(stored) ? 'cli' : stored;
  const raw = fold(stored);
  if (raw === '' || raw === 'unknown') return { sourceTag, rawSource: null, sessionSource: 'other', sourceLabel: 'Agent' };
  const [sessionSource, sourceLabel] = SOURCES[raw] ?? ['other', capitalised(raw)];
  return { sourceTag, rawSource: raw, sessionSource, sourceLabel };
}

/** The family of a row, from its own table: a superset of what the Web UI knows. */
export function familyOf(row: SourceFields): SourceFamily {
  const raw = fold(row.rawSource ?? row.sourceTag);
  const session = fold(row.sessionSource);
  if (session === 'fork') return 'FORK';
  if (raw === 'subagent') return 'DELEGATE';
  if (raw === 'claude_code') return 'EXTERNAL';
  if (MORE_CHATS.has(raw)) return 'MESSAGING';
  return FAMILIES[session] ?? FAMILIES[SOURCES[raw]?.[0] ?? ''] ?? 'OTHER';
}

export function fold(text: string | null | undefined): string {
  return text === null || text === undefined ? '' : text.trim().toLowerCase();
}

function capitalised(raw: string): string {
  return raw.replaceAll('_', ' ').replace(/\S+/g, (word) => word.charAt(0).toUpperCase() + word.slice(1));
}

/** The names of a source, folded, without blank ones. */
function namesOf(row: SourceFields): string[] {
  return [row.sessionSource, row.sourceTag, row.rawSource, row.sourceLabel].map(fold).filter((name) => name !== '');
}

export function isWebUi(row: SourceFields): boolean {
  return namesOf(row).includes('webui');
}

export function isSubagent(row: SourceFields): boolean {
  return firstOf([row.sourceTag, row.rawSource, row.sessionSource]) === 'subagent';
}

function firstOf(names: readonly (string | null)[]): string {
  return names.map(fold).find((name) => name !== '') ?? '';
}

const NEVER_CLI: ReadonlySet<string> = new Set([
  ...MESSAGING_SOURCES,
  'cron',
  'webhook',
  'kanban',
  'tool',
  'api',
  'api_server',
  'subagent',
]);
const CLI_SESSION_SOURCES: ReadonlySet<string> = new Set(['cli', 'external_agent', 'external-agent']);
const TERMINALS: ReadonlySet<string> = new Set(['acp', 'cli', 'tui']);

type CliRow = SourceFields & Pick<ListRow, 'isCliSession' | 'title'>;

/** 11.2: whether a row counts as a terminal session. */
export function isCli(row: CliRow): boolean {
  const names = namesOf(row);
  if (names.includes('webui') || names.some((name) => NEVER_CLI.has(name))) return false;
  const session = fold(row.sessionSource);
  if (session === 'messaging') return false;
  if (CLI_SESSION_SOURCES.has(session)) return true;
  if ([row.sourceTag, row.rawSource, row.sourceLabel].some((name) => TERMINALS.has(fold(name)))) return true;
  return row.isCliSession && isGeneratedTitle(row);
}

const PLAIN_TITLES: ReadonlySet<string> = new Set(['', 'untitled', 'cli', 'cli session']);

/** 11.2: a title that nobody gave. */
export function isGeneratedTitle(row: SourceFields & Pick<ListRow, 'title'>): boolean {
  const title = fold(row.title);
  return PLAIN_TITLES.has(title) || namesOf(row).some((name) => title === `${name.replace(/ session$/, '')} session`);
}

/** 11.2: a row that goes when terminal sessions are switched off. */
export function isCliForSettings(row: CliRow): boolean {
  if (isCli(row)) return true;
  if (!row.isCliSession || fold(row.sessionSource) === 'messaging' || isMessaging(row)) return false;
  const title = fold(row.title);
  const source = fold(row.rawSource);
  return PLAIN_TITLES.has(title) || (title.endsWith(' session') && (source === '' || source === 'cli'));
}

type CountedRow = CliRow &
  Pick<ListRow, 'actualMessageCount' | 'messageCount' | 'userMessageCount' | 'endedAt' | 'endReason' | 'segmentCount' | 'lineageRootId'>;

const LEAST_USER_MESSAGES = 2;

/** 11.3: whether a terminal session holds enough to be listed; every other row is. An unknown number of user messages counts as 0. */
export function isCliVisible(row: CountedRow): boolean {
  if (!isCli(row)) return true;
  const counted = row.actualMessageCount ?? 0;
  const users = row.userMessageCount ?? 0;
  if ((counted || row.messageCount) === 0) return false;
  if (counted > 0 && users > 0 && row.endedAt === null && isBlank(row.endReason)) return true;
  const names = namesOf(row);
  if (names.includes('tui')) return true;
  if (names.includes('acp')) return users > 0;
  if ((row.segmentCount ?? 0) > 1 || !isBlank(row.lineageRootId)) return true;
  return !isGeneratedTitle(row) || users >= LEAST_USER_MESSAGES;
}

/** The raw source by which a chat is told (9.5); empty when the row has none. */
export function messagingSource(row: SourceFields & Pick<ListRow, 'platform'>): string {
  return firstOf([row.rawSource, row.sourceTag, row.platform, row.sourceLabel]);
}

export function isMessaging(row: SourceFields): boolean {
  return [row.rawSource, row.sourceTag].some((name) => MESSAGING_SOURCES.has(fold(name)));
}

/** 6: the name by which background rows are told, with its case. */
export function backgroundSource(row: SourceFields): string {
  for (const name of [row.sourceTag, row.rawSource, row.sessionSource]) if (name !== null && !isBlank(name)) return name;
  return '';
}

/** 11.4. */
export function isCron(id: string, source: string): boolean {
  return source === 'cron' || id.startsWith('cron_');
}

export type BackgroundKind = 'cron' | 'webhook' | 'kanban';

/** Which kind of background work a row is; null for a conversation. */
export function backgroundKind(row: SourceFields & Pick<ListRow, 'id'>): BackgroundKind | null {
  const source = backgroundSource(row);
  if (isCron(row.id, source)) return 'cron';
  if (fold(source) === 'webhook') return 'webhook';
  return source === 'kanban' ? 'kanban' : null;
}
