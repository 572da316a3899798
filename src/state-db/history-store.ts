/**
 * The rows of sessions as the Web UI reads them: counts, proofs, revisions. All of it in other processes, since every row is looked at.
 */
import type { PrefixKey, RoundsKey, SessionHistory } from '../session-history.ts';
import type { TranscriptRevision } from '../web-ui/transcript/revision.ts';
import type { PrefixSummary, SessionSummary } from '../web-ui/transcript/session-summaries.ts';
import { MessageStore } from './message-store.ts';

export class HistoryStore extends MessageStore implements SessionHistory {
  conversationRounds(keys: readonly RoundsKey[]): Promise<number[]> {
    return this.job({ kind: 'rounds', keys }, 'Counting the rounds');
  }

  messageSummaries(ids: readonly string[]): Promise<Map<string, SessionSummary>> {
    return this.job({ kind: 'messageSummaries', ids }, 'Counting the messages');
  }

  messagePrefixes(keys: readonly PrefixKey[]): Promise<(PrefixSummary | null)[]> {
    return this.job({ kind: 'messagePrefixes', keys }, 'Counting the messages');
  }

  messagePrefixKeys(keys: readonly PrefixKey[]): Promise<(string[] | null)[]> {
    return this.job({ kind: 'messagePrefixKeys', keys }, 'Reading the messages');
  }

  historyRevisions(ids: readonly string[]): Promise<Map<string, TranscriptRevision | null>> {
    return this.job({ kind: 'historyRevisions', ids }, 'Reading the revision');
  }
}
