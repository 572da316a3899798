/** The merge without and with a truncation: T36 to T94 of `spec/webui-transcript.md` 26.3-26.5. */
import { describe, expect, it } from 'vitest';
import { type MergeOptions, mergeTranscript } from '../../../src/web-ui/transcript/merge.ts';
import { a, call, id, P1, P2, P3, payload, rich, row, SCALAR, system, t, u } from './notation.ts';

type List = readonly Record<string, unknown>[];

const merge = (local: List, state: List, options: MergeOptions = {}) =>
  mergeTranscript(local, state, { provenance: 'STATE_DB', ...options });

/** The messages, after a look at what every merge owes: a decision for each row, and positions that lead to messages. */
function messages(local: List, state: List, options: MergeOptions = {}): unknown[] {
  const merged = merge(local, state, options);
  expect(merged.decisions.map(({ index }) => index)).toEqual(state.map((_, index) => index));
  for (const { shown, position } of merged.decisions) if (shown) expect(position).not.toBeNull();
  return merged.messages;
}

const decisions = (local: List, state: List, options: MergeOptions = {}) =>
  merge(local, state, options).decisions.map(({ decision }) => decision);

describe('a merge without a watermark', () => {
  it('T36: appends what is new', () => {
    const local = [u('q', 1), a('a', 2)];
    expect(messages(local, [...local, u('q2', 3)])).toEqual([...local, u('q2', 3)]);
    expect(decisions(local, [...local, u('q2', 3)])).toEqual(['REPLAY', 'REPLAY', 'APPENDED']);
  });

  it('T37: keeps a local message that the store lacks', () => {
    const local = [u('q', 1), a('local', 2)];
    expect(messages(local, [u('q', 1)])).toEqual(local);
  });

  it('T38: takes a replay with other times for what is there', () => {
    const local = [u('q', 1), a('a', 2)];
    expect(messages(local, [u('q', 50), a('a', 51)])).toEqual(local);
  });

  it('T39: takes a text inside another for it', () => {
    const local = [u('this is ok with me', 1), a('x', 2)];
    expect(messages(local, [u('ok', 9)])).toEqual(local);
  });

  it('T40: takes the same words for the same text', () => {
    const local = [a('Hello, World!', 1)];
    expect(messages(local, [a('hello world', 5)])).toEqual(local);
  });

  it('T41: keeps a repeated text whose first occurrence was already met', () => {
    const local = [u('go', 1), a('r1', 2)];
    expect(messages(local, [...local, u('go', 3)])).toEqual([...local, u('go', 3)]);
  });

  it('T42: takes a repeated text for the local one that nothing met', () => {
    const local = [u('go', 1), a('r1', 2)];
    expect(messages(local, [u('go', 3)])).toEqual(local);
  });

  it.each([['[Workspace::v1: /a\\]b]\nhi'], ['[Workspace: /a]\nhi']])('T43: looks behind the workspace tag of %j', (text) => {
    expect(messages([u('hi', 1)], [u(text, 1)])).toEqual([u('hi', 1)]);
  });

  it('T44: inserts a prompt that only the store has by its time', () => {
    expect(messages([u(P1, 10), a(P2, 20)], [u(P3, 15)])).toEqual([u(P1, 10), u(P3, 15), a(P2, 20)]);
    expect(decisions([u(P1, 10), a(P2, 20)], [u(P3, 15)])).toEqual(['INSERTED']);
  });

  it('T45: drops what is older than everything', () => {
    expect(messages([u(P1, 10), a(P2, 20)], [u(P3, 5)])).toEqual([u(P1, 10), a(P2, 20)]);
    expect(decisions([u(P1, 10), a(P2, 20)], [u(P3, 5)])).toEqual(['LATE_DROPPED']);
  });

  it.each([[a(P3, 15)], [t(P3, 15)], [system(P3, 15)]])('T46: drops a late row that is no prompt: %j', (late) => {
    expect(messages([u(P1, 10), a(P2, 20)], [late])).toEqual([u(P1, 10), a(P2, 20)]);
    expect(decisions([u(P1, 10), a(P2, 20)], [late])).toEqual(['LATE_DROPPED']);
  });

  it('T47: puts a prompt of the same instant behind an answer that follows a prompt', () => {
    expect(messages([u(P1, 10), a(P2, 20)], [u(P3, 20)])).toEqual([u(P1, 10), a(P2, 20), u(P3, 20)]);
  });

  it('T48: puts a prompt of the same instant before a lone answer', () => {
    expect(messages([a(P2, 20)], [u(P3, 20)])).toEqual([u(P3, 20), a(P2, 20)]);
  });

  it('T49: drops an answer of the same instant and appends one that is newer', () => {
    expect(messages([u(P1, 10)], [a(P2, 10)])).toEqual([u(P1, 10)]);
    expect(messages([u(P1, 10)], [a(P2, 10.4)])).toEqual([u(P1, 10), a(P2, 10.4)]);
  });

  it('T50: inserts among messages without a time', () => {
    const local = [u(P1), a(P2, 20)];
    expect(messages(local, [u(P3, 5), a('golf hotel', 30)])).toEqual([u(P1), u(P3, 5), a(P2, 20), a('golf hotel', 30)]);
  });

  it('T51: never inserts between a tool call and its results', () => {
    const head = [u(P1, 10), a('', 20, call('c1')), t('res', 30), t('res2', 30)];
    expect(messages([...head, a(P2, 40)], [u(P3, 25)])).toEqual([...head, u(P3, 25), a(P2, 40)]);
  });

  it('T52: inserts another tool call before the answer', () => {
    const local = [a('', 10, call('c1')), a('final', 11)];
    const other = a('', 10.5, call('c2'));
    expect(messages(local, [other])).toEqual([local[0], other, local[1]]);
  });

  it('T53: drops a tool call that is older than everything', () => {
    const local = [a('', 10, call('c1')), a('final', 11)];
    expect(messages(local, [a('', 9, call('c2'))])).toEqual(local);
  });

  it('T54: puts a tool call of the same instant before the answer and behind other results', () => {
    const head = [a('', 10, call('c1')), t('r', 10)];
    const other = a('', 10, call('c2'));
    expect(messages([...head, a('final', 10)], [other])).toEqual([...head, other, a('final', 10)]);
  });

  it('T55: takes overlapping text for the same, whatever the tool calls', () => {
    const local = [a('running the build now', 1, call('c1'))];
    expect(messages(local, [a('running the build', 5, call('c2'))])).toEqual(local);
  });

  it('T56: keeps apart tool calls without text', () => {
    const [one, two] = [a('', 1, call('c1')), a('', 5, call('c2'))];
    expect(messages([one], [two])).toEqual([one, two]);
  });

  it('T57: takes an id for the message, whatever the text', () => {
    const local = [a('one', 5, id(3))];
    expect(messages(local, [a('two different', 9, id(3))])).toEqual(local);
    expect(decisions(local, [a('two different', 9, id(3))])).toEqual(['SAME_ID']);
  });

  it('T58: inserts by time only what was read from the store', () => {
    const local = [u('q', 1), a('z', 10)];
    const other = a('new id row', 5, id(77));
    expect(messages(local, [other])).toEqual([local[0], other, local[1]]);
    expect(messages(local, [other], { provenance: 'UNVERIFIED' })).toEqual([...local, other]);
  });

  it('T59: shows a row that is stored twice once, where nothing is local', () => {
    expect(messages([], [u('a', 1), u('a', 1), u('a', 1.5)])).toEqual([u('a', 1), u('a', 1.5)]);
    expect(decisions([], [u('a', 1), u('a', 1), u('a', 1.5)])).toEqual(['APPENDED', 'DUPLICATE', 'APPENDED']);
  });

  it('T60: adds rows of one second that are newer, each once', () => {
    const state = [a('part', 5.1), a('part', 5.1), a('part', 5.9)];
    expect(messages([u('q', 1)], state)).toEqual([u('q', 1), a('part', 5.1), a('part', 5.9)]);
  });

  it('T61: leaves an interrupted turn to the sidecar', () => {
    const local = [u('q', 1), a('par', 2, { _partial: true }), a('err', 3, { _error: true })];
    expect(messages(local, [a('full replay', 4), u('later', 9)])).toEqual(local);
    expect(decisions(local, [a('full replay', 4), u('later', 9)])).toEqual(['INTERRUPTED_TURN', 'INTERRUPTED_TURN']);
  });

  it('T62: goes on when the interrupted turn was followed by another', () => {
    const local = [u('q', 1), a('par', 2, { _partial: true }), a('err', 3, { _error: true }), u('n', 4)];
    expect(messages(local, [a('ans', 9)])).toEqual([...local, a('ans', 9)]);
  });

  it('T63: takes over display metadata and no other field', () => {
    expect(messages([a('a', 2)], [a('a', 2, { _turnDuration: 7, foo: 1 })])).toEqual([a('a', 2, { _turnDuration: 7 })]);
  });

  it('T64: overwrites no display metadata', () => {
    expect(messages([a('a', 2, { _turnDuration: 3 })], [a('a', 2, { _turnDuration: 7 })])).toEqual([a('a', 2, { _turnDuration: 3 })]);
  });

  it.each([
    [1001, true],
    [1000, false],
  ])('T65: among %i keys a near duplicate is appended: %s', (count, appended) => {
    const local = Array.from({ length: count }, (_, index) => u(`text number ${String(index).padStart(5, '0')} of many`, index + 1));
    const near = u('number 00500 of', 5000);
    expect(messages(local, [near])).toEqual(appended ? [...local, near] : local);
  });

  it.each([
    [200_001, true],
    [200_000, false],
  ])('T66: a part of a text of %i characters is appended: %s', (length, appended) => {
    const local = [t('x'.repeat(length), 1)];
    const near = t('x'.repeat(100), 5);
    expect(messages(local, [near])).toEqual(appended ? [...local, near] : local);
  });
});

