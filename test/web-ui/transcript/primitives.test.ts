/** The small rules that the others are made of (`spec/webui-transcript.md` 1.2, 8, 9, 11). */
import { describe, expect, it } from 'vitest';
import { addDisplayMetadata, withoutPrivateFields } from '../../../src/web-ui/transcript/display-metadata.ts';
import { areIdentitiesCompatible, durableRowId, stableId, visibleIdentity } from '../../../src/web-ui/transcript/identity.ts';
import { imageProjection, richMirrorKey, scalarMirrorKey } from '../../../src/web-ui/transcript/image-mirror.ts';
import { MessageKeys } from '../../../src/web-ui/transcript/message-keys.ts';
import { looseText } from '../../../src/web-ui/transcript/near-duplicates.ts';
import { exactTimestamp, isoSeconds, mergeTimestamp, secondKey } from '../../../src/web-ui/transcript/timestamps.ts';
import { canonicalJson, numberOf } from '../../../src/web-ui/transcript/values.ts';
import { stripWorkspace } from '../../../src/web-ui/transcript/workspace-tag.ts';
import { a, call, payload, rich, SCALAR, t, u } from './notation.ts';

it.each([
  ['12', 12],
  [' 1_000.5e1\u00a0', 10005],
  ['.5', 0.5],
  ['-3.', -3],
  [true, 1],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['nan', Number.NaN],
  ['', null],
  ['0x10', null],
  ['1__0', null],
  ['1 2', null],
  [null, null],
  [[1], null],
])('reads %j as %j', (value, number) => {
  expect(numberOf(value)).toBe(number);
});

describe('times', () => {
  it('fall back to _ts only where there is none, for payloads alone', () => {
    expect(exactTimestamp({ _ts: 5 })).toEqual({ value: 5, valid: true });
    expect(exactTimestamp({ timestamp: 'x', _ts: 5 })).toEqual({ value: null, valid: false });
    expect(exactTimestamp({ timestamp: 0, _ts: 5 })).toEqual({ value: 0, valid: true });
    expect(exactTimestamp({})).toEqual({ value: null, valid: true });
    expect(mergeTimestamp({ _ts: 5 })).toBeNull();
    expect(mergeTimestamp({ timestamp: 'inf' })).toBeNull();
  });

  it.each([
    [1.99, '1'],
    [-0.5, '0'],
    ['7.9', '7'],
    [null, ''],
    ['soon', 'soon'],
    [1e21, '1000000000000000000000'],
    ['inf', '<invalid:Infinity>'],
  ])('of one second have one key: %j', (value, key) => {
    expect(secondKey(value)).toBe(key);
  });

  it.each([
    ['1970-01-01T00:01:40Z', 100],
    ['1970-01-01 01:01:40.5+01:00', 100.5],
    ['1970-01-01T00:01:40', null],
    ['1970-02-30T00:00:00Z', null],
    ['yesterday', null],
  ])('are read from %s', (text, seconds) => {
    expect(isoSeconds(text, 'REFUSED')).toBe(seconds);
  });

  it('without an offset are local where that is allowed', () => {
    expect(isoSeconds('2026-01-02T03:04:05', 'LOCAL')).toBe(new Date(2026, 0, 2, 3, 4, 5).getTime() / 1000);
  });
});

it.each([
  ['[Workspace::v1: /a\\]b]\nhi', 'hi'],
  ['  [Workspace: /a]  hi ', 'hi'],
  ['[Workspace::v1: C:\\] hi', 'hi'],
  ['[Workspace::v1: /a] [Workspace::v1: /b] hi', '[Workspace::v1: /b] hi'],
  ['[Workspace:] hi', '[Workspace:] hi'],
  ['[Workspace::v1: /a hi', '[Workspace::v1: /a hi'],
])('takes the tag off %j', (text, bare) => {
  expect(stripWorkspace(text)).toBe(bare);
});

it('takes no tag apart in more than linear time', () => {
  const text = `[Workspace::v1:${' \\'.repeat(2_000_000)}`;
  expect(stripWorkspace(text)).toHaveLength(text.length);
});

