/**
 * Rows that show a turn of the Web UI a second time: the turn that is still pending, and the text of a turn with images
 * (`spec/webui-transcript.md` 16). Decided before the merge, from what only the sidecar knows.
 */
import { collapseSpace } from '../../state-db/whitespace.ts';
import { UNMATCHED_MIRROR } from './display-metadata.ts';
import { arePrivatelyCompatible, Identity } from './identity.ts';
import { richMirrorKey, scalarMirrorKey } from './image-mirror.ts';
import { IMAGE_TYPES } from './structured-content.ts';
import { exactTime, exactTimestamp } from './timestamps.ts';
import { isMessage, type Message, payloadOf, roleOf, textOf } from './values.ts';
import { stripWorkspace } from './workspace-tag.ts';

export interface SuppressionOptions {
  /** The display shows the pending turn from the pending fields; the model's context keeps its row. */
  readonly hidePending: boolean;
  /** A context that is built from `context_messages` needs the payload of a row that is otherwise not shown. */
  readonly keepPayloadRows: boolean;
}

/** A state message that stays, marked where it only looks like the text of a turn with images. */
export interface KeptRow {
  readonly index: number;
  readonly message: unknown;
}

/** The state messages that go on to the merge, in order, with their place in the list that came in. */
export function suppressNativeImages(session: Message, state: readonly unknown[], options: SuppressionOptions): KeptRow[] {
  const pending = options.hidePending ? pendingTime(session) : null;
  const rows = state.map((message, index): KeptRow => ({ index, message }));
  const settled = rows.filter(({ message }) => pending === null || roleOf(message) !== 'user' || exactTimestamp(message).value !== pending);
  return withoutMirrors(session, settled, options.keepPayloadRows);
}

const PENDING_SOURCES: ReadonlySet<string> = new Set(['webui', 'fork']);

/** When the pending user message was written to the store; null without a pending turn whose identity holds. */
function pendingTime(session: Message): number | null {
  const identity = session._webui_pending_user_timestamp_identity;
  if (!Array.isArray(identity) || identity.length !== 2) return null;
  const [stream, timestamp] = identity as readonly unknown[];
  const text = session.pending_user_message;
  if (typeof stream !== 'string' || stream === '' || stream !== session.active_stream_id) return null;
  if (typeof text !== 'string' || text === '') return null;
  if (!PENDING_SOURCES.has(collapseSpace(textOf(session.pending_user_source)).toLowerCase())) return null;
  const time = exactTime(timestamp).value;
  return time !== null && time === exactTime(session.pending_started_at).value ? time : null;
}

/** A turn with images: the row that was sent to the model, and the message that shows it where that is certain. */
interface ImageTurn {
  readonly context: Message;
  readonly isLinked: boolean;
}

function withoutMirrors(session: Message, rows: readonly KeptRow[], keepPayloadRows: boolean): KeptRow[] {
  const turns = rows.length === 0 ? null : imageTurns(listOf(session.messages), listOf(session.context_messages));
  if (turns === null) return [...rows];
  const messages = rows.map(({ message }) => message);
  const rowIds = counts(messages, (message) => Identity.of(message).rowId.value);
  const stableIds = counts(messages, (message) => Identity.of(message).stableId.value);
  return rows.flatMap((row) => {
    const key = scalarMirrorKey(row.message);
    const turn = key === null ? undefined : turns.get(key);
    if (turn == null || !turn.isLinked || !isMessage(row.message)) return [row];
    const { stableId, rowId } = Identity.of(row.message);
    if (!stableId.valid || !isOnce(stableIds, stableId.value) || !isOnce(rowIds, rowId.value)) return [row];
    if (!rowId.valid || rowId.value !== Identity.of(turn.context).rowId.value) {
      return [{ index: row.index, message: { ...row.message, [UNMATCHED_MIRROR]: true } }];
    }
    if (!arePrivatelyCompatible(turn.context, row.message)) return [row];
    return keepPayloadRows && payloadOf(row.message) !== null ? [row] : [];
  });
}

