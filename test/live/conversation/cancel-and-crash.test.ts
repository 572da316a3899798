/** Ends that no journal tells: cancelled, superseded, crashed, silent (`spec/live-turns.md` 9, 21 cases 33 to 40). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FollowedTurns, type Reader } from './following.ts';
import { expectOnce, place, textOf } from './telling.ts';

async function running(): Promise<{ test: FollowedTurns; reader: Reader }> {
  const test = await FollowedTurns.begin({ tickMs: 50 });
  await test.ui.createSession('s');
  const reader = await test.follow('s');
  await test.ui.submit({ sessionId: 's', runId: 'r', text: 'hi' });
  await test.ui.journal('s', 'r', [{ event: 'context_status' }, { event: 'token', payload: { text: 'Hello ' } }]);
  await test.ui.rows('s', [{ role: 'user', content: 'hi' }]);
  await reader.until('TextDelta');
  return { test, reader };
}

/** As in a container of its own: the process can't be seen, since no turn journal names it. */
async function runningUnseen(): Promise<{ test: FollowedTurns; reader: Reader }> {
  const test = await FollowedTurns.begin({ tickMs: 50 });
  await test.ui.createSession('s');
  const reader = await test.follow('s');
  await test.ui.sidecar('s', { active_stream_id: 'r', pending_user_message: 'hi', pending_started_at: Date.now() / 1000 });
  await test.ui.lease('s', 'acquire');
  await test.ui.journal('s', 'r', [{ event: 'context_status' }, { event: 'token', payload: { text: 'Hello ' } }]);
  await test.ui.rows('s', [{ role: 'user', content: 'hi' }]);
  await reader.until('TextDelta');
  return { test, reader };
}

const outcomes = (reader: Reader) => reader.of('TurnEnded').map(({ turnId, outcome, certainty }) => `${turnId} ${outcome} ${certainty}`);
const states = (reader: Reader) => reader.of('LivenessChanged').map(({ state }) => state);

describe('a turn that is cancelled', () => {
  it('33: is cancelling until its worker says that it has stopped', async () => {
    const { test, reader } = await running();
    await test.ui.settle({ sessionId: 's', runId: 'r', cancelled: true });
    await reader.when('CANCELLING', () => reader.of('TurnPhaseChanged').some(({ phase }) => phase === 'CANCELLING'));
    test.ahead = 12;
    await test.looks();
    expect(reader.of('TurnEnded')).toEqual([]);
    await test.ui.journal('s', 'r', [{ event: 'cancel', payload: { message: 'Cancelled', type: 'cancelled' } }]);
    await reader.until('TurnEnded');
    await test.looks();
    expect(outcomes(reader)).toEqual(['r CANCELLED CERTAIN']);
    expectOnce(reader);
  });

  it('34: is over after three minutes when its worker says nothing; what it says later changes nothing', async () => {
    const { test, reader } = await running();
    await test.ui.settle({ sessionId: 's', runId: 'r', cancelled: true });
    await reader.when('CANCELLING', () => reader.of('TurnPhaseChanged').some(({ phase }) => phase === 'CANCELLING'));
    test.ahead = 170;
    await test.looks();
    expect(reader.of('TurnEnded')).toEqual([]);
    test.ahead = 182;
    await reader.until('TurnEnded');
    expect(outcomes(reader)).toEqual(['r CANCELLED HIGH']);
    await test.ui.journal('s', 'r', [{ event: 'cancel', payload: { message: 'Cancelled', type: 'cancelled' } }]);
    await test.looks();
    expect(outcomes(reader)).toEqual(['r CANCELLED HIGH']);
    expectOnce(reader);
  });

  it('35: is superseded when the next one took the session and it stays silent', async () => {
    const { test, reader } = await running();
    await test.ui.sidecar('s', { active_stream_id: null, pending_user_message: null });
    await test.ui.submit({ sessionId: 's', runId: 'r2', text: 'Next' });
    await reader.when('the next turn', () => reader.of('TurnStarted').some(({ turnId }) => turnId === 'r2'));
    expect(reader.of('TurnEnded')).toEqual([]);
    test.ahead = 15;
    await test.looks();
    expect(reader.of('TurnEnded')).toEqual([]);
    test.ahead = 22;
    await reader.until('TurnEnded');
    expect(outcomes(reader)).toEqual(['r SUPERSEDED HIGH']);
    await test.ui.journal('s', 'r2', [{ event: 'token', payload: { text: 'Yes.' } }, { event: 'done' }]);
    await reader.until('TurnEnded', 2);
    expect(outcomes(reader)).toEqual(['r SUPERSEDED HIGH', 'r2 COMPLETED CERTAIN']);
    expectOnce(reader);
  });
});

