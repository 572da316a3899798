/**
 * A process that owns a store and the Web UI's files, and writes both as the owning programs do, under command of the test:
 *
 *   const ui = await startWebUi({ home });                  // <home>/state.db and <home>/webui/sessions
 *   await ui.createSession('s', { title: 'Tea' });
 *   await ui.submit({ sessionId: 's', runId: 'r', text: 'hi' });
 *   await ui.lease('s', 'acquire');
 *   await ui.rows('s', [{ role: 'user', content: 'hi' }]);
 *   await ui.journal('s', 'r', [{ event: 'token', payload: { text: 'hello' } }]);
 *   await ui.rows('s', [{ role: 'assistant', content: 'hello' }]);
 *   await ui.lease('s', 'release');
 *   await ui.settle({ sessionId: 's', runId: 'r' });
 *   await ui.journal('s', 'r', [{ event: 'done', payload: {} }, { event: 'stream_end', payload: { session_id: 's' } }]);
 *   await ui.close();                                        // or kill(), in the middle of whatever it does
 *
 * Commands of one session are carried out in their order; those of different sessions run beside each other.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildStore, type SchemaVersion } from './stores.ts';
import type { WebUiHost } from './web-ui-host.ts';
import { WriterError } from './writer.ts';

export type { NewSession, UiEntry, UiRow } from './web-ui-host.ts';
export type { Played, PlayOptions } from './web-ui-play.ts';

export type UiCommand = Exclude<keyof WebUiHost, 'close'>;
type Arguments<Name extends UiCommand> = Parameters<WebUiHost[Name]>;
type Result<Name extends UiCommand> = Awaited<ReturnType<WebUiHost[Name]>>;

export interface UiRequest {
  readonly id: number;
  readonly command: UiCommand;
  readonly args: readonly unknown[];
}

export interface UiAnswer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string; readonly code: string | null };
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export class WebUi {
  readonly statePath: string;
  /** The directory of the sidecars; `_run_journal` and `_turn_journal` are below it. */
  readonly sessions: string;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;

  constructor(child: ChildProcess, statePath: string, sessions: string) {
    this.#child = child;
    this.statePath = statePath;
    this.sessions = sessions;
    child.on('message', ({ id, result, error }: UiAnswer) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(new WriterError(error.message, error.code));
    });
    child.on('exit', (code, signal) => {
      for (const { reject } of this.#waiting.values()) reject(new WriterError(`the Web UI ended (${code ?? signal})`, null));
      this.#waiting.clear();
    });
  }

  readonly createSession = this.#command('createSession');
  readonly submit = this.#command('submit');
  readonly journal = this.#command('journal');
  readonly hole = this.#command('hole');
  readonly torn = this.#command('torn');
  readonly turnJournal = this.#command('turnJournal');
  readonly sidecar = this.#command('sidecar');
  readonly rows = this.#command('rows');
  readonly lease = this.#command('lease');
  readonly heartbeat = this.#command('heartbeat');
  readonly usage = this.#command('usage');
  readonly lock = this.#command('lock');
  readonly settle = this.#command('settle');
  readonly rotate = this.#command('rotate');
  readonly compact = this.#command('compact');
  readonly rewind = this.#command('rewind');
  readonly restore = this.#command('restore');
  readonly replace = this.#command('replace');
  readonly deleteSession = this.#command('deleteSession');
  readonly play = this.#command('play');

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Lets the commands end that were given, and waits for the end of the process. */
  async close(): Promise<void> {
    if (!this.#isRunning()) return;
    this.#child.disconnect();
    await once(this.#child, 'exit');
  }

  /** Ends the process at once, as a crash would; commands that are under way reject. */
  async kill(): Promise<void> {
    if (!this.#isRunning()) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }

  #isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  #command<Name extends UiCommand>(command: Name) {
    return (...args: Arguments<Name>): Promise<Result<Name>> => {
      const id = ++this.#lastId;
      return new Promise<Result<Name>>((resolve, reject) => {
        this.#waiting.set(id, { resolve: (result) => resolve(result as Result<Name>), reject });
        this.#child.send({ id, command, args } satisfies UiRequest, (error) => {
          if (error === null) return;
          this.#waiting.delete(id);
          reject(error);
        });
      });
    };
  }
}

export interface WebUiPlace {
  /** A Hermes home; what is there already is gone on with, so that a second process can follow one that was killed. */
  readonly home: string;
  /** Whose store it is: the files are always in the home's `webui` (default `default`). */
  readonly profile?: string;
  /** Of a store that has to be made (default the newest, 31). */
  readonly schema?: SchemaVersion;
}

export async function startWebUi({ home, profile = 'default', schema = 31 }: WebUiPlace): Promise<WebUi> {
  const statePath = profile === 'default' ? join(home, 'state.db') : join(home, 'profiles', profile, 'state.db');
  mkdirSync(dirname(statePath), { recursive: true });
  if (!existsSync(statePath)) copyFileSync(buildStore({ schema }), statePath);
  const child = fork(new URL('./web-ui-turn-process.ts', import.meta.url), [home, profile, statePath], {
    execArgv: [],
    serialization: 'advanced',
  });
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve());
    child.once('exit', (code) => reject(new WriterError(`the Web UI couldn't start (exit code ${code})`, null)));
  });
  return new WebUi(child, statePath, join(home, 'webui', 'sessions'));
}
