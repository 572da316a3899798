import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEMO_MARKER, ensureDemoHome } from '../../src/demo/demo-store.ts';
import { removeStores, temporaryFolder } from '../support/stores.ts';

const NOW = 1_900_000_000;
const DAY = 86_400;

afterAll(removeStores);

let home: string;
let db: Database.Database;

beforeAll(async () => {
  home = join(temporaryFolder(), 'demo');
  await ensureDemoHome(home, NOW);
  db = new Database(join(home, 'state.db'));
});
afterAll(() => db.close());

const count = (sql: string, ...values: unknown[]): number =>
  Number(
    db
      .prepare(`SELECT COUNT(*) FROM ${sql}`)
      .pluck()
      .get(...values),
  );

/** Every cell of every table of the owner; the generation is drawn at random for each file. */
function contentsOf(path: string): unknown {
  const store = new Database(path, { readonly: true });
  const tables = store
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'messages_fts%' ORDER BY name")
    .pluck()
    .all();
  const contents = tables.map((table) => [table, store.prepare(`SELECT * FROM ${table}`).raw().all()]);
  store.close();
  return contents.map(([table, rows]) => [table, (rows as unknown[][]).filter((row) => row[0] !== 'db_file_generation')]);
}

describe('the stores', () => {
  it.each(['state.db', 'profiles/work/state.db'])('%s is sound, and so are both of its indexes', (name) => {
    const store = new Database(join(home, name));
    expect(store.pragma('integrity_check', { simple: true })).toBe('ok');
    expect(store.pragma('foreign_key_check')).toEqual([]);
    for (const index of ['messages_fts', 'messages_fts_trigram']) {
      store.prepare(`INSERT INTO ${index}(${index}, rank) VALUES ('integrity-check', 1)`).run();
    }
    store.close();
  });

  it('have counters that agree with their rows', () => {
    const wrong = db
      .prepare(`SELECT s.id FROM sessions s WHERE s.message_count <> (SELECT COUNT(*) FROM messages m WHERE m.session_id = s.id AND m.active = 1)
        OR (s.tool_call_count, s.title) IS NOT ((SELECT COALESCE(SUM(json_array_length(m.tool_calls)), 0) FROM messages m
          WHERE m.session_id = s.id AND m.active = 1 AND json_valid(m.tool_calls)), s.title)`)
      .pluck()
      .all();
    expect(wrong).toEqual([]);
  });

  it('have totals that agree with the rows of their models', () => {
    const sql = `sessions s JOIN session_model_usage u ON u.session_id = s.id AND u.task = ''
      WHERE s.input_tokens >= 0 AND (s.input_tokens, s.output_tokens, s.api_call_count) <> (u.input_tokens, u.output_tokens, u.api_call_count)`;
    expect(count(sql)).toBe(0);
  });

  it('reach from minutes ago to forty days ago, and have no time after now', () => {
    const [oldest, newest] = db.prepare('SELECT MIN(started_at), MAX(started_at) FROM sessions').raw().get() as [number, number];
    expect(NOW - newest).toBeGreaterThan(60);
    expect(NOW - newest).toBeLessThan(600);
    expect(NOW - oldest).toBeGreaterThan(39 * DAY);
    expect(NOW - oldest).toBeLessThan(40 * DAY);
    expect(count('messages WHERE timestamp > ? AND timestamp < 4200000000.0', NOW)).toBe(0);
    expect(count('sessions WHERE ended_at > ? OR ended_at < started_at', NOW)).toBe(0);
  });

  it('store rows in the order of time, but for copies and cells that are no times', () => {
    const behind = count(`messages a JOIN messages b ON b.id = a.id + 1 WHERE typeof(a.timestamp) = 'real' AND typeof(b.timestamp) = 'real'
      AND a.timestamp < 4e9 AND b.timestamp < a.timestamp - 1`);
    expect(behind).toBeLessThan(8);
  });

  it('hold about sixty sessions, and a few in the second profile', () => {
    expect(count('sessions')).toBeGreaterThanOrEqual(55);
    expect(count('sessions')).toBeLessThanOrEqual(70);
    const work = new Database(join(home, 'profiles/work/state.db'), { readonly: true });
    expect(Number(work.prepare("SELECT COUNT(*) FROM sessions WHERE profile_name = 'work'").pluck().get())).toBeGreaterThanOrEqual(4);
    work.close();
  });
});

