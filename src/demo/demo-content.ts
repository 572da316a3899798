/** What the two stores of the demo hold, all of it invented. The same `now` gives the same rows, down to the last byte. */
import { createHash } from 'node:crypto';
import type Database from 'better-sqlite3';
import { type DemoContent, lineages } from './demo-lineages.ts';
import { lease, oddities, routingEntry } from './demo-oddities.ts';
import { performScript, startScript } from './performed-scripts.ts';
import { parseScripts, type Script } from './script.ts';
import { CRON_SCRIPTS, EVERYDAY_SCRIPTS, WORK_SCRIPTS } from './scripts-everyday.ts';
import { PROJECT_SCRIPTS } from './scripts-projects.ts';
import type { Columns, SessionDraft } from './session-draft.ts';

const CRON_RUNS = 8;
const SYSTEM_PROMPT = 'You are Hermes, a helpful agent on the computer of Ada. Be brief, and ask before anything that can not be undone.';

/** The default profile at `now` (epoch seconds): about sixty sessions of all kinds that there are. */
export function defaultProfile(now: number): DemoContent {
  const live = liveChat(now);
  const plays = [...parseScripts(PROJECT_SCRIPTS), ...parseScripts(EVERYDAY_SCRIPTS)].filter((script) => script.key !== LIVE_CHAT);
  const runs = parseScripts(CRON_SCRIPTS).flatMap((script) => cronRuns(script));
  const special = [lineages(now), oddities(now)];
  const sessions = [
    live.sessions,
    [...plays, ...runs].map((script) => performScript(script, now)),
    ...special.map((content) => content.sessions),
  ].flat();
  endReplacedChats(sessions);
  const chats = sessions.filter(
    (draft) => draft.columns.session_key != null && draft.columns.ended_at == null && !live.sessions.includes(draft),
  );
  return {
    sessions,
    rows: [
      ...live.rows,
      ...special.flatMap((content) => content.rows),
      ...chats.map((draft) => routingEntry(draft, null)),
      { table: 'gateway_hygiene_state', columns: { session_key: 'agent:main:discord:channel:8802', failure_streak: 1 } },
      { table: 'state_meta', columns: { key: 'last_auto_archive', value: String(now - 7200) } },
    ],
  };
}

/** The profile `work`: a handful of sessions. */
export function workProfile(now: number): DemoContent {
  return { sessions: parseScripts(WORK_SCRIPTS).map((script) => performScript(script, now, { profile_name: 'work' })), rows: [] };
}

/** Writes content into an empty store of schema 26 in one transaction; rows get their ids in the order in which they were stored. */
export function writeContent(db: Database.Database, content: DemoContent): void {
  const insert = inserter(db);
  const hash = createHash('sha256').update(SYSTEM_PROMPT, 'utf8').digest('hex');
  const byStart = [...content.sessions].sort((a, b) => Number(a.columns.started_at) - Number(b.columns.started_at));
  const rows = byStart.flatMap((draft) => draft.rows).sort((a, b) => a.storedAt - b.storedAt);
  db.transaction(() => {
    insert('system_prompts', { hash, prompt: SYSTEM_PROMPT });
    for (const draft of byStart) {
      const prompted = draft.columns.source === 'cli' || draft.columns.source === 'webui';
      insert('sessions', { ...draft.columns, system_prompt_hash: prompted ? hash : null });
    }
    for (const row of rows) insert('messages', row.columns);
    for (const columns of byStart.flatMap((draft) => draft.usage)) insert('session_model_usage', columns);
    for (const { table, columns } of content.rows) insert(table, columns);
  }).immediate();
}

const LIVE_CHAT = 'bergen';

/** A chat in the middle of a turn: the gateway waits for a tool. */
function liveChat(now: number): DemoContent {
  const script = parseScripts(EVERYDAY_SCRIPTS).find((candidate) => candidate.key === LIVE_CHAT);
  if (script === undefined) throw new Error(`demo: no script "${LIVE_CHAT}"`);
  const draft = startScript({ ...script, steps: script.steps.slice(0, -1) }, now);
  const asked = script.steps.at(-1);
  draft.clock = now - 45;
  const question = draft.row('user', asked?.kind === 'user' ? asked.text : '', { platform_message_id: '40388' });
  draft.calls([{ tool: 'web_search', args: { query: 'Bergen Mostraumen boat timetable' }, result: '' }], '', {}, false);
  draft.settle('actual');
  Object.assign(draft.columns, { last_activity_at: draft.clock + 1, last_activity_description: 'executing tool: web_search' });
  const startedAt = Number(question.columns.timestamp);
  return {
    sessions: [draft],
    rows: [
      routingEntry(draft, { token: 'turn-9d41', startedAt }),
      lease(draft.id, 'pid=4242:turn=9d41:platform=telegram', startedAt - 0.2),
    ],
  };
}

/** One session for each day, at the same hour. */
function cronRuns(script: Script): Script[] {
  return Array.from({ length: CRON_RUNS }, (_, day) => ({ ...script, hoursAgo: 24 * day + (script.key === 'backupcheck' ? 6.5 : 2.2) }));
}

/** A chat has one open session at most: what came before the newest ended when the next one began. */
function endReplacedChats(sessions: readonly SessionDraft[]): void {
  const newestFirst = sessions
    .filter((draft) => draft.columns.session_key != null)
    .sort((a, b) => Number(b.columns.started_at) - Number(a.columns.started_at));
  const next = new Map<unknown, SessionDraft>();
  for (const draft of newestFirst) {
    const successor = next.get(draft.columns.session_key);
    if (successor !== undefined && draft.columns.ended_at == null) {
      Object.assign(draft.columns, { ended_at: Number(successor.columns.started_at) - 1, end_reason: 'daily', expiry_finalized: 1 });
    }
    next.set(draft.columns.session_key, draft);
  }
}

/** Inserts a row by its columns; statements are prepared once for each set of columns. */
function inserter(db: Database.Database): (table: string, columns: Columns) => void {
  const statements = new Map<string, Database.Statement>();
  return (table, columns) => {
    const names = Object.keys(columns);
    const sql = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = db.prepare(sql);
      statements.set(sql, statement);
    }
    statement.run(...Object.values(columns));
  };
}
