/**
 * Two servers and a plain writer of SQLite change the same sessions at once: what was acknowledged is there, once and in order, and the store
 * is sound (`spec/state-db-writes.md` 0.3, O1 to O5, Y4).
 *
 * `npm test` runs it for a few seconds with one seed. Longer, with others:
 *
 *   CADUCEUS_RACE_SECONDS=60 CADUCEUS_RACE_SEEDS=1,2 npx vitest run --project e2e --retry=0 test/e2e/races.test.ts
 *
 * A seed decides what each writer does; when things meet, the machine decides.
 */
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../src/demo/random.ts';
import { RaceClient } from '../support/race-client.ts';
import { raceFindings } from '../support/race-findings.ts';
import {
  appends,
  appendsBatches,
  appendsUnderLease,
  compresses,
  type Deed,
  edits,
  lives,
  marks,
  owns,
  prunes,
  type Race,
  repeated,
  rewinds,
  rewrites,
  rotates,
  SESSIONS,
} from '../support/race-writers.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { buildStore, M, S } from '../support/stores.ts';
import { startWriter } from '../support/writer.ts';

const SECONDS = Number(process.env.CADUCEUS_RACE_SECONDS ?? 6);
const SEEDS = (process.env.CADUCEUS_RACE_SEEDS ?? '1').split(',').map(Number);
const SLACK_MS = 60_000;
/** Shorter than the plain writer holds the store at times. */
const PATIENCE = { allowWrites: true, writePatience: '1', logLevel: 'error' } as const;

function builtStore(): string {
  return buildStore({ schema: 31, rows: SESSIONS.map((id) => S(id)) });
}

/** Tries what waits until nothing does; gives what is left. */
async function flushed(client: RaceClient): Promise<readonly string[]> {
  const left: string[] = [];
  for (const sessionId of SESSIONS) {
    const { remaining, lastError } = (await client.run('flushRetryQueue', 'remaining lastError { code }', { sessionId })) ?? {};
    if (remaining !== 0) left.push(`${String(remaining)} wait for ${sessionId}: ${JSON.stringify(lastError)}`);
  }
  return left;
}

describe.each(SEEDS)('a race with seed %i', (seed) => {
  it('loses nothing that was acknowledged, writes nothing twice, and leaves a sound store', {
    timeout: SECONDS * 1000 + SLACK_MS,
    retry: 0,
  }, async () => {
    const path = builtStore();
    const home = dirname(path);
    const servers: TestServer[] = await Promise.all([1, 2].map(() => startTestServer({ home, settings: PATIENCE })));
    const [owner, rotator, compressor] = await Promise.all([1, 2, 3].map(() => startWriter(path, 10_000)));
    const clients: RaceClient[] = [];
    const client = (index: 0 | 1): RaceClient => {
      const made = new RaceClient(`c${clients.length}`, servers[index] as TestServer);
      clients.push(made);
      return made;
    };
    if (owner === undefined || rotator === undefined || compressor === undefined) throw new Error('no writers');
    const end = performance.now() + SECONDS * 1000;
    let sown = seed * 1000;
    const race = (): Race => ({ path, random: new SeededRandom(++sown), isOver: () => performance.now() > end });
    const deeds: readonly (readonly [Deed, pauseMs: number])[] = [
      ...([0, 1] as const).flatMap((server): [Deed, number][] => [
        [appends(client(server)), 20],
        [appends(client(server)), 20],
        [appendsUnderLease(client(server)), 200],
        [appendsBatches(client(server)), 100],
        [rewinds(client(server)), 150],
        [prunes(client(server)), 60],
        [edits(client(server)), 100],
        [marks(client(server)), 150],
      ]),
      [rewrites(client(0)), 300],
      [lives(client(0), client(1)), 100],
      [owns(owner), 60],
      [rotates(rotator), 1500],
      [compresses(compressor), 300],
    ];
    await Promise.all(deeds.map(([deed, pauseMs]) => repeated(race(), deed, pauseMs)));

    const left = (await Promise.all([flushed(client(0)), flushed(client(1))])).flat();
    await Promise.all([...servers.map((server) => server.stop()), ...[owner, rotator, compressor].map((writer) => writer.close())]);
    const last = new RaceClient('last', await startTestServer({ home, settings: PATIENCE }));
    await last.run('drainSpool', 'remaining stoppedBy { code sessionId }', {});
    const findings = [
      ...left,
      ...[...clients, last].flatMap(({ unexpected }) => unexpected),
      ...raceFindings(
        path,
        clients.map(({ acknowledged }) => acknowledged),
      ),
    ];
    if (findings.length > 0 || process.env.CADUCEUS_RACE_SEEDS !== undefined) console.error(figures(clients, findings));
    expect(findings.slice(0, 10), `seed ${seed}`).toEqual([]);
    // Nobody was kept out all the time.
    expect(clients.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0)).toBeGreaterThan(SECONDS * 5);
  });
});

function figures(clients: readonly RaceClient[], findings: readonly string[]): string {
  const answers = new Map<string, number>();
  for (const client of clients) for (const [answer, n] of client.answers) answers.set(answer, (answers.get(answer) ?? 0) + n);
  const told = [...answers].sort().map(([answer, n]) => `${answer}: ${n}`);
  return [`${findings.length} findings`, ...findings.slice(0, 40), ...told].join('\n');
}

describe('two servers', () => {
  it('T158: that rewind one session at once with the same expected ids make one rewind', { retry: 0 }, async () => {
    const turns = ['u1', 'a1', 'u2', 'a2', 'u3', 'a3'];
    const rows = [
      S('s'),
      ...turns.map((content) => M('s', { role: content.startsWith('u') ? 'user' : 'assistant', content, message_uid: content })),
    ];
    const path = buildStore({ schema: 31, rows });
    const servers = await Promise.all([1, 2].map(() => startTestServer({ home: dirname(path), settings: PATIENCE })));
    const clients = servers.map((server, index) => new RaceClient(`r${index}`, server));
    for (const expectedActiveIds of [
      ['1', '2', '3', '4', '5', '6'],
      ['1', '2', '3', '4'],
      ['1', '2'],
    ]) {
      const done = await Promise.all(
        clients.map((client) => client.run('rewindSession', 'rewoundCount', { sessionId: 's', expectedActiveIds })),
      );
      expect(done.filter((payload) => payload !== null)).toEqual([{ rewoundCount: 2 }]);
    }
    expect(clients.reduce((sum, { answers }) => sum + (answers.get('rewindSession TRANSCRIPT_CHANGED') ?? 0), 0)).toBe(3);
    expect(clients.flatMap(({ unexpected }) => unexpected)).toEqual([]);
    expect(raceFindings(path, [])).toEqual([]);
  });
});
