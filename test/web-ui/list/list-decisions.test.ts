/** Titles, and the decisions about claims, imports and workspaces. */
import { describe, expect, it } from 'vitest';
import { claimable, claimedWorkspace, isDeletedHere } from '../../../src/web-ui/list/claim-policy.ts';
import { sidecarRow } from '../../../src/web-ui/list/list-row.ts';
import { shownTitle, titleFromMessages } from '../../../src/web-ui/list/list-titles.ts';
import { bindWorkspace, isTrustedPath } from '../../../src/web-ui/list/workspace-binding.ts';

describe('a title from messages', () => {
  const of = (content: unknown) =>
    titleFromMessages(
      [
        { role: 'assistant', content: 'no' },
        { role: 'user', content },
      ],
      'Untitled',
    );

  it('T55: leaves out the list of attached files', () => expect(of('hello\n\n[Attached files: a.png, b]')).toBe('hello'));
  it('T55: keeps what looks like it at another place', () => expect(of('[Attached files: a.png]')).toBe('[Attached files: a.png]'));
  it('T56: joins the texts of a list', () => {
    expect(of([{ type: 'text', text: 'a' }, { type: 'image' }, { type: 'text', text: 'b' }])).toBe('a b');
  });
  it('T57: is cut at 64 code points', () => {
    expect(of('x'.repeat(100))).toBe('x'.repeat(64));
    expect(of('😀'.repeat(100))).toBe('😀'.repeat(64));
  });
  it('is of the first message with text, or the fallback', () => {
    expect(
      titleFromMessages(
        [
          { role: 'user', content: null },
          { role: 'user', content: 'x' },
        ],
        'f',
      ),
    ).toBe('x');
    expect(titleFromMessages([{ role: 'User', content: 'x' }, 5, null], 'f')).toBe('f');
  });
  it('is shown without the list, and never blank', () => {
    expect(shownTitle({ displayTitle: ' ', title: 'a\n\n[Attached files: b]' })).toBe('a');
    expect(shownTitle({ displayTitle: null, title: '  ' })).toBe('Untitled');
  });
});

describe('a claim', () => {
  const of = (facts: Parameters<typeof sidecarRow>[0], storeSource: string | null = null) =>
    claimable(sidecarRow(facts), storeSource).reason;

  it.each([
    ['a terminal session', { sourceTag: 'cli' }, null, null],
    ['a session of the Web UI', { sourceTag: 'webui' }, null, null],
    ['what is read-only', { readOnly: true }, null, 'READ_ONLY'],
    ['a chat', { sourceTag: 'telegram', sessionSource: 'messaging' }, null, 'MESSAGING'],
    ['a transcript of another agent', { sessionSource: 'external_agent' }, null, 'SOURCE'],
    ['a cron run', { sourceTag: 'cron' }, null, 'SOURCE'],
    ['a subagent that only the store knows', {}, 'subagent', 'SOURCE'],
    ['a terminal session that only the store knows', {}, 'cli', null],
    ['a named source whatever the store says', { sourceTag: 'cli' }, 'cron', null],
  ] as const)('of %s', (_, facts, stored, expected) => expect(of({ id: 'a', ...facts }, stored)).toBe(expected));

  it('never brings back what the Web UI deleted', () => {
    const webui = sidecarRow({ id: 'a', sourceTag: 'webui' });
    expect(isDeletedHere(webui, false, null)).toBe(true);
    expect(isDeletedHere(null, true, 'webui')).toBe(true);
    expect(isDeletedHere(null, true, 'cli')).toBe(false);
    expect(isDeletedHere(webui, true, 'subagent')).toBe(false);
  });

  it('works where the session is listed, worked, or the profile worked last', () => {
    expect([claimedWorkspace(' ', '/cwd', '/last'), claimedWorkspace('/w', '/cwd', null), claimedWorkspace(null, null, null)]).toEqual([
      '/cwd',
      '/w',
      null,
    ]);
  });
});

describe('a workspace', () => {
  const question = { stored: '/old', finding: 'MISSING', terminal: 'LOCAL', last: '/last', lastFinding: 'TRUSTED' } as const;

  it.each([
    ['stands while it is trusted', { finding: 'TRUSTED' }, { state: 'OK', resolved: '/old', recovered: false }],
    ['is replaced when it is gone', {}, { state: 'MISSING', resolved: '/last', recovered: true }],
    ['is not replaced when it was never named', { stored: ' ' }, { state: 'MISSING', resolved: null, recovered: false }],
    ['is not replaced on another machine', { terminal: 'REMOTE' }, { state: 'REMOTE', resolved: null, recovered: false }],
    ['is not replaced when it is not known where it is', { terminal: 'UNREADABLE' }, { resolved: null, recovered: false }],
    ['is not replaced when it is there but not trusted', { finding: 'UNTRUSTED' }, { state: 'UNTRUSTED', resolved: null }],
    ['is not replaced when looking failed', { finding: 'FAILED' }, { state: 'UNTRUSTED', resolved: null }],
    ['is not replaced by what is not trusted', { lastFinding: 'UNTRUSTED' }, { state: 'MISSING', resolved: null, recovered: false }],
  ] as const)('%s', (_, changes, expected) => expect(bindWorkspace({ ...question, ...changes })).toMatchObject(expected));

  it('is trusted below the home, when it was saved, or below the default', () => {
    const roots = { home: '/home/u', saved: ['/srv/saved'], bootDefault: '/data/ws/' };
    const paths = ['/home/u', '/home/u/x', '/home/u2', '/srv/saved', '/srv/saved/x', '/data/ws', '/data/ws/x', '/data/ws2', '/etc', '/'];
    expect(paths.filter((path) => isTrustedPath(path, roots))).toEqual(['/home/u', '/home/u/x', '/srv/saved', '/data/ws', '/data/ws/x']);
    expect(isTrustedPath('/etc', { ...roots, saved: ['/etc'] })).toBe(false);
  });
});
