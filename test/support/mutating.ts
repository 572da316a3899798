/**
 * One mutation over HTTP, by its name:
 *
 *   expect(await mutating(server, 'endSession', { sessionId: 's', reason: 'cli_close' }, 'changed')).toMatchObject({ changed: true });
 */
import type { TestServer } from './server.ts';

/** The fields of a payload or of a refusal. */
export type Answers = Readonly<Record<string, unknown>>;

const REFUSAL = '... on UserError { code retryable settled details }';

/** Throws for an error that isn't a type of the mutation's answer. */
export async function mutating(server: TestServer, name: string, input: Answers, payload: string): Promise<Answers> {
  const upper = name.charAt(0).toUpperCase() + name.slice(1);
  const document = `mutation ($input: ${upper}Input!) { ${name}(input: $input) { __typename ... on ${upper}Payload { ${payload} } ${REFUSAL} } }`;
  const data = await server.read<Readonly<Record<string, Answers>>, unknown>(document, { input });
  return data[name] ?? {};
}
