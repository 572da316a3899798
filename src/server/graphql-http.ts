/**
 * GraphQL over HTTP. POST with JSON, the common case, is answered here without more ado; GET and event streams go through Yoga.
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
    const accept = request.headers.accept ?? '';
    if (request.method !== 'POST') return this.#viaYoga(request, response, operationInUrl(request));
    const body = await readBody(request, this.#options.maxBodyBytes);
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
    if (accept.includes('text/event-stream') || accept.includes('multipart/mixed')) {
      // Yoga takes a body that was read already from this property; an empty one would leave it waiting.
      Object.assign(request, { body: body === '' ? '{}' : body });
      const parsed = parseBody(body);
      return this.#viaYoga(request, response, Array.isArray(parsed) ? null : parsed);
    }
    await this.#answer(body, request, response);
  }

  async #answer(body: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parsed = parseBody(body);
    if (parsed === null)
      return send(response, 400, refusal('BAD_REQUEST', 'The body must be a JSON object with "query", or a list of such.'));
    const batch = Array.isArray(parsed);
    const operations = batch ? parsed : [parsed];
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
    const answers = await Promise.all(operations.map((operation) => this.#run(operation, client.signal)));
    if (response.destroyed) return;
    const strict = (request.headers.accept ?? '').includes('application/graphql-response+json');
    const status = strict && !batch && answers[0]?.data === undefined ? 400 : 200;
    const type = strict ? 'application/graphql-response+json; charset=utf-8' : 'application/json; charset=utf-8';
    send(response, status, batch ? answers : (answers[0] ?? {}), type);
  }

  async #run(operation: Operation, signal: AbortSignal): Promise<Answer> {
    const prepared = this.#engine.prepare(operation, signal);
    if (prepared.kind === 'REFUSED') return { errors: prepared.errors };
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

  async #viaYoga(request: IncomingMessage, response: ServerResponse, operation: Operation | null): Promise<void> {
    // For proxies: pass each event on as it comes (field-cases F86).
    response.setHeader('x-accel-buffering', 'no');
    const facts = {
      transport: request.headers.accept?.includes('text/event-stream') ? 'sse' : 'http',
      ...loggable(operation ?? { query: '' }),
    };
    await this.#engine.logged(
      facts,
      async () => this.#engine.yoga(request, response),
      () => response.statusCode >= 400,
    );
  }
}

/** The operation of a GET request, for its log line. */
function operationInUrl(request: IncomingMessage): Operation {
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
  return { query: searchParams.get('query') ?? '', operationName: searchParams.get('operationName') };
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

export function refusal(code: string, message: string): { errors: GraphQLError[] } {
  return { errors: [new GraphQLError(message, { extensions: { code } })] };
}

export function send(response: ServerResponse, status: number, value: unknown, type = 'application/json; charset=utf-8'): void {
  const text = JSON.stringify(value);
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text), 'cache-control': 'no-store' });
  response.end(text);
}