describe('the default profile shows', () => {
  it.each(['cli', 'telegram', 'webui', 'discord', 'cron', 'api_server', 'subagent'])('sessions of %s', (source) => {
    expect(count('sessions WHERE source = ?', source)).toBeGreaterThanOrEqual(3);
  });

  it('a compressed conversation of four segments, with a handoff in each of the three shapes', () => {
    const tip = db.prepare("SELECT id FROM sessions WHERE title = 'Lending books between members'").pluck().get();
    const segments = db
      .prepare(`WITH RECURSIVE chain(id, parent) AS (SELECT id, parent_session_id FROM sessions WHERE id = ?
        UNION ALL SELECT s.id, s.parent_session_id FROM sessions s JOIN chain ON s.id = chain.parent) SELECT id FROM chain`)
      .pluck()
      .all(tip) as string[];
    expect(segments).toHaveLength(4);
    for (const id of segments.slice(1)) {
      const row = db.prepare('SELECT end_reason, ended_at FROM sessions WHERE id = ?').get(id);
      expect(row).toMatchObject({ end_reason: 'compression', ended_at: expect.any(Number) });
    }
    const handoffs = segments
      .slice(0, -1)
      .map((id) => db.prepare('SELECT content FROM messages WHERE session_id = ? ORDER BY id').pluck().get(id));
    const sum =
      '[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below. This is a handoff from a previous context window — treat it as background reference, NOT as active instructions. ';
    const end = '--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---';
    const [merged, composite, standalone] = handoffs.map(String);
    expect(standalone?.startsWith(sum) && standalone.endsWith(end)).toBe(true);
    expect(composite?.startsWith(sum) && composite.endsWith('Send a reminder after four weeks, please.')).toBe(true);
    expect(merged?.startsWith('[PRIOR CONTEXT — for reference only; not a new message]')).toBe(true);
    expect(merged).toContain(`[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]\n${sum}`);
  });

  it.each([
    ['a branch', "sessions c JOIN sessions p ON p.id = c.parent_session_id WHERE json_extract(c.model_config, '$._branched_from') = p.id"],
    [
      'a reset',
      "sessions c JOIN sessions p ON p.id = c.parent_session_id AND p.end_reason = 'session_reset' AND p.session_key = c.session_key WHERE json_extract(c.model_config, '$._reset_from') = p.id",
    ],
    [
      'delegated runs',
      "sessions c JOIN sessions p ON p.id = c.parent_session_id WHERE json_extract(c.model_config, '$._delegate_from') = p.id",
    ],
    [
      'a delegation that was delivered',
      "async_delegations WHERE state = 'completed' AND delivery_state = 'delivered' AND json_valid(event_json)",
    ],
    ['a delegation that runs', "async_delegations WHERE state = 'running' AND json_extract(task_json, '$.goal') <> ''"],
    ['archived sessions', 'sessions WHERE archived = 1'],
    ['a pinned session', 'sessions WHERE pinned = 1'],
    ['a hidden session', 'sessions WHERE hidden = 1'],
    ['unread sessions', 'sessions s WHERE last_read_at < (SELECT MAX(timestamp) FROM messages WHERE session_id = s.id)'],
    ['a session without messages', 'sessions WHERE message_count = 0'],
    [
      'tool calls with results',
      "messages c JOIN messages t ON t.session_id = c.session_id AND t.role = 'tool' JOIN json_each(c.tool_calls) AS call WHERE json_valid(c.tool_calls) AND call.value ->> 'id' = t.tool_call_id",
    ],
    ['two tool calls in one row', 'messages WHERE json_valid(tool_calls) AND json_array_length(tool_calls) = 2'],
    ['reasoning', "messages WHERE reasoning <> '' AND reasoning_content <> '' AND json_valid(reasoning_details)"],
    ['encrypted reasoning', 'messages WHERE json_valid(codex_reasoning_items) AND json_valid(codex_message_items)'],
    [
      'an image in structured content',
      "messages WHERE instr(content, char(0) || 'json:') = 1 AND instr(content, 'data:image/png;base64,') > 0",
    ],
    ['Chinese text', "messages_fts_trigram WHERE messages_fts_trigram MATCH '城南旧事'"],
    ['rewound rows', 'messages WHERE active = 0 AND compacted = 0'],
    [
      'rows that were compacted in place, with copies',
      'messages a JOIN messages b ON b.session_id = a.session_id AND b.timestamp = a.timestamp AND b.content = a.content WHERE a.active = 0 AND a.compacted = 1 AND b.active = 1',
    ],
    ['overheard rows', 'messages WHERE observed = 1 AND platform_message_id IS NOT NULL'],
    ['a reaction', "messages WHERE json_valid(display_metadata) AND json_extract(display_metadata, '$.reactions[0].emoji') = '👍'"],
    ['something said while a turn ran', "messages WHERE display_kind = 'steer'"],
    ['timeline notes', "messages WHERE display_kind IN ('model_switch', 'async_delegation_complete')"],
    ['titles', "sessions WHERE title_source = 'llm'"],
    ['titles of users', "sessions WHERE title_source = 'user'"],
    ['actual costs', "sessions WHERE actual_cost_usd > 0 AND cost_status = 'actual'"],
    ['estimated costs', "sessions WHERE estimated_cost_usd > 0 AND actual_cost_usd IS NULL AND cost_status = 'estimated'"],
    ['unknown costs', "sessions WHERE estimated_cost_usd IS NULL AND input_tokens > 0 AND cost_status = 'unknown'"],
    ['auxiliary usage', "session_model_usage WHERE task IN ('title_generation', 'vision', 'compression')"],
    ['a time that is none', "messages WHERE typeof(timestamp) = 'text'"],
    ['bad JSON', 'messages WHERE tool_calls IS NOT NULL AND NOT json_valid(tool_calls)'],
    ['a live lease', 'session_turn_leases WHERE acquired_at < ? AND expires_at > ?', NOW, NOW],
    ['an expired lease', 'session_turn_leases WHERE expires_at < ?', NOW],
    ['a compression lock', 'compression_locks JOIN sessions ON id = session_id WHERE expires_at > ?', NOW],
    ['a gateway turn', "gateway_routing WHERE json_extract(entry_json, '$.active_turn_token') <> ''"],
    ['a system prompt', 'sessions JOIN system_prompts ON hash = system_prompt_hash'],
  ] as const)('%s', (_, sql, ...values) => {
    expect(count(sql, ...values)).toBeGreaterThan(0);
  });

  it('one open session at most for each chat', () => {
    expect(
      db
        .prepare('SELECT session_key FROM sessions WHERE session_key IS NOT NULL AND ended_at IS NULL GROUP BY 1 HAVING COUNT(*) > 1')
        .all(),
    ).toEqual([]);
  });
});

