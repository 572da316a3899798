/** Backups and the audit of the Web UI's files (`spec/webui-sidecars.md` 7, 19). */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { inspectBackup, restoreBackup } from '../../src/web-ui/backup.ts';
import { backupAdvice } from '../../src/web-ui/backup-advice.ts';
import { auditRecovery } from '../../src/web-ui/recovery-audit.ts';
import { recordTombstone } from '../../src/web-ui/tombstones.ts';
import { assistant, parsed, put, putSession, session, sessionsFolder, user } from './sidecar-folder.ts';

let folder: string;
beforeEach(() => {
  folder = sessionsFolder();
});
const messages = (count: number) => Array.from({ length: count }, (_, index) => user(`m${index}`, index + 1));
const S = (count: number, fields: Readonly<Record<string, unknown>> = {}) => session('x', { messages: messages(count), ...fields });
const GENERATION = '0123456789ab4def8123456789abcdef';

describe('the advice on a backup', () => {
  it('T66: is to restore one with more messages, unless the session was shortened on purpose', () => {
    expect(backupAdvice(S(1), S(3))).toEqual({ recommendation: 'RESTORE', reason: null, liveMessages: 1, backupMessages: 3 });
    const shortened = S(1, { intentional_shrink_generation: GENERATION });
    expect(backupAdvice(shortened, S(3))).toMatchObject({ recommendation: 'NO_ACTION', reason: 'INTENTIONAL_MESSAGE_SHRINK' });
    expect(backupAdvice(shortened, S(3, { intentional_shrink_generation: GENERATION }))).toMatchObject({ recommendation: 'RESTORE' });
    expect(backupAdvice(S(1, { intentional_shrink_generation: 'zz' }), S(3))).toMatchObject({ recommendation: 'RESTORE' });
    expect(backupAdvice(null, S(3))).toMatchObject({ recommendation: 'RESTORE', liveMessages: -1 });
    expect(backupAdvice(S(3), S(3))).toMatchObject({ recommendation: 'NO_ACTION', reason: null });
    expect(backupAdvice(S(0), undefined)).toMatchObject({ recommendation: 'NO_BACKUP', backupMessages: -1 });
    expect(backupAdvice(S(0), null)).toMatchObject({ recommendation: 'NO_ACTION', backupMessages: -1 });
  });

  it('is to leave a session that was cleared', () => {
    const marks = { clear_generation: 'g', truncation_watermark: 0, truncation_boundary: 0 };
    const idle = {
      active_stream_id: null,
      pending_user_message: null,
      pending_attachments: [],
      pending_started_at: null,
      pending_user_source: null,
    };
    const cleared = S(0, { ...marks, ...idle, context_messages: [] });
    expect(backupAdvice(cleared, S(3))).toMatchObject({ reason: 'INTENTIONAL_CLEAR_TRUNCATE' });
    expect(backupAdvice(S(1, marks), S(3))).toMatchObject({ reason: 'INTENTIONAL_CLEAR_TRUNCATE' });
    expect(backupAdvice({ ...cleared, pending_user_message: 'go' }, S(3))).toMatchObject({ recommendation: 'RESTORE' });
    expect(backupAdvice(cleared, S(3, { clear_generation: 'g' }))).toMatchObject({ recommendation: 'RESTORE' });
    expect(backupAdvice({ ...cleared, truncation_boundary: null }, S(3))).toMatchObject({ recommendation: 'RESTORE' });
  });

  it('is to leave a session that was compressed since', () => {
    const before = S(5, { context_messages: messages(5) });
    expect(backupAdvice(S(3, { compression_anchor_mode: 'manual' }), before)).toMatchObject({ reason: 'INTENTIONAL_COMPRESS_SHRINK' });
    const anchored = { context_messages: messages(1), compression_anchor_summary: 's', compression_anchor_message_key: { role: 'user' } };
    expect(backupAdvice(S(3, anchored), before)).toMatchObject({ reason: 'INTENTIONAL_COMPRESS_SHRINK' });
    expect(backupAdvice(S(3, { context_messages: messages(1), truncation_watermark: 2 }), before)).toMatchObject({
      recommendation: 'NO_ACTION',
    });
    const compressed = S(5, { context_messages: [assistant('[CONTEXT COMPACTION] so far'), ...messages(4)] });
    expect(backupAdvice(S(3, anchored), compressed)).toMatchObject({ recommendation: 'RESTORE' });
  });
});

