import { createHash } from 'node:crypto';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { claudeListRow } from '../../src/claude-code/claude-list-row.ts';
import { claudeProjectsRoot, scanProjects } from '../../src/claude-code/project-folders.ts';
import { ClaudeCodeCatalogue } from '../../src/claude-code/transcript-catalogue.ts';
import { timeOf } from '../../src/claude-code/transcript-lines.ts';
import { composeList } from '../../src/web-ui/list/compose-list.ts';
import { temporaryFolder } from '../support/stores.ts';
import { listInputs, listRequest } from '../support/web-ui-rows.ts';

const MODIFIED = 1_750_000_000;
let root: string;

beforeEach(() => {
  root = join(temporaryFolder(), 'projects');
  mkdirSync(root);
});

function put(path: string, lines: readonly unknown[], modifiedAt = MODIFIED): string {
  const full = join(root, path);
  mkdirSync(join(full, '..'), { recursive: true });
  writeFileSync(full, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));
  utimesSync(full, modifiedAt, modifiedAt);
  return full;
}

async function only(lines: readonly unknown[]) {
  const path = put('p/one.jsonl', lines);
  const catalogue = new ClaudeCodeCatalogue(root);
  const [row] = await catalogue.rows();
  const transcript = row === undefined ? null : await catalogue.transcript(row.id);
  return { path, row, messages: transcript?.messages ?? [] };
}

const hi = { type: 'user', message: { role: 'user', content: 'hi' }, timestamp: '2026-08-01T10:00:00Z' };

describe('a transcript', () => {
  it('T58: has the title of its summary, and the text of texts and tool results without thinking', async () => {
    const { row, messages } = await only([
      { type: 'summary', summary: '  A \n title  ' },
      {
        type: 'user',
        message: {
          role: 'user',
          content: [
            { type: 'text', text: 'hi' },
            { type: 'tool_result', content: 'res' },
          ],
        },
      },
      {
        type: 'assistant',
        message: {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm' },
            { type: 'text', text: 'yo' },
          ],
        },
      },
    ]);
    expect(row).toMatchObject({ title: 'A title', messageCount: 2 });
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'hi\nres'],
      ['assistant', 'yo'],
    ]);
  });

  it('T59: survives bad lines and lines that are lists, and takes its title from the first words of the user', async () => {
    const { row, messages } = await only([
      { type: 'human', content: 'first   words' },
      '{bad',
      [1, 2],
      { role: 'assistant', content: 'ok' },
    ]);
    expect(row).toMatchObject({ title: 'first words', messageCount: 2 });
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });

  it('T60: may hold its messages in one list; a title is cut at 80 code points', async () => {
    const { row } = await only([
      {
        title: '😀'.repeat(100),
        messages: [
          { role: 'user', content: 'a' },
          { role: 'assistant', content: 'b' },
        ],
      },
    ]);
    expect(row?.messageCount).toBe(2);
    expect(row?.title).toBe('😀'.repeat(80));
  });

  it('T61, T78: of the system alone has a plain title and the time of its file, and the list hides it', async () => {
    const { row } = await only([{ type: 'system', content: 'boot' }]);
    expect(row).toMatchObject({ title: 'Claude Code Session', createdAt: MODIFIED, lastMessageAt: MODIFIED });
    const listed = row === undefined ? [] : [claudeListRow(row, null)];
    const list = composeList(listInputs({ claude: listed }), listRequest());
    expect(list.rows.map(({ visibility }) => visibility.state)).toEqual(['CLI_HIDDEN']);
  });

  it('T63: with the time 0 has the time of its file', async () => {
    const { row } = await only([{ type: 'user', content: 'x', timestamp: 0 }]);
    expect(row).toMatchObject({ createdAt: MODIFIED, updatedAt: MODIFIED });
  });

  it('has an id from its path, and another once it is moved', async () => {
    const { path, row } = await only([hi]);
    expect(row?.id).toBe(`claude_code_${createHash('sha256').update(path).digest('hex').slice(0, 24)}`);
    renameSync(path, join(root, 'p', 'two.jsonl'));
    const [moved] = await new ClaudeCodeCatalogue(root).rows();
    expect(moved?.id).not.toBe(row?.id);
  });

  it('keeps at most 1,000 messages and 200,000 characters of each', async () => {
    const { row, messages } = await only([{ role: 'user', content: 'x'.repeat(300_000) }, ...Array.from({ length: 1200 }, () => hi)]);
    expect(row?.messageCount).toBe(1000);
    expect(messages[0]?.content.length).toBe(200_000);
  });

  it('without a message gives no row, and one that is not UTF-8 is read with replacements', async () => {
    put('p/empty.jsonl', [{ type: 'summary', summary: 'x' }]);
    writeFileSync(
      join(root, 'p', 'bytes.jsonl'),
      Buffer.concat([Buffer.from('{"role":"user","content":"'), Buffer.from([0xff]), Buffer.from('"}')]),
    );
    const rows = await new ClaudeCodeCatalogue(root).rows();
    expect(rows.map(({ title }) => title)).toEqual(['�']);
  });

  it.each([
    [5, 5],
    ['5.5', 5.5],
    ['2026-08-01T10:00:00Z', 1785578400],
    ['2026-08-01T10:00:00.5+02:00', 1785571200.5],
    ['2026-08-01', new Date(2026, 7, 1).getTime() / 1000],
    ['2026-08-01 10:00', new Date(2026, 7, 1, 10).getTime() / 1000],
    ['NaN', null],
    ['soon', null],
    [Number.NaN, null],
    [Number.POSITIVE_INFINITY, null],
    [true, null],
    [{}, null],
  ])('reads the time %j as %j', (value, expected) => expect(timeOf(value)).toBe(expected));
});

