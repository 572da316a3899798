/**
 * The HTTP server: one gate, then a handful of paths.
 */
import { createReadStream } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { Logger } from 'pino';
import { CaduceusError } from '../errors.ts';
import type { ExportFiles } from '../exports/export-files.ts';
import type { Engine, EngineContext } from './engine.ts';
import type { Gate, Refusal } from './gate.ts';
import { type GraphQLHttp, refusal, send } from './graphql-http.ts';
import { GraphQLWs } from './graphql-ws.ts';
import { createErrorMask } from './mask-error.ts';
import { GRAPHIQL_POLICY, graphiqlPage, SIGN_IN_PAGE, SIGN_IN_POLICY } from './pages.ts';
import type { TokenCheck } from './token.ts';

export const ENDPOINT = '/graphql';
const EXPORTS = '/exports/';

export interface HttpServerOptions<C extends EngineContext> {
  readonly engine: Engine<C>;
  readonly graphql: GraphQLHttp<C>;
  readonly gate: Gate;
  readonly token: TokenCheck | null;
  /** Files that clients asked for. */
  readonly exports: ExportFiles;
  readonly log: Logger;
  readonly maxBodyBytes: number;
  readonly maxSubscriptions: number;
}

export class HttpServer<C extends EngineContext> {
  readonly #options: HttpServerOptions<C>;
  readonly #server: Server;
  readonly #sockets: GraphQLWs<C>;
  readonly #mask: (error: unknown) => Error;
  #page: Promise<Buffer> | null = null;

  constructor(options: HttpServerOptions<C>) {
    this.#options = options;
    this.#mask = createErrorMask(options.log);
    this.#server = createServer((request, response) => void this.#handle(request, response));
    const { maxBodyBytes, maxSubscriptions, log } = options;
    this.#sockets = new GraphQLWs(this.#server, options.engine, options.gate, { path: ENDPOINT, maxBodyBytes, maxSubscriptions, log });
  }

  /** Listens and gives the port. Throws ADDRESS_IN_USE or ADDRESS_UNAVAILABLE with a sentence. */
  async listen(host: string, port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) => reject(listenProblem(error, host, port)));
      this.#server.listen(port, host.replace(/^\[|\]$/g, ''), resolve);
    });
    return (this.#server.address() as AddressInfo).port;
  }

  get sockets(): number {
    return this.#sockets.connections;
  }

  async close(): Promise<void> {
    await this.#sockets.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#route(request, response);
    } catch (error) {
      // The client went away, or a defect: either way this request is over, and the server goes on.
      if (response.destroyed) return;
      const masked = this.#mask(error);
      if (response.headersSent) response.destroy();
      else send(response, 500, { errors: [masked] });
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { gate } = this.#options;
    response.setHeader('x-content-type-options', 'nosniff');
    response.setHeader('referrer-policy', 'no-referrer');
    response.setHeader('cross-origin-resource-policy', 'same-origin');
    const refused = gate.refuseAddress(request.headers);
    if (refused !== null) return deny(response, refused);
    const path = (request.url ?? '/').split('?', 1)[0];
    if (path === '/health') return void response.writeHead(200, { 'content-type': 'text/plain', 'cache-control': 'no-store' }).end('ok\n');
    if (path === '/' && request.method === 'GET') return this.#page200(request, response);
    if (path === '/sign-in' && request.method === 'POST') return this.#signIn(request, response);
    if (path === ENDPOINT) return this.#graphql(request, response);
    if (path?.startsWith(EXPORTS)) return this.#export(path.slice(EXPORTS.length), request, response);
    send(response, 404, refusal('NOT_FOUND', `There is nothing here. GraphQL is at ${ENDPOINT}, GraphiQL at /.`));
  }

  async #graphql(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { gate, graphql } = this.#options;
    const { origin } = request.headers;
    if (origin !== undefined && gate.isAllowedOrigin(origin)) allowOrigin(response, origin);
    if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    if (request.method !== 'GET' && request.method !== 'POST') {
      response.setHeader('allow', 'GET, POST, OPTIONS');
      return send(response, 405, refusal('METHOD_NOT_ALLOWED', 'Use POST, or GET for queries.'));
    }
    const refused = gate.refuseUnsigned(request.headers) ?? gate.refuseForgeable(request.method, request.headers);
    if (refused !== null) return deny(response, refused);
    await graphql.handle(request, response);
  }

  async #export(id: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { gate, exports } = this.#options;
    const refused = gate.refuseUnsigned(request.headers);
    if (refused !== null) return deny(response, refused);
    const file = request.method === 'GET' ? exports.find(id) : null;
    if (file === null)
      return send(response, 404, refusal('NOT_FOUND', 'There is no such export, or its hour is over. Export the session again.'));
    response.writeHead(200, {
      'content-type': 'application/jsonl; charset=utf-8',
      'content-disposition': `attachment; filename="${file.name}"`,
      'cache-control': 'no-store',
    });
    await pipeline(createReadStream(file.path), response);
  }

  async #page200(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const html = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' };
    if (!this.#options.gate.isSignedIn(request.headers)) {
      response.writeHead(200, { ...html, 'content-security-policy': SIGN_IN_POLICY }).end(SIGN_IN_PAGE);
      return;
    }
    this.#page ??= graphiqlPage(ENDPOINT);
    const page = await this.#page;
    response
      .writeHead(200, { ...html, 'content-security-policy': GRAPHIQL_POLICY, 'content-encoding': 'gzip', 'content-length': page.length })
      .end(page);
  }

  #signIn(request: IncomingMessage, response: ServerResponse): void {
    const { gate, token } = this.#options;
    request.resume();
    const refused = gate.refuseUnsigned(request.headers) ?? gate.refuseForgeable(request.method, request.headers);
    if (refused !== null) {
      deny(response, refused);
      return;
    }
    if (token !== null) response.setHeader('set-cookie', `${token.cookieName}=${token.cookieValue}; Path=/; HttpOnly; SameSite=Strict`);
    response.writeHead(204).end();
  }
}

function deny(response: ServerResponse, refused: Refusal): void {
  if (refused.status === 401) response.setHeader('www-authenticate', 'Bearer realm="caduceus"');
  // What is left of the request is not read.
  response.setHeader('connection', 'close');
  send(response, refused.status, refusal(refused.code, refused.message));
}

function allowOrigin(response: ServerResponse, origin: string): void {
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('vary', 'origin');
  response.setHeader('access-control-allow-methods', 'GET, POST');
  response.setHeader('access-control-allow-headers', 'authorization, content-type, x-caduceus, x-graphql-yoga-csrf');
  response.setHeader('access-control-max-age', '600');
  response.setHeader('cross-origin-resource-policy', 'cross-origin');
}

function listenProblem(error: NodeJS.ErrnoException, host: string, port: number): Error {
  if (error.code === 'EADDRINUSE') {
    return new CaduceusError(
      'ADDRESS_IN_USE',
      `Port ${port} of ${host} is taken. Stop the program that uses it, or choose another with --port (0 picks a free one).`,
      { cause: error },
    );
  }
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'EACCES' || error.code === 'ENOTFOUND') {
    return new CaduceusError(
      'ADDRESS_UNAVAILABLE',
      `This machine can't listen on ${host}, port ${port} (${error.code}). Choose another with --host and --port.`,
      { cause: error },
    );
  }
  return error;
}
