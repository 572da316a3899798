/** What spool files may hold, and the form in which ours are written (`spec/state-db-writes.md` S2 to S4). */
import { describe, expect, it } from 'vitest';
import { lineText, parseSpoolJson, spoolText } from '../../src/transcript/spool-json.ts';
import { decodePayload, makePayload, previewOf, stableUid, withStableUid } from '../../src/transcript/spool-payload.ts';
import { loadGolden } from '../support/golden.ts';
import { capDrop, enveloped, user } from '../support/spool.ts';

const decode = (value: unknown) => decodePayload(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));
const ID = '0123456789abcdef0123456789abcdef';

interface Outage {
  readonly spool_samples?: readonly { readonly path: string; readonly json: Record<string, unknown> }[];
}

describe('a payload that is made', () => {
  it('has the keys, their order and the text of the owning programs, and the envelope besides', () => {
    const samples = loadGolden<Outage>('basic', 'retry_queue').cases.flatMap(({ spool_samples }) => spool_samples ?? []);
    expect(samples).toHaveLength(2);
    for (const { json } of samples) {
      const { session_id, message } = json.data as { session_id: string; message: Record<string, unknown> };
      const made = makePayload('transcript_cap_drop', session_id, message, { ts: Number(json.ts), seq: Number(json.seq) });
      const { data, ...rest } = JSON.parse(made.text) as { data: { message: Record<string, unknown>; transcript: unknown } };
      const { message_uid, ...bare } = data.message;
      expect(message_uid).toBe(made.messageUid);
      expect(made.messageUid).toMatch(/^[0-9a-f]{32}$/);
      expect(data.transcript).toEqual({ schema: 'hermes.session.transcript', version: 1, messages: [data.message] });
      const { transcript, ...withoutEnvelope } = data;
      void transcript;
      const asOwner = { ...rest, data: { ...withoutEnvelope, message: bare } };
      expect(JSON.stringify(asOwner)).toBe(JSON.stringify(json));
    }
  });

  it('is indented by 2, keeps non-ASCII, writes whole numbers of any size and strings for what JSON lacks', () => {
    const value = { a: 'é ☃ 😀', n: 12345678901234567890n, none: [], map: new Map(), odd: Number.NaN, u: undefined, lone: '\ud800' };
    expect(spoolText(value)).toBe(
      '{\n  "a": "é ☃ 😀",\n  "n": 12345678901234567890,\n  "none": [],\n  "map": "[object Map]",\n  "odd": "NaN",\n  "lone": "\\ud800"\n}',
    );
  });

  it('keeps the uid that a message has', () => {
    expect(makePayload('transcript_cap_drop', 's', user('a', { message_uid: 'mine' }), { ts: 1, seq: 0 }).messageUid).toBe('mine');
  });

  it('can be read back, with the role that a row without one gets', () => {
    const { text, messageUid } = makePayload('routing_dead_letter', 's', { content: 'a' }, { ts: 7, seq: 3 });
    expect(decode(text)).toEqual({
      kind: 'DEAD_LETTER',
      reason: 'routing_dead_letter',
      ts: 7,
      seq: 3,
      sessionId: 's',
      messages: [{ content: 'a', role: 'unknown', message_uid: messageUid }],
      identified: true,
    });
  });
});

