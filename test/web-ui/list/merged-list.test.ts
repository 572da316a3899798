/** Stages D to F: what stores add to the list, and what is hidden of it. */
import { describe, expect, it } from 'vitest';
import { composeList, type ListRequest } from '../../../src/web-ui/list/compose-list.ts';
import { type ListRow, sidecarRow } from '../../../src/web-ui/list/list-row.ts';
import { pruneDecision } from '../../../src/web-ui/list/presence.ts';
import { familyOf, normaliseSource } from '../../../src/web-ui/list/source-class.ts';
import { NO_CONTEXT, normaliseFilter } from '../../../src/web-ui/list/store-projection.ts';
import { type ListFacts, listInputs, listRequest, session } from '../../support/web-ui-rows.ts';

function row(id: string, facts: Partial<ListRow> = {}): ListRow {
  return sidecarRow({ id, title: id, messageCount: 2, updatedAt: 10, lastMessageAt: 10, ...facts });
}

const WEBUI = { sourceTag: 'webui', rawSource: 'webui', sessionSource: 'webui', sourceLabel: 'WebUI' };

function compose(facts: ListFacts, request: Partial<ListRequest> = {}) {
  return composeList(listInputs(facts), listRequest(request));
}

function states(facts: ListFacts, request: Partial<ListRequest> = {}): string[] {
  return compose(facts, request)
    .rows.map(({ id, visibility }) => `${id}:${visibility.state}`)
    .sort();
}

