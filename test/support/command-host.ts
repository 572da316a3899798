/**
 * Commands of the writing process without a process: in the test itself, with a clock and a pace of its own.
 */
import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { ROOT_PROFILE } from '../../src/profiles.ts';
import { StoreWriter, type StoreWriterOptions } from '../../src/state-db/write/store-writer.ts';
import type { TranscriptEvent } from '../../src/transcript/append-queue.ts';
import { StoreTranscript } from '../../src/transcript/store-transcript.ts';
import { type CommandHost, type Envelope, operationContext } from '../../src/writing/command.ts';
import { COMMANDS, type CommandInput, type CommandName, type CommandResult } from '../../src/writing/commands.ts';
import { Receipts } from '../../src/writing/receipts.ts';

export interface TestClock {
  /** Epoch seconds; tests set it. */
  now: number;
  /** Milliseconds that were slept. */
  slept: number;
}

export interface TestHost extends CommandHost {
  readonly clock: TestClock;
  readonly path: string;
  /** What the append path told the operator. */
  readonly events: readonly TranscriptEvent[];
  run<K extends CommandName>(command: K, input: CommandInput<K>, envelope?: Partial<Envelope>): Promise<CommandResult<K>>;
  /** Rows of a statement, read with a connection of their own. */
  rows(sql: string, ...parameters: unknown[]): Record<string, unknown>[];
  /** A statement of another program. */
  otherwise(sql: string, ...parameters: unknown[]): void;
  close(): void;
}

/** Sleeping takes no time, but the clock of the patience moves. */
export function commandHost(
  path: string,
  options: Partial<StoreWriterOptions> & {
    readonly now?: number;
    readonly profile?: string;
    readonly rebuildIndex?: () => Promise<'REBUILT' | 'SKIPPED'>;
  } = {},
): TestHost {
  const clock: TestClock = { now: options.now ?? 1000, slept: 0 };
  const sleep = async (ms: number) => {
    clock.slept += ms;
    await new Promise((resolve) => setImmediate(resolve));
  };
  const pace = { elapsed: () => clock.slept, sleep, random: () => 0.5, longestSeconds: 60 };
  const writer = new StoreWriter({ path, pace, detachCjkIndex: false, cjkLibrary: null, ...options });
  let receipts: Receipts | null = null;
  let transcript: StoreTranscript | null = null;
  const events: TranscriptEvent[] = [];
  const host: TestHost = {
    writer,
    receipts: () => {
      receipts ??= Receipts.open(join(dirname(path), 'receipts.db'), clock.now);
      return receipts;
    },
    transcript: () => {
      transcript ??= new StoreTranscript({
        writer,
        context: () => operationContext(host),
        home: dirname(path),
        isNamedProfile: host.profile !== ROOT_PROFILE,
        onEvent: (event) => events.push(event),
        rebuildIndex: async () => (await options.rebuildIndex?.()) ?? 'SKIPPED',
      });
      return transcript;
    },
    events,
    profile: options.profile ?? 'default',
    home: dirname(path),
    webUiDir: join(dirname(path), 'webui'),
    webUiUrl: null,
    now: () => clock.now,
    mintUid: () => randomUUID().replaceAll('-', ''),
    running: new Set(),
    clock,
    path,
    run: (command, input, envelope = {}) => {
      const run = COMMANDS[command] as (host: CommandHost, input: unknown, envelope: Envelope) => Promise<unknown>;
      return run(host, input, { dryRun: false, clientMutationId: null, ...envelope }) as Promise<CommandResult<typeof command>>;
    },
    rows: (sql, ...parameters) => withConnection(path, (db) => db.prepare(sql).all(...parameters) as Record<string, unknown>[]),
    otherwise: (sql, ...parameters) => {
      withConnection(path, (db) => db.prepare(sql).run(...parameters));
    },
    close: () => {
      writer.close();
      receipts?.close();
    },
  };
  return host;
}

function withConnection<T>(path: string, work: (db: Database.Database) => T): T {
  const db = new Database(path);
  try {
    return work(db);
  } finally {
    db.close();
  }
}
