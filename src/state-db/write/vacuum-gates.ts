/**
 * When a store is worth compacting after sessions were pruned (`spec/state-db-writes.md` M2).
 */
import type { StoreReading } from '../store-reading.ts';

const LEAST_DAYS_BETWEEN = 30;
const LEAST_FREE_SHARE = 0.25;
const DAY = 86_400;

export interface VacuumFacts {
  /** Pages of the file that hold nothing, and all of them. */
  readonly freePages: number;
  readonly pages: number;
  /** Epoch seconds; null: never, as far as is known. */
  readonly lastVacuum: number | null;
}

export type VacuumObstacle = 'NOTHING_PRUNED' | 'TOO_RECENT' | 'TOO_LITTLE_FREE' | 'OTHER_HOLDERS';

export function readVacuumFacts(store: StoreReading): VacuumFacts {
  const pages = store.get('SELECT f.freelist_count AS free, p.page_count AS pages FROM pragma_freelist_count f, pragma_page_count p');
  const last = store.shape.hasTable('state_meta') ? store.get("SELECT value FROM state_meta WHERE key = 'last_vacuum'")?.value : null;
  const lastVacuum = last === null || last === undefined ? null : Number(last);
  return {
    freePages: Number(pages?.free ?? 0),
    pages: Number(pages?.pages ?? 0),
    lastVacuum: lastVacuum === null || Number.isNaN(lastVacuum) ? null : lastVacuum,
  };
}

/** Why the store is not to be compacted now; null: it is. `holders` are other processes that have it open. */
export function vacuumObstacle(
  facts: VacuumFacts & { readonly pruned: number; readonly holders: number; readonly now: number },
): VacuumObstacle | null {
  if (facts.pruned === 0) return 'NOTHING_PRUNED';
  if (facts.lastVacuum !== null && facts.now - facts.lastVacuum < LEAST_DAYS_BETWEEN * DAY) return 'TOO_RECENT';
  if (facts.pages === 0 || facts.freePages / facts.pages <= LEAST_FREE_SHARE) return 'TOO_LITTLE_FREE';
  return facts.holders > 0 ? 'OTHER_HOLDERS' : null;
}
