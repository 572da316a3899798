/**
 * One run of the merge: what is known of the transcript so far, and the rules that each state row is tried by, in order; the first that
 * fires decides (`spec/webui-transcript.md` 15.2 D to G, 15.3-15.5).
 */
import { Chronology, type Placement } from './chronology.ts';
import { addDisplayMetadata, UNMATCHED_MIRROR } from './display-metadata.ts';
import { areIdentitiesCompatible, arePrivatelyCompatible, Identity } from './identity.ts';
import { ambiguousMirrors, richMirrorKey, scalarMirrorKey } from './image-mirror.ts';
import type { MergeDecision, Origin } from './merge-decision.ts';
import { KeyCache, type MessageKeys, type VisibleKey } from './message-keys.ts';
import { VisibleKeys } from './near-duplicates.ts';
import { copyPayload, type MutableMessage } from './payloads.ts';
import { exactTimestamp, mergeTimestamp } from './timestamps.ts';
import { arePayloadsCompatible, hasToolCalls, isMessage, roleOf, textOf } from './values.ts';

/** A message of the growing transcript; its message is a copy that may be completed. */
export interface Row {
  readonly message: unknown;
  readonly origin: Origin;
}

export interface Absorbed {
  readonly decision: MergeDecision;
  /** The row itself, or the one that it was taken for. */
  readonly into: Row | null;
  readonly shown: boolean;
  readonly outOfOrder?: boolean;
  readonly danglingToolCall?: boolean;
}

export interface Truncation {
  readonly watermark: number | null;
  readonly boundary: number | null;
  /** The rows were read from the store, so that their times may decide where they go. */
  readonly isVerified: boolean;
}

/** A state row as the rules look at it. */
interface Candidate {
  readonly message: unknown;
  readonly index: number;
  readonly keys: MessageKeys;
  readonly time: number | null;
}

const AMBIGUOUS = Symbol('ambiguous');

export class MergeRun {
  readonly #truncation: Truncation;
  readonly #state: readonly unknown[];
  readonly #cache = new KeyCache();
  readonly #transcript = new Chronology<Row>();
  readonly #locals: readonly Row[];
  readonly #newestLocal: number | null;
  readonly #localKeys: readonly VisibleKey[];
  readonly #visible = new VisibleKeys();
  readonly #unconsumed = new Map<string, number>();
  readonly #firstVisible = new Map<string, Row>();
  readonly #seenMerge = new Map<string, Row>();
  readonly #seenDedup = new Map<string, Row>();
  readonly #seenContent = new Set<string>();
  readonly #byRowId = new Map<string, Row | typeof AMBIGUOUS>();
  readonly #repeatedRowIds: ReadonlySet<string>;
  readonly #richRows: ReadonlyMap<string, Row | typeof AMBIGUOUS>;
  readonly #ambiguousMirrors: ReadonlySet<string>;
  /** How many local rows the replay has passed. */
  #replayed = 0;
  readonly #decisions: Absorbed[];

  constructor(locals: readonly Row[], state: readonly unknown[], truncation: Truncation) {
    this.#truncation = truncation;
    this.#state = state;
    this.#locals = locals;
    const keys = locals.map(({ message }) => this.#cache.of(message, 'LITERAL'));
    this.#localKeys = keys.map(({ visible }) => visible);
    for (const [index, row] of locals.entries()) this.#seed(row, keys[index] ?? this.#cache.of(row.message, 'LITERAL'));
    const messages = locals.map(({ message }) => message);
    const times = messages.map(mergeTimestamp).filter((time) => time !== null);
    this.#newestLocal = times.length === 0 ? null : times.reduce((newest, time) => Math.max(newest, time));
    this.#repeatedRowIds = new Set([...repeated(messages), ...repeated(state)]);
    this.#richRows = richRows(locals);
    this.#ambiguousMirrors = this.#richRows.size === 0 ? new Set() : ambiguousMirrors(state);
    this.#decisions = state.map((message, index) =>
      this.#decide({ message, index, keys: this.#cache.of(message, 'STATE'), time: mergeTimestamp(message) }),
    );
  }

  rows(): Row[] {
    return this.#transcript.items();
  }

