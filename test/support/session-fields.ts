/** Fields of one session, for tests of what a session tells. */
import type { TestServer } from './server.ts';
import { M, type Row } from './stores.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** The fields of a session that is there. */
export async function of(server: TestServer, sessionId: string, fields: string): Promise<Fields> {
  const session = await find(server, sessionId, fields);
  if (session === null) throw new Error(`there is no session ${sessionId}`);
  return session;
}

/** Null for an unknown session. */
export async function find(server: TestServer, sessionId: string, fields: string): Promise<Fields | null> {
  const { session } = await server.read<{ session: Fields | null }, { id: string }>(
    `query ($id: String!) { session(sessionId: $id) { ${fields} } }`,
    { id: sessionId },
  );
  return session;
}

/** Questions and answers in turn, a second apart. */
export function rounds(session: string, count: number, from = 100): Row[] {
  return Array.from({ length: count }, (_, index) => [
    M(session, { content: `question ${index}`, timestamp: from + 2 * index }),
    M(session, { role: 'assistant', content: `answer ${index}`, timestamp: from + 2 * index + 1 }),
  ]).flat();
}
