/**
 * Processes that die at every step of what is done with a spool, and disks that fail at every step (`spec/state-db-writes.md` 20, K5 to K13).
 * Then the next process must find everything that was durable, and nothing twice.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readDiverted } from '../../src/transcript/divert-file.ts';
import { moveToSpool } from '../../src/transcript/spool-backlog.ts';
import { SpoolDirectory } from '../../src/transcript/spool-directory.ts';
import { drainSession } from '../../src/transcript/spool-drain.ts';
import { NODE_FILES } from '../../src/transcript/spool-files.ts';
import { recoverSpool } from '../../src/transcript/spool-recovery.ts';
import { COMPILE_CACHE, someAtOnce } from '../support/program-start.ts';
import { capDrop, enveloped, filesOf, makeHome, putFile, RecordedStore, stepped, systemError, user } from '../support/spool.ts';

const PROCESS = fileURLToPath(new URL('../support/spool-process.ts', import.meta.url));
const LATER = { namedProfile: false, now: () => Date.now() + 301_000 };
const ALL = ['m1', 'm2', 'm3'];

/** What a dead process left. `trace`: the steps that it had begun. */
interface Remains {
  readonly home: string;
  readonly trace: readonly string[];
}

/** Kills a process at each step in turn, on a home of its own, and lets one come to its end; gives the trace of that one. */
async function killAtEachStep(scenario: string, prepare: (home: string) => void, check: (remains: Remains) => unknown): Promise<string[]> {
  const at = async (step: number | null): Promise<string[]> => {
    const home = makeHome();
    prepare(home);
    const { signal, stderr } = await runSpool(scenario, home, step);
    expect(stderr).toBe('');
    expect(signal).toBe(step === null ? null : 'SIGKILL');
    const trace = traceOf(home);
    if (step !== null) expect(trace).toHaveLength(step);
    await check({ home, trace });
    return trace;
  };
  const whole = await at(null);
  expect(whole.length).toBeGreaterThan(5);
  await someAtOnce([...whole.keys()], async (step) => {
    await at(step);
  });
  return whole;
}

