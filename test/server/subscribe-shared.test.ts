import { GraphQLInt, GraphQLNonNull, GraphQLObjectType, GraphQLSchema, GraphQLString, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { subscribeShared } from '../../src/server/subscribe-shared.ts';
import { SHARED } from '../../src/shared-payload.ts';

let executions = 0;
const Frame = new GraphQLObjectType({
  name: 'Frame',
  fields: {
    number: {
      type: GraphQLInt,
      args: { plus: { type: GraphQLInt } },
      resolve: ({ number }: { number: number }, { plus = 0 }: { plus?: number }) => {
        executions++;
        return number + plus;
      },
    },
    broken: {
      type: GraphQLString,
      resolve: () => {
        throw new Error('secret');
      },
    },
  },
});
const schema = new GraphQLSchema({
  query: new GraphQLObjectType({ name: 'Query', fields: { fine: { type: GraphQLString } } }),
  subscription: new GraphQLObjectType({
    name: 'Subscription',
    fields: {
      frames: {
        type: Frame,
        args: { after: { type: new GraphQLNonNull(GraphQLInt) } },
        subscribe: async function* (root: object) {
          if ('payloads' in root) yield* root.payloads as readonly object[];
        },
        resolve: (payload: object) => payload,
      },
    },
  }),
});

const mask = () => new Error('masked');

async function run(document: ReturnType<typeof parse>, payloads: readonly object[], variableValues: Record<string, unknown>) {
  let resets = 0;
  const contextValue = { reset: () => resets++ };
  const results = await subscribeShared({ schema, document, rootValue: { payloads }, contextValue, variableValues }, { mask });
  if (!(Symbol.asyncIterator in results)) return { values: [results], resets };
  const values: unknown[] = [];
  for await (const result of results) values.push(result.data ?? result.errors);
  return { values, resets };
}

describe('equal operations on one payload', () => {
  const document = parse('subscription Follow($after: Int!, $plus: Int) { frames(after: $after) { number(plus: $plus) } }');
  const shared = [
    { number: 1, [SHARED]: true },
    { number: 2, [SHARED]: true },
  ];

  it('are executed once, wherever each subscriber began', async () => {
    executions = 0;
    const [first, second] = await Promise.all([run(document, shared, { after: 0 }), run(document, shared, { after: 1 })]);
    expect(first.values).toEqual([{ frames: { number: 1 } }, { frames: { number: 2 } }]);
    expect(second.values).toEqual(first.values);
    expect(executions).toBe(2);
  });

  it('are others when a variable below the root field is another', async () => {
    executions = 0;
    const payloads = [{ number: 5, [SHARED]: true }];
    const one = await run(document, payloads, { after: 0, plus: 1 });
    const other = await run(document, payloads, { after: 0, plus: 2 });
    expect([one.values, other.values]).toEqual([[{ frames: { number: 6 } }], [{ frames: { number: 7 } }]]);
    expect(executions).toBe(2);
  });

  it('are executed for each subscriber when the payload is not marked', async () => {
    executions = 0;
    const payload = { number: 1 };
    await run(document, [payload], { after: 0 });
    await run(document, [payload], { after: 0 });
    expect(executions).toBe(2);
  });
});

it('every execution starts with nothing loaded', async () => {
  const document = parse('subscription { frames(after: 0) { number } }');
  expect(await run(document, [{ number: 1 }, { number: 2 }], {})).toMatchObject({ resets: 2 });
});

it('errors are masked, in an event and before the first', async () => {
  const inEvent = await run(parse('subscription { frames(after: 0) { broken } }'), [{ number: 1, [SHARED]: true }], {});
  expect(JSON.stringify(inEvent.values)).not.toContain('secret');
  const before = await run(parse('subscription Follow($after: Int!) { frames(after: $after) { number } }'), [], {});
  expect(before.values).toMatchObject([{ errors: [{ message: 'masked' }] }]);
});
