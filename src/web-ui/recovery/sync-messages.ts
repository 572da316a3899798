/**
 * A session file beside rows of the store that go on from it (`spec/webui-recovery.md` 14, Y10): the rows are added, nothing of the file goes.
 * Pure.
 */
import { isJsonObject } from '../../state-db/decode.ts';
import type { Fields } from '../sidecar/coercions.ts';
import { type ReconciledTranscript, reconcile } from '../transcript/reconcile.ts';
import { canonicalJson } from './matching.ts';
import { CLEARED } from './repair-turn.ts';
import { DraftRow, SessionDraft } from './session-draft.ts';

/** For this server alone; what the model was sent stays. */
const PRIVATE_KEYS = new Set(['_state_db_row_id']);

/** Null when the rows add nothing. `rows`: live rows of the session as messages. `fields` stay as they are. */
export function syncMessages(fields: Fields, rows: readonly unknown[]): SessionDraft | null {
  const draft = new SessionDraft(fields);
  // Its own row of the pending prompt counts now, since the file's prompt goes.
  const settled = { ...fields, ...CLEARED };
  const state = { messages: rows, revision: null };
  const display = reconcile(settled, state, 'DISPLAY');
  if (display.messages.length <= draft.messages.length) return null;
  const context = reconcile(settled, state, 'CONTEXT');
  const stored = draft.messages;
  draft.messages = rowsOf(display, (place) => stored[place]);
  draft.context = rowsOf(context, (place, message) => draft.context.find((row) => row.isAt(place) && isSame(row.value, message)));
  return draft;
}

function rowsOf(
  { messages, origins }: ReconciledTranscript,
  storedRow: (place: number, message: unknown) => DraftRow | undefined,
): DraftRow[] {
  return messages.map((message, at) => {
    const origin = origins[at];
    const row = origin?.from === 'LOCAL' ? storedRow(origin.index, message) : undefined;
    if (row === undefined) return new DraftRow(isJsonObject(message) ? withoutPrivate(message) : message);
    const gained = isJsonObject(message) ? withoutPrivate(message) : {};
    const set = Object.fromEntries(Object.entries(gained).filter(([key, value]) => !isSame(row.fields?.[key], value)));
    if (Object.keys(set).length > 0) row.change(set);
    return row;
  });
}

function withoutPrivate(message: Fields): Fields {
  return Object.fromEntries(Object.entries(message).filter(([key]) => !PRIVATE_KEYS.has(key)));
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || (a !== undefined && canonicalJson(a) === canonicalJson(b));
}
