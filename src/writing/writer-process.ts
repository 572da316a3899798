/**
 * The process that writes to one store. A process and not a thread: where the file was replaced or damaged, its connection must not be closed
 * in an orderly way, which only the end of a process that is killed can promise (`spec/state-db-writes.md` Q3).
 */
import { randomUUID } from 'node:crypto';
import { ROOT_PROFILE } from '../profiles.ts';
import { realPace } from '../state-db/write/patience.ts';
import { StoreWriter } from '../state-db/write/store-writer.ts';
import { StoreTranscript } from '../transcript/store-transcript.ts';
import { WriteRefused } from '../write-refused.ts';
import { type Command, type CommandHost, operationContext } from './command.ts';
import { COMMANDS } from './commands.ts';
import { finishLeftovers } from './leftovers.ts';
import { Receipts } from './receipts.ts';
import type { CommandMessage, FromWriter, ReplyMessage, SentError, ToWriter, WriterSetup } from './writer-protocol.ts';

/** How soon what waits is tried again; each time that it fails the next is twice as late. */
const RETRY_MS = { first: 5000, last: 300_000 } as const;

let host: CommandHost | null = null;
let openReceipts: Receipts | null = null;
let transcript: StoreTranscript | null = null;
let retrying: NodeJS.Timeout | null = null;
let retryMs: number = RETRY_MS.first;
/** What an earlier process did not come to; before the first write. */
let leftovers: Promise<void> | null = null;
let rebuilt: ((outcome: 'REBUILT' | 'SKIPPED') => void) | null = null;

function setUp(setup: WriterSetup): CommandHost {
  const now = () => Date.now() / 1000;
  const made: CommandHost = {
    writer: new StoreWriter({
      path: setup.path,
      pace: realPace(setup.longestPatienceSeconds),
      detachCjkIndex: setup.detachCjkIndex,
      cjkLibrary: setup.cjkLibrary,
      quarantine: setup.quarantine,
    }),
    receipts: () => {
      openReceipts ??= Receipts.open(setup.receiptsPath, now());
      return openReceipts;
    },
    transcript: () => {
      transcript ??= new StoreTranscript({
        writer: made.writer,
        context: () => operationContext(made),
        home: setup.home,
        isNamedProfile: setup.profile !== ROOT_PROFILE,
        onEvent: (event) => send({ kind: 'EVENT', event }),
        rebuildIndex,
      });
      return transcript;
    },
    profile: setup.profile,
    home: setup.home,
    webUiDir: setup.webUiDir,
    webUiUrl: setup.webUiUrl,
    now,
    mintUid: () => randomUUID().replaceAll('-', ''),
    running: new Set(),
  };
  return made;
}

/** The server knows which processes are its own, so it does the work. The queue asks once at a time. */
function rebuildIndex(): Promise<'REBUILT' | 'SKIPPED'> {
  return new Promise((resolve) => {
    rebuilt = resolve;
    send({ kind: 'REBUILD' });
  });
}

async function answer(message: CommandMessage): Promise<void> {
  if (host === null) throw new Error('a command came before the setup');
  const command = COMMANDS[message.command] as Command<unknown, unknown>;
  let reply: ReplyMessage['reply'];
  try {
    if (!message.envelope.dryRun) {
      // After a failure the next command tries it anew.
      leftovers ??= finishLeftovers(host, message.command !== 'drainCleanupManifests').catch((error: unknown) => {
        leftovers = null;
        throw error;
      });
      await leftovers;
    }
    reply = { ok: true, value: await command(host, message.input, message.envelope) };
  } catch (error) {
    reply = { ok: false, error: sent(error) };
  }
  send({ kind: 'REPLY', id: message.id, reply, quarantine: host.writer.quarantine, isHolding: isHolding() });
  retryMs = RETRY_MS.first;
  retryLater();
}

function isHolding(): boolean {
  return transcript?.queue.hasPending === true;
}

/** What waits is tried again without anybody asking, until nothing waits. */
function retryLater(): void {
  if (retrying !== null || !isHolding()) return;
  retrying = setTimeout(() => {
    void transcript?.queue.flushAll().finally(() => {
      retrying = null;
      retryMs = Math.min(retryMs * 2, RETRY_MS.last);
      if (isHolding()) retryLater();
      else send({ kind: 'REST' });
    });
  }, retryMs);
}

function send(message: FromWriter): void {
  // The server may have gone; then this process ends by itself.
  if (process.connected) process.send?.(message);
}

function sent(error: unknown): SentError {
  if (error instanceof WriteRefused) return { code: error.code, message: error.message, details: { ...error.details } };
  return { code: null, message: error instanceof Error ? (error.stack ?? error.message) : String(error), details: {} };
}

function end(): void {
  const lost = transcript?.queue.spoolAll() ?? 0;
  if (lost > 0) process.stderr.write(`caduceus: ${lost} messages that waited could not be written to the spool.\n`);
  const quarantined = host?.writer.quarantine != null;
  host?.writer.close();
  openReceipts?.close();
  // An end of the process would close the connection of a store that is in doubt, and copy its -wal into the wrong file.
  if (quarantined) process.kill(process.pid, 'SIGKILL');
  process.exit(0);
}

process.on('message', (message: ToWriter) => {
  if (message.kind === 'SETUP') host = setUp(message);
  else if (message.kind === 'COMMAND') void answer(message);
  else if (message.kind === 'REBUILD') rebuilt?.(message.outcome);
  else end();
});
process.on('disconnect', end);
// A defect of ours: what waits is kept, and a connection in doubt is still not closed.
process.on('uncaughtException', (error) => {
  process.stderr.write(`caduceus: the writing process ends: ${error.stack ?? error.message}\n`);
  end();
});
// A terminal sends these to the whole group; the server tells when to end.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
