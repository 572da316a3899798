/**
 * The folder `pending_messages` of one home (`spec/state-db-writes.md` S1, S2, S5, S10): written one whole file at a time, listed in order,
 * and handed out by claims, so that two processes never replay one file at once.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type ClaimHolder, isGone, newHolder } from './claim-holder.ts';
import { byOrder, digestOf, headOf, type SpoolEntry, type SpoolHead } from './spool-entry.ts';
import { asUnwritable, errorCode, type FileFacts, NODE_FILES, type SpoolFiles, SpoolUnwritable } from './spool-files.ts';
import { claimedName, parseSpoolName, pendingName, type SpoolName, type SpoolPlace, setAsideName } from './spool-name.ts';
import { decodePayload, makePayload, type SpooledMessage, type SpoolPayload } from './spool-payload.ts';

const FOLDER = 'pending_messages';
/** A claim older than this may be taken over (S10). */
const CLAIM_LIFETIME_MS = 300_000;
export const SPOOL_LIMITS = {
  /** A larger file is listed but not read: decoding takes several times its size of memory, and rows of a store are far smaller. */
  fileBytes: 32 * 1024 * 1024,
  /** More names than this are not looked at; a drain then refuses, because an older file could be among the rest. */
  names: 100_000,
} as const;

export interface SpoolOptions {
  /** A named profile's home is never made anew: when it is gone, the profile was deleted (S1). */
  readonly namedProfile: boolean;
  readonly files?: SpoolFiles;
  /** Epoch milliseconds. */
  readonly now?: () => number;
}

export interface SpoolListing {
  /** By ts, seq, name. */
  readonly entries: readonly SpoolEntry[];
  /** There are more names than `SPOOL_LIMITS.names`. */
  readonly truncated: boolean;
}

/** A file that is ours until it is released, removed or set aside. */
export interface SpoolClaim {
  readonly spoolId: string;
  readonly name: string;
}

export interface WrittenSpool {
  readonly spoolId: string;
  readonly messageUid: string;
}

/** Counts what this process spools, whichever home it is for (S3). */
let nextSeq = 0;

export class SpoolDirectory {
  readonly folder: string;
  readonly #home: string;
  readonly #named: boolean;
  readonly #files: SpoolFiles;
  readonly #now: () => number;
  /** Heads of files that did not change since, by id and version: a drain comes before every write while files are left. */
  #heads = new Map<string, SpoolHead>();
  #lastTs = 0;

  constructor(home: string, options: SpoolOptions) {
    this.#home = home;
    this.folder = join(home, FOLDER);
    this.#named = options.namedProfile;
    this.#files = options.files ?? NODE_FILES;
    this.#now = options.now ?? Date.now;
  }

  get home(): string {
    return this.#home;
  }

  get files(): SpoolFiles {
    return this.#files;
  }

  /** A3, A8, A12: keeps a message that the store did not take. It is on disk when this returns. Throws `SpoolUnwritable`. */
  write(sessionId: string, message: SpooledMessage): WrittenSpool {
    return this.#writeMessage('transcript_cap_drop', sessionId, message);
  }

  /** A9c: keeps a message that no session can take, where no drain looks. Throws `SpoolUnwritable`. */
  writeDeadLetter(sessionId: string, message: SpooledMessage): WrittenSpool {
    return this.#writeMessage('routing_dead_letter', sessionId, message);
  }

