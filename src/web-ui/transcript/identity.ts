/**
 * Who a message is: its own id, its durable row and what is seen of it, and whether two messages may be the same
 * (`spec/webui-transcript.md` 8.1-8.3).
 */
import { collapseSpace, isBlank, trimSpace } from '../../state-db/whitespace.ts';
import { arePayloadsCompatible, canonicalJson, isBlankValue, isMessage, type Message, roleOf } from './values.ts';
import { stripWorkspace } from './workspace-tag.ts';

/** An id that is absent is valid; contradictory or unreadable ones are not. */
export interface Identifier {
  readonly value: string | null;
  readonly valid: boolean;
}

const ABSENT: Identifier = { value: null, valid: true };
const INVALID: Identifier = { value: null, valid: false };

export const ROW_ID_ALIASES = ['_row_id', '_state_db_row_id', '_db_row_id', 'state_db_row_id'] as const;

/** The Web UI's own id of a message, from `id` and `message_id` (8.1). */
export function stableId(message: unknown): Identifier {
  return identifier(message, ['id', 'message_id'], (value) => {
    if (typeof value === 'number') return Number.isFinite(value) ? String(value) : null;
    return typeof value === 'string' && !isBlank(value) ? trimSpace(value) : null;
  });
}

/** The row of `state.db` that a message came from, from its four aliases (8.2). */
export function durableRowId(message: unknown): Identifier {
  return identifier(message, ROW_ID_ALIASES, (value) => {
    if (typeof value === 'number') return value >= 0 && Number.isInteger(value) ? BigInt(value).toString() : null;
    return typeof value === 'string' && /^\d{1,40}$/.test(value) ? BigInt(value).toString() : null;
  });
}

function identifier(message: unknown, fields: readonly string[], read: (value: unknown) => string | null): Identifier {
  if (!isMessage(message)) return ABSENT;
  let found: string | null = null;
  for (const field of fields) {
    const value = message[field];
    if (isBlankValue(value)) continue;
    const text = read(value);
    if (text === null || (found !== null && found !== text)) return INVALID;
    found = text;
  }
  return found === null ? ABSENT : { value: found, valid: true };
}

/** Equal, or one is absent; contradictory ones fit nothing. */
export function areIdsCompatible(a: Identifier, b: Identifier): boolean {
  return a.valid && b.valid && (a.value === null || b.value === null || a.value === b.value);
}

/**
 * What is seen of a user's or assistant's message, whitespace and the workspace tag of the user's text aside; null for other roles (8.3).
 * The tag is read with its escapes, so that a path with a bracket doesn't tear the two stores apart (hazard H7).
 */
export function visibleIdentity(message: unknown): string | null {
  const role = roleOf(message);
  if (!isMessage(message) || (role !== 'user' && role !== 'assistant')) return null;
  const text = (value: string) => collapseSpace(role === 'user' ? stripWorkspace(value) : value);
  const { content } = message;
  const seen = Array.isArray(content) ? content.map((item: unknown) => normal(item, text)) : normal(content, text);
  return JSON.stringify([role, canonicalJson(seen)]);
}

const NOT_SEEN: ReadonlySet<string> = new Set(['api_content', '_state_db_row_id', '_db_row_id', 'state_db_row_id']);
/** As deep as values are compared. */
const DEEPEST = 600;

function normal(value: unknown, text: (value: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return text(value);
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => normal(item, collapseSpace, depth + 1));
  const fields = Object.entries(value).filter(([key]) => !NOT_SEEN.has(key));
  return Object.fromEntries(fields.map(([key, field]) => [key, normal(field, collapseSpace, depth + 1)]));
}

/** What is asked of a message again and again, read once. */
export class Identity {
  readonly stableId: Identifier;
  readonly rowId: Identifier;
  readonly visible: string | null;

  private constructor(message: unknown) {
    this.stableId = stableId(message);
    this.rowId = durableRowId(message);
    this.visible = visibleIdentity(message);
  }

  /** Kept by object: never look at a message before it has its last content and ids. */
  static of(message: Message): Identity {
    const known = identities.get(message);
    if (known !== undefined) return known;
    const identity = new Identity(message);
    identities.set(message, identity);
    return identity;
  }
}

const identities = new WeakMap<object, Identity>();

/** Whether two messages may be the same, their payloads aside; two of other roles than user and assistant look alike to this (H19). */
export function areIdentitiesCompatible(a: Message, b: Message): boolean {
  const [one, other] = [Identity.of(a), Identity.of(b)];
  return areIdsCompatible(one.stableId, other.stableId) && areIdsCompatible(one.rowId, other.rowId) && one.visible === other.visible;
}

/** Whether nothing private speaks against two messages being the same: ids and payloads, not what is seen. */
export function arePrivatelyCompatible(a: Message, b: Message): boolean {
  const [one, other] = [Identity.of(a), Identity.of(b)];
  return areIdsCompatible(one.stableId, other.stableId) && areIdsCompatible(one.rowId, other.rowId) && arePayloadsCompatible(a, b);
}
