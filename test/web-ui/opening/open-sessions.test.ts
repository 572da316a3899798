/** Transcripts are put together once for each version of their file and of their rows. */
import { rmSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ClaudeCodeCatalogue } from '../../../src/claude-code/transcript-catalogue.ts';
import type { StateDbStore } from '../../../src/state-db/store.ts';
import { type OpenKey, OpenSessions } from '../../../src/web-ui/open-sessions.ts';
import type { OpenedSession } from '../../../src/web-ui/transcript/opened-session.ts';
import { openStore } from '../../support/open-store.ts';
import { newSessionsDir, saveSidecar, sidecarPath, sidecarText } from '../../support/sidecars.ts';
import { buildStore, M, S } from '../../support/stores.ts';

let sessionsDir: string;
let path: string;
let store: StateDbStore;
let sessions: OpenSessions;

const said = (...texts: string[]) => texts.map((content, index) => ({ role: 'user', content, timestamp: 100 + index }));
const put = (id: string, ...texts: string[]) => saveSidecar(sessionsDir, id, sidecarText(id, {}, said(...texts)));
const key = (id: string, more: Partial<OpenKey> = {}): OpenKey => ({
  kind: 'FILE',
  sessionIds: [id],
  isInStore: true,
  view: 'DISPLAY',
  ...more,
});

beforeEach(() => {
  sessionsDir = newSessionsDir();
  path = buildStore({ rows: [S('a'), S('b'), M('a', { content: 'one', timestamp: 100 })] });
  store = openStore(path);
  sessions = new OpenSessions({ sessionsDir, claude: {} as ClaudeCodeCatalogue }, 0);
  put('a', 'one', 'two');
});

function write(sql: string): void {
  const db = new Database(path);
  db.exec(sql);
  db.close();
}

async function open(...keys: OpenKey[]): Promise<OpenedSession[]> {
  const answers = await sessions.open(store, keys);
  return answers.map((answer) => {
    if (answer instanceof Error) throw answer;
    return answer;
  });
}

const texts = (opened: OpenedSession | undefined) => opened?.messages.map(({ content }) => content);

describe('an opened session', () => {
  it('is kept while neither its file nor its rows change', async () => {
    const [first] = await open(key('a'));
    expect(texts(first)).toEqual(['one', 'two']);
    expect((await open(key('a')))[0]).toBe(first);
    // Another session of the store: the rows are looked at, and are the same.
    write("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('b', 'user', 'elsewhere', 1)");
    expect((await open(key('a')))[0]).toBe(first);
    expect(sessions.merges).toBe(1);
    write("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', 'three', 200)");
    expect(texts((await open(key('a')))[0])).toEqual(['one', 'two', 'three']);
    put('a', 'one', 'two', 'two and a half');
    expect(texts((await open(key('a')))[0])).toEqual(['one', 'two', 'two and a half', 'three']);
    expect(sessions.merges).toBe(3);
  });

  it('is what the store has while its file is damaged or gone, and itself again afterwards', async () => {
    writeFileSync(sidecarPath(sessionsDir, 'a'), '[1, 2');
    const [damaged] = await open(key('a'));
    expect([texts(damaged), damaged?.warnings.map(({ code }) => code)]).toEqual([['one'], ['SIDECAR_CORRUPT']]);
    const merges = sessions.merges;
    await open(key('a'));
    expect(sessions.merges).toBe(merges);
    rmSync(sidecarPath(sessionsDir, 'a'));
    expect((await open(key('a')))[0]?.warnings.map(({ code }) => code)).toEqual(['SIDECAR_GONE']);
    expect((await open(key('a', { view: 'CONTEXT' })))[0]?.warnings.map(({ code }) => code)).toEqual(['SIDECAR_GONE']);
    const [gone] = await sessions.open(store, [key('a', { isInStore: false })]);
    expect(gone).toMatchObject({ code: 'SIDECAR_UNREADABLE' });
    put('a', 'one', 'back');
    expect((await open(key('a')))[0]).toMatchObject({ source: 'MERGED', warnings: [] });
  });

  it('comes beside others in one job, whatever becomes of them', async () => {
    writeFileSync(sidecarPath(sessionsDir, 'c'), 'no');
    put('b', 'only here');
    const answers = await sessions.open(store, [
      key('a'),
      key('c', { isInStore: false }),
      key('b', { view: 'REPLAY' }),
      key('a', { kind: 'ROWS' }),
      key('a', { view: 'CONTEXT' }),
      key('x', { kind: 'ROWS', sessionIds: ['a', 'b'], view: 'CONTEXT' }),
    ]);
    expect(answers.map((answer) => (answer instanceof Error ? (answer as { code?: unknown }).code : texts(answer)))).toEqual([
      ['one', 'two'],
      'SIDECAR_CORRUPT',
      ['only here'],
      ['one'],
      ['one', 'two'],
      ['one'],
    ]);
  });

  it('is forgotten when larger ones take its place', async () => {
    const large = 'x'.repeat(1_000_000);
    await open(key('a'));
    for (let index = 0; index < 40; index += 1) {
      put(`large-${index}`, large, `${large}${index}`);
      await open(key(`large-${index}`, { isInStore: false }));
    }
    const before = sessions.merges;
    await open(key('large-39', { isInStore: false }));
    expect(sessions.merges).toBe(before);
    await open(key('a'));
    expect(sessions.merges).toBe(before + 1);
  });

  it('of Claude Code is put together once for each version, and says when it was cut', async () => {
    const messages = Array.from({ length: 1000 }, (_, index) => ({ role: 'user' as const, content: `line ${index}`, timestamp: index }));
    let read: readonly (typeof messages)[number][] = messages;
    const claude = { transcript: async () => ({ messages: read }) } as unknown as ClaudeCodeCatalogue;
    sessions = new OpenSessions({ sessionsDir, claude }, 0);
    const claudeKey = key('claude_code_0', { kind: 'CLAUDE_CODE', isInStore: false });
    const [first] = await open(claudeKey);
    expect(first).toMatchObject({ source: 'CLAUDE_CODE', warnings: [{ code: 'TRANSCRIPT_CUT' }] });
    expect((await open(claudeKey))[0]).toBe(first);
    read = messages.slice(0, 5);
    const [second] = await open(claudeKey);
    expect(second).toMatchObject({ warnings: [] });
    expect(second?.revision).not.toBe(first?.revision);
    const gone = { transcript: async () => null } as unknown as ClaudeCodeCatalogue;
    expect(await new OpenSessions({ sessionsDir, claude: gone }, 0).open(store, [claudeKey])).toMatchObject([{ code: 'TRANSCRIPT_GONE' }]);
  });
});