describe('a payload that is read', () => {
  it('T48: holds a message alone or an envelope alone', () => {
    expect(decode(capDrop('s', 5, 1, user('a')))).toMatchObject({ kind: 'CAP_DROP', messages: [user('a')], identified: false });
    const message = user('a', { message_uid: 'u' });
    expect(decode(enveloped('s', 5, 1, [message]))).toMatchObject({ kind: 'CAP_DROP', messages: [message], identified: true });
  });

  it.each([
    ['T49: of version 2', enveloped('s', 1, 0, [user('a', { message_uid: 'u' })], 2), 'TRANSCRIPT_UNKNOWN'],
    ['with a message without a uid', enveloped('s', 1, 0, [user('a')]), 'TRANSCRIPT_INVALID'],
    ['with a uid twice', enveloped('s', 1, 0, [user('a', { message_uid: 'u' }), user('b', { message_uid: 'u' })]), 'TRANSCRIPT_INVALID'],
    ['with an empty role', enveloped('s', 1, 0, [{ role: '', message_uid: 'u' }]), 'TRANSCRIPT_INVALID'],
    ['with a message that is no object', enveloped('s', 1, 0, [user('a', { message_uid: 'u' }), 7]), 'TRANSCRIPT_INVALID'],
    ['with nothing in it', enveloped('s', 1, 0, []), 'TRANSCRIPT_INVALID'],
  ])('an envelope %s is invalid as a whole', (_what, payload, problem) => {
    expect(decode(payload)).toMatchObject({ kind: 'INVALID', problem, sessionId: 's', reason: 'transcript_cap_drop' });
  });

  it('an envelope that is invalid is not replaced by the message beside it', () => {
    const payload = capDrop('s', 1, 0, user('a'));
    const both = { ...payload, data: { ...(payload.data as object), transcript: { schema: 'hermes.session.transcript', version: 2 } } };
    expect(decode(both)).toMatchObject({ kind: 'INVALID', problem: 'TRANSCRIPT_UNKNOWN' });
  });

  it('is input of a person for any other reason, as long as it has a text and a key', () => {
    const input = { session_key: 'agent:main:telegram:dm:7', reason: 'shutdown', ts: 9, data: { text: 'hello', session_id: 's' } };
    expect(decode(input)).toEqual({
      kind: 'PENDING_INPUT',
      reason: 'shutdown',
      ts: 9,
      seq: 0,
      sessionKey: 'agent:main:telegram:dm:7',
      sessionId: 's',
      text: 'hello',
    });
    expect(decode({ ...input, data: {} })).toMatchObject({ kind: 'INVALID', problem: 'NO_TEXT' });
    expect(decode({ ...input, session_key: 7 })).toMatchObject({ kind: 'INVALID', problem: 'NO_SESSION' });
  });

  it('is a dump of a turn, which can be told apart from what is stored only by uids', () => {
    const dump = { reason: 'shutdown-with-unpersisted-agent-history', issue: '#72680', session_id: 's', count: 2 };
    expect(decode({ ...dump, messages: [user('a'), 'text'] })).toMatchObject({
      kind: 'HISTORY_DUMP',
      identified: false,
      messages: [user('a')],
    });
    const messages = [user('a', { message_uid: 'u1' }), user('b', { message_uid: 'u2' })];
    expect(decode({ ...dump, messages })).toMatchObject({ identified: true, messages });
    const transcript = { schema: 'hermes.session.transcript', version: 1, messages };
    expect(decode({ ...dump, messages: ['x'], data: { session_id: 's', transcript } })).toMatchObject({ identified: true, messages });
    expect(decode({ ...dump, session_id: null, messages })).toMatchObject({ kind: 'INVALID', problem: 'NO_SESSION' });
  });

  it.each([
    ['text that is no JSON', '{"reason": ', 'NOT_JSON'],
    ['a list', '[]', 'NOT_AN_OBJECT'],
    ['a scalar', '7', 'NOT_AN_OBJECT'],
    ['an empty file', '', 'NOT_JSON'],
  ])('T46: %s is unparseable', (_what, text, problem) => {
    expect(decode(text)).toEqual({ kind: 'UNPARSEABLE', problem });
  });

  it('bytes that are not UTF-8 are unparseable; a byte order mark is tolerated', () => {
    expect(decodePayload(Buffer.from([0x7b, 0xff, 0x7d]))).toEqual({ kind: 'UNPARSEABLE', problem: 'NOT_JSON' });
    expect(decode(`\ufeff${JSON.stringify(capDrop('s', 1, 0, user('a')))}`)).toMatchObject({ kind: 'CAP_DROP' });
  });

  it('fields of order that are no numbers count as 0', () => {
    expect(decode({ ...capDrop('s', 1, 0, user('a')), ts: '5', seq: null })).toMatchObject({ ts: 0, seq: 0 });
  });

  it('keeps every digit of a large number', () => {
    const text = JSON.stringify(capDrop('s', 1, 0, user('a', { message_id: 7 }))).replace(
      '"message_id":7',
      '"message_id":1234567890123456789',
    );
    const payload = decode(text);
    expect(payload).toMatchObject({ messages: [{ message_id: 1234567890123456789n }] });
  });

  it('shows the beginning of its text', () => {
    expect(previewOf(decode(capDrop('s', 1, 0, user('x'.repeat(500)))))).toHaveLength(200);
    expect(previewOf(decode(capDrop('s', 1, 0, { content: [{ type: 'image' }, { type: 'text', text: 'seen' }] })))).toBe('seen');
    expect(previewOf(decode('[]'))).toBeNull();
  });
});

describe('a legacy payload that is given a uid', () => {
  it('K10: gets the same from everyone, in both forms, and keeps everything else to the digit', () => {
    const text =
      '{"session_key": "s", "reason": "transcript_cap_drop", "ts": 5, "seq": 1.0, "extra": 1e-07, "data": {"session_id": "s", "message": {"content": "é", "n": 12345678901234567890}}}';
    const first = withStableUid(Buffer.from(text), ID);
    expect(withStableUid(Buffer.from(text), ID)).toBe(first);
    expect(first).toContain('"seq": 1.0,');
    expect(first).toContain('"extra": 1e-07,');
    expect(first).toContain('"n": 12345678901234567890,');
    const payload = decode(first);
    const message = { content: 'é', n: 12345678901234567890n, role: 'unknown', message_uid: stableUid(ID) };
    expect(payload).toMatchObject({ kind: 'CAP_DROP', identified: true, messages: [message] });
    expect((parseSpoolJson(first) as { data: unknown }).data).toMatchObject({ message });
  });

  it('has a uid that follows from nothing that it holds', () => {
    expect(stableUid(ID)).toMatch(/^[0-9a-f]{32}$/);
    expect(stableUid(ID)).not.toBe(stableUid(ID.replace('0', '1')));
  });
});

describe('a line of a divert file', () => {
  it('T54: is one line with the separators of the owning programs', () => {
    expect(lineText({ a: [1, 'x,\n y'], b: { c: [] }, d: 'é' })).toBe('{"a": [1, "x,\\n y"], "b": {"c": []}, "d": "é"}');
  });
});