describe('a backup', () => {
  const putBoth = (live: unknown, backup: unknown) => {
    if (live !== undefined) put(folder, 'x.json', live);
    put(folder, 'x.json.bak', backup);
  };

  it('is restored, and what was there is kept', async () => {
    putBoth(S(1), JSON.stringify(S(3)));
    expect(await inspectBackup(folder, 'x')).toMatchObject({ exists: true, recommendation: 'RESTORE', liveIsNewer: false });
    const restored = await restoreBackup(folder, 'x', { now: () => 7 });
    expect(restored).toMatchObject({ restored: true, objection: null, messages: 3, keptAs: 'x.json.before-restore-7' });
    expect(readFileSync(join(folder, 'x.json'), 'utf8')).toBe(JSON.stringify(S(3)));
    expect(parsed(join(folder, 'x.json.before-restore-7')).messages).toHaveLength(1);
    expect(readdirSync(folder).sort()).toEqual(['x.json', 'x.json.bak', 'x.json.before-restore-7']);
  });

  it('is restored where the file is damaged or gone', async () => {
    putBoth('{broken', S(3));
    expect(await restoreBackup(folder, 'x')).toMatchObject({ restored: true, messages: 3 });
    folder = sessionsFolder();
    putBoth(undefined, S(3));
    expect(await restoreBackup(folder, 'x')).toMatchObject({ restored: true, messages: 3, keptAs: null });
  });

  it('that is not the better copy is restored only by force', async () => {
    putBoth(S(3), S(2));
    expect(await restoreBackup(folder, 'x')).toMatchObject({ restored: false, objection: 'BACKUP_HAS_NO_MORE_MESSAGES', messages: 3 });
    expect(parsed(join(folder, 'x.json')).messages).toHaveLength(3);
    expect(await restoreBackup(folder, 'x', { forceRestore: true })).toMatchObject({ restored: true, messages: 2 });
    putBoth({ ...S(0), messages: [user('later', 99)] }, S(3));
    expect(await inspectBackup(folder, 'x')).toMatchObject({ recommendation: 'RESTORE', liveIsNewer: true });
    expect(await restoreBackup(folder, 'x')).toMatchObject({ restored: false, objection: 'LIVE_IS_NEWER' });
  });

  it('that is none or is damaged is not restored, even by force', async () => {
    put(folder, 'x.json', S(1));
    expect(await restoreBackup(folder, 'x', { forceRestore: true })).toMatchObject({ restored: false, objection: 'NO_BACKUP' });
    await expect(restoreBackup(folder, 'nothing')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    putBoth(S(1), '{broken');
    await expect(restoreBackup(folder, 'x', { forceRestore: true })).rejects.toMatchObject({ code: 'SIDECAR_CORRUPT' });
    expect(parsed(join(folder, 'x.json')).messages).toHaveLength(1);
    expect(await inspectBackup(folder, 'nothing')).toBeNull();
  });
});

describe('the audit', () => {
  const kinds = async (store: Parameters<typeof auditRecovery>[1]) =>
    (await auditRecovery(folder, store)).items.map(({ sessionId, kind }) => `${sessionId} ${kind}`);

  it('T67: tells each kind of trouble, and writes nothing', async () => {
    put(folder, 'shrunk.json', session('shrunk', { messages: messages(1) }));
    put(folder, 'shrunk.json.bak', session('shrunk', { messages: messages(3) }));
    for (const id of ['lost', 'gone', 'deleted']) put(folder, `${id}.json.bak`, session(id, { messages: messages(2) }));
    put(folder, 'torn.json.bak', '{');
    putSession(folder, 'unlisted', { messages: messages(2) });
    putSession(folder, 'turn', { messages: [user('said  this')] });
    put(folder, '_index.json', [{ session_id: 'shrunk' }, { session_id: 'turn' }, { session_id: 'ghost' }, { session_id: 'deleted' }]);
    await recordTombstone(folder, 'DELETED', 'deleted');
    mkdirSync(join(folder, '_turn_journal'));
    const turns = [
      { event: 'submitted', turn_id: 't1', content: 'said this', created_at: 1 },
      { event: 'submitted', turn_id: 't2', content: 'lost words', created_at: 2 },
      { event: 'worker_started', turn_id: 't2', created_at: 3 },
      { event: 'submitted', turn_id: 't3', content: 'done', created_at: 4 },
      { event: 'completed', turn_id: 't3', created_at: 5, terminal: true },
    ];
    put(join(folder, '_turn_journal'), 'turn~1.jsonl', turns.map((turn) => `${JSON.stringify(turn)}\n`).join(''));
    const before = readdirSync(folder);
    const stored = new Map([
      ['deleted', 2],
      ['dbonly', 4],
      ['dbempty', 0],
      ['turn', 1],
    ]);
    const audit = await auditRecovery(folder, { webUiSessions: stored, has: (id) => id === 'lost' });
    expect(audit.items.map(({ sessionId, kind }) => [sessionId, kind])).toEqual([
      ['deleted', 'STATE_DB_DELETED_WEBUI_TOMBSTONE'],
      ['gone', 'ORPHAN_BACKUP_WITHOUT_STATE_ROW'],
      ['lost', 'ORPHAN_BACKUP'],
      ['shrunk', 'SHRUNKEN_LIVE'],
      ['torn', 'MALFORMED_ORPHAN_BACKUP'],
      ['ghost', 'INDEX_MISSING_FILE'],
      ['unlisted', 'INDEX_MISSING_ENTRY'],
      ['dbempty', 'STATE_DB_ORPHAN_WEBUI_ROW'],
      ['dbonly', 'STATE_DB_MISSING_SIDECAR'],
      ['turn', 'TURN_JOURNAL_PENDING_TURN'],
    ]);
    expect(audit).toMatchObject({ status: 'NEEDS_MANUAL_REVIEW', liveSidecars: 3, repairable: 6, unsafeToRepair: 4 });
    expect(audit.items.at(-1)).toMatchObject({ turnId: 't2', event: 'worker_started', liveMessages: 1 });
    expect(readdirSync(folder)).toEqual(before);
  });

  it('says nothing about a store that it can not read', async () => {
    put(folder, 'lost.json.bak', session('lost', { messages: messages(2) }));
    expect(await kinds(null)).toEqual(['lost ORPHAN_BACKUP']);
    expect((await auditRecovery(sessionsFolder(), null)).status).toBe('OK');
  });
});
