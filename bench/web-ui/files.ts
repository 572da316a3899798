/** The Web UI's folder that is measured: thousands of session files as their owner writes them, some of 10 MB. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';

export interface FilesPlan {
  readonly files: number;
  /** Of these, as many are of about `largeBytes`. */
  readonly large: number;
  readonly largeBytes: number;
  /** Messages of the session that is opened. */
  readonly opened: number;
}

export const OPENED = 'bench_opened';
export const RENAMED = 'bench_renamed';
export const LARGE = 'bench_large_0';
const STARTED = 1_780_000_000;
const TEXT = 'Where the kettle is, nobody knows; the tea is on the second shelf, behind the sugar. '.repeat(2).trim();
const SMALL_MESSAGES = 12;
const USED_TOGETHER = 0.2;

/** Writes the files into a folder that is made for it; every fifth one is of a session that the store has too. */
export function writeFiles(webUiDir: string, storePath: string, { files, large, largeBytes, opened }: FilesPlan): void {
  const sessionsDir = join(webUiDir, 'sessions');
  mkdirSync(sessionsDir, { recursive: true });
  const shared = sharedIds(storePath, Math.floor(files * USED_TOGETHER));
  const write = (id: string, count: number, at: number, text = TEXT) =>
    writeFileSync(join(sessionsDir, `${id}.json`), fileOf(id, count, at, text));
  for (let index = 0; index < files - large - 2; index++)
    write(shared[index] ?? `bench_file_${index}`, SMALL_MESSAGES, STARTED + index * 60);
  const longText = TEXT.repeat(60);
  for (let index = 0; index < large; index++)
    write(`bench_large_${index}`, Math.ceil(largeBytes / (longText.length + 100)), STARTED + index, longText);
  write(RENAMED, SMALL_MESSAGES, STARTED);
  write(OPENED, opened, STARTED);
  addOpened(storePath, opened);
}

function fileOf(id: string, count: number, at: number, text: string): string {
  const messages = Array.from({ length: count }, (_, index) => message(index, at, text));
  return JSON.stringify(
    {
      session_id: id,
      title: `Conversation ${id}`,
      workspace: '/srv/work',
      model: 'a-model',
      created_at: at,
      updated_at: at + count,
      pinned: false,
      archived: false,
      project_id: null,
      profile: null,
      parent_session_id: null,
      message_count: count,
      anchor_scene_index: {},
      messages,
      tool_calls: [],
      context_messages: [],
    },
    null,
    2,
  );
}

function message(index: number, at: number, text: string) {
  return { role: index % 2 === 0 ? 'user' : 'assistant', content: `${index}: ${text}`, timestamp: at + index };
}

function sharedIds(storePath: string, count: number): string[] {
  const db = new Database(storePath, { readonly: true });
  const ids = db.prepare<[number], { id: string }>('SELECT id FROM sessions ORDER BY id LIMIT ?').all(count);
  db.close();
  return ids.map(({ id }) => id);
}

/** The session that is opened has the same messages in the store, and some that only the store has. */
function addOpened(storePath: string, count: number): void {
  const db = new Database(storePath);
  const insert = db.prepare('INSERT INTO messages (session_id, role, content, timestamp, observed, active) VALUES (?, ?, ?, ?, 0, 1)');
  db.transaction(() => {
    db.prepare("INSERT OR REPLACE INTO sessions (id, source, started_at, message_count) VALUES (?, 'webui', ?, ?)").run(
      OPENED,
      STARTED,
      count + 20,
    );
    for (let index = 0; index < count + 20; index++) {
      const { role, content, timestamp } = message(index, STARTED, TEXT);
      insert.run(OPENED, role, content, timestamp);
    }
  })();
  db.close();
}
