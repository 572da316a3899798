/** The comparison of stores before and after a call, held against what upstream's own calls changed: told whole, and a wrong change told too. */
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { copyStore, goldenDifference } from '../support/golden.ts';
import { decoded, loadMutations, MUTATED_STORES, type MutationCase } from './mutation-cases.ts';
import { changedElsewhere, changes, photograph, type Row } from './store-changes.ts';

const LOADED = Object.fromEntries(MUTATED_STORES.map((store) => [store, loadMutations(store)]));

/** What is different from the golden answer after `write` has run on a fresh copy; null for nothing. */
function difference(
  store: string,
  golden: MutationCase,
  write: (db: Database.Database) => void,
  foreignKeys: 'ON' | 'OFF' = 'ON',
): string | null {
  const path = copyStore(store);
  const before = photograph(path, golden.session_ids);
  const db = new Database(path);
  db.pragma(`foreign_keys = ${foreignKeys}`);
  db.transaction(() => write(db))();
  db.close();
  return goldenDifference(changes(before, photograph(path, golden.session_ids)), golden.after);
}

function caseNamed(store: (typeof MUTATED_STORES)[number], name: string): MutationCase {
  const golden = LOADED[store]?.cases.find((one) => one.name === name);
  if (golden === undefined) throw new Error(`no case ${name} of ${store}`);
  return golden;
}

const set = (row: Row) =>
  Object.keys(row)
    .map((column) => `"${column}" = @${column}`)
    .join(', ');

function insert(db: Database.Database, table: string, row: Row): void {
  const columns = Object.keys(row);
  db.prepare(`INSERT INTO ${table} (${columns.map((column) => `"${column}"`)}) VALUES (${columns.map((column) => `@${column}`)})`).run(row);
}

/** Makes exactly the changes that a golden answer tells of, and rows of no matter which content until the totals are right. */
function apply(db: Database.Database, { after, session_ids }: MutationCase): void {
  for (const id of after.messages.removed) db.prepare('DELETE FROM messages WHERE id = ?').run(id);
  for (const change of after.sessions) {
    if ('changed' in change)
      db.prepare(`UPDATE sessions SET ${set(change.changed)} WHERE id = @key`).run({ ...change.changed, key: change.id });
    else if (change.row === null) db.prepare('DELETE FROM sessions WHERE id = ?').run(change.id);
    else insert(db, 'sessions', change.row);
  }
  for (const row of after.messages.changed) db.prepare(`UPDATE messages SET ${set(row)} WHERE id = @id`).run(row);
  for (const row of after.messages.added) insert(db, 'messages', row);
  for (const [table, total] of Object.entries(after.totals)) makeTotal(db, table, total ?? 0, session_ids);
}

function makeTotal(db: Database.Database, table: string, total: number, named: readonly string[]): void {
  const count = () => db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0;
  while (count() > total) db.prepare(`DELETE FROM ${table} WHERE rowid = (SELECT max(rowid) FROM ${table})`).run();
  while (count() < total) {
    const n = count();
    if (table === 'messages') {
      const ids = db.prepare<[], string>('SELECT id FROM sessions').pluck().all();
      const session = ids.find((id) => !named.includes(id)) ?? null;
      insert(db, table, { session_id: session, role: 'user', content: `filler ${n}`, timestamp: n });
    } else if (table === 'session_model_usage') insert(db, table, { session_id: 'm_long', model: `filler ${n}` });
    else {
      const key = table === 'session_turn_leases' ? 'conversation_id' : 'session_id';
      insert(db, table, { [key]: `filler ${n}`, holder: 'h', acquired_at: 1, expires_at: 2 });
    }
  }
}

describe.each(MUTATED_STORES)('the changes of every case of %s', (store) => {
  it('are told as upstream told them once they are made', () => {
    const differences = (LOADED[store]?.cases ?? []).flatMap((golden) => {
      const found = difference(store, golden, (db) => apply(db, golden), 'OFF');
      return found === null ? [] : [`${golden.name}: ${found}`];
    });
    expect(differences).toEqual([]);
  });

  it('are missed when nothing is done', () => {
    const changing = (LOADED[store]?.cases ?? []).filter(
      ({ after }) => after.sessions.length + after.messages.added.length + Object.keys(after.totals).length > 0,
    );
    expect(changing.length).toBeGreaterThan(3);
    const unnoticed = changing.filter((golden) => difference(store, golden, () => {}) === null);
    expect(unnoticed.map(({ name }) => name)).toEqual([]);
  });
});

