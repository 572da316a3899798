/**
 * Messages of several opened transcripts as one list, and pages of it. A cursor holds the transcript, the place in it, and what the message
 * says: when messages come before it, it is found again by that. Nothing is skipped or repeated while messages are only added behind.
 */
import { decodeCursor, encodeCursor } from '../../cursor.ts';
import { InvalidInput } from '../../errors.ts';
import { LazyItem, type Page, type PageRequest } from '../../paging.ts';

export interface MarkedMessage {
  readonly mark: string;
}

/** One transcript of the list. */
export interface ListedPart<M extends MarkedMessage> {
  /** The session, or the first of those that it was made of. */
  readonly id: string;
  readonly messages: readonly M[];
}

interface Place<M> {
  readonly part: number;
  readonly at: number;
  readonly message: M;
}

export interface OpenedList<M extends MarkedMessage> {
  readonly parts: readonly ListedPart<M>[];
  readonly places: readonly Place<M>[];
  /** Where the places of each part begin. */
  readonly starts: readonly number[];
  /** Messages at the beginning of each part that the one before shows. */
  readonly hidden: readonly number[];
}

/**
 * One after the other. A file that goes on where another was compressed begins with all that the other holds: that is shown once, where it is
 * first.
 */
export function openedList<M extends MarkedMessage>(parts: readonly ListedPart<M>[]): OpenedList<M> {
  const places: Place<M>[] = [];
  const starts: number[] = [];
  const hidden: number[] = [];
  for (const [part, { messages }] of parts.entries()) {
    const before = parts[part - 1]?.messages ?? [];
    const repeats = messages.length >= before.length && before.every(({ mark }, at) => messages[at]?.mark === mark) ? before.length : 0;
    starts.push(places.length);
    hidden.push(repeats);
    for (let at = repeats; at < messages.length; at += 1) {
      const message = messages[at];
      if (message !== undefined) places.push({ part, at, message });
    }
  }
  return { parts, places, starts, hidden };
}

/** Cursors of files outlive a replaced store. */
const GENERATION = 'files';

/** `name` tells this list from others. Throws `InvalidInput` with BAD_CURSOR. */
export function openedPage<M extends MarkedMessage>(list: OpenedList<M>, name: string, page: PageRequest): Page<M> {
  const { places, parts } = list;
  const first = page.after === null ? 0 : placeOf(list, name, page.after).behind;
  const end = page.before === null ? places.length : placeOf(list, name, page.before).ahead;
  const isForward = page.direction === 'FORWARD';
  const from = isForward ? first : Math.max(first, end - page.size);
  const to = isForward ? Math.min(end, first + page.size) : end;
  const items = places.slice(from, Math.max(from, to)).map(({ part, at, message }) => {
    return new LazyItem(message, () => encodeCursor(name, GENERATION, [parts[part]?.id ?? '', at, message.mark]));
  });
  return { items, hasNextPage: to < places.length, hasPreviousPage: from > 0 };
}

/** Where what follows the message begins, and where what comes before it ends, in the list as it is now. */
function placeOf<M extends MarkedMessage>({ parts, starts, hidden }: OpenedList<M>, name: string, cursor: string) {
  const [id, at, mark] = decodeCursor(cursor, name, GENERATION);
  if (typeof id !== 'string' || typeof at !== 'number' || !Number.isSafeInteger(at) || at < 0) {
    throw new InvalidInput('The cursor is damaged. Start again without it.', {}, 'BAD_CURSOR');
  }
  const part = parts.findIndex((known) => known.id === id);
  const messages = parts[part]?.messages;
  if (messages === undefined) {
    throw new InvalidInput('The part of the conversation that the cursor was made in has gone. Start again without it.', {}, 'BAD_CURSOR');
  }
  const start = (starts[part] ?? 0) - (hidden[part] ?? 0);
  const found = nearest(messages, at, mark);
  // Of one that has gone what followed it still follows.
  const ahead = Math.max(0, start + (found ?? Math.min(at, messages.length)));
  return { ahead, behind: found === null ? ahead : Math.max(0, start + found + 1) };
}

/** The message with the mark that is nearest to a place. */
function nearest(messages: readonly MarkedMessage[], at: number, mark: unknown): number | null {
  for (let distance = 0; distance < messages.length + at; distance += 1) {
    if (messages[at + distance]?.mark === mark) return at + distance;
    if (messages[at - distance]?.mark === mark) return at - distance;
    if (at - distance < 0 && at + distance >= messages.length) break;
  }
  return null;
}
