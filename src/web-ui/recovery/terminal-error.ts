/**
 * An error that ended a turn and could not be saved, from the last event of its journal (`spec/webui-recovery.md` 10). Pure.
 */
import { isJsonObject } from '../../state-db/decode.ts';
import { isBlank } from '../../state-db/whitespace.ts';
import { type Fields, listOf, truthy } from '../sidecar/coercions.ts';
import { isUser } from './matching.ts';
import type { RunJournal } from './run-lines.ts';
import { DraftRow, type SessionDraft } from './session-draft.ts';

export interface UnsavedError {
  readonly eventId: string;
  readonly streamId: string;
  /** The message as the worker had made it. */
  readonly message: Fields;
}

/** Null when the run did not end with an error, or its message is in the session. */
export function unsavedError(journal: RunJournal | null, sessionId: string, streamId: string): UnsavedError | null {
  const error = journal?.error ?? null;
  const session = error?.payload.session;
  if (error === null || error.payload.session_id !== sessionId || !isJsonObject(session) || session.session_id !== sessionId) return null;
  const { terminal_session_persisted: isSaved, terminal_session_persisted_session_id: savedAs } = error.payload;
  if (truthy(isSaved) && savedAs === sessionId) return null;
  const message = lastError(listOf(session.messages));
  return message === null ? null : { eventId: error.eventId, streamId, message };
}

function lastError(messages: readonly unknown[]): Fields | null {
  const rows = messages.filter(isJsonObject);
  const user = rows.findLastIndex(isUser);
  const last = user === -1 ? undefined : rows.slice(user + 1).findLast(({ role }) => role === 'assistant');
  return last?._error === true && typeof last.content === 'string' && !isBlank(last.content) ? last : null;
}

/** Puts the error behind what was rebuilt, or marks the row that says it already. The row, and whether it is new. */
export function placeError(
  draft: SessionDraft,
  { eventId, streamId, message }: UnsavedError,
  { turn, before }: { readonly turn: DraftRow | null; readonly before: DraftRow | null },
): { readonly row: DraftRow; readonly isNew: boolean } {
  const placed = draft.messages.find(({ fields }) => fields?._recovered_event_id === eventId);
  if (placed !== undefined) return { row: placed, isNew: false };
  const marks = { _recovered_from_run_journal: true, _recovered_stream_id: streamId, _recovered_event_id: eventId };
  const isSame = ({ fields }: DraftRow) =>
    fields?.role === 'assistant' &&
    truthy(fields._error) &&
    fields.content === message.content &&
    (!truthy(fields._recovered_stream_id) || fields._recovered_stream_id === streamId);
  const same = turn === null ? undefined : draft.messages.slice(draft.messages.indexOf(turn) + 1).findLast(isSame);
  if (same !== undefined) {
    same.change(marks);
    return { row: same, isNew: false };
  }
  const row = new DraftRow({ ...message, ...marks });
  draft.insert(row, before);
  return { row, isNew: true };
}
