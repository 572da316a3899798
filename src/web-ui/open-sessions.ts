/**
 * Sessions whose messages are in files, opened for reading: whole transcripts, put together in another process, the last of them kept. What is
 * kept is used as long as neither the file nor the store changed, so that the pages of a transcript cost one merge.
 */
import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { MOST_MESSAGES } from '../claude-code/transcript-lines.ts';
import { CaduceusError, StoreUnreadable } from '../errors.ts';
import { systemCode } from '../live/journal/open-journal.ts';
import { type CacheStats, RecentlyUsed } from '../recently-used.ts';
import type { SessionStore } from '../session-store.ts';
import type { DataWarning } from '../state-db/decode.ts';
import { signatureOf, signatureText } from './sidecar/read-sidecar.ts';
import { isSidecarId, sidecarName } from './sidecar-file.ts';
import { fileRecord, markOf } from './transcript/file-message.ts';
import {
  type OpenAnswer,
  type OpenedMessage,
  type OpenFailure,
  type OpenRequest,
  type OpenView,
  replayed,
} from './transcript/open-transcripts.ts';
import { type OpenedSession, openedSession } from './transcript/opened-session.ts';
import type { WebUiHome } from './web-ui-home.ts';

/** What to open. FILE: a session of the Web UI. ROWS: segments in a row that only the store has. */
export interface OpenKey {
  readonly kind: 'FILE' | 'CLAUDE_CODE' | 'ROWS';
  readonly sessionIds: readonly string[];
  readonly isInStore: boolean;
  readonly view: OpenView;
}

interface Kept {
  readonly opened: OpenedSession;
  /** Of the store when it was asked, and of the file that was read. */
  readonly stamp: string;
  readonly fileSignature: string | null;
  readonly size: number;
}

/** Messages that are paged; a whole transcript has a limit of its own. */
export const MOST_PAGED = 200_000;
/** Characters and transcripts that are kept. */
const MOST_KEPT_SIZE = 64 * 1024 * 1024;
const MOST_KEPT = 200;
/** Bytes of files that one job reads: its time is limited, and what it read is lost when it passes that. */
const MOST_BYTES_A_JOB = 32 * 1024 * 1024;

export class OpenSessions {
  readonly largest: number;
  readonly #home: Pick<WebUiHome, 'sessionsDir' | 'claude'>;
  readonly #kept = new RecentlyUsed<Kept>({ most: MOST_KEPT, mostBytes: MOST_KEPT_SIZE, sizeOf: ({ size }) => size });
  /** By the list that the catalogue gives again while the file is the same. */
  readonly #claude = new WeakMap<object, Map<OpenView, OpenedSession>>();
  #merges = 0;

  /** `largest`: messages that a whole transcript may have; 0 is no limit. */
  constructor(home: Pick<WebUiHome, 'sessionsDir' | 'claude'>, largest: number) {
    this.#home = home;
    this.largest = largest;
  }

  /** Transcripts put together so far. */
  get merges(): number {
    return this.#merges;
  }

  get cache(): CacheStats {
    return this.#kept.stats;
  }

