/** Examining the Web UI's folder and tidying it up, over HTTP. */
import { existsSync, readdirSync, readFileSync, statSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sidecarPath, sidecarText } from '../support/sidecars.ts';
import { M, S } from '../support/stores.ts';
import { mutate, startUpstreamHome, startWebUi, type WebUiServer } from '../support/web-ui-server.ts';

function folder(server: WebUiServer): Record<string, string> {
  return Object.fromEntries(
    readdirSync(server.sessionsDir)
      .filter((name) => statSync(join(server.sessionsDir, name)).isFile())
      .map((name) => [name, readFileSync(join(server.sessionsDir, name), 'latin1')]),
  );
}

function indexIds(server: WebUiServer): string[] {
  const rows = JSON.parse(readFileSync(join(server.sessionsDir, '_index.json'), 'utf8')) as { session_id: string }[];
  return rows.map((row) => row.session_id).sort();
}

const INDEX = 'before { status rows missingFiles missingRows laggingRows } rows skippedIds duplicateIds sweptFiles';
const STATUS = '{ profile { webUi { indexStatus deletedSessionIds prunedSessionIds } } }';

describe('rebuildSessionIndex', () => {
  it.each([
    ['MISSING', null],
    ['CORRUPT', 'garbage'],
    ['CORRUPT', '{}'],
    ['EMPTY_WITH_FILES', '[]'],
    ['STALE', '[{"session_id": "gone", "updated_at": null}, {"session_id": "a", "message_count": 9, "updated_at": 1}]'],
  ])('T31, T32, T33: makes one that is %s anew (%j)', async (status, text) => {
    const server = await startWebUi({ files: { a: { title: 'A' }, b: { title: 'B' }, c: '{broken' } });
    if (text !== null) writeFileSync(join(server.sessionsDir, '_index.json'), text);
    const before = folder(server);
    const dry = await mutate(server, 'rebuildSessionIndex', { dryRun: true }, INDEX);
    expect(dry).toMatchObject({ before: { status }, rows: 2, skippedIds: ['c'] });
    expect(folder(server)).toEqual(before);
    const { clientMutationId: _, ...done } = { clientMutationId: null, ...(await mutate(server, 'rebuildSessionIndex', {}, INDEX)) };
    expect(done).toEqual(dry);
    expect(indexIds(server)).toEqual(['a', 'b']);
    const again = await mutate(server, 'rebuildSessionIndex', { dryRun: true }, INDEX);
    // A file that is no session has no row, whatever is done.
    expect(again).toMatchObject({ before: { missingFiles: [], missingRows: ['c'], laggingRows: [] } });
  });

  it('heals the index of a real Web UI', async () => {
    const server = await startUpstreamHome();
    await mutate(server, 'rebuildSessionIndex', {});
    const again = await mutate(server, 'rebuildSessionIndex', { dryRun: true }, INDEX);
    // The count in that file has the partial answers that repeat another; the index has what is read of it.
    expect(again).toMatchObject({ before: { missingFiles: [], laggingRows: ['mw_dup_partials'] } });
  });

  it('is refused without --allow-writes, and a small index is OK afterwards', async () => {
    const files = { a: { title: 'A' } };
    const refused = await startWebUi({ files, allowWrites: false });
    expect(await mutate(refused, 'rebuildSessionIndex', {})).toMatchObject({ code: 'WRITES_OFF' });
    expect(existsSync(join(refused.sessionsDir, '_index.json'))).toBe(false);
    const server = await startWebUi({ files });
    expect(await server.read(STATUS)).toMatchObject({ profile: { webUi: { indexStatus: 'MISSING' } } });
    await mutate(server, 'rebuildSessionIndex', {});
    expect(await server.read(STATUS)).toMatchObject({ profile: { webUi: { indexStatus: 'OK' } } });
  });
});

describe('webUiAudit', () => {
  it('finds what does not fit in the home of a real Web UI, and changes nothing', async () => {
    const server = await startUpstreamHome(false);
    const before = folder(server);
    const { webUiAudit } = await server.read<{ webUiAudit: { items: { sessionId: string; kind: string }[] } }, object>(
      '{ webUiAudit { status liveSidecars repairable unsafeToRepair items { sessionId kind category recommendation liveMessages backupMessages turnId event } } }',
    );
    expect(webUiAudit.items).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ sessionId: 'mw_shrunk', kind: 'SHRUNKEN_LIVE', recommendation: 'RESTORE_FROM_BAK', liveMessages: 1 }),
        expect.objectContaining({
          sessionId: 'mw_dbonly_webui',
          kind: 'STATE_DB_MISSING_SIDECAR',
          recommendation: 'MATERIALIZE_FROM_STATE_DB',
        }),
        expect.objectContaining({ sessionId: 'mw_dbonly_webui_deleted', kind: 'STATE_DB_DELETED_WEBUI_TOMBSTONE' }),
      ]),
    );
    expect(folder(server)).toEqual(before);
  });

  it('T67: never offers the backup of a deleted session, and one without a row only to a person', async () => {
    const server = await startWebUi({ rows: [S('kept'), M('kept')] });
    for (const id of ['gone', 'kept', 'unknown'])
      writeFileSync(`${sidecarPath(server.sessionsDir, id)}.bak`, sidecarText(id, {}, [{ role: 'user' }]));
    writeFileSync(join(server.sessionsDir, '_deleted_webui_sessions.json'), '{"version": 1, "ids": ["gone"]}');
    const { webUiAudit } = await server.read<{ webUiAudit: object }, object>('{ webUiAudit { status items { sessionId kind } } }');
    expect(webUiAudit).toEqual({
      status: 'NEEDS_MANUAL_REVIEW',
      items: [
        { sessionId: 'gone', kind: 'STATE_DB_DELETED_WEBUI_TOMBSTONE' },
        { sessionId: 'kept', kind: 'ORPHAN_BACKUP' },
        { sessionId: 'unknown', kind: 'ORPHAN_BACKUP_WITHOUT_STATE_ROW' },
      ],
    });
  });

  it('is null where there is no Web UI', async () => {
    const server = await startWebUi({ settings: { webUiDir: '/nowhere/webui' } });
    expect(await server.read('{ webUiAudit { status } }')).toEqual({ webUiAudit: null });
  });
});