describe('sessions that only state.db has', () => {
  it('T31: bring the subagent that a listed subagent belongs to', () => {
    const parent = session('parent', { source: 'subagent', startedAt: 100 });
    const child = session('child', { source: 'subagent', parentId: 'parent', startedAt: 200 });
    const other = session('other', { startedAt: 150 });
    expect(states({ sessions: [parent, child, other] }, { window: 1 })).toEqual([
      'child:VISIBLE',
      'other:OUTSIDE_WINDOW',
      'parent:VISIBLE',
    ]);
  });

  it('T32: without messages are not listed, and say why', () => {
    expect(states({ sessions: [session('a', { messages: 0 })] })).toEqual(['a:ZERO_MESSAGES']);
  });

  it.each([
    ['T33: ended and untitled, with one user message', { users: 1 }, 'CLI_HIDDEN'],
    ['T34: with two', { users: 2 }, 'VISIBLE'],
    ['with a title', { users: 1, title: 'Tea' }, 'VISIBLE'],
    ['still open', { users: 1, endedAt: null, endReason: null }, 'VISIBLE'],
    ['T35: of an editor without a user message', { source: 'acp', users: 0, title: 'Tea' }, 'CLI_HIDDEN'],
    ['T35: of an editor with one', { source: 'acp', users: 1 }, 'VISIBLE'],
    ['of the full-screen terminal', { source: 'tui', users: 0 }, 'VISIBLE'],
  ])('%s', (_, facts, expected) => {
    expect(states({ sessions: [session('a', { messages: 5, endedAt: 300, endReason: 'done', ...facts })] })).toEqual([`a:${expected}`]);
  });

  it('T36: stay away when the Web UI deleted them', () => {
    expect(states({ sessions: [session('a', { source: 'webui' })], deleted: ['a'] })).toEqual(['a:TOMBSTONED']);
    expect(states({ sessions: [session('a', { source: 'cli' })], deleted: ['a'] })).toEqual(['a:VISIBLE']);
  });

  it('T37: a file beats the tombstone, with its title and its flags', () => {
    const facts = { sessions: [session('a', { source: 'webui' })], deleted: ['a'], sidecars: [row('a', { title: 'X', archived: true })] };
    expect(compose(facts, { includeArchived: true }).shown).toMatchObject([{ id: 'a', title: 'X', archived: true }]);
    expect(states(facts)).toEqual(['a:ARCHIVED']);
  });

  it('T38: share one window: newer terminal sessions push chats out', () => {
    const terminal = Array.from({ length: 25 }, (_, index) => session(`c${index}`, { title: 'T', startedAt: 1000 + index }));
    const chats = [1, 2, 3].map((index) => session(`t${index}`, { source: 'telegram', startedAt: 10 + index }));
    const { shown } = compose({ sessions: [...terminal, ...chats] });
    expect(shown).toHaveLength(20);
    expect(shown.filter(({ id }) => id.startsWith('t'))).toEqual([]);
    expect(compose({ sessions: [...terminal, ...chats] }, { window: null, showPreviousMessaging: true }).shown).toHaveLength(28);
  });

  it('T40, T41, T42: of cron and webhooks are hidden, and belong to a project only where there is one', () => {
    const sessions = [session('cron_j_20260801_101112', { source: 'cron' }), session('w', { source: 'webhook' })];
    expect(states({ sessions })).toEqual(['cron_j_20260801_101112:BACKGROUND_HIDDEN', 'w:BACKGROUND_HIDDEN']);
    const context = { ...NO_CONTEXT, cronProjectId: 'p1', webhookProjectId: 'p2' };
    const { shown } = compose({ sessions, context });
    expect(shown.map(({ projectId, visibility }) => [projectId, visibility.state])).toEqual([
      ['p1', 'PROJECT_ONLY'],
      ['p2', 'PROJECT_ONLY'],
    ]);
    expect(compose({ sessions }, { showCron: true }).shown.map(({ projectId }) => projectId)).toEqual([null]);
  });

  it('T43: of cron have the name of their job, whichever characters its id has', () => {
    const cronJobNames = new Map([
      ['j1', 'Nightly'],
      ['my_job', 'Mine'],
    ]);
    const ids = ['cron_j1_20260801_1', 'cron_my_job_20260801_101112', 'cron_gone_20260801_101112'];
    const { rows } = compose({ sessions: ids.map((id) => session(id, { source: 'cron' })), context: { ...NO_CONTEXT, cronJobNames } });
    expect(rows.map(({ id, title }) => [id, title])).toEqual([
      [ids[0], 'Nightly'],
      [ids[1], 'Mine'],
      [ids[2], 'Cron Session'],
    ]);
  });

  it('T77: with times that are text are listed by their start', () => {
    const odd = session('odd', { source: 'webui', stats: { total: 3, live: 3, lastTimestamp: null }, startedAt: 70 });
    expect(compose({ sessions: [odd] }).shown).toMatchObject([{ id: 'odd', updatedAt: 70, messageCount: 3 }]);
  });

  it('T79: count all their rows, as the Web UI does', () => {
    const rewound = session('r', { source: 'webui', stats: { total: 4, live: 2, lastTimestamp: 5 } });
    expect(compose({ sessions: [rewound] }).shown).toMatchObject([{ messageCount: 4, actualMessageCount: 4 }]);
  });

  it('have a name for every source, and a family where the Web UI has none', () => {
    expect(normaliseSource(' Telegram ')).toMatchObject({ rawSource: 'telegram', sessionSource: 'messaging', sourceLabel: 'Telegram' });
    expect(normaliseSource('msgraph_webhook')).toMatchObject({ sessionSource: 'other', sourceLabel: 'Msgraph Webhook' });
    expect(normaliseSource('')).toEqual({ sourceTag: 'cli', rawSource: null, sessionSource: 'other', sourceLabel: 'Agent' });
    expect(['whatsapp', 'signal', 'tui', 'subagent', 'api_server', 'x'].map((name) => familyOf(normaliseSource(name)))).toEqual([
      'MESSAGING',
      'MESSAGING',
      'CLI',
      'DELEGATE',
      'API',
      'OTHER',
    ]);
  });
});

