/**
 * A conversation that is followed while another process writes.
 *
 *   const test = await follow({ rows: [S('a'), M('a')] }, 'a');
 *   await test.writer.exec('...');
 *   expect(await test.pass()).toEqual(['MessagesAppended 2']);
 */
import { afterAll } from 'vitest';
import { ConversationRows, type FollowOptions, type Pass } from '../../../src/live/rows/conversation-rows.ts';
import type { RowEvent, RowEventKind, RowEventOf } from '../../../src/live/rows/events.ts';
import type { StateDbStore } from '../../../src/state-db/store.ts';
import { openStore } from '../../support/open-store.ts';
import { buildStore, type Cell, removeStores, type StoreSpec } from '../../support/stores.ts';
import { startWriter, type Writer } from '../../support/writer.ts';

/** The wall clock of the tests; rows of `M` have the times 1, 2, ... and are old by it. */
export const NOW = 1_900_000_000;

const writers: Writer[] = [];
afterAll(async () => {
  for (const writer of writers.splice(0)) await writer.close();
  removeStores();
});

export class Following {
  readonly store: StateDbStore;
  readonly writer: Writer;
  readonly path: string;
  /** Everything that was told so far. */
  readonly told: RowEvent[] = [];
  rows: ConversationRows;
  last: Pass | null = null;
  readonly #clock: { now: number };

  private constructor(store: StateDbStore, writer: Writer, path: string, rows: ConversationRows, clock: { now: number }) {
    this.store = store;
    this.writer = writer;
    this.path = path;
    this.rows = rows;
    this.#clock = clock;
  }

  /** Epoch seconds, for the store and the follower. */
  get now(): number {
    return this.#clock.now;
  }

  set now(now: number) {
    this.#clock.now = now;
  }

  static async begin(spec: StoreSpec | string, sessionId: string, options: FollowOptions = {}): Promise<Following> {
    const path = typeof spec === 'string' ? spec : buildStore(spec);
    const clock = { now: NOW };
    const store = openStore(path, { now: () => clock.now });
    const writer = await startWriter(path);
    writers.push(writer);
    const times = { now: () => clock.now, clock: () => clock.now * 1000 };
    const rows = await ConversationRows.start(store, sessionId, { ...times, ...options });
    return new Following(store, writer, path, rows, clock);
  }

  /** Goes on from a position with a new follower, as after a restart. */
  async resume(sessionId: string, position = this.rows.position, options: FollowOptions = {}) {
    const times = { now: () => this.now, clock: () => this.now * 1000 };
    const resumed = await ConversationRows.resume(this.store, sessionId, position, { ...times, ...options });
    this.rows = resumed.rows;
    return resumed;
  }

  /** One pass after another until nothing is left to tell; `seconds` pass before, one by default, so that lengths are compared. */
  async events(seconds = 1): Promise<RowEvent[]> {
    this.now += seconds;
    const found: RowEvent[] = [];
    do {
      this.last = await this.rows.pass();
      found.push(...this.last.events);
    } while (this.last.more);
    this.told.push(...found);
    return found;
  }

  /** The same, each event in a few words. */
  async pass(seconds = 1): Promise<string[]> {
    return (await this.events(seconds)).map(brief);
  }

  /** Runs statements in one commit of the other process. */
  async commit(...statements: (string | readonly [sql: string, ...params: Cell[]])[]): Promise<void> {
    await this.writer.transaction(statements);
  }
}

export function follow(spec: StoreSpec | string, sessionId: string, options: FollowOptions = {}): Promise<Following> {
  return Following.begin(spec, sessionId, options);
}

export function eventsOf<K extends RowEventKind>(events: readonly RowEvent[], kind: K): RowEventOf<K>[] {
  return events.filter((event): event is RowEvent & RowEventOf<K> => event.kind === kind);
}

/** Without what only says how things stand. */
export function content(events: readonly RowEvent[]): string[] {
  return events.filter((event) => event.class === 'CONTENT').map(brief);
}

/** Kind and the fields that a reader of a test wants to see. */
export function brief(event: RowEvent): string {
  const words: unknown[] = (() => {
    switch (event.kind) {
      case 'TurnStarted':
        return [event.platform, event.userMessageId];
      case 'TurnEnded':
        return [event.outcome, event.certainty, event.evidence, `${event.firstMessageId}..${event.lastMessageId}`];
      case 'MessagesAppended':
        return [...event.ids, ...event.carried.map(({ oldId }) => `copies ${oldId}`)];
      case 'MessagesUpdated':
        return [event.ids.join(','), event.cause, event.fields.join(',')];
      case 'MessagesRetracted':
      case 'MessagesRestored':
        return [event.ids.join(','), event.cause];
      case 'TranscriptReplaced':
        return [event.newIds.join(',')];
      case 'TranscriptCompacted':
        return [`archived ${event.archivedCount}`, `summaries ${event.summaryIds.join(',')}`, `carried ${pairs(event.carried)}`];
      case 'SessionContinued':
        return [`${event.fromSessionId}>${event.toSessionId}`, `handoff ${event.handoffIds.join(',')}`, `carried ${pairs(event.carried)}`];
      case 'ToolStarted':
        return [event.name, event.messageId];
      case 'ToolFinished':
        return [event.name, event.messageId, event.isError];
      case 'SessionChanged':
        return [event.changed.join(',')];
      case 'TitleChanged':
        return [event.title];
      case 'UsageChanged':
        return [event.usage.inputTokens, event.usage.outputTokens, event.final ? 'final' : 'running'];
      case 'CompressionFailed':
        return [event.error];
      case 'ActivityHeartbeat':
        return [event.description];
      case 'DelegationStarted':
        return [event.delegationId, event.childSessionId, event.toolCallId, event.background ? 'background' : 'waited for'];
      case 'DelegationProgress':
        return [event.delegationId, event.childSessionId, event.messageCount, event.lastTool, event.deliveredMessageId].filter(
          (word) => word !== null,
        );
      case 'DelegationFinished':
        return [event.delegationId, event.status, event.summary];
      default:
        return [];
    }
  })();
  return [event.kind, ...words.map(String)].join(' ');
}

function pairs(carried: readonly { oldId: string; newId: string }[]): string {
  return carried.map(({ oldId, newId }) => `${oldId}>${newId}`).join(',');
}
