/**
 * What the catalogue is filled from: statements over the columns that a store has. All of them go by index or by a range of row ids.
 */
import type { StoreShape } from './columns.ts';
import type { SqlRow } from './decode.ts';
import { healthOf } from './health.ts';
import { SESSION_COLUMNS } from './session-record.ts';
import type { StoreReading } from './store-reading.ts';
import { isLiveSql } from './visibility.ts';

/** Session rows at the end of the table among which new ones are looked for. */
const YOUNGEST = 20;
/** Characters from a marker's name on that hold its value; session ids are shorter. */
const MARKER_LENGTH = 200;

/** Session rows with their fingerprints; the caller adds a condition on `s`. */
export function selectSessions(shape: StoreShape): string {
  return `SELECT s.rowid AS rowid, ${shape.selectList('sessions', SESSION_COLUMNS, 's')}, ${fingerprint(shape)} AS print FROM sessions s`;
}

/** Fingerprints of session rows after a row id, in steps. */
export function fingerprintSql(shape: StoreShape): string {
  return `SELECT s.rowid AS rowid, s.id AS id, ${fingerprint(shape)} AS print FROM sessions s WHERE s.rowid > ? ORDER BY s.rowid LIMIT ?`;
}

/** All listed columns as one text; of the configuration, which can be long, the length and what its lineage markers say. */
function fingerprint(shape: StoreShape): string {
  const columns = SESSION_COLUMNS.filter((column) => column !== 'model_config' && shape.hasColumn('sessions', column)).map(
    (column) => `ifnull(s."${column}", '~')`,
  );
  const config = shape.hasColumn('sessions', 'model_config') ? CONFIG_PRINT : [];
  return `concat_ws('|', ${[...columns, ...config].join(', ')})`;
}

const CONFIG_PRINT = [
  "ifnull(octet_length(s.model_config), '~')",
  ...['_branched_from', '_delegate_from', '_reset_from'].map(
    (name) =>
      `CASE WHEN instr(s.model_config, '"${name}"') > 0 THEN substr(s.model_config, instr(s.model_config, '"${name}"'), ${MARKER_LENGTH}) ELSE '' END`,
  ),
];

/** Ids of the youngest session rows. */
export const YOUNGEST_SESSIONS = `SELECT id FROM sessions WHERE rowid > (SELECT MAX(rowid) FROM sessions) - ${YOUNGEST} ORDER BY rowid DESC`;

/** Counts and clocks of sessions, from a covering index. */
export function statsSql(shape: StoreShape): string {
  return `SELECT m.session_id AS session_id, COUNT(*) AS total, SUM(${isLiveSql(shape, 'm')}) AS live,
    MAX(CASE WHEN m.timestamp BETWEEN 0.0 AND 4200000000.0 THEN m.timestamp END) AS last_timestamp
    FROM messages m WHERE m.session_id IN (SELECT value FROM json_each(?)) GROUP BY m.session_id`;
}

/** Message rows after a row id, in steps, with what the counts need of them. */
export function newRowsSql(shape: StoreShape): string {
  return `SELECT CAST(m.id AS TEXT) AS id, m.session_id AS session_id, ${isLiveSql(shape, 'm')} AS live, m.timestamp AS timestamp
    FROM messages m WHERE m.id > ? ORDER BY m.id LIMIT ?`;
}

/**
 * The highest row id of messages. Where the end of the table is damaged, the highest that was ever given out: ids of this table are never
 * used twice, and SQLite keeps count.
 */
export function highestRowId(connection: StoreReading): { rowId: bigint; damaged: boolean } {
  try {
    return { rowId: toRowId(connection.get('SELECT CAST(MAX(id) AS TEXT) AS id FROM messages')), damaged: false };
  } catch (error) {
    if (healthOf(error) !== 'CORRUPT') throw error;
    return { rowId: toRowId(connection.get("SELECT CAST(seq AS TEXT) AS id FROM sqlite_sequence WHERE name = 'messages'")), damaged: true };
  }
}

function toRowId(row: SqlRow | undefined): bigint {
  return BigInt(String(row?.id ?? 0));
}
