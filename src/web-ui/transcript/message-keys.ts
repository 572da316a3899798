/**
 * The keys by which messages are looked up, from strict to lenient (`spec/webui-transcript.md` 8.4-8.7). Keys live in memory only. Each ends
 * with the provider payload where there is one: a missing payload is no wildcard.
 */
import { collapseSpace } from '../../state-db/whitespace.ts';
import { secondKey } from './timestamps.ts';
import { canonicalJson, collapsed, isMessage, type Message, payloadOf, textOf, toolCallsKey, toolName } from './values.ts';
import { stripWorkspace } from './workspace-tag.ts';

/** STATE drops the workspace tag of a user's text, LITERAL keeps what the user typed. */
export type KeyVariant = 'STATE' | 'LITERAL';

/** The visible key with the parts that near duplicates are told by. */
export interface VisibleKey {
  readonly key: string;
  readonly role: string;
  /** Null where the content has structure: it equals exactly or not at all. */
  readonly text: string | null;
  readonly payload: string | null;
}

/** Text and structure are tagged, so that neither can imitate the other. */
type ContentKey = readonly ['t' | 's', string];

export class MessageKeys {
  readonly #message: unknown;
  readonly #variant: KeyVariant;
  #merge: string | undefined;
  #dedup: string | undefined;
  #visible: VisibleKey | undefined;
  #content: string | undefined;
  #normal: ContentKey | undefined;
  #toolCalls: string | undefined;

  constructor(message: unknown, variant: KeyVariant) {
    this.#message = message;
    this.#variant = variant;
  }

  /** Whether the merge and dedup keys are the message's own id. */
  get isIdKey(): boolean {
    return isMessage(this.#message) && idOf(this.#message) !== null;
  }

  /** The same message with a time that may differ within its second. */
  get merge(): string {
    this.#merge ??= this.#key((message) => this.#strict(message, secondKey(message.timestamp)));
    return this.#merge;
  }

  /** The very same message. */
  get dedup(): string {
    this.#dedup ??= this.#key((message) => this.#strict(message, textOf(message.timestamp)));
    return this.#dedup;
  }

  /** What is seen, at any time. */
  get visible(): VisibleKey {
    this.#visible ??= this.#visibleKey();
    return this.#visible;
  }

  /** The text of a role, whatever its tool calls and time. */
  get content(): string {
    this.#content ??= this.#key((message) => [
      textOf(message.role),
      ...this.#normalContent(message),
      textOf(message.tool_call_id),
      toolName(message),
    ]);
    return this.#content;
  }

  #key(parts: (message: Message) => readonly string[]): string {
    const message = this.#message;
    if (!isMessage(message)) return JSON.stringify(['non_dict', textOf(message)]);
    const payload = payloadOf(message);
    return JSON.stringify(payload === null ? parts(message) : [...parts(message), { payload }]);
  }

  #strict(message: Message, time: string): readonly string[] {
    const id = idOf(message);
    if (id !== null) return ['message_id', id];
    const { content } = message;
    const exact = Array.isArray(content) && content.length > 0 ? this.#normalContent(message) : ['t', textOf(content)];
    return ['legacy', textOf(message.role), ...exact, time, textOf(message.tool_call_id), toolName(message), this.#calls(message)];
  }

  #visibleKey(): VisibleKey {
    const key = this.#key((message) => [textOf(message.role), ...this.#normalContent(message), this.#calls(message)]);
    const message = this.#message;
    if (!isMessage(message)) return { key, role: '', text: null, payload: null };
    const [kind, text] = this.#normalContent(message);
    return { key, role: textOf(message.role), text: kind === 't' ? text : null, payload: payloadOf(message) };
  }

  #normalContent(message: Message): ContentKey {
    this.#normal ??= normalContent(message, this.#variant);
    return this.#normal;
  }

  #calls(message: Message): string {
    this.#toolCalls ??= toolCallsKey(message);
    return this.#toolCalls;
  }
}

function normalContent({ role, content }: Message, variant: KeyVariant): ContentKey {
  if (Array.isArray(content) && content.length > 0) return ['s', canonicalJson(content)];
  const text = collapsed(content);
  return ['t', variant === 'STATE' && role === 'user' && typeof content === 'string' ? collapseSpace(stripWorkspace(text)) : text];
}

/** A truthy `id`, else a truthy `message_id`; 0 and "" are none. */
function idOf(message: Message): string | null {
  return textOf(message.id) || textOf(message.message_id) || null;
}

/** Keys of the messages of one merge, each made once. By object: an address can be used again, an object can't (hazard H8). */
export class KeyCache {
  readonly #known: Readonly<Record<KeyVariant, WeakMap<object, MessageKeys>>> = { STATE: new WeakMap(), LITERAL: new WeakMap() };

  of(message: unknown, variant: KeyVariant): MessageKeys {
    if (typeof message !== 'object' || message === null) return new MessageKeys(message, variant);
    const known = this.#known[variant].get(message);
    if (known !== undefined) return known;
    const keys = new MessageKeys(message, variant);
    this.#known[variant].set(message, keys);
    return keys;
  }
}
