/** The fold that a front end makes of live frames, by the rendering contract (`docs/live-protocol.md`). */
import { describe, expect, it } from 'vitest';
import type { EventOf, LiveEvent } from '../../examples/live-documents.ts';
import { compareIds, liveIds, shownIds } from '../../examples/transcript-view.ts';
import { applyFrame, emptyView, openTurn, TextMissing, takeMessages, type View } from '../../examples/turn-view.ts';

type Kind = LiveEvent['__typename'];

/** What a test doesn't care about. */
const NOTHING: Partial<{ [K in Kind]: Partial<EventOf<K>> }> = {
  TurnStarted: { userMessageId: null, pendingText: null, executor: 'WEBUI', platform: null },
  SegmentSealed: { dropReasoningTail: null },
  ToolStarted: { argsPreview: null, afterSegment: null, messageId: null },
  ToolFinished: { resultPreview: null, isError: null, durationMs: null, messageId: null },
  MessagesAppended: { messages: null, carried: [], supersedes: [] },
  MessagesRestored: { carried: [] },
  TranscriptReplaced: { carried: [] },
  TranscriptCompacted: { firstArchivedId: null, lastArchivedId: null, carried: [], activeCount: 0 },
  SessionContinued: { handoffIds: [], carried: [] },
  TurnEnded: { outcome: 'COMPLETED', certainty: 'CERTAIN', corrects: null, error: null },
  LiveSnapshot: { reason: 'INITIAL', turn: null, head: null },
};
const STATES: readonly Kind[] = ['LiveSnapshot', 'StreamReset', 'TurnPhaseChanged', 'LivenessChanged', 'MessagesUpdated', 'TodoChanged'];

let number = 0;
function event<K extends Kind>(kind: K, fields: Partial<EventOf<K>> = {}): LiveEvent {
  const base = { __typename: kind, id: `e${number++}`, sessionId: 's', depth: 0, runId: 'r', late: false };
  return { ...base, class: STATES.includes(kind) ? 'STATE' : 'CONTENT', ...NOTHING[kind], ...fields } as unknown as LiveEvent;
}

const apply = (view: View, ...events: LiveEvent[]) => applyFrame(view, { events });
const begun = () => apply(emptyView(), event('LiveSnapshot'), event('TurnStarted', { id: 't', turnId: 'r', pendingText: 'Go' }));
const text = (offset: number, said: string, more: Partial<EventOf<'TextDelta'>> = {}) =>
  event('TextDelta', { segment: 0, offset, text: said, ...more });
const thought = (offset: number, said: string) => event('ReasoningDelta', { segment: 0, offset, text: said });
const appended = (...ids: string[]) => ids.map((id) => event('MessagesAppended', { ids: [id] }));
const ref = (part: string, more: { segment?: number; toolCallId?: string }) => ({
  runId: 'r',
  part,
  segment: null,
  toolCallId: null,
  ...more,
});

