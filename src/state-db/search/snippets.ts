/**
 * The piece of a message that shows why it was found (`spec/state-db.md` 10.4).
 */

import { rowIdList, type StoreConnection } from '../connection.ts';
import { contentText, decodeContent } from '../content.ts';

/** FTS5's snippet() takes seconds on a large row that repeats the word; above this size the piece is cut here. */
const LARGEST_INDEXED_ROW = 64 * 1024;
const LIKE_LENGTH = 120;
const LIKE_LEAD = 40;

/** A snippet for each hit. With an index its own, marked `>>>word<<<`, 40 tokens; without, 120 characters around the first term. */
export function snippets(
  connection: StoreConnection,
  hits: readonly { readonly rowId: string }[],
  table: 'messages_fts' | 'messages_fts_cjk' | 'messages_fts_trigram' | null,
  expression: string,
  terms: readonly string[],
): Map<string, string> {
  const texts = new Map<string, string>();
  if (hits.length === 0) return texts;
  const ids = rowIdList(hits.map((hit) => hit.rowId));
  const plain = new Set(hits.map((hit) => hit.rowId));
  if (table !== null) {
    const rows = connection.all(
      `SELECT CAST(f.rowid AS TEXT) AS id, snippet(${table}, -1, '>>>', '<<<', '...', 40) AS snippet FROM ${table} f
       WHERE ${table} MATCH ? AND f.rowid IN (
         SELECT m.id FROM messages m WHERE m.id IN (SELECT value FROM json_each(?))
         AND ifnull(octet_length(m.content), 0) + ifnull(octet_length(m.tool_calls), 0) <= ${LARGEST_INDEXED_ROW})`,
      [expression, ids],
    );
    for (const row of rows) {
      texts.set(String(row.id), String(row.snippet ?? ''));
      plain.delete(String(row.id));
    }
  }
  if (plain.size > 0) {
    const rows = connection.all('SELECT CAST(id AS TEXT) AS id, content FROM messages WHERE id IN (SELECT value FROM json_each(?))', [
      rowIdList(plain),
    ]);
    for (const row of rows) {
      const content =
        row.content instanceof Uint8Array ? new TextDecoder().decode(row.content) : row.content === null ? null : String(row.content);
      texts.set(String(row.id), around(contentText(decodeContent(content)), terms));
    }
  }
  return texts;
}

/** 120 characters starting 40 before the first exact occurrence of the first term; from the beginning when there is none. */
export function around(text: string, terms: readonly string[]): string {
  const at = terms[0] === undefined ? -1 : text.indexOf(terms[0]);
  const start = Math.max(0, at - LIKE_LEAD);
  return [...text.slice(start, start + LIKE_LENGTH * 2)].slice(0, LIKE_LENGTH).join('');
}