  /** In the order of the keys, an error in the place of what can't be opened. A job for all of them unless their files are large. */
  async open(store: SessionStore, keys: readonly OpenKey[]): Promise<(OpenedSession | Error)[]> {
    const isOfStore = keys.some(({ kind }) => kind !== 'CLAUDE_CODE');
    const stamp = isOfStore ? await stampOf(store, keys) : '';
    const found = new Map<OpenKey, OpenedSession | Error>();
    const missing: { readonly key: OpenKey; readonly size: number }[] = [];
    for (const key of keys) {
      if (key.kind === 'CLAUDE_CODE') {
        found.set(key, await this.#claudeCode(store.profile, key));
        continue;
      }
      const file = key.kind === 'FILE' ? this.#look(key.sessionIds[0] ?? '') : NO_FILE;
      const isGood = (known: Kept) => known.stamp === stamp && known.fileSignature === file.signature;
      const kept = this.#kept.take(nameOf(store, key), isGood);
      if (kept === null) missing.push({ key, size: file.size });
      else found.set(key, kept.opened);
    }
    await Promise.all(batches(missing).map((batch) => this.#openBatch(store, batch, stamp, found)));
    return keys.map((key) => found.get(key) ?? new Error('no answer'));
  }

  async #openBatch(
    store: SessionStore,
    keys: readonly OpenKey[],
    stamp: string,
    found: Map<OpenKey, OpenedSession | Error>,
  ): Promise<void> {
    const requests = keys.map(
      (key): OpenRequest => ({
        sessionIds: key.sessionIds,
        hasFile: key.kind === 'FILE',
        isInStore: key.isInStore,
        view: key.view,
        largest: MOST_PAGED,
        known: this.#kept.peek(nameOf(store, key))?.opened.revision ?? null,
      }),
    );
    try {
      const answers = await store.openTranscripts(this.#home.sessionsDir, requests);
      for (const [index, key] of keys.entries()) found.set(key, this.#take(store, key, stamp, answers[index] ?? { kind: 'TOO_LARGE' }));
    } catch (error) {
      // One large file must not take the others of the request down.
      for (const key of keys) found.set(key, error instanceof Error ? error : new Error(String(error)));
    }
  }

  #take(store: SessionStore, key: OpenKey, stamp: string, answer: OpenAnswer): OpenedSession | Error {
    if (answer.kind === 'TOO_LARGE') return tooManyToPage();
    if (answer.kind === 'FAILED') return fileProblem(answer.code);
    const known = this.#kept.peek(nameOf(store, key));
    if (answer.kind === 'SAME') {
      if (known === undefined) return new CaduceusError('TOO_BUSY', 'The transcript was dropped while it was looked at. Ask again.');
      return this.#use(store, key, { ...known, stamp, fileSignature: answer.fileSignature });
    }
    this.#merges += 1;
    const opened = openedSession(store.profile, answer);
    return this.#use(store, key, { opened, stamp, fileSignature: answer.fileSignature, size: answer.size });
  }

  #use(store: SessionStore, key: OpenKey, kept: Kept): OpenedSession {
    this.#kept.keep(nameOf(store, key), kept);
    return kept.opened;
  }

  async #claudeCode(profile: string, key: OpenKey): Promise<OpenedSession | Error> {
    const sessionId = key.sessionIds[0] ?? '';
    const transcript = await this.#home.claude.transcript(sessionId);
    if (transcript === null) {
      return new CaduceusError(
        'TRANSCRIPT_GONE',
        'The transcript of Claude Code has gone, or can not be read any more. List the sessions again.',
      );
    }
    const known = this.#claude.get(transcript.messages) ?? new Map<OpenView, OpenedSession>();
    this.#claude.set(transcript.messages, known);
    const opened = known.get(key.view) ?? openedSession(profile, claudeTranscript(transcript.messages, key));
    known.set(key.view, opened);
    return opened;
  }

  #look(sessionId: string): { readonly signature: string | null; readonly size: number } {
    if (!isSidecarId(sessionId)) return NO_FILE;
    try {
      const seen = lstatSync(join(this.#home.sessionsDir, sidecarName(sessionId)), { bigint: true, throwIfNoEntry: false });
      if (seen?.isFile() !== true) return NO_FILE;
      const { mtimeNs, ctimeNs, ino } = seen;
      const size = Number(seen.size);
      return { signature: signatureText(signatureOf({ mtimeNs, ctimeNs, ino, size })), size };
    } catch (error) {
      if (systemCode(error) === null) throw error;
      return NO_FILE;
    }
  }
}

/** Of the store as it is; of files alone also one that can't be read. */
async function stampOf(store: SessionStore, keys: readonly OpenKey[]): Promise<string> {
  try {
    return `${await store.generation()} ${await store.commitStamp()}`;
  } catch (error) {
    const needsStore = keys.some(({ kind, isInStore }) => isInStore || kind === 'ROWS');
    if (!(error instanceof StoreUnreadable) || needsStore) throw error;
    return error.health;
  }
}

const NO_FILE = { signature: null, size: 0 } as const;

function nameOf(store: SessionStore, { kind, view, sessionIds, isInStore }: OpenKey): string {
  return JSON.stringify([store.path, kind, view, isInStore, sessionIds]);
}

/** What to read, in jobs that each have time enough for the files they read; sizes are bytes. */
export function batches<K>(keys: readonly { readonly key: K; readonly size: number }[]): K[][] {
  const made: K[][] = [];
  let room = 0;
  for (const { key, size } of keys) {
    const last = made.at(-1);
    if (last === undefined || size > room) made.push([key]);
    else last.push(key);
    room = (last === undefined || size > room ? MOST_BYTES_A_JOB : room) - size;
  }
  return made;
}

function claudeTranscript(said: readonly object[], { view, sessionIds }: OpenKey) {
  const hash = createHash('sha256');
  const messages = said.map((message): OpenedMessage => {
    const record = fileRecord(message, sessionIds[0] ?? '');
    const mark = markOf(message, 'LITERAL');
    hash.update(`${mark} ${record.timestamp}\n`);
    return { ...record, mark, isOfFile: true, copies: 0, hasPayload: false, facts: null };
  });
  const replay = view === 'REPLAY' ? replayed(messages) : { messages, repairCount: 0 };
  const revision = hash.digest('base64url').slice(0, REVISION_LENGTH);
  const warnings = said.length < MOST_MESSAGES ? [] : [CUT];
  return { ...replay, revision, storeRevision: null, source: 'CLAUDE_CODE', warnings, decisions: [], rowIds: [] };
}

const CUT: DataWarning = {
  code: 'TRANSCRIPT_CUT',
  field: null,
  message: `At most the first ${MOST_MESSAGES} messages of a transcript of Claude Code are read.`,
};

const REVISION_LENGTH = 22;

function tooManyToPage(): CaduceusError {
  const text = `The session has more than ${MOST_PAGED} messages in its file and in the store together, which are not put together. Ask for the view AUDIT.`;
  return new CaduceusError('TRANSCRIPT_TOO_LARGE', text, { details: { limit: MOST_PAGED } });
}

const PROBLEMS: Readonly<Record<OpenFailure, string>> = {
  SIDECAR_CORRUPT: 'The session file is no JSON object, and the store does not have the session. A backup may lie beside the file.',
  SIDECAR_UNREADABLE:
    'The session file can not be read, or has gone, and the store does not have the session. Check the rights of the server.',
  SIDECAR_TOO_LARGE: 'The session file is over the limit for reading it whole (64 MiB). Ask for the view AUDIT to see what the store has.',
};

function fileProblem(code: OpenFailure): CaduceusError {
  return new CaduceusError(code, PROBLEMS[code]);
}
