/** What subscriptions that are dropped leave behind in the process (`spec/live-turns.md` 12, 16). */
import { existsSync, readdirSync, readFileSync, watch } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { FOLLOW_TURN } from '../../examples/live-documents.ts';
import { playedHome } from '../support/played-home.ts';
import { eventually, openDescriptors, startInProcess } from '../support/server.ts';
import { RawSocket } from '../support/sockets.ts';
import { noSubscribers } from '../support/subscribers.ts';

/** What is open in this process: descriptors by what they lead to, watches, timers and sockets. */
function openThings(): Record<string, number> {
  const counts: Record<string, number> = {};
  const count = (name: string) => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  for (const target of openDescriptors(process.pid)) count(`descriptor ${target.replace(/\d+/g, '#')}`);
  for (const descriptor of readdirSync('/proc/self/fdinfo')) {
    const info = existsSync(`/proc/self/fdinfo/${descriptor}`) ? readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8') : '';
    for (const _ of info.matchAll(/^inotify wd:/gm)) count('watch');
  }
  for (const resource of process.getActiveResourcesInfo()) count(`resource ${resource}`);
  return counts;
}

const more = (now: Record<string, number>, before: Record<string, number>) =>
  Object.entries(now).flatMap(([name, number]) => (number > (before[name] ?? 0) ? [`${name}: ${number}, not ${before[name] ?? 0}`] : []));

describe('thousands of subscriptions that are opened and dropped', () => {
  it('leave no watch, descriptor or timer behind', async () => {
    const { home, ui } = await playedHome();
    const server = await startInProcess({ home, settings: { maxSubscriptions: '5000', logLevel: 'error' } });
    await ui.play('s', { seed: 31, rounds: 1, words: 5, beatMs: 10 });
    await Promise.all(Array.from({ length: 20 }, () => server.read('{ sessions { nodes { sessionId messages { totalCount } } } }')));
    // The first watch of a process opens what all others share.
    watch(home).close();
    await sleep(500);
    const before = openThings();
    const sessionOf = (index: number) => (index % 3 === 0 ? 's' : `none-${index % 7}`);
    const few = await Promise.all(Array.from({ length: 5 }, () => RawSocket.connect(server)));
    const opened = few.map(async (raw, socket) => {
      for (let index = 0; index < 1000; index += 1) raw.subscribe(`${index}`, FOLLOW_TURN, { sessionId: sessionOf(index + socket) });
      for (let index = 0; index < 1000; index += 1) await raw.next();
    });
    await Promise.all(opened);
    expect(more(openThings(), before)).toEqual(expect.arrayContaining([expect.stringMatching(/^watch: /)]));
    for (const [index, raw] of few.entries()) {
      if (index % 2 === 0) for (let id = 0; id < 1000; id += 1) raw.send({ type: 'complete', id: `${id}` });
      else raw.socket.terminate();
    }
    const many = await Promise.all(Array.from({ length: 300 }, () => RawSocket.connect(server)));
    await Promise.all(
      many.map(async (raw, index) => {
        raw.subscribe('1', FOLLOW_TURN, { sessionId: sessionOf(index) });
        await raw.next();
      }),
    );
    for (const [index, raw] of [...many, ...few].entries()) {
      if (index % 2 === 0) raw.socket.close();
      else raw.socket.terminate();
    }
    await noSubscribers(server);
    // What a conversation needs is kept for half a minute.
    await eventually(() => more(openThings(), before).length === 0, 38_000).catch(() => {});
    expect(more(openThings(), before)).toEqual([]);
  });
});
