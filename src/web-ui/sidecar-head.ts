/**
 * What a sidecar says of its session without its messages (`spec/live-turns.md` 5, `spec/webui-sidecars.md` 3.1-3.7, 5.1): the beginning
 * of the file is read in growing stages, the end of its messages backwards. Sidecars of hundreds of megabytes exist; none is ever parsed.
 */
import { boundJson, cutText } from '../live/journal/bounded-json.ts';
import { withoutNotFinite } from '../live/journal/line.ts';
import { type OpenJournal, readRange, systemCode } from '../live/journal/open-journal.ts';
import { number, type Payload, text, word } from '../live/journal/payload.ts';
import { inWindow, parseJson } from '../state-db/decode.ts';
import { openSidecar, SidecarUnreadable, sidecarVersion } from './sidecar-file.ts';
import { NO_MARKERS, type SidecarTail, tailMarkers } from './tail-markers.ts';
import { TopLevelScan } from './top-level-scan.ts';

export type { SidecarTail };

export interface SidecarHead {
  readonly sessionId: string;
  /** dev:ino:size:mtimeNs:ctimeNs of the file that was read. */
  readonly version: string;
  /** The file is no JSON object as far as it was read; then every field is null or false. */
  readonly damaged: boolean;
  /** The run that owns the session. It survives a crash: no proof that the run lives. */
  readonly activeStreamId: string | null;
  /** The prompt of the turn under way, at most 65,536 characters of it. */
  readonly pendingText: string | null;
  /** Its attachments, bounded as the arguments of a tool; null when there are none. */
  readonly pendingAttachments: unknown;
  /** Epoch seconds. */
  readonly pendingStartedAt: number | null;
  /** `webui`, `process_wakeup`, `fork`, ...; null means `webui`. */
  readonly pendingSource: string | null;
  /** Messages when the file was written. */
  readonly messageCount: number | null;
  /** Epoch seconds. */
  readonly updatedAt: number | null;
  readonly title: string | null;
  /** The title came from the title model and the user has not renamed since; null when the file doesn't say. */
  readonly titleAutomatic: boolean | null;
  readonly model: string | null;
  readonly parentSessionId: string | null;
  /** Archived by a rotation: the conversation goes on in a child. */
  readonly preCompressionSnapshot: boolean;
  readonly recommendedRecoveryAction: string | null;
  /** Null means the default profile. */
  readonly profile: string | null;
}

const FIRST_STAGE = 64 * 1024;
const MOST_BYTES = 4 * 1024 * 1024;
const LONGEST_PENDING = 64 * 1024;
/** The longest escape of one character. */
const ESCAPE_BYTES = 6;
/** The last of the fields that are needed, as the owner orders them; files of others may have it behind their messages or not at all. */
const LAST_FIELD = 'message_count';

/**
 * The head of a session's sidecar, null when it has none. The file name says whose it is, whatever the file says (`webui-sidecars` 2).
 * What is damaged is told, not thrown. Throws `SidecarUnreadable`.
 */
export async function readSidecarHead(sessionsDir: string, sessionId: string): Promise<SidecarHead | null> {
  const file = await openSidecar(sessionsDir, sessionId);
  if (file === null) return null;
  return reading(file, async () => {
    const scan = new TopLevelScan(LAST_FIELD);
    let bytes: Buffer = Buffer.alloc(0);
    for (let stage = FIRST_STAGE; scan.state === 'READING' && bytes.length < MOST_BYTES; stage *= 2) {
      const length = Math.min(stage, MOST_BYTES - bytes.length);
      const more = await readRange(file, Buffer.allocUnsafe(length), bytes.length, length);
      if (more.length === 0) break;
      bytes = Buffer.concat([bytes, more]);
      scan.scan(bytes);
    }
    const cut = scan.state === 'READING' && bytes.length < file.size;
    const isObject = scan.state === 'FOUND' || scan.state === 'CLOSED' || cut;
    const fields = isObject ? fieldsOf(scan, bytes) : null;
    return { sessionId, version: sidecarVersion(file), damaged: fields === null, ...headOf(fields ?? {}) };
  });
}

const PENDING = 'pending_user_message';
const WANTED = [
  'active_stream_id',
  'pending_attachments',
  'pending_started_at',
  'pending_user_source',
  LAST_FIELD,
  'updated_at',
  'title',
  'llm_title_generated',
  'manual_title',
  'model',
  'parent_session_id',
  'pre_compression_snapshot',
  'recommended_recovery_action',
  'profile',
];

/** The values of the fields that are needed; null when one is no JSON. */
function fieldsOf(scan: TopLevelScan, bytes: Buffer): Payload | null {
  const fields: Record<string, unknown> = { [PENDING]: pendingText(scan, bytes) };
  for (const key of WANTED) {
    const member = scan.member(key);
    // A value that goes on behind the most that is read.
    if (member === null || member.end === null) continue;
    const json = bytes.toString('utf8', member.start, member.end);
    const value = parseJson(json) ?? parseJson(withoutNotFinite(json));
    if (value === undefined) return null;
    fields[key] = value;
  }
  return fields;
}

