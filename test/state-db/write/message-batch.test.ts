import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeBatch } from '../../../src/state-db/write/message-batch.ts';
import type { EncodedMessage, TranscriptMessage } from '../../../src/state-db/write/message-encoding.ts';
import { buildStore, S, type SchemaVersion } from '../../support/stores.ts';
import { writeConnection } from '../../support/write-connection.ts';

const NOW = 1_760_000_000.5;
/** Between neighbouring times of our years; a step of a microsecond is rounded to a multiple of it. */
const ROUNDING = 2 ** -22;

const shapeOf = (schema: SchemaVersion) => writeConnection(buildStore({ schema, rows: [S('s')] })).shape;
const NEWEST = shapeOf(31);

function encode(messages: readonly TranscriptMessage[], shape = NEWEST): EncodedMessage[] {
  let minted = 0;
  const mintUid = () => `uid${++minted}`;
  return encodeBatch(messages, { sessionId: 's', shape, now: NOW, mintUid });
}

describe('the clock of a batch (V6)', () => {
  it('T11: gives strictly increasing times, a microsecond apart', () => {
    const times = encode([{}, {}, {}]).map(({ timestamp }) => timestamp);
    expect(times[0]).toBe(NOW);
    for (const [index, time] of times.entries()) {
      if (index > 0) expect(time - (times[index - 1] ?? 0)).toBeGreaterThanOrEqual(0.000001 - ROUNDING);
    }
    expect(new Set(times).size).toBe(3);
  });

  it('goes on behind times that are given, and not back for old ones', () => {
    const times = encode([{ timestamp: NOW + 60 }, {}, { timestamp: 5 }, {}]).map(({ timestamp }) => timestamp);
    expect(times[1]).toBeGreaterThan(NOW + 60);
    expect(times[2]).toBe(5);
    expect(times[3]).toBeGreaterThan(times[1] ?? 0);
  });

  it('makes no time that was there before', () => {
    const given = fc.option(fc.double({ min: 0, max: 4_199_999_999, noNaN: true }), { nil: undefined });
    fc.assert(
      fc.property(fc.array(given, { maxLength: 20 }), (times) => {
        const encoded = encode(times.map((timestamp) => ({ timestamp })));
        let latest = 0;
        for (const [index, { timestamp }] of encoded.entries()) {
          if (times[index] === undefined) expect(timestamp).toBeGreaterThan(latest);
          latest = Math.max(latest, timestamp);
        }
      }),
    );
  });
});

describe('results and their calls (V10)', () => {
  const assistant = (...ids: unknown[]): TranscriptMessage => ({
    role: 'assistant',
    message_uid: 'm',
    tool_calls: ids.map((id) => ({ id })),
  });
  const tool = (id: unknown, more: TranscriptMessage = {}): TranscriptMessage => ({
    role: 'tool',
    message_uid: 'm',
    tool_call_id: id,
    ...more,
  });
  const paired = (messages: readonly TranscriptMessage[]) =>
    encode(messages).flatMap(({ toolCallUid }, index) => (messages[index]?.role === 'tool' ? [toolCallUid] : []));
  const user: TranscriptMessage = { role: 'user', message_uid: 'm' };

  it('share the uid of the call, one for each id of a row', () => {
    const encoded = encode([assistant('a', 'b', 'a', null), tool('b'), tool('a'), tool('a'), tool('z'), tool(null)]);
    expect(encoded[0]?.toolCallUids).toEqual({ a: 'uid1', b: 'uid2' });
    expect(encoded.slice(1).map(({ toolCallUid }) => toolCallUid)).toEqual(['uid2', 'uid1', 'uid1', null, null]);
  });

  it('belong to the nearest row before them', () => {
    expect(paired([assistant('a'), tool('a'), assistant('a'), tool('a')])).toEqual(['uid1', 'uid2']);
  });

  it('do not belong together over a message of a user', () => {
    expect(paired([assistant('a'), user, tool('a')])).toEqual([null]);
    expect(paired([tool('a'), assistant('a')])).toEqual([null]);
  });

  it('take the occurrences of an id in turn where turns were folded', () => {
    const folded = { ...assistant('a', 'a'), _tool_call_uids: { a: ['one', 'two'] } };
    expect(paired([folded, tool('a'), tool('a'), tool('a')])).toEqual(['one', 'two', 'two']);
  });

  it('keep the uids that they bring', () => {
    expect(paired([assistant('a'), tool('a', { _tool_call_uid: 'own' }), tool('a', { tool_call_uid: 'stored' })])).toEqual([
      'own',
      'stored',
    ]);
    const stored = { ...assistant('a'), tool_call_uids: '{"a": "kept"}' };
    expect(paired([stored, tool('a')])).toEqual(['kept']);
  });

  it('have no uids in a store without the columns', () => {
    const encoded = encode([assistant('a'), tool('a')], shapeOf(30));
    expect(encoded.map(({ toolCallUid, toolCallUids, uid }) => [toolCallUid, toolCallUids, uid])).toEqual([
      [null, null, null],
      [null, null, null],
    ]);
  });
});
