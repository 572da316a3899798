/**
 * The uids that pair calls with their results, and those of messages that were folded into another (`spec/state-db-writes.md` V1 rows 25 to
 * 27, V10).
 */
import { isJsonObject } from '../decode.ts';
import { pythonJson } from './python-json.ts';
import { orderedObject, parsePythonJson } from './python-json-value.ts';
import { isGiven, nonEmptyString, toolCallIds } from './stored-value.ts';

/** For each id that the provider gave a call: its uid, or one for each of its occurrences where several turns were folded into one row. */
export type ToolCallUids = Readonly<Record<string, Slot>>;

type Slot = string | readonly string[];

interface UidSource {
  readonly role?: unknown;
  readonly tool_calls?: unknown;
  readonly _tool_call_uids?: unknown;
  readonly tool_call_uids?: unknown;
  readonly _absorbed_message_uids?: unknown;
  readonly absorbed_message_uids?: unknown;
}

/** The uids that a message brings, and for an assistant's calls without one a new one for each id; keys sorted, null when there are none. */
export function toolCallUidsOf(message: UidSource, mintUid: () => string): ToolCallUids | null {
  const uids = givenUids(isGiven(message._tool_call_uids) ? message._tool_call_uids : message.tool_call_uids);
  if (message.role === 'assistant') {
    for (const id of toolCallIds(message.tool_calls)) if (id !== null && !uids.has(id)) uids.set(id, mintUid());
  }
  return uids.size === 0 ? null : orderedObject([...uids].sort(([a], [b]) => byCodePoint(a, b)));
}

/** JSON list of the uids, each once; null when there are none. */
export function absorbedUidsCell(message: UidSource): string | null {
  const given = parsed(isGiven(message._absorbed_message_uids) ? message._absorbed_message_uids : message.absorbed_message_uids);
  const uids = Array.isArray(given) ? new Set(given.flatMap((uid: unknown) => nonEmptyString(uid) ?? [])) : new Set();
  return uids.size === 0 ? null : pythonJson([...uids]);
}

function givenUids(value: unknown): Map<string, Slot> {
  const uids = new Map<string, Slot>();
  const given = parsed(value);
  if (!isJsonObject(given)) return uids;
  for (const [id, slot] of Object.entries(given)) {
    const uid = Array.isArray(slot) ? slot.flatMap((item: unknown) => nonEmptyString(item) ?? []) : nonEmptyString(slot);
    if (id !== '' && uid !== null && uid.length > 0) uids.set(id.toWellFormed(), uid);
  }
  return uids;
}

/** Stored rows bring the text of their cells. */
function parsed(value: unknown): unknown {
  return typeof value === 'string' ? parsePythonJson(value) : value;
}

/** The bytes of UTF-8 are in the order of code points; UTF-16 is not. */
function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
