/**
 * The state of a store for people and monitors: health, sizes, versions, index, columns (`spec/state-db.md` 2.3, 3, 10).
 */
import { CaduceusError, StoreUnreadable } from '../errors.ts';
import type { StoreStatus } from '../session-store.ts';
import type { StoreConnection } from './connection.ts';
import { fileIdentity, walPathOf } from './health.ts';
import { MESSAGE_COLUMNS } from './message-row.ts';
import { readIndexState, searchProblem } from './search/index-state.ts';
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
export async function readStatus(access: StoreAccess, countElsewhere: () => Promise<StoreCounts>): Promise<StoreStatus> {
  const base = { path: access.path, ...(await access.health()), ...sizes(access.path) };
  try {
    const { counts, ...known } = await access.read(details);
    return { ...base, ...known, ...(counts ?? (await countedOrUnknown(countElsewhere))) };
  } catch (error) {
    if (!(error instanceof StoreUnreadable)) throw error;
    return { ...base, ...UNKNOWN };
  }
}

/** A count that takes too long is unknown; the rest of the status is not. */
async function countedOrUnknown(count: () => Promise<StoreCounts>): Promise<StoreCounts | Record<keyof StoreCounts, null>> {
  try {
    return await count();
  } catch (error) {
    if (error instanceof CaduceusError && !(error instanceof StoreUnreadable)) return { sessionCount: null, messageCount: null };
    throw error;
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

/** Rows of a store. Messages of sessions that don't exist are never counted (field-cases F65). */
export interface StoreCounts {
  readonly sessionCount: number;
  readonly messageCount: number;
}

/** Counts every row of the index of messages: for another process, where the store is too large to be kept in memory. */
export function storeCounts(connection: StoreConnection): StoreCounts {
  const row = connection.get(
    `SELECT (SELECT COUNT(*) FROM sessions) AS sessions,
       (SELECT COUNT(*) FROM messages m WHERE EXISTS (SELECT 1 FROM sessions s WHERE s.id = m.session_id)) AS messages`,
  );
  return { sessionCount: Number(row?.sessions ?? 0), messageCount: Number(row?.messages ?? 0) };
}

type Known = Omit<StoreStatus, 'path' | 'health' | 'problem' | 'sizeBytes' | 'walBytes' | keyof StoreCounts>;

function details({ connection, catalogue, generation }: OpenStore): Known & { counts: StoreCounts | null } {
  const index = readIndexState(connection);
  const version = connection.shape.hasTable('schema_version')
    ? connection.get('SELECT version FROM schema_version LIMIT 1')?.version
    : null;
  return {
    schemaVersion: typeof version === 'number' ? version : null,
    journalMode: connection.journalMode(),
    counts: catalogue === null ? null : { sessionCount: catalogue.storedSize, messageCount: catalogue.storedRows },
    searchDegraded: searchProblem(connection, index) !== null,
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