/** A pasted prompt may be longer than what is shown, and than what is read. */
function pendingText(scan: TopLevelScan, bytes: Buffer): string | null {
  const member = scan.member(PENDING);
  if (member === null) return null;
  const end = Math.min(member.end ?? bytes.length, member.start + LONGEST_PENDING * ESCAPE_BYTES);
  const json = bytes.toString('utf8', member.start, end);
  const value = parseJson(json) ?? parseJson(`${WHOLE_CHARACTERS.exec(json)?.[0] ?? ''}"`);
  return typeof value === 'string' && value !== '' ? cutText(value, LONGEST_PENDING) : null;
}

const WHOLE_CHARACTERS = /^"(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/;

function headOf(fields: Payload): Omit<SidecarHead, 'sessionId' | 'version' | 'damaged'> {
  const attachments = fields.pending_attachments;
  const hasAttachments = Array.isArray(attachments) && attachments.length > 0;
  return {
    activeStreamId: word(fields, 'active_stream_id'),
    pendingText: text(fields, PENDING),
    pendingAttachments: hasAttachments ? boundJson(attachments) : null,
    pendingStartedAt: inWindow(number(fields, 'pending_started_at')),
    pendingSource: word(fields, 'pending_user_source'),
    messageCount: count(fields[LAST_FIELD]),
    updatedAt: inWindow(number(fields, 'updated_at')),
    title: text(fields, 'title'),
    titleAutomatic: fields.llm_title_generated === undefined ? null : Boolean(fields.llm_title_generated) && !fields.manual_title,
    model: word(fields, 'model'),
    parentSessionId: word(fields, 'parent_session_id'),
    preCompressionSnapshot: Boolean(fields.pre_compression_snapshot),
    recommendedRecoveryAction: word(fields, 'recommended_recovery_action'),
    profile: word(fields, 'profile'),
  };
}

/** `nnint` of `webui-sidecars` 0. */
function count(value: unknown): number | null {
  const read = typeof value === 'string' && /^\s*\d+\s*$/.test(value) ? Number(value) : value;
  return typeof read === 'number' && read >= 0 && Number.isFinite(read) ? Math.trunc(read) : null;
}

const TAIL_BYTES = 64 * 1024;
/** Behind the messages come activity records and the context of the model, of several megabytes in long sessions. */
const MOST_SEARCHED = 16 * 1024 * 1024;
const SEARCH_STEP = 256 * 1024;
/** The owner indents by two, and no string holds a raw newline: this is the member that follows the messages. */
const AFTER_MESSAGES = Buffer.from('\n  "tool_calls":');
/** In a file that isn't indented. */
const OTHER_LISTS = /"(?:anchor_activity_scenes|context_messages)"\s*:/;

/**
 * What the last messages in a session's sidecar tell, from the last 64 KiB of its list of messages; null when there is no sidecar.
 * Throws `SidecarUnreadable`.
 */
export async function readSidecarTail(sessionsDir: string, sessionId: string): Promise<SidecarTail | null> {
  const file = await openSidecar(sessionsDir, sessionId);
  if (file === null) return null;
  return reading(file, async () => {
    const end = await endOfMessages(file);
    if (end === null && file.size > MOST_SEARCHED) return NO_MARKERS;
    const to = end ?? file.size;
    const length = Math.min(TAIL_BYTES, to);
    const tail = (await readRange(file, Buffer.allocUnsafe(length), to - length, length)).toString('utf8');
    const others = end === null ? tail.search(OTHER_LISTS) : -1;
    return tailMarkers(others === -1 ? tail : tail.slice(0, others));
  });
}

/** Looks for it from the end of the file backwards; null when it isn't there as far as is looked. */
async function endOfMessages(file: OpenJournal): Promise<number | null> {
  const buffer = Buffer.allocUnsafe(SEARCH_STEP + AFTER_MESSAGES.length);
  for (let to = file.size; to > 0 && file.size - to < MOST_SEARCHED; ) {
    const from = Math.max(0, to - SEARCH_STEP);
    const length = Math.min(to + AFTER_MESSAGES.length, file.size) - from;
    const found = (await readRange(file, buffer, from, length)).lastIndexOf(AFTER_MESSAGES);
    if (found !== -1) return from + found;
    to = from;
  }
  return null;
}

/** Reads of an open file, which is closed behind them. */
async function reading<T>(file: OpenJournal, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (systemCode(error) === null) throw error;
    throw new SidecarUnreadable(error);
  } finally {
    await file.handle.close();
  }
}
