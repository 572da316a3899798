/** Another look into a journal: `spec/webui-recovery.md` 26, T60 to T70; and runs that no prompt waits for (12). */
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../support/journal-lines.ts';
import { assistant, putSession, user } from '../sidecar-folder.ts';
import { answer, type Fields, PROMPT, RUN, SID, T0, TurnHome } from './turn-home.ts';

const token = (text: string): JournalEntry => ({ event: 'token', payload: { text } });
const TOOL: JournalEntry = { event: 'tool', payload: { name: 'ls' } };
const METERING: JournalEntry = { event: 'metering', payload: {} };

const SETTLED = {
  role: 'assistant',
  content: 'Response interrupted, long ago',
  timestamp: T0 - 3000,
  _error: true,
  type: 'interrupted',
  interruption_cause: 'process_restart',
};
const RETRY = {
  ...SETTLED,
  _pending_journal_recovery: true,
  _journal_retry_stream_id: RUN,
  _journal_retry_attempts: 0,
  _journal_retry_first_seen_ts: T0 - 3000,
};

const NO_TURN = { pending_user_message: null, active_stream_id: null, pending_started_at: null, pending_user_source: null };

/** A session whose turn was settled with a marker; `behind`: rows of later. */
function settled(marker: Fields = RETRY, behind: readonly Fields[] = [], before: readonly Fields[] = [PROMPT]): TurnHome {
  return new TurnHome({ ...NO_TURN, messages: [...before, marker, ...behind] });
}

/** The marker without its retry, and with a text that does not guess at causes. */
function final(text: string): Fields {
  return { ...SETTLED, content: `**Response interrupted.**\n\nStreaming ended before this turn finished. ${text}` };
}

const RECOVERED = final('The partial output above was rebuilt from the run journal; the run itself was not resumed.');
const NEUTRAL = final('Some of the output may be lost.');

async function expectUnchanged(home: TurnHome, outcome: string): Promise<void> {
  const before = home.bytes;
  expect(await home.retry()).toMatchObject({ outcome, applied: false });
  expect(home.bytes).toBe(before);
}

describe('the output came after all', () => {
  it('T60', async () => {
    const home = settled().journal(token('late'), TOOL);
    expect(await home.retry()).toMatchObject({
      outcome: 'RECOVERED',
      streamId: RUN,
      attemptsBefore: 0,
      attemptsAfter: 0,
      toolCallsAdded: 1,
    });
    expect(home.messages).toEqual([PROMPT, answer('late', T0 - 3500), RECOVERED]);
    expect(home.cards).toMatchObject([{ name: 'ls', assistant_msg_idx: 1 }]);
    expect(home.file).toMatchObject({ updated_at: 2, message_count: 3 });
    await expectUnchanged(home, 'NO_RETRY_QUEUED');
  });

  it.each<[string, Fields]>([
    ['T63: after many attempts', { _journal_retry_attempts: 12 }],
    ['T64: after a long time', { _journal_retry_first_seen_ts: T0 - 86_401 }],
    ['T64: at the end of its time', { _journal_retry_first_seen_ts: T0 - 86_400 }],
  ])('%s', async (_, more) => {
    const home = settled({ ...RETRY, ...more }).journal(token('late'));
    expect(await home.retry()).toMatchObject({ outcome: 'RECOVERED' });
    expect(home.messages).toEqual([PROMPT, answer('late', T0 - 3500), RECOVERED]);
  });

  it('T67: before the next turn', async () => {
    const next = user('next', T0 - 100);
    const home = settled(RETRY, [next]).journal(token('a'), TOOL);
    await home.retry();
    expect(home.messages).toEqual([PROMPT, answer('a', T0 - 3500), RECOVERED, next]);
    expect(home.cards).toMatchObject([{ assistant_msg_idx: 1 }]);
    expect(home.context).toEqual([PROMPT, answer('a', T0 - 3500), next]);
  });

  it('D7: cards of later turns stay with their messages', async () => {
    // An answer would end the retry.
    const home = new TurnHome({
      ...NO_TURN,
      messages: [PROMPT, RETRY, user('next', T0 - 100), assistant('b', T0 - 90, { _error: true })],
      tool_calls: [{ name: 'later', assistant_msg_idx: 3 }],
      context_messages: [PROMPT, user('next', T0 - 100)],
    }).journal(token('a'));
    expect(await home.retry()).toMatchObject({ outcome: 'RECOVERED' });
    expect(home.cards).toEqual([{ name: 'later', assistant_msg_idx: 4 }]);
    expect(home.context).toEqual([PROMPT, answer('a', T0 - 3500), user('next', T0 - 100)]);
  });

  it('T68: with an error', async () => {
    const error = { role: 'assistant', content: 'slow down', timestamp: T0 - 3400, _error: true };
    const session = { session_id: SID, messages: [user('Hello'), error] };
    const home = settled().journal(token('a'), { event: 'apperror', payload: { type: 'x', session_id: SID, session } });
    expect(await home.retry()).toMatchObject({ outcome: 'TERMINAL_ERROR', marker: null });
    const marks = { _recovered_from_run_journal: true, _recovered_stream_id: RUN, _recovered_event_id: `${RUN}:2` };
    expect(home.messages).toEqual([PROMPT, answer('a', T0 - 3500), { ...error, ...marks }]);
  });

  it('T69: and is there already', async () => {
    const there = answer('late', T0 - 3500);
    const home = settled(RETRY, [], [PROMPT, there]).journal(token('late'));
    expect(await home.retry()).toMatchObject({ outcome: 'ALREADY_PRESENT' });
    expect(home.messages).toEqual([PROMPT, there, RECOVERED]);
  });
});

