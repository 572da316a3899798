/** What a spool file holds (`spec/state-db-writes.md` S3, S4): read into one of seven kinds without trusting any of it, and made. */
import { createHash, randomUUID } from 'node:crypto';
import { isJsonObject } from '../state-db/decode.ts';
import { parseLexemes, parseSpoolJson, spoolText } from './spool-json.ts';

const CAP_DROP = 'transcript_cap_drop';
const DEAD_LETTER = 'routing_dead_letter';
const HISTORY_DUMP = 'shutdown-with-unpersisted-agent-history';
const TRANSCRIPT_SCHEMA = 'hermes.session.transcript';
const TRANSCRIPT_VERSION = 1;
/** As a row without a role is stored (V1). */
const UNKNOWN_ROLE = 'unknown';
const PREVIEW_LENGTH = 200;

/** A message as the owning programs hold it: keys as the columns, values unknown; whole numbers past 2^53 are bigint. */
export type SpooledMessage = Readonly<Record<string, unknown>>;

/** Where a payload stands among the others: whole epoch seconds, then a count of the process that wrote it; 0 for what is no number. */
export interface SpoolOrder {
  readonly ts: number;
  readonly seq: number;
}

/** Messages of one session, to be appended in this order. */
interface Messages extends SpoolOrder {
  readonly reason: string;
  readonly sessionId: string;
  readonly messages: readonly SpooledMessage[];
  /** Every message has a uid, so that appending them twice can be told. */
  readonly identified: boolean;
}

export interface CapDrop extends Messages {
  readonly kind: 'CAP_DROP';
}
export interface DeadLetter extends Messages {
  readonly kind: 'DEAD_LETTER';
}
/** What a turn could not store at its end. Without uids nobody can tell which of it is stored, so it is for a person. */
export interface HistoryDump extends Messages {
  readonly kind: 'HISTORY_DUMP';
}
/** What a person had sent and no turn had begun with yet. */
export interface PendingInput extends SpoolOrder {
  readonly kind: 'PENDING_INPUT';
  readonly reason: string | null;
  /** The key of the gateway's route. */
  readonly sessionKey: string;
  readonly sessionId: string | null;
  readonly text: string;
}

export type PayloadProblem =
  | 'NO_SESSION'
  | 'MESSAGE_NOT_AN_OBJECT'
  | 'TRANSCRIPT_UNKNOWN'
  | 'TRANSCRIPT_INVALID'
  | 'NO_MESSAGES'
  | 'NO_TEXT';

/** An object whose parts can't be used. */
export interface InvalidPayload extends SpoolOrder {
  readonly kind: 'INVALID';
  readonly problem: PayloadProblem;
  readonly reason: string | null;
  readonly sessionId: string | null;
}

export interface UnparseablePayload {
  readonly kind: 'UNPARSEABLE';
  /** UNREADABLE: this user may not read it. READ_FAILED: this time it could not be read. */
  readonly problem: 'NOT_JSON' | 'NOT_AN_OBJECT' | 'OVERSIZED' | 'UNREADABLE' | 'READ_FAILED';
}

export type SpoolPayload = CapDrop | DeadLetter | HistoryDump | PendingInput | InvalidPayload | UnparseablePayload;

/** A payload's bytes (UTF-8, a byte order mark is tolerated) as one of the kinds; never throws for what they hold. */
export function decodePayload(bytes: Uint8Array): SpoolPayload {
  let value: unknown;
  try {
    value = parseSpoolJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError || error instanceof TypeError)
      return { kind: 'UNPARSEABLE', problem: 'NOT_JSON' };
    throw error;
  }
  return isJsonObject(value) ? readPayload(value) : { kind: 'UNPARSEABLE', problem: 'NOT_AN_OBJECT' };
}

/** Puts one message into a payload, with a uid (a new one unless it has one) and a role; both forms of S4 carry the same. */
export function makePayload(
  reason: 'transcript_cap_drop' | 'routing_dead_letter',
  sessionId: string,
  message: SpooledMessage,
  { ts, seq }: SpoolOrder,
): { readonly text: string; readonly messageUid: string } {
  const messageUid = text(message.message_uid) ?? randomUUID().replaceAll('-', '');
  const whole = { ...message, role: text(message.role) ?? UNKNOWN_ROLE, message_uid: messageUid };
  const data = { session_id: sessionId, message: whole, transcript: envelope([whole]) };
  return { text: spoolText({ session_key: sessionId, reason, ts, seq, data }), messageUid };
}

/**
 * S7: the text of a cap drop without a uid, with one. It follows from the file's id, which is random, so that whoever does this, and however
 * often, gives the same. Everything else stays as it was, to the digit.
 */
export function withStableUid(bytes: Uint8Array, spoolId: string): string {
  const payload = parseLexemes(new TextDecoder().decode(bytes));
  if (!isJsonObject(payload) || !isJsonObject(payload.data) || !isJsonObject(payload.data.message)) {
    throw new Error('only a cap drop with a message can be given a uid');
  }
  const { message } = payload.data;
  const whole = { ...message, role: text(message.role) ?? UNKNOWN_ROLE, message_uid: stableUid(spoolId) };
  return spoolText({ ...payload, data: { ...payload.data, message: whole, transcript: envelope([whole]) } });
}

/** The uid of the only message of a file that has none: 32 hex digits, from the file's id and from nothing that it holds (V9). */
export function stableUid(spoolId: string): string {
  return createHash('sha256').update(`spool ${spoolId}`).digest('hex').slice(0, 32);
}

