/**
 * Sessions created, or completed where they exist: what is set already stays (`spec/state-db-writes.md` F5, F6).
 */
import { createHash } from 'node:crypto';
import { WriteRefused } from '../../write-refused.ts';
import { isJsonObject, parseJson, type SqlValue } from '../decode.ts';
import type { StoreReading } from '../store-reading.ts';
import { pythonJson } from './python-json.ts';
import { SessionGraph } from './session-graph.ts';
import { cleanTitle, makeRoom, roomFor, type TitleRoom } from './session-title.ts';
import type { StoreOperation } from './store-operation.ts';
import type { WriteTransaction } from './write-connection.ts';

export interface CreateInput {
  /** Null: one is made up, of the time and eight random digits. */
  readonly id: string | null;
  readonly source: string;
  readonly model: string | null;
  readonly parentSessionId: string | null;
  readonly title: string | null;
  readonly cwd: string | null;
  /** BRANCH marks it as a fork of its parent; a ROOT with a parent that a compression closed continues that. */
  readonly kind: 'ROOT' | 'BRANCH';
  /** A JSON object without keys that start with `_`; those mark lineages. */
  readonly modelConfig: unknown;
  readonly systemPrompt: string | null;
}

export interface CreateResult {
  readonly sessionId: string;
  /** False: it was there; only what it lacked was filled in. */
  readonly created: boolean;
}

type Cells = Record<string, SqlValue>;

interface CreatePlan extends CreateResult {
  /** Column by column, those that the store has. */
  readonly cells: Readonly<Cells>;
  readonly prompt: { readonly hash: string; readonly text: string } | null;
  readonly room: TitleRoom | null;
}

const LONGEST_ID = 200;
const LONGEST_SOURCE = 64;
/** What a continuation has from the segment before it: who is talking where. */
const ROUTING = ['user_id', 'session_key', 'chat_id', 'chat_type', 'thread_id', 'display_name', 'origin_json'];
const WORKSPACE = ['cwd', 'git_repo_root', 'git_branch'];

/** Throws PARENT_NOT_FOUND, VALIDATION for an id, source, configuration or parent that can't be, and what a title is refused for. */
export const createSession: StoreOperation<CreateInput, CreatePlan, CreateResult> = {
  patience: 'TRANSCRIPT',
  touchesMessages: false,
  plan: (store, input, { now, mintUid, profile }) => {
    const id = input.id ?? mintedId(now, mintUid());
    refuseBadInput(input, id);
    const stored = store.get('SELECT * FROM sessions WHERE id = ?', [id]);
    const prompt = promptOf(input.systemPrompt);
    const hasPrompts = store.shape.hasTable('system_prompts') && store.shape.hasColumn('sessions', 'system_prompt_hash');
    const wanted: Cells = {
      source: input.source,
      created_source: input.source,
      model: input.model,
      parent_session_id: input.parentSessionId,
      cwd: input.cwd,
      profile_name: profile,
      ...(hasPrompts ? { system_prompt_hash: prompt?.hash ?? null } : { system_prompt: prompt?.text ?? null }),
      ...inherited(store, input),
    };
    const cells: Cells =
      stored === undefined
        ? { id, ...wanted, ...newCells(input, now) }
        : completed(stored, { ...wanted, model_config: configurationCell(input, stored.model_config) });
    if (stored !== undefined && cells.parent_session_id !== undefined) refuseLoop(store, id, input.parentSessionId);
    const title = stored === undefined ? cleanTitle(input.title) : null;
    if (title !== null) Object.assign(cells, { title, title_source: 'user' });
    const kept = Object.entries(cells).filter(([column]) => store.shape.hasColumn('sessions', column));
    return {
      sessionId: id,
      created: stored === undefined,
      cells: Object.fromEntries(kept),
      prompt: hasPrompts && kept.some(([column]) => column === 'system_prompt_hash') ? prompt : null,
      room: title === null ? null : roomFor(store, id, title, input.kind === 'ROOT' ? input.parentSessionId : null),
    };
  },
  execute: (transaction, plan) => {
    if (plan.prompt !== null) {
      transaction.run('INSERT OR IGNORE INTO system_prompts (hash, prompt) VALUES (?, ?)', [plan.prompt.hash, plan.prompt.text]);
    }
    if (plan.room !== null) makeRoom(transaction, plan.room);
    if (plan.created) insertSession(transaction, plan.cells);
    else completeSession(transaction, plan.sessionId, plan.cells);
    return told(plan);
  },
  preview: told,
  wasMade: (store, { sessionId }) => store.get('SELECT 1 AS there FROM sessions WHERE id = ?', [sessionId]) !== undefined,
};

function told({ sessionId, created }: CreatePlan): CreateResult {
  return { sessionId, created };
}

