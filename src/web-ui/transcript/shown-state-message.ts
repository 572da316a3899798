/**
 * A message that the Web UI reads from the store, as clients are shown it: plain values of bounded depth, without what was sent to the provider
 * and without private fields (`spec/webui-transcript.md` 3.4, 11).
 */
import { inWindow } from '../../state-db/decode.ts';
import { withoutPrivateFields } from './display-metadata.ts';
import { isTooDeep } from './file-message.ts';
import { exactTimestamp } from './timestamps.ts';
import { isMessage, type Message, payloadOf, plainText, textOf, toolName } from './values.ts';

export interface ShownStateMessage {
  /** Decimal digits; null where the store has no ids. */
  readonly rowId: string | null;
  readonly role: string;
  /** Text parts joined by line breaks. */
  readonly text: string;
  /** Text, or a list of parts; null without content. */
  readonly content: unknown;
  /** Epoch seconds; null for none, or one that is no time. */
  readonly timestamp: number | null;
  readonly toolCallId: string | null;
  /** Parsed; the text where it is no JSON; null without calls. */
  readonly toolCalls: unknown;
  readonly toolName: string | null;
  readonly reasoning: string | null;
  readonly hasProviderPayload: boolean;
}

export function shownStateMessage(message: Message, rowId: string | null): ShownStateMessage {
  const found = withoutPrivateFields(message);
  const shown = isMessage(found) ? found : {};
  const { value } = exactTimestamp(message);
  return {
    rowId,
    role: textOf(shown.role),
    text: plainText(shown),
    content: bounded(shown.content),
    timestamp: value === null ? null : inWindow(value),
    toolCallId: textOf(shown.tool_call_id) || null,
    toolCalls: bounded(shown.tool_calls),
    toolName: toolName(shown) || null,
    reasoning: textOf(shown.reasoning) || textOf(shown.reasoning_content) || null,
    hasProviderPayload: payloadOf(message) !== null,
  };
}

/** What breaks whoever writes it out is left out. */
export function bounded(value: unknown): unknown {
  return value === undefined || isTooDeep(value, 0) ? null : value;
}
