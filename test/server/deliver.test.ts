import { type ExecutionResult, GraphQLError } from 'graphql';
import { describe, expect, it } from 'vitest';
import { deliver, type Send } from '../../src/server/deliver.ts';

async function delivered(results: readonly ExecutionResult[], id = '1'): Promise<unknown[]> {
  const sent: unknown[] = [];
  const send: Send = (text, taken) => {
    sent.push(JSON.parse(text));
    taken();
  };
  async function* source() {
    yield* results;
  }
  const iterator = deliver(source(), { id, send, abort: new AbortController() });
  expect(await iterator.next()).toEqual({ value: undefined, done: true });
  return sent;
}

describe('results on their way to a socket', () => {
  it('are next messages of their operation, whatever its id is', async () => {
    expect(await delivered([{ data: { a: 1 } }, { data: { a: 2 } }], 'a "b"')).toEqual([
      { id: 'a "b"', type: 'next', payload: { data: { a: 1 } } },
      { id: 'a "b"', type: 'next', payload: { data: { a: 2 } } },
    ]);
  });

  it('are written out once, however many sockets they go to', async () => {
    let writings = 0;
    const data = {
      toJSON: () => {
        writings++;
        return { a: 1 };
      },
    };
    const result: ExecutionResult = { data: data as never };
    await delivered([result]);
    await delivered([result], '2');
    expect(writings).toBe(1);
  });

  it('keep what is for the client of their errors, and say that there are no data', async () => {
    const error = new GraphQLError('No.', { extensions: { code: 'NO', http: { status: 500 }, unexpected: true } });
    expect(await delivered([{ errors: [error] }])).toEqual([
      { id: '1', type: 'next', payload: { data: null, errors: [{ message: 'No.', extensions: { code: 'NO' } }] } },
    ]);
  });
});

describe('a subscription that is completed', () => {
  it('stops its source and sends nothing more', async () => {
    const abort = new AbortController();
    const sent: string[] = [];
    let wake: (result: IteratorResult<ExecutionResult>) => void = () => {};
    const source: AsyncIterableIterator<ExecutionResult> = {
      next: () => new Promise((resolve) => (wake = resolve)),
      return: async () => ({ value: undefined, done: true }),
      [Symbol.asyncIterator]: () => source,
    };
    const iterator = deliver(source, { id: '1', send: (text) => void sent.push(text), abort });
    const ended = iterator.next();
    await iterator.return?.();
    expect(abort.signal.aborted).toBe(true);
    wake({ value: { data: { late: true } }, done: false });
    expect(await ended).toEqual({ value: undefined, done: true });
    expect(sent).toEqual([]);
  });

  it('asks for the next result only when the socket has taken the one before', async () => {
    let asked = 0;
    let take: () => void = () => {};
    const source: AsyncIterableIterator<ExecutionResult> = {
      next: async () => (++asked > 2 ? { value: undefined, done: true } : { value: { data: { asked } }, done: false }),
      [Symbol.asyncIterator]: () => source,
    };
    const send: Send = (_, taken) => {
      take = taken;
    };
    const ended = deliver(source, { id: '1', send, abort: new AbortController() }).next();
    await new Promise(setImmediate);
    expect(asked).toBe(1);
    take();
    await new Promise(setImmediate);
    expect(asked).toBe(2);
    take();
    expect((await ended).done).toBe(true);
  });
});
