/**
 * GraphQL over WebSocket (graphql-transport-ws) on the same engine. The socket has its own checks, since nothing of HTTP's applies to it.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ExecutionResult, GraphQLError } from 'graphql';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL, makeServer } from 'graphql-ws';
import type { Logger } from 'pino';
import { WebSocketServer } from 'ws';
import { bindSocket, type SocketFacts } from './bind-socket.ts';
import { type Delivery, deliver, withoutHttp } from './deliver.ts';
import { type Engine, type EngineContext, loggable, type Operation, type Prepared } from './engine.ts';
import type { Gate } from './gate.ts';

export interface GraphQLWsOptions {
  readonly path: string;
  readonly maxBodyBytes: number;
  readonly maxSubscriptions: number;
  readonly log: Logger;
}

/** What a client may send with `connection_init`: the token, where it can't set headers. */
interface ConnectionParams extends Record<string, unknown> {
  readonly authorization?: unknown;
  readonly token?: unknown;
}

/** How long a client may take to introduce itself, how often it is asked whether it is still there, and how long it may take to leave. */
const INIT_WAIT_MS = 5000;
const PING_MS = 12_000;
const LEAVE_WAIT_MS = 1000;

export class GraphQLWs<C extends EngineContext> {
  readonly #sockets: WebSocketServer;

  constructor(server: Server, engine: Engine<C>, gate: Gate, options: GraphQLWsOptions) {
    const { schema } = engine;
    this.#sockets = new WebSocketServer({
      noServer: true,
      maxPayload: options.maxBodyBytes,
      handleProtocols: (protocols) => (protocols.has(GRAPHQL_TRANSPORT_WS_PROTOCOL) ? GRAPHQL_TRANSPORT_WS_PROTOCOL : false),
    });
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      // Node.js takes its own listener off before an upgrade: without one, a client that resets the connection ends the process.
      socket.on('error', () => socket.destroy());
      const path = (request.url ?? '/').split('?', 1)[0];
      const refused = path === options.path ? gate.refuseAddress(request.headers) : NOT_HERE;
      if (refused !== null) return refuse(socket, refused.status);
      this.#sockets.handleUpgrade(request, socket, head, (client) =>
        bindSocket(protocol, client, request, { log: options.log, pingMs: PING_MS }),
      );
    });
    const protocol = makeServer<ConnectionParams, SocketFacts>({
      connectionInitWaitTimeout: INIT_WAIT_MS,
      onConnect: ({ connectionParams, extra }) => {
        if (gate.isSignedIn(extra.request.headers)) return true;
        return gate.isToken(connectionParams?.authorization ?? connectionParams?.token);
      },
      onSubscribe: ({ subscriptions, extra }, id, { query, operationName, variables }) => {
        if (Object.keys(subscriptions).length > options.maxSubscriptions) return [tooMany(options.maxSubscriptions)];
        const operation: Operation = { query, operationName, variables };
        const abort = new AbortController();
        const prepared = engine.prepare(operation, abort.signal);
        if (prepared.kind === 'REFUSED') return prepared.errors;
        const contextValue: Running = { prepared, operation, delivery: { id, send: extra.send, abort } };
        return {
          schema,
          document: prepared.document,
          operationName: operationName ?? null,
          variableValues: variables ?? {},
          contextValue,
        };
      },
      execute: ({ contextValue }) => run(engine, contextValue as Running),
      subscribe: ({ contextValue }) => run(engine, contextValue as Running),
      // Without errors the result goes out as it is.
      onNext: (_, __, ___, ____, { errors, data = null, extensions = {} }) =>
        errors === undefined ? undefined : { data, extensions, errors: errors.map(withoutHttp) },
    });
  }

  get connections(): number {
    return this.#sockets.clients.size;
  }

  async close(): Promise<void> {
    const clients = [...this.#sockets.clients];
    for (const client of clients) client.close(GOING_AWAY, 'Going away');
    // One that doesn't answer must not keep the server from ending.
    const impatient = setTimeout(() => {
      for (const client of clients) client.terminate();
    }, LEAVE_WAIT_MS);
    await new Promise((resolve) => this.#sockets.close(resolve));
    clearTimeout(impatient);
  }
}

const GOING_AWAY = 1001;
const NOT_HERE = { status: 404 } as const;
const REASONS: Readonly<Record<number, string>> = { 403: 'Forbidden', 404: 'Not Found', 421: 'Misdirected Request' };

function refuse(socket: Duplex, status: number): void {
  socket.end(`HTTP/1.1 ${status} ${REASONS[status] ?? 'Refused'}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

interface Running {
  readonly prepared: Extract<Prepared, { kind: 'READY' }>;
  readonly operation: Operation;
  readonly delivery: Delivery;
}

/** The library hands back what `onSubscribe` gave it. */
async function run<C extends EngineContext>(
  engine: Engine<C>,
  { prepared, operation, delivery }: Running,
): Promise<ExecutionResult | AsyncIterable<ExecutionResult>> {
  const facts = { transport: 'ws', ...loggable(operation) };
  const result = await engine.logged(facts, prepared.run, (value) => 'errors' in value && (value.errors?.length ?? 0) > 0);
  return Symbol.asyncIterator in result ? deliver(result, delivery) : result;
}

function tooMany(limit: number): GraphQLError {
  const text = `One socket may run ${limit} operations at once. Complete some, or raise --max-subscriptions.`;
  return new GraphQLError(text, { extensions: { code: 'TOO_MANY_SUBSCRIPTIONS', limit, setting: '--max-subscriptions' } });
}
