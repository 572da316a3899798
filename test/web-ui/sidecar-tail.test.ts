/** Markers on the last messages of a sidecar, wherever these stand in the file. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readSidecarTail } from '../../src/web-ui/sidecar-head.ts';
import { tailMarkers } from '../../src/web-ui/tail-markers.ts';
import { fixturesDir } from '../support/golden.ts';
import { type Fields, newSessionsDir, saveSidecar, sidecarPath, sidecarText } from '../support/sidecars.ts';
import { removeStores } from '../support/stores.ts';

afterAll(removeStores);

const T = 1_782_000_000;
const user = { role: 'user', content: 'asked', timestamp: T };
const answer = { role: 'assistant', content: 'answered', timestamp: T + 1 };
const cancelled = { role: 'assistant', content: '*Task cancelled.*', _error: true, timestamp: T + 9 };
const interrupted = { role: 'assistant', type: 'interrupted', _error: true, timestamp: T + 8, content: '**Response interrupted.**' };
const recovered = { role: 'assistant', content: 'part', _recovered_from_run_journal: true, _recovered_stream_id: 'run', timestamp: T + 5 };
const retry = { ...interrupted, _pending_journal_recovery: true, _journal_retry_stream_id: 'run' };

const nothing = { cancelledAt: null, interruptedAt: null, recovered: null, retry: null };

describe.each([
  ['indented', (messages: readonly unknown[]) => JSON.stringify({ messages }, null, 2)],
  ['compact', (messages: readonly unknown[]) => JSON.stringify({ messages })],
])('the markers of messages, %s', (_, textOf) => {
  it.each<[string, Fields[], object]>([
    ['none', [user, answer], nothing],
    ['no messages', [], nothing],
    ['33: a cancellation', [user, { ...answer, _partial: true }, cancelled], { ...nothing, cancelledAt: T + 9 }],
    [
      'a cancellation with a hint',
      [user, { ...cancelled, content: '**Task cancelled:** x\n\n*hint*' }],
      { ...nothing, cancelledAt: T + 9 },
    ],
    ['a cancellation by its type', [user, { ...cancelled, type: 'cancelled', content: '' }], { ...nothing, cancelledAt: T + 9 }],
    ['a cancellation in parts', [user, { ...cancelled, content: [{ type: 'text', text: 'Task canceled' }] }], { cancelledAt: T + 9 }],
    ['an answer that only talks of it', [user, { ...answer, content: 'Task cancelled.' }], nothing],
    ['a cancellation that is not the last', [user, cancelled, { ...user, timestamp: T + 20 }], nothing],
    ['a cancellation without a time', [user, { ...cancelled, timestamp: 'then' }], nothing],
    ['another error', [user, { ...cancelled, type: 'rate_limit', content: 'Too many' }], nothing],
    ['39: an interruption', [user, interrupted], { ...nothing, interruptedAt: T + 8 }],
    ['an interruption of a turn before', [user, interrupted, user, answer], nothing],
    [
      '39: what was recovered',
      [user, answer, { ...user, _recovered: true }, recovered, recovered, interrupted],
      { ...nothing, interruptedAt: T + 8, recovered: { runId: 'run', count: 3, pendingRetry: false } },
    ],
    [
      'a repair that is tried again',
      [user, retry],
      {
        ...nothing,
        interruptedAt: T + 8,
        recovered: { runId: 'run', count: 0, pendingRetry: true },
        retry: { streamId: 'run', attempts: 0, firstSeenAt: null, givesUpAt: null },
      },
    ],
    [
      'messages of any shape',
      [user, { role: 'assistant', content: 'a{"role": "x"}', args: [{ role: 'user' }] }, cancelled],
      { cancelledAt: T + 9 },
    ],
  ])('%s', (_name, messages, expected) => {
    expect(tailMarkers(textOf(messages))).toMatchObject(expected);
  });

  it('a text that begins anywhere tells the same, as long as the markers are whole', () => {
    const text = textOf([user, { ...answer, content: 'quote " brace { \\ "role": {"role":' }, user, recovered, interrupted]);
    const last = text.lastIndexOf('{');
    for (let from = 0; from <= text.indexOf('part') - 60; from++) {
      expect(tailMarkers(text.slice(from))).toMatchObject({ interruptedAt: T + 8, recovered: { count: 1 } });
    }
    for (let from = 0; from <= last; from++) expect(tailMarkers(text.slice(from)).interruptedAt).toBe(T + 8);
    expect(tailMarkers(text.slice(last + 1))).toEqual(nothing);
  });
});

describe('the end of a sidecar’s messages', () => {
  async function tailOf(text: string) {
    const folder = newSessionsDir();
    writeFileSync(sidecarPath(folder, 's'), text);
    return readSidecarTail(folder, 's');
  }

  it('is found before megabytes of activity records and context', async () => {
    const behind = {
      tool_calls: [{ name: 'terminal', snippet: 'x'.repeat(100_000) }],
      anchor_activity_scenes: { a: { scene: 'y'.repeat(400_000) } },
      context_messages: Array.from({ length: 300 }, () => ({ role: 'assistant', content: 'z'.repeat(10_000), tool_calls: [{ id: '1' }] })),
    };
    expect(await tailOf(sidecarText('s', {}, [user, cancelled], behind))).toEqual({ ...nothing, cancelledAt: T + 9 });
    expect(await tailOf(sidecarText('s', {}, [user, cancelled], behind).replaceAll('\n', '\r\n'))).toMatchObject({ cancelledAt: T + 9 });
  });

  it('is found wherever the boundary lies against the steps of the search', async () => {
    for (let pad = 262_144 - 60; pad < 262_144 + 4; pad++) {
      const text = sidecarText('s', {}, [user, cancelled], { context_messages: 'x'.repeat(pad) });
      expect((await tailOf(text))?.cancelledAt).toBe(T + 9);
    }
  });

  it('is found in a compact file with a short context', async () => {
    const text = JSON.stringify({ messages: [user, cancelled], tool_calls: [], context_messages: [user, answer] });
    expect(await tailOf(text)).toEqual({ ...nothing, cancelledAt: T + 9 });
  });

  it('is looked at in its last 64 KiB, and no more of a long message', async () => {
    const long = { ...answer, content: 'x'.repeat(300_000) };
    expect(await tailOf(sidecarText('s', {}, [user, long, cancelled]))).toEqual({ ...nothing, cancelledAt: T + 9 });
    expect(await tailOf(sidecarText('s', {}, [user, cancelled, long]))).toEqual(nothing);
  });

  it('tells nothing of what is no sidecar', async () => {
    for (const text of ['', '[]', '{', 'nope']) expect(await tailOf(text)).toEqual(nothing);
    const folder = newSessionsDir();
    expect(await readSidecarTail(folder, 's')).toBeNull();
    expect(await readSidecarTail(folder, '../s')).toBeNull();
    saveSidecar(folder, 's', sidecarText('s', {}, [user, cancelled]));
    expect(await readSidecarTail(folder, 's')).toMatchObject({ cancelledAt: T + 9 });
  });

  it.each([
    ['mw_normal', nothing],
    ['mw_retry_ready', { interruptedAt: 1_782_000_469, recovered: { runId: 'stream-rr', count: 0, pendingRetry: true } }],
    ['mw_damaged', nothing],
    ['mw_dup_partials', nothing],
  ])('of a file that the owner wrote: %s', async (id, expected) => {
    expect(await readSidecarTail(join(fixturesDir(), 'stores', 'webui-home', 'webui', 'sessions'), id)).toMatchObject(expected);
  });
});