describe('nothing came', () => {
  it('T61: the journal may still come', async () => {
    await expectUnchanged(settled(), 'WAITING');
    const empty = settled();
    empty.journalOf(RUN, []);
    await expectUnchanged(empty, 'WAITING');
  });

  it('T62: attempts are counted, and end', async () => {
    const home = settled().journal(METERING);
    expect(await home.retry()).toMatchObject({ outcome: 'COUNTED', attemptsBefore: 0, attemptsAfter: 1 });
    expect(home.messages).toEqual([PROMPT, { ...RETRY, _journal_retry_attempts: 1 }]);
    const last = settled({ ...RETRY, _journal_retry_attempts: 11 }).journal(METERING);
    expect(await last.retry()).toMatchObject({ outcome: 'DEMOTED', attemptsBefore: 11, attemptsAfter: 0 });
    expect(last.messages).toEqual([PROMPT, NEUTRAL]);
  });

  it.each<[string, Fields]>([
    ['T65: of a marker without a run', { _journal_retry_stream_id: null }],
    ['after many attempts', { _journal_retry_attempts: 12 }],
    ['after a long time', { _journal_retry_first_seen_ts: T0 - 86_401 }],
  ])('%s', async (_, more) => {
    const home = settled({ ...RETRY, ...more });
    expect(await home.retry()).toMatchObject({ outcome: 'DEMOTED' });
    expect(home.messages).toEqual([PROMPT, NEUTRAL]);
  });

  it('T66: a later answer ends the retry', async () => {
    await expectUnchanged(settled(RETRY, [user('u', T0 - 50), assistant('a', T0 - 40)]).journal(token('late')), 'NO_RETRY_QUEUED');
  });

  it('T70: a marker without the flag asks for none', async () => {
    const { _pending_journal_recovery: _, ...marker } = RETRY;
    await expectUnchanged(settled(marker).journal(token('late')), 'NO_RETRY_QUEUED');
  });
});

describe('a run that no prompt waits for', () => {
  const RUN_ALONE = { pending_user_message: null, pending_started_at: null, messages: [user('q', 1), assistant('a', 2)] };

  it('is cleared, and nothing else', async () => {
    const home = new TurnHome(RUN_ALONE);
    expect(await home.clear()).toMatchObject({ outcome: 'CLEARED', applied: true, streamId: RUN });
    expect(home.file).toMatchObject({ active_stream_id: null, messages: RUN_ALONE.messages, updated_at: 2 });
    expect(await home.clear()).toMatchObject({ outcome: 'NOT_PENDING', applied: false });
  });

  it('is left while its stream is open, while it is continued, and in a snapshot', async () => {
    const live = new TurnHome(RUN_ALONE);
    live.isLive = true;
    expect(await live.clear({ force: true })).toMatchObject({ outcome: 'STREAM_LIVE', applied: false });
    const continued = new TurnHome(RUN_ALONE);
    putSession(continued.sessionsDir, 'c1', { parent_session_id: SID });
    expect(await continued.clear()).toMatchObject({ outcome: 'HAS_CONTINUATION' });
    expect(await new TurnHome({ ...RUN_ALONE, pre_compression_snapshot: true }).clear()).toMatchObject({
      outcome: 'PRE_COMPRESSION_SNAPSHOT',
    });
  });

  it('with a prompt it is settled as a turn', async () => {
    const home = new TurnHome().journal(token('a'));
    expect(await home.clear()).toMatchObject({ outcome: 'RECOVERED_OUTPUT' });
    expect(home.messages).toMatchObject([PROMPT, answer('a', T0 - 3500), { type: 'interrupted' }]);
  });
});
