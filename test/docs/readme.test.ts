import { readFileSync } from 'node:fs';
import { parse, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../schema/index.ts';
import { ensureDemoHome } from '../../src/demo/demo-store.ts';
import { EXAMPLES } from '../../src/server/examples.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { temporaryFolder } from '../support/stores.ts';

/** The README's tour: each query, with the answer that stands below it. */
function tour(): { query: string; answer: unknown }[] {
  const readme = readFileSync('README.md', 'utf8');
  const blocks = [...readme.matchAll(/```graphql\n([\s\S]*?)```(?:\s*```json\n([\s\S]*?)```)?/g)];
  return blocks.map(([, query = '', answer]) => ({ query, answer: answer === undefined ? null : (JSON.parse(answer) as unknown) }));
}

describe('the README', () => {
  let server: TestServer;

  beforeAll(async () => {
    const { home } = await ensureDemoHome(temporaryFolder());
    server = await startTestServer({ home });
  });
  afterAll(() => server.stop());

  test('its tour has queries with answers', () => {
    expect(tour().filter(({ answer }) => answer !== null).length).toBeGreaterThanOrEqual(5);
  });

  test.each(tour())('answers what stands below the query $query', async ({ query, answer }) => {
    expect(validate(schema, parse(query))).toEqual([]);
    if (answer === null) return;
    const result = await server.query(query);
    expect(result.errors).toEqual([]);
    expect(result.data).toEqual(answer);
  });

  test.each(EXAMPLES.filter((example) => !example.includes('subscription')))(
    'GraphiQL example runs without errors: %s',
    async (example) => {
      const result = await server.query(example);
      expect(result.errors).toEqual([]);
    },
  );

  test('every example is a valid document', () => {
    for (const example of EXAMPLES) expect(validate(schema, parse(example))).toEqual([]);
  });
});
