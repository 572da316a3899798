/** The store as a whole: whether it can be read, and by whom it was written (`field-cases` F53 to F61). */
import type { StoreHealth } from '../../errors.ts';
import type { StoreStatus } from '../../session-store.ts';
import type { CodeName } from '../catalogue.ts';
import type { Check } from '../check.ts';
import { type Finding, finding } from '../finding.ts';

const CODES: Readonly<Record<Exclude<StoreHealth, 'OK'>, CodeName>> = {
  NOT_FOUND: 'STORE_MISSING',
  EMPTY: 'STORE_EMPTY',
  NOT_A_DATABASE: 'STORE_NOT_A_DATABASE',
  SCHEMA_MALFORMED: 'STORE_SCHEMA_MALFORMED',
  CORRUPT: 'STORE_CORRUPT',
  BUSY: 'STORE_BUSY',
  IO_ERROR: 'STORE_UNREADABLE',
  REPLACED: 'STORE_REPLACED',
  WAL_GENERATION_LOST: 'STORE_WAL_LOST',
};

/** The newest schema whose columns are known. */
const NEWEST_SCHEMA = 31;
/** Writers checkpoint at 4 MB; a quarter of a gigabyte is what users met (F67). */
const LARGE_WAL_BYTES = 128 * 1024 * 1024;

export function storeFinding(health: Exclude<StoreHealth, 'OK'>, profile: string): Finding {
  return finding(CODES[health], profile);
}

export const stores: Check = {
  name: 'store',
  area: 'STORE',
  run: async ({ status, profile }) => {
    const found = await status();
    const whole = found.health === 'OK' ? [] : [storeFinding(found.health, profile)];
    return [...whole, ...ofVersion(found, profile), ...ofWal(found, profile)];
  },
};

function ofVersion({ schemaVersion, missingColumns, unknownColumns }: StoreStatus, profile: string): Finding[] {
  const detail = schemaVersion === null ? '' : `Its schema is ${schemaVersion}.`;
  const isNewer = (schemaVersion ?? 0) > NEWEST_SCHEMA || unknownColumns.length > 0;
  const newer = isNewer ? [finding('STORE_SCHEMA_NEWER', profile, { count: Math.max(1, unknownColumns.length), detail })] : [];
  const older = isOlder(missingColumns) ? [finding('STORE_SCHEMA_OLD', profile, { count: missingColumns.length, detail })] : [];
  return [...newer, ...older];
}

/** Columns without which something is wrong, or can't be told; later ones are conveniences. */
const EXPECTED = ['messages.active', 'messages.compacted', 'sessions.model_config', 'sessions.archived', 'sessions.end_reason'];

function isOlder(missing: readonly string[]): boolean {
  return EXPECTED.some((column) => missing.includes(column));
}

function ofWal({ walBytes }: StoreStatus, profile: string): Finding[] {
  if ((walBytes ?? 0) < LARGE_WAL_BYTES) return [];
  return [finding('STORE_WAL_LARGE', profile, { detail: `It has ${Math.round((walBytes ?? 0) / 1024 / 1024)} MiB.` })];
}
