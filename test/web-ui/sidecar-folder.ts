/** Session files for tests, as `spec/webui-sidecars.md` 19 writes them. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { serializeSidecar } from '../../src/web-ui/sidecar/write-sidecar.ts';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder `sessions` of its own. */
export function sessionsFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'caduceus-sidecars-'));
  folders.push(folder);
  const sessions = join(folder, 'sessions');
  mkdirSync(sessions);
  return sessions;
}

/** `S(x)`: a session of the given id. */
export function session(id: string, fields: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { session_id: id, title: 'T', workspace: '/srv/work', created_at: 1, updated_at: 2, messages: [], ...fields };
}

/** Writes the session as the owner would, with counts before the messages. */
export function putSession(folder: string, id: string, fields: Readonly<Record<string, unknown>> = {}): string {
  return put(folder, `${id}.json`, serializeSidecar(id, session(id, fields)));
}

/** Writes just this text, or the value as JSON. */
export function put(folder: string, name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content));
  return path;
}

export function parsed(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
}

export function user(content: string, timestamp: unknown = 1): Record<string, unknown> {
  return { role: 'user', content, timestamp };
}

export function assistant(content: unknown, timestamp: unknown = 2, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { role: 'assistant', content, timestamp, ...more };
}
