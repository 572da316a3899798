/**
 * A little tidying of the full-text indexes now and then, so that they don't fall into many small pieces (`spec/state-db-writes.md` W9).
 */
import type { WriteConnection } from './write-connection.ts';

const INDEXES = ['messages_fts', 'messages_fts_trigram', 'messages_fts_cjk'] as const;
const PAGES = 500;
const ROUNDS = 4;
/** The command itself counts as one change; below this nothing was merged. */
const LEAST_PROGRESS = 2;

/** Best effort: never throws, and stops where nothing moves any more. */
export function mergeIndexes(connection: WriteConnection): void {
  for (const index of INDEXES.filter((table) => connection.shape.hasTable(table))) {
    for (let round = 0; round < ROUNDS; round++) {
      try {
        const before = totalChanges(connection);
        connection.run(`INSERT INTO ${index} (${index}, rank) VALUES ('merge', ${PAGES})`);
        if (totalChanges(connection) - before < LEAST_PROGRESS) break;
      } catch {
        // Busy, or an index that a rebuild has to mend: neither is the business of a write that is done.
        break;
      }
    }
  }
}

function totalChanges(connection: WriteConnection): number {
  return Number(connection.get('SELECT total_changes() AS n')?.n ?? 0);
}
