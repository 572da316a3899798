/** The delta, anchors, both views and rounds: T95 to T112 of `spec/webui-transcript.md` 26.6. */
import { describe, expect, it } from 'vitest';
import { StoreConnection } from '../../../src/state-db/connection.ts';
import { findAnchor, isCompressedContext } from '../../../src/web-ui/transcript/compaction-anchor.ts';
import { contextDelta } from '../../../src/web-ui/transcript/context-delta.ts';
import { reconcile, type TranscriptView } from '../../../src/web-ui/transcript/reconcile.ts';
import { conversationRounds, countRounds } from '../../../src/web-ui/transcript/rounds.ts';
import { buildStore, M, S } from '../../support/stores.ts';
import { a, call, type Fields, P1, P2, P3, payload, rich, row, SCALAR, t, u } from './notation.ts';

type List = readonly Fields[];

const delta = (context: List, state: List) => contextDelta(context, state).map((index) => state[index]);
const view = (session: Fields | null, messages: List, of: TranscriptView = 'DISPLAY') =>
  reconcile(session, { messages, revision: null }, of);

describe('the delta after the context', () => {
  const context = [u(P1, 1), a(P2, 2)];
  const mirror = [u(P1, 51), a(P2, 52), u(P3, 53)];

  it('T95: is what follows a mirror of the context', () => {
    expect(delta(context, mirror)).toEqual([u(P3, 53)]);
  });

  it('T96: is everything where a single row is the same', () => {
    expect(delta(context, [u(P1, 51), u(P3, 53)])).toEqual([u(P1, 51), u(P3, 53)]);
  });

  it('T97: takes a single row for a mirror of a recovered prompt', () => {
    const recovered = [{ ...context[0], _recovered: true }, ...context.slice(1)];
    expect(delta(recovered, [u(P1, 51), u(P3, 53)])).toEqual([u(P3, 53)]);
  });

  it('T98: is everything where the store mirrors the end of a longer context (H15)', () => {
    const summaries = [1, 2, 3, 4].map((time) => u(`summary ${time}`, time));
    expect(delta([...summaries, ...context], mirror)).toEqual(mirror);
  });

  it('T99: goes on behind rows that the context lacks', () => {
    const state = [u(P1, 51), a(P2, 52), a('stale', 53), u(P3, 54), a('new', 55)];
    expect(delta([...context, u(P3, 3)], state)).toEqual([a('new', 55)]);
  });

  it('T100: keeps what repeats the context behind its end', () => {
    expect(delta(context, [u(P1, 51), a(P2, 52), u(P1, 60)])).toEqual([u(P1, 60)]);
  });

  it('stops where the context goes on differently', () => {
    expect(delta([...context, u('other', 3)], mirror)).toEqual([u(P3, 53)]);
  });

  it('finds the first of the longest runs in linear time', () => {
    const same = Array.from({ length: 20_000 }, (_, index) => u('go', index));
    expect(delta(same, same)).toEqual([]);
  });
});

describe('the anchor of a compaction', () => {
  it('T101: is found within a millionth of a second', () => {
    expect(findAnchor({ role: 'assistant', ts: 101.0000005, text: '' }, [a('x', 101.0)])).toBe(0);
    expect(findAnchor({ role: 'assistant', ts: 101.01, text: '' }, [a('x', 101.0)])).toBeNull();
  });

  it('T102: is found by a role and a time that are written otherwise', () => {
    expect(findAnchor({ role: 'USER ', ts: '1970-01-01T00:01:40Z', text: `${P1}   ` }, [u(P1, 100)])).toBe(0);
    expect(findAnchor({ role: 'user', ts: '1970-01-01T00:01:40', text: P1 }, [u(P1, 100)])).toBeNull();
  });

  it('T103: is not found by attachments or without a time; of two the last is it', () => {
    expect(findAnchor({ role: 'user', ts: 1, text: P1, attachments: 1 }, [u(P1, 1)])).toBeNull();
    expect(findAnchor({ role: 'user', text: P1 }, [u(P1, 1)])).toBeNull();
    expect(findAnchor({ role: 'user', ts: 1, text: P1, attachments: 'x' }, [u(P1, 1), u('other', 1), u(P1, 1)])).toBe(2);
  });

  it('compares the first 160 characters', () => {
    const text = '😀'.repeat(160);
    expect(findAnchor({ role: 'user', ts: 1, text }, [u(`${text} and more`, 1)])).toBe(0);
    expect(findAnchor({ role: 'user', ts: 1, text: `${text.slice(0, -2)}x` }, [u(`${text} and more`, 1)])).toBeNull();
  });

  it('no tool row opens a compressed context', () => {
    expect(isCompressedContext([t('[CONTEXT COMPACTION] x', 1)])).toBe(false);
    expect(isCompressedContext([u([{ type: 'input_text', content: '  [Context Compaction] x' }], 1)])).toBe(true);
    expect(isCompressedContext([u('[Your active task list was preserved across context compression]', 1)])).toBe(false);
  });
});

