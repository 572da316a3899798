/** Bringing lost and shrunken session files back (`spec/webui-recovery.md` 19.3, 20, 26), by the commands of the writing process. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { auditRecovery } from '../../src/web-ui/recovery-audit.ts';
import { readTombstones } from '../../src/web-ui/tombstones.ts';
import type { CommandName } from '../../src/writing/commands.ts';
import { commandHost, type TestHost } from '../support/command-host.ts';
import { type Fields, sidecarText } from '../support/sidecars.ts';
import { M, type Row, S } from '../support/stores.ts';
import { everythingIn, filesIn, type WebUiFolder, webUiFolder } from '../support/web-ui-folder.ts';

const said = (count: number) => Array.from({ length: count }, (_, index) => ({ role: 'user', content: `m${index}`, timestamp: index + 1 }));
const text = (id: string, count: number, fields: Fields = {}, behind: Fields = {}) =>
  sidecarText(id, { created_at: 1, updated_at: 2, ...fields }, said(count), behind);
const GENERATION = '0123456789ab4def8123456789abcdef';
const OTHER_GENERATION = '0123456789ab4def8123456789abcdee';

const hosts: TestHost[] = [];
afterEach(() => {
  for (const host of hosts.splice(0)) host.close();
});

function hostOf({ path }: Pick<WebUiFolder, 'path'>): TestHost {
  const host = commandHost(path, { now: 5_000_000_000 });
  hosts.push(host);
  return host;
}

function stored({ sessionsDir }: WebUiFolder, id: string): Fields {
  return JSON.parse(readFileSync(join(sessionsDir, `${id}.json`), 'utf8')) as Fields;
}

const restore = (host: TestHost, sessionId: string, more: { force?: boolean; dryRun?: boolean } = {}) =>
  host.run(
    'restoreFromBackup',
    { sessionId, force: more.force ?? false, ifSignature: null, profiles: ['default', 'work'] },
    { dryRun: more.dryRun ?? false },
  );

describe('restoreFromBackup', () => {
  async function advised(live: string, backup: string): Promise<object> {
    const folder = await webUiFolder([], { 'x.json': live, 'x.json.bak': backup });
    return restore(hostOf(folder), 'x', { dryRun: true });
  }

  it('T86: restores a backup with more messages, also over a torn file, and no torn one', async () => {
    const folder = await webUiFolder([], { 'x.json': text('x', 1), 'x.json.bak': text('x', 3) });
    expect(await restore(hostOf(folder), 'x')).toMatchObject({
      restored: true,
      recommendation: 'RESTORE',
      reason: null,
      liveMessages: 1,
      backupMessages: 3,
      messagesAfter: 3,
      keptAs: 'x.json.before-restore-5000000000',
      mayBeOverwritten: false,
    });
    expect(filesIn(folder.sessionsDir)).toMatchObject({
      'x.json': text('x', 3),
      'x.json.bak': text('x', 3),
      'x.json.before-restore-5000000000': text('x', 1),
    });
    const [row] = JSON.parse(readFileSync(join(folder.sessionsDir, '_index.json'), 'utf8')) as Fields[];
    expect(row).toMatchObject({ session_id: 'x', message_count: 3 });
    expect(await advised(text('x', 3), text('x', 3))).toMatchObject({ restored: false, reason: 'BACKUP_HAS_NO_MORE_MESSAGES' });
    expect(await advised('{"messages": [', text('x', 3))).toMatchObject({ restored: true, liveMessages: -1, messagesAfter: 3 });
    await expect(advised(text('x', 1), '{"messages": [')).rejects.toMatchObject({ code: 'SIDECAR_CORRUPT' });
  });

  it('T87: leaves a list that was shortened on purpose, by marks that are valid and new', async () => {
    const mark = (generation: string) => ({ intentional_shrink_generation: generation });
    const shortened = { restored: false, reason: 'INTENTIONAL_MESSAGE_SHRINK', recommendation: 'NO_ACTION', messagesAfter: 1 };
    expect(await advised(text('x', 1, mark(GENERATION)), text('x', 3))).toMatchObject(shortened);
    expect(await advised(text('x', 1, mark(GENERATION)), text('x', 3, mark(OTHER_GENERATION)))).toMatchObject(shortened);
    expect(await advised(text('x', 1, mark(GENERATION)), text('x', 3, mark(GENERATION)))).toMatchObject({ restored: true });
    expect(await advised(text('x', 1, mark('zz')), text('x', 3))).toMatchObject({ restored: true });
  });

  it('T88: leaves what was cleared or compressed by a person, not what only looks like it', async () => {
    const cleared = { clear_generation: 'g', truncation_watermark: 0.0, truncation_boundary: 0.0 };
    expect(await advised(text('x', 0, cleared), text('x', 3))).toMatchObject({ reason: 'INTENTIONAL_CLEAR_TRUNCATE' });
    expect(await advised(text('x', 1, cleared), text('x', 3))).toMatchObject({ reason: 'INTENTIONAL_CLEAR_TRUNCATE' });
    const manual = text('x', 2, { compression_anchor_mode: 'manual' }, { context_messages: said(1) });
    expect(await advised(manual, text('x', 5, {}, { context_messages: said(4) }))).toMatchObject({ reason: 'INTENTIONAL_COMPRESS_SHRINK' });
    const marker = { role: 'assistant', content: '[Context compaction] so far' };
    expect(await advised(manual, text('x', 5, {}, { context_messages: [marker, ...said(4)] }))).toMatchObject({ restored: true });
  });

  it('is forced over every objection but that there is none', async () => {
    const newer = sidecarText('x', {}, [{ role: 'user', content: 'later', timestamp: 99 }]);
    const folder = await webUiFolder([], { 'x.json': newer, 'x.json.bak': text('x', 3), 'y.json': text('y', 1) });
    const host = hostOf(folder);
    expect(await restore(host, 'x')).toMatchObject({ restored: false, reason: 'LIVE_IS_NEWER', liveIsNewer: true, messagesAfter: 1 });
    expect(stored(folder, 'x').messages).toHaveLength(1);
    expect(await restore(host, 'x', { force: true })).toMatchObject({ restored: true, messagesAfter: 3 });
    expect(await restore(host, 'y', { force: true })).toMatchObject({ restored: false, reason: 'NO_BACKUP', messagesAfter: 1 });
    await expect(restore(host, 'nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(restore(host, '../x')).rejects.toMatchObject({ code: 'VALIDATION' });
  });

  it('takes a backup without a file only of a session that the store has and that was not deleted', async () => {
    const folder = await webUiFolder([S('kept'), S('deleted', { source: 'webui' })], {
      ...Object.fromEntries(['kept', 'deleted', 'unknown'].map((id) => [`${id}.json.bak`, text(id, 2)])),
      'theirs.json.bak': text('theirs', 2, { profile: 'work' }),
      '_deleted_webui_sessions.json': '{"version": 1, "ids": ["deleted"]}',
    });
    const host = hostOf(folder);
    expect(await restore(host, 'deleted')).toMatchObject({ restored: false, reason: 'DELETED' });
    expect(await restore(host, 'unknown')).toMatchObject({ restored: false, reason: 'NO_STATE_ROW' });
    await expect(restore(host, 'theirs', { force: true })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(readdirSync(folder.sessionsDir).filter((name) => name.endsWith('.json') && !name.startsWith('_'))).toEqual([]);
    expect(await restore(host, 'kept')).toMatchObject({ restored: true, liveMessages: -1, keptAs: null });
    expect(await restore(host, 'deleted', { force: true })).toMatchObject({ restored: true });
    expect((await readTombstones(folder.sessionsDir, 'DELETED')).ids.size).toBe(0);
  });
});

const CALL = [{ id: 'c1', type: 'function', function: { name: 'terminal', arguments: '{}' } }];
const TOOLED: readonly Row[] = [
  S('w', { source: 'webui', title: 'Tea', model: 'm', cwd: '/srv/work', started_at: 50 }),
  M('w', { content: 'old', active: 0, timestamp: 60 }),
  M('w', { content: 'Hello', timestamp: 61 }),
  M('w', { role: 'assistant', content: '', tool_calls: JSON.stringify(CALL), reasoning: 'why', timestamp: 62 }),
  M('w', { role: 'tool', content: 'done', tool_call_id: 'c1', tool_name: 'terminal', timestamp: 63 }),
];

describe('materializeSidecars', () => {
  const make = (host: TestHost, ids: readonly string[] | null, dryRun = false) =>
    host.run('materializeSidecars', { ids }, { dryRun }).then(({ sessions }) => sessions);

  it('T89b: makes a file of the live rows alone, with tool calls, results and reasoning', async () => {
    const folder = await webUiFolder(TOOLED, {});
    const made = [{ sessionId: 'w', materialized: true, reason: null, refusal: null, messages: 3 }];
    expect(await make(hostOf(folder), null, true)).toEqual(made);
    expect(await make(hostOf(folder), null)).toEqual(made);
    expect(stored(folder, 'w')).toMatchObject({
      session_id: 'w',
      title: 'Tea',
      model: 'm',
      workspace: '/srv/work',
      created_at: 50,
      updated_at: 62,
      message_count: 3,
      session_source: 'webui',
      _recovered_from_state_db: true,
      messages: [
        { role: 'user', content: 'Hello', timestamp: 61 },
        { role: 'assistant', tool_calls: CALL, reasoning: 'why' },
        { role: 'tool', content: 'done', tool_call_id: 'c1', tool_name: 'terminal' },
      ],
    });
    const index = JSON.parse(readFileSync(join(folder.sessionsDir, '_index.json'), 'utf8')) as Fields[];
    expect(index).toMatchObject([{ session_id: 'w', message_count: 3 }]);
  });

  it('skips what has a file, was deleted, has no live message, is of another program, unknown or no id', async () => {
    const rows = [
      ...TOOLED,
      ...['deleted', 'hidden', 'filed'].flatMap((id) => [S(id, { source: 'webui' }), M(id, { active: Number(id !== 'hidden') })]),
      ...['terminal', 'listed', 'empty'].map((id) => S(id, { source: id === 'empty' ? 'webui' : 'cli' })),
      M('terminal'),
      M('listed'),
    ];
    const files = { 'filed.json': text('filed', 0), '_deleted_webui_sessions.json': '{"version": 1, "ids": ["deleted"]}' };
    const folder = await webUiFolder(rows, files, { index: [{ session_id: 'listed', source_tag: 'webui', updated_at: 1 }] });
    const host = hostOf(folder);
    expect((await make(host, null, true)).map(({ sessionId }) => sessionId)).toEqual(['w']);
    const named = ['deleted', 'hidden', 'filed', 'terminal', 'empty', 'nobody', '../w', 'listed', 'w', 'w'];
    expect((await make(host, named)).map(({ sessionId, reason }) => `${sessionId} ${reason}`)).toEqual([
      'deleted TOMBSTONED',
      'hidden NO_MESSAGES',
      'filed FILE_EXISTS',
      'terminal NOT_WEB_UI',
      'empty NO_MESSAGES',
      'nobody NOT_FOUND',
      '../w UNSAFE_ID',
      'listed null',
      'w null',
    ]);
    expect(stored(folder, 'filed').messages).toEqual([]);
    expect(await make(host, null)).toEqual([]);
    await expect(make(host, Array.from({ length: 501 }, String))).rejects.toMatchObject({ code: 'TOO_MANY' });
  });
});

/** T89: one of each kind of finding. */
async function everyKind(): Promise<WebUiFolder> {
  const rows = [
    S('orphan', { source: 'webui' }),
    M('orphan'),
    S('lost', { source: 'webui' }),
    M('lost'),
    M('lost'),
    S('hollow', { source: 'webui' }),
  ];
  const files = {
    'a.json': text('a', 1),
    'a.json.bak': text('a', 3),
    'turn.json': text('turn', 1),
    'orphan.json.bak': text('orphan', 2),
    'unknown.json.bak': text('unknown', 2),
    'gone.json.bak': text('gone', 2),
    'torn.json.bak': '{',
    '_deleted_webui_sessions.json': '{"version": 1, "ids": ["gone"]}',
    '_turn_journal/turn~1.jsonl': `${JSON.stringify({ event: 'submitted', turn_id: 't', content: 'lost words', created_at: 1 })}\n`,
  };
  const folder = await webUiFolder(rows, files, { index: [{ session_id: 'ghost', updated_at: 1 }] });
  const path = join(folder.sessionsDir, '_index.json');
  const kept = (JSON.parse(readFileSync(path, 'utf8')) as Fields[]).filter((row) => row.session_id !== 'turn');
  writeFileSync(path, JSON.stringify(kept, null, 2));
  return folder;
}

