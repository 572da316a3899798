/** Titles and flags (`spec/state-db-writes.md` F7 to F10). */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { TitleSource } from '../../../src/state-db/write/session-title.ts';
import { logArchive } from '../../../src/writing/session-files.ts';
import { commandHost, type TestHost } from '../../support/command-host.ts';
import { buildStore, type Row, S, type SchemaVersion } from '../../support/stores.ts';

let host: TestHost;
afterEach(() => host.close());

function open(rows: readonly Row[], schema: SchemaVersion = 31): TestHost {
  host = commandHost(buildStore({ schema, rows }));
  return host;
}
const column = (name: string) =>
  Object.fromEntries(host.rows(`SELECT id, ${name} AS v FROM sessions ORDER BY id`).map(({ id, v }) => [id, v]));
const title = (sessionId: string, text: string | null, source: TitleSource = 'user', expected: { title: string | null } | null = null) =>
  host.run('setSessionTitle', { sessionId, title: text, source, expected });
const archive = (sessionId: string, more: { archived?: boolean; expectedCascade?: string[] } = {}, dryRun = false) =>
  host.run('setSessionArchived', { sessionId, archived: true, expectedCascade: null, ...more }, { dryRun });
const flags = (sessionId: string, more: { pinned?: boolean; hidden?: boolean; read?: boolean }) =>
  host.run('setSessionFlags', { sessionId, pinned: null, hidden: null, read: null, ...more });
const CHAIN = [
  S('a', { ended_at: 150, end_reason: 'compression' }),
  S('b', { parent_session_id: 'a', ended_at: 160, end_reason: 'compression' }),
  S('c', { parent_session_id: 'b' }),
];

describe('a title', () => {
  it('T129: of another session is refused, with that session', async () => {
    open([S('s'), S('t', { title: 'Tea' })]);
    await expect(title('s', 'Tea')).rejects.toMatchObject({ code: 'TITLE_IN_USE', details: { sessionId: 't' } });
    expect(column('title')).toEqual({ s: null, t: 'Tea' });
  });

  it('T130: of an earlier segment is handed on', async () => {
    open([...CHAIN, S('branch', { parent_session_id: 'a', model_config: '{"_branched_from":"a"}' })]);
    await title('a', 'Tea');
    await expect(title('branch', 'Tea')).rejects.toMatchObject({ code: 'TITLE_IN_USE' });
    expect(await title('c', 'Tea')).toEqual({ sessionId: 'c', title: 'Tea', changed: true, transferredFrom: 'a' });
    expect(column('title')).toEqual({ a: null, b: null, branch: null, c: 'Tea' });
  });

  it('T131: that is automatic never replaces that of a person', async () => {
    open([S('s', { title: 'Mine', title_source: null })]);
    expect(await title('s', 'Yours', 'llm')).toMatchObject({ changed: false, title: 'Mine' });
    expect(column('title')).toEqual({ s: 'Mine' });
  });

  it('that is automatic replaces only one of a lower rank', async () => {
    open([S('s')]);
    expect(await title('s', 'One', 'derived')).toMatchObject({ changed: true });
    expect(await title('s', 'Two', 'derived')).toMatchObject({ changed: false });
    expect(await title('s', 'Three', 'llm')).toMatchObject({ changed: true });
    expect(await title('s', 'Four', 'llm')).toMatchObject({ changed: false });
    expect(column('title_source')).toEqual({ s: 'llm' });
  });

  it('T132: has at most 100 characters, counted as a person counts', async () => {
    open([S('s')]);
    expect(await title('s', '😀'.repeat(100))).toMatchObject({ title: '😀'.repeat(100) });
    await expect(title('s', '😀'.repeat(101))).rejects.toMatchObject({ code: 'TITLE_TOO_LONG' });
  });

  it('T133: of which nothing is left is cleared, with its source', async () => {
    open([S('s', { title: 'Tea', title_source: 'user' })]);
    expect(await title('s', ' \u200b ')).toMatchObject({ title: null, changed: true });
    expect(column('title')).toEqual({ s: null });
    expect(column('title_source')).toEqual({ s: null });
  });

  it('of the hidden chat of a bot stays', async () => {
    open([S('s', { title: 'Bot Chat', hidden: 1 })]);
    await expect(title('s', 'Tea')).rejects.toMatchObject({ code: 'TITLE_PROTECTED' });
    expect(await title('s', 'Tea', 'llm')).toMatchObject({ changed: false });
    expect(column('title')).toEqual({ s: 'Bot Chat' });
  });

  it('Bot Chat is taken from an archived and hidden session, and from no other', async () => {
    open([S('old', { title: 'Bot Chat', title_source: 'user', archived: 1, hidden: 1 }), S('new'), S('newer')]);
    await title('new', 'Bot Chat');
    expect(column('title')).toEqual({ new: 'Bot Chat', newer: null, old: null });
    await expect(title('newer', 'Bot Chat')).rejects.toMatchObject({ code: 'TITLE_IN_USE', details: { sessionId: 'new' } });
  });

  it('is not set over one that changed since it was read', async () => {
    open([S('s', { title: 'Tea' })]);
    await expect(title('s', 'Rum', 'user', { title: null })).rejects.toMatchObject({ code: 'CONFLICT', details: { title: 'Tea' } });
    expect(await title('s', 'Rum', 'user', { title: 'Tea' })).toMatchObject({ changed: true });
  });

  it('is set in stores that keep no source', async () => {
    open([S('s')], 6);
    expect(await title('s', 'Tea')).toMatchObject({ changed: true });
    expect(column('title')).toEqual({ s: 'Tea' });
  });
});