/** The beginning of what a payload says, for a list; null when there is no text. */
export function previewOf(payload: SpoolPayload): string | null {
  if (payload.kind === 'PENDING_INPUT') return shortened(payload.text);
  if (payload.kind === 'INVALID' || payload.kind === 'UNPARSEABLE') return null;
  const content = payload.messages[0]?.content;
  if (typeof content === 'string') return shortened(content);
  const part: unknown = Array.isArray(content) ? content.find((each) => isJsonObject(each) && typeof each.text === 'string') : null;
  return isJsonObject(part) && typeof part.text === 'string' ? shortened(part.text) : null;
}

function readPayload(payload: Record<string, unknown>): Exclude<SpoolPayload, UnparseablePayload> {
  const order = { ts: orderNumber(payload.ts), seq: orderNumber(payload.seq) };
  const data = isJsonObject(payload.data) ? payload.data : {};
  switch (payload.reason) {
    case CAP_DROP:
      return readMessages('CAP_DROP', order, text(payload.session_key), data, CAP_DROP);
    case DEAD_LETTER:
      return readMessages('DEAD_LETTER', order, text(payload.session_key), data, DEAD_LETTER);
    case HISTORY_DUMP:
      return readHistory(payload, data, order);
    default:
      return readInput(payload, data, order);
  }
}

function readMessages(
  kind: 'CAP_DROP' | 'DEAD_LETTER',
  order: SpoolOrder,
  key: string | null,
  data: Record<string, unknown>,
  reason: string,
): CapDrop | DeadLetter | InvalidPayload {
  const sessionId = key ?? text(data.session_id);
  const invalid = (problem: PayloadProblem): InvalidPayload => ({
    ...order,
    kind: 'INVALID',
    problem,
    reason,
    sessionId,
  });
  if (sessionId === null) return invalid('NO_SESSION');
  if (data.transcript !== undefined) {
    const messages = readEnvelope(data.transcript);
    return typeof messages === 'string' ? invalid(messages) : { ...order, kind, reason, sessionId, messages, identified: true };
  }
  if (!isJsonObject(data.message)) return invalid('MESSAGE_NOT_AN_OBJECT');
  return { ...order, kind, reason, sessionId, messages: [data.message], identified: text(data.message.message_uid) !== null };
}

function readHistory(payload: Record<string, unknown>, data: Record<string, unknown>, order: SpoolOrder): HistoryDump | InvalidPayload {
  const sessionId = text(payload.session_id) ?? text(data.session_id);
  const common = { ...order, reason: HISTORY_DUMP };
  const invalid = (problem: PayloadProblem): InvalidPayload => ({ ...common, kind: 'INVALID', problem, sessionId });
  if (sessionId === null) return invalid('NO_SESSION');
  if (data.transcript !== undefined) {
    const messages = readEnvelope(data.transcript);
    if (typeof messages === 'string') return invalid(messages);
    return { ...common, kind: 'HISTORY_DUMP', sessionId, messages, identified: true };
  }
  if (!Array.isArray(payload.messages)) return invalid('NO_MESSAGES');
  const listed: readonly unknown[] = payload.messages;
  const whole = wholeMessages(listed);
  return { ...common, kind: 'HISTORY_DUMP', sessionId, messages: whole ?? listed.filter(isJsonObject), identified: whole !== null };
}

function readInput(payload: Record<string, unknown>, data: Record<string, unknown>, order: SpoolOrder): PendingInput | InvalidPayload {
  const reason = text(payload.reason);
  const sessionId = text(data.session_id);
  const sessionKey = text(payload.session_key);
  const said = text(data.text);
  if (sessionKey === null) return { ...order, kind: 'INVALID', problem: 'NO_SESSION', reason, sessionId };
  if (said === null) return { ...order, kind: 'INVALID', problem: 'NO_TEXT', reason, sessionId };
  return { ...order, kind: 'PENDING_INPUT', reason, sessionKey, sessionId, text: said };
}

/** S4: what another version means is not known, so it is not read at all. */
function readEnvelope(value: unknown): readonly SpooledMessage[] | 'TRANSCRIPT_UNKNOWN' | 'TRANSCRIPT_INVALID' {
  if (!isJsonObject(value) || value.schema !== TRANSCRIPT_SCHEMA || value.version !== TRANSCRIPT_VERSION) return 'TRANSCRIPT_UNKNOWN';
  if (!Array.isArray(value.messages)) return 'TRANSCRIPT_INVALID';
  return wholeMessages(value.messages) ?? 'TRANSCRIPT_INVALID';
}

/** The messages when there are any and each is an object with a role and a uid of its own; otherwise null. */
function wholeMessages(values: readonly unknown[]): readonly SpooledMessage[] | null {
  const uids = new Set<string>();
  const messages = values.filter(isJsonObject);
  for (const message of messages) {
    const uid = text(message.message_uid);
    if (uid === null || text(message.role) === null) return null;
    uids.add(uid);
  }
  return messages.length > 0 && messages.length === values.length && uids.size === values.length ? messages : null;
}

function envelope(messages: readonly SpooledMessage[]): Readonly<Record<string, unknown>> {
  return { schema: TRANSCRIPT_SCHEMA, version: TRANSCRIPT_VERSION, messages };
}

function orderNumber(value: unknown): number {
  const number = typeof value === 'bigint' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : 0;
}

/** A string with something in it. */
function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function shortened(value: string): string {
  return value.slice(0, PREVIEW_LENGTH).toWellFormed();
}
