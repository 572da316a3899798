/** How a turn ends, by its journal. */
import { describe, expect, it } from 'vitest';
import { joinEvents } from '../../../src/live/journal/join-events.ts';
import { authoritativeTerminal, outcomeOf } from '../../../src/live/journal/terminal.ts';
import { type JournalEntry, journalRecords } from '../../support/journal-lines.ts';
import { entry, fold, kinds, of, phases, RUN, token, tool } from './folded.ts';

const done = (payload: Record<string, unknown> = {}) =>
  entry('done', { session: { session_id: 's' }, usage: { input_tokens: 5 }, ...payload });
const streamEnd = entry('stream_end', { session_id: 's' });
const title = entry('title', { session_id: 's', title: 'Tea' });
const outcomes = (...entries: readonly JournalEntry[]) => of(fold(...entries).events, 'TurnEnded').map(({ outcome }) => outcome);

describe('the end', () => {
  it('25: done, metering, title and stream_end end the turn once, and the title comes after it', () => {
    const { state, events } = fold(token('x'), done(), entry('metering', { tps: 4 }), title, streamEnd);
    expect(kinds(events)).toEqual(['TextDelta', 'SegmentSealed', 'UsageChanged', 'TurnEnded', 'UsageChanged', 'TitleChanged']);
    expect(of(events, 'TurnEnded')).toMatchObject([
      { outcome: 'COMPLETED', certainty: 'CERTAIN', error: null, id: 'j:r:g:2', usage: { inputTokens: 5 } },
    ]);
    expect(of(events, 'SegmentSealed')).toMatchObject([{ by: 'TERMINAL', segment: 0 }]);
    expect(of(events, 'TitleChanged')).toMatchObject([{ title: 'Tea', automatic: true }]);
    expect(phases(events)).toEqual(['WRITING', 'FINALIZING']);
    expect(state).toMatchObject({
      title: 'Tea',
      usage: { inputTokens: 5, tokensPerSecond: 4, final: true },
      end: { outcome: 'COMPLETED', event: 'done' },
    });
  });

  it('25: joined in one frame the order stays', () => {
    const joined = joinEvents(fold(token('x'), done(), entry('metering', { tps: 4 }), title, streamEnd).events);
    expect(kinds(joined)).toEqual(['TextDelta', 'SegmentSealed', 'TurnEnded', 'UsageChanged', 'TitleChanged']);
  });

  it('26: stream_end alone completes the turn', () => {
    expect(outcomes(token('x'), streamEnd)).toEqual(['COMPLETED']);
  });

  it('27: the tool limit', () => {
    expect(outcomes(done({ terminal_state: 'tool_limit_reached' }), streamEnd)).toEqual(['TOOL_LIMIT']);
    expect(outcomes(entry('apperror', { type: 'tool_limit_reached' }))).toEqual(['TOOL_LIMIT']);
  });

  it('28: an error without stream_end fails the turn with the owner’s words', () => {
    const { events } = fold(
      entry('apperror', {
        type: 'rate_limit',
        label: 'Slow',
        message: 'slow down',
        hint: 'wait',
        details: 'd'.repeat(2000),
        recommended_recovery_action: 'retry',
      }),
    );
    expect(of(events, 'TurnEnded')).toMatchObject([
      {
        outcome: 'FAILED',
        error: { type: 'rate_limit', label: 'Slow', message: 'slow down', hint: 'wait' },
        recovery: { recommended_recovery_action: 'retry' },
      },
    ]);
    expect(of(events, 'TurnEnded')[0]?.error?.details).toHaveLength(1200);
  });

  it('28: a crash that the owner found is an interruption', () => {
    expect(outcomes(entry('apperror', { type: 'interrupted' }))).toEqual(['INTERRUPTED']);
  });

  it('29: of done and a later cancel the last has the word, and the correction names what it corrects', () => {
    const { state, events } = fold(done(), entry('cancel', { message: 'stopped', type: 'cancelled' }), streamEnd);
    expect(of(events, 'TurnEnded')).toMatchObject([
      { outcome: 'COMPLETED', id: 'j:r:g:1', corrects: null },
      { outcome: 'CANCELLED', id: 'j:r:g:2', corrects: 'j:r:g:1' },
    ]);
    expect(of(joinEvents(events), 'TurnEnded')).toMatchObject([{ outcome: 'CANCELLED' }]);
    expect(state.end).toMatchObject({ outcome: 'CANCELLED', event: 'cancel' });
  });

  it('29: stream_end never takes the word, and what says the same is not told again', () => {
    expect(outcomes(entry('apperror', { type: 'x' }), streamEnd)).toEqual(['FAILED']);
    expect(outcomes(streamEnd, entry('apperror', { type: 'x' }))).toEqual(['COMPLETED', 'FAILED']);
    expect(outcomes(streamEnd, done(), done(), streamEnd)).toEqual(['COMPLETED']);
    expect(outcomes(entry('cancel'), entry('apperror', { type: 'cancelled' }))).toEqual(['CANCELLED']);
  });

  it('29: a late line has no word against a later one', () => {
    expect(fold({ ...done(), seq: 2 }, { ...entry('cancel'), seq: 1 }).state.end?.outcome).toBe('COMPLETED');
  });

  it('32: a title refresh after stream_end is a title and no second end', () => {
    const { state, events } = fold(
      done(),
      streamEnd,
      entry('title_status', { status: 'refreshed', reason: 'llm' }),
      entry('title', { title: 'Better tea' }),
    );
    expect(of(events, 'TurnEnded')).toHaveLength(1);
    expect(of(events, 'TitleChanged').map(({ title: each, status }) => [each, status])).toEqual([
      [null, 'refreshed'],
      ['Better tea', null],
    ]);
    expect(state.title).toBe('Better tea');
  });

  it('a session that goes on as another is named', () => {
    const compressed = entry('compressed', { old_session_id: 's', new_session_id: 'child', message: 'x' });
    const [end] = of(fold(compressed, entry('done', { session: { session_id: 'child' } })).events, 'TurnEnded');
    expect(end).toMatchObject({ sessionId: 's', continuationSessionId: 'child' });
    expect(
      of(fold(entry('compressed', { old_session_id: 's', new_session_id: 's' }), done()).events, 'TurnEnded')[0]?.continuationSessionId,
    ).toBeNull();
  });

  it('a side question is marked', () => {
    expect(of(fold(done({ ephemeral: true, answer: 'yes' })).events, 'TurnEnded')[0]?.ephemeral).toBe(true);
  });

  it('the phase stays settled whatever trickles in', () => {
    expect(fold(token('x'), done(), token('y'), tool('t')).state.phase).toBe('FINALIZING');
  });

  it('a state of later versions is an end of unknown outcome', () => {
    expect(outcomeOf('brand-new')).toBe('UNKNOWN');
    expect(outcomeOf(null)).toBe('UNKNOWN');
  });
});

it('the line that counts among terminal lines', () => {
  const pick = (...names: readonly string[]) =>
    authoritativeTerminal(
      journalRecords(
        RUN,
        names.map((event) => ({ event })),
      ),
    )?.event;
  expect(pick('token')).toBeUndefined();
  expect(pick('apperror', 'stream_end')).toBe('apperror');
  expect(pick('apperror', 'done')).toBe('done');
  expect(pick('stream_end', 'done', 'stream_end')).toBe('done');
  expect(pick('stream_end', 'stream_end')).toBe('stream_end');
});
