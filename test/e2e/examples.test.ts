/** The programs in examples/, each as a process of its own against the command. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { printedAddress } from '../support/graphiql.ts';
import { eventually, runCommand, runProgram, startTestServer, type TestServer } from '../support/server.ts';
import { buildStore, M, S, temporaryFolder } from '../support/stores.ts';
import { subscribers } from '../support/subscribers.ts';
import { startWriter } from '../support/writer.ts';

const example = (name: string, args: readonly string[]) =>
  runProgram(fileURLToPath(new URL(`../../examples/${name}.ts`, import.meta.url)), args);

/** Runs an example to its end. */
async function ended(name: string, args: readonly string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const { child, stdout, stderr } = example(name, args);
  const [code] = (await once(child, 'close')) as unknown[];
  return { code, stdout: stdout(), stderr: stderr() };
}

const ROWS = [
  S('tea', { title: 'Tea \u001b[2J in the garden', started_at: 1_780_000_000 }),
  M('tea', { content: 'Which tea grows here?', timestamp: 1_780_000_060 }),
  S('bread', { title: 'Bread for Sunday', source: 'telegram', started_at: 1_770_000_000 }),
  M('bread', { content: 'How long does the dough rest?', timestamp: 1_770_000_060 }),
];

describe('list-sessions', () => {
  let server: TestServer;
  beforeAll(async () => {
    const many = Array.from({ length: 120 }, (_, index) => [S(`s${index}`, { title: `Session ${index}` }), M(`s${index}`)]);
    server = await startTestServer({ rows: [...ROWS, ...many.flat()] });
  });

  it('prints every conversation, with nothing in it that moves the cursor of a terminal', async () => {
    const { code, stdout, stderr } = await ended('list-sessions', [printedAddress(server)]);
    expect([code, stderr]).toEqual([0, '']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.slice(0, 3)).toEqual([
      'LAST ACTIVE, UTC  SOURCE        MESSAGES    TITLE',
      '2026-05-28 20:27  CLI                  1    Tea [2J in the garden',
      '2026-02-02 02:41  Telegram             1    Bread for Sunday',
    ]);
    expect(lines.length).toBe(1 + 122 + 1);
    expect(lines.at(-1)).toMatch(/^122 conversations/);
    expect(stdout.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });

  it('takes an address and a token, or a ready file', async () => {
    const byParts = await ended('list-sessions', [server.url, server.token]);
    expect(byParts).toMatchObject({ code: 0, stdout: expect.stringContaining('Bread for Sunday') });
    const readyFile = join(temporaryFolder(), 'ready.json');
    const { home } = server;
    const args = ['serve', '--home', home, '--port', '0', '--state-dir', temporaryFolder(), '--ready-file', readyFile];
    const { child } = runCommand(args);
    await eventually(() => existsSync(readyFile), 20_000);
    expect(await ended('list-sessions', [readyFile])).toEqual(byParts);
    child.kill();
    await once(child, 'exit');
  });

  it('says in a sentence what is wrong with its arguments, the token or the address', async () => {
    expect(await ended('list-sessions', [])).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Give the address [^\n]+\n$/) });
    const wrong = await ended('list-sessions', [server.url, 'not-the-token-of-this']);
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Send the token [^\n]+\n$/) });
    const nowhere = await ended('list-sessions', ['http://127.0.0.1:1/#token=x']);
    expect(nowhere).toMatchObject({ code: 1, stderr: 'There is no server at http://127.0.0.1:1/graphql.\n' });
  });
});

describe('follow-sessions', () => {
  it('shows what others write, also while the server was gone', async () => {
    const path = buildStore({ rows: ROWS });
    const home = join(path, '..');
    const first = await startTestServer({ home });
    const { child, stdout, stderr } = example('follow-sessions', [printedAddress(first)]);
    const shows = (line: RegExp) => eventually(() => line.test(stdout()), 15_000);
    const isFollowed = async (server: TestServer) => {
      await eventually(() => stderr().endsWith(`Connected to ${first.graphql}.\n`), 15_000);
      while ((await subscribers(server)) === 0);
    };
    await isFollowed(first);
    const writer = await startWriter(path);
    const rename = (title: string) => writer.exec("UPDATE sessions SET title = ? WHERE id = 'tea'", [title]);
    await rename('Renamed');
    await shows(/^\d\d:\d\d:\d\d {2}UPDATED {3}tea {2}Renamed \(1 messages\)$/m);

    await first.stop('SIGKILL');
    await rename('Written while nobody served');
    await writer.exec("DELETE FROM messages WHERE session_id = 'bread'");
    await writer.exec("DELETE FROM sessions WHERE id = 'bread'");
    await eventually(() => stderr().includes('The connection is lost; trying again.\n'));
    const second = await startTestServer({ home, settings: { port: new URL(first.url).port } });
    await shows(/ tea {2}Written while nobody served \(1 messages\)$/m);
    await shows(/ {2}DELETED {3}bread {2}is gone$/m);

    await isFollowed(second);
    await writer.transaction([
      "INSERT INTO sessions (id, source, started_at, title) VALUES ('new', 'cli', 1780000500, 'A new one')",
      "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('new', 'user', 'hello', 1780000501)",
    ]);
    await shows(/ {2}ADDED {5}new {2}A new one \(1 messages\)/m);
    // Each change once: what stayed as it was is not shown again after the restart.
    expect(stdout().trimEnd().split('\n').length).toBe(4);
    await writer.close();
    child.kill();
    await once(child, 'exit');
  });

  it('ends with a sentence when the token is wrong', async () => {
    const server = await startTestServer();
    const { code, stdout, stderr } = await ended('follow-sessions', [server.url, 'not-the-token-of-this']);
    expect([code, stdout, stderr]).toEqual([1, '', 'That is not the token of this server.\n']);
  });
});
