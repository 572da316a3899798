import { describe, expect, it } from 'vitest';
import { composeList } from '../../../src/web-ui/list/compose-list.ts';
import { lineageReport } from '../../../src/web-ui/list/lineage-report.ts';
import { enrichment, isContinuation, lineageOf, relationOf } from '../../../src/web-ui/list/list-lineage.ts';
import { pinQuota } from '../../../src/web-ui/list/pin-quota.ts';
import { listInputs, listRequest, session, storeOf } from '../../support/web-ui-rows.ts';

const root = session('root', { title: 'R', startedAt: 100, endedAt: 200, endReason: 'compression', last: 190, messages: 3 });
const mid = session('mid', { parentId: 'root', startedAt: 200, endedAt: 300, endReason: 'compression', messages: 0 });
const tip = session('tip', { parentId: 'mid', startedAt: 300, last: 401, messages: 2 });
const stale = session('stale', { parentId: 'root', startedAt: 250, last: 261 });
const chain = [root, mid, tip, stale];

describe('a chain in state.db', () => {
  it('T20: is one row: the freshest tip with the title and the beginning of the root', () => {
    const { shown, rows } = composeList(listInputs({ sessions: chain }), listRequest());
    expect(shown).toHaveLength(1);
    expect(shown[0]).toMatchObject({
      id: 'tip',
      title: 'R',
      createdAt: 100,
      updatedAt: 401,
      lastMessageAt: 401,
      segmentCount: 4,
      lineageRootId: 'root',
      lineageTipId: 'tip',
    });
    const others = rows.filter(({ visibility }) => !visibility.shown);
    expect(others.map(({ id, visibility }) => [id, visibility.state, visibility.representedBy]).sort()).toEqual(
      ['mid', 'root', 'stale'].map((id) => [id, 'REPRESENTED', 'tip']),
    );
  });

  it('labels its root as well as its other segments', () => {
    const store = storeOf(chain);
    for (const { id } of chain)
      expect(enrichment(store, id)).toMatchObject({ lineageRootId: 'root', lineageTipId: 'tip', segmentCount: 4 });
  });

  it('T21: does not take in a branch that began before the root ended', () => {
    const branch = session('branch', { parentId: 'root', startedAt: 150 });
    const { shown } = composeList(listInputs({ sessions: [root, tip, branch] }), listRequest());
    expect(shown.find(({ id }) => id === 'branch')).toMatchObject({ isChildSession: true, parentLineageRootId: 'root', parentTitle: 'R' });
  });

  it('T22: does not take in a session of another surface', () => {
    const cross = session('cross', { source: 'telegram', parentId: 'root', startedAt: 250 });
    const { shown } = composeList(listInputs({ sessions: [root, cross] }), listRequest());
    expect(shown.find(({ id }) => id === 'cross')).toMatchObject({ isChildSession: true, crossSurface: true });
  });

  it('T23: of terminal sessions closed and gone on has the title of the last', () => {
    const first = session('tui1', { source: 'tui', title: 'One', endedAt: 200, endReason: 'cli_close' });
    const second = session('tui2', { source: 'tui', title: 'Two', parentId: 'tui1', startedAt: 201 });
    const { shown } = composeList(listInputs({ sessions: [first, second] }), listRequest());
    expect(shown).toHaveLength(1);
    expect(shown[0]).toMatchObject({ id: 'tui2', title: 'Two', segmentCount: 2 });
  });

  it('survives a loop of parents: the conversation is still listed once', () => {
    const a = session('a', { parentId: 'b', endedAt: 100, endReason: 'compression' });
    const b = session('b', { parentId: 'a', endedAt: 100, endReason: 'compression' });
    expect(lineageOf(storeOf([a, b])).rootOf('a')).toBe(lineageOf(storeOf([a, b])).rootOf('b'));
    expect(composeList(listInputs({ sessions: [a, b] }), listRequest()).shown).toHaveLength(1);
  });
});

