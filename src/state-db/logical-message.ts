/**
 * One message, several rows: compaction, rotation and pruning copy rows, and readers show each message once
 * (`spec/state-db.md` 8.1, 8.3). This is the projection for stores or sessions without a complete `display_order`.
 */
import { createHash } from 'node:crypto';
import { type Content, decodeContent, STRUCTURED_PREFIX } from './content.ts';
import { isJsonObject } from './decode.ts';
import type { MessageRecord } from './message-row.ts';
import { splitComposite } from './summary-markers.ts';

/** A message as a display page shows it. */
export interface LogicalMessage {
  /** The copy to show: a live one before an archived one, then the newest. */
  readonly representative: MessageRecord;
  /** Smallest row id of the copies: the message's place in display order. */
  readonly slotRowId: string;
  /** Row ids of all copies, ascending. */
  readonly rowIds: readonly string[];
  readonly copies: number;
}

/**
 * The visible messages of one or more sessions, each once, in display order (8.3, and Z13 of the writes). Rewound rows and rows that are meant for the model only
 * are left out; the order of `rows` does not matter.
 */
export function projectLogicalMessages(rows: readonly MessageRecord[]): LogicalMessage[] {
  const groups = new Map<string, MessageRecord[]>();
  const visible = sortByRowId(rows).filter((row) => row.state !== 'REWOUND' && !isModelOnly(row));
  const liveKeys = liveByUid(visible, logicalKey);
  for (const row of visible) {
    const key = liveTwin(row, liveKeys) ?? logicalKey(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const representative = group.reduce((best, row) => (best.active && !row.active ? best : row), first);
    return [{ representative, slotRowId: first.rowId, rowIds: group.map((row) => row.rowId), copies: group.length }];
  });
}

/** What `place` gives for the live rows, by their session, uid and time. */
export function liveByUid(rows: readonly MessageRecord[], place: (row: MessageRecord) => string): Map<string, string> {
  return new Map(
    rows.flatMap((row) => {
      const key = row.active ? uidKey(row) : null;
      return key === null ? [] : [[key, place(row)] as const];
    }),
  );
}

/**
 * What `live` holds of the row that says in a message's place what this archived one said before: a prune keeps the earlier body under the
 * message's uid and time, and a person sees one of the two (`spec/state-db-writes.md` Z13).
 */
export function liveTwin(row: MessageRecord, live: ReadonlyMap<string, string>): string | undefined {
  const key = row.active ? null : uidKey(row);
  return key === null ? undefined : live.get(key);
}

function uidKey({ sessionId, messageUid, timestamp }: MessageRecord): string | null {
  return messageUid && timestamp !== null ? JSON.stringify([sessionId, messageUid, timestamp]) : null;
}

/**
 * Equal keys are copies of one message: role, content, timestamp and the tool columns as stored; of a composite carrier only the person's
 * words count, and only the text decides whether it is one (8.3). Structured content is compared by value. A row whose time can't be
 * trusted is a copy of nothing: showing a message twice is better than losing one. The key is a digest, private to this process.
 */
export function logicalKey(row: MessageRecord): string {
  const time = row.timestamp === null ? `row ${row.rowId}` : String(row.timestamp);
  const hash = createHash('sha256');
  for (const part of [row.role, contentKey(row), time, row.toolCallId, row.rawToolCalls, row.toolName]) {
    if (part === null) hash.update('-;');
    else hash.update(`${part.length}:`).update(part).update(';');
  }
  return hash.digest('base64');
}

function contentKey(row: MessageRecord): string | null {
  if (row.role === 'user') {
    const { handoff, human } = splitComposite({ ...row, compressedSummary: false });
    if (handoff !== null && human !== null) return encodedContent(human.content) ?? row.rawContent;
  }
  if (row.rawContent?.startsWith(STRUCTURED_PREFIX) !== true) return row.rawContent;
  const decoded = decodeContent(row.rawContent);
  const json = decoded === row.rawContent ? null : canonicalJson(decoded);
  return json === null ? row.rawContent : STRUCTURED_PREFIX + json;
}

function encodedContent(content: Content): string | null {
  if (typeof content === 'string') return content;
  const json = canonicalJson(content);
  return json === null ? null : STRUCTURED_PREFIX + json;
}

function isModelOnly(row: MessageRecord): boolean {
  return row.displayMetadata?.model_only === true;
}

/** Deeper values are damage; they are not taken apart. */
const MAX_DEPTH = 100;

/** JSON with sorted keys and without spaces, so that equal values give equal text; null when the value is nested absurdly deep. */
export function canonicalJson(value: unknown, depth = 0): string | null {
  if (depth > MAX_DEPTH) return null;
  if (Array.isArray(value)) {
    const items = value.map((item) => canonicalJson(item, depth + 1));
    return items.includes(null) ? null : `[${items.join(',')}]`;
  }
  if (isJsonObject(value)) {
    const fields = Object.keys(value)
      .sort()
      .map((key) => [JSON.stringify(key), canonicalJson(value[key], depth + 1)] as const);
    return fields.some(([, json]) => json === null) ? null : `{${fields.map(([key, json]) => `${key}:${json}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? null;
}

/** Rows by ascending id. */
export function sortByRowId(rows: readonly MessageRecord[]): MessageRecord[] {
  return rows.toSorted((a, b) => compareRowIds(a.rowId, b.rowId));
}

const ROW_ID = /^-?[0-9]+$/;

/** Orders row ids, which are decimal digits and can exceed 2^53; what is no number comes last. */
export function compareRowIds(a: string, b: string): number {
  const [isIdA, isIdB] = [ROW_ID.test(a), ROW_ID.test(b)];
  if (!isIdA || !isIdB) return isIdA ? -1 : isIdB ? 1 : compareText(a, b);
  const [negativeA, negativeB] = [a.startsWith('-'), b.startsWith('-')];
  if (negativeA !== negativeB) return negativeA ? -1 : 1;
  const magnitude = a.length === b.length ? compareText(a, b) : a.length - b.length;
  return negativeA ? 0 - magnitude : magnitude;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