  /** One for each state row. A call is told as dangling when its result is among the rows and not in the transcript (H24). */
  decisions(): Absorbed[] {
    const answered = resultIds(this.rows().map(({ message }) => message));
    const lost = new Set([...resultIds(this.#state)].filter((id) => !answered.has(id)));
    if (lost.size === 0) return [...this.#decisions];
    return this.#decisions.map((decision, index) => {
      const isDangling = decision.shown && callIds(this.#state[index]).some((id) => lost.has(id));
      return isDangling ? { ...decision, danglingToolCall: true } : decision;
    });
  }

  #seed(row: Row, keys: MessageKeys): void {
    this.#transcript.append(row);
    this.#record(row, keys);
    const { visible } = keys;
    this.#visible.add(visible);
    this.#unconsumed.set(visible.key, (this.#unconsumed.get(visible.key) ?? 0) + 1);
    setFirst(this.#firstVisible, visible.key, row);
  }

  #record(row: Row, keys: MessageKeys): void {
    setFirst(this.#seenMerge, keys.merge, row);
    setFirst(this.#seenDedup, keys.dedup, row);
    this.#seenContent.add(keys.content);
    const rowId = isMessage(row.message) ? Identity.of(row.message).rowId.value : null;
    if (rowId !== null) this.#byRowId.set(rowId, this.#byRowId.has(rowId) ? AMBIGUOUS : row);
  }

  #decide(row: Candidate): Absorbed {
    if (isMessage(row.message) && row.message[UNMATCHED_MIRROR] === true) return this.#marked(row);
    const early = this.#mirror(row) ?? this.#replay(row);
    if (early !== null) return early;
    const known = this.#sameRow(row);
    if (known !== null && known !== 'CONFLICT') return known;
    return this.#truncated(row) ?? this.#known(row) ?? this.#late(row, known === 'CONFLICT') ?? this.#accept(row);
  }

  /** Rule 2: the text of a turn that stands here with its images. */
  #mirror({ message, keys }: Candidate): Absorbed | null {
    if (this.#richRows.size === 0 || !isMessage(message)) return null;
    const key = scalarMirrorKey(message);
    const rich = key === null || this.#ambiguousMirrors.has(key) ? undefined : this.#richRows.get(key);
    if (rich === undefined || rich === AMBIGUOUS || !isMessage(rich.message) || !arePrivatelyCompatible(rich.message, message)) return null;
    copyPayload(rich.message as MutableMessage, message);
    if (this.#locals[this.#replayed] === rich) this.#replayed += 1;
    setFirst(this.#seenDedup, keys.dedup, rich);
    return absorb('MIRROR', rich, message);
  }

  /** Rule 3: the next local message once more, at any time. */
  #replay({ message, keys }: Candidate): Absorbed | null {
    const [next, key] = [this.#locals[this.#replayed], this.#localKeys[this.#replayed]];
    if (next === undefined || key === undefined || !this.#visible.matches(keys.visible, key)) return null;
    this.#replayed += 1;
    this.#consume(key.key);
    setFirst(this.#seenDedup, keys.dedup, next);
    return absorb('REPLAY', next, message);
  }

  /** Rule 4: the durable row of a message that stands here. */
  #sameRow({ message }: Candidate): Absorbed | 'CONFLICT' | null {
    if (!isMessage(message)) return null;
    const rowId = Identity.of(message).rowId.value;
    const known = rowId === null || this.#repeatedRowIds.has(rowId) ? undefined : this.#byRowId.get(rowId);
    if (known === undefined || known === AMBIGUOUS || !isMessage(known.message)) return null;
    if (!exactTimestamp(message).valid || !exactTimestamp(known.message).valid) return null;
    if (!areIdentitiesCompatible(known.message, message)) return null;
    if (!arePayloadsCompatible(known.message, message)) return 'CONFLICT';
    copyPayload(known.message as MutableMessage, message);
    return absorb('ROW_ID', known, message);
  }

  /** Rules 5 to 7: what an undo or an edit took away. */
  #truncated({ message, keys, time }: Candidate): Absorbed | null {
    const { watermark, boundary } = this.#truncation;
    if (watermark === null || time === null || this.#seenMerge.has(keys.merge)) return null;
    const newest = this.#newestLocal;
    if (time > watermark) {
      const advanced = boundary !== null && boundary < watermark;
      const movedOn = (newest !== null && newest > watermark) || (advanced && this.#replayed === this.#locals.length);
      return movedOn && !(newest !== null && time <= newest) ? null : dropped('ABOVE_WATERMARK');
    }
    if (this.#seenContent.has(keys.content)) return null;
    if (time < watermark) return dropped('REPLACED');
    return isMessage(message) && message.role === 'user' ? dropped('SAME_INSTANT_EDIT') : null;
  }

  /** Rules 8 to 11: a message that stands here, by key. An id decides the strict key too: it is told as one. */
  #known({ message, keys, time }: Candidate): Absorbed | null {
    const same = this.#seenDedup.get(keys.dedup);
    if (same !== undefined) return absorb(keys.isIdKey ? 'SAME_ID' : 'DUPLICATE', same, message);
    const almost = this.#seenMerge.get(keys.merge);
    if (almost !== undefined && keys.isIdKey) return absorb('SAME_ID', almost, message);
    if (almost !== undefined && this.#isNotNewer(time)) return absorb('SAME_SECOND', almost, message);
    const near = this.#visible.find(keys.visible);
    const seen = near === null || (this.#unconsumed.get(near.key) ?? 0) === 0 ? undefined : this.#firstVisible.get(near.key);
    if (near === null || seen === undefined) return null;
    this.#consume(near.key);
    return absorb('NEAR_DUPLICATE', seen, message);
  }

  /** Rule 12: no newer than the newest local message, so the sidecar has decided about it, but for what only the store can know (15.3). */
  #late(row: Candidate, isConflict: boolean): Absorbed | null {
    const { message, keys, time } = row;
    if (keys.isIdKey || isConflict || !this.#isNotNewer(time)) return null;
    const isNewText = !this.#seenContent.has(keys.content);
    const isUser = isMessage(message) && message.role === 'user';
    const { watermark } = this.#truncation;
    if (watermark !== null && time === watermark && this.#replayed === this.#locals.length && !isUser && isNewText)
      return this.#accept(row);
    const isRescued = isMessage(message) && hasToolCalls(message) ? !isNewText : isUser && isNewText;
    return isRescued ? this.#place(row, 'INSERT') : dropped('LATE_DROPPED');
  }

  /** Rule 13 and 15.5. */
  #accept(row: Candidate): Absorbed {
    const isOlder = row.time !== null && this.#newestLocal !== null && row.time < this.#newestLocal;
    return this.#place(row, this.#truncation.isVerified && isOlder ? 'INSERT_OR_APPEND' : 'APPEND');
  }

  /** Rule 1: a row of its own that only looks like a turn with images. What was undone stays undone (hazard H6). */
  #marked(marked: Candidate): Absorbed {
    const { [UNMATCHED_MIRROR]: _, ...message } = marked.message as MutableMessage;
    const row: Candidate = { ...marked, message };
    const known = this.#sameRow(row);
    if (known !== null && known !== 'CONFLICT') return known;
    const truncated = this.#truncated(row);
    if (truncated !== null) return truncated;
    const same = this.#seenDedup.get(row.keys.dedup);
    if (same !== undefined && !areOtherRows(message, same.message)) return absorb('DUPLICATE', same, message);
    return { ...this.#place(row, 'INSERT_OR_APPEND'), decision: 'MARKED' };
  }

  #place({ message, index, keys }: Candidate, how: 'APPEND' | 'INSERT' | 'INSERT_OR_APPEND'): Absorbed {
    const row: Row = { message: isMessage(message) ? { ...message } : message, origin: { from: 'STATE', index } };
    const placement: Placement = how === 'APPEND' ? 'REFUSED' : this.#transcript.insert(row);
    if (placement === 'REFUSED' && how === 'INSERT') return dropped('LATE_DROPPED');
    if (placement === 'REFUSED') this.#transcript.append(row);
    this.#record(row, keys);
    const outOfOrder = placement === 'REFUSED' && how === 'INSERT_OR_APPEND';
    return { decision: placement === 'INSERTED' ? 'INSERTED' : 'APPENDED', into: row, shown: true, outOfOrder };
  }

  #consume(key: string): void {
    this.#unconsumed.set(key, Math.max(0, (this.#unconsumed.get(key) ?? 0) - 1));
  }

  #isNotNewer(time: number | null): boolean {
    return time !== null && this.#newestLocal !== null && time <= this.#newestLocal;
  }
}

function setFirst<T>(map: Map<string, T>, key: string, value: T): void {
  if (!map.has(key)) map.set(key, value);
}

function absorb(decision: MergeDecision, into: Row, message: unknown): Absorbed {
  if (isMessage(into.message) && isMessage(message)) addDisplayMetadata(into.message, message);
  return { decision, into, shown: false };
}

function dropped(decision: MergeDecision): Absorbed {
  return { decision, into: null, shown: false };
}

function areOtherRows(a: unknown, b: unknown): boolean {
  if (!isMessage(a) || !isMessage(b)) return false;
  const [one, other] = [Identity.of(a).rowId.value, Identity.of(b).rowId.value];
  return one !== null && other !== null && one !== other;
}

/** Durable ids that more than one message of a list has. */
function repeated(messages: readonly unknown[]): Set<string> {
  const once = new Set<string>();
  const twice = new Set<string>();
  for (const message of messages) {
    const rowId = isMessage(message) ? Identity.of(message).rowId.value : null;
    if (rowId !== null) (once.has(rowId) ? twice : once).add(rowId);
  }
  return twice;
}

function richRows(locals: readonly Row[]): Map<string, Row | typeof AMBIGUOUS> {
  const rows = new Map<string, Row | typeof AMBIGUOUS>();
  for (const row of locals) {
    const key = richMirrorKey(row.message);
    if (key !== null) rows.set(key, rows.has(key) ? AMBIGUOUS : row);
  }
  return rows;
}

function callIds(message: unknown): string[] {
  if (!isMessage(message) || !Array.isArray(message.tool_calls)) return [];
  return (message.tool_calls as readonly unknown[]).flatMap((call) => (isMessage(call) ? [textOf(call.id), textOf(call.call_id)] : []));
}

/** The calls that the tool rows of a list answer. */
function resultIds(messages: readonly unknown[]): Set<string> {
  const results = messages.filter((message) => roleOf(message) === 'tool');
  return new Set(results.flatMap((message) => (isMessage(message) ? textOf(message.tool_call_id) || [] : [])));
}