describe('a continuation', () => {
  const parent = session('p', { endedAt: 200, endReason: 'compression' });

  it.each([
    ['T24: needs no end time of its parent', { ...parent, endedAt: null }, { startedAt: 50 }, true],
    ['T25: needs no source of its own', parent, { source: '', startedAt: 200 }, true],
    ['T26: may begin a moment before its parent ended', parent, { startedAt: 199.9 }, true],
    ['T26: but not long before', parent, { startedAt: 197.9 }, false],
    ['T27: is no fork of its parent', parent, { startedAt: 201, branchedFrom: 'p' }, false],
    ['T28: may have inherited the marker of an older session', parent, { startedAt: 201, delegateFrom: 'older' }, true],
    ['is no delegate of its parent', parent, { startedAt: 201, delegateFrom: 'p' }, false],
    ['is no tool run', parent, { source: 'tool', startedAt: 201 }, false],
    ['needs an end that goes on', { ...parent, endReason: 'timeout' }, { startedAt: 201 }, false],
    ['is not of another surface', parent, { source: 'telegram', startedAt: 201 }, false],
  ])('%s', (_, from, child, expected) => {
    expect(isContinuation(from, session('c', { parentId: 'p', ...child }))).toBe(expected);
  });

  it('is no fork that only the Web UI knows of', () => expect(isContinuation(parent, session('c', { startedAt: 201 }), true)).toBe(false));

  it.each([
    ['T27: FORK', parent, { startedAt: 201, branchedFrom: 'p' }, 'FORK'],
    ['FORK', { ...parent, endReason: 'branched' }, { startedAt: 201 }, 'FORK'],
    ['T80: RESET', { ...parent, endReason: 'session_reset', sessionKey: 'k' }, { resetFrom: 'p', sessionKey: 'k' }, 'RESET'],
    ['RESET by its key', { ...parent, endReason: 'idle', sessionKey: 'k' }, { sessionKey: 'k' }, 'RESET'],
    ['DELEGATE', { ...parent, endReason: null }, { delegateFrom: 'p' }, 'DELEGATE'],
    ['DELEGATE', { ...parent, endReason: null }, { source: 'subagent' }, 'DELEGATE'],
    ['CROSS_SURFACE', { ...parent, endReason: null }, { source: 'discord' }, 'CROSS_SURFACE'],
    ['CHILD', { ...parent, endReason: null }, {}, 'CHILD'],
    ['CONTINUATION', parent, { startedAt: 201 }, 'CONTINUATION'],
  ] as const)('is told from a relation of another kind: %s', (_, from, child, expected) => {
    expect(relationOf(from, session('c', { parentId: 'p', ...child }))).toBe(expected);
  });
});

describe('the report of a conversation', () => {
  it('T29: names its segments, newest first, and asks to look where it forks', () => {
    const report = lineageReport(storeOf(chain), 'tip');
    expect(report.segments.map(({ id, role }) => [id, role])).toEqual([
      ['tip', 'tip'],
      ['mid', 'hidden_segment'],
      ['root', 'hidden_segment'],
    ]);
    expect(report).toMatchObject({ found: true, lineageKey: 'root', manualReview: true });
    expect(lineageReport(storeOf([root, mid, tip]), 'tip').manualReview).toBe(false);
  });

  it('T30: of an unknown session is empty', () => {
    expect(lineageReport(storeOf(chain), 'nobody')).toMatchObject({ found: false, segments: [] });
  });

  it('names children that are no continuations', () => {
    const child = session('child', { parentId: 'tip', source: 'subagent', startedAt: 350 });
    expect(lineageReport(storeOf([root, mid, tip, child]), 'tip').children).toMatchObject([{ id: 'child', relation: 'DELEGATE' }]);
  });

  it('ends after 20 steps, and says so', () => {
    const long = Array.from({ length: 30 }, (_, index) =>
      session(`s${index}`, {
        parentId: index === 0 ? null : `s${index - 1}`,
        startedAt: 100 + index,
        endedAt: 101 + index,
        endReason: 'compression',
      }),
    );
    const report = lineageReport(storeOf(long), 's29');
    expect(report.segments).toHaveLength(21);
    expect(report.manualReview).toBe(true);
  });
});

it('pinned conversations are as many as the settings say, and pinning within one is free', () => {
  expect(pinQuota('b', ['a', 'b', 'b'], 2)).toEqual({ allowed: true, used: 2, limit: 2 });
  expect(pinQuota('e', ['a', 'b'], 2).allowed).toBe(false);
  expect(pinQuota('e', ['a', 'b'], 3).allowed).toBe(true);
});
