/**
 * `model_config` of a session: keys set and taken away, all others kept (`spec/state-db-writes.md` F14, P2).
 */
import { WriteRefused } from '../../write-refused.ts';
import { isJsonObject, RowReader } from '../decode.ts';
import type { StoreReading } from '../store-reading.ts';
import { NotJson, pythonJson } from './python-json.ts';
import { keyOrder, orderedObject, parsePythonJson } from './python-json-value.ts';
import type { StoreOperation } from './store-operation.ts';
import type { WriteTransaction } from './write-connection.ts';

/** Null takes a key away. */
export type ConfigPatch = Readonly<Record<string, unknown>>;

export interface ConfigChange {
  readonly sessionId: string;
  /** The text to store. */
  readonly text: string | null;
  readonly changed: boolean;
}

/** Keys with this are markers of lineage, which the owning programs alone set. */
const RESERVED = '_';

/** What a patch makes of the stored configuration. Throws NOT_FOUND, and VALIDATION for a reserved key or a configuration that is no object. */
export function planConfigPatch(store: StoreReading, sessionId: string, patch: ConfigPatch): ConfigChange {
  if (!store.shape.hasColumn('sessions', 'model_config'))
    throw new WriteRefused('SCHEMA_UNSUPPORTED', 'Its sessions have no model_config.');
  const row = store.get('SELECT s.model_config AS config FROM sessions s WHERE s.id = ?', [sessionId]);
  if (row === undefined) throw new WriteRefused('NOT_FOUND', 'There is no such session.');
  if (Object.keys(patch).some((key) => key.startsWith(RESERVED))) {
    throw new WriteRefused('VALIDATION', `Keys of model_config that start with ${RESERVED} are reserved.`);
  }
  const stored = new RowReader(row).quietText('config');
  const config = stored === null || stored === '' ? {} : parsePythonJson(stored);
  if (!isJsonObject(config))
    throw new WriteRefused('VALIDATION', 'The stored model_config is no JSON object, so nothing can be merged into it.');
  const text = merged(config, patch);
  return { sessionId, text, changed: text !== (stored === null ? null : merged(config, {})) };
}

export function writeConfig(transaction: WriteTransaction, { sessionId, text, changed }: ConfigChange): void {
  if (changed) transaction.run('UPDATE sessions SET model_config = ? WHERE id = ?', [text, sessionId]);
}

/** Keys keep their places, new ones come last; null when none is left. */
function merged(config: Record<string, unknown>, patch: ConfigPatch): string | null {
  const entries = new Map(keyOrder(config).map((key) => [key, config[key]]));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || value === undefined) entries.delete(key);
    else entries.set(key, value);
  }
  if (entries.size === 0) return null;
  try {
    return pythonJson(orderedObject(entries));
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw new WriteRefused('VALIDATION', 'The patch can not be written as JSON.', { cause: error });
  }
}

export interface PatchConfigInput {
  readonly sessionId: string;
  readonly patch: ConfigPatch;
}

export interface PatchedConfig {
  readonly sessionId: string;
  readonly changed: boolean;
}

/** F14: no admission, as for titles and flags. A repeat changes nothing. */
export const patchSessionConfig: StoreOperation<PatchConfigInput, ConfigChange, PatchedConfig> = {
  patience: 'ROUTINE',
  touchesMessages: false,
  plan: (store, { sessionId, patch }) => planConfigPatch(store, sessionId, patch),
  execute: (transaction, change) => {
    writeConfig(transaction, change);
    return { sessionId: change.sessionId, changed: change.changed };
  },
  preview: ({ sessionId, changed }) => ({ sessionId, changed }),
};