describe('the context view', () => {
  const marker = u('[CONTEXT COMPACTION] earlier turns', 0.5);
  const state = [u(P1, 1), a(P2, 2), u('alpha nine', 9)];
  const anchor = { role: 'assistant', ts: 2, text: P2 };
  const contextView = (fields: Fields, rows: List = state) => view({ messages: [u(P1, 1), a(P2, 2)], ...fields }, rows, 'CONTEXT');

  it('T104: shows a compacted context alone where its place is unknown', () => {
    for (const key of [null, { ...anchor, ts: 3 }]) {
      const found = contextView({ context_messages: [marker], compression_anchor_message_key: key });
      expect(found).toMatchObject({ messages: [marker], source: 'CONTEXT_FAIL_CLOSED' });
      expect(found.decisions.map(({ decision }) => decision)).toEqual(['CONTEXT_CLOSED', 'CONTEXT_CLOSED', 'CONTEXT_CLOSED']);
      expect(found.warnings).toEqual([{ code: 'CONTEXT_FAIL_CLOSED', count: 3 }]);
    }
  });

  it('T105: goes on behind the anchor', () => {
    const found = contextView({ context_messages: [marker], compression_anchor_message_key: anchor });
    expect(found).toMatchObject({ messages: [marker, u('alpha nine', 9)], source: 'MERGED' });
    expect(found.decisions.map(({ index, decision, position }) => [index, decision, position])).toEqual([
      [0, 'IN_CONTEXT', null],
      [1, 'IN_CONTEXT', null],
      [2, 'APPENDED', 1],
    ]);
    expect(found.origins).toEqual([
      { from: 'LOCAL', index: 0 },
      { from: 'STATE', index: 2 },
    ]);
  });

  it('T106: takes an arc summary for an ordinary message', () => {
    const arc = u('[Session Arc Summary] so far', 0.5);
    expect(contextView({ context_messages: [arc, u(P1, 1), a(P2, 2)] }).messages).toEqual([arc, u(P1, 1), a(P2, 2), u('alpha nine', 9)]);
  });

  it('T107: takes bare words for a compaction only where they are flagged', () => {
    const bare = u('Context compaction: so far', 0.5);
    expect(contextView({ context_messages: [bare] }).source).toBe('MERGED');
    expect(contextView({ context_messages: [{ ...bare, _compressed_summary: true }] }).source).toBe('CONTEXT_FAIL_CLOSED');
  });

  it('T108: takes the messages of a claimed transcript of the command line', () => {
    const messages = [u(P1, 1), a(P2, 2), u(P3, 3)];
    const session = { messages, context_messages: messages.slice(0, 2), is_cli_session: true };
    expect(view(session, [], 'CONTEXT').messages).toEqual(messages);
    expect(view({ ...session, read_only: true }, [], 'CONTEXT').messages).toEqual(messages.slice(0, 2));
  });

  it('gives payloads to context rows whose mirror is left out', () => {
    const rows = [u(P1, 1, payload('W')), a(P2, 2)];
    expect(contextView({ context_messages: [u(P1, 1), a(P2, 2)] }, rows).messages).toEqual([u(P1, 1, payload('W')), a(P2, 2)]);
  });
});

describe('turns that the sidecar shows otherwise', () => {
  const pending = {
    messages: [],
    context_messages: [],
    active_stream_id: 's1',
    pending_user_message: 'hey',
    pending_user_source: ' WebUI ',
    pending_started_at: 100.0,
    _webui_pending_user_timestamp_identity: ['s1', '100.0'],
  };
  const state = [u('hey', 100)];

  it('T109: a pending turn is shown from its own fields, and stays in the context', () => {
    expect(view(pending, state)).toMatchObject({ messages: [], decisions: [{ decision: 'SUPPRESSED', position: null }] });
    expect(view(pending, state, 'CONTEXT').messages).toEqual(state);
    expect(view({ ...pending, active_stream_id: 's2' }, state).messages).toEqual(state);
    expect(view({ ...pending, pending_user_source: 'cli' }, state).messages).toEqual(state);
    expect(view({ ...pending, pending_started_at: 100.5 }, state).messages).toEqual(state);
  });

  const turn = { _active_turn_token: 'k', _row_id: 7 };
  const session = {
    messages: [u('look', 50, turn)],
    context_messages: [u(rich(), 50, turn, { _webui_trusted_agent_input_text: '[Workspace: /a]\nlook' })],
  };

  it('T110: the text of a turn with images is not shown again', () => {
    expect(view(session, [u(SCALAR, 50, row(7))])).toMatchObject({ messages: session.messages, decisions: [{ decision: 'SUPPRESSED' }] });
  });

  it('T110: another row that only looks like it is a message of its own', () => {
    const found = view(session, [u(SCALAR, 50, row(8))]);
    expect(found.messages).toEqual([...session.messages, u(SCALAR, 50, row(8))]);
    expect(found.decisions).toMatchObject([{ decision: 'MARKED', shown: true, position: 1 }]);
  });

  it('T110, H6: but not when it was undone', () => {
    const found = view({ ...session, truncation_watermark: 10 }, [u(SCALAR, 50, row(8))]);
    expect(found.messages).toEqual(session.messages);
    expect(found.decisions).toMatchObject([{ decision: 'ABOVE_WATERMARK' }]);
  });

  it('a row with a payload stays in a context that needs it', () => {
    const rows = [u(SCALAR, 50, row(7), payload('W'))];
    expect(view(session, rows).messages).toEqual(session.messages);
    expect(view(session, rows, 'CONTEXT').messages).toEqual([{ ...session.context_messages[0], api_content: 'W' }]);
  });

  it('one row with two payloads is shown once to people', () => {
    const own = u(SCALAR, 50, row(9), payload('A'));
    const withOwn = { ...session, messages: [...session.messages, own] };
    const found = view(withOwn, [u(SCALAR, 50, row(9), payload('B'))]);
    expect(found.messages).toEqual(withOwn.messages);
    expect(found.decisions).toMatchObject([{ decision: 'SUPPRESSED', shown: false, position: null }]);
    expect(found.origins).toHaveLength(2);
  });
});

