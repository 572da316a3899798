/** Whether the process of a run lives, and is the same one. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { lifeByStat, processLife } from '../../../src/live/liveness/process-life.ts';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

async function shell(script: string): Promise<{ child: ChildProcess; said: string }> {
  const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, said: said.toString().trim() };
}

const now = () => Date.now() / 1000;

describe('the process of a run', () => {
  it('lives while it runs, and is gone when it has ended', async () => {
    const { child } = await shell('echo up; exec sleep 60');
    const pid = child.pid ?? 0;
    expect(await processLife(pid, now())).toBe('ALIVE');
    expect(await processLife(pid, null)).toBe('ALIVE');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await processLife(pid, now())).toBe('DEAD');
    expect(await processLife(pid, null)).toBe('DEAD');
  });

  it.runIf(process.platform === 'linux')('36: is another one when it began after the run', async () => {
    expect(await processLife(process.pid, now() - 3600)).toBe('DEAD');
    expect(await processLife(process.pid, now())).toBe('ALIVE');
    expect(await processLife(1, now())).toBe('ALIVE');
  });

  it.runIf(process.platform === 'linux')('is gone when only its parent has not noticed', async () => {
    const { said } = await shell('sleep 0 & echo $!; exec sleep 60');
    const deadline = now() + 2;
    let life = await processLife(Number(said), now());
    while (life !== 'DEAD' && now() < deadline) life = await processLife(Number(said), now());
    expect(life).toBe('DEAD');
  });

  it('can’t be told of what is no process id', async () => {
    for (const pid of [0, -1, 1.5, Number.NaN, 2 ** 60]) expect(await processLife(pid, now())).toBe('UNKNOWN');
  });
});

describe('the text of /proc/<pid>/stat', () => {
  const stat = (name: string, state: string, start: string) =>
    `42 (${name}) ${state} 1 42 42 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 5 0 ${start} 1000 200 18446744073709551615`;
  // Booted at 1000, begun 50 seconds later.
  it.each([
    ['before the run', stat('python', 'S', '5000'), 1060, 'ALIVE'],
    ['with the run, by clocks that differ a little', stat('python', 'S', '5000'), 1048.5, 'ALIVE'],
    ['after the run', stat('python', 'R', '5000'), 1047, 'DEAD'],
    ['a name with blanks and parentheses', stat('a) R (b', 'S', '5000'), 1060, 'ALIVE'],
    ['a zombie', stat('python', 'Z', '5000'), 1060, 'DEAD'],
    ['dead', stat('python', 'X', '5000'), null, 'DEAD'],
    ['no time of the run', stat('python', 'S', '5000'), null, 'ALIVE'],
    ['a start that is no number', stat('python', 'S', 'x'), 1060, 'UNKNOWN'],
    ['nothing', '', 1060, 'UNKNOWN'],
  ] as const)('%s', (_, text, startedAt, expected) => {
    expect(lifeByStat(text, 1000, startedAt)).toBe(expected);
  });

  it('without the time of the boot nothing is told of a run', () => {
    expect(lifeByStat(stat('python', 'S', '5000'), null, 1060)).toBe('UNKNOWN');
  });
});
