/**
 * Whether the credentials of a profile are other ones than when its automatic turns were paused (`spec/webui-sidecars.md` 12.3). Contents
 * are only hashed: the presence of a secret counts, its value does not. Nothing here is written to a session file.
 */
import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../live/journal/open-journal.ts';
import { isJsonObject } from '../state-db/decode.ts';
import { isBlank } from '../state-db/whitespace.ts';
import { pythonJson } from '../state-db/write/python-json.ts';
import { keyOrder, orderedObject, parsePythonJson } from '../state-db/write/python-json-value.ts';
import { lowered, truthy } from './sidecar/coercions.ts';
import type { SidecarWakeupPause } from './sidecar/sidecar-row.ts';

const AUTH = 'auth.json';
const OTHERS = ['config.yaml', 'config.yml', '.env'] as const;
const VERSION = 2;
/** A file of credentials is small; anything else in its place is not read. */
const MAX_BYTES = 4 * 1024 * 1024;

/** What comes and goes while a credential is the same. */
const TELEMETRY = new Set([
  'expires_at',
  'expires_at_ms',
  'expires_in',
  'last_status',
  'last_status_at',
  'last_error_code',
  'last_error_reason',
  'last_error_message',
  'last_error_reset_at',
  'request_count',
  'updated_at',
]);
const SECRETS = new Set(['access_token', 'refresh_token', 'id_token', 'api_key', 'secret', 'client_secret', 'runtime_api_key', 'token']);
/** The owner's names of the errors. */
const ERROR_CLASSES: Readonly<Record<string, string>> = {
  EACCES: 'PermissionError',
  EPERM: 'PermissionError',
  ENOTDIR: 'NotADirectoryError',
};

/** True also for a pause that was stored without a fingerprint: the owner looks again then. `fingerprint`: as it is now. */
export function credentialStateChanged({ credentialFingerprint: stored }: SidecarWakeupPause, fingerprint: string): boolean {
  return stored === null || stored !== fingerprint;
}

/** Hex digits of a digest over the credential files of the profile. */
export async function credentialFingerprint(profileHome: string, profile: string | null): Promise<string> {
  const files: unknown[] = [[AUTH, await authState(join(profileHome, AUTH))]];
  for (const name of OTHERS) files.push(await fileState(name, join(profileHome, name)));
  return digest({ files, profile: lowered(profile), version: VERSION });
}

async function authState(path: string): Promise<Record<string, unknown>> {
  const seen = await look(path);
  if (seen === 'missing') return { missing: true, path };
  if (typeof seen === 'string') return { error: seen, path };
  if (!seen.isFile()) return { kind: 'other', path };
  const text = seen.size > BigInt(MAX_BYTES) ? '' : await readFile(path, 'utf8').catch(errorClass);
  if (typeof text !== 'string') return { error: text.error, path };
  const value = parsePythonJson(text);
  if (value !== undefined) return { path, semantic_sha256: digest(semantic(value)) };
  return { kind: 'file', mtime_ns: seen.mtimeNs, path, semantic: 'unparsed-fallback', size: seen.size };
}

async function fileState(name: string, path: string): Promise<unknown[]> {
  const seen = await look(path);
  if (seen === 'missing') return [name, seen];
  if (typeof seen === 'string') return [name, 'error', seen];
  return [name, seen.isFile() ? 'file' : 'other', seen.mtimeNs, seen.size];
}

async function look(path: string): Promise<BigIntStats | string> {
  try {
    return await stat(path, { bigint: true });
  } catch (error) {
    return systemCode(error) === 'ENOENT' ? 'missing' : errorClass(error).error;
  }
}

/** Throws what is no error of the system. */
function errorClass(error: unknown): { readonly error: string } {
  const code = systemCode(error);
  if (code === null) throw error;
  return { error: ERROR_CLASSES[code] ?? 'OSError' };
}

function semantic(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(semantic);
  if (!isJsonObject(value) || !isPlain(value)) return value;
  return orderedObject(
    keyOrder(value).flatMap((key) => {
      const name = lowered(key);
      if (TELEMETRY.has(name)) return [];
      return [[key, SECRETS.has(name) ? isPresent(value[key]) : semantic(value[key])] as const];
    }),
  );
}

/** A whole float is an object of a class of its own. */
function isPlain(value: object): boolean {
  return Object.getPrototypeOf(value) === Object.prototype;
}

function isPresent(value: unknown): boolean {
  return typeof value === 'string' ? !isBlank(value) : truthy(value);
}

function digest(value: unknown): string {
  return createHash('sha256').update(compact(value)).digest('hex');
}

/** Sorted keys, no blanks, ASCII. */
function compact(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(compact).join(',')}]`;
  if (!isJsonObject(value) || !isPlain(value)) return pythonJson(value);
  const keys = [...keyOrder(value)].sort();
  return `{${keys.map((key) => `${pythonJson(key)}:${compact(value[key])}`).join(',')}}`;
}
