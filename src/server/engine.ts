/**
 * One GraphQL engine for all transports: the same schema, limits, masking, caches and context, whichever way an operation comes in.
 */
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
} from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import type { Logger } from 'pino';
import { Meter, metered } from '../meter.ts';
import { createErrorMask } from './mask-error.ts';
import { subscribeShared } from './subscribe-shared.ts';
import { type DocumentLimits, useDocumentLimits } from './use-document-limits.ts';
import { useErrorCodes } from './use-error-codes.ts';

export interface EngineOptions<C extends EngineContext> {
  readonly schema: GraphQLSchema;
  readonly createContext: (signal: AbortSignal) => C;
  readonly log: Logger;
  readonly limits: DocumentLimits & { readonly maxBatch: number };
  readonly endpoint: string;
}

/** What the engine needs of a context; resolvers know more of it. */
export interface EngineContext {
  readonly reset: () => void;
}

/** One operation as a client sends it. */
export interface Operation {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: Record<string, unknown> | null | undefined;
}

export type Prepared =
  | { readonly kind: 'REFUSED'; readonly errors: readonly GraphQLError[] }
  | {
      readonly kind: 'READY';
      readonly document: DocumentNode;
      readonly type: 'query' | 'mutation' | 'subscription';
      readonly run: () => Promise<ExecutionResult | AsyncIterable<ExecutionResult>>;
    };

export class Engine<C extends EngineContext> {
  readonly yoga: YogaServerInstance<object, C>;
  readonly schema: GraphQLSchema;
  readonly #log: Logger;
  readonly #mask: (error: unknown) => Error;

  constructor(options: EngineOptions<C>) {
    this.#log = options.log;
    this.#mask = createErrorMask(options.log);
    this.schema = options.schema;
    const { schema, createContext, limits, endpoint } = options;
    this.yoga = createYoga<object, C>({
      schema,
      graphqlEndpoint: endpoint,
      context: (initial) => createContext(signalOf(initial)),
      plugins: [useDocumentLimits(limits), useErrorCodes(), useGraphQLJs(this.#mask)],
      maskedErrors: { maskError: this.#mask },
      batching: { limit: limits.maxBatch },
      logging: false,
      graphiql: false,
      landingPage: false,
      cors: false,
      multipart: false,
      // The body was read and limited before; Yoga's own limit costs as much as a plain request.
      maxRequestBodySize: false,
    });
  }

  /** Parses and validates. What `run` throws or rejects with was not foreseen; errors of fields are part of its result. */
  prepare(operation: Operation, signal: AbortSignal): Prepared {
    const enveloped = this.yoga.getEnveloped({ signal, params: operation } as never);
    let document: DocumentNode;
    try {
      document = enveloped.parse(operation.query) as DocumentNode;
    } catch (error) {
      return {
        kind: 'REFUSED',
        errors: [error instanceof GraphQLError ? withoutHints(error) : new GraphQLError('The document could not be read.')],
      };
    }
    const errors = enveloped.validate(enveloped.schema, document) as GraphQLError[];
    if (errors.length > 0) return { kind: 'REFUSED', errors: errors.map(withoutHints) };
    const type = getOperationAST(document, operation.operationName)?.operation;
    if (type === undefined)
      return {
        kind: 'REFUSED',
        errors: [new GraphQLError('The document has no such operation.', { extensions: { code: 'OPERATION_NOT_FOUND' } })],
      };
    const run = async () => {
      const contextValue = await enveloped.contextFactory();
      const args = {
        schema: enveloped.schema,
        document,
        contextValue,
        operationName: operation.operationName ?? null,
        variableValues: operation.variables ?? {},
      };
      // Past Yoga, which would put two more iterators between a source and its socket.
      return type === 'subscription' ? subscribeShared(args, { mask: this.#mask }) : enveloped.execute(args as never);
    };
    return { kind: 'READY', document, type, run };
  }

  /** Runs work with a meter and logs one line for it: never content, never a token. */
  async logged<T>(
    facts: { transport: string; operationName: string | null; operationType: string },
    work: () => Promise<T>,
    failed: (value: T) => boolean,
  ): Promise<T> {
    const meter = new Meter();
    const start = performance.now();
    let ok = false;
    try {
      const value = await metered(meter, work);
      ok = !failed(value);
      return value;
    } finally {
      const durationMs = Math.round((performance.now() - start) * 10) / 10;
      this.#log.info({ ...facts, durationMs, statements: meter.statements, rows: meter.rows, ok }, 'request');
    }
  }
}

/** Name and type of an operation for a log line: letters, digits and underscores, as GraphQL has them, and not without end. */
export function loggable(operation: Operation): { operationName: string | null; operationType: string } {
  const document = operation.query.replace(/#[^\n]*/g, '');
  const [, operationType = 'query', found = null] = /^\s*(query|mutation|subscription)\b\s*([A-Za-z_]\w*)?/.exec(document) ?? [];
  const name = operation.operationName ?? found;
  return { operationType, operationName: name === null || !/^\w{1,100}$/.test(name) ? null : name };
}

function signalOf(initial: { readonly signal?: AbortSignal; readonly request?: Request }): AbortSignal {
  return initial.signal ?? initial.request?.signal ?? new AbortController().signal;
}

/** Yoga brings an executor of its own; GraphQL's is the reference, and has no reason to be left. */
function useGraphQLJs(mask: (error: unknown) => Error): Plugin {
  return {
    onExecute: ({ setExecuteFn }) => setExecuteFn(execute as never),
    onSubscribe: ({ setSubscribeFn }) => setSubscribeFn(((args: ExecutionArgs) => subscribeShared(args, { mask })) as never),
  };
}

/** The error without the hints that are meant for Yoga's HTTP layer. */
function withoutHints(error: GraphQLError): GraphQLError {
  const { http: _, ...extensions } = error.extensions;
  const { message, nodes, source, positions, path } = error;
  return new GraphQLError(message, { nodes, source, positions, path, extensions } as ConstructorParameters<typeof GraphQLError>[1]);
}