const LEFT = [
  'gone STATE_DB_DELETED_WEBUI_TOMBSTONE',
  'hollow STATE_DB_ORPHAN_WEBUI_ROW',
  'torn MALFORMED_ORPHAN_BACKUP',
  'turn TURN_JOURNAL_PENDING_TURN',
  'unknown ORPHAN_BACKUP_WITHOUT_STATE_ROW',
];

describe('repairSafe', () => {
  const repair = (host: TestHost, { dryRun = false, busyIds = [] as string[] } = {}) => host.run('repairSafe', { busyIds }, { dryRun });
  const kinds = ({ items }: Awaited<ReturnType<typeof auditRecovery>>) => items.map(({ sessionId, kind }) => `${sessionId} ${kind}`).sort();

  it('T89: mends what loses nothing, tells it before it does, and leaves the rest to people', async () => {
    const folder = await everyKind();
    const planned = await repair(hostOf(folder), { dryRun: true });
    const done = await repair(hostOf(folder));
    expect(done.before).toMatchObject({ status: 'NEEDS_MANUAL_REVIEW', repairable: 7, unsafeToRepair: 4 });
    expect(done).toMatchObject({
      restoredIds: ['a', 'orphan'],
      materializedIds: ['lost'],
      indexRebuilt: true,
      left: [],
      repaired: 3,
      clean: false,
    });
    expect(kinds(done.after)).toEqual(LEFT);
    expect(planned).toEqual(done);
    const index = JSON.parse(readFileSync(join(folder.sessionsDir, '_index.json'), 'utf8')) as Fields[];
    expect(index.map(({ session_id: id, message_count: count }) => `${id} ${count}`).sort()).toEqual([
      'a 3',
      'lost 2',
      'orphan 2',
      'turn 1',
    ]);
  });

  it('leaves files with a turn under way, newer ones and those in the way, and says why', async () => {
    const newer = sidecarText('new', {}, [{ role: 'user', content: 'later', timestamp: 99 }]);
    const folder = await webUiFolder([], {
      'busy.json': text('busy', 1, { active_stream_id: 'r' }),
      'busy.json.bak': text('busy', 3),
      'new.json': newer,
      'new.json.bak': text('new', 3),
    });
    const done = await repair(hostOf(folder), { busyIds: ['busy'] });
    expect(done).toMatchObject({
      repaired: 0,
      left: [
        { sessionId: 'busy', reason: 'SESSION_BUSY' },
        { sessionId: 'new', reason: 'LIVE_IS_NEWER' },
      ],
    });
    expect(stored(folder, 'busy').messages).toHaveLength(1);
    expect(stored(folder, 'new').messages).toHaveLength(1);
    // The run has ended.
    expect(await repair(hostOf(folder))).toMatchObject({ restoredIds: ['busy'], left: [{ sessionId: 'new' }] });
  });

  it('is clean where all could be mended', async () => {
    const folder = await webUiFolder(TOOLED, { 'a.json': text('a', 1), 'a.json.bak': text('a', 3) }, { isIndexed: false });
    expect(await repair(hostOf(folder))).toMatchObject({ repaired: 2, clean: true, after: { status: 'OK', items: [] } });
  });

  const kindsOfFile = fc.constantFrom('NONE', 'SHORT', 'LONG', 'TORN', 'CLEARED');
  const someSession = fc.record({ live: kindsOfFile, backup: kindsOfFile, rows: fc.integer({ min: -1, max: 2 }), deleted: fc.boolean() });

  it('twice is once, and takes no message away', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(someSession, { maxLength: 5 }), async (sessions) => {
        const files: Record<string, string> = {};
        const rows: Row[] = [];
        const kindsOf = { NONE: null, SHORT: 1, LONG: 3, TORN: '{', CLEARED: 0 } as const;
        const textOf = (id: string, kind: keyof typeof kindsOf) => {
          const shape = kindsOf[kind];
          if (shape === null || typeof shape === 'string') return shape;
          const marks = shape === 0 ? { clear_generation: 'g', truncation_watermark: 0, truncation_boundary: 0 } : {};
          return text(id, shape, marks);
        };
        const deleted: string[] = [];
        for (const [index, { live, backup, rows: count, deleted: isDeleted }] of sessions.entries()) {
          const id = `s${index}`;
          const [file, copy] = [textOf(id, live), textOf(id, backup)];
          if (file !== null) files[`${id}.json`] = file;
          if (copy !== null) files[`${id}.json.bak`] = copy;
          if (count >= 0) rows.push(S(id, { source: 'webui' }), ...Array.from({ length: count }, () => M(id)));
          if (isDeleted) deleted.push(id);
        }
        files['_deleted_webui_sessions.json'] = JSON.stringify({ version: 1, ids: deleted });
        const folder = await webUiFolder(rows, files);
        const count = (id: string) => {
          try {
            return (stored(folder, id).messages as unknown[]).length;
          } catch {
            return -1;
          }
        };
        const before = sessions.map((_, index) => count(`s${index}`));
        const host = hostOf(folder);
        const first = await repair(host);
        const after = filesIn(folder.sessionsDir);
        for (const [index, messages] of before.entries()) expect(count(`s${index}`)).toBeGreaterThanOrEqual(messages);
        const second = await repair(host);
        expect(second.repaired).toBe(0);
        expect(second.after).toEqual(first.after);
        expect(filesIn(folder.sessionsDir)).toEqual(after);
      }),
      { numRuns: 25 },
    );
  });
});