describe('a merge with a watermark', () => {
  it('T67: leaves out what an undo took away', () => {
    const local = [u('q', 1), a('a', 2)];
    expect(messages(local, [...local, u('del', 5)], { watermark: 2 })).toEqual(local);
    expect(decisions(local, [...local, u('del', 5)], { watermark: 2 })).toEqual(['REPLAY', 'REPLAY', 'ABOVE_WATERMARK']);
  });

  it('T68: appends what is newer than a message that came after the undo', () => {
    const local = [u('q', 1), a('a', 2), u('new', 9)];
    const state = [u('q', 1), a('a', 2), u('del', 5), u('new', 9), a('ans', 10)];
    expect(messages(local, state, { watermark: 2 })).toEqual([...local, a('ans', 10)]);
  });

  it('T69: appends the reply behind a watermark that moved on', () => {
    const local = [u('q', 1), u('edited', 9)];
    const state = [u('q', 1), u('orig', 5), a('origans', 6), u('edited', 9), a('reply', 10)];
    expect(messages(local, state, { watermark: 9, boundary: 1 })).toEqual([...local, a('reply', 10)]);
    expect(decisions(local, state, { watermark: 9, boundary: 1 })).toEqual(['REPLAY', 'REPLACED', 'REPLACED', 'REPLAY', 'APPENDED']);
  });

  it('T70: leaves out the reply where the watermark has not moved', () => {
    const local = [u('q', 1), u('edited', 9)];
    expect(messages(local, [...local, a('reply', 10)], { watermark: 9, boundary: 9 })).toEqual(local);
  });

  it('T71: leaves out the prompt that was edited within the instant', () => {
    expect(messages([u('edited', 9)], [u('orig', 9)], { watermark: 9 })).toEqual([u('edited', 9)]);
    expect(decisions([u('edited', 9)], [u('orig', 9)], { watermark: 9 })).toEqual(['SAME_INSTANT_EDIT']);
  });

  it('T72: keeps the reply of the same instant that follows the prompt', () => {
    expect(messages([u('edited', 9)], [u('edited', 9), a('reply', 9)], { watermark: 9 })).toEqual([u('edited', 9), a('reply', 9)]);
  });

  it('T73: leaves out a reply of the same instant that comes before the prompt', () => {
    expect(messages([u('edited', 9)], [a('oldreply', 9), u('edited', 9)], { watermark: 9 })).toEqual([u('edited', 9)]);
  });

  it('T74: shows nothing where everything was taken away', () => {
    expect(messages([], [u('a', 1)], { watermark: 0 })).toEqual([]);
  });

  it('T75: cuts a transcript that only the store has, rows without a time too', () => {
    expect(messages([], [u('a', 1), a('b', 2), u('c', 3), u('untimed')], { watermark: 2 })).toEqual([u('a', 1), a('b', 2)]);
  });

  it('T76: cuts out the middle that was taken away', () => {
    const state = [u('a', 1), a('b', 2), u('del', 3), u('e', 5), a('f', 6)];
    expect(messages([], state, { watermark: 5, boundary: 2 })).toEqual([u('a', 1), a('b', 2), u('e', 5), a('f', 6)]);
  });

  it('T77: a watermark of zero lets newer rows through once there is a message', () => {
    expect(messages([u('a', 1)], [u('a', 1), u('b', 3)], { watermark: 0 })).toEqual([u('a', 1), u('b', 3)]);
  });

  it('T78: never cuts local messages', () => {
    expect(messages([u('a', 1), u('b', 9)], [], { watermark: 2 })).toEqual([u('a', 1), u('b', 9)]);
  });

  it('reads a watermark that is written as text, and takes what is no number for none', () => {
    const local = [u('q', 1), a('a', 2)];
    expect(messages(local, [...local, u('del', 5)], { watermark: ' 2.0 ' })).toEqual(local);
    expect(messages(local, [...local, u('del', 5)], { watermark: '0x2' })).toHaveLength(3);
  });
});

