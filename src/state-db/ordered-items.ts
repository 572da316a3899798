/**
 * List items in one order, as a sorted array: positions are found by bisection, a change moves one item.
 */
import type { ListItem } from './list-item.ts';
import { COMPARE, type OrderKey, type SessionOrder } from './list-order.ts';

export class OrderedItems {
  readonly #compare: (a: OrderKey, b: OrderKey) => number;
  #items: { key: OrderKey; item: ListItem }[];
  readonly #keys = new Map<string, OrderKey>();

  constructor(order: SessionOrder, items: readonly ListItem[]) {
    this.#compare = COMPARE[order];
    this.#items = items.map((item) => ({ key: orderKey(item), item }));
    this.#items.sort((a, b) => this.#compare(a.key, b.key));
    for (const { key } of this.#items) this.#keys.set(key.id, key);
  }

  get length(): number {
    return this.#items.length;
  }

  at(index: number): ListItem | undefined {
    return this.#items[index]?.item;
  }

  keyAt(index: number): OrderKey | undefined {
    return this.#items[index]?.key;
  }

  /** The first position whose key comes after the given one; the item of that key itself is before it. */
  positionAfter(key: OrderKey): number {
    return this.#bisect(key, 0);
  }

  /** The position of the key, or of the first that comes after it. */
  positionOf(key: OrderKey): number {
    return this.#bisect(key, 1);
  }

  replace(removed: readonly ListItem[], added: readonly ListItem[]): void {
    this.replaceIds(
      removed.map((item) => item.root.id),
      added,
    );
  }

  replaceIds(removed: Iterable<string>, added: readonly ListItem[]): void {
    const ids = [...removed];
    if (ids.length + added.length > this.#items.length / 8) {
      this.#rebuild(new Set(ids), added);
      return;
    }
    for (const id of ids) {
      const key = this.#keys.get(id);
      if (key === undefined) continue;
      this.#keys.delete(id);
      this.#items.splice(this.positionOf(key), 1);
    }
    for (const item of added) {
      const key = orderKey(item);
      this.#keys.set(key.id, key);
      this.#items.splice(this.positionOf(key), 0, { key, item });
    }
  }

  #rebuild(removed: ReadonlySet<string>, added: readonly ListItem[]): void {
    this.#items = this.#items.filter(({ key }) => !removed.has(key.id));
    for (const id of removed) this.#keys.delete(id);
    for (const item of added) {
      const key = orderKey(item);
      this.#keys.set(key.id, key);
      this.#items.push({ key, item });
    }
    this.#items.sort((a, b) => this.#compare(a.key, b.key));
  }

  #bisect(key: OrderKey, equalGoes: 0 | 1): number {
    let low = 0;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const found = this.#items[middle];
      const order = found === undefined ? 1 : this.#compare(found.key, key);
      if (order < 0 || (order === 0 && equalGoes === 0)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export function orderKey(item: ListItem): OrderKey {
  const title = item.tip.title ?? item.root.title;
  return {
    id: item.root.id,
    recency: item.recency,
    startedAt: item.root.startedAt,
    pinned: (item.tip.beside === null ? item.root : item.tip).pinned,
    title: title === null ? null : title.toLowerCase(),
  };
}
