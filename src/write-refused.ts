/**
 * Why a change of a store was not made, or not known to be made (`spec/state-db-writes.md` 19): one class, a code for programs, and for each
 * code what it means for whoever asked.
 */
import { CaduceusError } from './errors.ts';

interface Meaning {
  /** Whether the same request can succeed later, with the same key. */
  readonly retryable: boolean;
  /** False: what was asked may have been done all the same. */
  readonly settled: boolean;
  readonly message: string;
}

function refusal(message: string): Meaning {
  return { retryable: false, settled: true, message };
}
function later(message: string): Meaning {
  return { retryable: true, settled: true, message };
}
function unknown(message: string, retryable: boolean): Meaning {
  return { retryable, settled: false, message };
}

/** Every code, whether a repeat can help, whether the store is known not to have changed, and what to tell a person. */
export const REFUSALS = {
  WRITES_OFF: refusal(
    'This server only reads. Start it with --allow-writes (or CADUCEUS_ALLOW_WRITES=1) to change a store; dryRun works without it.',
  ),
  VALIDATION: refusal('The input is not valid; nothing was written.'),
  NOT_FOUND: refusal('There is no such thing in the store; it may have been deleted. Nothing was written.'),
  CONFLICT: refusal('What was expected is not what is stored any more. Read it again, then decide.'),

  STORE_BUSY: later(
    'Another program kept the store locked. Nothing was written and nothing is wrong with it; ask again with the same key.',
  ),
  STORE_IO_UNSETTLED: unknown(
    'The disk reported an error in the middle of the write, so it may or may not have been kept. Read the session again, then repeat with the same key.',
    true,
  ),
  STORE_FULL: refusal('The disk is full. Nothing was written; free some space and ask again.'),
  STORE_READONLY: refusal('The store or its folder can not be written by this user. Nothing was written; mend the permissions.'),
  STORE_REPLACED: refusal(
    'state.db is another file than the one this server wrote to. It stopped writing; find out who replaced it, then restart the server.',
  ),
  WAL_GENERATION_LOST: refusal(
    'The -wal file of state.db was removed under this server. It stopped writing; stop all writers, delete no file, then restart the server.',
  ),
  STORE_CORRUPT: refusal(
    'state.db is damaged. This server stopped writing to it until it is restarted; stop the writers, keep a copy, and check or repair the store.',
  ),
  STORE_INVALID: refusal('state.db is empty or no database of the Hermes Agent. It was left as it is; restore a backup.'),
  STORE_UNREADABLE: later('The store could not be read, so nothing was written. See the health of the store.'),
  STORE_QUARANTINED: refusal(
    'The store is in quarantine since damage or a replacement was seen. Restart the server once the cause is mended.',
  ),
  FTS_INDEX_DAMAGED: later('The full-text index is damaged and could not be set aside, so nothing was written. Rebuild the index.'),
  FTS_TOKENIZER_MISSING: refusal(
    'The store has an index whose tokenizer this server can not load, so every write of a message would fail. Nothing was written; install lib/libfts5_cjk.so in the Hermes home, or name it in HERMES_FTS5_CJK_SO.',
  ),
  SCHEMA_UNSUPPORTED: refusal(
    'The store is of a version that lacks what this operation needs. Upgrade the Hermes Agent; this server never migrates.',
  ),

  SESSION_ROW_MISSING: later('The session was deleted while it was written to. Create it again, then repeat.'),
  SESSION_CLOSED: later('The session was closed by a compression; its conversation goes on in a continuation. Repeat there.'),
  NO_LIVE_CONTINUATION: refusal(
    'The session was closed by a compression and nothing open continues it. The message was kept as a dead letter in the spool.',
  ),
  QUEUE_FULL: later(
    'Too many messages of this session wait to be written, and the spool takes none either. The message was not taken; send it again.',
  ),
  COMPRESSION_IN_PROGRESS: later('The session is being compressed by another program. Nothing was written; ask again in a few seconds.'),
  COMPRESSION_LEASE_LOST: refusal('The lock of the compression is not held any more. Nothing was written; give the compression up.'),
  TURN_LEASE_LOST: refusal('The turn lease is not yours any more. Nothing was written; stop writing this turn.'),
  LEASE_HELD: later('Another program runs a turn in this conversation and holds its lease.'),
  SESSION_BUSY: later('A turn is running in this conversation. Nothing was changed; wait until it is over, or interrupt it.'),
  SESSION_WRITE_GUARDED: later(
    'A turn or a compression is under way in what should be deleted. Nothing was deleted; wait until it is over.',
  ),

  ROW_VERSION_CONFLICT: refusal('A row changed since it was read. Nothing was written; read it again.'),
  ROW_NOT_LIVE: refusal('The row is not live in this session any more. Nothing was written; read the session again.'),
  ROW_NOT_REWRITABLE: refusal('Rows of this kind can not be rewritten in place. Nothing was written.'),
  ROW_UNRESOLVED: refusal('Which row is meant is not certain. Nothing was written; name it by its id and version.'),
  TRANSCRIPT_CHANGED: refusal('The transcript changed since it was read. Nothing was written; read it again, then ask the person.'),
  NOTHING_TO_REWIND: refusal('There is no turn of a person to undo. Nothing was changed.'),
  NOT_RETRYABLE: refusal('The turn can not be sent again without loss (media, annotations, or nothing but blanks). Nothing was changed.'),
  TRANSCRIPT_UNREADABLE: later('The transcript could not be read. Never take it for empty; ask again.'),
  RECEIPT_UNKNOWN: refusal('There is no such receipt. Receipts are kept for 90 days by the server that made the change.'),
  INDETERMINATE: unknown(
    'It is not known whether the change was made, and it was not made again. Look at the session, then decide.',
    false,
  ),
  WRITER_LOST: unknown(
    'The process that writes to the store ended in the middle, so the change may or may not have been made. Repeat with the same key.',
    true,
  ),
  IN_PROGRESS: unknown('The same mutation is still running. Ask for its receipt in a moment.', true),

  SIDECAR_MISSING: refusal(
    'The session has no file of the Web UI. Nothing was written; make the file from the store first, or open the session there.',
  ),
  SIDECAR_UNREADABLE: later('The system refuses to read the file of the session. Nothing was written; mend its permissions.'),
  SIDECAR_CORRUPT: refusal('The file of the session is no whole session. It was left as it is; see its backup.'),
  SIDECAR_ENCODING: refusal('The file of the session has bytes that are not UTF-8. It was left as it is; mend it by hand.'),
  SIDECAR_TOO_LARGE: refusal(
    'The file of the session is over the limit for whole reads, so it can not be rewritten. It was left as it is.',
  ),
  SIDECAR_OVERLAY: refusal(
    'This Web UI keeps its sessions in a database of its own, and the files may be copies of it. Nothing was written; change it in the Web UI.',
  ),
  METADATA_ONLY: refusal('What was to be saved has no messages of its own and would have emptied the session. Nothing was written.'),
  TRANSCRIPT_WOULD_BE_EMPTIED: refusal('The session has messages and a turn under way, and would have been emptied. Nothing was written.'),
  SESSION_READ_ONLY: refusal('The session was imported from a store that the Web UI does not write to. Nothing was changed.'),
  FILE_NOT_WRITTEN: later('The file could not be written. The one that was there is as it was.'),
  NOT_EXHAUSTED: refusal('The context of the session is not exhausted, so no focused continuation is begun. Nothing was created.'),
  PROJECTS_UNREADABLE: refusal('projects.json is no list of projects. It was left as it is; mend it or move it away first.'),
  TOMBSTONES_UNSUPPORTED: refusal('The list of deleted sessions has a form that this server does not know. It was left as it is.'),

  PIN_LIMIT: refusal('As many conversations are pinned as the Web UI allows. Nothing was changed; unpin one first.'),

  TITLE_IN_USE: refusal('Another session has this title. Choose another.'),
  TITLE_TOO_LONG: refusal('A title has at most 100 characters. Nothing was changed.'),
  TITLE_PROTECTED: refusal('The title of this session is fixed. Nothing was changed.'),
  INVALID_REASON: refusal('This reason is written by the owning programs alone. Nothing was changed.'),
  PARENT_NOT_FOUND: refusal('The parent session does not exist. Nothing was created.'),
  HAS_CONTINUATION: refusal(
    'The conversation goes on in a continuation; reopening this segment would give it two heads. Nothing was changed.',
  ),
  ROUTE_NOT_FOUND: refusal('There is no route with this key.'),
  ROUTE_MOVED: refusal('The route leads elsewhere by now. Nothing was changed.'),
  GATEWAY_ONLINE: later('A gateway is running and keeps its routes in memory; it would overwrite the change. Stop it first.'),
  CLEANUP_LOCK_UNAVAILABLE: later(
    'The lock that keeps deletions of other programs apart from this one can not be had. Nothing was deleted; ask again in a few seconds.',
  ),
  DELETE_SET_CHANGED: refusal('What would be deleted is not what was expected. Nothing was deleted; preview again.'),
  CASCADE_CHANGED: refusal('The sessions that follow along are not those expected. Nothing was changed; preview again.'),
  SET_CHANGED: refusal('The sessions concerned are not those expected. Nothing was changed; preview again.'),
  TOO_MANY: refusal('That is more than one request may name. Nothing was changed.'),

  IMPORT_TOO_LARGE: refusal('The import is over a limit. Nothing was imported; split it.'),
  IMPORT_INVALID: refusal('The import has invalid entries. Nothing was imported.'),
  EXPORT_TOO_LARGE: refusal('The session has more messages than may be exported at once.'),
  FOREIGN_HOLDERS: later('Other processes have the store open. Nothing was touched; stop them first.'),
  REPAIR_EXHAUSTED: refusal('Three repairs of this damage failed. Nothing was touched; recover the store by hand.'),
  BACKUP_REFUSED: refusal('The backup before the repair could not be made, so nothing was touched.'),
  NO_SPACE: refusal('There is not enough free space for this. Nothing was touched.'),
  REBUILD_COOLDOWN: later('The index was rebuilt a short while ago. Nothing was touched.'),
  REPAIR_FAILED: refusal('No way to repair the store worked. The store is as it was; its copy is kept.'),
} as const satisfies Record<string, Meaning>;

export type RefusalCode = keyof typeof REFUSALS;

/** What there is to say of a refusal. */
export interface Refusal {
  readonly code: RefusalCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly settled: boolean;
  readonly details: Readonly<Record<string, unknown>>;
}

/** A change that was refused or failed. What was asked is known not to be done where `settled`; `retryable` says that a repeat can succeed. */
export class WriteRefused extends CaduceusError implements Refusal {
  override readonly name = 'WriteRefused';
  declare readonly code: RefusalCode;
  readonly retryable: boolean;
  readonly settled: boolean;

  /** `more` is a sentence of facts that follows the general one; never a path, a holder's command line or the body of a message. */
  constructor(code: RefusalCode, more = '', options: { cause?: unknown; details?: Record<string, unknown> } = {}) {
    const meaning: Meaning = REFUSALS[code];
    super(code, more === '' ? meaning.message : `${meaning.message} ${more}`, options);
    this.retryable = meaning.retryable;
    this.settled = meaning.settled;
  }

  /** One that came from another process, with the whole message that it had there. */
  static restored(code: RefusalCode, message: string, details: Record<string, unknown>): WriteRefused {
    const refused = new WriteRefused(code, '', { details });
    refused.message = message;
    return refused;
  }
}
