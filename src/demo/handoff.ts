/** The rows that a compaction leaves behind, in their three shapes (`spec/state-db.md` 7.5). */
import { DELIM, END, PRIOR, SUM } from '../state-db/summary-markers.ts';
import type { Columns } from './session-draft.ts';

/** What a compaction leaves of the rows before it: a summary, or rows as they are. */
export type Handoff = string | readonly Columns[];

export function handoffRows(handoff: Handoff): readonly Columns[] {
  return typeof handoff === 'string' ? [{ role: 'user', content: standaloneSummary(handoff), display_kind: 'hidden' }] : handoff;
}

/** A row that is nothing but a summary. */
export function standaloneSummary(summary: string): string {
  return `${SUM}\n${summary}\n\n${END}`;
}

/** A composite carrier: the summary, then what the human asked. */
export function summaryWithAsk(summary: string, ask: string): string {
  return `${standaloneSummary(summary)}\n\n${ask}`;
}

/** A merged summary: the human's earlier message, then the summary. */
export function summaryAfter(earlier: string, summary: string): string {
  return `${PRIOR}\n${earlier}\n${DELIM}\n${SUM}\n${summary}`;
}
