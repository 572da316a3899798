/**
 * Changes of a session file's metadata, from bytes to bytes (`spec/webui-sidecars.md` 6, 15): the members that change are replaced where
 * they stand, and every other byte stays. Pure, so that it can run in any thread.
 */
import { isUtf8 } from 'node:buffer';
import { isJsonObject } from '../../state-db/decode.ts';
import { IntegralFloat, orderedObject } from '../../state-db/write/python-json-value.ts';
import type { RefusalCode } from '../../write-refused.ts';
import { compactRow } from '../index-file/compact-row.ts';
import { isSubagent } from '../list/source-class.ts';
import { isSidecarId } from '../sidecar-file.ts';
import { TopLevelScan } from '../top-level-scan.ts';
import { type Fields, finiteNumber, nonNegativeInteger } from './coercions.ts';
import { type ArrangedRow, MemberEdits } from './member-edits.ts';
import { decodeText, parseSidecar } from './parse-sidecar.ts';
import { parseSidecarJson } from './sidecar-json.ts';
import { COUNT_KEYS, MESSAGES, SCENES } from './sidecar-keys.ts';
import { repeatedPartials, sceneIndexOf } from './sidecar-messages.ts';
import type { SidecarRow } from './sidecar-row.ts';

/** What a metadata writer may change, and nothing else. */
export type WritableKey =
  | 'title'
  | 'manual_title'
  | 'llm_title_generated'
  | 'pinned'
  | 'archived'
  | 'project_id'
  | 'profile'
  | 'personality'
  | 'enabled_toolsets'
  | 'composer_draft'
  | 'process_wakeup_pause'
  | 'workspace'
  | 'model'
  | 'model_provider'
  | 'model_explicit_pick_signature';

/** What settling a turn may change beside (`spec/webui-recovery.md` 2.1, 9, 11.3). */
export type TurnKey =
  | 'active_stream_id'
  | 'pending_user_message'
  | 'pending_attachments'
  | 'pending_started_at'
  | 'pending_user_source'
  | '_webui_pending_user_timestamp_identity'
  | 'truncation_watermark'
  | 'truncation_boundary'
  | 'intentional_shrink_generation'
  | 'input_tokens'
  | 'output_tokens'
  | 'estimated_cost';

/** Where a session came from, which an import fills in (`spec/webui-listing.md` 16.2). */
export type OriginKey =
  | 'source_tag'
  | 'raw_source'
  | 'session_source'
  | 'source_label'
  | 'parent_session_id'
  | 'is_cli_session'
  | 'read_only';

/** The lists of a file whose rows a recovery arranges. */
export type ListKey = 'messages' | 'tool_calls' | 'context_messages';

export interface EditRequest {
  /** The stem of the file's name. */
  readonly id: string;
  readonly set: Readonly<Partial<Record<WritableKey | TurnKey | OriginKey, unknown>>>;
  /** Members of an object that is there, or comes to be. */
  readonly merge?: Readonly<Partial<Record<WritableKey, Fields>>>;
  /** The whole lists as they are to be. */
  readonly arrange?: Readonly<Partial<Record<ListKey, readonly ArrangedRow[]>>>;
  /** The partial answers that repeat another go out of the file (4.2). */
  readonly collapsePartials?: boolean;
  /**
   * Compare-and-swap (`spec/webui-listing.md` 17.3): the folder that the file has to have, unless it has the new one. Then nothing but what is
   * set is changed, not even counts that are wrong.
   */
  readonly swap?: { readonly workspace: string };
  /** Epoch seconds for `updated_at`; null leaves it. */
  readonly updatedAt: number | null;
  /** What must hold of the file, beyond being whole. */
  readonly refuse: { readonly readOnly: boolean; readonly underWay: boolean };
}

export type EditOutcome =
  | { readonly status: 'REFUSED'; readonly code: RefusalCode; readonly more: string }
  | {
      readonly status: 'UNCHANGED';
      readonly before: SidecarRow;
      /** What was asked for, as the file has it: a writer that was stopped may not have come to the index. */
      readonly patch: Fields;
    }
  | {
      readonly status: 'CHANGED';
      readonly bytes: Uint8Array;
      /** With the signature of the old file. */
      readonly before: SidecarRow;
      readonly after: SidecarRow;
      /** The members that changed, as they are now; where lists were arranged, the session's whole row of the index. */
      readonly patch: Fields;
      /** Messages that the file had and has no more. */
      readonly dropped: number;
    };

