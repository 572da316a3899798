/**
 * Which session files there are (`spec/webui-sidecars.md` 1.2): regular files whose stem is a safe id; what else looks like one is reported.
 */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { systemCode } from '../../live/journal/open-journal.ts';
import { SidecarUnreadable, sessionIdOfSidecar } from '../sidecar-file.ts';
import type { SidecarRow } from './sidecar-row.ts';

export interface SidecarListing {
  /** In the order of the alphabet. */
  readonly ids: readonly string[];
  /** The stems of `.json.bak` files. */
  readonly backups: readonly string[];
  /** Names that end in `.json` and do not begin with `_`, and are no session files all the same. */
  readonly ignoredFiles: readonly string[];
  /** All other names of plain files: temporary ones are among them. */
  readonly otherFiles: readonly string[];
}

const BACKUP = '.bak';
const EMPTY: SidecarListing = { ids: [], backups: [], ignoredFiles: [], otherFiles: [] };

/** Empty when there is no such folder. Throws `SidecarUnreadable`. */
export async function listSidecars(sessionsDir: string): Promise<SidecarListing> {
  let entries: Dirent[];
  try {
    entries = await readdir(sessionsDir, { withFileTypes: true });
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return EMPTY;
    throw new SidecarUnreadable(error);
  }
  const found = { ids: [] as string[], backups: [] as string[], ignoredFiles: [] as string[], otherFiles: [] as string[] };
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const { name } = entry;
    const id = sessionIdOfSidecar(name);
    const backed = name.endsWith(BACKUP) ? sessionIdOfSidecar(name.slice(0, -BACKUP.length)) : null;
    if (id !== null && entry.isFile()) found.ids.push(id);
    else if (name.endsWith('.json') && !name.startsWith('_')) found.ignoredFiles.push(name);
    else if (backed !== null && entry.isFile()) found.backups.push(backed);
    else if (entry.isFile()) found.otherFiles.push(name);
  }
  return found;
}

const LEGACY_NAME = /^session_(.+)$/;

type Twin = Pick<SidecarRow, 'id' | 'innerId' | 'messageCount'>;

/**
 * Of a session that has both `session_ID.json`, a form of older versions, and `ID.json`, the one with more messages has the row of the index, at
 * a tie the latter (8.3). Gives the ids of the others.
 */
export function duplicateSidecars(rows: ReadonlyMap<string, Twin>): string[] {
  return twins(rows).map(([old, plain]) => (hasMore(old, plain) ? plain.id : old.id));
}

/** Those that lists leave out: the file that has the session's own name stays, and one with more messages than it is shown beside it. */
export function hiddenSidecars(rows: ReadonlyMap<string, Twin>): string[] {
  return twins(rows).flatMap(([old, plain]) => (hasMore(old, plain) ? [] : [old.id]));
}

function twins(rows: ReadonlyMap<string, Twin>): (readonly [old: Twin, plain: Twin])[] {
  return [...rows.values()].flatMap((row) => {
    const plainId = LEGACY_NAME.exec(row.id)?.[1];
    const plain = plainId !== undefined && row.innerId === plainId ? rows.get(plainId) : undefined;
    return plain === undefined ? [] : [[row, plain] as const];
  });
}

function hasMore(one: Twin, other: Twin): boolean {
  return (one.messageCount ?? 0) > (other.messageCount ?? 0);
}