describe('a turn that crashes', () => {
  it('36: is interrupted within seconds when its process is gone', async () => {
    const { test, reader } = await running();
    await test.restartUi();
    await reader.until('TurnEnded');
    expect(outcomes(reader)).toEqual(['r INTERRUPTED CERTAIN']);
    expect(states(reader)).toEqual(['DEAD']);
    expect(place(reader.events, 'LivenessChanged')).toBeLessThan(place(reader.events, 'TurnEnded'));
    expect(reader.of('LivenessChanged')[0]?.evidence.map(({ code }) => code)).toContain('PROCESS_DEAD');
    await test.looks();
    expect(outcomes(reader)).toHaveLength(1);
  });

  it('T83: has its end told by evidence, and no line of its journal is written or numbered for it', async () => {
    const { test, reader } = await running();
    const journal = () => readFileSync(join(test.ui.sessions, '_run_journal', 's', 'r.jsonl'), 'utf8');
    const before = journal();
    await test.restartUi();
    await reader.until('TurnEnded');
    expect(outcomes(reader)).toEqual(['r INTERRUPTED CERTAIN']);
    expect(reader.of('TurnEnded')[0]).toMatchObject({ origin: 'DERIVED' });
    expect(journal()).toBe(before);
    expect(readdirSync(join(test.ui.sessions, '_run_journal', 's'))).toEqual(['r.jsonl']);
  });

  it('36: stays interrupted, once, whatever the turns behind it leave in the sidecar', async () => {
    const { test, reader } = await running();
    await test.restartUi();
    await reader.until('TurnEnded');
    await test.ui.submit({ sessionId: 's', runId: 'r2', text: 'Next' });
    await test.ui.journal('s', 'r2', [{ event: 'token', payload: { text: 'Yes' } }]);
    await test.looks();
    await test.ui.settle({ sessionId: 's', runId: 'r2', cancelled: true });
    await test.ui.journal('s', 'r2', [{ event: 'cancel', payload: { message: 'Cancelled', type: 'cancelled' } }]);
    await reader.until('TurnEnded', 2);
    await test.ui.sidecar('s', { active_stream_id: null }, []);
    await test.looks();
    expect(outcomes(reader)).toEqual(['r INTERRUPTED CERTAIN', 'r2 CANCELLED CERTAIN']);
    expectOnce(reader);
  });

  it('37: is interrupted with the end of its lease, which spoke for it until then, when its process can not be seen', async () => {
    const { test, reader } = await runningUnseen();
    test.ahead = 295;
    await test.looks();
    expect(states(reader)).toEqual([]);
    test.ahead = 302;
    // With the end of the lease all that speaks for life is five minutes old; suspicion and end come in one look at most.
    await reader.until('TurnEnded');
    expect(outcomes(reader)).toEqual(['r INTERRUPTED LOW']);
    expect(states(reader).at(-1)).toBe('DEAD');
  });

  it('37: is suspect after ninety seconds without a lease', async () => {
    const { test, reader } = await runningUnseen();
    await test.ui.lease('s', 'release');
    test.ahead = 80;
    await test.looks();
    expect(states(reader)).toEqual([]);
    test.ahead = 100;
    await reader.until('LivenessChanged');
    expect(states(reader)).toEqual(['SUSPECT']);
    expect(reader.of('TurnEnded')).toEqual([]);
    test.ahead = 310;
    await reader.until('TurnEnded');
    expect(outcomes(reader)).toEqual(['r INTERRUPTED LOW']);
    expect(states(reader)).toEqual(['SUSPECT', 'DEAD']);
  });

  it('38: and yet goes on is alive again, and ends anew', async () => {
    const { test, reader } = await runningUnseen();
    await test.ui.lease('s', 'release');
    test.ahead = 310;
    await reader.until('TurnEnded');
    await test.ui.journal('s', 'r', [{ event: 'token', payload: { text: 'again' } }]);
    await reader.when('the text', () => textOf(reader.events)[0] === 'Hello again');
    await reader.when('ALIVE', () => states(reader).at(-1) === 'ALIVE');
    const revived = reader.events.findIndex((event) => event.kind === 'LivenessChanged' && event.state === 'ALIVE');
    expect(revived).toBeLessThan(place(reader.events, 'TextDelta', (event) => event.kind === 'TextDelta' && event.text === 'again'));
    await test.ui.rows('s', [{ role: 'assistant', content: 'Hello again' }]);
    await test.ui.journal('s', 'r', [{ event: 'done' }]);
    await reader.until('TurnEnded', 2);
    await test.looks();
    expect(outcomes(reader)).toEqual(['r INTERRUPTED LOW', 'r COMPLETED CERTAIN']);
    expect(reader.of('MessagesAppended').at(-1)?.supersedes).toEqual([{ runId: 'r', part: 'TEXT', segment: 0, toolCallId: null }]);
    expectOnce(reader);
  });

  it('39: and is repaired by the Web UI later tells the repair and no text again', async () => {
    const { test, reader } = await running();
    await test.restartUi();
    await reader.until('TurnEnded');
    const recovered = { role: 'assistant', content: 'Hello ', _recovered_from_run_journal: true, _recovered_stream_id: 'r', timestamp: 1 };
    const marker = {
      role: 'assistant',
      content: 'Interrupted',
      _error: true,
      type: 'interrupted',
      timestamp: Math.floor(Date.now() / 1000),
    };
    await test.ui.sidecar('s', { active_stream_id: null, pending_user_message: null }, [
      { role: 'user', content: 'hi' },
      recovered,
      marker,
    ]);
    await reader.until('TranscriptRepaired');
    // The repair is in the Web UI's file only: no SessionChanged, since nothing of the session changed in the store.
    await test.looks();
    expect(reader.of('TranscriptRepaired')).toEqual([expect.objectContaining({ recoveredFromRunId: 'r', count: 1, pendingRetry: false })]);
    expect(textOf(reader.events)).toEqual(['Hello ']);
    expect(outcomes(reader)).toEqual(['r INTERRUPTED CERTAIN']);
    expectOnce(reader);
  });
});

