/** The server around a schema of the test's own: for what no resolver of ours does on purpose. */

import type { GraphQLSchema } from 'graphql';
import pino from 'pino';
import { ExportFiles } from '../../src/exports/export-files.ts';
import { Engine } from '../../src/server/engine.ts';
import { Gate } from '../../src/server/gate.ts';
import { GraphQLHttp } from '../../src/server/graphql-http.ts';
import { ENDPOINT, HttpServer } from '../../src/server/http-server.ts';
import { type LogLine, TestServer } from './server.ts';
import { temporaryFolder } from './stores.ts';

const LIMITS = { maxTokens: 5000, maxAliases: 50, maxBatch: 10, maxBodyBytes: 1_048_576, maxSubscriptions: 10 };

/** Starts it without authentication. `stop` is the caller's. */
export async function serveSchema(
  schema: GraphQLSchema,
  createContext: (signal: AbortSignal) => { reset: () => void } = () => ({ reset: () => {} }),
): Promise<TestServer> {
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const engine = new Engine({ schema, createContext, log, limits: LIMITS, endpoint: ENDPOINT });
  const gate = new Gate({ token: null, host: '127.0.0.1', allowedHosts: [], allowedOrigins: [] });
  const exports = new ExportFiles(temporaryFolder());
  const server = new HttpServer({ engine, graphql: new GraphQLHttp(engine, LIMITS), gate, token: null, exports, log, ...LIMITS });
  return new TestServer({
    url: `http://127.0.0.1:${await server.listen('127.0.0.1', 0)}/`,
    token: 'no-token-is-asked-for',
    home: '',
    pid: process.pid,
    logs: () => lines.map((line) => JSON.parse(line) as LogLine),
    stop: () => server.close(),
  });
}
