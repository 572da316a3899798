/**
 * Sends the results of a subscription to its socket as `next` messages of graphql-transport-ws. A result that many subscribers get is
 * written out once (`spec/live-turns.md` 16): going through the library's own loop would stringify it for each of them.
 */
import type { ExecutionResult, GraphQLError, GraphQLFormattedError } from 'graphql';

/** Calls `taken` when the socket has taken the text: until then the source is not asked for more. */
export type Send = (text: string, taken: () => void) => void;

export interface Delivery {
  /** Of the operation, as the client chose it. */
  readonly id: string;
  readonly send: Send;
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
  return {
    next: () =>
      new Promise((resolve, reject) => {
        const ask = () => void results.next().then(onResult, reject);
        const onResult = ({ value, done }: IteratorResult<ExecutionResult>) => {
          if (done || abort.signal.aborted) return resolve({ value: undefined, done: true });
          try {
            send(`${head}${textOf(value)}}`, ask);
          } catch (error) {
            reject(error);
          }
        };
        ask();
      }),
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
