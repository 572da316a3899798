/**
 * The turns that a person took in a session, as an undo counts them (`spec/state-db-writes.md` 10.2, 10.4). Not the turns of a replay: what
 * its repair merges around a note of the machine would hide a person's words behind that note.
 */
import { type Content, contentText } from './content.ts';
import { assembleConversation } from './conversation.ts';
import { isJsonObject } from './decode.ts';
import { decodeMessage, type MessageRecord } from './message-row.ts';
import type { StoreReading } from './store-reading.ts';
import { type CompositeSource, splitComposite } from './summary-markers.ts';
import { isLiveSql } from './visibility.ts';
import { isBlank } from './whitespace.ts';

export interface UserTurn {
  /** Of its first row: an undo begins there. */
  readonly rowId: string;
  /** What the person said, without summaries and recalled memory; rows that follow each other directly are joined. */
  readonly content: Content;
  /** The row carries a summary too, which an undo has to keep. */
  readonly isComposite: boolean;
}

const COLUMNS = ['role', 'display_kind', 'display_metadata', '_compressed_summary'] as const;
/** Kinds of rows that hold a person's words beside those without a kind (10.4 b). */
const SPOKEN_KINDS: ReadonlySet<string> = new Set(['steer', 'skill_invocation']);
const LOSSLESS_TYPES: ReadonlySet<unknown> = new Set(['text', 'input_text', 'output_text']);

/** The turns among the live rows of a session, oldest first. One statement; only texts that can be a person's are read. */
export function readUserTurns(store: StoreReading, sessionId: string): UserTurn[] {
  const rows = store.all(
    `SELECT CAST(m.id AS TEXT) AS id, ${store.shape.selectList('messages', COLUMNS, 'm')},
       CASE WHEN m.role IN ('user', 'system') THEN m.content END AS content
     FROM messages m WHERE m.session_id = ? AND ${isLiveSql(store.shape, 'm')} ORDER BY m.id`,
    [sessionId],
  );
  return userTurns(rows.map(decodeMessage));
}

/** The turns of live rows. */
export function userTurns(rows: readonly MessageRecord[]): UserTurn[] {
  const turns: UserTurn[] = [];
  let before: UserTurn | null = null;
  for (const message of assembleConversation(rows, { replay: true })) {
    const { handoff, human } = splitTurn(message);
    const rowId = message.rowIds[0] ?? '';
    const turn: UserTurn | null = human === null ? null : { rowId, content: human.content, isComposite: handoff !== null };
    if (turn !== null && before !== null && isFollowUp(before, turn)) {
      before = { ...before, content: `${String(before.content)}\n\n${String(turn.content)}` };
      turns[turns.length - 1] = before;
    } else if (turn !== null) turns.push(turn);
    // A steering text belongs to the words before it, but never takes in those behind it.
    before = turn === null || message.displayKind === 'steer' ? null : (turns.at(-1) ?? null);
  }
  return turns;
}

/** A user row as the machine's handoff and the person's words (10.4): both are there in a composite, neither in a note of the machine. */
export function splitTurn(message: CompositeSource): ReturnType<typeof splitComposite> {
  const parts = splitComposite(message);
  const isSpoken = message.displayKind !== null && SPOKEN_KINDS.has(message.displayKind);
  return parts.handoff === null && isSpoken ? splitComposite({ ...message, displayKind: null }) : parts;
}

/** Texts that follow each other without an answer are one turn; a summary between them is not to be lost. */
function isFollowUp(before: UserTurn, turn: UserTurn): boolean {
  return typeof before.content === 'string' && typeof turn.content === 'string' && !before.isComposite && !turn.isComposite;
}

/** The text that an undo gives back: the texts of the parts, a line each. */
export function turnText({ content }: Pick<UserTurn, 'content'>): string {
  return contentText(content);
}

/** The text that can be sent again without loss, null when something would be lost or nothing said (10.2). */
export function losslessText(content: Content): string | null {
  const texts = typeof content === 'string' ? [content] : Array.isArray(content) ? content.map(losslessPart) : [null];
  const text = texts.includes(null) ? '' : texts.join('');
  return isBlank(text) ? null : text;
}

function losslessPart(part: unknown): string | null {
  if (typeof part === 'string') return part;
  if (!isJsonObject(part) || !LOSSLESS_TYPES.has(part.type) || typeof part.text !== 'string') return null;
  return Object.keys(part).length === 2 ? part.text : null;
}
