/**
 * Heads of sidecars that are read again only when the file is another (`spec/webui-sidecars.md` 5.2): lists ask for many, and most
 * sessions have none.
 */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../live/journal/open-journal.ts';
import { type CacheStats, RecentlyUsed } from '../recently-used.ts';
import { isSidecarId, SidecarUnreadable, sidecarName, sidecarVersion } from './sidecar-file.ts';
import { readSidecarHead, type SidecarHead } from './sidecar-head.ts';

/** The newest that were asked for are kept. */
const MOST_HEADS = 1024;
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

export class SidecarHeads {
  readonly #sessionsDir: string;
  readonly #kept = new RecentlyUsed<SidecarHead>({ most: MOST_HEADS });

  constructor(sessionsDir: string) {
    this.#sessionsDir = sessionsDir;
  }

  /** As `readSidecarHead`. */
  async get(sessionId: string): Promise<SidecarHead | null> {
    const version = await this.#version(sessionId);
    const kept = version === null ? null : this.#kept.take(sessionId, (known) => known.version === version);
    if (kept !== null) return kept;
    const head = version === null ? null : await readSidecarHead(this.#sessionsDir, sessionId);
    if (head === null) this.#kept.drop(sessionId);
    else this.#kept.keep(sessionId, head);
    return head;
  }

  get cache(): CacheStats {
    return this.#kept.stats;
  }

  async #version(sessionId: string): Promise<string | null> {
    if (!isSidecarId(sessionId)) return null;
    try {
      const seen = await lstat(join(this.#sessionsDir, sidecarName(sessionId)), { bigint: true });
      return sidecarVersion({ ...seen, size: Number(seen.size) });
    } catch (error) {
      const code = systemCode(error);
      if (code !== null && ABSENT.has(code)) return null;
      throw new SidecarUnreadable(error);
    }
  }
}
