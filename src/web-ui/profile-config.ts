/**
 * `config.yaml` of a Hermes home, as its owner's YAML 1.1 parser reads it (`spec/webui-listing.md` 15.1). Parsing takes time: not for the
 * server's thread.
 */
import { isUtf8 } from 'node:buffer';
import { join } from 'node:path';
import { parseDocument, visit } from 'yaml';
import { isJsonObject } from '../state-db/decode.ts';
import { readSmallFile } from './small-file.ts';

export interface ConfigReading {
  /** UNREADABLE: too large, no YAML, or no mapping; then it counts as empty. */
  readonly status: 'OK' | 'MISSING' | 'UNREADABLE';
  /** Null where there is none. */
  readonly config: Readonly<Record<string, unknown>> | null;
}

/** A configuration with all its comments has a fifth of it. The time that damaged YAML takes is kept within a second or so. */
export const MAX_CONFIG_BYTES = 256 * 1024;
/** Values that aliases stand for, in all. */
const MAX_ALIASES = 32;
const FILE = 'config.yaml';
const UNREADABLE: ConfigReading = { status: 'UNREADABLE', config: null };

/** Throws nothing for what is wrong with the file. */
export async function readProfileConfig(home: string): Promise<ConfigReading> {
  const { status, bytes } = await readSmallFile(join(home, FILE), MAX_CONFIG_BYTES);
  if (bytes === null) return status === 'MISSING' ? { status, config: null } : UNREADABLE;
  return isUtf8(bytes) ? parseConfig(bytes.toString('utf8')) : UNREADABLE;
}

/** An empty file is a configuration that says nothing. */
export function parseConfig(text: string): ConfigReading {
  let value: unknown;
  try {
    const document = parseDocument(text, { version: '1.1', uniqueKeys: false, prettyErrors: false, logLevel: 'error' });
    if (document.errors.length > 0) return UNREADABLE;
    let aliases = 0;
    visit(document, {
      Alias: () => {
        aliases += 1;
        return aliases > MAX_ALIASES ? visit.BREAK : undefined;
      },
    });
    if (aliases > MAX_ALIASES) return UNREADABLE;
    value = document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch {
    // The parser throws errors of several kinds for aliases that lead nowhere, come from themselves or stand for too much.
    return UNREADABLE;
  }
  if (value === null || value === undefined) return { status: 'OK', config: null };
  return isJsonObject(value) ? { status: 'OK', config: value } : UNREADABLE;
}
