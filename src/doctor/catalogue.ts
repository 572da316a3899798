/**
 * Everything that the doctor can find: how bad it is, what it says, and the mutation that mends it (`field-cases`; `spec/state-db.md` 2.3,
 * `spec/webui-sidecars.md` 7, `spec/webui-recovery.md` 11 to 14).
 */

import { FILES } from './catalogue-files.ts';
import { ROWS } from './catalogue-rows.ts';
import { STORES } from './catalogue-stores.ts';
import { WORK } from './catalogue-work.ts';
import type { Kind } from './kind.ts';

export const FINDINGS = { ...STORES, ...ROWS, ...FILES, ...WORK } satisfies Record<string, Kind>;

export type CodeName = keyof typeof FINDINGS;

export const CODES = Object.keys(FINDINGS) as readonly CodeName[];