/** `step`: where it dies; null: nowhere. */
async function runSpool(scenario: string, home: string, step: number | null): Promise<{ signal: string | null; stderr: string }> {
  const child = spawn(process.execPath, [PROCESS, scenario, home, String(step ?? -1)], {
    env: { ...process.env, ...COMPILE_CACHE },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { signal, stderr: code === null || code === 0 ? stderr : `${stderr}ended with ${code}` };
}

function traceOf(home: string): string[] {
  const path = join(home, 'trace');
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
}

/** Two messages of the oldest form, one of the newest. */
function threeFiles(home: string): void {
  putFile(home, capDrop('s', 1, 0, user('m1')));
  putFile(home, enveloped('s', 1, 1, [user('m2', { message_uid: 'uid-m2' })]));
  putFile(home, capDrop('s', 1, 2, user('m3')));
}

const spooled = (home: string) => new SpoolDirectory(home, LATER).list().entries.map(({ preview, state }) => [preview, state]);
const count = (trace: readonly string[], name: string) => trace.filter((each) => each === name).length;
/** Files of the spool that are no leftovers of a write. */
const named = (home: string) => filesOf(home).filter((name) => !/^\.pending-[0-9a-f]{32}_[0-9a-f]+\.tmp$/.test(name));

describe('a process that dies while it moves messages to the spool', () => {
  it('K5, K6, K7: leaves whole files of the oldest messages, every one that was renamed, and nothing that is read by mistake', async () => {
    await killAtEachStep(
      'move',
      () => undefined,
      ({ home, trace }) => {
        const expected = ALL.slice(0, count(trace, 'rename'));
        expect(spooled(home)).toEqual(expected.map((text) => [text, 'PENDING']));
        expect(named(home)).toHaveLength(expected.length);
      },
    );
  }, 60_000);

  it('K12, K13: has every message in the spool before the divert file, which is readable whatever is torn', async () => {
    let torn = 0;
    await killAtEachStep(
      'divert',
      () => undefined,
      ({ home, trace }) => {
        const { messages, skipped } = readDiverted(home, 's');
        torn += skipped;
        const lines = messages.map(({ content }) => content);
        expect(lines).toEqual(ALL.slice(0, lines.length));
        if (trace.includes('openToAppend')) expect(spooled(home).map(([text]) => text)).toEqual(ALL);
        else expect(lines).toEqual([]);
      },
    );
    expect(torn).toBe(1);
  }, 60_000);
});

describe('a process that dies while it replays', () => {
  it('K8, K9: a drain goes on where it died, in order, and writes nothing twice', async () => {
    let duplicates = 0;
    await killAtEachStep('drain', threeFiles, async ({ home, trace }) => {
      const store = new RecordedStore(home);
      const before = store.contents();
      expect(before).toEqual(ALL.slice(0, before.length));
      expect(before.length).toBeGreaterThanOrEqual(count(trace, 'committed'));
      const result = await drainSession(new SpoolDirectory(home, LATER), 's', store);
      expect(result).toMatchObject({ remaining: 0, stoppedBy: null });
      duplicates += result.replayed.filter(({ duplicate }) => duplicate).length;
      expect(store.contents()).toEqual(ALL);
      expect(named(home)).toEqual([]);
    });
    // Of each of the three at least one process died between the commit and the removal.
    expect(duplicates).toBeGreaterThanOrEqual(3);
  }, 120_000);

  it('T51, K10, K11: a recovery is repeated with the same uids, and writes nothing twice', async () => {
    let repeated = 0;
    await killAtEachStep('recover', threeFiles, async ({ home }) => {
      const store = new RecordedStore(home);
      const before = store.rows();
      expect([0, 3]).toContain(before.length);
      const { blocked, recovered } = await recoverSpool(new SpoolDirectory(home, LATER), store);
      expect(blocked).toEqual([]);
      if (before.length === 3 && recovered.length > 0) {
        expect(recovered).toMatchObject([{ inserted: 0 }]);
        repeated += 1;
      }
      expect(store.contents()).toEqual(ALL);
      expect(named(home)).toEqual([]);
    });
    expect(repeated).toBeGreaterThanOrEqual(3);
  }, 120_000);

  it.runIf(process.platform === 'linux')('S10: its claims are taken over at once, so that newer messages do not overtake', async () => {
    const home = makeHome();
    threeFiles(home);
    const { trace } = await lastBefore('commit', home);
    expect(trace).not.toContain('committed');
    expect(named(home).filter((name) => name.includes('.claim-'))).toHaveLength(1);
    const store = new RecordedStore(home);
    const now = await drainSession(new SpoolDirectory(home, { namedProfile: false }), 's', store);
    expect(now).toMatchObject({ remaining: 0, stoppedBy: null });
    expect(store.contents()).toEqual(ALL);
  });
});

/** Drains in a process that dies right before the first step of this name. */
async function lastBefore(name: string, home: string): Promise<Remains> {
  const rehearsal = makeHome();
  threeFiles(rehearsal);
  await runSpool('drain', rehearsal, null);
  const step = traceOf(rehearsal).indexOf(name);
  expect(step).toBeGreaterThan(0);
  expect(await runSpool('drain', home, step)).toMatchObject({ signal: 'SIGKILL' });
  return { home, trace: traceOf(home) };
}

/** Lets each call of the file system and each commit fail in turn, until none is left. */
async function failAtEachStep(run: (home: string, step: (name: string) => void, failed: () => boolean) => Promise<void>): Promise<void> {
  for (let fatal = 0; ; fatal++) {
    let step = 0;
    let failed = false;
    await run(
      makeHome(),
      () => {
        if (step++ !== fatal) return;
        failed = true;
        throw systemError('EIO');
      },
      () => failed,
    );
    if (!failed) {
      expect(fatal).toBeGreaterThan(5);
      return;
    }
  }
}

describe('a disk that fails', () => {
  it('K5: at any step, a message is in memory or in the spool, in order, and in one of them only', async () => {
    await failAtEachStep(async (home, step) => {
      const queue = ALL.map((text) => user(text));
      const spool = new SpoolDirectory(home, { namedProfile: false, files: stepped(NODE_FILES, step) });
      moveToSpool(spool, 's', queue, (message) => message);
      expect([...spooled(home).map(([text]) => text), ...queue.map(({ content }) => content)]).toEqual(ALL);
    });
  });

  it('K8, K9: at any step of a drain, the next drain ends it and writes nothing twice', async () => {
    await failAtEachStep(async (home, step, failed) => {
      threeFiles(home);
      const broken = new SpoolDirectory(home, { namedProfile: false, files: stepped(NODE_FILES, step) });
      const first = await drainSession(broken, 's', new RecordedStore(home, step)).catch((error: unknown) => error);
      if (!failed()) expect(first).toMatchObject({ remaining: 0, stoppedBy: null });
      const store = new RecordedStore(home);
      expect(store.contents()).toEqual(ALL.slice(0, store.contents().length));
      expect(await drainSession(new SpoolDirectory(home, LATER), 's', store)).toMatchObject({ remaining: 0, stoppedBy: null });
      expect(store.contents()).toEqual(ALL);
      expect(named(home)).toEqual([]);
    });
  });

  it('K10, K11: at any step of a recovery, the next one ends it and writes nothing twice', async () => {
    await failAtEachStep(async (home, step, failed) => {
      threeFiles(home);
      const broken = new SpoolDirectory(home, { namedProfile: false, files: stepped(NODE_FILES, step) });
      const first = await recoverSpool(broken, new RecordedStore(home, step)).catch((error: unknown) => error);
      if (!failed()) expect(first).toMatchObject({ recovered: [{ inserted: 3, notRemoved: null }] });
      const store = new RecordedStore(home);
      await recoverSpool(new SpoolDirectory(home, LATER), store);
      expect(store.contents()).toEqual(ALL);
      expect(named(home)).toEqual([]);
    });
  });
});