  /** The files in these places, in order; changes nothing. Files that can't be read or understood are in it. Throws system errors. */
  list(places: readonly SpoolPlace[] = ['PENDING', 'INVALID', 'CLAIMED', 'SUPERSEDED', 'DEAD']): SpoolListing {
    const { names, truncated } = this.#names();
    const heads = new Map<string, SpoolHead>();
    const entries = names.flatMap((name) => {
      if (!places.includes(name.place)) return [];
      const facts = this.#files.facts(join(this.folder, name.name));
      if (facts?.kind !== 'FILE') return [];
      const head = this.#heads.get(`${name.spoolId} ${facts.version}`) ?? this.#readHead(name, facts);
      if (head.problem !== 'READ_FAILED') heads.set(`${name.spoolId} ${facts.version}`, head);
      return [this.#entry(name, facts, head)];
    });
    this.#heads = heads;
    return { entries: entries.sort(byOrder), truncated };
  }

  /** The file with an id, wherever it is; null when there is none. */
  find(spoolId: string): SpoolEntry | null {
    const name = this.#names().names.find((each) => each.spoolId === spoolId);
    if (name === undefined) return null;
    const facts = this.#files.facts(join(this.folder, name.name));
    return facts?.kind === 'FILE' ? this.#entry(name, facts, this.#readHead(name, facts)) : null;
  }

  /**
   * S10: takes a pending file, or one whose claim is stale, out of the reach of others. HELD: another has it. GONE: it is not there any more,
   * because another process is done with it. Throws `SpoolUnwritable`.
   */
  claim(entry: SpoolEntry): SpoolClaim | 'HELD' | 'GONE' {
    if (!entry.claimable) return 'HELD';
    this.#restrict();
    const name = claimedName(entry.spoolId, newHolder());
    if (this.#rename(entry.name, name)) return { spoolId: entry.spoolId, name };
    const now = this.find(entry.spoolId);
    return now?.place === 'CLAIMED' || now?.place === 'PENDING' ? 'HELD' : 'GONE';
  }

  /** The bytes of a claimed file and what they hold; null when another took the claim over. */
  open(claim: SpoolClaim): { readonly bytes: Buffer; readonly payload: SpoolPayload; readonly digest: string } | null {
    const bytes = this.#files.read(join(this.folder, claim.name), SPOOL_LIMITS.fileBytes);
    return bytes === null ? null : { bytes, payload: decodePayload(bytes), digest: digestOf(bytes) };
  }

  /** Puts other bytes into a claimed file, all or nothing. Throws `SpoolUnwritable`; CLAIM_LOST when another has it. */
  rewrite(claim: SpoolClaim, text: string): void {
    if (this.#files.facts(join(this.folder, claim.name)) === null) throw new SpoolUnwritable('CLAIM_LOST');
    this.#publish(claim.spoolId, claim.name, text);
  }

  /** Gives a claimed file back as it is. Where another took it over, it is theirs. Throws `SpoolUnwritable`. */
  release(claim: SpoolClaim): void {
    this.#rename(claim.name, pendingName(claim.spoolId));
  }

  /** Removes a claimed file, once everything in it is committed. Throws `SpoolUnwritable`. */
  remove(claim: SpoolClaim): void {
    try {
      this.#files.remove(join(this.folder, claim.name));
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw asUnwritable(error);
    }
  }

  /** S5, J3: keeps a file's bytes under a name that nothing replays. Throws `SpoolUnwritable`. */
  setAside(file: SpoolClaim, place: 'INVALID' | 'SUPERSEDED'): boolean {
    return this.#rename(file.name, setAsideName(file.spoolId, place));
  }

  #writeMessage(reason: 'transcript_cap_drop' | 'routing_dead_letter', sessionId: string, message: SpooledMessage): WrittenSpool {
    this.#prepare();
    const spoolId = randomBytes(16).toString('hex');
    // A clock that is set back would put newer messages before older ones.
    this.#lastTs = Math.max(this.#lastTs, Math.floor(this.#now() / 1000));
    const { text, messageUid } = expressed(() => makePayload(reason, sessionId, message, { ts: this.#lastTs, seq: nextSeq++ }));
    this.#publish(spoolId, reason === 'routing_dead_letter' ? setAsideName(spoolId, 'DEAD') : pendingName(spoolId), text);
    return { spoolId, messageUid };
  }

  /** S2: a name is only ever given to a whole file that the disk has. */
  #publish(spoolId: string, name: string, text: string): void {
    const temporary = join(this.folder, `.pending-${spoolId}_${randomBytes(6).toString('hex')}.tmp`);
    try {
      const file = this.#files.create(temporary);
      try {
        this.#files.restrict(file);
        this.#files.write(file, Buffer.from(text));
        this.#files.sync(file);
      } finally {
        this.#files.close(file);
      }
      this.#files.rename(temporary, join(this.folder, name));
    } catch (error) {
      this.#discard(temporary);
      throw asUnwritable(error);
    }
    this.#syncFolder();
  }

  /** What is left of a failed write is never read, so a second failure changes nothing. */
  #discard(temporary: string): void {
    try {
      this.#files.remove(temporary);
    } catch (error) {
      if (errorCode(error) === null) throw error;
    }
  }

  /** Best effort: the file is the only copy and stays, whatever a file system says of syncing its folders. */
  #syncFolder(): void {
    try {
      this.#files.syncFolder(this.folder);
    } catch (error) {
      if (errorCode(error) === null) throw error;
    }
  }

  #prepare(): void {
    if (this.#restrict()) return;
    try {
      this.#files.makeFolder(this.folder, !this.#named);
    } catch (error) {
      if (this.#named && errorCode(error) === 'ENOENT') throw new SpoolUnwritable('HOME_GONE', error);
      if (errorCode(error) !== 'EEXIST') throw asUnwritable(error);
    }
    this.#restrict();
  }

  /** Asserts the mode of the folder; false when there is none. A link to elsewhere is not used. */
  #restrict(): boolean {
    try {
      const facts = this.#files.facts(this.folder);
      if (facts === null) return false;
      if (facts.kind !== 'FOLDER') throw new SpoolUnwritable('NOT_A_FOLDER');
      this.#files.restrictFolder(this.folder);
      return true;
    } catch (error) {
      throw asUnwritable(error);
    }
  }

  /** False when the file is not there under that name. */
  #rename(from: string, to: string): boolean {
    try {
      this.#files.rename(join(this.folder, from), join(this.folder, to));
      return true;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return false;
      throw asUnwritable(error);
    }
  }

  #names(): { names: SpoolName[]; truncated: boolean } {
    if (this.#files.facts(this.folder)?.kind !== 'FOLDER') return { names: [], truncated: false };
    const found = this.#files.names(this.folder, SPOOL_LIMITS.names + 1);
    const names = found.slice(0, SPOOL_LIMITS.names).flatMap((name) => parseSpoolName(name) ?? []);
    return { names, truncated: found.length > SPOOL_LIMITS.names };
  }

  #readHead({ name }: SpoolName, facts: FileFacts): SpoolHead {
    const path = join(this.folder, name);
    try {
      const bytes = facts.size > SPOOL_LIMITS.fileBytes ? null : this.#files.read(path, SPOOL_LIMITS.fileBytes);
      if (bytes !== null) return headOf(decodePayload(bytes), bytes.length, digestOf(bytes));
      return headOf({ kind: 'UNPARSEABLE', problem: 'OVERSIZED' }, facts.size, digestOf(`${facts.size} ${facts.writtenAt}`));
    } catch (error) {
      const code = errorCode(error);
      if (code === null) throw error;
      const problem = code === 'EACCES' || code === 'EPERM' ? 'UNREADABLE' : 'READ_FAILED';
      return headOf({ kind: 'UNPARSEABLE', problem }, facts.size, digestOf(`${facts.size} ${facts.writtenAt}`));
    }
  }

  #entry({ name, spoolId, place, holder }: SpoolName, facts: FileFacts, head: SpoolHead): SpoolEntry {
    const state = place === 'PENDING' && head.problem !== null ? 'INVALID' : place;
    return { ...head, spoolId, name, place, state, claimable: place === 'PENDING' || (holder !== null && this.#isStale(holder, facts)) };
  }

  #isStale(holder: ClaimHolder, facts: FileFacts): boolean {
    // A claim of the future is one from before the clock was set back.
    return Math.abs(this.#now() - facts.changedAt) > CLAIM_LIFETIME_MS || isGone(holder);
  }
}

function expressed<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new SpoolUnwritable('NOT_EXPRESSIBLE', error);
  }
}
