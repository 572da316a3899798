/**
 * An import of a session that has a file already (`spec/webui-listing.md` 16.2): what its own program wrote since comes to the end, and what the
 * file doesn't say of where it came from is filled in. Nothing that the file says goes. Pure, so that it can run in any thread.
 */
import { isUtf8 } from 'node:buffer';
import { isJsonObject } from '../state-db/decode.ts';
import { compactRow } from './index-file/compact-row.ts';
import { isOwnSource } from './list/claim-policy.ts';
import { isBlank } from './list/list-row.ts';
import { fold, normaliseSource } from './list/source-class.ts';
import { DraftRow, SessionDraft } from './recovery/session-draft.ts';
import { type Fields, truthy, word } from './sidecar/coercions.ts';
import { type EditOutcome, type EditRequest, editSidecar } from './sidecar/edit-sidecar.ts';
import { decodeText } from './sidecar/parse-sidecar.ts';
import { parseSidecarJson } from './sidecar/sidecar-json.ts';
import { visibleIdentity } from './transcript/identity.ts';
import { withoutRowId } from './transcript/state-message.ts';
import {
  canonicalJson,
  finiteNumber,
  isEmpty,
  isMessage,
  type Message,
  roleOf,
  textOf,
  toolCallsKey,
  toolName,
} from './transcript/values.ts';

export interface RefreshRequest {
  readonly id: string;
  /** The session's row elsewhere: its `source` and its parent. */
  readonly source: string | null;
  readonly parentSessionId: string | null;
  /** The transcript elsewhere, as messages of the Web UI. */
  readonly messages: readonly Message[];
}

const TOOL_KEYS = ['tool_calls', 'tool_call_id', 'tool_name', 'name'] as const;

/** As `editSidecar`; SESSION_BUSY where messages would come while a turn is under way. A session of the Web UI's own stays as it is. */
export function refreshImport(bytes: Buffer, request: RefreshRequest): EditOutcome {
  const fields = isUtf8(bytes) ? parseSidecarJson(decodeText(bytes).text) : null;
  const isImport = isJsonObject(fields) && Array.isArray(fields.messages) && !isOwn(fields, request.source);
  const draft = isImport ? refreshedMessages(fields, request.messages) : null;
  const outcome = editSidecar(bytes, {
    id: request.id,
    set: isImport ? filledIn(fields, request) : {},
    arrange: draft?.arrangement() ?? {},
    updatedAt: null,
    refuse: { readOnly: false, underWay: draft !== null },
  });
  // An import that was stopped before it came to the index: its repeat finds the file done.
  return isImport && outcome.status === 'UNCHANGED' ? { ...outcome, patch: compactRow(fields, outcome.before) } : outcome;
}

/**
 * The messages with what the transcript elsewhere has more: rows at the end, or what it tells of tools. Null where it has no more, where it is
 * another transcript, where it goes on in a later segment, or where something was taken back in the Web UI, which the rows elsewhere don't know.
 * `fields` stay as they are.
 */
function refreshedMessages(fields: Fields, elsewhere: readonly Message[]): SessionDraft | null {
  const draft = new SessionDraft(fields);
  const stored = [...draft.messages];
  if (truthy(fields.pre_compression_snapshot) || finiteNumber(fields.truncation_watermark) !== null) return null;
  if (!stored.every(({ value }, place) => says(elsewhere[place], value))) return null;
  for (const [place, row] of stored.entries()) {
    const gained = toolFacts(row.fields, elsewhere[place]);
    if (Object.keys(gained).length > 0) row.change(gained);
  }
  draft.messages.push(...elsewhere.slice(stored.length).map((message) => new DraftRow(withoutRowId(message))));
  return draft.messages.some((row) => row.isChanged) ? draft : null;
}

/** Whether a message elsewhere says all that the file's does: the same words, and of tools nothing else. */
function says(elsewhere: Message | undefined, stored: unknown): boolean {
  if (elsewhere === undefined || !isMessage(stored) || roleOf(elsewhere) !== roleOf(stored)) return false;
  const seen = visibleIdentity(stored);
  const isSame = seen === null ? canonicalJson(stored.content) === canonicalJson(elsewhere.content) : seen === visibleIdentity(elsewhere);
  const fits = (of: (message: Message) => string) => of(stored) === '' || of(stored) === of(elsewhere);
  return isSame && fits(toolCallsKey) && fits(toolName) && fits(({ tool_call_id }) => textOf(tool_call_id));
}

function toolFacts(stored: Fields | null, elsewhere: Message | undefined): Fields {
  const gained = TOOL_KEYS.filter((key) => isEmpty(stored?.[key]) && !isEmpty(elsewhere?.[key]));
  return Object.fromEntries(gained.map((key) => [key, elsewhere?.[key]]));
}

/** By any of its names; one that no name is known of is taken for the Web UI's own. */
function isOwn({ session_source, source_tag }: Fields, source: string | null): boolean {
  const names = [source, word(session_source), word(source_tag)];
  return names.some(isOwnSource) || names.every(isBlank);
}

function filledIn(fields: Fields, { source, parentSessionId }: RefreshRequest): EditRequest['set'] {
  const names = normaliseSource(source);
  const isDelegate = fold(source) === 'subagent';
  const found = {
    source_tag: names.sourceTag,
    raw_source: names.rawSource,
    session_source: names.sessionSource,
    source_label: names.sourceLabel,
    parent_session_id: parentSessionId,
  };
  const missing = Object.entries(found).filter(([key, value]) => isBlank(word(fields[key])) && !isBlank(value));
  return { ...Object.fromEntries(missing), is_cli_session: !isDelegate, ...(isDelegate ? { read_only: true } : {}) };
}

/** How many messages an edit brings. */
export function messagesGained(outcome: EditOutcome): number {
  return outcome.status === 'CHANGED' ? (outcome.after.storedMessageCount ?? 0) - (outcome.before.storedMessageCount ?? 0) : 0;
}