describe('writes in plain SQL', () => {
  const REWIND = 'rewind to the third user turn';
  const rewind = (db: Database.Database) => {
    db.exec("UPDATE messages SET active = 0 WHERE session_id = 'm_cli_main' AND active = 1 AND id >= 12");
    db.exec("UPDATE sessions SET rewind_count = rewind_count + 1 WHERE id = 'm_cli_main'");
  };

  it('a rewind is what upstream did', () => {
    expect(difference('basic', caseNamed('basic', REWIND), rewind)).toBeNull();
  });

  it.each([
    ['a row that was not retired', 'UPDATE messages SET active = 1 WHERE id = 26', '15'],
    ['a row that was retired too', 'UPDATE messages SET active = 0 WHERE id = 11', '15'],
    ['another flag of a row', 'UPDATE messages SET compacted = 1 WHERE id = 13', 'compacted'],
    ['a text that became NULL', 'UPDATE messages SET content = NULL WHERE id = 13', 'content'],
    ['a counter', "UPDATE sessions SET rewind_count = 2 WHERE id = 'm_cli_main'", 'rewind_count'],
    ['a column of the session', "UPDATE sessions SET title_source = NULL, source = 'x' WHERE id = 'm_cli_main'", 'source'],
    ['a row of another session', "DELETE FROM messages WHERE session_id = 'm_read'", 'totals.messages'],
    ['a row of a table that no session names', "INSERT INTO state_meta VALUES ('k', 'v')", 'totals.state_meta'],
    ['a table', 'CREATE TABLE ours (a)', 'not in the golden answer'],
    ['a trigger that is gone', 'DROP TRIGGER messages_fts_insert', 'schema'],
    ['an entry that the index lost', "INSERT INTO messages_fts(messages_fts) VALUES ('delete-all')", 'fts_integrity_ok'],
    [
      'an entry that the trigram index lost',
      "INSERT INTO messages_fts_trigram(messages_fts_trigram) VALUES ('delete-all')",
      'fts_integrity_ok',
    ],
  ])('tells %s', (_, sql, where) => {
    const found = difference('basic', caseNamed('basic', REWIND), (db) => {
      rewind(db);
      db.exec(sql);
    });
    expect(found).toContain(where);
  });

  it.each([
    ['messages_fts_update', 'messages', "content = 'other words'", 'm_read'],
    ['messages_fts_trigram_update', 'messages', "tool_name = 'other words'", 'm_read'],
    ['messages_fts_trigram_update', 'structured messages', "content = char(0) || 'json:[]'", 'm_webui_1'],
  ])('tells that %s did not run for %s', (trigger, _, change, session) => {
    const found = difference('basic', caseNamed('basic', REWIND), (db) => {
      rewind(db);
      const sql = db.prepare<[string], string>('SELECT sql FROM sqlite_master WHERE name = ?').pluck().get(trigger) ?? '';
      db.exec(`DROP TRIGGER ${trigger}; UPDATE messages SET ${change} WHERE session_id = '${session}'; ${sql}`);
    });
    expect(found).toBe('$.fts_integrity_ok: false instead of true');
  });

  it('takes no fault that SQLite finds with a store as it came for one of the change', () => {
    const path = copyStore('basic');
    const before = photograph(path, []);
    expect([...(before.unsound.get('messages_fts_trigram') ?? [])]).toEqual([41, 43, 50]);
    expect(changes(before, before).fts_integrity_ok).toBe(true);
  });

  it('a pin of a whole lineage is what upstream did, and a session left out is told', () => {
    const golden = caseNamed('lineage', 'set_session_pinned on m_A3');
    const pin = (ids: string) => (db: Database.Database) => db.exec(`UPDATE sessions SET pinned = 1 WHERE id IN (${ids})`);
    expect(difference('lineage', golden, pin("'m_A0','m_A1','m_A2','m_A3','m_A4','m_A5'"))).toBeNull();
    expect(difference('lineage', golden, pin("'m_A0','m_A1','m_A2','m_A3','m_A4'"))).toContain('sessions');
    expect(difference('lineage', golden, pin("'m_A0','m_A1','m_A2','m_A3','m_A4','m_A5','m_A2_branch'"))).toContain('sessions');
  });

  it('a deletion is what upstream did, with the prompts and the usage that go along', () => {
    const golden = caseNamed('basic', 'delete session');
    const remove = (db: Database.Database) => {
      db.exec("DELETE FROM messages WHERE session_id = 'm_cli_main'; DELETE FROM sessions WHERE id = 'm_cli_main'");
    };
    const prompts =
      'DELETE FROM system_prompts WHERE hash NOT IN (SELECT system_prompt_hash FROM sessions WHERE system_prompt_hash NOT NULL)';
    const whole = (db: Database.Database) => {
      remove(db);
      db.exec(prompts);
    };
    expect(difference('basic', golden, whole)).toBeNull();
    expect(difference('basic', golden, remove)).toContain('system_prompts');
  });

  it('a batch of new rows is what upstream did, to the last digit of the clock', () => {
    const golden = caseNamed('basic', 'append batch');
    const append = (second: number) => (db: Database.Database) => {
      const row = db.prepare(
        "INSERT INTO messages (session_id, role, content, tool_calls, tool_call_id, timestamp) VALUES ('m_long', ?, ?, ?, ?, ?)",
      );
      row.run('user', 'one', null, null, 1780010131.875);
      row.run('assistant', 'two', '[{"id": "a"}, {"id": "b"}]', null, second);
      row.run('tool', 'three', null, 'a', 1780010131.875002);
      db.exec("UPDATE sessions SET message_count = message_count + 3, tool_call_count = tool_call_count + 2 WHERE id = 'm_long'");
    };
    expect(difference('basic', golden, append(1780010131.875001))).toBeNull();
    expect(difference('basic', golden, append(1780010131.875))).toContain('added[1].timestamp');
  });
});

