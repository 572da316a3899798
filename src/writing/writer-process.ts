/**
 * The process that writes to one store. A process and not a thread: where the file was replaced or damaged, its connection must not be closed
 * in an orderly way, which only the end of a process that is killed can promise (`spec/state-db-writes.md` Q3).
 */
import { randomUUID } from 'node:crypto';
import { realPace } from '../state-db/write/patience.ts';
import { StoreWriter } from '../state-db/write/store-writer.ts';
import { WriteRefused } from '../write-refused.ts';
import type { Command, CommandHost } from './command.ts';
import { COMMANDS } from './commands.ts';
import { Receipts } from './receipts.ts';
import type { CommandMessage, FromWriter, SentError, ToWriter, WriterSetup } from './writer-protocol.ts';

let host: CommandHost | null = null;
let openReceipts: Receipts | null = null;

function setUp(setup: WriterSetup): CommandHost {
  const now = () => Date.now() / 1000;
  return {
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
    profile: setup.profile,
    home: setup.home,
    now,
    mintUid: () => randomUUID().replaceAll('-', ''),
    running: new Set(),
  };
}

async function answer(message: CommandMessage): Promise<void> {
  if (host === null) throw new Error('a command came before the setup');
  const command = COMMANDS[message.command] as Command<unknown, unknown>;
  let reply: FromWriter['reply'];
  try {
    reply = { ok: true, value: await command(host, message.input, message.envelope) };
  } catch (error) {
    reply = { ok: false, error: sent(error) };
  }
  const { quarantine } = host.writer;
  send({ id: message.id, reply, quarantine, isHolding: false });
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
  else end();
});
process.on('disconnect', end);
