/** Where the server is and what opens it, from the command line of an example. */
import { readFileSync } from 'node:fs';

export interface Address {
  /** The GraphQL endpoint. */
  readonly graphql: string;
  readonly token: string;
}

/**
 * Takes what the server printed (`http://127.0.0.1:4000/#token=…`), an address and a token, or the file that `--ready-file` wrote. Ends the
 * program with a sentence when it is none of these.
 */
export function addressFrom([first = '', second]: readonly string[]): Address {
  if (/^https?:/.test(first)) {
    const url = new URL(first);
    const token = second ?? new URLSearchParams(url.hash.slice(1)).get('token') ?? '';
    return { graphql: new URL('/graphql', url).href, token };
  }
  try {
    const ready = JSON.parse(readFileSync(first, 'utf8')) as { graphql: string; token: string | null };
    return { graphql: ready.graphql, token: ready.token ?? '' };
  } catch {
    return fail(`Give the address that the server printed, an address and a token, or its ready file; not ${JSON.stringify(first)}.`);
  }
}

/** Ends the program with one sentence. */
export function fail(sentence: string): never {
  console.error(sentence);
  process.exit(1);
}

/** Titles come from transcripts: what could move the cursor of a terminal is left out. */
export function plain(text: string | null | undefined): string {
  return (text ?? '').replace(/[\p{C}\s]+/gu, ' ').trim();
}
