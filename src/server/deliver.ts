/**
 * Sends the results of a subscription to its socket as `next` messages of graphql-transport-ws. A result that many subscribers get is
 * written out once (`spec/live-turns.md` 16): going through the library's own loop would stringify it for each of them.
 */
import type { ExecutionResult, GraphQLError, GraphQLFormattedError } from 'graphql';

export interface Delivery {
  /** Of the operation, as the client chose it. */
  readonly id: string;
  /** Resolves when the socket has taken the text: until then the source is not asked for more. */
  readonly send: (text: string) => Promise<void>;
  /** Stops the source. */
  readonly abort: AbortController;
}

/**
 * What the library iterates over instead of the results: it yields nothing, sends everything itself, and ends when the source ends, upon
 * which the library sends `complete`.
 */
export function deliver(source: AsyncIterable<ExecutionResult>, { id, send, abort }: Delivery): AsyncIterableIterator<ExecutionResult> {
  const results = source[Symbol.asyncIterator]();
  const head = `{"id":${JSON.stringify(id)},"type":"next","payload":`;
  const sendAll = async (): Promise<IteratorResult<ExecutionResult>> => {
    for (;;) {
      const { value, done } = await results.next();
      if (done || abort.signal.aborted) return { value: undefined, done: true };
      await send(`${head}${textOf(value)}}`);
    }
  };
  return {
    next: sendAll,
    // Aborts before it asks the source to end: a source that waits for its next event would not hear it otherwise.
    return: async () => {
      abort.abort();
      await results.return?.();
      return { value: undefined, done: true };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

const texts = new WeakMap<ExecutionResult, string>();

function textOf(result: ExecutionResult): string {
  const known = texts.get(result);
  if (known !== undefined) return known;
  const text = JSON.stringify(formatted(result));
  texts.set(result, text);
  return text;
}

function formatted(result: ExecutionResult): object {
  const { errors, data = null, extensions } = result;
  if (errors === undefined) return result;
  return { data, ...(extensions === undefined ? {} : { extensions }), errors: errors.map(withoutHttp) };
}

/** Yoga's HTTP layer takes its own hints out of errors; a socket has to do that itself. */
export function withoutHttp(error: GraphQLError): GraphQLFormattedError {
  const { http: _, unexpected: __, ...extensions } = error.extensions ?? {};
  return { ...error.toJSON(), extensions };
}
