/** What keeps a turn from being settled: `spec/webui-recovery.md` 26, T1 to T18. */
import { renameSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type RecoverySources, repairSession } from '../../../src/web-ui/recovery/recover-session.ts';
import { inOrder } from '../../../src/web-ui/sidecar/session-queue.ts';
import { put, putSession } from '../sidecar-folder.ts';
import { type Fields, PROMPT, RUN, SID, STARTED, T0, TurnHome } from './turn-home.ts';

async function expectBlocked(home: TurnHome, outcome: string, force = false): Promise<void> {
  const before = home.bytes;
  expect(await home.repair({ force })).toMatchObject({ outcome, applied: false });
  expect(home.bytes).toBe(before);
}

/** The home's file as another program would save it. */
function replacement({ file }: TurnHome, fields: Fields): string {
  return JSON.stringify({ ...file, ...fields });
}

function replace({ path }: TurnHome, content: string): void {
  writeFileSync(`${path}.other`, content);
  renameSync(`${path}.other`, path);
}

/** Something happens whenever a turn has been judged and is not settled yet. */
function whileLooking(home: TurnHome, happens: () => void): RecoverySources {
  const core = async () => {
    happens();
    return null;
  };
  return { ...home.sources(), core };
}

const LONG_SUMMARY = { compression_anchor_summary: 'x'.repeat(5000) };
const MARKER = {
  role: 'assistant',
  type: 'interrupted',
  _error: true,
  timestamp: T0,
  interruption_cause: 'lost_worker_bookkeeping',
  _pending_journal_recovery: true,
  _journal_retry_stream_id: RUN,
  _journal_retry_attempts: 0,
  _journal_retry_first_seen_ts: T0,
};

describe('a turn is left alone', () => {
  it.each<[string, Fields, string]>([
    ['T1', { pending_user_message: null, active_stream_id: null }, 'NOT_PENDING'],
    ['T1, the run is still named', { pending_user_message: '' }, 'NOT_PENDING'],
    ['T2', { active_stream_id: null }, 'NO_STREAM'],
    ['T4', { pre_compression_snapshot: true }, 'PRE_COMPRESSION_SNAPSHOT'],
    ['T9', { pending_started_at: T0 - 29.9 }, 'WITHIN_GRACE'],
    ['T13', { pending_started_at: T0 + 500 }, 'WITHIN_GRACE'],
  ])('%s', async (_, fields, outcome) => {
    await expectBlocked(new TurnHome(fields), outcome);
  });

  it('T3: whose stream is open, whatever is forced', async () => {
    const home = new TurnHome();
    home.isLive = true;
    await expectBlocked(home, 'STREAM_LIVE');
    await expectBlocked(home, 'STREAM_LIVE', true);
  });

  it('T5: that an indexed session continues', async () => {
    const home = new TurnHome();
    put(home.sessionsDir, '_index.json', [{ session_id: 'c1', parent_session_id: SID }]);
    await expectBlocked(home, 'HAS_CONTINUATION');
  });

  it.each<[string, Fields, Fields]>([
    ['T6', {}, {}],
    ['T7: behind a long summary', LONG_SUMMARY, {}],
    ['T8a: both are forks', { session_source: 'fork' }, { session_source: 'fork' }],
  ])('%s', async (_, child, fields) => {
    const home = new TurnHome(fields);
    putSession(home.sessionsDir, 'c1', { parent_session_id: SID, ...child });
    await expectBlocked(home, 'HAS_CONTINUATION');
  });

  it('T8b: the child is written in compact JSON', async () => {
    const home = new TurnHome();
    put(home.sessionsDir, 'c1.json', { session_id: 'c1', title: 'T', created_at: 1, updated_at: 2, parent_session_id: SID, messages: [] });
    await expectBlocked(home, 'HAS_CONTINUATION');
  });

  it('T14: that is being written', async () => {
    const home = new TurnHome();
    let release = () => {};
    const held = inOrder(`${home.sessionsDir}/${SID}`, () => new Promise<void>((resolve) => (release = resolve)));
    await expectBlocked(home, 'LOCKED');
    release();
    await held;
  });

  it('T15: whose file was replaced meanwhile', async () => {
    const home = new TurnHome();
    const other = replacement(home, { active_stream_id: 'st2' });
    const sources = whileLooking(home, () => replace(home, other));
    expect(await repairSession(sources, SID, { dryRun: false })).toMatchObject({ outcome: 'CHANGED_UNDERNEATH', applied: false });
    expect(home.bytes).toBe(other);
  });

  it('G9: that was settled meanwhile', async () => {
    const home = new TurnHome();
    const other = replacement(home, { active_stream_id: null, pending_user_message: null });
    const sources = whileLooking(home, () => replace(home, other));
    expect(await repairSession(sources, SID, { dryRun: false })).toMatchObject({ outcome: 'NOT_PENDING', applied: false });
    expect(home.bytes).toBe(other);
  });

  it('G11: whose run goes on as it is about to be settled', async () => {
    const home = new TurnHome();
    const other = replacement(home, { title: 'Goes on' });
    const sources = whileLooking(home, () => {
      home.isLive = true;
      replace(home, other);
    });
    expect(await repairSession(sources, SID, { dryRun: false })).toMatchObject({ outcome: 'STREAM_LIVE', applied: false });
    expect(home.bytes).toBe(other);
  });

  it('whose file does not stop changing', async () => {
    const home = new TurnHome();
    let saves = 0;
    const sources = whileLooking(home, () => {
      saves += 1;
      replace(home, replacement(home, { title: `Save ${saves}` }));
    });
    expect(await repairSession(sources, SID, { dryRun: false })).toMatchObject({ outcome: 'CHANGED_UNDERNEATH', applied: false });
    expect(home.file).toMatchObject({ title: `Save ${saves}`, pending_user_message: 'Hello' });
  });
});

