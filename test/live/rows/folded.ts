/**
 * What a client makes of the events: the rows that he shows, folded from a first picture. Written from the events' documentation alone.
 */
import type { RowEvent } from '../../../src/live/rows/events.ts';
import type { SessionStore, StoredMessage } from '../../../src/session-store.ts';
import { projectLogicalMessages } from '../../../src/state-db/logical-message.ts';
import type { MessageView } from '../../../src/state-db/visibility.ts';

type State = 'LIVE' | 'ARCHIVED' | 'HIDDEN';

export class FoldedTranscript {
  readonly #rows = new Map<string, { sessionId: string; state: State; group: string }>();
  #tip: string;

  private constructor(tip: string) {
    this.#tip = tip;
  }

  static async of(store: SessionStore, sessionId: string): Promise<FoldedTranscript> {
    const conversation = (await store.conversations([sessionId])).get(sessionId);
    const folded = new FoldedTranscript(conversation?.tip.id ?? sessionId);
    const rows = await everyMessage(store, sessionId, 'AUDIT', 'CONVERSATION');
    for (const row of rows) {
      const state = row.state === 'REWOUND' ? 'HIDDEN' : row.state;
      folded.#rows.set(row.rowId, { sessionId: row.sessionId, state, group: row.rowId });
    }
    for (const { rowIds } of projectLogicalMessages(rows)) for (const id of rowIds) folded.#join(rowIds[0] ?? id, id);
    return folded;
  }

  get tip(): string {
    return this.#tip;
  }

  apply(event: RowEvent): void {
    const { sessionId } = event;
    switch (event.kind) {
      case 'MessagesAppended':
        for (const id of event.ids) this.#set(id, sessionId, 'LIVE');
        this.#carry(event.carried);
        return;
      case 'MessagesRetracted':
        for (const id of event.ids) this.#set(id, sessionId, 'HIDDEN');
        return;
      case 'MessagesRestored':
        for (const id of event.ids) this.#set(id, sessionId, 'LIVE');
        this.#carry(event.carried);
        return;
      case 'TranscriptReplaced':
        for (const row of this.#rows.values()) if (row.sessionId === sessionId && row.state === 'LIVE') row.state = 'HIDDEN';
        for (const id of event.newIds) this.#set(id, sessionId, 'LIVE');
        this.#carry(event.carried);
        return;
      case 'TranscriptCompacted':
        for (const { oldId, newId, retired } of event.carried) {
          this.#set(newId, sessionId, 'LIVE');
          this.#set(oldId, sessionId, retired ? 'HIDDEN' : 'ARCHIVED');
        }
        for (const id of event.summaryIds) this.#set(id, sessionId, 'LIVE');
        for (const id of event.archivedIds) this.#set(id, sessionId, 'ARCHIVED');
        this.#carry(event.carried);
        return;
      case 'SessionContinued':
        for (const id of [...event.handoffIds, ...event.carried.map(({ newId }) => newId)]) this.#set(id, event.toSessionId, 'LIVE');
        this.#tip = event.toSessionId;
        this.#carry(event.carried);
        return;
      default:
        return;
    }
  }

  /** Ids of what the model holds. */
  live(): string[] {
    return [...this.#rows].flatMap(([id, row]) => (row.sessionId === this.#tip && row.state === 'LIVE' ? [id] : [])).sort(byNumber);
  }

  /** Ids of what people read: of each message one copy, a live one before an archived one, then the newest, in the place of the oldest. */
  display(): string[] {
    const visible = [...this.#rows].filter(([, row]) => row.state !== 'HIDDEN').sort(([a], [b]) => byNumber(a, b));
    const groups = [...Map.groupBy(visible, ([, row]) => row.group).values()];
    return groups.flatMap((group) => (group.findLast(([, row]) => row.state === 'LIVE') ?? group.at(-1))?.[0] ?? []);
  }

  #set(id: string, sessionId: string, state: State): void {
    const known = this.#rows.get(id);
    if (known === undefined) this.#rows.set(id, { sessionId, state, group: id });
    else known.state = state;
  }

  #carry(carried: readonly { oldId: string; newId: string }[]): void {
    for (const { oldId, newId } of carried) this.#join(oldId, newId);
  }

  #join(oldId: string, newId: string): void {
    const [group, other] = [this.#rows.get(oldId)?.group, this.#rows.get(newId)?.group];
    if (group === undefined || other === undefined) return;
    for (const row of this.#rows.values()) if (row.group === other) row.group = group;
  }
}

function byNumber(a: string, b: string): number {
  return Number(a) - Number(b);
}

/** All messages of a view, page by page. */
export async function everyMessage(
  store: SessionStore,
  sessionId: string,
  view: MessageView,
  scope: 'SEGMENT' | 'CONVERSATION',
): Promise<StoredMessage[]> {
  const found: StoredMessage[] = [];
  for (let after: string | null = null; ; ) {
    const page = { size: 200, direction: 'FORWARD', after, before: null } as const;
    const [answer] = await store.messagePages([{ sessionId, view, scope, page }]);
    found.push(...(answer?.items ?? []).map(({ node }) => node));
    after = answer?.items.at(-1)?.cursor ?? null;
    if (answer?.hasNextPage !== true) return found;
  }
}
