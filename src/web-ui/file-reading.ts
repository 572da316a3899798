/** A file that is read again only when it is another. */
import { lstatSync } from 'node:fs';
import { systemCode } from '../live/journal/open-journal.ts';

/** What one file says; the same promise as long as the file is the same. */
export class FileReading<T> {
  #signature: string | null = null;
  #value: Promise<T> | null = null;

  read(path: string, work: () => Promise<T>): Promise<T> {
    const signature = signatureOf(path);
    if (this.#value === null || signature !== this.#signature) {
      this.#signature = signature;
      this.#value = work();
      // A reading that failed is tried again.
      this.#value.catch(() => {
        this.#value = null;
      });
    }
    return this.#value;
  }
}

function signatureOf(path: string): string {
  try {
    const seen = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return seen === undefined ? '' : `${seen.mtimeNs}:${seen.size}:${seen.ino}`;
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return '';
  }
}
