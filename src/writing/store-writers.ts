/**
 * The server's side of writing: one process a store, started at the first command, ended when nothing was asked of it for a while.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { dirname } from 'node:path';
import type { Quarantine } from '../state-db/write/store-writer.ts';
import type { TranscriptEvent } from '../transcript/append-queue.ts';
import { WriteRefused } from '../write-refused.ts';
import type { Envelope } from './command.ts';
import type { CommandInput, CommandName, CommandResult } from './commands.ts';
import type { FromWriter, ReplyMessage, SentError, ToWriter } from './writer-protocol.ts';

export interface StoreWritersOptions {
  /** The file of the writing process. */
  readonly entry: URL;
  /** Whether stores may be changed; without it only dry runs are answered. */
  readonly allowWrites: boolean;
  readonly receiptsPath: string;
  /** The Web UI's folder, which holds `sessions`. */
  readonly webUiDir: string;
  /** Where a running Web UI answers; null: it is not asked. */
  readonly webUiUrl: string | null;
  readonly longestPatienceSeconds: number;
  readonly detachCjkIndex: boolean;
  readonly cjkLibrary: string | null;
  /** What the operator should read. */
  readonly onEvent: (profile: string, event: TranscriptEvent) => void;
  /** Makes the search indexes of a store anew; SKIPPED where that may not be done now. */
  readonly rebuildIndex: (store: StoreAddress) => Promise<'REBUILT' | 'SKIPPED'>;
  readonly idleMs?: number;
}

export interface StoreAddress {
  readonly profile: string;
  readonly path: string;
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface Writer {
  readonly process: ChildProcess;
  readonly waiting: Map<number, Waiting>;
  readonly gone: Promise<void>;
  idle: NodeJS.Timeout | null;
  isHolding: boolean;
}

const IDLE_MS = 60_000;
/** How long an orderly end may take: what is queued goes to the spool first. */
const END_MS = 5000;

export class StoreWriters {
  readonly #options: StoreWritersOptions;
  readonly #writers = new Map<string, Writer>();
  readonly #quarantined = new Map<string, Quarantine>();
  /** Processes that were told to end: the next one of their store waits for them. */
  readonly #ending = new Map<string, Promise<void>>();
  #lastId = 0;
  #closed = false;

  constructor(options: StoreWritersOptions) {
    this.#options = options;
  }

  get allowWrites(): boolean {
    return this.#options.allowWrites;
  }

  get receiptsPath(): string {
    return this.#options.receiptsPath;
  }

  /** Why this server stopped writing to a store; null: it didn't. */
  quarantineOf(path: string): Quarantine | null {
    return this.#quarantined.get(path) ?? null;
  }

