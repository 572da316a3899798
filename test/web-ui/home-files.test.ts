/** Small files of a home that decide what a list shows and what a session begins with. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseCronJobNames, readCronJobNames } from '../../src/web-ui/cron-jobs.ts';
import { parseGatewaySessions, readGatewaySessions } from '../../src/web-ui/gateway-sessions.ts';
import { effectiveDefaultModel, lastWorkspace, sessionModel, wantsWorktree } from '../../src/web-ui/session-defaults.ts';
import { parseListSettings, readListSettings } from '../../src/web-ui/settings-file.ts';
import { temporaryFolder } from '../support/stores.ts';

let home: string;
beforeEach(() => {
  home = temporaryFolder();
});

describe('settings', () => {
  it('show terminal sessions in a new installation, and not where others were saved before there was the setting', async () => {
    expect((await readListSettings(home)).showCli).toBe(true);
    writeFileSync(join(home, 'settings.json'), '{"theme": "dark"}');
    expect(await readListSettings(home)).toMatchObject({
      showCli: false,
      showClaudeCode: true,
      showCron: false,
      pinnedLimit: 3,
      redactTitles: true,
    });
  });

  it('of another type or out of range count as absent', () => {
    const text =
      '{"show_cli_sessions": "yes", "show_cron_sessions": true, "pinned_sessions_limit": 100, "agent_session_source_filter": " "}';
    expect(parseListSettings(text)).toMatchObject({ showCli: false, showCron: true, pinnedLimit: 3, sourceFilter: null, damaged: false });
    expect(parseListSettings('{"pinned_sessions_limit": 99}').pinnedLimit).toBe(99);
    expect(['', '[]', '{"a"'].map((damaged) => parseListSettings(damaged).damaged)).toEqual([true, true, true]);
  });
});

describe('the model of a new session', () => {
  const config = { model: { default: 'm1', provider: 'openai' } };

  it('T66: is that of the configuration, with its provider or the one that is asked for', () => {
    expect(sessionModel({}, config, 'd')).toEqual({ model: 'm1', provider: 'openai' });
    expect(sessionModel({ provider: 'Anthropic' }, config, 'd')).toEqual({ model: 'm1', provider: 'anthropic' });
  });

  it('is what is asked for, else the default where the configuration names none', () => {
    expect(sessionModel({ model: 'x', provider: 'P' }, config, 'd')).toEqual({ model: 'x', provider: 'P' });
    for (const damaged of [null, [], 'text', { model: ' ' }, { model: { default: 3 } }]) {
      expect(sessionModel({}, damaged, 'd')).toEqual({ model: 'd', provider: null });
    }
    expect(sessionModel({}, { model: 'plain' }, 'd').model).toBe('plain');
  });

  it('is by default that of the environment, then of the server', () => {
    expect(effectiveDefaultModel(config, { OPENAI_MODEL: 'o', LLM_MODEL: 'l' })).toBe('o');
    expect(effectiveDefaultModel(config, { HERMES_WEBUI_DEFAULT_MODEL: 'b' })).toBe('m1');
    expect(effectiveDefaultModel(null, { HERMES_WEBUI_DEFAULT_MODEL: 'b' })).toBe('b');
    expect(effectiveDefaultModel(null, {})).toBe('');
  });

  it('comes with a worktree only where that is said', () => {
    expect([true, 'Yes', '1', 'no', 1, null].map((asked) => wantsWorktree(asked, { worktree: true }))).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
    expect([{ worktree: true }, { worktree: 'true' }, null].map((found) => wantsWorktree(undefined, found))).toEqual([true, false, false]);
  });
});

describe('the last workspace', () => {
  const places = { config: null, remoteTerminal: false, serverDefault: '/default' };

  it('is that of the profile, as long as it is there, then those of the configuration', async () => {
    const [used, named] = ['used', 'named'].map((name) => join(home, name));
    for (const folder of [used, named, join(home, 'p', 'webui_state')]) mkdirSync(folder ?? '', { recursive: true });
    writeFileSync(join(home, 'last_workspace.txt'), `${used}\n`);
    expect(await lastWorkspace({ ...places, stateDir: home, profileHome: null })).toBe(used);
    // Another profile never works where the root profile did.
    const profileHome = join(home, 'p');
    expect(await lastWorkspace({ ...places, stateDir: home, profileHome })).toBe('/default');
    const config = { workspace: join(home, 'absent'), default_workspace: named, terminal: { cwd: '.' } };
    expect(await lastWorkspace({ ...places, stateDir: home, profileHome, config })).toBe(named);
    writeFileSync(join(profileHome, 'webui_state', 'last_workspace.txt'), join(home, 'gone'));
    expect(await lastWorkspace({ ...places, stateDir: home, profileHome, config })).toBe(named);
  });

  it('on another machine is below the folder of its terminal, and is not looked for here', async () => {
    const config = { terminal: { cwd: '/remote' } };
    const at = async (used: string) => {
      writeFileSync(join(home, 'last_workspace.txt'), used);
      return lastWorkspace({ ...places, stateDir: home, profileHome: null, config, remoteTerminal: true });
    };
    expect(await at('/remote/x')).toBe('/remote/x');
    expect(await at('/remote/../etc')).toBe('/remote');
    expect(await at('/remoter')).toBe('/remote');
  });
});

it('the chats of the gateway are read by session, whatever else the file holds', async () => {
  expect((await readGatewaySessions(home)).size).toBe(0);
  mkdirSync(join(home, 'sessions'));
  const entry = { session_id: 's', session_key: 'k', origin: { platform: 'telegram', chat_id: 7, user_id: 'u' } };
  writeFileSync(join(home, 'sessions', 'sessions.json'), JSON.stringify({ k: entry, other: { session_id: 't' }, bad: 5, none: {} }));
  expect([...(await readGatewaySessions(home)).values()]).toEqual([
    { sessionId: 's', sessionKey: 'k', platform: 'telegram', chatId: '7', threadId: null, chatType: null, userId: 'u' },
    { sessionId: 't', sessionKey: 'other', platform: null, chatId: null, threadId: null, chatType: null, userId: null },
  ]);
  expect(['', '[]', '{'].map((text) => parseGatewaySessions(text).size)).toEqual([0, 0, 0]);
});

it('the names of cron jobs are read, and a damaged file names none', async () => {
  expect((await readCronJobNames(home)).size).toBe(0);
  mkdirSync(join(home, 'cron'));
  writeFileSync(join(home, 'cron', 'jobs.json'), JSON.stringify({ jobs: [{ id: 'a', name: 'A' }, { id: 'b' }, 3] }));
  expect([...(await readCronJobNames(home))]).toEqual([['a', 'A']]);
  expect(['[]', '{"jobs": 3}', 'x'].map((text) => parseCronJobNames(text).size)).toEqual([0, 0, 0]);
});