describe('a turn in which a tool is silent for twenty minutes', () => {
  it('40: lives while its process does', async () => {
    const { test, reader } = await running();
    await test.ui.journal('s', 'r', [{ event: 'tool', payload: { name: 'terminal', tid: 'c1' } }]);
    await reader.until('ToolStarted');
    for (const minutes of [5, 10, 20]) {
      test.ahead = minutes * 60;
      await test.looks();
    }
    expect(states(reader)).toEqual([]);
    expect(reader.of('TurnEnded')).toEqual([]);
  });

  it('40: lives while its lease is renewed, and tells no more heartbeats than there are', async () => {
    const { test, reader } = await runningUnseen();
    await test.ui.journal('s', 'r', [{ event: 'tool', payload: { name: 'terminal', tid: 'c1' } }]);
    await reader.until('ToolStarted');
    const begun = reader.of('ActivityHeartbeat').length;
    for (let minute = 1; minute <= 20; minute++) {
      const now = Date.now() / 1000 + minute * 60;
      await test.commit(
        ['UPDATE session_turn_leases SET expires_at = ?', now + 300],
        ["UPDATE sessions SET last_activity_at = ?, last_activity_description = 'terminal' WHERE id = 's'", now],
      );
      await test.told();
      test.ahead = minute * 60;
      await test.looks(1);
    }
    await test.looks();
    expect(states(reader)).toEqual([]);
    expect(reader.of('TurnEnded')).toEqual([]);
    expect(reader.of('ActivityHeartbeat').length - begun).toBeLessThanOrEqual(21);
  });
});
