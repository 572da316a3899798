/**
 * A process that writes run journals as their owner does, under command of the test:
 *
 *   const writer = await startJournalWriter({ root, sessionId: 's', runId: 'r' });
 *   await writer.append({ event: 'token', payload: { text: 'hi' } });
 *   await writer.torn({ event: 'done' }, 40, 100);   // 40 bytes, the rest after 100 ms
 *   await writer.close();
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { JournalEntry, RunPlace } from './journal-shape.ts';

export interface ScriptedEntry extends JournalEntry {
  /** After the entry before it. */
  readonly afterMs?: number;
}

/** What the process can do. Where an entry names no `seq` it gets the next one of the process. */
export type JournalCommand =
  /** One `write` for each line, with the pauses of the entries. `stamp` puts the time of writing (epoch ms) into `payload.at`. */
  | { readonly kind: 'append'; readonly entries: readonly ScriptedEntry[]; readonly stamp?: boolean }
  /** The first `cut` bytes of a line, and the rest after a while; without `delayMs` never. */
  | { readonly kind: 'torn'; readonly entry: JournalEntry; readonly cut: number; readonly delayMs?: number }
  /** What a torn line still lacks. */
  | { readonly kind: 'rest' }
  | { readonly kind: 'raw'; readonly text: string }
  /** Takes a number and writes no line. */
  | { readonly kind: 'hole'; readonly count: number }
  /** Removes the session's directory; the next append makes it again and counts from 1. */
  | { readonly kind: 'removeSession' }
  | { readonly kind: 'truncate'; readonly size: number }
  /** Puts other bytes of the same length in the place of some. */
  | { readonly kind: 'replace'; readonly before: string; readonly after: string };

export interface JournalRequest {
  readonly id: number;
  readonly command: JournalCommand;
}

export interface JournalAnswer {
  readonly id: number;
  /** The number of the last line that was written. */
  readonly lastSeq: number;
  readonly error?: string;
}

export class JournalWriter {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve(lastSeq: number): void; reject(error: Error): void }>();
  #lastId = 0;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', ({ id, lastSeq, error }: JournalAnswer) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(lastSeq);
      else waiting?.reject(new Error(error));
    });
    child.on('exit', (code) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`the journal writer ended (${code})`));
      this.#waiting.clear();
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  append(...entries: readonly ScriptedEntry[]): Promise<number> {
    return this.run({ kind: 'append', entries });
  }

  /** Plays a turn: the entries one after another, each after its pause. */
  play(entries: readonly ScriptedEntry[], options: { readonly stamp?: boolean } = {}): Promise<number> {
    return this.run({ kind: 'append', entries, ...options });
  }

  torn(entry: JournalEntry, cut: number, delayMs?: number): Promise<number> {
    return this.run(delayMs === undefined ? { kind: 'torn', entry, cut } : { kind: 'torn', entry, cut, delayMs });
  }

  /** Resolves with the number of the last line, when the command is carried out. */
  run(command: JournalCommand): Promise<number> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.send({ id, command } satisfies JournalRequest);
    });
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.disconnect();
    await once(this.#child, 'exit');
  }

  /** Ends the process at once, in the middle of whatever it does. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}

export async function startJournalWriter(place: RunPlace): Promise<JournalWriter> {
  const arguments_ = [place.root, place.sessionId, place.runId];
  const child = fork(new URL('./journal-writer-process.ts', import.meta.url), arguments_, { execArgv: [] });
  await once(child, 'message');
  return new JournalWriter(child);
}

/** A whole turn of the local worker: thinks, writes, calls a tool, answers, ends, gets its title. */
export function scriptedTurn(pauseMs: number, words = 20): ScriptedEntry[] {
  const entries: JournalEntry[] = [
    {
      event: 'context_status',
      payload: { session_id: 's', prefill: { status: 'ok', source: 'history', label: 'History', message_count: 4 } },
    },
    ...['Let me ', 'think ', 'about it.'].map((text) => ({ event: 'reasoning', payload: { text } })),
    ...wordsOf('I look at the files first.'),
    { event: 'interim_assistant', payload: { text: 'I look at the files first.', already_streamed: true } },
    { event: 'tool', payload: { event_type: 'tool.started', name: 'terminal', preview: 'ls', args: { command: 'ls' }, tid: 'call_1' } },
    {
      event: 'tool_complete',
      payload: {
        event_type: 'tool.completed',
        name: 'terminal',
        preview: 'a.txt',
        args: { command: 'ls' },
        tid: 'call_1',
        is_error: false,
      },
    },
    { event: 'metering', payload: { session_id: 's', tps: 41.5, tps_available: true, usage: { input_tokens: 900, output_tokens: 40 } } },
    ...wordsOf('There is one file. '.repeat(Math.ceil(words / 4)).trim()),
    {
      event: 'done',
      payload: { session: { session_id: 's', messages: [] }, usage: { input_tokens: 950, output_tokens: 80, duration_seconds: 2.5 } },
    },
    { event: 'title', payload: { session_id: 's', title: 'One file' } },
    { event: 'stream_end', payload: { session_id: 's' } },
  ];
  return entries.map((entry) => ({ ...entry, afterMs: pauseMs }));
}

function wordsOf(text: string): JournalEntry[] {
  return text.split(/(?<= )/).map((word) => ({ event: 'token', payload: { text: word } }));
}