const NO_SIGNATURE = { mtimeNs: 0n, size: 0, ctimeNs: 0n, ino: 0n };

/** The file with the changes, or why it may not be changed. Throws `NotJson` for a value that JSON can't hold. */
export function editSidecar(bytes: Buffer, request: EditRequest): EditOutcome {
  if (!isUtf8(bytes)) return refused('SIDECAR_ENCODING');
  const fields = parseSidecarJson(decodeText(bytes).text);
  if (!isJsonObject(fields)) return refused('SIDECAR_CORRUPT');
  if (typeof fields.session_id !== 'string' || !isSidecarId(fields.session_id)) {
    return refused('SIDECAR_CORRUPT', 'It has no valid session_id.');
  }
  const messages = fields[MESSAGES];
  if (!Array.isArray(messages)) return refused('SIDECAR_CORRUPT', 'Its messages are no list.');
  const before = parseSidecar(bytes, request.id, NO_SIGNATURE).row;
  if (request.refuse.readOnly && (before.readOnly || isSubagent(before))) return refused('SESSION_READ_ONLY');
  if (request.refuse.underWay && (before.activeStreamId !== null || before.pending !== null)) return refused('SESSION_BUSY');
  const { swap } = request;
  const isExpected = swap === undefined || before.workspace === swap.workspace || before.workspace === request.set.workspace;
  if (!isExpected) return refused('CONFLICT');

  const scan = new TopLevelScan(null);
  scan.scan(bytes);
  const edits = new MemberEdits(bytes, scan);
  for (const [key, value] of Object.entries(request.set)) edits.put(key, value);
  for (const [key, value] of Object.entries(request.merge ?? {})) edits.merge(key, value);
  for (const [key, rows] of Object.entries(request.arrange ?? {})) edits.arrange(key, rows);
  const dropped = request.collapsePartials === true ? repeatedPartials(messages) : [];
  if (dropped.length > 0) edits.dropElements(MESSAGES, dropped);
  if (edits.isEmpty) {
    const more = [...(request.collapsePartials === true ? ['message_count'] : []), ...(request.updatedAt === null ? [] : ['updated_at'])];
    const keys = [...edits.keys, ...more].filter((key) => fields[key] !== undefined);
    return { status: 'UNCHANGED', before, patch: Object.fromEntries(keys.map((key) => [key, fields[key]])) };
  }
  if (request.updatedAt !== null) edits.put('updated_at', asFloat(request.updatedAt));
  const count = request.arrange?.messages?.length ?? messages.length - dropped.length;
  if (swap === undefined) putCounts(edits, fields, count);

  const changed = edits.apply();
  const { row: after, fields: now } = parseSidecar(changed, request.id, NO_SIGNATURE);
  if (after.health !== 'OK' || now === null) throw new Error('A change of a session file did not come out as JSON.');
  // Lists that are arranged change what the session's row counts.
  const patch = request.arrange === undefined ? Object.fromEntries(edits.keys.map((key) => [key, now[key]])) : compactRow(now, after);
  return { status: 'CHANGED', bytes: changed, before, after, patch, dropped: Math.max(0, messages.length - count) };
}

function refused(code: RefusalCode, more = ''): EditOutcome {
  return { status: 'REFUSED', code, more };
}

function putCounts(edits: MemberEdits, fields: Fields, count: number): void {
  const [countKey, sceneKey] = COUNT_KEYS;
  if (fields[countKey] !== count || nonNegativeInteger(fields[countKey]) === null) edits.put(countKey, count);
  const scenes = sceneIndexOf(fields[SCENES]);
  const stored = fields[sceneKey];
  const isSame =
    isJsonObject(stored) &&
    Object.keys(stored).length === Object.keys(scenes).length &&
    Object.entries(scenes).every(([key, time]) => finiteNumber(stored[key]) === time);
  if (!isSame) edits.put(sceneKey, orderedObject(Object.entries(scenes).map(([key, time]) => [key, asFloat(time)] as const)));
}

/** Times are floats to the owner, also whole ones. */
export function asFloat(value: number): number | IntegralFloat {
  return Number.isSafeInteger(value) ? new IntegralFloat(value) : value;
}