  /** Throws `WriteRefused`; WRITES_OFF for anything but a dry run where stores may not be changed. */
  async run<K extends CommandName>(store: StoreAddress, command: K, input: CommandInput<K>, envelope: Envelope): Promise<CommandResult<K>> {
    if (!this.#options.allowWrites && !envelope.dryRun) throw new WriteRefused('WRITES_OFF');
    await this.#ending.get(store.path);
    if (this.#closed) throw new WriteRefused('STORE_BUSY', 'The server is shutting down.');
    const writer = this.#writerOf(store);
    const id = ++this.#lastId;
    if (writer.idle !== null) clearTimeout(writer.idle);
    writer.idle = null;
    const value = await new Promise<unknown>((resolve, reject) => {
      writer.waiting.set(id, { resolve, reject });
      tell(writer, { kind: 'COMMAND', id, command, input, envelope });
    });
    return value as CommandResult<K>;
  }

  /** Ids of its processes. */
  get pids(): number[] {
    return [...this.#writers.values()].flatMap(({ process }) => process.pid ?? []);
  }

  /** Ends the process of one store, in an orderly way; a later command starts another. */
  async endWriterOf(path: string): Promise<void> {
    const writer = this.#writers.get(path);
    if (writer !== undefined) this.#end(path, writer);
    await this.#ending.get(path);
  }

  /** Ends every process; what is queued in them goes to the spool. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const [path, writer] of this.#writers) this.#end(path, writer);
    await Promise.all(this.#ending.values());
  }

  #writerOf(store: StoreAddress): Writer {
    const known = this.#writers.get(store.path);
    if (known !== undefined) return known;
    const child = fork(this.#options.entry, [], { serialization: 'advanced', execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const waiting = new Map<number, Waiting>();
    const gone = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
    });
    const writer: Writer = { process: child, waiting, gone, idle: null, isHolding: false };
    child.on('message', (message: FromWriter) => this.#receive(store, writer, message));
    child.once('exit', () => this.#lose(store.path, writer));
    child.once('error', () => this.#lose(store.path, writer));
    const { receiptsPath, webUiDir, webUiUrl, longestPatienceSeconds, detachCjkIndex, cjkLibrary } = this.#options;
    tell(writer, {
      kind: 'SETUP',
      path: store.path,
      home: dirname(store.path),
      profile: store.profile,
      webUiDir,
      webUiUrl,
      receiptsPath,
      longestPatienceSeconds,
      detachCjkIndex,
      cjkLibrary,
      quarantine: this.quarantineOf(store.path),
    });
    this.#writers.set(store.path, writer);
    return writer;
  }

  #receive(store: StoreAddress, writer: Writer, message: FromWriter): void {
    if (message.kind === 'EVENT') this.#options.onEvent(store.profile, message.event);
    else if (message.kind === 'REPLY') this.#settle(store.path, writer, message);
    else if (message.kind === 'REBUILD')
      void this.#options
        .rebuildIndex(store)
        .catch(() => 'SKIPPED' as const)
        .then((outcome) => tell(writer, { kind: 'REBUILD', outcome }));
    else {
      writer.isHolding = false;
      this.#rest(store.path, writer);
    }
  }

  #settle(path: string, writer: Writer, { id, reply, quarantine, isHolding }: ReplyMessage): void {
    const waiting = writer.waiting.get(id);
    writer.waiting.delete(id);
    writer.isHolding = isHolding;
    if (reply.ok) waiting?.resolve(reply.value);
    else waiting?.reject(revived(reply.error));
    if (quarantine !== null) this.#quarantined.set(path, quarantine);
    this.#rest(path, writer);
  }

  #rest(path: string, writer: Writer): void {
    if (writer.waiting.size > 0 || writer.idle !== null) return;
    writer.idle = setTimeout(() => this.#endIdle(path, writer), this.#options.idleMs ?? IDLE_MS);
    writer.idle.unref();
  }

  #endIdle(path: string, writer: Writer): void {
    writer.idle = null;
    if (writer.waiting.size > 0 || writer.isHolding) return;
    if (this.#writers.get(path) === writer) this.#end(path, writer);
  }

  /** A command that comes from now on is for the next process. */
  #end(path: string, writer: Writer): void {
    this.#writers.delete(path);
    const ended = end(writer).finally(() => this.#ending.delete(path));
    this.#ending.set(path, ended);
  }

  #lose(path: string, writer: Writer): void {
    if (this.#writers.get(path) === writer) this.#writers.delete(path);
    if (writer.idle !== null) clearTimeout(writer.idle);
    for (const { reject } of writer.waiting.values()) reject(new WriteRefused('WRITER_LOST'));
    writer.waiting.clear();
  }
}

function tell(writer: Writer, message: ToWriter): void {
  // One that is gone reports that by itself.
  if (writer.process.connected) writer.process.send(message);
}

async function end(writer: Writer): Promise<void> {
  tell(writer, { kind: 'END' });
  const timer = setTimeout(() => writer.process.kill('SIGKILL'), END_MS);
  await writer.gone;
  clearTimeout(timer);
}

function revived({ code, message, details }: SentError): Error {
  return code === null ? new Error(message) : WriteRefused.restored(code, message, details);
}
