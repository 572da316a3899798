/** Stages A to C: rows of the Web UI's files, what state.db corrects, and which are shown. */
import { describe, expect, it } from 'vitest';
import { composeList } from '../../../src/web-ui/list/compose-list.ts';
import { webUiEntries } from '../../../src/web-ui/list/compose-web-ui.ts';
import { type ListRow, sidecarRow } from '../../../src/web-ui/list/list-row.ts';
import { isGenericTitle, shownTitle } from '../../../src/web-ui/list/list-titles.ts';
import { correctFromStore } from '../../../src/web-ui/list/store-correction.ts';
import { listInputs, listRequest, session, storeOf } from '../../support/web-ui-rows.ts';

function row(id: string, facts: Partial<ListRow> = {}): ListRow {
  return sidecarRow({ id, title: id, messageCount: 2, updatedAt: 10, lastMessageAt: 10, ...facts });
}

/** `id:STATE` of every row, in the order of the list. */
function states(sidecars: readonly ListRow[], facts: Parameters<typeof listInputs>[0] = {}): string[] {
  return composeList(listInputs({ sidecars, ...facts }), listRequest()).rows.map(({ id, visibility }) => `${id}:${visibility.state}`);
}

describe('drafts', () => {
  const draft = row('d', { title: 'Untitled', messageCount: 0 });

  it('T5: without a message are hidden, and say why', () => expect(states([draft])).toEqual(['d:EMPTY_DRAFT']));

  it('T6: with a worktree are listed by the Web UI, and hidden again as empty by the list', () => {
    const withWorktree = { ...draft, worktreePath: '/wt' };
    expect(webUiEntries({ sidecars: [withWorktree] }, () => null).map(({ state }) => state)).toEqual(['VISIBLE']);
  });

  it('T7: with a prompt that waits are listed', () => {
    const pending = { ...draft, hasPending: true, messageCount: 1, lastMessageAt: 50, pendingStartedAt: 50 };
    expect(states([pending])).toEqual(['d:VISIBLE']);
  });

  it('with a title stay in the list of the Web UI and fall to the rule of rows without messages', () => {
    expect(states([row('t', { messageCount: 0 })])).toEqual(['t:ZERO_MESSAGES']);
    expect(states([row('t', { messageCount: 0 })], { attention: ['t'] })).toEqual(['t:VISIBLE']);
  });
});

describe('the order', () => {
  it('T8: is that of the last messages, not of the last save', () => {
    expect(states([row('a', { updatedAt: 99, lastMessageAt: 11 }), row('b', { updatedAt: 20, lastMessageAt: 20 })])).toEqual([
      'b:VISIBLE',
      'a:VISIBLE',
    ]);
  });

  it('T9: of the Web UI has pinned rows first, the merged list does not', () => {
    const rows = [row('a', { lastMessageAt: 50 }), row('p', { pinned: true, lastMessageAt: 1 })];
    expect(webUiEntries({ sidecars: rows }, () => null).map((entry) => entry.row.id)).toEqual(['p', 'a']);
    expect(states(rows)).toEqual(['a:VISIBLE', 'p:VISIBLE']);
  });

  it('has rows with a run first, and counts a prompt that waits as a message', () => {
    const rows = [row('a', { lastMessageAt: 50 }), row('b', { activeStreamId: 's', hasPending: true }), row('c', { pendingStartedAt: 60 })];
    expect(states(rows)).toEqual(['b:VISIBLE', 'c:VISIBLE', 'a:VISIBLE']);
    expect(states([row('a', { lastMessageAt: 50 }), row('b', { activeStreamId: 's' })], { streams: ['s'] })[0]).toBe('b:VISIBLE');
  });
});

