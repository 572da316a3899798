/**
 * A user's turn with images is kept rich by the Web UI and as text by the agent, each image a word (`spec/webui-transcript.md` 10). The key
 * pairs one rich row with one text row, never two rich ones: different images have the same text.
 */
import { collapseSpace } from '../../state-db/whitespace.ts';
import { Identity } from './identity.ts';
import { SCREENSHOT } from './state-message.ts';
import { IMAGE_TYPES } from './structured-content.ts';
import { exactTimestamp } from './timestamps.ts';
import { isMessage, type Message, payloadOf, roleOf, textOf, toolCallsKey, toolName } from './values.ts';

/** The text of a list of parts, images as words, white space collapsed; null without an image or with a part of another kind. */
export function imageProjection(content: unknown): string | null {
  if (!Array.isArray(content)) return null;
  const words: string[] = [];
  let images = 0;
  for (const part of content as readonly unknown[]) {
    if (!isMessage(part)) return null;
    if (IMAGE_TYPES.has(part.type)) {
      images += 1;
      words.push(SCREENSHOT);
    } else if (part.type === 'text' && typeof part.text === 'string') words.push(part.text);
    else return null;
  }
  return images === 0 ? null : collapseSpace(words.join('\n'));
}

/** The key of a rich row; null where the message is none. */
export function richMirrorKey(message: unknown): string | null {
  return isMessage(message) ? mirrorKey(message, imageProjection(message.content)) : null;
}

/** The key of a text row; null where the message is none. */
export function scalarMirrorKey(message: unknown): string | null {
  return isMessage(message) && typeof message.content === 'string' ? mirrorKey(message, collapseSpace(message.content)) : null;
}

/** Times are exactly equal or the rows are no pair; the payload isn't looked at. */
function mirrorKey(message: Message, text: string | null): string | null {
  if (text === null || roleOf(message) !== 'user') return null;
  const time = exactTimestamp(message).value;
  if (time === null) return null;
  return JSON.stringify([text, time, textOf(message.tool_call_id), toolName(message), toolCallsKey(message)]);
}

/** Keys of text rows that can't be told to be one row: ids that can't be read, or other ids or payloads (15.2 F). */
export function ambiguousMirrors(state: readonly unknown[]): Set<string> {
  const seen = new Map<string, string>();
  const ambiguous = new Set<string>();
  for (const message of state) {
    const key = scalarMirrorKey(message);
    if (key === null || !isMessage(message)) continue;
    const { stableId, rowId } = Identity.of(message);
    const row = JSON.stringify([stableId.value, rowId.value, payloadOf(message)]);
    if (!stableId.valid || !rowId.valid || (seen.get(key) ?? row) !== row) ambiguous.add(key);
    seen.set(key, row);
  }
  return ambiguous;
}
