/**
 * `display_metadata` of a row, to be changed without losing anything of it (`spec/state-db-writes.md` V5).
 */
import { isJsonObject, type SqlValue } from '../decode.ts';
import { pythonJson } from './python-json.ts';
import { keyOrder, orderedObject, parsePythonJson } from './python-json-value.ts';

/** Old rows are encoded twice. */
const LAYERS = 2;

/** The object in a cell, empty for an empty cell; null where the cell holds something else, which must not be overwritten. */
export function storedMetadata(cell: SqlValue): Readonly<Record<string, unknown>> | null {
  if (cell === null || cell === '') return {};
  let value: unknown = cell;
  for (let layer = 0; layer < LAYERS && typeof value === 'string'; layer++) value = parsePythonJson(value);
  return isJsonObject(value) ? value : null;
}

/** The cell with one key set anew, or taken away by undefined; the others keep their places. Null when nothing is left. */
export function metadataCell(metadata: Readonly<Record<string, unknown>>, key: string, value: unknown): string | null {
  const entries = new Map(keyOrder(metadata).map((name) => [name, metadata[name]]));
  if (value === undefined) entries.delete(key);
  else entries.set(key, value);
  return entries.size === 0 ? null : pythonJson(orderedObject(entries));
}
