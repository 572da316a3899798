/**
 * Marker clean-up as a command: with a copy of the store before it, where one is asked for (`spec/state-db-writes.md` M6).
 */
import { closeSync, openSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import Database from 'better-sqlite3';
import { type CleanedMarkers, cleanMarkers, type MarkersInput } from '../state-db/write/clean-markers.ts';
import { WriteRefused } from '../write-refused.ts';
import { type Command, type CommandHost, once, operationContext, reading } from './command.ts';

export interface CleanMarkersInput extends MarkersInput {
  readonly backup: boolean;
}

export interface CleanMarkersResult extends CleanedMarkers {
  /** The name of the copy, which lies beside the store; null for none. */
  readonly backupName: string | null;
}

const NAME = 'cleanMarkers';
const OWNER_ONLY = 0o600;

/** A copy is only made when there is something to clean. Throws BACKUP_REFUSED when it can't be, and nothing is cleaned then. */
export const cleanMarkersCommand: Command<CleanMarkersInput, CleanMarkersResult> = async (host, input, envelope) => {
  const preview = () => reading(host, (store) => cleanMarkers.preview(cleanMarkers.plan(store, input, operationContext(host))));
  if (envelope.dryRun) return { ...(await preview()), backupName: null };
  const clean = async (beforeCommit: (result: CleanMarkersResult) => void): Promise<CleanMarkersResult> => {
    const backupName = input.backup && (await preview()).rowIds.length > 0 ? copyStore(host) : null;
    return host.writer.write(
      (transaction) => {
        const context = operationContext(host);
        return { ...cleanMarkers.execute(transaction, cleanMarkers.plan(transaction, input, context), context), backupName };
      },
      { patience: cleanMarkers.patience, touchesMessages: cleanMarkers.touchesMessages, beforeCommit },
    );
  };
  const id = envelope.clientMutationId;
  if (id === null) return clean(() => {});
  // What was never heard is done again: a second time finds nothing left.
  return once(host, { id, name: NAME, input }, clean, async () => false);
};

/** The whole store as of now in a new file, with the owner's rights alone; it is never written over an older copy. */
function copyStore(host: CommandHost): string {
  const stamp = new Date(host.now() * 1000).toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  const copy = `${host.writer.path}.pre-clean-markers-backup-${stamp}`;
  let isOurs = false;
  let db: Database.Database | null = null;
  try {
    closeSync(openSync(copy, 'wx', OWNER_ONLY));
    isOurs = true;
    db = new Database(host.writer.path, { readonly: true, fileMustExist: true });
    db.prepare('VACUUM INTO ?').run(copy);
    return basename(copy);
  } catch (error) {
    if (isOurs) rmSync(copy, { force: true });
    throw new WriteRefused('BACKUP_REFUSED', '', { cause: error });
  } finally {
    db?.close();
  }
}
