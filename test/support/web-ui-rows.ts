/** Rows of a Web UI home for tests of the list: sidecars by plain JSON.parse, state.db by plain SQL. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { inWindow, isJsonObject, parseJson, type SqlRow } from '../../src/state-db/decode.ts';
import { decodeSession, type RowStats } from '../../src/state-db/session-record.ts';
import { DEFAULT_REQUEST, type ListInputs, type ListRequest } from '../../src/web-ui/list/compose-list.ts';
import { type ListRow, sidecarRow } from '../../src/web-ui/list/list-row.ts';
import { titleFromContent } from '../../src/web-ui/list/list-titles.ts';
import { NO_CONTEXT, type ProjectionContext } from '../../src/web-ui/list/store-projection.ts';
import type { StoreRows, StoreSession } from '../../src/web-ui/list/store-rows.ts';

type Json = Readonly<Record<string, unknown>>;

/** All readable sidecars of a sessions folder, by file name. */
export function readSidecars(folder: string): ListRow[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json') && !name.startsWith('_'));
  return names.sort().flatMap((name) => {
    const parsed = parseJson(readFileSync(join(folder, name), 'utf8'));
    return isJsonObject(parsed) ? [rowOfFile(name.slice(0, -'.json'.length), parsed)] : [];
  });
}

function rowOfFile(id: string, file: Json): ListRow {
  const messages = Array.isArray(file.messages) ? file.messages.filter(isJsonObject) : [];
  const hasPending = Boolean(file.pending_user_message);
  const updatedAt = number(file.updated_at);
  const lastOf = (found: readonly Json[]) => found.findLast((message) => isDated(message));
  const last = lastOf(messages.slice(-8)) ?? lastOf(messages);
  const pendingAt = hasPending ? number(file.pending_started_at) : null;
  return sidecarRow({
    id,
    profile: text(file.profile),
    title: text(file.title) ?? 'Untitled',
    workspace: text(file.workspace),
    model: text(file.model),
    modelProvider: text(file.model_provider),
    isCliSession: file.is_cli_session === true,
    readOnly: file.read_only === true,
    isSnapshot: file.pre_compression_snapshot === true,
    messageCount: Math.max(messages.length, hasPending ? 1 : 0),
    userMessageCount: messages.filter((message) => message.role === 'user').length,
    createdAt: number(file.created_at),
    updatedAt,
    lastMessageAt: pendingAt ?? (last === undefined ? updatedAt : timeOf(last)) ?? updatedAt,
    pinned: file.pinned === true,
    archived: file.archived === true,
    projectId: text(file.project_id),
    activeStreamId: text(file.active_stream_id),
    hasPending,
    pendingStartedAt: pendingAt,
    worktreePath: text(file.worktree_path),
    parentSessionId: text(file.parent_session_id),
    sourceTag: text(file.source_tag),
    rawSource: text(file.raw_source),
    sessionSource: text(file.session_source),
    sourceLabel: text(file.source_label),
  });
}

function isDated(message: Json): boolean {
  return message.role !== 'tool' && !(message._partial === true && !message.content) && timeOf(message) !== null;
}

function timeOf(message: Json): number | null {
  return number(message._ts) ?? number(message.timestamp);
}

const STATS = `
  SELECT session_id AS id, COUNT(*) AS total, SUM(active <> 0) AS live, MAX(timestamp) AS last, SUM(lower(role) = 'user') AS users
  FROM messages GROUP BY session_id`;

/** One state.db of a current schema. */
export function readStore(path: string, profile = 'default'): StoreRows {
  const db = new Database(path, { readonly: true });
  try {
    const counts = new Map(
      db
        .prepare<[], SqlRow>(STATS)
        .all()
        .map((row) => [row.id, row]),
    );
    const first = new Map<string, string>();
    for (const row of db
      .prepare<[], SqlRow>("SELECT session_id, content FROM messages WHERE role = 'user' ORDER BY timestamp, id")
      .iterate()) {
      const title = titleFromContent(row.content);
      if (title !== '' && !first.has(String(row.session_id))) first.set(String(row.session_id), title);
    }
    const sessions = new Map<string, StoreSession>();
    for (const row of db.prepare<[], SqlRow>('SELECT * FROM sessions').iterate()) {
      const record = decodeSession(row);
      const found = counts.get(record.id);
      const stats: RowStats = { total: Number(found?.total ?? 0), live: Number(found?.live ?? 0), lastTimestamp: inWindow(found?.last) };
      sessions.set(record.id, { ...record, stats });
    }
    return {
      profile,
      sessions,
      userMessages: (id) => (counts.has(id) ? Number(counts.get(id)?.users) : 0),
      derivedTitle: (id) => first.get(id) ?? null,
    };
  } finally {
    db.close();
  }
}

/** A row of state.db written down in a test: source cli, started at 100, one message of the user at its start. */
export function session(
  id: string,
  facts: Partial<StoreSession> & { users?: number; messages?: number; last?: number } = {},
): StoreSession {
  const { messages = 1, last, users, ...columns } = facts;
  const startedAt = columns.startedAt === undefined ? 100 : columns.startedAt;
  const record = decodeSession({ id, source: 'cli', started_at: startedAt });
  const stats = { total: messages, live: messages, lastTimestamp: messages === 0 ? null : (last ?? startedAt) };
  const made = { ...record, storedMessageCount: messages, stats, ...columns };
  return users === undefined ? made : Object.assign(made, { users });
}

export function storeOf(sessions: readonly StoreSession[], facts: Partial<StoreRows> = {}): StoreRows {
  return {
    profile: 'default',
    sessions: new Map(sessions.map((row) => [row.id, row])),
    userMessages: (id) => {
      const found = sessions.find((row) => row.id === id);
      return found !== undefined && 'users' in found && typeof found.users === 'number' ? found.users : null;
    },
    derivedTitle: () => null,
    ...facts,
  };
}

export interface ListFacts {
  readonly sidecars?: readonly ListRow[];
  readonly sessions?: readonly StoreSession[];
  readonly store?: StoreRows | null;
  readonly context?: ProjectionContext;
  readonly claude?: readonly ListRow[];
  readonly deleted?: readonly string[];
  readonly zeroMessages?: readonly string[];
  readonly streams?: readonly string[];
  readonly attention?: readonly string[];
  readonly gateway?: ListInputs['stores'][number]['gateway'];
}

/** The inputs of a list with one profile. `store: null` is a home without a state.db. */
export function listInputs(facts: ListFacts): ListInputs {
  const store = facts.store === undefined ? storeOf(facts.sessions ?? []) : facts.store;
  return {
    sidecars: facts.sidecars ?? [],
    stores: store === null ? [] : [{ store, context: facts.context ?? NO_CONTEXT, gateway: facts.gateway ?? new Map() }],
    claude: facts.claude ?? [],
    tombstones: { deleted: new Set(facts.deleted), zeroMessages: new Set(facts.zeroMessages) },
    live: { streams: new Set(facts.streams), attention: new Set(facts.attention) },
  };
}

export function listRequest(changes: Partial<ListRequest> = {}): ListRequest {
  return { ...DEFAULT_REQUEST, ...changes };
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function number(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