const EXHAUSTED = {
  title: 'Long talk',
  workspace: '/srv/work',
  model: 'gpt',
  model_provider: 'openai',
  project_id: 'p1',
  personality: 'kind',
  enabled_toolsets: ['web'],
  context_length: 1000,
  threshold_tokens: 800,
  gateway_routing: { used_model: 'x' },
  worktree_path: '/srv/tree',
  worktree_branch: 'b',
  recommended_recovery_action: 'start_focused_continuation',
  compression_recovery: { terminal_state: 'compression_exhausted', recommended_action: 'start_focused_continuation' },
};

describe('startCompressionRecovery', () => {
  const start = (host: TestHost, sessionId = 'x', dryRun = false) =>
    host.run('startCompressionRecovery', { sessionId, profiles: ['default', 'work'] }, { dryRun });

  it('19.3: makes an empty branch with the settings of the exhausted session, once', async () => {
    const folder = await webUiFolder([], { 'x.json': text('x', 3, EXHAUSTED), 'y.json': text('y', 1) });
    const host = hostOf(folder);
    const planned = await start(host, 'x', true);
    const started = await start(host);
    expect(started).toEqual(planned);
    expect(started).toEqual({
      created: true,
      sessionId: expect.stringMatching(/^[0-9a-f]{12}$/),
      sourceSessionId: 'x',
      action: 'start_focused_continuation',
    });
    const { recommended_recovery_action: _, compression_recovery: __, ...kept } = EXHAUSTED;
    expect(stored(folder, started.sessionId)).toMatchObject({
      ...kept,
      title: 'Long talk (focused continuation)',
      session_source: 'fork',
      parent_session_id: 'x',
      compression_recovery_source_session_id: 'x',
      compression_recovery_action: 'start_focused_continuation',
      compression_recovery: {},
      recommended_recovery_action: null,
      composer_draft: { text: '', files: [] },
      created_at: 5_000_000_000,
      messages: [],
      context_messages: [],
      tool_calls: [],
    });
    expect(await start(host)).toEqual({ ...started, created: false });
    expect(stored(folder, 'x')).toEqual(JSON.parse(text('x', 3, EXHAUSTED)));
  });

  it('gives the same to two servers at once, and another where it was deleted', async () => {
    const folder = await webUiFolder([], { 'x.json': text('x', 3, { ...EXHAUSTED, title: 'A (focused continuation)' }) });
    const both = await Promise.all([start(hostOf(folder)), start(hostOf(folder)), start(hostOf(folder))]);
    expect(new Set(both.map(({ sessionId }) => sessionId)).size).toBe(1);
    expect(both.filter(({ created }) => created)).toHaveLength(1);
    const [{ sessionId }] = both;
    expect(stored(folder, sessionId).title).toBe('A (focused continuation)');
    writeFileSync(join(folder.sessionsDir, '_deleted_webui_sessions.json'), JSON.stringify({ version: 1, ids: [sessionId] }));
    expect(await start(hostOf(folder))).toMatchObject({ created: true, sessionId: expect.not.stringMatching(sessionId) });
  });

  it('is refused for a session that is not exhausted, lost, damaged or of another profile', async () => {
    const folder = await webUiFolder([], {
      'calm.json': text('calm', 1, { recommended_recovery_action: 'start_focused_continuation', compression_recovery: {} }),
      'torn.json': '{',
      'theirs.json': text('theirs', 1, { ...EXHAUSTED, profile: 'work' }),
    });
    const before = everythingIn(folder.sessionsDir);
    const host = hostOf(folder);
    await expect(start(host, 'calm')).rejects.toMatchObject({ code: 'NOT_EXHAUSTED' });
    await expect(start(host, 'nobody')).rejects.toMatchObject({ code: 'SIDECAR_MISSING' });
    await expect(start(host, 'torn')).rejects.toMatchObject({ code: 'SIDECAR_CORRUPT' });
    await expect(start(host, 'theirs')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(everythingIn(folder.sessionsDir)).toEqual(before);
  });
});

describe('a dry run', () => {
  const OF_X = { sessionId: 'a', force: true, ifSignature: null, profiles: ['default'] };
  it.each([
    ['restoreFromBackup', OF_X],
    ['materializeSidecars', { ids: null }],
    ['repairSafe', { busyIds: [] }],
    ['startCompressionRecovery', { sessionId: 'tired', profiles: ['default'] }],
  ] as const satisfies readonly (readonly [CommandName, object])[])(
    'T91: of %s leaves every byte and name as they are',
    async (name, input) => {
      const folder = await everyKind();
      writeFileSync(join(folder.sessionsDir, 'tired.json'), text('tired', 1, EXHAUSTED));
      const before = everythingIn(folder.sessionsDir);
      await hostOf(folder).run(name, input as never, { dryRun: true, clientMutationId: 'm' });
      expect(everythingIn(folder.sessionsDir)).toEqual(before);
    },
  );
});