describe('the folder of projects', () => {
  it('T62: lists one level of projects only, no links and no files over 10 MiB', async () => {
    put('root.jsonl', [hi]);
    put('p/deeper/nested.jsonl', [hi]);
    put('p/good.JSONL', [hi]);
    put('p/big.jsonl', [hi]);
    truncateSync(join(root, 'p', 'big.jsonl'), 11 * 1024 * 1024);
    symlinkSync(join(root, 'p'), join(root, 'linked'));
    symlinkSync(join(root, 'root.jsonl'), join(root, 'p', 'link.jsonl'));
    mkdirSync(join(root, 'p', 'folder.jsonl'));
    const scan = await scanProjects(root);
    expect(scan.files.map(({ path }) => path)).toEqual([join(root, 'p', 'good.JSONL')]);
    expect(scan.tooLarge).toBe(1);
    symlinkSync(root, `${root}-link`);
    expect((await scanProjects(`${root}-link`)).files).toEqual([]);
    expect((await scanProjects(join(root, 'absent'))).files).toEqual([]);
  });

  it('takes the newest files under the cap, whichever project they are in', async () => {
    put('a/old.jsonl', [hi], 100);
    put('a/older.jsonl', [hi], 50);
    put('z/new.jsonl', [hi], 200);
    const scan = await scanProjects(root, 2);
    expect(scan.files.map(({ path }) => path.slice(root.length))).toEqual(['/z/new.jsonl', '/a/old.jsonl']);
    expect(scan.beyondCap).toBe(1);
  });

  it('is named by the environment, and off in tests of others', () => {
    expect(claudeProjectsRoot({}, '/h')).toBe('/h/.claude/projects');
    expect(claudeProjectsRoot({ HERMES_WEBUI_TEST_STATE_DIR: '/t' }, '/h')).toBeNull();
    expect(claudeProjectsRoot({ HERMES_WEBUI_TEST_STATE_DIR: '/t', HERMES_WEBUI_CLAUDE_PROJECTS_DIR: '~/c' }, '/h')).toBe('/h/c');
  });
});

describe('the catalogue', () => {
  it('parses a file once for each of its versions, and gives the same rows while nothing changed', async () => {
    const path = put('p/one.jsonl', [hi]);
    put('p/two.jsonl', [hi]);
    const catalogue = new ClaudeCodeCatalogue(root);
    const before = await catalogue.rows();
    expect(await catalogue.rows()).toBe(before);
    for (const { id } of before) await catalogue.transcript(id);
    expect(catalogue.parsed).toBe(2);
    appendFileSync(path, `\n${JSON.stringify(hi)}`);
    const after = await catalogue.rows();
    expect(catalogue.parsed).toBe(3);
    expect(after.map(({ messageCount }) => messageCount).sort()).toEqual([1, 2]);
  });

  it('finds nothing under ids that are not its own, without looking', async () => {
    const catalogue = new ClaudeCodeCatalogue(root);
    expect(await catalogue.transcript('../etc/passwd')).toBeNull();
    expect(await catalogue.transcript('claude_code_000000000000000000000000')).toBeNull();
  });

  it('tells of files that came, grew and went', async () => {
    put('p/one.jsonl', [hi]);
    const catalogue = new ClaudeCodeCatalogue(root, { sweepMs: 50, settleMs: 5 });
    const told = vi.fn();
    const stop = catalogue.onChange(told);
    await vi.waitFor(() => expect(told).toHaveBeenCalledTimes(1));
    const added = put('new/two.jsonl', [hi]);
    await vi.waitFor(() => expect(told).toHaveBeenCalledTimes(2));
    appendFileSync(added, `\n${JSON.stringify(hi)}`);
    await vi.waitFor(() => expect(told.mock.calls.length).toBeGreaterThan(2));
    const calls = told.mock.calls.length;
    renameSync(added, `${added}.gone`);
    await vi.waitFor(() => expect(told.mock.calls.length).toBeGreaterThan(calls));
    expect(await catalogue.rows()).toHaveLength(1);
    stop();
    const quiet = told.mock.calls.length;
    put('p/three.jsonl', [hi]);
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(told).toHaveBeenCalledTimes(quiet);
  });

  it('lets others come to their turn while it reads large files', async () => {
    const line = JSON.stringify({ type: 'progress', data: 'x'.repeat(2000) });
    for (const name of ['a', 'b', 'c']) put(`p/${name}.jsonl`, [hi, ...Array.from({ length: 4800 }, () => line)]);
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    expect(await new ClaudeCodeCatalogue(root).rows()).toHaveLength(3);
    delay.disable();
    expect(delay.max / 1e6).toBeLessThan(100);
  });

  it('T75: changes nothing in the folder', async () => {
    put('p/one.jsonl', [hi]);
    const state = () => ['', 'p', 'p/one.jsonl'].map((name) => [name, statSync(join(root, name)).mtimeMs, statSync(join(root, name)).size]);
    const before = state();
    const catalogue = new ClaudeCodeCatalogue(root);
    for (const { id } of await catalogue.rows()) await catalogue.transcript(id);
    expect(state()).toEqual(before);
    expect(readdirSync(root)).toEqual(['p']);
  });

  it('T64: is listed for the root profile only', async () => {
    put('p/one.jsonl', [hi]);
    const claude = (await new ClaudeCodeCatalogue(root).rows()).map((row) => claudeListRow(row, '/w'));
    const states = (profile: string) =>
      composeList(listInputs({ claude }), listRequest({ profile })).rows.map((row) => row.visibility.state);
    expect(states('default')).toEqual(['VISIBLE']);
    expect(states('work')).toEqual(['OTHER_PROFILE']);
  });
});
