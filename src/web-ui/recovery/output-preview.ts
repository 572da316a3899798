/**
 * What of the answer of a run could be recovered, without a session to put it into (`spec/webui-recovery.md` 8, C9). Pure.
 */
import { type Fields, NO_FIELDS } from '../sidecar/coercions.ts';
import { ContextRows } from './context-rows.ts';
import { hasVisibleOutput, rebuildOutput } from './rebuild-output.ts';
import type { RunJournal } from './run-lines.ts';
import { SessionDraft } from './session-draft.ts';
import { unsavedError } from './terminal-error.ts';

export interface OutputPreview {
  readonly messages: readonly Fields[];
  readonly toolCalls: readonly Fields[];
  /** There is something to see. */
  readonly visible: boolean;
  readonly truncated: boolean;
  /** An error that ended the run, and that no session has. */
  readonly error: Fields | null;
}

/** `now`: epoch seconds, for lines without a time. */
export function previewOutput(
  journal: RunJournal,
  { sessionId, streamId, now }: { readonly sessionId: string; readonly streamId: string; readonly now: number },
): OutputPreview {
  const draft = new SessionDraft({});
  const context = new ContextRows(draft, null);
  rebuildOutput(journal.lines, { draft, context, streamId, turn: null, before: null, prompt: null, now });
  draft.arrangement();
  return {
    messages: draft.messages.map(({ fields }) => fields ?? NO_FIELDS),
    toolCalls: draft.toolCalls.map(({ fields }) => fields ?? NO_FIELDS),
    visible: hasVisibleOutput(journal.lines),
    truncated: journal.truncated,
    error: unsavedError(journal, sessionId, streamId)?.message ?? null,
  };
}
