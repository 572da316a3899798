/**
 * An export as a file: one JSON object a line (`spec/state-db-writes.md` I1, I2). Runs where nothing else waits.
 */
import { createHash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { familyCatalogue } from './beyond-catalogue.ts';
import type { StoreConnection } from './connection.ts';
import { type ExportedRow, exportLineage, exportSessions } from './export.ts';

export interface ExportRequest {
  readonly sessionId: string;
  /** SEGMENT: the session. LINEAGE: the whole conversation, as one object with its segments. */
  readonly scope: 'SEGMENT' | 'LINEAGE';
  /** Also rows that a compression archived; never what was taken back. */
  readonly includeArchivedRows: boolean;
  /** Rows that a segment may have; 0 is no limit. */
  readonly largest: number;
  /** A file that isn't there yet. */
  readonly path: string;
}

export interface WrittenExport {
  readonly bytes: number;
  readonly sha256: string;
  readonly messages: number;
}

/** Null for an unknown session. Throws EXPORT_TOO_LARGE, and what the disk reports. */
export function writeExport(connection: StoreConnection, request: ExportRequest): WrittenExport | null {
  const { sessionId, scope, largest, includeArchivedRows, path } = request;
  const graph = familyCatalogue(connection, [sessionId]);
  const entry = graph.get(sessionId);
  if (entry === undefined) return null;
  const options = { largest, includeArchivedRows };
  const exported = scope === 'LINEAGE' ? exportLineage(connection, graph, entry, options) : exportSessions(connection, [entry], options)[0];
  if (exported === undefined) return null;
  const line = Buffer.from(`${JSON.stringify(exported)}\n`);
  const file = openSync(path, 'wx', 0o600);
  try {
    for (let at = 0; at < line.length; ) at += writeSync(file, line, at);
  } finally {
    closeSync(file);
  }
  const messages: readonly ExportedRow[] = exported.messages;
  return { bytes: line.length, sha256: createHash('sha256').update(line).digest('hex'), messages: messages.length };
}
