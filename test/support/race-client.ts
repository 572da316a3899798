/**
 * Clients of one server that write at the same time as others: each remembers what it was answered, in order.
 */
import type { TestServer } from './server.ts';

/** What a client was told of one message. */
export interface Acknowledged {
  readonly client: string;
  /** The session it named. */
  readonly sessionId: string;
  readonly messageUid: string;
  readonly content: string;
  readonly status: 'COMMITTED' | 'DUPLICATE' | 'QUEUED';
}

export type Payload = Readonly<Record<string, unknown>>;

/** Refusals that the other writers can cause at any time; everything else is a fault. */
const EXPECTED: ReadonlySet<string> = new Set([
  'STORE_BUSY',
  'CONFLICT',
  'NOT_FOUND',
  'COMPRESSION_IN_PROGRESS',
  'LEASE_HELD',
  'TURN_LEASE_LOST',
  'SESSION_BUSY',
  'SESSION_CLOSED',
  'SESSION_ROW_MISSING',
  'SESSION_WRITE_GUARDED',
  'ROW_VERSION_CONFLICT',
  'ROW_NOT_LIVE',
  'TRANSCRIPT_CHANGED',
  'NOTHING_TO_REWIND',
  'DELETE_SET_CHANGED',
  'CASCADE_CHANGED',
  'TITLE_IN_USE',
]);

export class RaceClient {
  readonly acknowledged: Acknowledged[] = [];
  /** How often each answer came. */
  readonly answers = new Map<string, number>();
  readonly unexpected: string[] = [];
  readonly #name: string;
  readonly #server: TestServer;
  #sent = 0;

  constructor(name: string, server: TestServer) {
    this.#name = name;
    this.#server = server;
  }

  /** Runs a mutation; gives its payload, or null for a refusal. */
  async run(name: string, selection: string, input: Payload): Promise<Payload | null> {
    const upper = name.charAt(0).toUpperCase() + name.slice(1);
    const document = `mutation ($input: ${upper}Input!) { answer: ${name}(input: $input) {
      ... on ${upper}Payload { ${selection} } ... on UserError { code message details } } }`;
    const { data, errors } = await this.#server.query<{ answer: Payload }, unknown>(document, { input });
    const code = data?.answer.code;
    this.#count(`${name} ${String(code ?? data?.answer.status ?? 'done')}`);
    if (data === null || (code !== undefined && !EXPECTED.has(String(code)))) {
      this.unexpected.push(`${name} ${JSON.stringify(input)}: ${JSON.stringify(data?.answer ?? errors)}`);
    }
    return code === undefined ? (data?.answer ?? null) : null;
  }

  /** Sends one message and remembers what became of it. `again`: how often the same request is repeated. */
  async append(
    sessionId: string,
    more: { readonly role?: string; readonly leaseToken?: string; readonly again?: number } = {},
  ): Promise<void> {
    const { role = 'user', leaseToken, again = 0 } = more;
    const content = `${this.#name} ${++this.#sent}`;
    const key = this.#sent % 2 === 0 ? { messageUid: `${this.#name}-${this.#sent}` } : { clientMutationId: `${this.#name}-${this.#sent}` };
    const message = { role, content: role === 'tool' ? `${content} ${'long '.repeat(50)}` : content };
    const input = { sessionId, message, ...key, ...(leaseToken === undefined ? {} : { leaseToken }) };
    for (let round = 0; round <= again; round++) {
      const answer = await this.run('appendMessage', 'status messageUid', input);
      if (answer === null || round > 0) continue;
      const { messageUid, status } = answer as Pick<Acknowledged, 'messageUid' | 'status'>;
      this.acknowledged.push({ client: this.#name, sessionId, messageUid, content: message.content, status });
    }
  }

  /** A question and its answer at once. */
  async appendBatch(sessionId: string): Promise<void> {
    const messages = ['user', 'assistant'].map((role) => {
      const content = `${this.#name} ${++this.#sent}`;
      return { role, content, messageUid: content };
    });
    if ((await this.run('appendMessages', 'inserted { rowId }', { sessionId, messages })) === null) return;
    for (const { content, messageUid } of messages)
      this.acknowledged.push({ client: this.#name, sessionId, messageUid, content, status: 'COMMITTED' });
  }

  /** What lies in a row now. */
  async versionOf(rowId: string): Promise<string | null> {
    const { data } = await this.#server.query<{ message: { rowVersion: string } | null }, unknown>(
      'query ($rowId: ID!) { message(rowId: $rowId) { rowVersion } }',
      { rowId },
    );
    return data?.message?.rowVersion ?? null;
  }

  #count(answer: string): void {
    this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1);
  }
}