describe('row ids, payloads and mirrors', () => {
  it('T79: one row at another time is one message', () => {
    expect(messages([u('q', 1, row(4))], [u('q', 80, row(4))])).toEqual([u('q', 1, row(4))]);
  });

  it('T80: two payloads of one row are two messages', () => {
    const [one, two] = [u('q', 1, row(4), payload('A')), u('q', 1, row(4), payload('B'))];
    expect(messages([one], [two])).toEqual([one, two]);
  });

  it('T81: a row gives its payload to its message', () => {
    expect(messages([u('q', 1, row(4))], [u('q', 1.4, row(4), payload('B'))])).toEqual([u('q', 1, row(4), payload('B'))]);
  });

  it('T82: a payload is given within the second', () => {
    expect(messages([u('q', 1.2)], [u('q', 1.9, payload('W'))])).toEqual([u('q', 1.2, payload('W'))]);
  });

  it('T83: a payload that may belong to two messages belongs to neither', () => {
    const local = [u('q', 1.2), u('q', 1.4)];
    expect(messages(local, [u('q', 1.9, payload('W'))])).toEqual([...local, u('q', 1.9, payload('W'))]);
  });

  it('T84: a payload is given by text only where a time is missing', () => {
    expect(messages([u('q')], [u('q', 50, payload('W'))])).toEqual([u('q', undefined, payload('W'))]);
    expect(messages([u('q', 1)], [u('q', 50, payload('W'))])).toEqual([u('q', 1), u('q', 50, payload('W'))]);
  });

  it('T85: payloads go to the right rows, whatever their order', () => {
    const state = [u('q', 2, payload('W2')), u('q', 1, payload('W1'))];
    expect(messages([u('q', 1), u('q', 2)], state)).toEqual([u('q', 1, payload('W1')), u('q', 2, payload('W2'))]);
  });

  it('T86: a payload is given by the message id', () => {
    expect(messages([u('q', 1, id('m1'))], [u('q', 99, id('m1'), payload('W'))])).toEqual([u('q', 1, id('m1'), payload('W'))]);
  });

  it('T87: an id with another text gives no payload', () => {
    const [local, state] = [u('q', 1, id('m1')), u('zzz', 1, id('m1'), payload('W'))];
    expect(messages([local], [state])).toEqual([local, state]);
  });

  it('T88: contradictory row ids take no payload', () => {
    const [local, state] = [u('q', 1, { _row_id: 1, _state_db_row_id: 2 }), u('q', 1, payload('W'))];
    expect(messages([local], [state])).toEqual([local, state]);
  });

  it('T89: a payload that only the sidecar has shows the user twice, the assistant once', () => {
    expect(messages([u('q', 1, payload('W'))], [u('q', 1)])).toEqual([u('q', 1, payload('W')), u('q', 1)]);
    expect(messages([a('q', 1, payload('W'))], [a('q', 1)])).toEqual([a('q', 1, payload('W'))]);
  });

  it.each([[''], [5]])('T90: a payload replaces %j', (stale) => {
    expect(messages([u('q', 1, { api_content: stale })], [u('q', 1, payload('W'))])).toEqual([u('q', 1, payload('W'))]);
  });

  it('T91: the text of a turn with images is that turn, at exactly its time', () => {
    expect(messages([u(rich(), 1)], [u(SCALAR, 1)])).toEqual([u(rich(), 1)]);
    expect(decisions([u(rich(), 1)], [u(SCALAR, 1)])).toEqual(['MIRROR']);
    expect(messages([u(rich(), 1)], [u(SCALAR, 1.5)])).toEqual([u(rich(), 1), u(SCALAR, 1.5)]);
  });

  it('T92: two texts of one turn are its mirror unless they are two rows', () => {
    expect(messages([u(rich(), 1)], [u(SCALAR, 1), u(SCALAR, 1)])).toEqual([u(rich(), 1)]);
    const rows = [u(SCALAR, 1, row(1)), u(SCALAR, 1, row(2))];
    expect(messages([u(rich(), 1)], rows)).toEqual([u(rich(), 1), rows[0]]);
  });

  it('T93: a mirror gives its payload unless the turn has another', () => {
    expect(messages([u(rich(), 1)], [u(SCALAR, 1, payload('W'))])).toEqual([u(rich(), 1, payload('W'))]);
    const [one, two] = [u(rich(), 1, payload('X')), u(SCALAR, 1, payload('W'))];
    expect(messages([one], [two])).toEqual([one, two]);
  });

  it('T94: two turns with images are one only with the same image', () => {
    expect(messages([u(rich(), 1)], [u(rich('data:,B'), 1)])).toEqual([u(rich(), 1), u(rich('data:,B'), 1)]);
    expect(messages([u(rich(), 1)], [u(rich(), 1)])).toEqual([u(rich(), 1)]);
  });

  it('H7: a payload behind a workspace tag with a bracket is given to its message', () => {
    const local = [u('hi', 1)];
    expect(messages(local, [u('[Workspace::v1: /a\\]b]\nhi', 1, payload('W'))])).toEqual([u('hi', 1, payload('W'))]);
  });
});

