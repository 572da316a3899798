/**
 * `sessions.json`, the copy of the routes beside the transcripts (`spec/state-db-writes.md` R3). The table is what counts: where the copy can't be
 * written it is only out of date (K16).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject } from '../state-db/decode.ts';
import { replaceFile } from '../state-db/repair/replace-file.ts';
import { pythonJson } from '../state-db/write/python-json.ts';
import { parsePythonJson } from '../state-db/write/python-json-value.ts';

/** Lets an entry of the copy lead elsewhere. One that leads to neither is left alone, and no file is made where there is none. */
export function moveRoute(home: string, sessionKey: string, from: string, to: string): void {
  changeRoutes(home, (routes) => {
    const entry = Object.hasOwn(routes, sessionKey) && !sessionKey.startsWith('_') ? routes[sessionKey] : undefined;
    if (!isJsonObject(entry) || entry.session_id !== from) return false;
    entry.session_id = to;
    return true;
  });
}

/** Takes the entries of sessions that are gone out of the copy. */
export function dropRoutes(home: string, sessionIds: readonly string[]): void {
  const gone = new Set<unknown>(sessionIds);
  changeRoutes(home, (routes) => {
    const keys = Object.keys(routes).filter((key) => {
      const entry = routes[key];
      return !key.startsWith('_') && isJsonObject(entry) && gone.has(entry.session_id);
    });
    for (const key of keys) delete routes[key];
    return keys.length > 0;
  });
}

function changeRoutes(home: string, change: (routes: Record<string, unknown>) => boolean): void {
  const path = join(home, 'sessions', 'sessions.json');
  try {
    const routes = parsePythonJson(readFileSync(path, 'utf8'));
    if (isJsonObject(routes) && change(routes)) replaceFile(path, pythonJson(routes));
  } catch {
    // No copy, or one that can't be read or written: the owner writes it anew from the table.
  }
}
