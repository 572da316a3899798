/**
 * The plainest server that can answer the same questions, as a measure for ours: node:http, one prepared statement a question,
 * JSON.stringify of what it gives. No GraphQL, no checks, times as stored, nothing renamed that SQL doesn't rename. The list it also gives
 * with the very values of ours, to tell what GraphQL costs from what those cost.
 *
 * The order by recent activity is in no column: what a plain server does about it decides what it costs. Ordering by activity in SQL reads
 * every session's messages (the owning program's way, a third of a second on the large store); ordering by `started_at` gives other rows.
 * So it computes the list once at start, into a temporary table, and then reads 50 rows of it by primary key: nothing is cheaper, and it is
 * wrong as soon as somebody writes. Ours has to stay right.
 *
 *   node bench/plain-server.ts --store PATH --ready-file FILE
 */
import { renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';

type Answer = (parameters: URLSearchParams) => unknown;

/** One row a conversation, as lists show it by default: the newest segment, placed by the newest activity of all segments. */
const RECENT = `
CREATE TEMP TABLE recent AS
WITH RECURSIVE
  segment(root, id, depth) AS (
    SELECT s.id, s.id, 0 FROM sessions s
    WHERE s.archived = 0 AND s.hidden = 0 AND s.source NOT IN ('cron', 'webhook', 'kanban', 'tool', 'oneshot')
      AND (s.parent_session_id IS NULL OR s.model_config ->> '$._branched_from' IS NOT NULL) AND s.model_config ->> '$._delegate_from' IS NULL
    UNION ALL
    SELECT g.root, c.id, g.depth + 1 FROM segment g
    JOIN sessions p ON p.id = g.id AND p.end_reason = 'compression' JOIN sessions c ON c.parent_session_id = p.id
    WHERE c.model_config ->> '$._branched_from' IS NULL AND c.model_config ->> '$._delegate_from' IS NULL
  ),
  activity(root, id, depth, at, live) AS MATERIALIZED (
    SELECT g.root, g.id, g.depth, max(ifnull(s.last_activity_at, 0), ifnull((SELECT MAX(m.timestamp) FROM messages m WHERE m.session_id = g.id), 0)),
      (SELECT COUNT(*) FROM messages m WHERE m.session_id = g.id AND m.active = 1)
    FROM segment g JOIN sessions s ON s.id = g.id
  ),
  conversation(root, depth, at) AS (SELECT root, MAX(depth), MAX(at) FROM activity GROUP BY root)
SELECT row_number() OVER (ORDER BY c.at DESC, r.started_at DESC, r.id DESC) AS position, tip.id AS id, tip.live AS live, c.at AS at
FROM conversation c JOIN activity tip ON tip.root = c.root AND tip.depth = c.depth JOIN sessions r ON r.id = c.root
WHERE c.at > 0`;

const SESSION = `s.id AS id, s.id AS sessionId, s.title AS title, s.billing_provider AS provider, s.model AS model, s.started_at AS startedAt,
  r.at AS lastActiveAt, r.live AS messageCount, s.archived AS archived, s.pinned AS pinned, s.end_reason AS endReason`;

const PREVIEW = `(SELECT substr(m.content, 1, 63) FROM messages m WHERE m.session_id = s.id AND m.role = 'user' AND m.display_kind IS NULL
  ORDER BY m.timestamp, m.id LIMIT 1) AS preview`;

const LIST = (columns: string) =>
  `SELECT ${columns} FROM recent r JOIN sessions s ON s.id = r.id WHERE r.position > ? ORDER BY r.position LIMIT 50`;

const MESSAGES = `SELECT id AS rowId, role, content AS text, timestamp, tool_call_id AS toolCallId, tool_name AS toolName,
  finish_reason AS finishReason, token_count AS tokenCount, active AS state, display_kind AS displayKind
  FROM messages WHERE session_id = ? AND active = 1 ORDER BY id DESC LIMIT 50`;

/** Everything that hangs together with a session by parent pointers. */
const FAMILY = `
WITH RECURSIVE
  up(id, parent) AS (
    SELECT id, parent_session_id FROM sessions WHERE id = ?
    UNION SELECT s.id, s.parent_session_id FROM up JOIN sessions s ON s.id = up.parent
  ),
  family(id) AS (
    SELECT id FROM up WHERE parent IS NULL
    UNION SELECT s.id FROM family f JOIN sessions s ON s.parent_session_id = f.id
  )
SELECT s.id AS sessionId, s.parent_session_id AS parentSessionId, s.title, s.model, s.started_at AS startedAt, s.end_reason AS endReason
FROM family f JOIN sessions s ON s.id = f.id`;

const HIT = (snippet: string) => `m.id AS rowId, m.role AS role, ${snippet} AS snippet, s.id AS sessionId, s.title AS title`;
const VISIBLE = "(m.active = 1 OR m.compacted = 1) AND (m.display_kind IS NULL OR m.display_kind <> 'hidden')";

const MATCH = `SELECT ${HIT("snippet(messages_fts, -1, '>>>', '<<<', '...', 40)")}
  FROM messages_fts JOIN messages m ON m.id = messages_fts.rowid JOIN sessions s ON s.id = m.session_id
  WHERE messages_fts MATCH ? AND ${VISIBLE} ORDER BY messages_fts.rank LIMIT 20`;

const LIKE = `SELECT ${HIT('substr(m.content, 1, 120)')} FROM messages m JOIN sessions s ON s.id = m.session_id
  WHERE m.role = 'tool' AND m.content LIKE '%' || ? || '%' AND ${VISIBLE} ORDER BY m.timestamp DESC LIMIT 20`;

const USAGE = `SELECT model, COUNT(DISTINCT session_id) AS sessions, SUM(input_tokens) AS inputTokens, SUM(output_tokens) AS outputTokens,
  SUM(estimated_cost_usd) AS estimatedCostUsd FROM session_model_usage GROUP BY model`;

const { values } = parseArgs({ options: { store: { type: 'string' }, 'ready-file': { type: 'string' } } });
const readyFile = values['ready-file'];
if (values.store === undefined || readyFile === undefined) throw new Error('plain-server.ts needs --store and --ready-file');
const db = new Database(values.store, { readonly: true, fileMustExist: true });
db.exec(RECENT);
db.exec('CREATE UNIQUE INDEX temp.recent_position ON recent (position)');

const prepare = (sql: string) => db.prepare<unknown[], Record<string, unknown>>(sql);
const list = prepare(LIST(SESSION));
const listWithPreview = prepare(LIST(`${SESSION}, ${PREVIEW}`));
const count = prepare('SELECT COUNT(*) AS totalCount FROM recent');
const messages = prepare(MESSAGES);
const family = prepare(FAMILY);
const match = prepare(MATCH);
const like = prepare(LIKE);
const usage = prepare(USAGE);

const ANSWERS: Readonly<Record<string, Answer>> = {
  '/sessions': (parameters) => list.all(Number(parameters.get('after') ?? 0)),
  '/sessions-same-values': () => list.all(0).map(withSameValues),
  '/sessions-with-preview': (parameters) => listWithPreview.all(Number(parameters.get('after') ?? 0)),
  '/count': () => count.get(),
  '/messages': (parameters) => messages.all(parameters.get('session')).reverse(),
  '/family': (parameters) => family.all(parameters.get('session')),
  '/search': (parameters) => match.all(parameters.get('q')),
  '/search-like': (parameters) => like.all(parameters.get('q')),
  '/usage': () => usage.all(),
};

/** A row as ours shows it: a global id, times as ISO 8601, flags as booleans. The least that a server with the same answer has to do. */
function withSameValues(row: Record<string, unknown>): Record<string, unknown> {
  return {
    ...row,
    id: Buffer.from(`Session:default/${row.id}`).toString('base64url'),
    startedAt: new Date(Number(row.startedAt) * 1000).toISOString(),
    lastActiveAt: new Date(Number(row.lastActiveAt) * 1000).toISOString(),
    archived: row.archived === 1,
    pinned: row.pinned === 1,
  };
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const answer = ANSWERS[url.pathname];
  const text = JSON.stringify(answer === undefined ? null : answer(url.searchParams));
  response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
});

// While a slow statement blocks this process, a connection with a request on it looks idle.
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  writeFileSync(`${readyFile}.tmp`, JSON.stringify({ url: `http://127.0.0.1:${port}/`, pid: process.pid }));
  renameSync(`${readyFile}.tmp`, readyFile);
});
process.once('SIGTERM', () => process.exit(0));
