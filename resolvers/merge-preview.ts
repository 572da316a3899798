/**
 * Why each row of the store stands in a merged transcript, or does not (`spec/webui-transcript.md` 15.6, capability C29).
 */
import { InvalidInput } from '../src/errors.ts';
import { type Page, type PageArguments, pageRequest } from '../src/paging.ts';
import type { StoredMessage, StoredSession } from '../src/session-store.ts';
import type { MergeDecision, RowDecision } from '../src/web-ui/transcript/merge-decision.ts';
import { openedList, openedPage } from '../src/web-ui/transcript/opened-list.ts';
import type { OpenedSession } from '../src/web-ui/transcript/opened-session.ts';
import type { Context } from './context.ts';
import { isOfFile, openSession } from './opened.ts';

/** CONTEXT is what the model is sent. */
export type MergeView = 'DISPLAY' | 'CONTEXT';

export interface MergePreview {
  readonly session: StoredSession;
  readonly view: MergeView;
  readonly opened: OpenedSession;
}

export interface MergedRow extends RowDecision {
  readonly profile: string;
  readonly rowId: string | null;
  /** Where it stands, or what it was taken for. */
  readonly standsFor: StoredMessage | null;
  readonly mark: string;
}

interface PreviewArguments {
  readonly sessionId: string;
  readonly profile?: string | null | undefined;
  readonly view?: MergeView | null | undefined;
}

/** Null for an unknown session. Throws NO_SESSION_FILE for one that the Web UI has no file of: nothing is merged there. */
export async function mergePreview(_: unknown, args: PreviewArguments, ctx: Context): Promise<MergePreview | null> {
  const { profile } = await ctx.store(args.profile);
  const session = await ctx.loaders(profile).session.load(args.sessionId);
  if (session === null) return null;
  if (!isOfFile(session) || session.beside?.origins.includes('WEB_UI') !== true) {
    throw new InvalidInput('The Web UI has no file of this session, so nothing is merged.', {}, 'NO_SESSION_FILE');
  }
  const view = args.view ?? 'DISPLAY';
  return { session, view, opened: await openSession(session, view, ctx) };
}

export interface RowsArguments extends PageArguments {
  readonly decisions?: readonly MergeDecision[] | null | undefined;
}

export type MergedRows = Page<MergedRow> & { readonly totalCount: number };

/** Rows in the order of the store, those with the decisions that are asked for. */
export function mergedRows({ session, view, opened }: MergePreview, args: RowsArguments): MergedRows {
  const wanted = args.decisions == null ? null : new Set(args.decisions);
  const rows = opened.decisions.filter(({ decision }) => wanted === null || wanted.has(decision));
  const messages = rows.map((decision): MergedRow => {
    const rowId = opened.rowIds[decision.index] ?? null;
    const standsFor = decision.position === null ? null : (opened.messages[decision.position] ?? null);
    return { ...decision, profile: session.profile, rowId, standsFor, mark: rowId ?? String(decision.index) };
  });
  const name = `merge:${view}:${session.id}:${[...(wanted ?? [])].sort().join(',')}`;
  return { ...openedPage(openedList([{ id: session.id, messages }]), name, pageRequest(args)), totalCount: rows.length };
}

export function rowMessage({ profile, rowId }: MergedRow, _: unknown, ctx: Context): Promise<StoredMessage | null> | null {
  return rowId === null ? null : ctx.loaders(profile).message.load(rowId);
}

const REASONS: Readonly<Record<MergeDecision, string>> = {
  MARKED: 'A row of its own that only looks like the text of a turn with images.',
  MIRROR: 'The text of a turn with images that the file has in full.',
  REPLAY: 'The file has the same message at the same place of the conversation.',
  ROW_ID: 'The file names this row as one of its messages.',
  ABOVE_WATERMARK: 'The conversation was truncated in the Web UI, and the row is from the part that was removed.',
  REPLACED: 'The row is from before the truncation, and the file no longer has what it says.',
  SAME_INSTANT_EDIT: 'The version of a prompt before it was edited, saved at the same instant.',
  DUPLICATE: 'The transcript has the very same message.',
  SAME_SECOND: 'The transcript has the same message within the same second.',
  SAME_ID: 'The transcript has a message with the same id.',
  NEAR_DUPLICATE: 'A message of the file has nearly the same text and no row of its own yet.',
  LATE_DROPPED: 'The row is no newer than the file, which does not have it.',
  INSERTED: 'Only the store has it; it stands where its time says.',
  APPENDED: 'Only the store has it; it stands at the end as it was then.',
  INTERRUPTED_TURN: 'The file ends in an interrupted turn, which the store would show a second time.',
  SUPPRESSED: 'The file shows the same turn already, or shows it as pending.',
  IN_CONTEXT: 'The context that the model is sent covers it.',
  CONTEXT_CLOSED: 'Where the compacted context ends among the rows could not be proven, so none is added.',
};

export function reason({ decision }: MergedRow): string {
  return REASONS[decision];
}
