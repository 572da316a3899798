/**
 * What the process that writes to a store can be told, and how each of its commands is run: previewed, or done once with a receipt.
 */
import { createHash } from 'node:crypto';
import type { OperationContext, StoreOperation } from '../state-db/write/store-operation.ts';
import { type StoreWriter, unreadableAsRefusal } from '../state-db/write/store-writer.ts';
import type { StoreTranscript } from '../transcript/store-transcript.ts';
import { WriteRefused } from '../write-refused.ts';
import type { Receipt, Receipts } from './receipts.ts';

/** What goes with every command. */
export interface Envelope {
  /** Only say what would be done. */
  readonly dryRun: boolean;
  readonly clientMutationId: string | null;
}

export interface CommandHost {
  readonly writer: StoreWriter;
  /** Opened at the first use. */
  readonly receipts: () => Receipts;
  /** The append path of the store, made at the first use. */
  readonly transcript: () => StoreTranscript;
  readonly profile: string;
  /** The Hermes home that owns the store. */
  readonly home: string;
  /** The Web UI's folder, which holds `sessions`; all profiles share it. */
  readonly webUiDir: string;
  /** Where a running Web UI answers; null: it is not asked. */
  readonly webUiUrl: string | null;
  readonly now: () => number;
  readonly mintUid: () => string;
  /** Ids of mutations that run in this process now. */
  readonly running: Set<string>;
  /** How long a clean-up waits for that of another program, in milliseconds. Default 5000. */
  readonly cleanupWaitMs?: number;
}

export type Command<Input, Result> = (host: CommandHost, input: Input, envelope: Envelope) => Promise<Result>;

export interface OperationCommandOptions<Input, Result> {
  /** What of the input a repeat has in common with the first request; default all of it. */
  readonly asked?: (input: Input) => unknown;
  /** Keep a receipt also where the client gave no id; its id is put into the result. */
  readonly withReceipt?: (result: Result, receipt: string) => Result;
  /** No append is under way meanwhile: for what decides on a whole transcript (5, drain lock). */
  readonly excludesAppends?: boolean;
  /** After the commit, for files that belong to what was changed. It may run twice. */
  readonly afterwards?: (host: CommandHost, result: Result) => void | Promise<void>;
}

/** The context of one attempt. */
export function operationContext(host: CommandHost): OperationContext {
  return { now: host.now(), mintUid: host.mintUid, profile: host.profile };
}

/** An operation as a command: a dry run only plans it; else it is done in one transaction, once for each id that a client gives. */
export function operationCommand<Input, Plan, Result>(
  name: string,
  operation: StoreOperation<Input, Plan, Result>,
  options: OperationCommandOptions<Input, Result> = {},
): Command<Input, Result> {
  return async (host, input, envelope) => {
    if (envelope.dryRun) {
      return reading(host, (store) => operation.preview(operation.plan(store, input, operationContext(host))));
    }
    const id = envelope.clientMutationId ?? (options.withReceipt === undefined ? null : host.mintUid());
    const marked = (result: Result) => (id === null || options.withReceipt === undefined ? result : options.withReceipt(result, id));
    const write = (beforeCommit: (result: Result) => void) =>
      host.writer.write(
        (transaction) => {
          const context = operationContext(host);
          return marked(operation.execute(transaction, operation.plan(transaction, input, context), context));
        },
        { patience: operation.patience, touchesMessages: operation.touchesMessages, beforeCommit },
      );
    const work = async () => {
      const result =
        id === null
          ? await write(() => {})
          : await once(host, { id, name, input: options.asked?.(input) ?? input }, write, (planned) =>
              reading(host, (store) => operation.wasMade?.(store, planned as Result) ?? false),
            );
      if ((await followed(host, result, options)) && id !== null) host.receipts().settled(id);
      return result;
    };
    return options.excludesAppends === true ? host.transcript().queue.exclusive(work) : work();
  };
}

/** What can't be done after a commit doesn't undo it: false where it is left to the next process, which finds the receipt (K18, K29). */
async function followed<Result>(
  host: CommandHost,
  result: Result,
  { afterwards }: { readonly afterwards?: (host: CommandHost, result: Result) => void | Promise<void> },
): Promise<boolean> {
  try {
    await afterwards?.(host, result);
    return true;
  } catch (error) {
    if (error instanceof WriteRefused) return false;
    throw error;
  }
}

export function reading<T>(host: CommandHost, work: Parameters<typeof host.writer.read<T>>[0]): Promise<T> {
  return host.writer.read(work).catch((error: unknown) => {
    throw unreadableAsRefusal(error);
  });
}

/**
 * Does the work unless the id has an answer already. `wasMade` looks whether a plan of a process that is gone was carried out. After a result that
 * isn't final a repeat does the work again.
 */
export async function once<Result>(
  host: CommandHost,
  mutation: { readonly id: string; readonly name: string; readonly input: unknown },
  work: (beforeCommit: (result: Result) => void) => Promise<Result>,
  wasMade: (planned: unknown) => Promise<boolean>,
  isFinal: (result: Result) => boolean = () => true,
): Promise<Result> {
  const { id, name } = mutation;
  const receipts = host.receipts();
  const inputHash = createHash('sha256').update(JSON.stringify(mutation.input)).digest('hex');
  const found = receipts.find(id);
  if (found !== null) {
    if (found.mutation !== name || found.profile !== host.profile || found.inputHash !== inputHash) {
      throw new WriteRefused('VALIDATION', 'This clientMutationId was used for another request.');
    }
    const answer = await settle(host, receipts, found, wasMade);
    if (answer !== null) return JSON.parse(answer) as Result;
  }
  if (host.running.has(id)) throw new WriteRefused('IN_PROGRESS');
  if (!receipts.take({ clientMutationId: id, mutation: name, profile: host.profile, inputHash }, found, host.now())) {
    throw new WriteRefused('IN_PROGRESS');
  }
  host.running.add(id);
  // From then on only the store can tell whether an error came before the commit or after it.
  let isPlanned = false;
  try {
    const result = await work((planned) => {
      receipts.planned(id, planned);
      isPlanned = true;
    });
    if (isFinal(result)) receipts.done(id, result);
    return result;
  } catch (error) {
    if (error instanceof WriteRefused ? error.settled : !isPlanned) receipts.forget(id);
    throw error;
  } finally {
    host.running.delete(id);
  }
}

/** The answer of a receipt that is there, as JSON; null when nothing was done and the work can begin anew. */
async function settle(
  host: CommandHost,
  receipts: Receipts,
  found: Receipt,
  wasMade: (planned: unknown) => Promise<boolean>,
): Promise<string | null> {
  if (found.state === 'DONE' || found.state === 'SETTLED') return found.result;
  const isRunning = receipts.isOwn(found) ? host.running.has(found.clientMutationId) : receipts.isOwnerAlive(found);
  if (isRunning) throw new WriteRefused('IN_PROGRESS');
  // What isn't planned was never committed.
  if (found.state === 'PENDING' || found.result === null) return null;
  const planned: unknown = JSON.parse(found.result);
  let made: boolean;
  try {
    made = await wasMade(planned);
  } catch (error) {
    throw new WriteRefused('INDETERMINATE', '', { cause: error });
  }
  if (!made) return null;
  receipts.done(found.clientMutationId, planned);
  return found.result;
}
