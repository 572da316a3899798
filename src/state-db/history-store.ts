/**
 * The rows of sessions as the Web UI reads them: counts, proofs, revisions. All of it in other processes, since every row is looked at.
 */
import type { CaduceusError } from '../errors.ts';
import type {
  AnchorKey,
  FoundAnchor,
  PrefixKey,
  RoundsKey,
  SessionHistory,
  ShownSnapshot,
  ShownTail,
  StateMessagesKey,
  TailKey,
} from '../session-history.ts';
import type { ContinuationChain } from '../web-ui/transcript/continuations.ts';
import type { TranscriptRevision } from '../web-ui/transcript/revision.ts';
import type { PrefixSummary, SessionSummary } from '../web-ui/transcript/session-summaries.ts';
import { MessageStore, transcriptTooLarge } from './message-store.ts';

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

  continuationChains(ids: readonly string[]): Promise<Map<string, ContinuationChain>> {
    return this.job({ kind: 'continuationChains', ids }, 'Reading the chain');
  }

  async stateMessages(keys: readonly StateMessagesKey[]): Promise<(ShownSnapshot | CaduceusError)[]> {
    const largest = this.options.largestTranscript;
    return (await this.job({ kind: 'stateMessages', keys, largest }, 'Reading the messages')).map((found) => this.#orTooLarge(found));
  }

  async regenerationTails(keys: readonly TailKey[]): Promise<(ShownTail | CaduceusError | null)[]> {
    const largest = this.options.largestTranscript;
    return (await this.job({ kind: 'regenerationTails', keys, largest }, 'Reading the messages')).map((found) => this.#orTooLarge(found));
  }

  async findAnchors(keys: readonly AnchorKey[]): Promise<(FoundAnchor | CaduceusError | null)[]> {
    const largest = this.options.largestTranscript;
    return (await this.job({ kind: 'anchors', keys, largest }, 'Looking for the anchor')).map((found) => this.#orTooLarge(found));
  }

  #orTooLarge<V>(found: V | 'TOO_LARGE'): V | CaduceusError {
    return found === 'TOO_LARGE' ? transcriptTooLarge(this.options.largestTranscript) : (found as V);
  }
}
