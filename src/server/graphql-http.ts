/**
 * GraphQL over HTTP. Queries by POST and GET are answered here without more ado; event streams go through Yoga.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ExecutionResult, GraphQLError } from 'graphql';
import { type Engine, type EngineContext, loggable, type Operation } from './engine.ts';
import { readBody } from './read-body.ts';

export interface GraphQLHttpOptions {
  readonly maxBodyBytes: number;
  readonly maxBatch: number;
}

type Answer = { readonly data?: unknown; readonly errors?: readonly unknown[] };

export class GraphQLHttp<C extends EngineContext> {
  readonly #engine: Engine<C>;
  readonly #options: GraphQLHttpOptions;

  constructor(engine: Engine<C>, options: GraphQLHttpOptions) {
    this.#engine = engine;
    this.#options = options;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = request.method === 'POST' ? await readBody(request, this.#options.maxBodyBytes) : null;
    if (body === 'TOO_LARGE') {
      const limit = this.#options.maxBodyBytes;
      // The rest of the body is not read, so the connection can't be used again.
      response.setHeader('connection', 'close');
      return send(
        response,
        413,
        refusal('BODY_TOO_LARGE', `The request is larger than ${limit} bytes. Send less, or raise --max-body-bytes.`),
      );
    }
    const asked = body === null ? operationInUrl(request) : parseBody(body);
    if (asked === null) return send(response, 400, refusal('BAD_REQUEST', body === null ? BAD_URL : BAD_BODY));
    const accept = request.headers.accept ?? '';
    if (!Array.isArray(asked) && (accept.includes('text/event-stream') || accept.includes('multipart/mixed'))) {
      // Yoga takes a body that was read already from this property.
      if (body !== null) Object.assign(request, { body });
      return this.#viaYoga(request, response, asked);
    }
    await this.#answer(asked, request, response);
  }

  async #answer(asked: Operation | Operation[], request: IncomingMessage, response: ServerResponse): Promise<void> {
    const batch = Array.isArray(asked);
    const operations = batch ? asked : [asked];
    if (operations.length > this.#options.maxBatch || operations.length === 0) {
      return send(
        response,
        413,
        refusal('BATCH_TOO_LARGE', `A request may hold 1 to ${this.#options.maxBatch} operations. Send fewer, or raise --max-batch.`),
      );
    }
    const client = new AbortController();
    response.on('close', () => {
      if (!response.writableFinished) client.abort();
    });
    const mayChange = request.method === 'POST';
    const answers = await Promise.all(operations.map((operation) => this.#run(operation, mayChange, client.signal)));
    if (response.destroyed) return;
    const strict = (request.headers.accept ?? '').includes('application/graphql-response+json');
    const status = answers[0] === NEEDS_POST ? 405 : strict && !batch && answers[0]?.data === undefined ? 400 : 200;
    const type = strict ? 'application/graphql-response+json; charset=utf-8' : 'application/json; charset=utf-8';
    send(response, status, batch ? answers : (answers[0] ?? {}), type);
  }

  async #run(operation: Operation, mayChange: boolean, signal: AbortSignal): Promise<Answer> {
    const prepared = this.#engine.prepare(operation, signal);
    if (prepared.kind === 'REFUSED') return { errors: prepared.errors };
    if (prepared.type === 'mutation' && !mayChange) return NEEDS_POST;
    if (prepared.type === 'subscription') {
      return refusal('SUBSCRIPTION_NEEDS_STREAM', 'Subscribe over WebSocket, or with "Accept: text/event-stream".');
    }
    const facts = { transport: 'http', ...loggable(operation) };
    const result = await this.#engine.logged(
      facts,
      prepared.run,
      (value) => !(Symbol.asyncIterator in value) && (value.errors?.length ?? 0) > 0,
    );
    return result as ExecutionResult;
  }

  async #viaYoga(request: IncomingMessage, response: ServerResponse, operation: Operation): Promise<void> {
    // For proxies: pass each event on as it comes (field-cases F86).
    response.setHeader('x-accel-buffering', 'no');
    const facts = { transport: request.headers.accept?.includes('text/event-stream') ? 'sse' : 'multipart', ...loggable(operation) };
    await this.#engine.logged(
      facts,
      async () => this.#engine.yoga(request, response),
      () => response.statusCode >= 400,
    );
  }
}

const BAD_BODY = 'The body must be a JSON object with "query", or a list of such.';
const BAD_URL = 'The address must hold "query", and "variables" as a JSON object if there are any.';

/** The operation of a GET request; null for what is none. */
function operationInUrl(request: IncomingMessage): Operation | null {
  const [, search = ''] = /\?(.*)$/s.exec(request.url ?? '') ?? [];
  const parameters = new URLSearchParams(search);
  const variables = parameters.get('variables') || null;
  try {
    const operation: unknown = {
      query: parameters.get('query'),
      operationName: parameters.get('operationName'),
      variables: variables === null ? null : JSON.parse(variables),
    };
    return isOperation(operation) ? operation : null;
  } catch {
    return null;
  }
}

function parseBody(body: string): Operation | Operation[] | null {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return null;
  }
  if (Array.isArray(value)) return value.every(isOperation) ? value : null;
  return isOperation(value) ? value : null;
}

function isOperation(value: unknown): value is Operation {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { query, operationName, variables } = value as Record<string, unknown>;
  const isText = operationName === undefined || operationName === null || typeof operationName === 'string';
  const isObject = variables === undefined || variables === null || (typeof variables === 'object' && !Array.isArray(variables));
  return typeof query === 'string' && isText && isObject;
}

const NEEDS_POST: Answer = refusal('MUTATION_NEEDS_POST', 'Send mutations by POST.');

export function refusal(code: string, message: string): { errors: GraphQLError[] } {
  return { errors: [new GraphQLError(message, { extensions: { code } })] };
}

export function send(response: ServerResponse, status: number, value: unknown, type = 'application/json; charset=utf-8'): void {
  const text = JSON.stringify(value);
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text), 'cache-control': 'no-store' });
  response.end(text);
}
