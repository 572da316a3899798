/** The rows that a compaction leaves behind, in their three shapes (`spec/state-db.md` 7.5). */
import { DELIM, END, PRIOR, SUM } from '../state-db/summary-markers.ts';

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