describe('chats', () => {
  const chat = (id: string, chatId: string, startedAt: number, facts = {}) =>
    session(id, { source: 'telegram', chatId, startedAt, ...facts });
  const three = [chat('t1', '7', 100), chat('t2', '7', 200), chat('t3', '8', 300)];

  it('T39: show their newest session, and the earlier ones on request', () => {
    expect(states({ sessions: three })).toEqual(['t1:PREVIOUS_MESSAGING_SEGMENT', 't2:VISIBLE', 't3:VISIBLE']);
    expect(compose({ sessions: three }, { showPreviousMessaging: true }).shown).toHaveLength(3);
  });

  it('hide what was reset when the gateway names the session that goes on', () => {
    const named = { sessionId: 't3', platform: 'telegram', sessionKey: 'k', chatId: '8', chatType: null, threadId: null, userId: null };
    const sessions = [chat('old', '9', 100, { endReason: 'session_reset' }), chat('kept', '10', 150), chat('t3', '8', 300)];
    expect(states({ sessions, gateway: new Map([['t3', named]]) })).toEqual([
      'kept:VISIBLE',
      'old:PREVIOUS_MESSAGING_SEGMENT',
      't3:VISIBLE',
    ]);
    expect(states({ sessions })).toEqual(['kept:VISIBLE', 'old:VISIBLE', 't3:VISIBLE']);
  });

  it('bring their names and counts into the row of a file, which keeps its title and flags', () => {
    const file = row('t1', { title: 'Mine', pinned: true, model: 'unknown' });
    const stored = chat('t1', '7', 5, { messages: 9, last: 50, model: 'm', title: 'Theirs' });
    expect(compose({ sidecars: [file], sessions: [stored] }).shown).toMatchObject([
      {
        title: 'Mine',
        pinned: true,
        model: 'm',
        messageCount: 9,
        chatId: '7',
        sourceTag: 'telegram',
        origins: new Set(['SIDECAR', 'STATE_DB']),
        provenance: { title: 'SIDECAR', messageCount: 'STATE_DB', source: 'STATE_DB' },
      },
    ]);
  });
});

