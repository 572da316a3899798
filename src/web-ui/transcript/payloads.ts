/**
 * Gives local messages the provider payloads of the rows that they are (`spec/webui-transcript.md` 12). Five tiers, strictest first; what
 * one tier has used is out of all later ones, and the order of the lists never decides.
 */
import { areIdentitiesCompatible, Identity } from './identity.ts';
import { richMirrorKey, scalarMirrorKey } from './image-mirror.ts';
import { exactTimestamp, secondKey } from './timestamps.ts';
import { arePayloadsCompatible, isMessage, type Message, payloadOf, roleOf } from './values.ts';

export type MutableMessage = Record<string, unknown>;

/** Pairs that one bucket may cost; larger ones, all of one text in one second, have no unique pair in any case that occurs. */
const MOST_PAIRS = 1_000_000;

/** Copies of the local rows with the payloads of the state messages; rows that gain none are the same objects. */
export function withPayloads(local: readonly unknown[], state: readonly unknown[]): unknown[] {
  const copies = local.map((row) => (isMessage(row) ? { ...row } : row));
  attachPayloads(copies, state);
  return copies.map((copy, index) => {
    const row = local[index];
    return isMessage(row) && isMessage(copy) && row.api_content === copy.api_content ? row : copy;
  });
}

/** The same on rows that are the caller's own copies. */
export function attachPayloads(local: readonly unknown[], state: readonly unknown[]): void {
  const sources = state.filter(isMessage).filter((row) => isSpoken(row) && payloadOf(row) !== null);
  const targets = local.filter(isMessage) as MutableMessage[];
  if (sources.length > 0 && targets.length > 0) new Reconciliation(targets, sources).run();
}

/** Both roles are the same of user and assistant, and what is seen is the same or an image and its text: then a missing payload is filled. */
export function copyPayload(target: MutableMessage, source: Message): void {
  const payload = payloadOf(source);
  if (payload === null || payloadOf(target) !== null || !isSpoken(target) || roleOf(target) !== roleOf(source)) return;
  const isSame = Identity.of(target).visible === Identity.of(source).visible || isMirrorOf(target, source);
  if (isSame) target.api_content = payload;
}

function isMirrorOf(rich: Message, scalar: Message): boolean {
  const key = richMirrorKey(rich);
  return key !== null && key === scalarMirrorKey(scalar);
}

function isSpoken(message: Message): boolean {
  const role = roleOf(message);
  return role === 'user' || role === 'assistant';
}

interface Bucket {
  readonly targets: MutableMessage[];
  readonly sources: Message[];
}

class Reconciliation {
  readonly #targets: readonly MutableMessage[];
  readonly #sources: readonly Message[];
  readonly #used = new Set<Message>();

  constructor(targets: readonly MutableMessage[], sources: readonly Message[]) {
    this.#targets = targets;
    this.#sources = sources;
  }

  run(): void {
    // Contradictory provenance fits nothing.
    for (const row of [...this.#targets, ...this.#sources]) {
      const { stableId, rowId } = Identity.of(row);
      if (!stableId.valid || !rowId.valid || !exactTimestamp(row).valid) this.#used.add(row);
    }
    const duplicates = this.#byStableId();
    this.#byRowId();
    for (const row of duplicates) this.#used.add(row);
    this.#byTime((time) => String(time));
    this.#byTime(secondKey);
    this.#byContent();
  }

  /** Tier 1. Gives the rows of ids that occur more than once. */
  #byStableId(): Message[] {
    const duplicates: Message[] = [];
    for (const { targets, sources } of this.#buckets((row) => this.#unused(row) && Identity.of(row).stableId.value)) {
      const [target, source] = [targets[0], sources[0]];
      if (targets.length > 1 || sources.length > 1) duplicates.push(...targets, ...sources);
      else if (target !== undefined && source !== undefined) {
        this.#use(target, source);
        if (areIdentitiesCompatible(target, source)) copyPayload(target, source);
      }
    }
    return duplicates;
  }

  /** Tier 2. A row with a durable id is matched by it or not at all. */
  #byRowId(): void {
    for (const { targets, sources } of this.#buckets((row) => Identity.of(row).rowId.value)) {
      const [target, source] = [targets[0], sources[0]];
      if (targets.length === 1 && sources.length === 1 && target !== undefined && source !== undefined) {
        if (this.#used.has(target) || this.#used.has(source)) continue;
        this.#use(target, source);
        if (areIdentitiesCompatible(target, source) && arePayloadsCompatible(target, source)) copyPayload(target, source);
        continue;
      }
      if (sources.length > 1) this.#use(...sources);
      this.#use(...targets);
    }
  }

  /** Tiers 3 and 4: pairs that are each other's only fit at one time. */
  #byTime(key: (time: number) => string): void {
    const buckets = this.#buckets((row) => {
      const time = exactTimestamp(row).value;
      const { visible } = Identity.of(row);
      return this.#unused(row) && time !== null && visible !== null && `${key(time)} ${visible}`;
    });
    for (const { targets, sources } of buckets) {
      if (targets.length * sources.length > MOST_PAIRS) continue;
      const fits = sources.map((source) => only(targets, (target) => isFit(target, source)));
      for (const [index, source] of sources.entries()) {
        const target = fits[index];
        if (target == null || only(sources, (other) => isFit(target, other)) !== source) continue;
        this.#use(target, source);
        copyPayload(target, source);
      }
    }
  }

  /** Tier 5: the only two of one content, where a time is missing. */
  #byContent(): void {
    for (const { targets, sources } of this.#buckets((row) => this.#unused(row) && Identity.of(row).visible)) {
      const [target, source] = [targets[0], sources[0]];
      if (targets.length !== 1 || sources.length !== 1 || target === undefined || source === undefined) continue;
      if (exactTimestamp(target).value !== null && exactTimestamp(source).value !== null) continue;
      if (!areIdentitiesCompatible(target, source) || !arePayloadsCompatible(target, source)) continue;
      this.#use(target, source);
      copyPayload(target, source);
    }
  }

  #buckets(key: (row: Message) => string | false | null): Iterable<Bucket> {
    const buckets = new Map<string, Bucket>();
    const at = (row: Message): Bucket | null => {
      const name = key(row);
      if (name === false || name === null) return null;
      const bucket = buckets.get(name) ?? { targets: [], sources: [] };
      buckets.set(name, bucket);
      return bucket;
    };
    for (const target of this.#targets) at(target)?.targets.push(target);
    for (const source of this.#sources) at(source)?.sources.push(source);
    return buckets.values();
  }

  #unused(row: Message): boolean {
    return !this.#used.has(row);
  }

  #use(...rows: readonly Message[]): void {
    for (const row of rows) this.#used.add(row);
  }
}

function isFit(target: Message, source: Message): boolean {
  return areIdentitiesCompatible(target, source) && arePayloadsCompatible(target, source);
}

/** The one that fits; null when none or several do. */
function only<T>(rows: readonly T[], fits: (row: T) => boolean): T | null {
  let found: T | null = null;
  for (const row of rows) {
    if (!fits(row)) continue;
    if (found !== null) return null;
    found = row;
  }
  return found;
}
