/** HTTP requests with headers that `fetch` doesn't let one set, and event streams. */
import { type Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import type { TestServer } from './server.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The code of the first GraphQL error in the body. */
  readonly code: string | null;
}

export interface HttpRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  /** A list is sent in chunks, without its length. */
  readonly body?: string | readonly string[];
  readonly agent?: Agent;
}

/** One request, exactly as it is written here. Rejects when the connection is reset. */
export function http(
  server: Pick<TestServer, 'url'>,
  { method = 'GET', path = '/', headers = {}, body = '', agent }: HttpRequest = {},
): Promise<HttpAnswer> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const length = typeof body === 'string' && body !== '' ? { 'content-length': Buffer.byteLength(body) } : {};
    const sent = request({ host: hostname, port, method, path, headers: { ...length, ...headers }, agent: agent ?? false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text, code: codeIn(text) }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    for (const part of typeof body === 'string' ? [body] : body) if (part !== '') sent.write(part);
    sent.end();
  });
}

function codeIn(text: string): string | null {
  try {
    const body = JSON.parse(text) as { errors?: { extensions?: { code?: string } }[] };
    return body.errors?.[0]?.extensions?.code ?? null;
  } catch {
    return null;
  }
}

export interface EventStream {
  readonly response: Response;
  /** The next event: its name and its data as JSON. Null at the end. */
  readonly next: () => Promise<{ readonly event: string; readonly data: unknown } | null>;
  /** Leaves without a word, as a client does that goes away. */
  readonly leave: () => void;
}

/** Subscribes over SSE by POST. */
export async function eventStream(
  server: TestServer,
  query: unknown,
  variables: unknown = {},
  headers: Record<string, string> = {},
): Promise<EventStream> {
  const aborter = new AbortController();
  const response = await fetch(server.graphql, {
    method: 'POST',
    headers: { ...server.headers, accept: 'text/event-stream', ...headers },
    body: JSON.stringify({ query: String(query), variables }),
    signal: aborter.signal,
  });
  return { response, next: eventsOf(response), leave: () => aborter.abort() };
}

/** The same by GET, as EventSource does it. */
export async function eventStreamByGet(server: TestServer, query: unknown): Promise<EventStream> {
  const aborter = new AbortController();
  const response = await fetch(`${server.graphql}?query=${encodeURIComponent(String(query))}`, {
    headers: { authorization: `Bearer ${server.token}`, accept: 'text/event-stream' },
    signal: aborter.signal,
  });
  return { response, next: eventsOf(response), leave: () => aborter.abort() };
}

function eventsOf(response: Response): EventStream['next'] {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = '';
  return async () => {
    for (;;) {
      const end = buffer.indexOf('\n\n');
      if (end !== -1) {
        const block = buffer.slice(0, end);
        buffer = buffer.slice(end + 2);
        const event = fieldOf(block, 'event');
        // Blocks without a name are the heartbeat.
        if (event === undefined) continue;
        const data = fieldOf(block, 'data') ?? '';
        return { event, data: data === '' ? null : (JSON.parse(data) as unknown) };
      }
      const part = await reader?.read();
      if (part === undefined || part.done) return null;
      buffer += part.value;
    }
  };
}

/** A line ends only where the format says so, not at U+2028 as by `$` of a pattern. */
function fieldOf(block: string, name: string): string | undefined {
  const line = block.split('\n').find((each) => each.startsWith(`${name}: `));
  return line?.slice(name.length + 2);
}
