/**
 * Ties one WebSocket to the protocol: messages, pings, and what happens when either fails. The library's own binding writes to the
 * console, and tells the client what went wrong inside (`field-cases` F84).
 */
import type { IncomingMessage } from 'node:http';
import { CloseCode, type Server } from 'graphql-ws';
import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import type { Send } from './deliver.ts';
import { createErrorMask } from './mask-error.ts';

/** What the protocol's hooks know of a socket. */
export interface SocketFacts {
  readonly request: IncomingMessage;
  readonly send: Send;
}

export interface BindOptions {
  readonly log: Logger;
  /** How often a client is asked whether it is still there; one that did not answer by the next time is dropped (live-protocol 10.3). */
  readonly pingMs: number;
}

export function bindSocket(server: Server<SocketFacts>, socket: WebSocket, request: IncomingMessage, { log, pingMs }: BindOptions): void {
  // A client that breaks the framing; the socket is being closed by then.
  socket.on('error', (error) => log.info({ err: error }, 'a socket failed'));
  const mask = createErrorMask(log);
  const stopPings = askWhetherAlive(socket, pingMs);
  // Whoever is gone gets nothing more, and that is no failure.
  const send: Send = (text, taken) => {
    if (socket.readyState === socket.OPEN) socket.send(text, taken);
    else taken();
  };
  const closed = server.opened(
    {
      protocol: socket.protocol,
      send: (text) => new Promise((resolve) => send(text, resolve)),
      close: (code, reason) => socket.close(code, reason),
      onMessage: (handle) => {
        socket.on('message', (data) => {
          handle(String(data)).catch((error: unknown) => socket.close(CloseCode.InternalServerError, mask(error).message));
        });
      },
    },
    { request, send },
  );
  socket.once('close', (code, reason) => {
    stopPings();
    closed(code, String(reason)).catch((error: unknown) => log.error({ err: error }, 'closing the operations of a socket failed'));
  });
}

function askWhetherAlive(socket: WebSocket, pingMs: number): () => void {
  let answered = true;
  socket.on('pong', () => {
    answered = true;
  });
  const timer = setInterval(() => {
    if (!answered) return socket.terminate();
    answered = false;
    socket.ping();
  }, pingMs);
  return () => clearInterval(timer);
}
