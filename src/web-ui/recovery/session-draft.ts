/**
 * The lists of a session file while a recovery works on them. Rows know where they stand in the file, so that what nothing was done to keeps
 * its bytes, and places of rows are found again after others were put before them (`spec/webui-recovery.md` 13.3, D7).
 */
import { isJsonObject } from '../../state-db/decode.ts';
import { type Fields, listOf } from '../sidecar/coercions.ts';
import type { ListKey } from '../sidecar/edit-sidecar.ts';
import type { ArrangedRow } from '../sidecar/member-edits.ts';

export class DraftRow {
  /** As it reads now. */
  value: unknown;
  readonly #from: number | null;
  #set: Fields = {};
  #unset: readonly string[] = [];

  /** `from`: its place in the file's list; null for a new row. */
  constructor(value: unknown, from: number | null = null) {
    this.value = value;
    this.#from = from;
  }

  get fields(): Fields | null {
    return isJsonObject(this.value) ? this.value : null;
  }

  get isChanged(): boolean {
    return this.#from === null || this.#unset.length > 0 || Object.keys(this.#set).length > 0;
  }

  change(set: Fields, unset: readonly string[] = []): void {
    const fields = { ...this.fields, ...set };
    this.value = Object.fromEntries(Object.entries(fields).filter(([key]) => !unset.includes(key)));
    this.#set = { ...Object.fromEntries(Object.entries(this.#set).filter(([key]) => !unset.includes(key))), ...set };
    this.#unset = [...this.#unset.filter((key) => set[key] === undefined), ...unset];
  }

  /** Whether the row stands at this place of the file, unchanged. */
  isAt(place: number): boolean {
    return this.#from === place && !this.isChanged;
  }

  arranged(): ArrangedRow {
    return this.#from === null ? { value: this.value } : { from: this.#from, set: this.#set, unset: this.#unset };
  }
}

export class SessionDraft {
  messages: DraftRow[];
  toolCalls: DraftRow[];
  context: DraftRow[];
  /** The message that each card hangs on. */
  readonly #hosts = new Map<DraftRow, DraftRow>();
  readonly #before: { readonly messages: number; readonly toolCalls: number; readonly context: number };
  readonly #hadContext: boolean;

  /** Pure: `fields` stay as they are. */
  constructor(fields: Fields) {
    this.messages = storedRows(fields.messages);
    this.toolCalls = storedRows(fields.tool_calls);
    this.context = storedRows(fields.context_messages);
    this.#hadContext = Array.isArray(fields.context_messages);
    this.#before = { messages: this.messages.length, toolCalls: this.toolCalls.length, context: this.context.length };
    this.#hangUp(this.toolCalls);
  }

  /** Takes the messages and cards of another transcript instead (`spec/webui-recovery.md` 11.3, R5). */
  adopt(messages: readonly unknown[], toolCalls: readonly unknown[]): void {
    this.#hosts.clear();
    this.messages = messages.map((message) => new DraftRow(message));
    this.toolCalls = toolCalls.map((call) => new DraftRow(call));
    this.#hangUp(this.toolCalls);
  }

  hang(card: DraftRow, host: DraftRow): void {
    this.toolCalls.push(card);
    this.#hosts.set(card, host);
  }

  hostOf(card: DraftRow): DraftRow | null {
    return this.#hosts.get(card) ?? null;
  }

  /** Puts a row before another, or at the end. */
  insert(row: DraftRow, before: DraftRow | null): void {
    const at = before === null ? -1 : this.messages.indexOf(before);
    this.messages.splice(at === -1 ? this.messages.length : at, 0, row);
  }

  remove(row: DraftRow): void {
    this.messages = this.messages.filter((each) => each !== row);
  }

  /** Only the first messages stay, with what hangs on them. */
  cut(keep: number): void {
    this.messages = this.messages.slice(0, keep);
    const kept = new Set(this.messages);
    this.toolCalls = this.toolCalls.filter((card) => {
      const host = this.hostOf(card);
      return host === null || kept.has(host);
    });
  }

  /** Rows of each list that the file has more than before. */
  get added(): { readonly messages: number; readonly toolCalls: number; readonly context: number } {
    return {
      messages: this.messages.length - this.#before.messages,
      toolCalls: this.toolCalls.length - this.#before.toolCalls,
      context: this.context.length - this.#before.context,
    };
  }

  /** The lists that differ from the file. Cards are given the places that their messages have now. */
  arrangement(): Partial<Record<ListKey, readonly ArrangedRow[]>> {
    const places = new Map(this.messages.map((row, place) => [row, place]));
    for (const [card, host] of this.#hosts) {
      const place = places.get(host);
      if (place !== undefined && card.fields?.assistant_msg_idx !== place) card.change({ assistant_msg_idx: place });
    }
    return {
      ...different('messages', this.messages, this.#before.messages),
      ...different('tool_calls', this.toolCalls, this.#before.toolCalls),
      ...(this.#hadContext || this.context.length > 0 ? different('context_messages', this.context, this.#before.context) : {}),
    };
  }

  #hangUp(cards: readonly DraftRow[]): void {
    for (const card of cards) {
      const place = card.fields?.assistant_msg_idx;
      const host = typeof place === 'number' ? this.messages[place] : undefined;
      if (host !== undefined) this.#hosts.set(card, host);
    }
  }
}

function storedRows(list: unknown): DraftRow[] {
  return listOf(list).map((value, place) => new DraftRow(value, place));
}

function different(key: string, rows: readonly DraftRow[], before: number): Record<string, readonly ArrangedRow[]> {
  const isSame = rows.length === before && rows.every((row, place) => row.isAt(place));
  return isSame ? {} : { [key]: rows.map((row) => row.arranged()) };
}
