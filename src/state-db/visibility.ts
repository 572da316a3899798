/**
 * Which rows a view shows, as SQL over the columns that a store has (`spec/state-db.md` 4.2, 8.1). One set of predicates for pages,
 * counts, search and transcripts.
 */
import type { StoreShape } from './columns.ts';

/** LIVE: what the model holds. DISPLAY: what a person reads, each logical message once. AUDIT: every row. */
export type MessageView = 'LIVE' | 'DISPLAY' | 'AUDIT';

/** active = 1; NULL counts as 1, and without the column every row is live. */
export function isLiveSql(shape: StoreShape, alias: string): string {
  return shape.hasColumn('messages', 'active') ? `(${alias}.active IS NULL OR ${alias}.active <> 0)` : '1';
}

/** Live, or archived by compaction: everything but what was taken back. */
export function isVisibleSql(shape: StoreShape, alias: string): string {
  if (!shape.hasColumn('messages', 'active')) return '1';
  const archived = shape.hasColumn('messages', 'compacted') ? ` OR ${alias}.compacted <> 0` : '';
  return `(${alias}.active IS NULL OR ${alias}.active <> 0${archived})`;
}

/** display_metadata carries `model_only: true`, also when it was encoded twice. Written so that bad JSON can't raise an error. */
export function isModelOnlySql(shape: StoreShape, alias: string): string {
  if (!shape.hasColumn('messages', 'display_metadata')) return '0';
  const column = `${alias}.display_metadata`;
  const inner = `json_extract(${column}, '$')`;
  return `(${column} IS NOT NULL AND instr(${column}, 'model_only') > 0 AND json_valid(${column}) AND CASE json_type(${column})
    WHEN 'object' THEN json_extract(${column}, '$.model_only') IS 1
    WHEN 'text' THEN json_valid(${inner}) AND json_type(${inner}) = 'object' AND json_extract(${inner}, '$.model_only') IS 1
    ELSE 0 END)`;
}

export function inViewSql(shape: StoreShape, view: MessageView, alias: string): string {
  if (view === 'AUDIT') return '1';
  if (view === 'LIVE') return isLiveSql(shape, alias);
  return `${isVisibleSql(shape, alias)} AND NOT ${isModelOnlySql(shape, alias)}`;
}
