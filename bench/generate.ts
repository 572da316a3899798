/**
 * The store that the benchmark reads: generated once, the same every time, kept outside the repository and used again.
 *
 *   node bench/generate.ts [--sessions 10000] [--messages 500000] [--store DIR]
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type Database from 'better-sqlite3';
import { SeededRandom } from '../src/demo/random.ts';
import { createStateDb } from '../src/demo/state-db-schema.ts';
import { planSessions, type StoreSize } from './session-plan.ts';
import { StoreWriter } from './store-writer.ts';

/** Written last: a folder without it was left behind half-made. */
const MARKER = 'caduceus-bench.json';
const SEED = 20_260_921;
/** What the content depends on; another text of any of them makes another store. */
const SOURCES = [
  'generate.ts',
  'session-plan.ts',
  'store-writer.ts',
  'store-statements.ts',
  'rows.ts',
  'text-pool.ts',
  '../src/demo/random.ts',
  '../src/demo/state-db-schema.ts',
] as const;

export interface BenchStore {
  /** A Hermes home: `state.db` lies in it. */
  readonly home: string;
  readonly path: string;
  readonly size: StoreSize;
  readonly bytes: number;
  /** How long it took to make, whenever that was. */
  readonly generatedInSeconds: number;
  readonly isNew: boolean;
}

/**
 * The store of that size under `parent` (default: the folder for temporary files), made now when it isn't there yet. `report` hears how
 * far it is. Throws RangeError for a size that can't be, SqliteError or a file system's error when it can't be written.
 */
export function ensureStore(size: StoreSize, parent = tmpdir(), report: (line: string) => void = () => {}): BenchStore {
  const home = join(parent, `caduceus-bench-${size.sessions}-${size.messages}-${generatorVersion()}`);
  const path = join(home, 'state.db');
  if (existsSync(join(home, MARKER))) return { home, path, size, ...readMarker(home), bytes: statSync(path).size, isNew: false };
  mkdirSync(parent, { recursive: true });
  const draft = mkdtempSync(join(parent, 'caduceus-bench-draft-'));
  try {
    const generatedInSeconds = generate(join(draft, 'state.db'), size, report);
    writeFileSync(join(draft, MARKER), `${JSON.stringify({ ...size, generatedInSeconds })}\n`);
    rmSync(home, { recursive: true, force: true });
    renameSync(draft, home);
    return { home, path, size, generatedInSeconds, bytes: statSync(path).size, isNew: true };
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}

function generate(path: string, size: StoreSize, report: (line: string) => void): number {
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 100) / 10;
  const db = createStateDb(path);
  try {
    // The folder is thrown away when this fails: neither a journal nor a sync has anything to protect.
    db.pragma('journal_mode = OFF');
    db.pragma('synchronous = OFF');
    db.pragma('cache_size = -262144');
    stampGeneration(db, `${size.sessions}${size.messages}`.padEnd(32, '0'));
    const random = new SeededRandom(SEED);
    const plan = planSessions(size, random);
    const writer = new StoreWriter(db, random, size.messages);
    let reported = 0;
    writer.write(plan, (rows) => {
      if (rows - reported < size.messages / 10) return;
      reported = rows;
      report(`${rows} of ${size.messages} messages, ${seconds()} s`);
    });
    db.pragma('journal_mode = WAL');
  } finally {
    db.close();
  }
  return seconds();
}

/** A token of our own instead of a random one, so that the file has the same bytes each time. */
function stampGeneration(db: Database.Database, generation: string): void {
  db.prepare("UPDATE state_meta SET value = ? WHERE key = 'db_file_generation'").run(generation);
  db.pragma(`application_id = ${Number.parseInt(generation.slice(0, 8), 16) & 0x7fffffff}`);
}

/** Eight digits that change when the generator does. */
function generatorVersion(): string {
  const hash = createHash('sha256');
  for (const source of SOURCES) hash.update(readFileSync(join(import.meta.dirname, source)));
  return hash.digest('hex').slice(0, 8);
}

function readMarker(home: string): { generatedInSeconds: number } {
  const marker: unknown = JSON.parse(readFileSync(join(home, MARKER), 'utf8'));
  const hasTime = typeof marker === 'object' && marker !== null && 'generatedInSeconds' in marker;
  return { generatedInSeconds: hasTime ? Number(marker.generatedInSeconds) : Number.NaN };
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: { sessions: { type: 'string' }, messages: { type: 'string' }, store: { type: 'string' } },
  });
  const size = { sessions: Number(values.sessions ?? 10_000), messages: Number(values.messages ?? 500_000) };
  const store = ensureStore(size, values.store, (line) => console.error(line));
  const megabytes = Math.round(store.bytes / 1e6);
  console.log(`${store.home}: ${megabytes} MB, ${store.isNew ? 'made' : 'found; it was made'} in ${store.generatedInSeconds} s`);
}
