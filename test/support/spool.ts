/**
 * Spools for tests, and a store that keeps what is appended in one file, so that a process can die at any point of a commit:
 *
 *   const home = makeHome();
 *   const id = putFile(home, { session_key: 's', reason: 'transcript_cap_drop', ts: 5, seq: 0, data: { ... } });
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SpoolFiles } from '../../src/transcript/spool-files.ts';
import type { SpooledMessage } from '../../src/transcript/spool-payload.ts';
import { temporaryFolder } from './stores.ts';

/** A home of the Hermes Agent with nothing in it. */
export function makeHome(): string {
  const home = join(temporaryFolder(), 'home');
  mkdirSync(home);
  return home;
}

let lastId = 0;
/** 32 hex digits that count up, so that files have a known order of names. */
export function spoolId(): string {
  lastId += 1;
  return lastId.toString(16).padStart(32, '0');
}

/** Writes a spool file as another program would; gives its id. `payload`: an object, or the text of the file. */
export function putFile(home: string, payload: unknown, id = spoolId(), suffix = ''): string {
  const folder = join(home, 'pending_messages');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, `pending-${id}.json${suffix}`), typeof payload === 'string' ? payload : JSON.stringify(payload, null, 2));
  return id;
}

/** The oldest form of a cap drop: one message, no uid. */
export function capDrop(sessionId: string, ts: number, seq: number, message: unknown): Record<string, unknown> {
  return { session_key: sessionId, reason: 'transcript_cap_drop', ts, seq, data: { session_id: sessionId, message } };
}

/** The newest form: an envelope alone. */
export function enveloped(sessionId: string, ts: number, seq: number, messages: readonly unknown[], version = 1): Record<string, unknown> {
  const transcript = { schema: 'hermes.session.transcript', version, messages };
  return { session_key: sessionId, reason: 'transcript_cap_drop', ts, seq, data: { session_id: sessionId, transcript } };
}

export const user = (content: string, more: Record<string, unknown> = {}) => ({ role: 'user', content, ...more });

/** Names of the files of a home's spool, in order of names. */
export function filesOf(home: string): string[] {
  const folder = join(home, 'pending_messages');
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

export function readFileOf(home: string, name: string): string {
  return readFileSync(join(home, 'pending_messages', name), 'utf8');
}

export interface StoredMessage {
  readonly sessionId: string;
  readonly uid: string;
  readonly content: unknown;
}

/** Appends messages whose uid is not there; a commit is all or nothing, and another process sees it. */
export class RecordedStore {
  /** Called before and after each commit. */
  readonly #step: (name: string) => void;
  readonly #path: string;

  constructor(home: string, step: (name: string) => void = () => undefined) {
    this.#path = join(home, 'recorded.json');
    this.#step = step;
  }

  rows(): StoredMessage[] {
    return existsSync(this.#path) ? (JSON.parse(readFileSync(this.#path, 'utf8')) as StoredMessage[]) : [];
  }

  contents(): unknown[] {
    return this.rows().map(({ content }) => content);
  }

  async resolveTarget(sessionId: string): Promise<string | null> {
    return sessionId;
  }

  async append(sessionId: string, message: SpooledMessage): Promise<{ messageId: string | null; duplicate: boolean }> {
    const inserted = await this.appendBatch(sessionId, [message]);
    const index = this.rows().findIndex(({ uid }) => uid === message.message_uid);
    return { messageId: String(index + 1), duplicate: inserted === 0 };
  }

  async appendBatch(sessionId: string, messages: readonly SpooledMessage[]): Promise<number> {
    const rows = this.rows();
    const known = new Set(rows.map(({ uid }) => uid));
    const added = messages.flatMap(({ message_uid: uid, content }) => {
      if (typeof uid !== 'string' || uid === '') throw new Error('a message without a uid was appended');
      return known.has(uid) ? [] : [{ sessionId, uid, content }];
    });
    this.#step('commit');
    writeFileSync(`${this.#path}.new`, JSON.stringify([...rows, ...added]));
    renameSync(`${this.#path}.new`, this.#path);
    this.#step('committed');
    return added.length;
  }
}

/** The calls of the file system with `step` before each one. */
export function stepped(files: SpoolFiles, step: (name: keyof SpoolFiles, args: readonly unknown[]) => void): SpoolFiles {
  return new Proxy(files, {
    get(target, name: keyof SpoolFiles) {
      const call = target[name] as (...args: readonly unknown[]) => unknown;
      return (...args: readonly unknown[]) => {
        step(name, args);
        return call(...args);
      };
    },
  });
}

/** An error as the system gives it. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: made for a test`), { code, syscall: 'test' });
}
