/**
 * An import looked through before anything is written: its size, and every session and message in it (`spec/state-db-writes.md` I3).
 */
import { WriteRefused } from '../../write-refused.ts';
import { isJsonObject, parseJson } from '../decode.ts';
import { MAX_TITLE_LENGTH } from '../titles.ts';
import { cleanTitle } from './session-title.ts';

export const MOST_SESSIONS = 500;
export const MOST_MESSAGES = 10_000;
export const MOST_MESSAGES_IN_ALL = 50_000;
const MEBIBYTE = 1_048_576;
export const MOST_SESSION_BYTES = 5 * MEBIBYTE;
export const MOST_BYTES = 25 * MEBIBYTE;
/** So many faults are told; more of them help nobody. */
const MOST_FAULTS = 100;

export interface ImportFault {
  /** The place of the session in the import, from 0. */
  readonly index: number;
  readonly sessionId: string | null;
  /** In words that hold nothing of the messages. */
  readonly message: string;
}

export interface CheckedSession {
  readonly index: number;
  readonly id: string;
  readonly title: string | null;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly messages: readonly Readonly<Record<string, unknown>>[];
}

const SESSION_TEXTS = [
  'source',
  'created_source',
  'model',
  'system_prompt',
  'parent_session_id',
  'end_reason',
  'title',
  'title_source',
  'cwd',
  'git_branch',
  'git_repo_root',
  'billing_provider',
  'billing_base_url',
  'billing_mode',
  'cost_status',
  'cost_source',
  'pricing_version',
];
const MESSAGE_TEXTS = [
  'tool_call_id',
  'tool_name',
  'effect_disposition',
  'finish_reason',
  'reasoning',
  'reasoning_content',
  'api_content',
  'display_kind',
  'message_uid',
  'tool_call_uid',
];

/** One session of the import, at the place of what it came with. */
interface Entry {
  readonly index: number;
  readonly session: unknown;
}

/**
 * The sessions, each as it may be imported; of the export of a whole conversation its segments. Throws IMPORT_TOO_LARGE, and IMPORT_INVALID
 * with every fault that was found.
 */
export function checkedImport(sessions: readonly unknown[]): CheckedSession[] {
  const entries = sessions.flatMap(entriesOf);
  refuseTooLarge(entries);
  const faults: ImportFault[] = [];
  const checked: CheckedSession[] = [];
  const ids = new Set<string>();
  for (const { index, session } of entries) {
    const found = sessionFaults(session, ids);
    const id = isJsonObject(session) && typeof session.id === 'string' ? session.id : null;
    faults.push(...found.map((message) => ({ index, sessionId: id, message })));
    if (!isJsonObject(session) || id === null || found.length > 0) continue;
    ids.add(id);
    const messages = Array.isArray(session.messages) ? session.messages.filter(isJsonObject) : [];
    checked.push({ index, id, title: cleanTitle(textOr(session.title, null)), fields: session, messages });
  }
  refuseFaults(faults);
  return checked;
}

function entriesOf(session: unknown, index: number): Entry[] {
  const segments: unknown = isJsonObject(session) ? session.segments : undefined;
  if (!Array.isArray(segments) || segments.length === 0) return [{ index, session }];
  return segments.map((segment: unknown) => ({ index, session: segment }));
}

/** Throws IMPORT_INVALID unless there are none. */
export function refuseFaults(faults: readonly ImportFault[]): void {
  const [first] = faults;
  if (first === undefined) return;
  const more = `The first of ${faults.length}: session ${first.index}: ${first.message}`;
  throw new WriteRefused('IMPORT_INVALID', more, { details: { errors: faults.slice(0, MOST_FAULTS), count: faults.length } });
}

export function textOr<T>(value: unknown, fallback: T): string | T {
  return typeof value === 'string' ? value.toWellFormed() : fallback;
}

function refuseTooLarge(entries: readonly Entry[]): void {
  const tooLarge = (what: string, details: Record<string, unknown>) => new WriteRefused('IMPORT_TOO_LARGE', what, { details });
  if (entries.length > MOST_SESSIONS) {
    throw tooLarge(`At most ${MOST_SESSIONS} sessions.`, { sessions: entries.length, limit: MOST_SESSIONS });
  }
  let rows = 0;
  let bytes = 0;
  for (const { index, session } of entries) {
    const count = isJsonObject(session) && Array.isArray(session.messages) ? session.messages.length : 0;
    if (count > MOST_MESSAGES)
      throw tooLarge(`At most ${MOST_MESSAGES} messages a session.`, { index, messages: count, limit: MOST_MESSAGES });
    const size = Buffer.byteLength(JSON.stringify(session) ?? '');
    if (size > MOST_SESSION_BYTES) throw tooLarge('At most 5 MiB a session.', { index, bytes: size, limit: MOST_SESSION_BYTES });
    rows += count;
    bytes += size;
  }
  if (rows > MOST_MESSAGES_IN_ALL) {
    throw tooLarge(`At most ${MOST_MESSAGES_IN_ALL} messages in all.`, { messages: rows, limit: MOST_MESSAGES_IN_ALL });
  }
  if (bytes > MOST_BYTES) throw tooLarge('At most 25 MiB in all.', { bytes, limit: MOST_BYTES });
}

function sessionFaults(session: unknown, ids: ReadonlySet<string>): string[] {
  if (!isJsonObject(session)) return ['It is no object.'];
  const faults: string[] = [];
  const { id, messages, model_config: config } = session;
  if (typeof id !== 'string' || id.trim() === '' || id.includes('\u0000')) faults.push('Its id is no text, or empty.');
  else if (ids.has(id)) faults.push('Its id occurs before.');
  faults.push(...textFaults(session, SESSION_TEXTS, 'its'));
  if (config !== null && config !== undefined && config !== '' && !isObjectOrItsText(config))
    faults.push('Its model_config is no JSON object.');
  if (typeof session.title === 'string' && isTooLong(session.title)) faults.push(`Its title has more than ${MAX_TITLE_LENGTH} characters.`);
  if (messages === undefined || messages === null) return faults;
  if (!Array.isArray(messages)) return [...faults, 'Its messages are no list.'];
  return [...faults, ...messages.flatMap((message, position) => messageFaults(message, position))];
}

function messageFaults(message: unknown, position: number): string[] {
  const whose = `message ${position}:`;
  if (!isJsonObject(message)) return [`${whose} it is no object.`];
  const faults = textFaults(message, MESSAGE_TEXTS, whose);
  if (typeof message.role !== 'string' || message.role.trim() === '') faults.push(`${whose} its role is no text, or empty.`);
  const tokens = message.token_count ?? null;
  if (tokens !== null && !Number.isSafeInteger(tokens)) faults.push(`${whose} token_count is no whole number.`);
  return faults;
}

function textFaults(object: Readonly<Record<string, unknown>>, names: readonly string[], whose: string): string[] {
  const wrong = names.filter((name) => (object[name] ?? null) !== null && typeof object[name] !== 'string');
  return wrong.map((name) => `${whose} ${name} is no text.`);
}

function isObjectOrItsText(value: unknown): boolean {
  return isJsonObject(typeof value === 'string' ? parseJson(value) : value);
}

function isTooLong(title: string): boolean {
  try {
    cleanTitle(title);
    return false;
  } catch (error) {
    if (error instanceof WriteRefused) return true;
    throw error;
  }
}
