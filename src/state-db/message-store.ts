/**
 * The messages of a store: pages, counts, rows, neighbours, results, versions, whole transcripts.
 */
import { CaduceusError } from '../errors.ts';
import { mapNodes, type Page, type PageRequest } from '../paging.ts';
import type { InputOwner, MessagesQuery, StoredMessage, StoredTranscript, TranscriptQuery } from '../session-store.ts';
import type { OpenAnswer, OpenRequest } from '../web-ui/transcript/open-transcripts.ts';
import { inputOwnersExist } from './input-owner.ts';
import { chain, chainAncestors, tip } from './lineage.ts';
import { type PlatformMessageKey, platformMessageRows } from './message-facts.ts';
import type { MessageRecord } from './message-row.ts';
import {
  type Anchor,
  messageCounts,
  messagePages,
  messagesAround,
  messagesByRowId,
  rowVersions,
  type ToolCallKey,
  toolResults,
} from './messages.ts';
import { StoreReader } from './store-reader.ts';
import { type HeldRows, staleHeldRows } from './write/held-rows.ts';

/** Conversations with more rows than this are paged in another process. */
const LARGE_CONVERSATION = 20_000;

export class MessageStore extends StoreReader {
  async messagePages(queries: readonly (MessagesQuery & { page: PageRequest })[]): Promise<Page<StoredMessage>[]> {
    const requests = await this.#withSegments(queries);
    const { generation } = await this.access.fresh();
    const pages = this.#isLarge(requests)
      ? await this.job({ kind: 'messagePages', requests, generation }, 'Reading the messages')
      : await this.access.read(({ connection }) => messagePages(connection, requests, generation));
    return pages.map((page) => mapNodes(page, (node) => ({ ...node, profile: this.profile })));
  }

  async messageCounts(queries: readonly MessagesQuery[]): Promise<number[]> {
    const requests = await this.#withSegments(queries);
    if (this.#isLarge(requests)) return this.job({ kind: 'messageCounts', requests }, 'Counting the messages');
    return this.access.read(({ connection }) => messageCounts(connection, requests));
  }

  messages(rowIds: readonly string[]): Promise<Map<string, StoredMessage>> {
    return this.access.read(({ connection }) => {
      const found = messagesByRowId(connection, new Set(rowIds));
      return new Map([...found].map(([id, record]) => [id, this.storedMessage(record)]));
    });
  }

  messagesAround(anchors: readonly Anchor[], order: 'ROW' | 'CLOCK'): Promise<StoredMessage[][]> {
    return this.access.read(({ connection }) =>
      messagesAround(connection, anchors, order).map((window) => window.map((record) => this.storedMessage(record))),
    );
  }

  toolResults(keys: readonly ToolCallKey[]): Promise<(StoredMessage | null)[]> {
    return this.access.read(({ connection }) =>
      toolResults(connection, keys).map((record) => (record === null ? null : this.storedMessage(record))),
    );
  }

  rowVersions(rowIds: readonly string[]): Promise<Map<string, string>> {
    return this.access.read(({ connection }) => rowVersions(connection, new Set(rowIds)));
  }

  staleHeldRows(requests: readonly HeldRows[]): Promise<string[][]> {
    return this.access.read(({ connection }) => staleHeldRows(connection, requests));
  }

  /** L2: the tip of the conversation, and what was compressed into it. */
  inputOwnersExist(keys: readonly InputOwner[]): Promise<boolean[]> {
    const ids = keys.map(({ sessionId }) => sessionId);
    return this.graph(ids, (graph, { connection }) => {
      const placed = keys.map(({ sessionId, owner }) => {
        const session = graph.get(sessionId);
        const last = session === undefined ? undefined : tip(graph, session);
        const segments = last === undefined ? [] : [...chainAncestors(graph, last), last];
        return { sessionIds: segments.length === 0 ? [sessionId] : segments.map(({ id }) => id), owner };
      });
      return inputOwnersExist(connection, placed);
    });
  }

  platformMessagesExist(keys: readonly PlatformMessageKey[]): Promise<boolean[]> {
    return this.access.read(({ connection }) => platformMessageRows(connection, keys).map((rowIds) => rowIds.length > 0));
  }

  async transcripts(queries: readonly TranscriptQuery[]): Promise<(StoredTranscript | CaduceusError)[]> {
    const segments = await this.#withSegments(
      queries.map(({ sessionId, view }) => ({ sessionId, view: 'DISPLAY', scope: view === 'REPLAY' ? 'SEGMENT' : 'CONVERSATION' })),
    );
    const requests = queries.map(({ view }, index) => ({ view, sessionIds: segments[index]?.sessionIds ?? [] }));
    const largest = this.options.largestTranscript;
    const answers = await this.job({ kind: 'transcripts', requests, largest }, 'Reading the transcript');
    return answers.map((answer) => {
      if (answer === 'TOO_LARGE') return transcriptTooLarge(largest);
      const { messages, revision, repairCount } = answer;
      return {
        messages: messages.map((record) => this.storedMessage(record)),
        revision,
        repairCount,
        storeRevision: revision,
        source: 'STATE_DB',
        warnings: [],
      };
    });
  }

  openTranscripts(sessionsDir: string, requests: readonly OpenRequest[]): Promise<OpenAnswer[]> {
    return this.job({ kind: 'openTranscripts', sessionsDir, requests }, 'Reading the transcript');
  }

  protected storedMessage(record: MessageRecord): StoredMessage {
    return { ...record, profile: this.profile, copies: 1 };
  }
  #withSegments<Q extends MessagesQuery>(queries: readonly Q[]): Promise<(Q & { sessionIds: string[]; rows: number })[]> {
    const ids = queries.map((query) => query.sessionId);
    return this.graph(ids, (graph) =>
      queries.map((query) => {
        const entry = graph.get(query.sessionId);
        const conversation =
          entry !== undefined && query.scope === 'CONVERSATION' ? [...chainAncestors(graph, entry), ...chain(graph, entry)] : [];
        const entries = conversation.length > 0 ? conversation : entry === undefined ? [] : [entry];
        const sessionIds = entry === undefined ? [query.sessionId] : entries.map(({ id }) => id);
        return { ...query, sessionIds, rows: entries.reduce((sum, { stats }) => sum + (stats?.total ?? 0), 0) };
      }),
    );
  }

  #isLarge(requests: readonly { readonly rows: number }[]): boolean {
    return requests.reduce((sum, request) => sum + request.rows, 0) > LARGE_CONVERSATION;
  }
}

/** Of a transcript that is asked for whole. */
export function transcriptTooLarge(limit: number): CaduceusError {
  const text = `The transcript has more than ${limit} messages. Page through messages instead, or raise --max-transcript-messages.`;
  return new CaduceusError('TRANSCRIPT_TOO_LARGE', text, { details: { count: limit + 1, limit } });
}
