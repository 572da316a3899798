/**
 * What one pass knows of a segment.
 */
import type { LiveRow, RowPrint } from '../../state-db/live-rows.ts';
import type { Copies } from './copies.ts';
import type { RowTable } from './row-table.ts';

export interface SegmentStep {
  readonly sessionId: string;
  readonly before: RowTable;
  /** Every row now; null when only new ones came. */
  readonly prints: readonly RowPrint[] | null;
  /** New rows in id order. */
  readonly rows: readonly LiveRow[];
  readonly copies: Copies;
  /** Rewinds so far, and whether there was one since the reading before. */
  readonly rewindCount: number;
  readonly rewound: boolean;
  readonly isLate: (row: LiveRow) => boolean;
  readonly now: number;
}