describe('the overlay', () => {
  it('holds text where its offset says, late text in between', () => {
    const view = apply(begun(), text(0, 'one '), text(4, 'three'), text(4, 'two ', { late: true }));
    expect(openTurn(view)?.text).toMatchObject([{ index: 0, text: 'one two three', sealed: false }]);
  });

  it('takes a text that comes as a STATE for the whole segment', () => {
    const view = apply(begun(), text(0, 'one'), text(0, 'one two', { class: 'STATE' }));
    expect(openTurn(view)?.text[0]?.text).toBe('one two');
  });

  it('refuses a delta whose beginning it never had', () => {
    expect(() => apply(begun(), text(3, 'late'))).toThrow(TextMissing);
  });

  it('goes on from the end of a long segment, which is all that a snapshot has', () => {
    const part = { index: 0, offset: 100, text: 'end', sealed: false, messageId: null };
    const turn = { ...SNAPSHOT_TURN, segments: [part] };
    const view = apply(
      emptyView(),
      event('LiveSnapshot', { turn }),
      text(103, ' more'),
      text(50, 'earlier', { late: true }),
      text(115, '!'),
    );
    expect(openTurn(view)?.text[0]).toMatchObject({ offset: 107, text: 'end more!' });
  });

  it('seals a segment, and takes off the reasoning what was the text', () => {
    const sealed = event('SegmentSealed', { segment: 0, dropReasoningTail: 'Hello' });
    const view = apply(begun(), thought(0, 'I greet. Hello'), text(0, 'Hello'), sealed);
    expect(openTurn(view)).toMatchObject({ text: [{ sealed: true }], reasoning: [{ text: 'I greet. ', sealed: true }] });
  });

  it('drops what a row covers, and only that', () => {
    const view = apply(
      begun(),
      thought(0, 'hm'),
      text(0, 'first'),
      text(0, 'second', { segment: 1 }),
      event('ToolStarted', { toolCallId: 'c', name: 'x' }),
      event('MessagesAppended', { ids: ['5'], supersedes: [ref('REASONING', { segment: 0 }), ref('TEXT', { segment: 0 })] }),
    );
    expect(openTurn(view)).toMatchObject({
      reasoning: [{ covered: true }],
      text: [{ covered: true }, { covered: false }],
      tools: [{ covered: false }],
    });
    apply(view, event('MessagesAppended', { ids: ['6'], supersedes: [ref('TOOL', { toolCallId: 'c' })] }));
    expect(openTurn(view)?.tools).toMatchObject([{ covered: true }]);
  });

  it('adds to a tool what its other source tells under the same id', () => {
    const view = apply(
      begun(),
      event('ToolStarted', { id: 'a', toolCallId: 'c', name: 'x', afterSegment: 2 }),
      event('ToolStarted', { id: 'a', class: 'STATE', toolCallId: 'c', name: 'x', argsPreview: { y: 1 } }),
      event('ToolFinished', { id: 'b', toolCallId: 'c', name: 'x', resultPreview: 'done' }),
      event('ToolFinished', { id: 'b', class: 'STATE', toolCallId: 'c', name: 'x', resultPreview: 'done', isError: false, durationMs: 7 }),
    );
    expect(openTurn(view)?.tools).toMatchObject([
      { args: { y: 1 }, segment: 2, done: true, result: 'done', isError: false, durationMs: 7 },
    ]);
  });

  it('keeps calls apart to which a provider gave the same id', () => {
    const call = () => [event('ToolStarted', { toolCallId: 'c', name: 'x' }), event('ToolFinished', { toolCallId: 'c', name: 'x' })];
    const view = apply(begun(), ...call(), ...call());
    expect(openTurn(view)?.tools.map(({ done }) => done)).toEqual([true, true]);
  });

  it('ends with the turn, and is there again when the end was only inferred and the run goes on', () => {
    const view = apply(begun(), text(0, 'so far'), event('TurnEnded', { turnId: 'r', outcome: 'INTERRUPTED', certainty: 'HIGH' }));
    expect(openTurn(view)).toBeNull();
    apply(view, event('LivenessChanged', { turnState: 'ALIVE' }), text(6, ', and on'));
    expect(openTurn(view)?.text[0]?.text).toBe('so far, and on');
    apply(view, event('TurnEnded', { turnId: 'r' }), event('LivenessChanged', { turnState: 'ALIVE' }));
    expect(openTurn(view)).toBeNull();
  });

  it('learns more of a turn that rows told of first: its run, and the row of the user', () => {
    const rows = apply(emptyView(), event('TurnStarted', { id: 't', turnId: 'l:1', runId: null }));
    const known = event('TurnStarted', { id: 't', class: 'STATE', turnId: 'r', userMessageId: '1', pendingText: 'Go' });
    const view = apply(rows, known, text(0, 'yes'));
    expect(view.turns).toMatchObject([{ turnId: 'r', runId: 'r', userText: 'Go', userMessageId: '1', text: [{ text: 'yes' }] }]);
  });

  it('is replaced by a snapshot, which asks for the messages unless only the run is told anew', () => {
    const view = apply(begun(), text(0, 'old'));
    takeMessages(view, []);
    apply(view, event('StreamReset', { resetReason: 'RUN_REWRITTEN', scope: 'RUN' }), event('LiveSnapshot', { reason: 'RESET' }));
    expect([view.turns, view.mustReread]).toEqual([[], false]);
    apply(view, event('StreamReset', { resetReason: 'DB_REPLACED', scope: 'ALL' }), event('LiveSnapshot', { reason: 'RESET' }));
    expect(view.mustReread).toBe(true);
  });

  it("hears of sub-agents' tools nothing", () => {
    const view = apply(
      begun(),
      event('ToolStarted', { depth: 1, toolCallId: 'c', name: 'x' }),
      event('MessagesAppended', { depth: 1, ids: ['9'] }),
    );
    expect([openTurn(view)?.tools, shownIds(view.transcript)]).toEqual([[], []]);
  });
});

