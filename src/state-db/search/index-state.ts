/**
 * Which full-text indexes a store has and whether they can be trusted (`spec/state-db.md` 10.1, 10.2). Read anew for each search:
 * another process may detach an index at any time.
 */
import type { StoreConnection } from '../connection.ts';
import { isIndexDamage } from '../health.ts';

/** Told by the stored CREATE text, never by a version number. */
export type IndexLayout = 'E' | 'I' | 'X1' | 'X2' | 'X3' | 'NONE';

export interface IndexState {
  readonly layout: IndexLayout;
  readonly trigram: boolean;
  /** The trigram index is there, and can't answer: what it would have found, a slower search finds. */
  readonly trigramDamaged: boolean;
  readonly cjk: boolean;
  /** Why the word index can't be used, or null. */
  readonly unusable: 'MISSING' | 'STALE' | 'DAMAGED' | null;
  /** A rebuild under way: rows up to `progress` and above `highWater` are indexed. */
  readonly rebuild: { readonly highWater: number; readonly progress: number; readonly percent: number } | null;
}

export function readIndexState(connection: StoreConnection): IndexState {
  const meta = readMeta(connection);
  const layout = layoutOf(connection);
  const cjkReady = !meta.has('fts_cjk_stale') && !meta.has('fts_cjk_rebuild_high_water');
  const stale = meta.has('fts_stale');
  const trigram = connection.shape.hasTable('messages_fts_trigram');
  const trigramWorks = trigram && canMatch(connection, 'messages_fts_trigram');
  const unusable = stale ? 'STALE' : layout === 'NONE' ? 'MISSING' : isDamaged(connection) ? 'DAMAGED' : null;
  return {
    layout,
    trigram: !stale && trigramWorks,
    trigramDamaged: trigram && !trigramWorks,
    cjk: cjkReady && connection.shape.hasTable('messages_fts_cjk') && canMatch(connection, 'messages_fts_cjk'),
    unusable,
    rebuild: rebuildOf(meta),
  };
}

function layoutOf(connection: StoreConnection): IndexLayout {
  const words = connection.shape.definition('messages_fts');
  if (words === null) return 'NONE';
  if (!words.includes('tool_name')) return /content\s*=/.test(words) ? 'E' : 'I';
  if (words.includes('messages_fts_src')) return 'X3';
  return connection.shape.definition('messages_fts_trigram')?.includes('tool_calls') === true ? 'X1' : 'X2';
}

function readMeta(connection: StoreConnection): Map<string, string> {
  if (!connection.shape.hasTable('state_meta')) return new Map();
  const rows = connection.all("SELECT key, value FROM state_meta WHERE key LIKE 'fts%'");
  return new Map(rows.map((row) => [String(row.key), String(row.value)]));
}

function rebuildOf(meta: ReadonlyMap<string, string>): IndexState['rebuild'] {
  const highWater = Number(meta.get('fts_rebuild_high_water'));
  if (!Number.isSafeInteger(highWater) || highWater <= 0) return null;
  const stored = Number(meta.get('fts_rebuild_progress') ?? 0);
  const progress = Number.isSafeInteger(stored) && stored > 0 ? stored : 0;
  return { highWater, progress, percent: Math.min(100, Math.floor((100 * progress) / highWater)) };
}

/** A MATCH is the only probe that tells: a plain SELECT works without the tokenizer and on a damaged index. */
function isDamaged(connection: StoreConnection): boolean {
  try {
    connection.get("SELECT rowid FROM messages_fts WHERE messages_fts MATCH 'caduceus' LIMIT 1");
    return false;
  } catch (error) {
    if (isIndexDamage(error)) return true;
    throw error;
  }
}

function canMatch(connection: StoreConnection, table: 'messages_fts_trigram' | 'messages_fts_cjk'): boolean {
  try {
    connection.get(`SELECT rowid FROM ${table} WHERE ${table} MATCH '"caduceus"' LIMIT 1`);
    return true;
  } catch (error) {
    // No tokenizer, or a damaged index: either way it can't answer. Anything else is the store's trouble.
    if (isIndexDamage(error) || (error instanceof Error && /tokenizer|malformed/.test(error.message))) return false;
    throw error;
  }
}

/** Why search is not what it should be, or null. Looks further than a search does, which meets the rest of the damage when it ranks. */
export function searchProblem(connection: StoreConnection, state: IndexState): IndexState['unusable'] | 'REBUILDING' {
  if (state.unusable !== null) return state.unusable;
  if (state.trigramDamaged || lacksTotals(connection)) return 'DAMAGED';
  return state.rebuild === null ? null : 'REBUILDING';
}

/** Ranking needs the totals of an index, the first row of its data; no MATCH looks at them before it ranks. */
function lacksTotals(connection: StoreConnection): boolean {
  return (['messages_fts', 'messages_fts_trigram'] as const)
    .filter((table) => connection.shape.hasTable(`${table}_data`))
    .some((table) => connection.get(`SELECT 1 FROM ${table}_data WHERE id = 1`) === undefined);
}