export function insertSession(transaction: WriteTransaction, cells: Readonly<Cells>): void {
  const columns = Object.keys(cells);
  transaction.run(
    `INSERT INTO sessions (${columns.map((column) => `"${column}"`).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    Object.values(cells),
  );
}

function completeSession(transaction: WriteTransaction, id: string, cells: Readonly<Cells>): void {
  const columns = Object.keys(cells);
  if (columns.length === 0) return;
  const assignments = columns.map((column) => `"${column}" = ?`).join(', ');
  transaction.run(`UPDATE sessions SET ${assignments} WHERE id = ?`, [...Object.values(cells), id]);
}

/** Throws VALIDATION. */
function refuseBadInput({ source, parentSessionId, kind, modelConfig }: CreateInput, id: string): void {
  if (!isUsableId(id))
    throw new WriteRefused('VALIDATION', `An id has 1 to ${LONGEST_ID} characters, and no controls, slashes or outer blanks.`);
  if (source.trim() === '' || source.length > LONGEST_SOURCE)
    throw new WriteRefused('VALIDATION', `A source has 1 to ${LONGEST_SOURCE} characters.`);
  if (parentSessionId === id) throw new WriteRefused('VALIDATION', 'A session is not its own parent.');
  if (kind === 'BRANCH' && parentSessionId === null) throw new WriteRefused('VALIDATION', 'A branch has a parent.');
  if (modelConfig === null || modelConfig === undefined) return;
  if (!isJsonObject(modelConfig)) throw new WriteRefused('VALIDATION', 'modelConfig is a JSON object.');
  if (Object.keys(modelConfig).some((key) => key.startsWith('_'))) {
    throw new WriteRefused('VALIDATION', 'Keys of modelConfig that start with _ are written by the owning programs.');
  }
}

/** Ids become names of files and keys of other programs. */
export function isUsableId(id: string): boolean {
  return id !== '' && id.length <= LONGEST_ID && id.trim() === id && id !== '.' && id !== '..' && !/[/\\\p{Cc}\p{Cs}]/u.test(id);
}

/** F6: the workspace of the parent; its routing only for a continuation, since a fork would take the route over. Throws PARENT_NOT_FOUND. */
function inherited(store: StoreReading, { parentSessionId, kind, cwd }: CreateInput): Cells {
  if (parentSessionId === null) return {};
  const parent = store.get('SELECT * FROM sessions WHERE id = ?', [parentSessionId]);
  if (parent === undefined) throw new WriteRefused('PARENT_NOT_FOUND');
  const isContinuation = parent.end_reason === 'compression' && kind === 'ROOT';
  const columns = isContinuation ? [...WORKSPACE, ...ROUTING] : WORKSPACE;
  const cells: Cells = Object.fromEntries(columns.map((column) => [column, parent[column] ?? null]));
  return cwd === null ? cells : { ...cells, cwd };
}

function newCells(input: CreateInput, now: number): Cells {
  return { started_at: now, message_count: 0n, tool_call_count: 0n, model_config: configurationCell(input, null) };
}

/** What the stored row lacks. Its source is replaced only where it is a placeholder. */
function completed(stored: Readonly<Record<string, SqlValue | undefined>>, wanted: Readonly<Cells>): Cells {
  const { source, created_source: _, model_config: config, ...others } = wanted;
  const cells: Cells = {};
  for (const [column, value] of Object.entries(others)) {
    // Older rows have their prompt in the row itself.
    if (column === 'system_prompt_hash' && (stored.system_prompt ?? null) !== null) continue;
    if (value !== null && (stored[column] ?? null) === null) cells[column] = value;
  }
  if (stored.source === 'unknown' && source !== undefined) cells.source = source;
  if (config !== undefined && config !== (stored.model_config ?? null)) cells.model_config = config;
  return cells;
}

/** The stored configuration stays, unless there is none or it holds nothing but the mark of a reset, which is then kept. */
function configurationCell({ modelConfig, kind, parentSessionId }: CreateInput, stored: SqlValue | undefined): SqlValue {
  const given = isJsonObject(modelConfig) ? modelConfig : {};
  const wanted = kind === 'BRANCH' ? { ...given, _branched_from: parentSessionId } : given;
  const text = Object.keys(wanted).length === 0 ? null : pythonJson(wanted);
  if (stored === null || stored === undefined || stored === '') return text;
  const parsed = typeof stored === 'string' ? parseJson(stored) : undefined;
  const isMarkOnly = isJsonObject(parsed) && Object.keys(parsed).length === 1 && '_reset_from' in parsed;
  return isMarkOnly && text !== null ? pythonJson({ ...wanted, _reset_from: parsed._reset_from }) : stored;
}

function promptOf(text: string | null): CreatePlan['prompt'] {
  if (text === null || text === '') return null;
  const prompt = text.toWellFormed();
  return { hash: createHash('sha256').update(prompt).digest('hex'), text: prompt };
}

/** Throws VALIDATION when the session is among the ancestors of what should become its parent. */
function refuseLoop(store: StoreReading, id: string, parentId: string | null): void {
  const graph = new SessionGraph(store);
  const seen = new Set<string>();
  for (let current = parentId; current !== null && !seen.has(current); current = graph.get(current)?.parentId ?? null) {
    if (current === id) throw new WriteRefused('VALIDATION', 'The parent descends from the session itself.');
    seen.add(current);
  }
}

/** In the form of the owning programs: `20260130_101500_1a2b3c4d`. */
function mintedId(now: number, uid: string): string {
  const [date = '', time = ''] = new Date(now * 1000).toISOString().split('T');
  return `${date.replaceAll('-', '')}_${time.slice(0, 8).replaceAll(':', '')}_${uid.slice(0, 8)}`;
}
