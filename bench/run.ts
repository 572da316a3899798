/**
 * What reads cost on a large store, beside the plainest possible server on the same rows.
 *
 *   npm run bench -- [live [--only PART] | writes | web-ui] [--quick] [--store DIR] [--write]
 *
 * live         what following live turns costs, instead of the reads
 * --only PART  of that, one part, as it was measured: idle, lines, rows, fanOut, stalled
 * writes       what appends cost, instead of the reads
 * web-ui       what the Web UI's files cost, instead of the reads
 * --store DIR  where the generated stores are kept (default: the folder for temporary files)
 * --quick      a small store and few requests: whether it works, not what it costs
 * --write      put the figures into docs/performance.md
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type BenchStore, ensureStore } from './generate.ts';
import { benchLive, PARTS } from './live/run.ts';
import { Client } from './load.ts';
import { coldStart, countStatements, type Effort, listBesideSearch, measure, spread } from './measure.ts';
import { assertSameRows, LIST, readsOf } from './reads.ts';
import { machine, notes, page, type Results, table } from './report.ts';
import { ServerProcess } from './server-process.ts';
import type { StoreSize } from './session-plan.ts';
import { benchWebUi } from './web-ui/run.ts';
import { benchWrites } from './writes/run.ts';

/** Large enough for indexes of some depth, and soon copied. */
const LISTED: StoreSize = { sessions: 10_000, messages: 100_000 };
const WRITTEN: StoreSize = { sessions: 2000, messages: 100_000 };
const SMALL: StoreSize = { sessions: 100, messages: 5000 };
const FULL = {
  size: { sessions: 10_000, messages: 500_000 },
  effort: { warmUp: 1500, requests: 300, rounds: 9 },
  deepPage: 20,
} as const;
const QUICK = {
  size: { sessions: 400, messages: 20_000 },
  effort: { warmUp: 50, requests: 30, rounds: 2 },
  deepPage: 3,
} as const;

/** Times the usual warm-up: until the compiler has nothing left to do. */
const LIST_WARM_UP = 4;

const progress = (line: string) => process.stderr.write(`${line}\n`);

async function run(large: BenchStore, small: BenchStore, effort: Effort, deepPage: number): Promise<Omit<Results, 'isJudged'>> {
  const clients: Client[] = [];
  const serve = async (start: Promise<ServerProcess>) => {
    const client = new Client(await start);
    clients.push(client);
    return client;
  };
  try {
    const start = await coldStart(large.home);
    const onLarge = { ours: await serve(ServerProcess.caduceus(large)), plain: await serve(ServerProcess.plain(large)) };
    const onSmall = { ours: await serve(ServerProcess.caduceus(small)), plain: await serve(ServerProcess.plain(small)) };
    for (const { ours, plain } of [onLarge, onSmall]) await assertSameRows(ours, plain);
    const reads = await readsOf(onLarge.ours, { deepPage });
    const statements = await countStatements(large.home, reads);
    // The list by itself first, on both stores: servers that have done different things before can't be compared.
    const warmed = { ...effort, warmUp: effort.warmUp * LIST_WARM_UP };
    const list = await measure(
      [onSmall, onLarge].map((servers) => ({ read: LIST, ...servers })),
      warmed,
      progress,
    );
    const others = reads.filter((read) => read.id !== LIST.id).map((read) => ({ read, ...onLarge }));
    const { figures } = await measure(others, effort, progress);
    const [smallList, largeList] = list.figures;
    const [smallCpu = [], largeCpu = []] = list.cpuByRound;
    if (smallList === undefined || largeList === undefined) throw new Error('the list was not measured');
    return {
      effort,
      large,
      small,
      figures: [largeList, ...figures],
      smallList,
      listGrowth: spread(largeCpu.map((cpu, round) => cpu / (smallCpu[round] ?? Number.NaN))),
      statements,
      start,
      crowded: await listBesideSearch(onLarge.ours, effort.requests),
      residentBytesAfterwards: onLarge.ours.server.usage().residentBytes,
    };
  } finally {
    await Promise.all(clients.map((client) => client.server.stop()));
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    store: { type: 'string' },
    only: { type: 'string' },
  },
});
if (values.quick && values.write) throw new Error('--quick measures nothing worth writing down: leave out one of --quick and --write.');
const only = PARTS.find((part) => part === values.only) ?? null;
if (values.only !== undefined && only === null) throw new Error(`--only takes one of: ${PARTS.join(', ')}.`);
if (only !== null && values.write) throw new Error('--write needs all parts: leave out one of --only and --write.');
if (positionals.includes('live')) await benchLive({ quick: values.quick, write: values.write, only, progress });
else if (positionals.includes('writes'))
  await benchWrites(ensureStore(values.quick ? QUICK.size : WRITTEN, values.store, progress), values.quick, values.write, progress);
else if (positionals.includes('web-ui'))
  await benchWebUi(ensureStore(values.quick ? QUICK.size : LISTED, values.store, progress), values.quick, values.write, progress);
else await benchReads();

async function benchReads(): Promise<void> {
  const { size, effort, deepPage } = values.quick ? QUICK : FULL;
  progress(machine());
  const stores = [size, SMALL].map((wanted) => ensureStore(wanted, values.store, progress));
  const [large, small] = stores as [BenchStore, BenchStore];
  const results: Results = { ...(await run(large, small, effort, deepPage)), isJudged: !values.quick };
  console.log(`${table(results)}\n\n${notes(results)}`);
  if (values.write) {
    const path = join(import.meta.dirname, '../docs/performance.md');
    writeFileSync(path, page(results));
    progress(`Wrote ${path}`);
  }
}
