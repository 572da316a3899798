/**
 * Values that are worth keeping for a while, by key: those used last, up to a number and a size, and counts of how well that works
 * (`spec/webui-recovery.md` 17). Everything in it can be read again, so that anything may go.
 */
export interface CacheStats {
  readonly entries: number;
  /** As `sizeOf` counts them; null where only entries are counted. */
  readonly bytes: number | null;
  /** Entries that it may have; null: as many as there are. */
  readonly cap: number | null;
  readonly capBytes: number | null;
  /** Answers from it, answers for which it had nothing that was still good, and values that went to make room. */
  readonly hits: number;
  readonly misses: number;
  readonly evictions: number;
}

export interface RecentlyUsedOptions<V> {
  readonly most: number;
  /** With `sizeOf`: what all values together may measure. One that measures more by itself is kept until the next. */
  readonly mostBytes?: number;
  readonly sizeOf?: (value: V) => number;
}

export class RecentlyUsed<V> {
  /** The last used is the last. */
  readonly #kept = new Map<string, V>();
  readonly #most: number;
  readonly #mostBytes: number | null;
  readonly #sizeOf: (value: V) => number;
  #bytes = 0;
  #hits = 0;
  #misses = 0;
  #evictions = 0;

  constructor({ most, mostBytes, sizeOf }: RecentlyUsedOptions<V>) {
    this.#most = most;
    this.#mostBytes = mostBytes ?? null;
    this.#sizeOf = sizeOf ?? (() => 0);
  }

  /** The value if it is still good, and then it is the last used; null otherwise. Counts. */
  take(key: string, isGood: (value: V) => boolean): V | null {
    const value = this.#kept.get(key);
    if (value === undefined || !isGood(value)) {
      this.#misses++;
      return null;
    }
    this.#hits++;
    this.#kept.delete(key);
    this.#kept.set(key, value);
    return value;
  }

  /** The value, good or not; counts nothing. */
  peek(key: string): V | undefined {
    return this.#kept.get(key);
  }

  keep(key: string, value: V): void {
    this.drop(key);
    this.#kept.set(key, value);
    this.#bytes += this.#sizeOf(value);
    for (const oldest of this.#kept.keys()) {
      if (oldest === key || (this.#kept.size <= this.#most && this.#bytes <= (this.#mostBytes ?? this.#bytes))) break;
      this.drop(oldest);
      this.#evictions++;
    }
  }

  drop(key: string): void {
    const value = this.#kept.get(key);
    if (value === undefined) return;
    this.#kept.delete(key);
    this.#bytes -= this.#sizeOf(value);
  }

  get stats(): CacheStats {
    return {
      entries: this.#kept.size,
      bytes: this.#mostBytes === null ? null : this.#bytes,
      cap: this.#most,
      capBytes: this.#mostBytes,
      hits: this.#hits,
      misses: this.#misses,
      evictions: this.#evictions,
    };
  }
}

/** Several of one kind as one. */
export function sumOf(stats: readonly CacheStats[]): CacheStats {
  const sum = (values: readonly (number | null)[]) =>
    values.reduce<number | null>((all, value) => (value === null ? all : (all ?? 0) + value), null);
  const count = (of: (each: CacheStats) => number) => stats.reduce((all, each) => all + of(each), 0);
  return {
    entries: count(({ entries }) => entries),
    bytes: sum(stats.map(({ bytes }) => bytes)),
    cap: sum(stats.map(({ cap }) => cap)),
    capBytes: sum(stats.map(({ capBytes }) => capBytes)),
    hits: count(({ hits }) => hits),
    misses: count(({ misses }) => misses),
    evictions: count(({ evictions }) => evictions),
  };
}
