/**
 * Titles: what writers make of a text, who set a title, and which session a title means (`spec/state-db.md` 7.6).
 */
import { InvalidInput } from '../errors.ts';
import { collapseSpace } from './whitespace.ts';

export const MAX_TITLE_LENGTH = 100;
/** The title of the canonical chat of a bot; numbered copies never take its place. */
export const CANONICAL_TITLE = 'Bot Chat';

/** ASCII controls except tab, LF and CR; zero-width characters, direction marks and overrides, and annotation marks. */
const REMOVED = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffc\ufff9-\ufffb]/g;

/**
 * The title that a writer would store for the text, null when nothing is left of it. Throws InvalidInput when it is longer than
 * 100 characters (code points) after cleaning.
 */
export function sanitizeTitle(text: string | null): string | null {
  if (text === null) return null;
  const title = collapseSpace(text.toWellFormed().replace(REMOVED, ''));
  const length = [...title].length;
  if (length > MAX_TITLE_LENGTH) {
    throw new InvalidInput(`A title can have at most ${MAX_TITLE_LENGTH} characters; this one has ${length}. Shorten it.`, {
      length,
      limit: MAX_TITLE_LENGTH,
    });
  }
  return title === '' ? null : title;
}

/** 2: a person's title. 1: a model's. 0: derived, or from a source that this server does not know. */
export type TitleAuthority = 0 | 1 | 2;

/** Who set the title; null when there is none. A title without a source counts as a person's. */
export function titleAuthority(title: string | null, source: string | null): TitleAuthority | null {
  if (title === null || title === '') return null;
  if (source === null || source === 'user') return 2;
  return source === 'llm' ? 1 : 0;
}

const NUMBERED = / #([0-9]+)$/;

/** The title for one more session of the name: the bare base while it is free, else ` #<n>` with the next number in use. */
export function nextTitle(base: string, existingTitles: Iterable<string>): string {
  const bare = base.replace(NUMBERED, '');
  let taken = false;
  let highest = 1n;
  for (const title of existingTitles) {
    if (title !== bare && !isNumberedCopy(title, bare)) continue;
    taken = true;
    const number = NUMBERED.exec(title)?.[1];
    if (number !== undefined && BigInt(number) > highest) highest = BigInt(number);
  }
  return taken ? `${bare} #${highest + 1n}` : bare;
}

export interface TitledSession {
  readonly id: string;
  readonly title: string;
  /** Epoch seconds; null sorts last. */
  readonly startedAt: number | null;
}

/**
 * The session that a title means: the most recently started one titled `<title> #<...>` if there is any, else the one with exactly this
 * title; for `Bot Chat` the exact one comes first.
 */
export function pickByTitle<T extends TitledSession>(title: string, candidates: Iterable<T>): T | null {
  const sessions = [...candidates];
  const exact = exactTitle(title, sessions);
  if (title === CANONICAL_TITLE && exact !== null) return exact;
  return newest(sessions.filter((session) => isNumberedCopy(session.title, title))) ?? exact;
}

/** The session with exactly this title. Duplicates occur where the unique index is missing: the most recently started one. */
export function exactTitle<T extends TitledSession>(title: string, candidates: Iterable<T>): T | null {
  return newest([...candidates].filter((session) => session.title === title));
}

/** SQL's `LIKE '<base> #%'`: ASCII letters of any case, anything behind the number sign. */
function isNumberedCopy(title: string, base: string): boolean {
  const start = `${base} #`;
  return asciiLower(title.slice(0, start.length)) === asciiLower(start);
}

/** SQL's lower(): letters of ASCII alone. */
export function asciiLower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function newest<T extends TitledSession>(sessions: readonly T[]): T | null {
  return sessions.reduce<T | null>((best, session) => (best === null || startsAfter(session, best) ? session : best), null);
}

function startsAfter(a: TitledSession, b: TitledSession): boolean {
  const [startA, startB] = [a.startedAt ?? Number.NEGATIVE_INFINITY, b.startedAt ?? Number.NEGATIVE_INFINITY];
  return startA === startB ? a.id > b.id : startA > startB;
}