describe('a turn is settled', () => {
  it('together with what was saved while it was judged', async () => {
    const home = new TurnHome();
    let isSaved = false;
    const sources = whileLooking(home, () => {
      if (!isSaved) replace(home, replacement(home, { title: 'Saved meanwhile' }));
      isSaved = true;
    });
    expect(await repairSession(sources, SID, { dryRun: false })).toMatchObject({ outcome: 'MARKED_RETRY', applied: true });
    expect(home.file).toMatchObject({ title: 'Saved meanwhile', pending_user_message: null });
  });

  it('T2: without a run, where it is forced', async () => {
    const home = new TurnHome({ active_stream_id: null });
    expect(await home.repair({ force: true })).toMatchObject({ outcome: 'MARKED_NO_OUTPUT', applied: true, judged: { cause: 'UNKNOWN' } });
    expect(home.messages).toMatchObject([PROMPT, { type: 'interrupted', interruption_cause: 'unknown' }]);
    expect(home.messages[1]).not.toHaveProperty('_pending_journal_recovery');
  });

  it.each<[string, Fields, Fields]>([
    ['T8: a branch goes its own way', { session_source: 'fork' }, {}],
    ['D14: so does a focused continuation', { compression_recovery_source_session_id: SID, compression_recovery_action: 'x' }, {}],
  ])('%s', async (_, child, fields) => {
    const home = new TurnHome(fields);
    putSession(home.sessionsDir, 'c1', { parent_session_id: SID, ...child });
    expect(await home.repair()).toMatchObject({ outcome: 'MARKED_RETRY', applied: true });
  });

  it.each<[string, unknown, number]>([
    ['T10', T0 - 30, T0 - 30],
    ['T11', null, T0],
    ['T12', 'abc', T0],
  ])('%s: begun at %j', async (_, startedAt, timestamp) => {
    const home = new TurnHome({ pending_started_at: startedAt });
    expect(await home.repair()).toMatchObject({ outcome: 'MARKED_RETRY' });
    expect(home.messages[0]).toEqual({ ...PROMPT, timestamp });
  });

  it('T16: with the prompt and a marker that asks for a retry', async () => {
    const home = new TurnHome();
    const result = await home.repair();
    expect(result).toMatchObject({ outcome: 'MARKED_RETRY', applied: true, promptAppended: true, contextRowsAdded: 1, countAfter: 2 });
    expect(home.messages).toEqual([PROMPT, { ...MARKER, content: expect.any(String) }]);
    const { content } = home.messages[1] ?? {};
    expect(content).toMatch(/^\*\*Response interrupted\.\*\*\n\n.*before this turn finished/);
    expect(home.file).toMatchObject({
      context_messages: [PROMPT],
      message_count: 2,
      active_stream_id: null,
      pending_user_message: null,
      pending_attachments: [],
      pending_started_at: null,
      pending_user_source: null,
      updated_at: 2,
    });
    await expectBlocked(home, 'NOT_PENDING');
  });

  it('T16: and moves in lists where that is asked for', async () => {
    const home = new TurnHome();
    await home.repair({ touchesUpdatedAt: true });
    expect(home.file.updated_at).toBe(T0);
  });

  it('T17: the Web UI was started after it', async () => {
    const home = new TurnHome();
    home.webUi = { isStreaming: false, startedAt: T0 - 100 };
    await home.repair();
    expect(home.messages[1]).toMatchObject({ interruption_cause: 'process_restart' });
  });

  it('T18: with its source and attachments', async () => {
    const attachments = [{ name: 'a.txt' }];
    const home = new TurnHome({ pending_user_source: 'process_wakeup', pending_attachments: attachments });
    await home.repair();
    const prompt = { ...PROMPT, _source: 'process_wakeup', attachments };
    expect(home.messages[0]).toEqual(prompt);
    expect(home.context).toEqual([prompt]);
  });

  it('keeps members that nobody knows, and the bytes of what it does not change', async () => {
    const home = new TurnHome({ own: { n: 12345678901234567890n.toString() }, messages: [{ role: 'user', content: 'é', n: 1 }] });
    const text = home.bytes.replace('"n": 1', '"n": 1.0,\n      "big": 12345678901234567890');
    writeFileSync(home.path, text);
    await home.repair();
    expect(home.bytes).toContain('"n": 1.0,\n      "big": 12345678901234567890');
    expect(home.file.own).toEqual({ n: '12345678901234567890' });
    expect(STARTED).toBe(home.messages[1]?.timestamp);
  });
});
