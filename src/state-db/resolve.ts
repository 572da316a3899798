/**
 * A session by what a person has at hand: its id, the beginning of the id, or its title (`spec/state-db.md` 7.6, 7.8; `field-cases` F24).
 */
import { InvalidInput } from '../errors.ts';
import type { StoreConnection } from './connection.ts';
import { inWindow } from './decode.ts';
import type { OpenStore } from './store-access.ts';
import { asciiLower, pickByTitle, type TitledSession } from './titles.ts';

export type FoundReference =
  | { readonly kind: 'FOUND'; readonly id: string }
  | { readonly kind: 'AMBIGUOUS'; readonly candidates: readonly string[] }
  | { readonly kind: 'NONE' };

const SHOWN_CANDIDATES = 20;

/** Exact id, else the one id that starts with the text, else a title; `_` and `%` stand for themselves. Throws `InvalidInput` for blank text. */
export function resolveReference(store: OpenStore, reference: string): FoundReference {
  if (reference.trim() === '') throw new InvalidInput('Give a session id, the beginning of one, or a title.', {}, 'BAD_SESSION_ID');
  const ids = idsStartingWith(store, reference);
  if (ids.includes(reference)) return { kind: 'FOUND', id: reference };
  const [only, second] = ids;
  if (only !== undefined && second === undefined) return { kind: 'FOUND', id: only };
  const titled = pickByTitle(reference, titledLike(store, reference));
  if (titled !== null) return { kind: 'FOUND', id: titled.id };
  return ids.length > 1 ? { kind: 'AMBIGUOUS', candidates: ids.slice(0, SHOWN_CANDIDATES) } : { kind: 'NONE' };
}

/** Ids that start with the text, ASCII letters of any case, the exact one among them if it exists; sorted. */
export function idsStartingWith({ catalogue, connection }: OpenStore, prefix: string): string[] {
  if (catalogue === null) return sqlIdsStartingWith(connection, prefix);
  const wanted = asciiLower(prefix);
  const found: string[] = [];
  for (const { id } of catalogue.entries()) if (asciiLower(id.slice(0, prefix.length)) === wanted) found.push(id);
  return found.sort();
}

/** SQL's LIKE, as in `idsStartingWith`: ASCII letters of any case. It reads the ids alone, from their index. */
function sqlIdsStartingWith(connection: StoreConnection, prefix: string): string[] {
  const rows = connection.all(
    `SELECT id FROM sessions WHERE id = :text UNION SELECT id FROM (SELECT id FROM sessions WHERE id LIKE :pattern ESCAPE '\\' ORDER BY id LIMIT ${SHOWN_CANDIDATES + 1}) ORDER BY id`,
    { text: prefix, pattern: startPattern(prefix) },
  );
  return rows.map((row) => String(row.id));
}

function startPattern(text: string): string {
  return `${text.replace(/[\\%_]/g, '\\$&')}%`;
}

function titledLike({ catalogue, connection }: OpenStore, title: string): TitledSession[] {
  if (catalogue === null) {
    const rows = connection.all(
      "SELECT id, title, started_at FROM sessions WHERE title = :text UNION ALL SELECT id, title, started_at FROM sessions WHERE title LIKE :pattern ESCAPE '\\'",
      { text: title, pattern: startPattern(`${title} #`) },
    );
    return rows.map((row) => ({
      id: String(row.id),
      title: String(row.title),
      startedAt: inWindow(row.started_at),
    }));
  }
  const found: TitledSession[] = [];
  for (const { id, title: own, startedAt } of catalogue.entries()) if (own !== null) found.push({ id, title: own, startedAt });
  return found;
}
