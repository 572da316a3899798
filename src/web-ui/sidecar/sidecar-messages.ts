/**
 * What the list of messages in a session file tells of it (`spec/webui-sidecars.md` 4.2, 10). Pure; entries may be anything.
 */
import { isJsonObject } from '../../state-db/decode.ts';
import { isBlank, trimSpace } from '../../state-db/whitespace.ts';
import { epochSeconds, type Fields, finiteNumber, truthy } from './coercions.ts';

/**
 * The last message that counts: no tool result and no empty partial answer. Epoch seconds of `_ts`, else `timestamp`; null when no such
 * message has a time.
 */
export function lastMessageTime(messages: readonly unknown[]): number | null {
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = messages[index];
    if (!isJsonObject(message) || message.role === 'tool' || isEmptyPartial(message)) continue;
    const time = epochSeconds(truthy(message._ts) ? message._ts : message.timestamp);
    if (time !== null) return time;
  }
  return null;
}

/** Messages whose role is exactly `user`. */
export function countUserMessages(messages: readonly unknown[]): number {
  return messages.filter((message) => isJsonObject(message) && message.role === 'user').length;
}

function isEmptyPartial(message: Fields): boolean {
  return message.role === 'assistant' && truthy(message._partial) && !hasText(message.content);
}

function hasText(content: unknown): boolean {
  if (!Array.isArray(content)) return truthy(content) && !isBlank(String(content));
  return content.some((part) => {
    if (!isJsonObject(part)) return truthy(part) && !isBlank(String(part));
    return part.type === 'text' && [part.text, part.content].some((text) => typeof text === 'string' && !isBlank(text));
  });
}

/** Which entries of the list go: partial answers that repeat the partial kept before them, whatever their times (4.2). */
export function repeatedPartials(messages: readonly unknown[]): readonly number[] {
  const repeated: number[] = [];
  let kept: string | null = null;
  for (const [index, message] of messages.entries()) {
    if (!isJsonObject(message) || !truthy(message._partial)) {
      kept = null;
      continue;
    }
    const signature = partialSignature(message);
    if (signature === kept) repeated.push(index);
    else kept = signature;
  }
  return repeated;
}

function partialSignature(message: Fields): string {
  const calls = Array.isArray(message._partial_tool_calls) ? message._partial_tool_calls : [];
  return JSON.stringify([
    comparable(message.content),
    comparable(message.reasoning),
    calls
      .filter(isJsonObject)
      .map(({ name, args, done, is_error, preview, snippet }) => [
        name ?? null,
        sorted(args),
        done ?? null,
        is_error ?? null,
        truthy(preview) ? preview : (snippet ?? null),
      ]),
  ]);
}

function comparable(value: unknown): string {
  if (!truthy(value)) return '';
  return trimSpace(typeof value === 'string' ? value : JSON.stringify(sorted(value)));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value ?? null;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

/** Keys of stored scenes and when each was stored (3.6). */
export function sceneIndexOf(scenes: unknown): Record<string, number> {
  if (!isJsonObject(scenes)) return {};
  return Object.fromEntries(
    Object.entries(scenes).flatMap(([key, scene]) =>
      key !== '' && isJsonObject(scene) ? [[key, finiteNumber(scene.updated_at) ?? 0] as const] : [],
    ),
  );
}
