/** A session file as a row of the Web UI's index, from its bytes: pure, so that it can run in any thread. */
import { compactRow } from '../index-file/compact-row.ts';
import type { Fields } from './coercions.ts';
import { parseSidecar } from './parse-sidecar.ts';
import type { SidecarRow, SidecarSignature } from './sidecar-row.ts';

export interface CompactSidecar {
  readonly row: SidecarRow;
  readonly compact: Fields;
}

/** Null for what is no session. */
export function compactSidecar(bytes: Uint8Array, id: string, signature: SidecarSignature): CompactSidecar | null {
  const { row, fields } = parseSidecar(bytes, id, signature);
  return fields === null ? null : { row, compact: compactRow(fields, row) };
}
