/**
 * Files that belong to sessions: what is left of deleted ones, and the line that tells of an archive (`spec/state-db-writes.md` J2, F9). The store
 * was changed before; what can't be done here is litter, and no error.
 */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isSafeSegment } from '../state-db/routing.ts';
import { pythonJson } from '../state-db/write/python-json.ts';
import type { ArchiveResult } from '../state-db/write/session-flags.ts';
import { forgetPending } from '../transcript/forget-pending.ts';
import { type CommandHost, reading } from './command.ts';

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;
/** The index of routes, which a session of the name `sessions` doesn't own. */
const ROUTES = 'sessions.json';

/** After deletions: the transcripts and request dumps of the sessions, and what waits to be written to them. */
export async function forgetSessions(host: CommandHost, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    if (isSafeSegment(id)) await removeFiles(host, id);
    await forgetPending(host, id);
  }
}

async function removeFiles(host: CommandHost, id: string): Promise<void> {
  const folder = join(host.home, 'sessions');
  const dumps = namesIn(folder).filter((name) => isDumpOf(name, id));
  const others = dumps.length === 0 ? [] : await idsBeginningWith(host, `${id}_`);
  // The dumps of a session `a_b` also look like dumps of `a`.
  const own = dumps.filter((name) => !others.some((other) => isDumpOf(name, other)));
  for (const name of [`${id}.json`, `${id}.jsonl`, ...own]) {
    if (name.toLowerCase() === ROUTES) continue;
    try {
      unlinkSync(join(folder, name));
    } catch {
      // Not there, or not ours to remove.
    }
  }
}

function isDumpOf(name: string, id: string): boolean {
  return name.startsWith(`request_dump_${id}_`) && name.endsWith('.json');
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function idsBeginningWith(host: CommandHost, prefix: string): Promise<string[]> {
  return reading(host, (store) => {
    const rows = store.all('SELECT id FROM sessions WHERE substr(id, 1, length(?)) = ?', [prefix, prefix]);
    return rows.map(({ id }) => String(id));
  });
}

/** Appends the line to `logs/archives.jsonl` beside the store; one that is there already is not written again. */
export function logArchive(host: CommandHost, { sessionId, archived, sessionIds, at }: ArchiveResult): void {
  const line = pythonJson({
    ts: at,
    trigger: 'api',
    target: sessionId,
    archived,
    cascade_count: sessionIds.length,
    affected_ids: sessionIds,
  });
  const path = join(host.home, 'logs', 'archives.jsonl');
  try {
    mkdirSync(join(host.home, 'logs'), { recursive: true, mode: PRIVATE_FOLDER });
    if (!textOf(path).endsWith(`${line}\n`)) appendFileSync(path, `${line}\n`, { mode: PRIVATE_FILE });
  } catch {
    // The archive holds without its line.
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