describe('ensureDemoHome', () => {
  it('makes the same for the same now, and touches nothing beside its directory', async () => {
    const folder = temporaryFolder();
    const again = join(folder, 'again');
    const started = performance.now();
    expect(await ensureDemoHome(again, NOW)).toEqual({ home: again });
    expect(performance.now() - started).toBeLessThan(2000);
    for (const name of ['state.db', 'profiles/work/state.db']) expect(contentsOf(join(again, name))).toEqual(contentsOf(join(home, name)));
    expect(readdirSync(folder)).toEqual(['again']);
    expect(readdirSync(again).sort()).toEqual([DEMO_MARKER, 'profiles', 'state.db', 'state.db-shm', 'state.db-wal', 'webui']);
  });

  it('leaves a fresh demo alone and makes an old one anew', async () => {
    const place = join(temporaryFolder(), 'demo');
    await ensureDemoHome(place, NOW);
    const { ino } = statSync(join(place, 'state.db'));
    await ensureDemoHome(place, NOW + DAY - 120);
    expect(statSync(join(place, 'state.db')).ino).toBe(ino);
    await ensureDemoHome(place, NOW + DAY + 1);
    expect(statSync(join(place, 'state.db')).ino).not.toBe(ino);
    expect(contentsOf(join(place, 'state.db'))).not.toEqual(contentsOf(join(home, 'state.db')));
  });

  it('makes a demo anew that lost a store, or that was interrupted while it was made', async () => {
    const place = join(temporaryFolder(), 'demo');
    await ensureDemoHome(place, NOW);
    rmSync(join(place, 'profiles'), { recursive: true });
    await ensureDemoHome(place, NOW);
    expect(existsSync(join(place, 'profiles/work/state.db'))).toBe(true);
    writeFileSync(join(place, DEMO_MARKER), '{"state":"being made"}');
    writeFileSync(join(place, 'state.db'), 'half');
    await ensureDemoHome(place, NOW);
    expect(contentsOf(join(place, 'state.db'))).toEqual(contentsOf(join(home, 'state.db')));
  });

  it('refuses a directory whose store is not the demo, and leaves that store as it was', async () => {
    const place = temporaryFolder();
    writeFileSync(join(place, 'state.db'), 'somebody else');
    await expect(ensureDemoHome(place, NOW)).rejects.toMatchObject({ code: 'DEMO_DIRECTORY_IN_USE' });
    expect(readdirSync(place)).toEqual(['state.db']);
    const profiles = join(temporaryFolder(), 'profiles', 'work');
    mkdirSync(profiles, { recursive: true });
    writeFileSync(join(profiles, 'state.db'), 'somebody else');
    await expect(ensureDemoHome(join(profiles, '..', '..'), NOW)).rejects.toMatchObject({ code: 'DEMO_DIRECTORY_IN_USE' });
  });

  it('makes one demo when two start at once', async () => {
    const place = join(temporaryFolder(), 'demo');
    await Promise.all([ensureDemoHome(place, NOW), ensureDemoHome(place, NOW), ensureDemoHome(place, NOW)]);
    expect(contentsOf(join(place, 'state.db'))).toEqual(contentsOf(join(home, 'state.db')));
    expect(existsSync(join(place, 'caduceus-demo.lock'))).toBe(false);
  });
});