it('T10: a row without a profile is of the default profile', () => {
  const { rows } = composeList(listInputs({ sidecars: [row('a'), row('b', { profile: 'work' })] }), listRequest());
  expect(rows.map(({ id, profile, visibility }) => [id, profile, visibility.state])).toEqual([
    ['a', 'default', 'VISIBLE'],
    ['b', 'work', 'OTHER_PROFILE'],
  ]);
});

describe('state.db corrects', () => {
  const correct = (own: Partial<ListRow>, other: Parameters<typeof session>[1], derived: string | null = null) =>
    correctFromStore(row('a', own), storeOf([session('a', other)], { derivedTitle: () => derived }));

  it('T11: the count and the times of a row that is older', () => {
    expect(correct({}, { source: 'webui', messages: 5, last: 20 })).toMatchObject({
      messageCount: 5,
      actualMessageCount: 5,
      lastMessageAt: 20,
      updatedAt: 20,
      provenance: { messageCount: 'STATE_DB', lastMessageAt: 'STATE_DB', title: 'SIDECAR' },
    });
  });

  it('T12: nothing of a row that was saved later: what was undone stays undone', () => {
    expect(correct({ updatedAt: 30 }, { source: 'webui', messages: 5, last: 20 })).toMatchObject({
      messageCount: 2,
      provenance: { messageCount: 'SIDECAR' },
    });
    expect(correct({ updatedAt: 20 }, { source: 'webui', messages: 5, last: 20 }).messageCount).toBe(2);
  });

  it('T13: no counts of sessions that are not of the Web UI', () => {
    expect(correct({}, { source: 'telegram', messages: 5, last: 20 }).messageCount).toBe(2);
  });

  it('T14: the count when its messages have no time', () => {
    const stats = { total: 5, live: 5, lastTimestamp: null };
    expect(correct({}, { source: 'webui', stats })).toMatchObject({ messageCount: 5, lastMessageAt: 10 });
  });

  it('T15: the source of a row that was taken for a terminal session', () => {
    expect(correct({ sourceTag: 'cli', sessionSource: 'cli', isCliSession: true }, { source: 'webui' })).toMatchObject({
      isCliSession: false,
      sourceTag: 'webui',
      rawSource: 'webui',
      sessionSource: 'webui',
      sourceLabel: 'WebUI',
      provenance: { source: 'STATE_DB' },
    });
  });

  it('T16, T17: what to show in place of a generic title, and only of that', () => {
    expect(correct({ title: 'Hermes WebUI #3' }, { source: 'webui', title: 'Real' })).toMatchObject({
      title: 'Hermes WebUI #3',
      displayTitle: 'Real',
    });
    expect(correct({ title: 'My chat' }, { source: 'webui', title: 'Real' }).displayTitle).toBeNull();
  });

  it('T18: a title is generic only as the Web UI writes it', () => {
    expect(['Hermes WebUI', ' Hermes  WebUI #12 ', 'Hermes WebUI #1a', 'hermes webui'].map(isGenericTitle)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('T19: a delegate, which is read-only and shown by the first words it was given', () => {
    const corrected = correct({ title: 'Subagent Session', isCliSession: true }, { source: 'subagent' }, 'msg');
    expect(corrected).toMatchObject({ displayTitle: 'msg', readOnly: true, isCliSession: false });
    expect(shownTitle(corrected)).toBe('msg');
  });

  it("only from the store of the row's own profile", () => {
    const inputs = listInputs({ sidecars: [row('a', { profile: 'work', title: 'Hermes WebUI' })] });
    const stores = ['default', 'work'].map((profile) => ({
      store: storeOf([session('a', { source: 'webui', title: `of ${profile}` })], { profile }),
      context: { lastWorkspace: null, cronProjectId: null, webhookProjectId: null, cronJobNames: new Map() },
      gateway: new Map(),
    }));
    const { rows } = composeList({ ...inputs, stores }, listRequest({ allProfiles: true }));
    expect(rows.find(({ profile }) => profile === 'work')?.displayTitle).toBe('of work');
    expect(rows.find(({ profile }) => profile === 'default')).toMatchObject({ title: 'of default', origins: new Set(['STATE_DB']) });
  });
});

describe('snapshots and background rows', () => {
  const snapshot = row('s', { isSnapshot: true, messageCount: 10, lastMessageAt: 50 });
  const next = (id: string, facts: Partial<ListRow> = {}) =>
    row(id, { parentSessionId: 's', messageCount: 3, lastMessageAt: 40, ...facts });

  it('T44: a cron row is shown by its project only, and not at all without one or without messages', () => {
    const cron = (id: string, facts: Partial<ListRow>) => row(id, { sourceTag: 'cron', ...facts });
    const rows = [cron('a', {}), cron('b', { projectId: 'p' }), cron('c', { projectId: 'p', messageCount: 0 })];
    expect(states(rows).sort()).toEqual(['a:BACKGROUND_HIDDEN', 'b:PROJECT_ONLY', 'c:BACKGROUND_HIDDEN']);
    const { shown } = composeList(listInputs({ sidecars: rows }), listRequest());
    expect(shown.map(({ id, defaultHidden }) => [id, defaultHidden])).toEqual([['b', true]]);
    expect(composeList(listInputs({ sidecars: rows }), listRequest({ excludeHidden: true })).shown).toEqual([]);
  });

  it('the name of a background source is told with its case, and a tag masks what is behind it', () => {
    expect(states([row('a', { sourceTag: 'CRON' }), row('b', { sourceTag: 'cli', rawSource: 'cron' })]).sort()).toEqual([
      'a:VISIBLE',
      'b:VISIBLE',
    ]);
    expect(states([row('cron_x')])).toEqual(['cron_x:BACKGROUND_HIDDEN']);
  });

  it('T45: a snapshot that is newer and fuller stands for what goes on from it', () => {
    expect(states([snapshot, next('c')])).toEqual(['s:VISIBLE', 'c:SNAPSHOT_HIDDEN']);
  });

  it('T46: both are shown when the continuation is newer', () => {
    expect(states([snapshot, next('c', { lastMessageAt: 60 })])).toEqual(['c:VISIBLE', 's:VISIBLE']);
  });

  it('T47: a run in the continuation hides the snapshot', () => {
    expect(states([snapshot, next('c', { activeStreamId: 'x' })]).sort()).toEqual(['c:VISIBLE', 's:SNAPSHOT_HIDDEN']);
  });

  it('T48: two continuations with messages stay beside the snapshot', () => {
    expect(states([snapshot, next('c'), next('d')]).sort()).toEqual(['c:VISIBLE', 'd:VISIBLE', 's:VISIBLE']);
  });

  it('T49: a fork is another conversation: the snapshot comes back as the last of its own', () => {
    const { rows } = composeList(listInputs({ sidecars: [snapshot, next('f', { sessionSource: 'fork' })] }), listRequest());
    expect(rows.map(({ id, visibility }) => [id, visibility.state, visibility.warning])).toEqual([
      ['s', 'RESCUED', 'rescued_messageful_hidden_session'],
      ['f', 'VISIBLE', null],
    ]);
  });

  it('of two snapshots and nothing else the fuller comes back', () => {
    const older = row('t', { isSnapshot: true, parentSessionId: 's', messageCount: 4 });
    expect(states([snapshot, older])).toEqual(['s:RESCUED', 't:SNAPSHOT_HIDDEN']);
  });

  it('a newer continuation without messages is dropped as empty, and the snapshot stays', () => {
    expect(states([snapshot, next('c', { messageCount: 0, lastMessageAt: 60 })])).toEqual(['c:ZERO_MESSAGES', 's:VISIBLE']);
  });

  it('a loop of parents ends', () => {
    expect(states([row('a', { parentSessionId: 'b' }), row('b', { parentSessionId: 'a', isSnapshot: true })]).length).toBe(2);
  });
});