describe('the reconciled transcript', () => {
  it('says where it comes from', () => {
    const messages = [u('q', 1)];
    expect(view(null, messages)).toMatchObject({ messages, source: 'STATE_DB_ONLY', decisions: [{ decision: 'APPENDED', position: 0 }] });
    expect(view({ messages }, []).source).toBe('SIDECAR_ONLY');
    expect(view({ messages: [] }, messages).source).toBe('STATE_DB_ONLY');
    expect(view({ messages }, messages).source).toBe('MERGED');
    const interrupted = [u('q', 1), a('par', 2, { _partial: true }), a('err', 3, { _error: true })];
    expect(view({ messages: interrupted }, messages).source).toBe('SIDECAR_ONLY');
  });

  it('hands on the revision, applies the truncation, and can cross a process', () => {
    const revision = { sessionId: 's', activeMessageCount: 1, maxActiveMessageId: 1, activeRowsDigest: '' };
    const session = { messages: [u('q', 1)], truncation_watermark: 1, truncation_boundary: 1 };
    const found = reconcile(session, { messages: [u('q', 1), u('del', 5)], revision }, 'DISPLAY');
    expect(found).toMatchObject({ messages: session.messages, revision });
    expect(structuredClone(found)).toEqual(found);
  });

  it('H4, H5: warns of a user shown twice and of rows that were dropped', () => {
    const session = { messages: [u('q', 1, payload('W')), a('r', 9)] };
    expect(view(session, [u('q', 1), a('late', 5), t('tool', 6)]).warnings).toEqual([
      { code: 'PAYLOAD_ONLY_LOCAL', count: 1 },
      { code: 'LATE_ROWS_DROPPED', count: 2 },
    ]);
    expect(view({ messages: [u('q', 1, payload('W'))] }, [u('q', 1, payload('W')), u('q', 5)]).warnings).toEqual([]);
  });

  it('takes anything that a damaged sidecar holds', () => {
    const state = [u('q', 1), a('', 2, call('c1'))];
    for (const messages of [null, 'x', 5, {}, [null, 5, 'x', [], { content: {} }]]) {
      const found = view({ messages, context_messages: messages, compression_anchor_message_key: messages }, state, 'CONTEXT');
      expect(found.decisions).toHaveLength(2);
    }
  });
});

describe('rounds', () => {
  const rounds = (...roles: string[]) => countRounds(roles.map((role, index) => ({ role, timestamp: index + 1 })));

  it('T111: are questions with an answer', () => {
    expect(rounds('user', 'user', 'assistant')).toBe(1);
    expect(rounds('user', 'assistant', 'assistant', 'user')).toBe(1);
    expect(rounds('assistant', 'user')).toBe(0);
    expect(rounds('user', 'tool', 'assistant', 'user', 'assistant')).toBe(2);
    expect(rounds('User ', 'ASSISTANT')).toBe(1);
  });

  it('T112: count from after a time, of many sessions in one statement', () => {
    const roles = ['user', 'assistant', 'user', 'assistant'];
    const rows = [S('s'), ...roles.map((role, index) => M('s', { role, timestamp: index + 1, active: index < 2 ? 1 : 0 }))];
    const store = StoreConnection.open(buildStore({ rows }), { lockWaitMs: 1000 });
    const queries = [{ sessionId: 's', since: 1 }, { sessionId: 's', since: 2 }, { sessionId: 's' }, { sessionId: 'nobody' }];
    expect(conversationRounds(store, queries)).toEqual([1, 1, 2, 0]);
    expect(conversationRounds(store, [{ sessionId: 's' }], true)).toEqual([1]);
    store.close();
  });

  it('read written times, and skip nothing whose time can not be read', () => {
    const row = (role: string, timestamp: string | null) => ({ role, timestamp });
    const rows = [row('user', '1970-01-01T00:00:10Z'), row('assistant', '1970-01-01T00:00:20Z'), row('user', 'x'), row('assistant', null)];
    expect(countRounds(rows, 20)).toBe(1);
    expect(countRounds(rows, 5)).toBe(2);
  });
});
