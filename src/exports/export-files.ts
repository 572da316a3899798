/**
 * Exports that were written and wait to be fetched: in the server's own folder, under a name that can't be guessed, for an hour.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

export interface ExportFile {
  readonly id: string;
  readonly path: string;
  /** For a person who saves it. */
  readonly name: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

const LIFETIME_MS = 3_600_000;
const MOST_FILES = 100;

export class ExportFiles {
  readonly #folder: string;
  readonly #files = new Map<string, ExportFile>();
  #isClean = false;

  /** The folder belongs to this server alone: what an earlier one left in it is removed at the first use. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** A place for an export of a session; whoever asks writes the file. */
  async add(sessionId: string): Promise<ExportFile> {
    if (!this.#isClean) await rm(this.#folder, { recursive: true, force: true });
    this.#isClean = true;
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const now = Date.now();
    const spare = [...this.#files.values()].filter(({ expiresAt }, index) => expiresAt <= now || index < this.#files.size - MOST_FILES + 1);
    await Promise.all(spare.map((file) => this.remove(file)));
    const id = randomUUID();
    const name = `${sessionId.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 100)}.jsonl`;
    const file = { id, path: join(this.#folder, `${id}.jsonl`), name, expiresAt: now + LIFETIME_MS };
    this.#files.set(id, file);
    return file;
  }

  find(id: string): ExportFile | null {
    const file = this.#files.get(id);
    return file === undefined || file.expiresAt <= Date.now() ? null : file;
  }

  async remove(file: ExportFile): Promise<void> {
    this.#files.delete(file.id);
    await rm(file.path, { force: true });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#files.values()].map((file) => this.remove(file)));
  }
}