describe('what a merge tells', () => {
  it('H18: changes nothing that came in', () => {
    const local = Object.freeze([Object.freeze(u('q', 1)), Object.freeze(a('a', 2))]);
    const state = Object.freeze([Object.freeze(u('q', 1, payload('W'))), Object.freeze(a('a', 2, { _turnTps: 3 }))]);
    expect(messages(local, state)).toEqual([u('q', 1, payload('W')), a('a', 2, { _turnTps: 3 })]);
  });

  it('H24: tells a tool call whose result was dropped', () => {
    const local = [u('q', 1), a('', 10, call('c1')), t('exit 0', 10.2, { tool_call_id: 'c1' }), a('final', 20)];
    const { decisions: told } = merge(local, [a('', 12, call('c2')), t('no such file', 13, { tool_call_id: 'c2' })]);
    expect(told.map(({ decision, danglingToolCall }) => [decision, danglingToolCall])).toEqual([
      ['INSERTED', true],
      ['LATE_DROPPED', false],
    ]);
  });

  it('H26: tells what went to the end although it is the oldest', () => {
    const local = [u('q', 10), a('z', 20)];
    const { messages: found, decisions: told } = merge(local, [a('older', 5, id(77))]);
    expect(found).toEqual([...local, a('older', 5, id(77))]);
    expect(told).toEqual([{ index: 0, decision: 'APPENDED', shown: true, position: 2, outOfOrder: true, danglingToolCall: false }]);
  });

  it('says where each message comes from and which message a row was taken for', () => {
    const { origins, decisions: told } = merge([u(P1, 10), a(P2, 20)], [a(P2, 20), u(P3, 15)]);
    expect(origins).toEqual([
      { from: 'LOCAL', index: 0 },
      { from: 'STATE', index: 1 },
      { from: 'LOCAL', index: 1 },
    ]);
    expect(told.map(({ decision, position, shown }) => [decision, position, shown])).toEqual([
      ['DUPLICATE', 2, false],
      ['INSERTED', 1, true],
    ]);
  });

  it('survives elements that are no messages', () => {
    const local = [null, 'text', 5, [1], { role: 7 }] as unknown as List;
    expect(messages(local, [u('q', 1)])).toEqual([...local, u('q', 1)]);
  });
});
