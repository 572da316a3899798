/** Session files read whole, one after the other: the one that was read last is kept, and no other, since they can be large. */
import { SidecarUnreadable } from '../sidecar-file.ts';
import type { WholeSidecar } from './parse-sidecar.ts';
import { readSidecar } from './read-sidecar.ts';

/** Null: there is no file. */
export type SidecarReading = WholeSidecar | null | 'UNREADABLE';

export class LastSidecar {
  readonly #sessionsDir: string;
  #last: { readonly id: string; readonly file: SidecarReading } | null = null;

  constructor(sessionsDir: string) {
    this.#sessionsDir = sessionsDir;
  }

  async read(id: string): Promise<SidecarReading> {
    if (this.#last?.id === id) return this.#last.file;
    this.#last = null;
    const file = await readSidecar(this.#sessionsDir, id).catch((error: unknown) => {
      if (error instanceof SidecarUnreadable) return 'UNREADABLE' as const;
      throw error;
    });
    this.#last = { id, file };
    return file;
  }
}
