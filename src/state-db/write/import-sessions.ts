/**
 * Sessions brought in from an export (`spec/state-db-writes.md` I3 to I5): all of them or none, and never into a session that exists.
 */
import { createHash } from 'node:crypto';
import { WriteRefused } from '../../write-refused.ts';
import { idList } from '../connection.ts';
import { isJsonObject, type SqlValue } from '../decode.ts';
import type { StoreReading } from '../store-reading.ts';
import { MAX_TITLE_LENGTH, nextTitle } from '../titles.ts';
import { insertSession } from './create-session.ts';
import { type CheckedSession, checkedImport, type ImportFault, refuseFaults, textOr } from './import-checks.ts';
import { encodeBatch } from './message-batch.ts';
import type { EncodedMessage } from './message-encoding.ts';
import { pythonJson } from './python-json.ts';
import type { OperationContext, StoreOperation } from './store-operation.ts';
import { epochSeconds, scalarCell } from './stored-value.ts';
import type { WriteTransaction } from './write-connection.ts';

export interface ImportInput {
  /** Objects as an export has them, one a session. */
  readonly sessions: readonly unknown[];
}

export interface ImportResult {
  readonly importedIds: readonly string[];
  /** In the store already; they stay as they are. */
  readonly skippedIds: readonly string[];
  /** Imported without the parent that they name: there is none, or it descends from them. */
  readonly detachedIds: readonly string[];
  /** Imported under another title, since theirs was taken. */
  readonly retitledIds: readonly string[];
  readonly messageCount: number;
}

interface ImportedMessage {
  readonly encoded: EncodedMessage;
  readonly isActive: boolean;
  readonly isCompacted: boolean;
}

interface ImportedSession {
  readonly cells: Readonly<Record<string, SqlValue>>;
  readonly prompt: { readonly hash: string; readonly text: string } | null;
  readonly messages: readonly ImportedMessage[];
}

interface ImportPlan extends ImportResult {
  readonly sessions: readonly ImportedSession[];
  readonly links: readonly { readonly id: string; readonly parentId: string }[];
}

/** What a session keeps as it is. Routing, hand-offs, rewinds, activity, pins, hiding and leases are the other store's affair (I4). */
const KEPT_TEXTS = [
  'model',
  'end_reason',
  'cwd',
  'git_branch',
  'git_repo_root',
  'billing_provider',
  'billing_base_url',
  'billing_mode',
  'cost_status',
  'cost_source',
  'pricing_version',
];
const KEPT_COUNTS = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens', 'reasoning_tokens', 'api_call_count'];
const KEPT_AMOUNTS = ['estimated_cost_usd', 'actual_cost_usd'];

/** Throws IMPORT_TOO_LARGE, and IMPORT_INVALID with every fault; then nothing is written. */
export const importSessions: StoreOperation<ImportInput, ImportPlan, ImportResult> = {
  patience: 'ROUTINE',
  touchesMessages: true,
  plan: (store, input, context) => {
    const checked = checkedImport(input.sessions);
    const parents = storedParents(store);
    const fresh = checked.filter(({ id }) => !parents.has(id));
    const titles = new FreeTitles(store);
    const sessions = encodedSessions(store, fresh, titles, context);
    const { links, detachedIds } = linked(fresh, parents);
    return {
      importedIds: fresh.map(({ id }) => id),
      skippedIds: checked.filter(({ id }) => parents.has(id)).map(({ id }) => id),
      detachedIds,
      retitledIds: titles.retitledIds,
      messageCount: sessions.reduce((sum, { messages }) => sum + messages.length, 0),
      sessions,
      links,
    };
  },
  execute: (transaction, plan) => {
    for (const session of plan.sessions) insert(transaction, session);
    for (const { id, parentId } of plan.links) transaction.run('UPDATE sessions SET parent_session_id = ? WHERE id = ?', [parentId, id]);
    return told(plan);
  },
  preview: told,
  wasMade: (store, { importedIds }) => {
    const row = store.get('SELECT COUNT(*) AS there FROM sessions WHERE id IN (SELECT value FROM json_each(?))', [idList(importedIds)]);
    return row?.there === importedIds.length;
  },
};

function told({ importedIds, skippedIds, detachedIds, retitledIds, messageCount }: ImportPlan): ImportResult {
  return { importedIds, skippedIds, detachedIds, retitledIds, messageCount };
}

function storedParents(store: StoreReading): Map<string, string | null> {
  const rows = store.all('SELECT id, parent_session_id FROM sessions');
  return new Map(rows.map((row) => [String(row.id), row.parent_session_id === null ? null : String(row.parent_session_id)]));
}

/** Parents are linked in the order of the import, each as long as it closes no loop. */
function linked(fresh: readonly CheckedSession[], stored: ReadonlyMap<string, string | null>): Pick<ImportPlan, 'links' | 'detachedIds'> {
  const parents = new Map(stored);
  for (const { id } of fresh) parents.set(id, null);
  const links: { id: string; parentId: string }[] = [];
  const detachedIds: string[] = [];
  for (const { id, fields } of fresh) {
    const parentId = textOr(fields.parent_session_id, '');
    if (parentId === '') continue;
    if (!parents.has(parentId) || descendsFrom(parents, parentId, id)) detachedIds.push(id);
    else {
      parents.set(id, parentId);
      links.push({ id, parentId });
    }
  }
  return { links, detachedIds };
}

function descendsFrom(parents: ReadonlyMap<string, string | null>, start: string, ancestor: string): boolean {
  const seen = new Set<string>();
  for (let current: string | null = start; current !== null && !seen.has(current); current = parents.get(current) ?? null) {
    if (current === ancestor) return true;
    seen.add(current);
  }
  return false;
}