describe('identities', () => {
  it('a message has one id, or none that counts', () => {
    expect(stableId({ id: 3, message_id: ' 3 ' })).toEqual({ value: '3', valid: true });
    expect(stableId({ id: 3, message_id: 4 })).toEqual({ value: null, valid: false });
    expect(stableId({ id: true }).valid).toBe(false);
    expect(stableId({ id: '  ' }).valid).toBe(false);
    expect(stableId({ id: '', message_id: null })).toEqual({ value: null, valid: true });
  });

  it('a row id is a whole number, however it is written', () => {
    expect(durableRowId({ _row_id: '007', state_db_row_id: 7 })).toEqual({ value: '7', valid: true });
    expect(durableRowId({ _row_id: 7, _db_row_id: 8 }).valid).toBe(false);
    for (const value of [-1, 1.5, 'x', [], Number.NaN]) expect(durableRowId({ _row_id: value }).valid).toBe(false);
    expect(durableRowId({ _row_id: '9'.repeat(10_000) }).valid).toBe(false);
  });

  it('what is seen decides for users and assistants alone (H19)', () => {
    expect(areIdentitiesCompatible(t('x', 1), t('y', 1))).toBe(true);
    expect(areIdentitiesCompatible(t('x', 1), a('x', 1))).toBe(false);
    expect(areIdentitiesCompatible(u(' a  b', 1), u('[Workspace: /x] a b', 2))).toBe(true);
    expect(areIdentitiesCompatible(a('[Workspace: /x] a b', 1), a('a b', 2))).toBe(false);
    expect(visibleIdentity(u([{ type: 'text', text: ' a  b ', api_content: 'w' }], 1))).toBe(
      visibleIdentity(u([{ text: 'a b', type: 'text' }], 2)),
    );
  });

  it('deep values equal nothing, and break nothing', () => {
    const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`) as unknown;
    expect(canonicalJson(deep)).not.toBe(canonicalJson(deep));
    expect(visibleIdentity(u(deep, 1))).not.toBe(visibleIdentity(u(deep, 1)));
  });
});

describe('keys', () => {
  const state = (message: unknown) => new MessageKeys(message, 'STATE');
  const literal = (message: unknown) => new MessageKeys(message, 'LITERAL');

  it('end with the payload, so that a missing one is no wildcard', () => {
    for (const key of ['merge', 'dedup', 'content'] as const) {
      expect(state(u('q', 1))[key]).not.toBe(state(u('q', 1, payload('W')))[key]);
    }
    expect(state(u('q', 1)).visible.key).not.toBe(state(u('q', 1, payload('W'))).visible.key);
  });

  it('differ by second, by time, or not at all by time', () => {
    const [one, two] = [state(u('q', 1.2)), state(u('q', 1.9))];
    expect([one.merge === two.merge, one.dedup === two.dedup, one.visible.key === two.visible.key]).toEqual([true, false, true]);
    expect(state(u('q', 0)).dedup).toBe(state(u('q')).dedup);
  });

  it('take the tag off what the store holds, not off what the user typed', () => {
    const tagged = u('[Workspace: /x] hi', 1);
    expect(state(tagged).visible.key).toBe(literal(u('hi', 1)).visible.key);
    expect(literal(tagged).visible.key).not.toBe(literal(u('hi', 1)).visible.key);
    expect(state(u([{ type: 'text', text: '[Workspace: /x] hi' }], 1)).content).toBe(
      literal(u([{ type: 'text', text: '[Workspace: /x] hi' }], 1)).content,
    );
  });

  it('no text imitates structure, an id or what is no message', () => {
    expect(state(u(JSON.stringify([{ type: 'text' }]), 1)).content).not.toBe(state(u([{ type: 'text' }], 1)).content);
    expect(state(u('x', 1, { id: 0 })).isIdKey).toBe(false);
    expect(state('text').merge).not.toBe(state(u('text')).merge);
  });

  it('of tool calls are part of what is seen, not of the content', () => {
    const [one, two] = [state(a('', 1, call('c1'))), state(a('', 1, call('c2')))];
    expect([one.visible.key === two.visible.key, one.content === two.content]).toEqual([false, true]);
  });
});

it.each([
  ['Hello, WORLD!', 'hello world'],
  ['Straße_1 – ñ', 'strasse_1 ñ'],
  ['e\u0301té', 'été'],
  ['...', ''],
])('the loose text of %j is %j', (text, loose) => {
  expect(looseText(text)).toBe(loose);
});

it('a turn with images is told by its text and time', () => {
  expect(imageProjection(rich())).toBe(SCALAR);
  expect(imageProjection([{ type: 'text', text: 'a' }])).toBeNull();
  expect(imageProjection([...rich(), { type: 'input_text', text: 'x' }])).toBeNull();
  expect(richMirrorKey(u(rich(), 1))).toBe(scalarMirrorKey(u(SCALAR, '1.0')));
  expect(richMirrorKey(u(SCALAR, 1))).toBeNull();
  expect(scalarMirrorKey(u(rich(), 1))).toBeNull();
  expect(scalarMirrorKey(a(SCALAR, 1))).toBeNull();
  expect(scalarMirrorKey(u(SCALAR))).toBeNull();
});

describe('fields beside a message', () => {
  it('are taken over where they are missing; 0 and false are there', () => {
    const usage = { tokens: 1 };
    const target = a('x', 1, { _turnTps: 0, _statusCard: {}, _usedModel: '' });
    addDisplayMetadata(target, a('y', 2, { _turnTps: 5, _statusCard: { a: 1 }, _usedModel: 'm', _turnUsage: usage, reasoning: 'r' }));
    expect(target).toEqual(a('x', 1, { _turnTps: 0, _statusCard: { a: 1 }, _usedModel: 'm', _turnUsage: usage }));
    expect(target._turnUsage).not.toBe(usage);
  });

  it('that are private are shown nowhere but in the arguments of a call', () => {
    const message = a([{ type: 'text', text: 'x', api_content: 'w' }], 1, payload('w'), {
      _row_id: 1,
      _active_turn_token: 'k',
      tool_calls: [{ id: 'c', _row_id: 2, function: { name: 'f', api_content: 'w', arguments: { api_content: 'mine' } } }],
    });
    expect(withoutPrivateFields(message)).toEqual(
      a([{ type: 'text', text: 'x' }], 1, { tool_calls: [{ id: 'c', function: { name: 'f', arguments: { api_content: 'mine' } } }] }),
    );
  });
});
