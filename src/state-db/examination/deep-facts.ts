/**
 * What only reading everything tells of a store: SQLite's check of all pages, text that is no UTF-8, JSON that can't be parsed, counters
 * that drifted (`field-cases` F13, F14, F53 to F60). For another process: it takes as long as the store is large. Writes nothing.
 */
import { isUtf8 } from 'node:buffer';
import type { StoreConnection } from '../connection.ts';
import { RowReader } from '../decode.ts';
import { lacksTokenizer } from '../repair/fts-tables.ts';
import { checkIntegrity, type Integrity, isStructuralFailure, isTelling } from '../repair/integrity.ts';
import { isLiveSql } from '../visibility.ts';
import { type Listed, listed } from './row-facts.ts';

export interface DeepFacts {
  readonly integrity: Integrity;
  /** Sessions with text that is not UTF-8. */
  readonly notUtf8: Listed;
  /** Sessions with JSON that can't be parsed. */
  readonly badJson: Listed;
  /** Sessions whose stored number of messages is not that of their live rows. */
  readonly countersOff: Listed;
}

const JSON_COLUMNS = ['tool_calls', 'reasoning_details', 'codex_reasoning_items', 'display_metadata'] as const;
const TEXT_COLUMNS = ['content', 'tool_name', 'reasoning', 'reasoning_content'] as const;
const NOTHING: Listed = { count: 0, ids: [] };

export function deepFacts(connection: StoreConnection): DeepFacts {
  const integrity = integrityOf(connection);
  // Of rows that can't be read there is nothing more to say.
  if (integrity.structural) return { integrity, notUtf8: NOTHING, badJson: NOTHING, countersOff: NOTHING };
  return { integrity, notUtf8: notUtf8(connection), badJson: badJson(connection), countersOff: countersOff(connection) };
}

function integrityOf(connection: StoreConnection): Integrity {
  const ask = (sql: string) => connection.all(sql);
  try {
    return checkIntegrity(ask, 'integrity_check');
  } catch (error) {
    if (!isTelling(error)) throw error;
    // The tokenizer of somebody else is not here: no damage.
    return { lines: lacksTokenizer(error) ? [] : [error.message], structural: isStructuralFailure(ask, error) };
  }
}

function notUtf8(connection: StoreConnection): Listed {
  connection.defineFunction('caduceus_is_utf8', (value) => (value instanceof Uint8Array && !isUtf8(value) ? 'no' : 'yes'));
  const columns = TEXT_COLUMNS.filter((name) => connection.shape.hasColumn('messages', name));
  const isBad = (name: string) => `(typeof(m.${name}) = 'text' AND caduceus_is_utf8(CAST(m.${name} AS BLOB)) = 'no')`;
  return sessionsWhere(connection, columns.map(isBad).join(' OR '));
}

function badJson(connection: StoreConnection): Listed {
  const columns = JSON_COLUMNS.filter((name) => connection.shape.hasColumn('messages', name));
  return sessionsWhere(connection, columns.map((name) => `(m.${name} <> '' AND NOT json_valid(m.${name}))`).join(' OR '));
}

function sessionsWhere(connection: StoreConnection, condition: string): Listed {
  if (condition === '') return NOTHING;
  return idsOf(connection, `SELECT DISTINCT m.session_id AS id FROM messages m WHERE ${condition} ORDER BY 1`);
}

function countersOff(connection: StoreConnection): Listed {
  const live = isLiveSql(connection.shape, 'm');
  return idsOf(
    connection,
    `WITH counted AS (SELECT m.session_id AS id, SUM(${live}) AS n FROM messages m GROUP BY m.session_id)
     SELECT s.id AS id FROM sessions s JOIN counted USING (id) WHERE typeof(s.message_count) = 'integer' AND s.message_count <> counted.n ORDER BY 1`,
  );
}

function idsOf(connection: StoreConnection, sql: string): Listed {
  return listed(connection.all(sql).map((row) => new RowReader(row).quietText('id') ?? ''));
}
