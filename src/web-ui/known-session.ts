/** What is known of a session beside the store. */
import type { ClaudeCodeRow } from '../claude-code/read-transcript.ts';
import type { TombstoneKind } from '../state-db/beside.ts';
import type { ListedRow } from './list/list-row.ts';
import type { SidecarRow } from './sidecar/sidecar-row.ts';

export interface Known {
  /** As the Web UI's list has it. */
  readonly row: ListedRow;
  readonly sidecar: SidecarRow | null;
  readonly claude: ClaudeCodeRow | null;
  /** The lists of gone sessions that name it; the same object for the same lists. */
  readonly tombstones: readonly TombstoneKind[];
}
