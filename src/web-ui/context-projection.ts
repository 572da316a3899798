/**
 * What of a message in a session file reaches the model (`spec/webui-sidecars.md` 11.4): no errors, no bare reasoning. Pure.
 */
import { isJsonObject } from '../state-db/decode.ts';
import { isBlank } from '../state-db/whitespace.ts';
import { type Fields, truthy } from './sidecar/coercions.ts';

const REASONING_PARTS = new Set(['thinking', 'reasoning']);

/** The message as the model sees it; null when it doesn't. */
export function projectToContext(message: unknown): Fields | null {
  if (!isJsonObject(message) || truthy(message._error)) return null;
  const { reasoning: _, ...projected } = message;
  const hasCalls = truthy(projected.tool_calls);
  if (isReasoningOnly(projected.content)) return hasCalls ? { ...projected, content: '' } : null;
  const isEmpty = isBlankContent(projected.content) && !truthy(projected.tool_call_id) && !hasCalls;
  return isEmpty ? null : projected;
}

/** A list with some reasoning in it and nothing else that says anything. */
export function isReasoningOnly(content: unknown): boolean {
  if (!Array.isArray(content)) return false;
  let hasReasoning = false;
  for (const part of content) {
    if (isJsonObject(part) && typeof part.type === 'string' && REASONING_PARTS.has(part.type)) {
      hasReasoning ||= [part.thinking, part.reasoning, part.text].some((text) => typeof text === 'string' && !isBlank(text));
    } else if (!isBlankPart(part)) return false;
  }
  return hasReasoning;
}

function isBlankPart(part: unknown): boolean {
  if (!isJsonObject(part)) return !truthy(part) || isBlank(String(part));
  return part.type === 'text' && (typeof part.text !== 'string' || isBlank(part.text));
}

function isBlankContent(content: unknown): boolean {
  return !truthy(content) || (typeof content === 'string' && isBlank(content));
}
