/**
 * Files that belong to sessions: what is left of deleted ones, and the line that tells of an archive (`spec/state-db-writes.md` J2, F9). The store
 * was changed before; what can't be done here is litter, and no error.
 */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../live/journal/open-journal.ts';
import { idList } from '../state-db/connection.ts';
import { isSafeSegment } from '../state-db/routing.ts';
import type { StoreReading } from '../state-db/store-reading.ts';
import { pythonJson } from '../state-db/write/python-json.ts';
import type { ArchiveResult } from '../state-db/write/session-flags.ts';
import { artifactsDir } from '../web-ui/deletion/cleanup-manifests.ts';
import { type CommandHost, reading } from './command.ts';
import { forgetPending } from './forget-pending.ts';

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;
/** The index of routes, which a session of the name `sessions` doesn't own. */
const ROUTES = 'sessions.json';
const DUMP = 'request_dump_';

/**
 * After deletions: the transcripts and request dumps of the sessions, and what waits to be written to them. It may run long after them, when a
 * client repeats itself: a session that was made anew keeps its files.
 */
export async function forgetSessions(host: CommandHost, ids: readonly string[]): Promise<void> {
  const there = new Set(await reading(host, (store) => sessionIds(store, ids)));
  const gone = ids.filter((each) => !there.has(each));
  const artifacts = await artifactsOf(host, gone.filter(isSafeSegment));
  for (const id of gone) {
    removeArtifacts(host.home, artifacts.get(id) ?? []);
    await forgetPending(host, id, host.now(), { wasDeleted: true });
  }
}

/** Those of the ids that the store has. */
export function sessionIds(store: StoreReading, ids: readonly string[]): string[] {
  return store.all('SELECT id FROM sessions WHERE id IN (SELECT value FROM json_each(?))', [idList(ids)]).map(({ id }) => String(id));
}

/** The names of what each session has in the folder `sessions` of the home: transcripts that may be there, and request dumps that are. */
export async function artifactsOf(host: CommandHost, ids: readonly string[]): Promise<Map<string, string[]>> {
  const dumps = ids.length === 0 ? [] : namesIn(artifactsDir(host.home)).filter((name) => name.startsWith(DUMP) && name.endsWith('.json'));
  const artifacts = new Map<string, string[]>();
  for (const id of ids) {
    const names = [`${id}.json`, `${id}.jsonl`, ...(await ownDumps(host, id, dumps))];
    artifacts.set(
      id,
      names.filter((name) => name.toLowerCase() !== ROUTES),
    );
  }
  return artifacts;
}

/** The dumps of a session `a_b` also look like dumps of `a`; those of sessions that are there stay. */
async function ownDumps(host: CommandHost, id: string, dumps: readonly string[]): Promise<string[]> {
  const candidates = dumps.filter((name) => isDumpOf(name, id));
  const others = candidates.length === 0 ? [] : await idsBeginningWith(host, `${id}_`);
  return candidates.filter((name) => !others.some((other) => isDumpOf(name, other)));
}

/** Whether none of them is there any more. */
export function removeArtifacts(home: string, names: readonly string[]): boolean {
  let areGone = true;
  for (const name of names) {
    try {
      unlinkSync(join(artifactsDir(home), name));
    } catch (error) {
      // What isn't there is as good as removed; the rest is not ours to remove.
      if (systemCode(error) !== 'ENOENT') areGone = false;
    }
  }
  return areGone;
}

function isDumpOf(name: string, id: string): boolean {
  return name.startsWith(`${DUMP}${id}_`);
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
