/** Markers of interrupted turns, as far as they are read (`spec/webui-recovery.md` 6, 13.1). */
import { describe, expect, it } from 'vitest';
import { interruptionOf, journalRetryOf } from '../../src/web-ui/interruption.ts';
import { tailMarkers } from '../../src/web-ui/tail-markers.ts';

const marker = (more: object = {}) => ({
  role: 'assistant',
  type: 'interrupted',
  _error: true,
  content: 'whatever',
  interruption_cause: 'process_restart',
  ...more,
});
const armed = (more: object = {}) =>
  marker({
    _pending_journal_recovery: true,
    _journal_retry_stream_id: 'st1',
    _journal_retry_attempts: 3,
    _journal_retry_first_seen_ts: 1_782_000_000,
    ...more,
  });
const user = { role: 'user', content: 'next' };
const answer = { role: 'assistant', content: 'fine' };
const RETRY = { streamId: 'st1', attempts: 3, firstSeenAt: 1_782_000_000, givesUpAt: 1_782_086_400 };

describe('a marker', () => {
  it.each([
    ['process_restart', 'PROCESS_RESTART'],
    ['stream_run_split_brain', 'STREAM_RUN_SPLIT_BRAIN'],
    ['lost_worker_bookkeeping', 'LOST_WORKER_BOOKKEEPING'],
    ['unknown', 'UNKNOWN'],
    ['constructor', 'UNKNOWN'],
    [7, 'UNKNOWN'],
  ])('with the cause %s tells %s', (cause, expected) => {
    expect(interruptionOf(marker({ interruption_cause: cause }))).toEqual({ cause: expected, retry: null });
  });

  it('T70: without the flag has no retry, whatever keys are left of one', () => {
    expect(interruptionOf(armed({ _pending_journal_recovery: false }))?.retry).toBeNull();
    expect(journalRetryOf([armed({ _pending_journal_recovery: undefined })])).toBeNull();
  });

  it('is none by its text', () => {
    expect(
      interruptionOf({ role: 'assistant', content: '**Response interrupted.** Streaming ended before this turn finished.' }),
    ).toBeNull();
    expect(interruptionOf(marker({ _error: false }))).toBeNull();
    expect(interruptionOf(marker({ role: 'user' }))).toBeNull();
  });

  it('with values that are none is read as far as it goes', () => {
    const odd = { _journal_retry_stream_id: '', _journal_retry_attempts: -2.5, _journal_retry_first_seen_ts: 1e300 };
    expect(interruptionOf(armed(odd))?.retry).toEqual({ streamId: null, attempts: 0, firstSeenAt: null, givesUpAt: null });
  });
});

describe('a queued retry', () => {
  it('is passed over by words of the user and by errors', () => {
    expect(journalRetryOf([answer, armed(), user, { ...answer, _error: true }])).toEqual(RETRY);
  });

  it('T66: is over with a later answer', () => {
    expect(journalRetryOf([armed(), user, answer])).toBeNull();
  });

  it('is found in the text of a file', () => {
    const text = [user, armed(), user].map((message) => JSON.stringify(message)).join(',');
    expect(tailMarkers(text).retry).toEqual(RETRY);
    expect(tailMarkers(`${text},${JSON.stringify(answer)}`).retry).toBeNull();
  });
});
