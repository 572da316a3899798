/** WebSocket clients of two kinds: the library, and the protocol spoken by hand. */
import { once } from 'node:events';
import { type Client, createClient } from 'graphql-ws';
import WebSocket from 'ws';
import type { TestServer } from './server.ts';

export function socketUrl(server: Pick<TestServer, 'graphql'>): string {
  return server.graphql.replace(/^http/, 'ws');
}

/** A graphql-ws client that is signed in. */
export function createSocketClient(server: TestServer, options: { lazy?: boolean } = {}): Client {
  return createClient({
    url: socketUrl(server),
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    lazy: options.lazy ?? true,
    connectionParams: { authorization: `Bearer ${server.token}` },
  });
}

export interface Subscription<T> {
  /** The next result. Rejects with the errors that ended the subscription. */
  readonly next: () => Promise<T>;
  /** Completes it. */
  readonly stop: () => void;
}

/** Subscribes, and gives its results one by one. */
export function subscribe<T>(client: Client, query: unknown, variables: Record<string, unknown> = {}): Subscription<T> {
  const iterator = client.iterate<T>({ query: String(query), variables });
  return {
    next: async () => {
      const { value, done } = await iterator.next();
      if (done) throw new Error('the subscription ended');
      const { data, errors } = value as { data?: T; errors?: unknown };
      if (errors !== undefined || data === undefined) throw new Error(`the result has errors: ${JSON.stringify(errors)}`);
      return data;
    },
    stop: () => void iterator.return?.(),
  };
}

export type Message = Readonly<Record<string, unknown>> & { readonly type?: string; readonly id?: string };

/** A socket on which a test says each message itself. */
export class RawSocket {
  readonly socket: WebSocket;
  readonly #received: Message[] = [];
  #wake: () => void = () => {};
  #closed: { code: number; reason: string } | null = null;

  constructor(server: Pick<TestServer, 'graphql'>, options: { headers?: Record<string, string>; protocol?: string } = {}) {
    const { headers = {}, protocol = 'graphql-transport-ws' } = options;
    this.socket = new WebSocket(socketUrl(server), protocol === '' ? [] : protocol, { headers });
    this.socket.on('message', (data) => {
      this.#received.push(JSON.parse(String(data)) as Message);
      this.#wake();
    });
    this.socket.on('close', (code, reason) => {
      this.#closed = { code, reason: String(reason) };
      this.#wake();
    });
    // A refused upgrade is an error and then a close.
    this.socket.on('error', () => {});
  }

  /** Opens and introduces itself with the token; gives the socket once it is acknowledged. */
  static async connect(server: TestServer, params: Record<string, unknown> = { token: server.token }): Promise<RawSocket> {
    const raw = new RawSocket(server);
    await raw.opened();
    raw.send({ type: 'connection_init', payload: params });
    const ack = await raw.next();
    if (ack.type !== 'connection_ack') throw new Error(`no acknowledgement: ${JSON.stringify(ack)}`);
    return raw;
  }

  /** Messages that came and were not asked for yet. */
  get received(): number {
    return this.#received.length;
  }

  async opened(): Promise<void> {
    if (this.socket.readyState !== WebSocket.OPEN) await once(this.socket, 'open');
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  subscribe(id: string, query: unknown, variables: unknown = {}): void {
    this.send({ id, type: 'subscribe', payload: { query: String(query), variables } });
  }

  /** The next message but pings, which are answered. Rejects when the socket is closed. */
  async next(): Promise<Message> {
    for (;;) {
      const message = this.#received.shift();
      if (message?.type === 'ping') this.send({ type: 'pong' });
      else if (message !== undefined) return message;
      else if (this.#closed !== null) throw new Error(`the socket was closed: ${this.#closed.code} ${this.#closed.reason}`);
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }

  /** How the socket ends. */
  async closed(): Promise<{ code: number; reason: string }> {
    while (this.#closed === null) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#closed;
  }
}

/** The status with which an upgrade is refused, or 101. */
export function upgradeStatus(server: Pick<TestServer, 'graphql'>, headers: Record<string, string>, path?: string): Promise<number> {
  const url = path === undefined ? socketUrl(server) : new URL(path, socketUrl(server)).href;
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, 'graphql-transport-ws', { headers });
    socket.on('open', () => {
      socket.terminate();
      resolve(101);
    });
    socket.on('unexpected-response', (_, response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
      socket.terminate();
    });
    socket.on('error', reject);
  });
}
