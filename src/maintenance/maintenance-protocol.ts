/**
 * Long work on one store, and what passes between the server and the process that does it.
 */
import type { IndexName } from '../state-db/repair/fts-tables.ts';
import type { RefusalCode } from '../write-refused.ts';

export type MaintenanceJob =
  | { readonly kind: 'CHECK'; readonly deep: boolean; readonly writeProbe: boolean }
  | { readonly kind: 'REPAIR'; readonly confirmFingerprint: string; readonly backup: boolean }
  | {
      readonly kind: 'REBUILD_INDEX';
      readonly tables: readonly IndexName[] | null;
      readonly dryRun: boolean;
      readonly lastRebuildAt: Date | null;
    }
  | { readonly kind: 'OPTIMIZE' };

export interface MaintenanceRequest {
  readonly path: string;
  readonly job: MaintenanceJob;
  /** Processes of this server: what they have open is no obstacle. */
  readonly ours: readonly number[];
  readonly quarantined: boolean;
  readonly cjkLibrary: string | null;
}

/** How far it is. `done` and `total` where it can be counted. */
export interface MaintenanceStep {
  readonly step: string;
  readonly done: number | null;
  readonly total: number | null;
}

export type FromMaintenance =
  | { readonly kind: 'STEP'; readonly step: MaintenanceStep }
  | { readonly kind: 'DONE'; readonly result: unknown }
  | {
      readonly kind: 'FAILED';
      /** Null for a defect. */
      readonly code: RefusalCode | null;
      readonly message: string;
      readonly details: Record<string, unknown>;
    };
