/** Changes of a store are noticed by events of its folder, by a poll where there are none, and by nothing once nobody listens. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { StoreWatcher } from '../../src/live/store-watcher.ts';
import { removeStores, temporaryFolder } from '../support/stores.ts';

afterAll(removeStores);

const releases: (() => void)[] = [];
afterEach(() => {
  for (const release of releases.splice(0)) release();
});

function watched(path: string, changes: () => boolean = () => false) {
  const check = vi.fn(async () => changes());
  const onError = vi.fn();
  const watcher = new StoreWatcher({ path, check, onError });
  const use = () => {
    const release = watcher.use();
    releases.push(release);
    return release;
  };
  return { watcher, check, use, onError };
}

describe('a store watcher', () => {
  it('does nothing while nobody listens', async () => {
    const { check, watcher } = watched(join(temporaryFolder(), 'state.db'));
    await sleep(350);
    expect([check.mock.calls.length, watcher.users]).toEqual([0, 0]);
  });

  it('looks at once when something happens to the store or its log, and again a little later', async () => {
    const path = join(temporaryFolder(), 'state.db');
    writeFileSync(path, '');
    const { check, use, watcher } = watched(path);
    use();
    await sleep(30);
    expect(watcher.mode).toBe('WATCH');
    for (const name of [path, `${path}-wal`]) {
      check.mockClear();
      writeFileSync(name, 'changed');
      await vi.waitFor(() => expect(check.mock.calls.length).toBeGreaterThanOrEqual(3), { timeout: 200, interval: 5 });
    }
    // Until the follow-up of the last event is over.
    await sleep(80);
    check.mockClear();
    writeFileSync(join(path, '..', 'unrelated.txt'), 'x');
    await sleep(60);
    expect(check.mock.calls.length).toBeLessThanOrEqual(1);
  });

  it('looks again behind the last event of a commit, not only behind the first', async () => {
    const path = join(temporaryFolder(), 'state.db');
    writeFileSync(path, '');
    const { check, use } = watched(path);
    use();
    await sleep(30);
    writeFileSync(path, 'begun');
    await vi.waitFor(() => expect(check.mock.calls.length).toBeGreaterThanOrEqual(4), { timeout: 200, interval: 1 });
    check.mockClear();
    writeFileSync(path, 'done');
    await vi.waitFor(() => expect(check.mock.calls.length).toBeGreaterThanOrEqual(5), { timeout: 200, interval: 1 });
  });

  it('has one watch for any number of users, and none after the last', async () => {
    const path = join(temporaryFolder(), 'state.db');
    writeFileSync(path, '');
    const { check, use, watcher } = watched(path);
    const [first, second] = [use(), use()];
    expect(watcher.users).toBe(2);
    first();
    first();
    expect(watcher.users).toBe(1);
    await vi.waitFor(() => expect(check).toHaveBeenCalled(), { timeout: 600 });
    second();
    expect(watcher.users).toBe(0);
    check.mockClear();
    writeFileSync(path, 'changed');
    await sleep(400);
    expect(check).not.toHaveBeenCalled();
  });

  it('begins again when somebody listens again', async () => {
    const path = join(temporaryFolder(), 'state.db');
    writeFileSync(path, '');
    const { check, use } = watched(path);
    use()();
    use();
    await sleep(20);
    check.mockClear();
    writeFileSync(path, 'changed');
    await vi.waitFor(() => expect(check).toHaveBeenCalled(), { timeout: 200 });
  });

  it('polls where the folder can not be watched', async () => {
    const { check, use, watcher } = watched(join(temporaryFolder(), 'no', 'such', 'folder', 'state.db'));
    use();
    expect(watcher.mode).toBe('POLL');
    await sleep(400);
    expect(check.mock.calls.length).toBeGreaterThan(3);
  });

  it('polls faster once changes came that no event announced', async () => {
    const path = join(temporaryFolder(), 'state.db');
    const { check, use, watcher } = watched(path, () => true);
    use();
    expect(watcher.mode).toBe('WATCH');
    await vi.waitFor(() => expect(watcher.mode).toBe('POLL'), { timeout: 3000 });
    check.mockClear();
    await sleep(400);
    expect(check.mock.calls.length).toBeGreaterThan(3);
  });

  it('goes on after a look that failed', async () => {
    const path = join(temporaryFolder(), 'state.db');
    writeFileSync(path, '');
    let failing = true;
    const { check, use, onError } = watched(path, () => {
      if (failing) throw new Error('the look failed');
      return false;
    });
    use();
    await vi.waitFor(() => expect(check).toHaveBeenCalled(), { timeout: 600 });
    writeFileSync(path, 'changed');
    await sleep(100);
    failing = false;
    expect(onError).toHaveBeenCalledWith(expect.objectContaining({ message: 'the look failed' }));
    check.mockClear();
    await vi.waitFor(() => expect(check).toHaveBeenCalled(), { timeout: 600 });
  });
});
