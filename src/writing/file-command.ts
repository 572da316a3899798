/**
 * Changes of the Web UI's files as commands: previewed, or done once with a receipt (`spec/webui-sidecars.md` 15).
 */
import { join } from 'node:path';
import { InvalidInput } from '../errors.ts';
import { JournalUnreadable } from '../live/journal/open-journal.ts';
import { NotJson } from '../state-db/write/python-json.ts';
import { SidecarUnreadable } from '../web-ui/sidecar-file.ts';
import { WriteRefused } from '../write-refused.ts';
import { type Command, type CommandHost, once } from './command.ts';

export interface FileWork<Input, Result> {
  /** With `dryRun` it writes nothing. `planned` is called before the first write, with what the answer will be. */
  readonly work: (host: CommandHost, input: Input, dryRun: boolean, planned: (result: Result) => void) => Promise<Result>;
  /** What of the input a repeat has in common with the first request; default all of it. */
  readonly asked?: (input: Input) => unknown;
  /** Whether a plan of a process that is gone was carried out. Default: no, so that it is done again, which must do no harm. */
  readonly wasMade?: (host: CommandHost, planned: Result) => Promise<boolean>;
}

/** A rename of somebody else's between the read and the write is a reason to begin again, this often. */
const TRIES = 5;

/** Throws nothing but `WriteRefused`, defects aside. */
export function fileCommand<Input, Result>(name: string, { work, asked, wasMade }: FileWork<Input, Result>): Command<Input, Result> {
  return async (host, input, { dryRun, clientMutationId: id }) => {
    const run = (planned: (result: Result) => void) => refusing(() => work(host, input, dryRun, planned));
    if (dryRun || id === null) return run(() => {});
    const result = await once(
      host,
      { id, name, input: asked?.(input) ?? input },
      run,
      async (planned) => (await wasMade?.(host, planned as Result)) ?? false,
    );
    host.receipts().settled(id);
    return result;
  };
}

/** Begins again after a CONFLICT, unless the caller named the state that it wants to change. */
export async function repeatedly<T>(isGuarded: boolean, attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      const isConflict = error instanceof WriteRefused && error.code === 'CONFLICT';
      if (!isConflict || isGuarded || tries >= TRIES) throw error;
    }
  }
}

export function sessionsDirOf(host: CommandHost): string {
  return join(host.webUiDir, 'sessions');
}

/** Gives what is thrown beside `WriteRefused` on the way to a file as one. */
export async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InvalidInput || error instanceof NotJson) throw new WriteRefused('VALIDATION', error.message, { cause: error });
    if (error instanceof JournalUnreadable) throw new WriteRefused('SIDECAR_UNREADABLE', 'It is one of its journals.', { cause: error });
    if (error instanceof SidecarUnreadable) throw new WriteRefused('SIDECAR_UNREADABLE', '', { cause: error });
    throw error;
  }
}
