/**
 * A front end that follows one conversation whatever happens to it and to the server: it folds frames, keeps the cursor of the last one, reads
 * over HTTP the bodies of messages that it was told of, and goes on from its cursor by another way each time.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { FOLLOW_TURN, FOLLOWED_FRAME, type Frame } from '../../examples/live-documents.ts';
import { liveIds, shownIds } from '../../examples/transcript-view.ts';
import { applyFrame, emptyView, type Turn, takeMessages, type View } from '../../examples/turn-view.ts';
import type { SeededRandom } from '../../src/demo/random.ts';
import { eventStream } from './http.ts';
import type { TestServer } from './server.ts';
import { createSocketClient } from './sockets.ts';

export interface Body {
  readonly rowId: string;
  readonly rawRole: string;
  readonly text: string;
  readonly reasoning: string | null;
  readonly toolCallId: string | null;
  readonly toolName: string | null;
  readonly toolCalls: readonly { readonly toolCallId: string; readonly name: string; readonly rawArguments: string | null }[];
}

export const BODY_FIELDS = 'rowId rawRole text reasoning toolCallId toolName toolCalls { toolCallId name rawArguments }';
const STATES = { LIVE: 'LIVE', ARCHIVED: 'ARCHIVED', REWOUND: 'HIDDEN' } as const;
const ROWS = `query EveryRow($id: String!, $after: String) { session(sessionId: $id) { messages(view: AUDIT, first: 200, after: $after) {
  pageInfo { hasNextPage endCursor } nodes { rowId state session { sessionId } } } } }`;
const POLL = `${FOLLOWED_FRAME} query PollOn($sessionId: String!, $after: LiveCursor!, $first: Int) {
  liveEvents(sessionId: $sessionId, after: $after, first: $first) { ...FollowedFrame } }`;
const BODIES_AT_A_TIME = 50;

/** `turnId`: of a snapshot the turn that it shows, if any. `at`: epoch seconds, when it was told. */
export interface Told {
  readonly kind: 'STARTED' | 'ENDED' | 'SNAPSHOT';
  readonly turnId: string | null;
  readonly at: number;
}

interface RowsAnswer {
  readonly session: {
    readonly messages: {
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
      readonly nodes: readonly {
        readonly rowId: string;
        readonly state: keyof typeof STATES;
        readonly session: { readonly sessionId: string };
      }[];
    };
  } | null;
}

export class LiveReader {
  readonly view: View = emptyView();
  cursor: string | null = null;
  /** Every turn that was told of, in the order of their beginnings, by its last id. */
  readonly turns = new Map<string, Turn>();
  readonly bodies = new Map<string, Body>();
  /** Ids of content, and those that came again. */
  readonly contentIds = new Set<string>();
  readonly repeated: string[] = [];
  /** Beginnings and ends of turns, and snapshots that took the place of what was told, in order. */
  readonly trail: Told[] = [];
  /** When what was told did not hold any more, and why (epoch seconds). */
  readonly resets: { readonly at: number; readonly reason: string }[] = [];
  readonly kinds = new Map<string, number>();
  frames = 0;
  attempts = 0;
  readonly #sessionId: string;
  readonly #server: () => TestServer | null;
  readonly #random: SeededRandom;

  /** `server`: null while there is none. */
  constructor(sessionId: string, server: () => TestServer | null, random: SeededRandom) {
    this.#sessionId = sessionId;
    this.#server = server;
    this.#random = random;
  }

  get liveIds(): string[] {
    return liveIds(this.view.transcript);
  }

  get shownIds(): string[] {
    return shownIds(this.view.transcript);
  }

  /** Whether bodies or rows have still to be read. */
  get owes(): boolean {
    return this.view.mustReread || this.view.transcript.unread.size > 0;
  }

  /** Follows for so long as the signal lets it; cut off again and again. Throws what no front end could go on from. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.attempts += 1;
      const cut = AbortSignal.any([signal, AbortSignal.timeout(Math.round(this.#random.between(20, 3000)))]);
      const server = this.#server();
      const ways = [this.#overSocket, this.#overEvents, ...(this.cursor === null ? [] : [this.#byPolling])];
      const way = ways[Math.floor(this.#random.next() * ways.length)] ?? this.#overSocket;
      if (server !== null) await way.call(this, server, cut);
      await sleep(this.#random.between(0, 150));
    }
  }

  /** Reads what the view asks for. False when the server didn't answer. */
  async readBodies(server: TestServer): Promise<boolean> {
    const { transcript } = this.view;
    if (this.view.mustReread) {
      const rows = await this.#everyRow(server);
      if (rows === null) return false;
      takeMessages(this.view, rows);
      for (const { id } of rows) transcript.unread.add(id);
    }
    while (transcript.unread.size > 0) {
      const ids = [...transcript.unread].slice(0, BODIES_AT_A_TIME);
      const query = `{ ${ids.map((id, index) => `m${index}: message(rowId: "${id}") { ${BODY_FIELDS} }`).join(' ')} }`;
      const answer = await server.query<Record<string, Body | null>, unknown>(query).catch(() => null);
      if (answer?.data == null || answer.errors.length > 0) return false;
      for (const [index, id] of ids.entries()) {
        const body = answer.data[`m${index}`];
        if (body != null) this.bodies.set(id, body);
        transcript.unread.delete(id);
      }
    }
    return true;
  }

