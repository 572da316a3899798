/**
 * Heads of sidecars that are read again only when the file is another (`spec/webui-sidecars.md` 5.2): lists ask for many, and most
 * sessions have none.
 */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../live/journal/open-journal.ts';
import { isSidecarId, SidecarUnreadable, sidecarName, sidecarVersion } from './sidecar-file.ts';
import { readSidecarHead, type SidecarHead } from './sidecar-head.ts';

/** The newest that were asked for are kept. */
const MOST_HEADS = 1024;
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

export class SidecarHeads {
  readonly #sessionsDir: string;
  readonly #kept = new Map<string, SidecarHead>();

  constructor(sessionsDir: string) {
    this.#sessionsDir = sessionsDir;
  }

  /** As `readSidecarHead`. */
  async get(sessionId: string): Promise<SidecarHead | null> {
    const version = await this.#version(sessionId);
    const kept = this.#kept.get(sessionId);
    this.#kept.delete(sessionId);
    if (version === null) return null;
    const head = kept?.version === version ? kept : await readSidecarHead(this.#sessionsDir, sessionId);
    if (head === null) return null;
    this.#kept.set(sessionId, head);
    for (const oldest of [...this.#kept.keys()].slice(0, -MOST_HEADS)) this.#kept.delete(oldest);
    return head;
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