/** Titles are unique in a store: one that is taken gets the next free number. */
class FreeTitles {
  readonly retitledIds: string[] = [];
  readonly #taken: Set<string>;

  constructor(store: StoreReading) {
    this.#taken = new Set(store.all('SELECT title FROM sessions WHERE title IS NOT NULL').map(({ title }) => String(title)));
  }

  take({ id, title: wanted }: CheckedSession): string | null {
    if (wanted === null) return null;
    let title: string | null = wanted;
    if (this.#taken.has(wanted)) {
      title = nextTitle(wanted, this.#taken);
      if ([...title].length > MAX_TITLE_LENGTH) title = null;
      this.retitledIds.push(id);
    }
    if (title !== null) this.#taken.add(title);
    return title;
  }
}

function encodedSessions(
  store: StoreReading,
  fresh: readonly CheckedSession[],
  titles: FreeTitles,
  context: OperationContext,
): ImportedSession[] {
  const faults: ImportFault[] = [];
  const sessions: ImportedSession[] = [];
  for (const session of fresh) {
    try {
      const messages = encodedMessages(store, session, context);
      sessions.push({ ...sessionCells(store, session, messages, titles.take(session), context), messages });
    } catch (error) {
      if (!(error instanceof WriteRefused) || error.code !== 'VALIDATION') throw error;
      faults.push({ index: session.index, sessionId: session.id, message: error.message });
    }
  }
  refuseFaults(faults);
  return sessions;
}

/** Rows of an export that are not live stay what they were (I5); a store that can't tell them apart gets the live ones only. */
function encodedMessages(store: StoreReading, { id, messages }: CheckedSession, { now, mintUid }: OperationContext): ImportedMessage[] {
  const encoded = encodeBatch(messages, { sessionId: id, shape: store.shape, now, mintUid });
  const imported = encoded.map((one, position) => {
    const { active, compacted } = messages[position] ?? {};
    const isActive = active === undefined || active === null || isSet(active);
    return { encoded: one, isActive, isCompacted: !isActive && isSet(compacted) };
  });
  return store.shape.hasColumn('messages', 'active') ? imported : imported.filter(({ isActive }) => isActive);
}

function isSet(flag: unknown): boolean {
  return flag === true || (typeof flag === 'number' && flag !== 0);
}

function sessionCells(
  store: StoreReading,
  { id, fields }: CheckedSession,
  messages: readonly ImportedMessage[],
  title: string | null,
  { now, profile }: OperationContext,
): Pick<ImportedSession, 'cells' | 'prompt'> {
  const live = messages.filter(({ isActive }) => isActive);
  const source = textOr(fields.source, '') || 'import';
  const text = textOr(fields.system_prompt, '');
  const hasPrompts = store.shape.hasTable('system_prompts') && store.shape.hasColumn('sessions', 'system_prompt_hash');
  const prompt = text === '' ? null : { hash: createHash('sha256').update(text).digest('hex'), text };
  const cells: Record<string, SqlValue> = {
    id,
    source,
    created_source: textOr(fields.created_source, '') || source,
    model_config: configurationCell(fields.model_config),
    ...(hasPrompts ? { system_prompt_hash: prompt?.hash ?? null } : { system_prompt: prompt?.text ?? null }),
    started_at: epochSeconds(fields.started_at) ?? now,
    ended_at: epochSeconds(fields.ended_at),
    message_count: BigInt(live.length),
    tool_call_count: BigInt(live.reduce((sum, { encoded }) => sum + encoded.toolCallCount, 0)),
    title,
    title_source: title === null ? null : textOr(fields.title_source, null),
    profile_name: profile,
    archived: isSet(fields.archived) ? 1n : 0n,
    ...Object.fromEntries(KEPT_TEXTS.map((column) => [column, textOr(fields[column], null)])),
    ...Object.fromEntries(KEPT_COUNTS.map((column) => [column, countCell(fields[column])])),
    ...Object.fromEntries(KEPT_AMOUNTS.map((column) => [column, amountCell(fields[column])])),
  };
  const kept = Object.entries(cells).filter(([column]) => store.shape.hasColumn('sessions', column));
  return { cells: Object.fromEntries(kept), prompt: hasPrompts ? prompt : null };
}

function configurationCell(config: unknown): SqlValue {
  if (typeof config === 'string') return config === '' ? null : config.toWellFormed();
  return isJsonObject(config) ? pythonJson(config) : null;
}

function countCell(value: unknown): SqlValue {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : 0n;
}

function amountCell(value: unknown): SqlValue {
  return typeof value === 'number' ? scalarCell(value, 'cost') : null;
}

function insert(transaction: WriteTransaction, { cells, prompt, messages }: ImportedSession): void {
  if (prompt !== null) transaction.run('INSERT OR IGNORE INTO system_prompts (hash, prompt) VALUES (?, ?)', [prompt.hash, prompt.text]);
  insertSession(transaction, cells);
  for (const message of messages) insertMessage(transaction, message);
}

function insertMessage(transaction: WriteTransaction, { encoded, isActive, isCompacted }: ImportedMessage): void {
  const hasCompacted = isCompacted && transaction.shape.hasColumn('messages', 'compacted');
  const columns = [...encoded.columns, ...(hasCompacted ? ['compacted'] : [])];
  const values = encoded.values.map((value, index) => (encoded.columns[index] === 'active' && !isActive ? 0n : value));
  transaction.run(
    `INSERT INTO messages (${columns.map((column) => `"${column}"`).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    [...values, ...(hasCompacted ? [1n] : [])],
  );
}