  async #everyRow(server: TestServer): Promise<{ id: string; sessionId: string; state: 'LIVE' | 'ARCHIVED' | 'HIDDEN' }[] | null> {
    const rows = [];
    for (let after: string | null = null; ; ) {
      const id = this.view.transcript.tip || this.#sessionId;
      const answer = await server.query<RowsAnswer, unknown>(ROWS, { id, after }).catch(() => null);
      if (answer?.data == null || answer.errors.length > 0) return null;
      const { session } = answer.data as RowsAnswer;
      for (const node of session?.messages.nodes ?? [])
        rows.push({ id: node.rowId, sessionId: node.session.sessionId, state: STATES[node.state] });
      if (session?.messages.pageInfo.hasNextPage !== true) return rows;
      after = session.messages.pageInfo.endCursor;
    }
  }

  async #take(server: TestServer, frame: Frame): Promise<void> {
    for (const event of frame.events) {
      applyFrame(this.view, { events: [event] });
      this.#note(event);
    }
    // Reading waits for the next frame when the server is gone.
    this.cursor = frame.cursor;
    this.frames += 1;
    await this.readBodies(server);
  }

  #note(event: Frame['events'][number]): void {
    this.kinds.set(event.__typename, (this.kinds.get(event.__typename) ?? 0) + 1);
    if (event.class === 'CONTENT') {
      if (this.contentIds.has(event.id)) this.repeated.push(event.id);
      this.contentIds.add(event.id);
    }
    const at = Date.now() / 1000;
    if (event.__typename === 'TurnStarted' && event.class === 'CONTENT') this.trail.push({ kind: 'STARTED', turnId: event.turnId, at });
    if (event.__typename === 'TurnEnded') this.trail.push({ kind: 'ENDED', turnId: event.turnId, at });
    if (event.__typename === 'StreamReset') this.resets.push({ at, reason: event.resetReason });
    if (event.__typename === 'LiveSnapshot' && event.reason !== 'INITIAL') {
      this.trail.push({ kind: 'SNAPSHOT', turnId: event.turn?.turnId ?? null, at });
      if (event.reason !== 'RESET') this.resets.push({ at, reason: event.reason });
    }
    for (const turn of this.view.turns) this.turns.set(turn.turnId, turn);
  }

  #variables() {
    const pick = <T>(of: readonly T[]): T | undefined => of[Math.floor(this.#random.next() * of.length)];
    const options = { coalesceMs: pick([0, 50, 50, 400]), maxFrameBytes: pick([4096, 262_144]) };
    return { sessionId: this.#sessionId, after: this.cursor, options };
  }

  async #overSocket(server: TestServer, cut: AbortSignal): Promise<void> {
    const client = createSocketClient(server);
    let isConnected = false;
    // A socket that is closed before it is open reports that as a failure which nobody can catch.
    const leave = () => {
      if (isConnected) client.terminate();
    };
    cut.addEventListener('abort', leave);
    client.on('connected', () => {
      isConnected = true;
      if (cut.aborted) client.terminate();
    });
    try {
      for await (const { data, errors } of client.iterate<{ liveTurn: Frame }>({
        query: String(FOLLOW_TURN),
        variables: this.#variables(),
      })) {
        if (data == null) throw new Error(`refused: ${JSON.stringify(errors)}`);
        await this.#take(server, data.liveTurn);
        if (cut.aborted) return;
      }
    } catch (error) {
      rethrowUnlessGone(error);
    } finally {
      cut.removeEventListener('abort', leave);
      await client.dispose();
    }
  }

  async #overEvents(server: TestServer, cut: AbortSignal): Promise<void> {
    try {
      const stream = await eventStream(server, FOLLOW_TURN, this.#variables());
      cut.addEventListener('abort', stream.leave);
      if (cut.aborted) stream.leave();
      for (let event = await stream.next(); event !== null && event.event === 'next' && !cut.aborted; event = await stream.next()) {
        const { data, errors } = event.data as { data?: { liveTurn: Frame } | null; errors?: unknown };
        if (data == null) throw new Error(`refused: ${JSON.stringify(errors)}`);
        await this.#take(server, data.liveTurn);
      }
    } catch (error) {
      rethrowUnlessGone(error);
    }
  }

  async #byPolling(server: TestServer, cut: AbortSignal): Promise<void> {
    while (!cut.aborted) {
      const first = Math.ceil(this.#random.between(0, 200));
      const variables = { sessionId: this.#sessionId, after: this.cursor, first };
      const answer = await server.query<{ liveEvents: Frame }, unknown>(POLL, variables).catch(() => null);
      if (answer === null) return;
      if (answer.data === null) throw new Error(`refused: ${JSON.stringify(answer.errors)}`);
      await this.#take(server, answer.data.liveEvents);
      if (!answer.data.liveEvents.catchUp) await sleep(this.#random.between(10, 200));
    }
  }
}

/** What connections throw that were cut; everything else is a failure. */
function rethrowUnlessGone(error: unknown): void {
  if (!(error instanceof Error)) {
    if (Array.isArray(error)) throw new Error(`refused: ${JSON.stringify(error)}`);
    return;
  }
  const isGone =
    error.name === 'AbortError' || error instanceof TypeError || /\bterminated|closed|ECONN|socket hang up/i.test(error.message);
  if (!isGone) throw error;
}