describe('an archive', () => {
  const log = () => readFileSync(join(host.home, 'logs', 'archives.jsonl'), 'utf8');

  it('T134: takes the earlier segments along, as its preview said, and leaves one line', async () => {
    open(CHAIN);
    const preview = await archive('c', {}, true);
    expect([...preview.sessionIds].sort()).toEqual(['a', 'b', 'c']);
    expect(column('archived')).toEqual({ a: 0, b: 0, c: 0 });
    expect(existsSync(join(host.home, 'logs'))).toBe(false);
    const done = await archive('c', { expectedCascade: [...preview.sessionIds] });
    expect(column('archived')).toEqual({ a: 1, b: 1, c: 1 });
    logArchive(host, done);
    const lines = log()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(lines).toEqual([
      { ts: 1000, trigger: 'api', target: 'c', archived: true, cascade_count: 3, affected_ids: [...preview.sessionIds] },
    ]);
  });

  it('is refused when others follow than those that were expected', async () => {
    open(CHAIN);
    await expect(archive('c', { expectedCascade: ['c'] })).rejects.toMatchObject({ code: 'CASCADE_CHANGED' });
    expect(column('archived')).toEqual({ a: 0, b: 0, c: 0 });
  });

  it('by a person is no longer that of a sweep', async () => {
    open([S('s', { archived: 1, auto_archived: 1 })]);
    await archive('s');
    expect(column('auto_archived')).toEqual({ s: 0 });
  });

  it('holds also where its line can not be written', async () => {
    open([S('s')]);
    writeFileSync(join(host.home, 'logs'), 'a file in the way');
    await archive('s');
    expect(column('archived')).toEqual({ s: 1 });
  });

  it('needs a store that has one', async () => {
    open([S('s')], 6);
    await expect(archive('s')).rejects.toMatchObject({ code: 'SCHEMA_UNSUPPORTED' });
  });
});

describe('flags', () => {
  it('T135: of a hidden session show it when it is pinned, but for the chat of a bot', async () => {
    open([S('s', { hidden: 1 }), S('bot', { hidden: 1, title: 'Bot Chat' })]);
    await flags('s', { pinned: true });
    await flags('bot', { pinned: true });
    expect(column('hidden')).toEqual({ bot: 1, s: 0 });
    expect(column('pinned')).toEqual({ bot: 1, s: 1 });
  });

  it('are written to the whole conversation', async () => {
    open(CHAIN);
    expect((await flags('a', { pinned: true, hidden: true, read: true })).sessionIds).toHaveLength(3);
    expect(column('hidden')).toEqual({ a: 1, b: 1, c: 1 });
    expect(column('last_read_at')).toEqual({ a: 1000, b: 1000, c: 1000 });
    await flags('c', { read: false });
    expect(column('last_read_at')).toEqual({ a: 0, b: 0, c: 0 });
    expect(column('pinned')).toEqual({ a: 1, b: 1, c: 1 });
  });

  it('are refused without one, without a session, and where the store has none', async () => {
    open([S('s')], 23);
    await expect(flags('s', {})).rejects.toMatchObject({ code: 'VALIDATION' });
    await expect(flags('s', { pinned: true })).rejects.toMatchObject({ code: 'SCHEMA_UNSUPPORTED' });
    host.close();
    open([]);
    await expect(flags('s', { pinned: true })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
