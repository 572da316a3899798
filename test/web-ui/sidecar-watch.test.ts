/** Saves of sessions and lines of the turn journal as they are noticed, with a watch and without. */
import { appendFileSync, mkdirSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { SidecarWatch, type SidecarWatchOptions } from '../../src/web-ui/sidecar-watch.ts';
import { until } from '../support/journal-following.ts';
import { newSessionsDir, saveSidecar, shardPath, sidecarPath, writeTurns } from '../support/sidecars.ts';
import { removeStores } from '../support/stores.ts';

afterAll(removeStores);

const releases: (() => void)[] = [];
afterEach(() => {
  for (const release of releases.splice(0)) release();
});

class Heard {
  readonly watch: SidecarWatch;
  readonly sessions: string[] = [];

  constructor(sessionsDir: string, options: Partial<SidecarWatchOptions> = {}) {
    this.watch = new SidecarWatch({ sessionsDir, ...options });
  }

  follow(sessionId: string): () => void {
    const release = this.watch.follow(sessionId, () => this.sessions.push(sessionId));
    releases.push(release);
    return release;
  }

  followAll(): () => void {
    const release = this.watch.followAll((sessionId) => this.sessions.push(sessionId));
    releases.push(release);
    return release;
  }

  /** Waits until the session was told, and forgets it. */
  async next(sessionId: string): Promise<void> {
    await until(() => this.sessions.includes(sessionId), 2000);
    this.sessions.length = 0;
  }
}

/** Files that the owner keeps beside the sidecars. */
function writeOthers(sessionsDir: string): void {
  for (const name of [
    '_index.json',
    '_deleted_webui_sessions.json',
    '.s.json',
    's.json.bak',
    's.tmp.12.34',
    's.json.recover.tmp',
    's.txt',
  ]) {
    writeFileSync(join(sessionsDir, name), '{}');
  }
}

describe.each([
  // A sweep that never comes: whatever is told, an event told it.
  ['with a watch', { sweepMs: 60_000 }],
  ['by the sweep alone', { watch: false, sweepMs: 30 }],
])('a followed session, %s', (_, options) => {
  it('is told when its file comes, is replaced and goes', async () => {
    const folder = newSessionsDir();
    const heard = new Heard(folder, options);
    heard.follow('s');
    saveSidecar(folder, 's', '{}');
    await heard.next('s');
    saveSidecar(folder, 's', '{"title": "x"}');
    await heard.next('s');
    unlinkSync(sidecarPath(folder, 's'));
    await heard.next('s');
  });

  it('is told when a file of its turn journal comes and grows, and of no other session', async () => {
    const folder = newSessionsDir();
    writeTurns(folder, 's', 1, [{ event: 'submitted' }]);
    const heard = new Heard(folder, options);
    heard.follow('s');
    heard.follow('t');
    await sleep(80);
    heard.sessions.length = 0;
    writeTurns(folder, 's', 1, [{ event: 'worker_started' }]);
    await heard.next('s');
    writeTurns(folder, 's', 2, [{ event: 'completed' }]);
    await heard.next('s');
    writeFileSync(join(folder, '_turn_journal', 't.jsonl'), '\n');
    await heard.next('t');
    writeTurns(folder, 'stranger', 2, [{ event: 'completed' }]);
    writeOthers(folder);
    writeTurns(folder, 't', 3, [{ event: 'completed' }]);
    await heard.next('t');
    expect(heard.sessions).toEqual([]);
  });

  it('is told of a turn journal whose folder comes later', async () => {
    const folder = newSessionsDir();
    const heard = new Heard(folder, options);
    heard.follow('s');
    await sleep(20);
    writeTurns(folder, 's', 1, [{ event: 'submitted' }]);
    await heard.next('s');
    await sleep(60);
    heard.sessions.length = 0;
    appendFileSync(shardPath(folder, 's', 1), '{}\n');
    await heard.next('s');
  });

  it('is told when the folder itself comes later, and after it was made anew', async () => {
    const folder = join(newSessionsDir(), 'later', 'sessions');
    const heard = new Heard(folder, { ...options, sweepMs: 30 });
    heard.follow('s');
    await sleep(50);
    for (let round = 1; round <= 3; round++) {
      mkdirSync(folder, { recursive: true });
      saveSidecar(folder, 's', '{}');
      await heard.next('s');
      await sleep(50);
      heard.sessions.length = 0;
      saveSidecar(folder, 's', '{"title": "x"}');
      await heard.next('s');
      rmSync(folder, { recursive: true });
      await heard.next('s');
      await sleep(50);
      heard.sessions.length = 0;
    }
  });

  it('all sessions are told to those who follow all', async () => {
    const folder = newSessionsDir();
    saveSidecar(folder, 'a', '{}');
    const heard = new Heard(folder, options);
    heard.followAll();
    await sleep(60);
    writeOthers(folder);
    await sleep(60);
    expect(heard.sessions).toEqual([]);
    saveSidecar(folder, 'b', '{}');
    await heard.next('b');
    await sleep(60);
    heard.sessions.length = 0;
    saveSidecar(folder, 'a', '{"title": "x"}');
    await heard.next('a');
    unlinkSync(sidecarPath(folder, 'b'));
    await heard.next('b');
  });
});

describe('one watch for all followers', () => {
  it('opens two watches whatever the number, and none when the last has gone', async () => {
    const folder = newSessionsDir();
    writeTurns(folder, 's', 1, []);
    const { watch } = new Heard(folder);
    expect(watch.watches).toBe(0);
    const some = Array.from({ length: 50 }, (_, index) => watch.follow(`s${index % 5}`, () => {}));
    some.push(watch.followAll(() => {}));
    expect(watch.watches).toBe(2);
    expect(watch.mode).toBe('WATCH');
    for (const release of some.slice(1)) release();
    // Twice is once.
    for (const release of some.slice(1)) release();
    expect(watch.watches).toBe(2);
    some[0]?.();
    expect(watch.watches).toBe(0);
    await sleep(30);
    expect(watch.watches).toBe(0);
  });

  it('tells nobody who has gone, and everybody who has not', async () => {
    const folder = newSessionsDir();
    const heard = new Heard(folder);
    const release = heard.follow('s');
    const others: string[] = [];
    releases.push(heard.watch.follow('s', () => others.push('s')));
    release();
    saveSidecar(folder, 's', '{}');
    await until(() => others.length > 0);
    expect(heard.sessions).toEqual([]);
  });

  it('begins again after everybody had gone', async () => {
    const folder = newSessionsDir();
    const heard = new Heard(folder, { watch: false, sweepMs: 30 });
    for (let round = 1; round <= 3; round++) {
      const release = heard.follow('s');
      saveSidecar(folder, 's', `{"round": ${round}}`);
      await heard.next('s');
      release();
    }
  });

  it('a save between following and the first look is not lost', async () => {
    const folder = newSessionsDir();
    saveSidecar(folder, 's', '{}');
    const heard = new Heard(folder, { watch: false, sweepMs: 30 });
    heard.follow('s');
    saveSidecar(folder, 's', '{"title": "x"}');
    await heard.next('s');
    await sleep(100);
    expect(heard.sessions).toEqual([]);
  });

  it('keeps no process alive and watches nothing for what is no id', () => {
    const { watch } = new Heard(newSessionsDir());
    for (const id of ['../x', '_index', 'a.b', '']) watch.follow(id, () => {})();
    const release = watch.follow('../x', () => {});
    expect(watch.watches).toBe(0);
    release();
  });
});

describe('the mode', () => {
  it('is a poll where nothing can be watched', async () => {
    const folder = newSessionsDir();
    const polled = new Heard(folder, { watch: false });
    polled.follow('s');
    expect(polled.watch.mode).toBe('POLL');
    expect(polled.watch.watches).toBe(0);
    const absent = new Heard(join(folder, 'later'), { sweepMs: 30 });
    absent.follow('s');
    expect(absent.watch.mode).toBe('POLL');
    mkdirSync(join(folder, 'later'));
    await until(() => absent.watch.mode === 'WATCH');
  });

  it('a folder that was put in the place of another is watched again', async () => {
    const folder = newSessionsDir();
    const heard = new Heard(folder, { sweepMs: 30 });
    heard.follow('s');
    await sleep(50);
    const other = newSessionsDir();
    saveSidecar(other, 's', '{"other": true}');
    renameSync(folder, `${folder}-before`);
    renameSync(other, folder);
    await heard.next('s');
    await sleep(80);
    heard.sessions.length = 0;
    saveSidecar(folder, 's', '{"other": 2}');
    await heard.next('s');
    expect(heard.watch.mode).toBe('WATCH');
  });
});
