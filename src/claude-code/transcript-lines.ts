/** Lines of a Claude Code transcript (`spec/webui-listing.md` 8.2, 8.3). Pure; everything in a line is untrusted. */
import { inWindow, isJsonObject, parseJson } from '../state-db/decode.ts';
import { collapseWhitespace, cutCodePoints } from '../web-ui/list/list-titles.ts';

export type ClaudeCodeRole = 'user' | 'assistant' | 'system' | 'tool';

export interface ClaudeCodeMessage {
  readonly role: ClaudeCodeRole;
  /** At most 200,000 characters. */
  readonly content: string;
  /** Epoch seconds; null when the line has none that can be read. */
  readonly timestamp: number | null;
}

export const MOST_MESSAGES = 1000;
export const LONGEST_TITLE = 80;
const LONGEST_TEXT = 200_000;
/** Objects within objects, as content may name another content. */
const DEEPEST = 16;
const ROLES: ReadonlySet<string> = new Set(['user', 'assistant', 'system', 'tool']);

type Json = Readonly<Record<string, unknown>>;

/** Takes the lines of one file in their order, up to 1,000 messages. */
export class TranscriptLines {
  readonly messages: ClaudeCodeMessage[] = [];
  /** The title that Claude Code gave, at most 80 characters. */
  summary: string | null = null;
  /** The folder in which the session began. */
  cwd: string | null = null;

  get full(): boolean {
    return this.messages.length >= MOST_MESSAGES;
  }

  /** One line without its end; what is no JSON object is passed over. */
  take(line: string): void {
    if (this.full || line.trim() === '') return;
    const parsed = parseJson(line);
    if (!isJsonObject(parsed)) return;
    this.summary ??= titleOf(parsed);
    if (this.cwd === null && typeof parsed.cwd === 'string' && parsed.cwd !== '') this.cwd = parsed.cwd;
    for (const record of recordsOf(parsed)) {
      if (this.full) return;
      const message = isJsonObject(record) ? messageOf(record, parsed) : null;
      if (message !== null) this.messages.push(message);
    }
  }
}

function titleOf(line: Json): string | null {
  for (const value of [line.summary, line.title]) {
    if (typeof value === 'string' && value.trim() !== '') return cutCodePoints(collapseWhitespace(value), LONGEST_TITLE);
  }
  return null;
}

function recordsOf(line: Json): readonly unknown[] {
  if (Array.isArray(line.messages)) return line.messages;
  return [isJsonObject(line.message) ? line.message : line];
}

function messageOf(record: Json, line: Json): ClaudeCodeMessage | null {
  const message = isJsonObject(record.message) ? record.message : record;
  const role = roleOf([message.role, record.role, line.role, line.type]);
  if (role === null) return null;
  const content = textOf('content' in message ? message.content : record.content, 0);
  if (content.trim() === '') return null;
  const time = [message.timestamp, record.timestamp, line.timestamp, line.created_at].find(isFilled);
  return { role, content, timestamp: timeOf(time) };
}

function roleOf(candidates: readonly unknown[]): ClaudeCodeRole | null {
  const named = candidates.find((value) => typeof value === 'string' && value.trim() !== '');
  if (typeof named !== 'string') return null;
  const role = named.trim().toLowerCase();
  if (role === 'human') return 'user';
  return isRole(role) ? role : null;
}

function isRole(role: string): role is ClaudeCodeRole {
  return ROLES.has(role);
}

function isFilled(value: unknown): boolean {
  return value !== null && value !== undefined && value !== '' && value !== 0;
}

/** 8.3: thinking, tool calls and images have no text and vanish; results of tools that are text stay. */
export function textOf(content: unknown, depth: number): string {
  if (content === null || content === undefined || depth > DEEPEST) return '';
  if (typeof content === 'string') return cutCodePoints(content, LONGEST_TEXT);
  if (Array.isArray(content)) return joined(content);
  if (isJsonObject(content)) return textOf(content.text ?? content.content, depth + 1);
  return String(content);
}

function joined(items: readonly unknown[]): string {
  const parts: string[] = [];
  let length = 0;
  for (const item of items) {
    const part = isJsonObject(item) ? plain(item.text ?? item.content) : typeof item === 'string' ? item : '';
    if (part === '') continue;
    parts.push(part);
    length += part.length;
    if (length > LONGEST_TEXT * 2) break;
  }
  return cutCodePoints(parts.join('\n'), LONGEST_TEXT);
}

function plain(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const ISO = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?) ?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/** Epoch seconds of a number, a number in text, or an ISO time; without a zone it is local. Null for anything else, as outside 1970 to 2103. */
export function timeOf(value: unknown): number | null {
  if (typeof value === 'number') return inWindow(value);
  if (typeof value !== 'string') return null;
  const text = value.trim();
  if (/^[+-]?\d+(?:\.\d*)?(?:e[+-]?\d+)?$/i.test(text)) return inWindow(Number(text));
  const [, day, clock, zone] = ISO.exec(text) ?? [];
  if (day === undefined) return null;
  const seconds = Date.parse(`${day}T${(clock ?? '00:00').replace(',', '.')}${zoneOf(zone)}`) / 1000;
  return Number.isNaN(seconds) ? null : inWindow(seconds);
}

function zoneOf(zone: string | undefined): string {
  if (zone === undefined) return '';
  if (zone.toUpperCase() === 'Z') return 'Z';
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0');
  return `${zone.charAt(0)}${digits.slice(0, 2)}:${digits.slice(2)}`;
}
