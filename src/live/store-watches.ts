/**
 * One watcher for each store, whoever follows something in it (`spec/live-turns.md` 16).
 */
import type { SessionStore } from '../session-store.ts';
import { StoreWatcher } from './store-watcher.ts';

export class StoreWatches {
  readonly #onError: (error: unknown) => void;
  readonly #watchers = new Map<SessionStore, { readonly watcher: StoreWatcher; readonly stopListening: () => void }>();

  /** `onError` hears of looks at a store that failed for another reason than that it can't be read. */
  constructor(onError: (error: unknown) => void = () => {}) {
    this.#onError = onError;
  }

  /** The watcher of a store. While it is used, the store is looked at and tells its listeners what changed. */
  of(store: SessionStore): StoreWatcher {
    const known = this.#watchers.get(store);
    if (known !== undefined) return known.watcher;
    let changed = false;
    const check = async () => {
      changed = false;
      await store.check();
      return changed;
    };
    const watchBeside = (listener: () => void) => store.watchBeside(listener);
    const watcher = new StoreWatcher({ path: store.path, check, watchBeside, onError: this.#onError });
    const stopListening = store.onSessions(() => {
      changed = true;
    });
    this.#watchers.set(store, { watcher, stopListening });
    return watcher;
  }

  get all(): readonly { readonly store: SessionStore; readonly watcher: StoreWatcher }[] {
    return [...this.#watchers].map(([store, { watcher }]) => ({ store, watcher }));
  }

  close(): void {
    for (const { stopListening } of this.#watchers.values()) stopListening();
    this.#watchers.clear();
  }
}
