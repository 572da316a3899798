/** What the Web UI keeps beside messages (`spec/webui-transcript.md` 11, `spec/webui-recovery.md` 24). */
import { describe, expect, it } from 'vitest';
import { messageFacts, NO_FACTS } from '../../../src/web-ui/transcript/message-facts.ts';

const answer = (more: object) => ({ role: 'assistant', content: 'a', timestamp: 5, ...more });

describe('beside a message', () => {
  it('are figures of its turn', () => {
    const facts = messageFacts(
      answer({
        _turnDuration: 7.25,
        _turnTps: 41.5,
        _firstTokenMs: 300,
        _usedModel: 'm',
        _turnUsage: { input_tokens: 10, output_tokens: 5, estimated_cost: 0.25 },
        _gatewayRouting: { used_model: 'm', _private: 1 },
        _statusCard: { title: 'Done' },
        _anchor_stream_id: 'st1',
        _media_snapshots: { '/srv/a.png': 'abc', '/srv/b.png': 7 },
      }),
    );
    expect(facts).toMatchObject({
      ...NO_FACTS,
      turn: {
        durationMs: 7250,
        tokensPerSecond: 41.5,
        firstTokenMs: 300,
        usedModel: 'm',
        usage: { inputTokens: 10, outputTokens: 5, estimatedCost: 0.25, final: true },
        routing: { used_model: 'm' },
        statusCard: { title: 'Done' },
        streamId: 'st1',
      },
      mediaSnapshots: [{ path: '/srv/a.png', digest: 'abc' }],
    });
    expect(facts?.turn?.routing).not.toHaveProperty('_private');
  });

  it('is where it came from after a crash', () => {
    expect(messageFacts({ role: 'user', content: 'q', _recovered: true, _source: 'process_wakeup' })).toEqual({
      ...NO_FACTS,
      recovered: true,
      source: 'process_wakeup',
    });
    const rebuilt = { _recovered_from_run_journal: true, _recovered_stream_id: 'st1', _recovered_event_id: 'st1:9', _error: true };
    expect(messageFacts(answer(rebuilt))).toEqual({
      ...NO_FACTS,
      recovered: true,
      recoveredFromRun: 'st1',
      recoveredEventId: 'st1:9',
      isError: true,
    });
    expect(messageFacts(answer({ _partial: true, _recovered_stream_id: 'stray' }))).toEqual({ ...NO_FACTS, partial: true });
  });

  it.each([
    [null],
    ['text'],
    [{ role: 'user', content: 'q', _ts: 5, timestamp: 5 }],
    [answer({ _turnUsage: [], _statusCard: {}, _partial: 0 })],
  ])('is nothing of %j', (message) => expect(messageFacts(message)).toBeNull());

  it('is cut where its writer knew no measure', () => {
    const facts = messageFacts(
      answer({
        _statusCard: { text: 'x'.repeat(500_000) },
        _usedModel: 'm'.repeat(5000),
        _media_snapshots: Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`/${at}`, 'd'])),
        _turnDuration: Number.POSITIVE_INFINITY,
      }),
    );
    expect(JSON.stringify(facts).length).toBeLessThan(30_000);
    expect(facts?.mediaSnapshots).toHaveLength(256);
    expect(facts?.turn?.durationMs).toBeNull();
  });
});