describe('the rows', () => {
  const rows = (...events: LiveEvent[]) => apply(emptyView(), event('LiveSnapshot'), ...appended('8', '9', '10'), ...events).transcript;
  const both = (transcript: ReturnType<typeof rows>) => [liveIds(transcript), shownIds(transcript)];

  it('come in the order of their numbers, and are to be read', () => {
    const transcript = rows();
    expect(both(transcript)).toEqual([
      ['8', '9', '10'],
      ['8', '9', '10'],
    ]);
    expect([...transcript.unread]).toEqual(['8', '9', '10']);
    expect(['10', '9', '99999999999999999999'].sort(compareIds)).toEqual(['9', '10', '99999999999999999999']);
  });

  it('are taken back and restored', () => {
    const back = event('MessagesRetracted', { ids: ['9', '10'], cause: 'REWIND' });
    expect(liveIds(rows(back))).toEqual(['8']);
    expect(liveIds(rows(back, event('MessagesRestored', { ids: ['9'] })))).toEqual(['8', '9']);
  });

  it('are to be read again when they were changed', () => {
    const transcript = rows();
    transcript.unread.clear();
    apply({ ...emptyView(), transcript }, event('MessagesUpdated', { ids: ['9'] }));
    expect([...transcript.unread]).toEqual(['9']);
  });

  it('are archived by a compaction; those that it carried are the same messages', () => {
    const fields = { firstArchivedId: '8', lastArchivedId: '9', summaryIds: ['11'] };
    const kept = event('TranscriptCompacted', { ...fields, carried: [{ oldId: '10', newId: '12', retired: false }] });
    const retired = event('TranscriptCompacted', { ...fields, carried: [{ oldId: '10', newId: '12', retired: true }] });
    expect(both(rows(kept))).toEqual([
      ['11', '12'],
      ['8', '9', '12', '11'],
    ]);
    expect(both(rows(retired))).toEqual([
      ['11', '12'],
      ['8', '9', '11', '12'],
    ]);
  });

  it('are archived, too, when one compaction carried them and the next one archived the copies, told as one', () => {
    const carried = [{ oldId: '10', newId: '12', retired: true }];
    const twice = event('TranscriptCompacted', { firstArchivedId: '8', lastArchivedId: '12', summaryIds: ['13'], carried });
    expect(both(rows(twice))[0]).toEqual(['13']);
  });

  it('go on in the session that continues the conversation', () => {
    const on = { fromSessionId: 's', toSessionId: 'c', handoffIds: ['11'], carried: [{ oldId: '10', newId: '12', retired: false }] };
    const transcript = rows(
      event('SessionContinued', { ...on, sessionId: 'c' }),
      event('MessagesAppended', { ids: ['13'], sessionId: 'c' }),
    );
    expect(both(transcript)).toEqual([
      ['11', '12', '13'],
      ['8', '9', '12', '11', '13'],
    ]);
  });

  it('are replaced as a whole', () => {
    expect(both(rows(event('TranscriptReplaced', { newIds: ['11', '12'] })))).toEqual([
      ['11', '12'],
      ['11', '12'],
    ]);
  });

  it('end up the same when events come that had happened before they were read', () => {
    const compacted = event('TranscriptCompacted', { firstArchivedId: '8', lastArchivedId: '10', summaryIds: ['11'] });
    const behind = [...appended('12'), event('MessagesRetracted', { ids: ['12'], cause: 'REWIND' }), ...appended('13')];
    const once = rows(compacted, ...behind);
    const view = emptyView();
    const read = [...once.rows.values()].map(({ id, sessionId, state }) => ({ id, sessionId, state }));
    apply(view, event('LiveSnapshot'));
    takeMessages(view, read);
    apply(view, ...appended('8', '9', '10'), compacted, ...behind);
    expect(both(view.transcript)).toEqual(both(once));
  });
});

const SNAPSHOT_TURN = {
  turnId: 'r',
  runId: 'r',
  phase: 'WRITING',
  phaseDetail: null,
  userText: null,
  userMessageId: null,
  turnState: 'ALIVE',
  segments: [],
  reasoning: [],
  tools: [],
  todos: [],
  interactions: [],
} as const satisfies NonNullable<EventOf<'LiveSnapshot'>['turn']>;