describe('tidying up', () => {
  it('T38: removes old temporary files, spares fresh ones and those of restores', async () => {
    const server = await startWebUi({ files: { a: {} } });
    const old = Date.now() / 1000 - 4000;
    for (const name of ['a.tmp.1.1', 'b.tmp.1.2', 'x.json.recover.tmp']) {
      writeFileSync(join(server.sessionsDir, name), '{');
      if (!name.startsWith('b')) utimesSync(join(server.sessionsDir, name), old, old);
    }
    const run = (dryRun: boolean) => mutate(server, 'cleanStaleTempFiles', { dryRun }, 'files { name ageSeconds }');
    expect(await run(true)).toMatchObject({ files: [{ name: 'a.tmp.1.1' }] });
    expect(readdirSync(server.sessionsDir)).toContain('a.tmp.1.1');
    expect(await run(false)).toMatchObject({ files: [{ name: 'a.tmp.1.1' }] });
    expect(readdirSync(server.sessionsDir).sort()).toEqual(['a.json', 'b.tmp.1.2', 'x.json.recover.tmp']);
  });

  it('T71: removes empty sessions and rows without a file, and spares what somebody may want', async () => {
    const empty = (id: string, fields = {}) => sidecarText(id, { created_at: 1, ...fields });
    const server = await startWebUi({
      rows: [S('stored', { source: 'webui' }), M('stored')],
      files: {
        shell: empty('shell'),
        titled: empty('titled', { title: 'Plans' }),
        pending: empty('pending', { pending_user_message: 'Hello', pending_started_at: 5 }),
        draft: empty('draft', { composer_draft: { text: 'to be said', files: [] } }),
        stored: empty('stored'),
        theirs: empty('theirs', { profile: 'coder' }),
        full: {},
      },
    });
    await mutate(server, 'rebuildSessionIndex', {});
    unlinkSync(sidecarPath(server.sessionsDir, 'full'));
    const before = folder(server);
    const run = (input: object) => mutate(server, 'cleanupEmptySessions', input, 'sessionIds indexRows');
    // A profile that is not there belongs to the root.
    expect(await run({ dryRun: true })).toMatchObject({ sessionIds: ['shell', 'theirs'], indexRows: expect.arrayContaining(['full']) });
    expect(await run({ dryRun: true, zeroOnly: true })).toMatchObject({ sessionIds: ['shell', 'theirs', 'titled'] });
    expect(folder(server)).toEqual(before);
    await run({});
    expect(indexIds(server)).toEqual(['draft', 'pending', 'stored', 'titled']);
    expect(readdirSync(server.sessionsDir).sort()).toEqual(['_index.json', 'draft.json', 'pending.json', 'stored.json', 'titled.json']);
  });

  it('T43, T46: notes sessions without a message anywhere, once, and forgets them when there are messages', async () => {
    // As the Web UI writes its own: without a source.
    const fields = { title: 'Ghost', created_at: 1 };
    const server = await startWebUi({
      rows: [S('a', { source: 'webui' }), S('b', { source: 'webui' }), M('b')],
      files: { a: sidecarText('a', fields), b: sidecarText('b', fields) },
    });
    writeFileSync(join(server.sessionsDir, '_pruned_webui_orphans.json'), '{"version": 1, "ids": ["b"]}');
    const run = (dryRun: boolean) => mutate(server, 'pruneZeroMessageOrphans', { dryRun }, 'hidden pruned healed');
    const expected = { hidden: ['a'], pruned: ['a'], healed: ['b'] };
    const before = folder(server);
    expect(await run(true)).toMatchObject(expected);
    expect(folder(server)).toEqual(before);
    expect(await run(false)).toMatchObject(expected);
    expect(await server.read(STATUS)).toMatchObject({ profile: { webUi: { prunedSessionIds: ['a'] } } });
    const after = folder(server);
    expect(await run(false)).toMatchObject({ hidden: ['a'], pruned: [], healed: [] });
    expect(folder(server)).toEqual(after);
  });

  it('T41: takes ids out of the lists, and leaves a list of another version', async () => {
    const server = await startWebUi({ files: { a: {} } });
    const path = join(server.sessionsDir, '_deleted_webui_sessions.json');
    writeFileSync(path, '{"version": 1, "ids": ["x", "y"]}');
    const run = (input: object) => mutate(server, 'clearTombstone', { kind: 'DELETED', ...input }, 'cleared');
    expect(await run({ sessionId: 'x', dryRun: true })).toMatchObject({ cleared: true });
    expect(await run({ sessionId: 'x' })).toMatchObject({ cleared: true });
    expect(await run({ sessionId: 'x' })).toMatchObject({ cleared: false });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ version: 1, ids: ['y'] });
    writeFileSync(path, '{"version": 2, "ids": ["y"]}');
    expect(await run({ sessionId: 'y' })).toMatchObject({ code: 'TOMBSTONES_UNSUPPORTED' });
    expect(readFileSync(path, 'utf8')).toBe('{"version": 2, "ids": ["y"]}');
  });
});
