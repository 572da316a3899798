/**
 * The growing transcript of a merge: rows are appended, or inserted by time without tearing a tool call from its results
 * (`spec/webui-transcript.md` 15.6).
 */
import { isBlank } from '../../state-db/whitespace.ts';
import { mergeTimestamp } from './timestamps.ts';
import { hasToolCalls, isEmpty, isMessage, plainText, roleOf, textOf } from './values.ts';

/** What stands in a transcript: a message, with what its owner wants to know of it. */
export interface Item {
  readonly message: unknown;
}

interface Placed<T extends Item> {
  readonly item: T;
  readonly time: number | null;
  readonly role: string;
  readonly hasCalls: boolean;
  readonly isBareCall: boolean;
  readonly isAnswer: boolean;
}

export type Placement = 'INSERTED' | 'APPENDED' | 'REFUSED';

export class Chronology<T extends Item> {
  readonly #rows: Placed<T>[] = [];
  /** Of the rows, NaN for none: a search through doubles alone stays fast among tens of thousands. */
  readonly #times: number[] = [];
  /** The same of assistants' rows alone: nothing else belongs behind a row of its instant. */
  readonly #assistantTimes: number[] = [];

  append(item: T): void {
    this.#put(this.#rows.length, placed(item));
  }

  /**
   * Puts the message before the first that is newer, or that belongs behind it at the same instant; at the end where there is none. Refuses
   * what is older than everything: it may be history that was compacted away.
   */
  insert(item: T): Placement {
    const row = placed(item);
    const at = this.#slot(row);
    if (at === null) return 'REFUSED';
    this.#put(at, row);
    return at === this.#rows.length - 1 ? 'APPENDED' : 'INSERTED';
  }

  items(): T[] {
    return this.#rows.map(({ item }) => item);
  }

  #put(at: number, row: Placed<T>): void {
    this.#rows.splice(at, 0, row);
    this.#times.splice(at, 0, row.time ?? Number.NaN);
    this.#assistantTimes.splice(at, 0, row.role === 'assistant' ? (row.time ?? Number.NaN) : Number.NaN);
  }

  #slot(row: Placed<T>): number | null {
    const { time } = row;
    if (time === null) return this.#rows.length;
    const first = this.#firstBehind(row, time);
    if (first === 0 && (this.#times[0] ?? time) > time) return null;
    let at = first;
    for (;;) {
      const next = this.#behindResults(at);
      if (next === at && !this.#followsItsRole(row, at)) return at;
      at = next === at ? at + 1 : next;
    }
  }

  /** The first row that is newer, or that belongs behind this one at the same instant; the end where there is none. */
  #firstBehind(row: Placed<T>, time: number): number {
    const [times, assistantTimes] = [this.#times, this.#assistantTimes];
    for (let at = 0; at < times.length; at += 1) {
      if ((times[at] ?? 0) > time || (assistantTimes[at] === time && this.#belongsBehind(row, at))) return at;
    }
    return times.length;
  }

  #belongsBehind(row: Placed<T>, at: number): boolean {
    const other = this.#rows[at];
    return row.role === 'user' || (other !== undefined && precedes(row, other));
  }

  /** The end of the tool results that the slot would tear from their call; the slot itself where it tears nothing. */
  #behindResults(at: number): number {
    if (this.#rows[at]?.role !== 'tool') return at;
    let call = at - 1;
    while (this.#rows[call]?.role === 'tool') call -= 1;
    const caller = this.#rows[call];
    if (caller?.role !== 'assistant' || !caller.hasCalls) return at;
    let end = at;
    while (this.#rows[end]?.role === 'tool') end += 1;
    return end;
  }

  /** Hazard H21: behind a row of its own role it yields to what is of the same instant, as the reference has it. */
  #followsItsRole(row: Placed<T>, at: number): boolean {
    const [before, here] = [this.#rows[at - 1], this.#rows[at]];
    return before?.role === row.role && here !== undefined && here.time === row.time && !precedes(row, here);
  }
}

/** A bare tool call comes before the final answer of the same instant. */
function precedes(row: Placed<Item>, other: Placed<Item>): boolean {
  return row.isBareCall && other.isAnswer;
}

function placed<T extends Item>(item: T): Placed<T> {
  const { message } = item;
  const role = roleOf(message);
  const isObject = isMessage(message);
  const hasCalls = isObject && hasToolCalls(message);
  const hasText = isObject && !isBlank(plainText(message) || structuredText(message.content));
  const isAssistant = role === 'assistant';
  return {
    item,
    time: mergeTimestamp(message),
    role,
    hasCalls,
    isBareCall: isAssistant && hasCalls && !hasText,
    isAnswer: isAssistant && !hasCalls && hasText,
  };
}

/** Content that is neither text nor a list of texts still says something. */
function structuredText(content: unknown): string {
  return isEmpty(content) || typeof content === 'string' || Array.isArray(content) ? '' : textOf(content);
}