describe('changes of sessions that are not named', () => {
  it('are told by id, for the row and for its messages', () => {
    const path = copyStore('basic');
    const before = photograph(path, ['m_long']);
    const db = new Database(path);
    db.exec("UPDATE sessions SET pinned = 1 WHERE id IN ('m_long', 'm_read'); UPDATE messages SET observed = 1 WHERE id = 1");
    db.close();
    expect(changedElsewhere(before, photograph(path, ['m_long']))).toEqual(['m_cli_main', 'm_read']);
    expect(changedElsewhere(before, before)).toEqual([]);
  });
});

describe('the cases of a file', () => {
  it('give the arguments as upstream got them', () => {
    const step = caseNamed('basic', 'append batch').steps[0];
    expect(JSON.stringify(step?.args)).not.toContain('_row_id');
    expect(step?.stampedIds).toEqual([174, 175, 176]);
    expect(decoded([{ $bytes: 'ff00' }, { $int: '9007199254740993' }, { $float: '-inf' }, { a: 1.5 }])).toEqual([
      Uint8Array.of(255, 0),
      9007199254740993n,
      Number.NEGATIVE_INFINITY,
      { a: 1.5 },
    ]);
    expect(() => decoded([{ $random: 'hex32' }])).toThrow('$random');
  });

  it('accept any value of the right form where upstream drew one', () => {
    const expected = { added: [{ id: 1, message_uid: { $random: 'hex32' } }] };
    expect(goldenDifference({ added: [{ id: 1, message_uid: 'a0'.repeat(16) }] }, expected)).toBeNull();
    expect(goldenDifference({ added: [{ id: 1, message_uid: 'A0'.repeat(16) }] }, expected)).toContain('message_uid');
    expect(goldenDifference({ added: [{ id: 1 }] }, expected)).toContain('message_uid');
  });
});
