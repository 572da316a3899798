/**
 * What lies beside a store that can't be read: sessions that files have, in a catalogue of their own, so that a damaged store takes none of them
 * away (field cases F53, F56).
 */
import type { StoreHealth } from '../errors.ts';
import { Catalogue } from './catalogue.ts';
import type { DataWarning } from './decode.ts';
import type { EntryOverlay } from './entry-overlay.ts';

/** A store that is only busy, or just being replaced, is asked again instead: it has more to say of the same sessions. */
const LASTING: ReadonlySet<StoreHealth> = new Set(['NOT_FOUND', 'EMPTY', 'NOT_A_DATABASE', 'SCHEMA_MALFORMED', 'CORRUPT']);

export function isLasting(health: StoreHealth): boolean {
  return LASTING.has(health);
}

/** In cursors, in the place of a store's own generation. */
export const FILES_GENERATION = 'files';

/** Of every session that is shown like this while there is, or was, a store. */
export const STORE_UNREADABLE: DataWarning = {
  code: 'STORE_UNREADABLE',
  field: null,
  message: "The store can't be read: this is what the session's file says alone. See `Store.problem`.",
};

export class BesideAlone {
  readonly #overlay: EntryOverlay;
  readonly #catalogue: Catalogue;
  #unfollow: (() => void) | null = null;

  /** The overlay is its own: it never sees the store. */
  constructor(overlay: EntryOverlay) {
    this.#overlay = overlay;
    this.#catalogue = new Catalogue(overlay);
  }

  /** As of now; null where nothing lies beside the store, or where the store is to be asked again. */
  async catalogue(health: StoreHealth): Promise<Catalogue | null> {
    if (!isLasting(health)) return null;
    this.#unfollow ??= this.#overlay.onComposition((ids) => void this.#catalogue.recompose(ids));
    await this.#overlay.settle(this.#catalogue.storedEntries, () => null);
    for (const _ of this.#overlay.ids()) return this.#catalogue;
    return null;
  }

  close(): void {
    this.#unfollow?.();
    this.#unfollow = null;
  }
}