describe('rows of files and of the store', () => {
  it('are one where they are one session, and one conversation where the store says so', () => {
    const stored = [
      session('root', { source: 'webui', endedAt: 200, endReason: 'compression' }),
      session('tip', { source: 'webui', parentId: 'root', startedAt: 200 }),
    ];
    expect(states({ sidecars: [row('root', WEBUI)], sessions: stored })).toEqual(['root:VISIBLE', 'tip:REPRESENTED']);
    expect(states({ sidecars: [row('tip', WEBUI)], sessions: stored })).toEqual(['root:REPRESENTED', 'tip:VISIBLE']);
  });

  it('T52: an imported session that the store lost is hidden; a store that is missing proves nothing', () => {
    const imported = row('i', { sourceTag: 'cli', rawSource: 'cli', sessionSource: 'cli', sourceLabel: 'CLI', isCliSession: true });
    expect(states({ sidecars: [imported], sessions: [session('other', { title: 'x' })] })).toEqual(['i:ORPHAN_IMPORT', 'other:VISIBLE']);
    expect(states({ sidecars: [imported], store: null })).toEqual(['i:VISIBLE']);
    expect(states({ sidecars: [imported], sessions: [session('i', { title: 'x' })] })).toEqual(['i:VISIBLE']);
  });

  it('T53: a titled session without a message anywhere is hidden', () => {
    const empty = session('e', { source: 'webui', messages: 0 });
    expect(states({ sidecars: [row('e', { ...WEBUI, messageCount: 0 })], sessions: [empty] })).toEqual(['e:ZERO_MESSAGES']);
    expect(states({ sidecars: [row('e', { ...WEBUI, messageCount: 3 })], sessions: [empty] })).toEqual(['e:VISIBLE']);
    expect(states({ sidecars: [row('e', { ...WEBUI, messageCount: 3 })], sessions: [{ ...empty, stats: null }] })).toEqual(['e:VISIBLE']);
  });

  it.each([
    [true, 0, false, { drop: true, tombstone: 'RECORD' }],
    [true, 0, true, { drop: true, tombstone: 'LEAVE' }],
    [true, 3, false, { drop: false, tombstone: 'LEAVE' }],
    [true, 3, true, { drop: false, tombstone: 'CLEAR' }],
    [false, 0, false, { drop: false, tombstone: 'LEAVE' }],
    [false, 0, true, { drop: false, tombstone: 'CLEAR' }],
    [true, null, true, { drop: false, tombstone: 'LEAVE' }],
  ])(
    'T53, T54: pruning of empty in store %j, %j messages in the file, tombstoned %j',
    (emptyInStore, sidecarMessages, tombstoned, expected) => {
      expect(pruneDecision({ emptyInStore, sidecarMessages, tombstoned })).toEqual(expected);
    },
  );

  it('T74: an archived parent is given as a reference, also when only the store knows of the link', () => {
    const parent = row('p', { ...WEBUI, archived: true });
    const sessions = [session('p', { source: 'webui' }), session('d', { source: 'subagent', parentId: 'p' })];
    const list = compose({ sidecars: [parent], sessions });
    expect(list.references.map(({ id }) => id)).toEqual(['p']);
    expect(list.counts).toMatchObject({ archivedWebui: 1, webui: 1 });
  });

  it('T76: a cron row of both is listed once, with the title and the flags of its file', () => {
    const id = 'cron_j_20260801_101112';
    const facts = { sidecars: [row(id, { title: 'Mine', pinned: true, sourceTag: 'cron' })], sessions: [session(id, { source: 'cron' })] };
    expect(compose(facts, { showCron: true }).shown).toMatchObject([
      { id, title: 'Mine', pinned: true, origins: new Set(['SIDECAR', 'STATE_DB']) },
    ]);
    expect(states(facts)).toEqual([`${id}:BACKGROUND_HIDDEN`]);
    expect(states({ ...facts, sessions: [] }, { showCron: true })).toEqual([`${id}:BACKGROUND_HIDDEN`]);
  });

  it('terminal sessions and all that comes from elsewhere go when they are switched off', () => {
    const file = row('f', { sourceTag: 'cli', sessionSource: 'cli' });
    expect(states({ sidecars: [file, row('w', WEBUI)], sessions: [session('s', { title: 'x' })] }, { showCli: false })).toEqual([
      'f:CLI_SWITCHED_OFF',
      's:CLI_SWITCHED_OFF',
      'w:VISIBLE',
    ]);
  });

  it('keep at most a window of terminal sessions, those of files too', () => {
    const files = Array.from({ length: 4 }, (_, index) =>
      row(`f${index}`, { sourceTag: 'cli', sessionSource: 'cli', lastMessageAt: index + 1 }),
    );
    expect(states({ sidecars: files, store: null }, { window: 3 })).toEqual([
      'f0:OUTSIDE_WINDOW',
      'f1:VISIBLE',
      'f2:VISIBLE',
      'f3:VISIBLE',
    ]);
  });

  it('of one source only are listed on request', () => {
    const sessions = [session('a', { source: 'webui' }), session('b', { title: 'x' }), session('c', { source: 'kanban' })];
    expect(states({ sessions }, { sourceFilter: 'WebUI' })).toEqual(['a:VISIBLE', 'b:SOURCE_FILTERED', 'c:SOURCE_FILTERED']);
    expect(states({ sessions }, { sourceFilter: 'kanban' })).toEqual(['a:SOURCE_FILTERED', 'b:SOURCE_FILTERED', 'c:VISIBLE']);
    expect(['', 'All', '*', 'any', null, 'claude-code', ' CLI '].map(normaliseFilter)).toEqual([
      null,
      null,
      null,
      null,
      null,
      'claude_code',
      'cli',
    ]);
  });

  it('count what is left out of other profiles, and page the archived ones only', () => {
    const files = [
      row('a'),
      row('o', { profile: 'work' }),
      row('x', { archived: true, lastMessageAt: 9 }),
      row('y', { archived: true, lastMessageAt: 8 }),
    ];
    const list = compose({ sidecars: files, store: null }, { includeArchived: true });
    expect(list.counts.otherProfiles).toBe(1);
    expect(compose({ sidecars: files, store: null }, { rootAliases: new Set(['work']) }).shown.map(({ id }) => id)).toEqual(['a', 'o']);
  });
});
