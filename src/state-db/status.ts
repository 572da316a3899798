/**
 * The state of a store for people and monitors: health, sizes, versions, index, columns (`spec/state-db.md` 2.3, 3, 10).
 */
import { StoreUnreadable } from '../errors.ts';
import type { StoreStatus } from '../session-store.ts';
import { fileIdentity, walPathOf } from './health.ts';
import { MESSAGE_COLUMNS } from './message-row.ts';
import { readIndexState } from './search/index-state.ts';
import { SESSION_COLUMNS } from './session-record.ts';
import type { OpenStore, StoreAccess } from './store-access.ts';

/** Columns that are known and not read with every row. */
const OTHER_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  sessions: [
    'origin_json',
    'expiry_finalized',
    'system_prompt',
    'system_prompt_hash',
    'billing_base_url',
    'git_metadata_generation',
    'handoff_error',
    'compression_failure_error',
    'compression_fallback_streak',
    'compression_ineffective_count',
    'compression_overload_streak',
    'compression_recovery_deadline',
    'transport_profile',
    'auto_archived',
    'tool_names',
  ],
  messages: ['display_identity', 'anthropic_content_blocks'],
};

/** Never throws for a store that can't be read: that is what it tells. */
export async function readStatus(access: StoreAccess): Promise<StoreStatus> {
  const base = { path: access.path, ...(await access.health()), ...sizes(access.path) };
  try {
    return { ...base, ...(await access.read(details)) };
  } catch (error) {
    if (!(error instanceof StoreUnreadable)) throw error;
    return { ...base, ...UNKNOWN };
  }
}

const UNKNOWN = {
  schemaVersion: null,
  journalMode: null,
  sessionCount: null,
  messageCount: null,
  searchDegraded: true,
  search: null,
  missingColumns: [],
  unknownColumns: [],
  generation: null,
} as const;

function details({
  connection,
  catalogue,
  generation,
}: OpenStore): Omit<StoreStatus, 'path' | 'health' | 'problem' | 'sizeBytes' | 'walBytes'> {
  const index = readIndexState(connection);
  const version = connection.shape.hasTable('schema_version')
    ? connection.get('SELECT version FROM schema_version LIMIT 1')?.version
    : null;
  return {
    schemaVersion: typeof version === 'number' ? version : null,
    journalMode: connection.journalMode(),
    sessionCount: catalogue?.size ?? Number(connection.get('SELECT COUNT(*) AS n FROM sessions')?.n ?? 0),
    // Rows of sessions that don't exist are never counted (field-cases F65).
    messageCount: catalogue?.totalRows ?? Number(connection.get('SELECT COUNT(*) AS n FROM messages')?.n ?? 0),
    searchDegraded: index.unusable !== null || index.rebuild !== null || index.trigramDamaged,
    search: {
      layout: index.layout,
      trigram: index.trigram,
      cjk: index.cjk,
      indexPercent: index.unusable !== null ? 0 : (index.rebuild?.percent ?? 100),
    },
    missingColumns: [...missing(connection, 'sessions', SESSION_COLUMNS), ...missing(connection, 'messages', MESSAGE_COLUMNS)],
    unknownColumns: [...unknown(connection, 'sessions', SESSION_COLUMNS), ...unknown(connection, 'messages', MESSAGE_COLUMNS)],
    generation,
  };
}

function missing({ shape }: OpenStore['connection'], table: string, known: readonly string[]): string[] {
  return known.filter((column) => !shape.hasColumn(table, column)).map((column) => `${table}.${column}`);
}

function unknown({ shape }: OpenStore['connection'], table: string, known: readonly string[]): string[] {
  const all = new Set([...known, ...(OTHER_COLUMNS[table] ?? [])]);
  return shape
    .columnsOf(table)
    .filter((column) => !all.has(column))
    .map((column) => `${table}.${column}`);
}

function sizes(path: string): { sizeBytes: number | null; walBytes: number | null } {
  const size = (file: string) => {
    const identity = fileIdentity(file);
    return identity === null ? null : Number(identity.size);
  };
  return { sizeBytes: size(path), walBytes: size(walPathOf(path)) };
}