/** The turns by their mirror key; null for a key that several have. Null without any. */
function imageTurns(display: readonly Message[], context: readonly Message[]): Map<string, ImageTurn | null> | null {
  if (display.length === 0 || context.length === 0) return null;
  const displayed = byToken(display);
  const sent = byToken(context);
  const displayIds = counts(display, (message) => Identity.of(message).rowId.value);
  const contextIds = counts(context, (message) => Identity.of(message).rowId.value);
  const turns = new Map<string, ImageTurn | null>();
  for (const message of context) {
    const token = tokenOf(message);
    const key = token === '' || !isTrustedInput(message) ? null : richMirrorKey(message);
    if (key === null) continue;
    const [shown] = displayed.get(token) ?? [];
    const isPair = shown !== undefined && displayed.get(token)?.length === 1 && sent.get(token)?.length === 1;
    const isLinked = isPair && isLink(message, shown) && isOwnRow(message, contextIds) && isOwnRow(shown, displayIds);
    turns.set(key, turns.has(key) ? null : { context: message, isLinked });
  }
  return turns.size === 0 ? null : turns;
}

function isLink(context: Message, shown: Message): boolean {
  const [sentAt, shownAt] = [exactTimestamp(context), exactTimestamp(shown)];
  if (roleOf(shown) !== 'user' || sentAt.value === null || sentAt.value !== shownAt.value) return false;
  return arePrivatelyCompatible(context, shown) && Identity.of(context).rowId.value === Identity.of(shown).rowId.value;
}

function isOwnRow(message: Message, ids: ReadonlyMap<string, number>): boolean {
  const { value } = Identity.of(message).rowId;
  return value !== null && ids.get(value) === 1;
}

/** The text in front of the first image is what the Web UI handed to the agent: tags and white space aside, as nothing more is established. */
function isTrustedInput(message: Message): boolean {
  const trusted = message._webui_trusted_agent_input_text;
  const leading = leadingText(message.content);
  return typeof trusted === 'string' && leading !== null && bare(trusted) === bare(leading);
}

function bare(text: string): string {
  return collapseSpace(stripWorkspace(text));
}

const TEXT_TYPES: ReadonlySet<string> = new Set(['', 'text', 'input_text', 'output_text']);

/** The texts before the first image, a line each; null without an image. */
function leadingText(content: unknown): string | null {
  if (!Array.isArray(content)) return null;
  const texts: string[] = [];
  for (const part of content as readonly unknown[]) {
    if (!isMessage(part)) continue;
    if (IMAGE_TYPES.has(part.type)) return texts.join('\n');
    if (TEXT_TYPES.has(textOf(part.type))) texts.push(textOf(part.text) || textOf(part.input_text) || textOf(part.output_text));
  }
  return null;
}

function listOf(value: unknown): readonly Message[] {
  return Array.isArray(value) ? (value as readonly unknown[]).filter(isMessage) : [];
}

function tokenOf(message: Message): string {
  return textOf(message._active_turn_token);
}

function byToken(messages: readonly Message[]): Map<string, Message[]> {
  const groups = new Map<string, Message[]>();
  for (const message of messages) {
    const token = tokenOf(message);
    if (token === '') continue;
    const group = groups.get(token);
    if (group === undefined) groups.set(token, [message]);
    else group.push(message);
  }
  return groups;
}

function counts(messages: readonly unknown[], key: (message: Message) => string | null): Map<string, number> {
  const found = new Map<string, number>();
  for (const message of messages) {
    const value = isMessage(message) ? key(message) : null;
    if (value !== null) found.set(value, (found.get(value) ?? 0) + 1);
  }
  return found;
}

/** Absent, or nobody else's. */
function isOnce(ids: ReadonlyMap<string, number>, value: string | null): boolean {
  return value === null || ids.get(value) === 1;
}
