/** The process behind `subscribers.ts`: speaks graphql-transport-ws by hand, so that it takes as little of the machine as it can. */
import { once } from 'node:events';
import WebSocket from 'ws';
import type { CrowdOptions, Heard } from './subscribers.ts';

const AT = /"at":"([^"]+)"/g;
/** Sockets that are opened at a time. */
const AT_A_TIME = 50;

let latenciesMs: number[] = [];
let frames = 0;
let bytes = 0;

function hear(text: string): void {
  const now = performance.timeOrigin + performance.now();
  frames++;
  bytes += text.length;
  for (const [, at = ''] of text.matchAll(AT)) latenciesMs.push(now - Date.parse(at));
}

async function subscribe(url: string, query: string | null, variables: Readonly<Record<string, unknown>>): Promise<void> {
  const socket = new WebSocket(url, query === null ? [] : ['graphql-transport-ws']);
  await once(socket, 'open');
  if (query === null) {
    socket.on('message', (data) => hear(String(data)));
    return;
  }
  socket.send(JSON.stringify({ type: 'connection_init' }));
  await once(socket, 'message');
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query, variables } }));
  await once(socket, 'message');
  socket.on('message', (data) => hear(String(data)));
}

async function begin({ url, count, query, variables }: CrowdOptions & { readonly url: string }): Promise<void> {
  for (let at = 0; at < count; at += AT_A_TIME) {
    const some = Array.from({ length: Math.min(AT_A_TIME, count - at) }, (_, index) => variables[(at + index) % variables.length] ?? {});
    await Promise.all(some.map((each) => subscribe(url, query, each)));
  }
  process.send?.('READY');
}

process.on('message', (message: 'HEARD' | (CrowdOptions & { readonly url: string })) => {
  if (message !== 'HEARD') {
    void begin(message);
    return;
  }
  process.send?.({ latenciesMs, frames, bytes } satisfies Heard);
  latenciesMs = [];
  frames = 0;
  bytes = 0;
});
process.on('disconnect', () => process.exit());
