/**
 * Asks a running Web UI about a stream (`spec/webui-recovery.md` 5.2, E5 and E6). Only the id of the stream is sent; whatever goes wrong is no answer.
 */
import { isJsonObject, parseJson } from '../../state-db/decode.ts';
import { epochSeconds } from '../sidecar/coercions.ts';
import type { WebUiAnswer } from './live-state.ts';

const LIMIT_MS = 1500;
const MOST_BYTES = 64 * 1024;

/** Null where neither question is answered. */
export async function askWebUi(url: string, streamId: string): Promise<WebUiAnswer | null> {
  const base = url.endsWith('/') ? url : `${url}/`;
  const status = new URL('api/chat/stream/status', base);
  status.searchParams.set('stream_id', streamId);
  const [stream, health] = await Promise.all([answerOf(status), answerOf(new URL('health', base))]);
  if (stream === null && health === null) return null;
  return { isStreaming: stream?.active === true, startedAt: epochSeconds(health?.server_started_at) };
}

async function answerOf(url: URL): Promise<Readonly<Record<string, unknown>> | null> {
  try {
    // A redirect may lead to a page that asks for a password.
    const response = await fetch(url, {
      redirect: 'error',
      signal: AbortSignal.timeout(LIMIT_MS),
      headers: { accept: 'application/json' },
    });
    if (!response.ok || response.body === null) return null;
    const value = parseJson(await boundedText(response.body));
    return isJsonObject(value) ? value : null;
  } catch {
    // It does not run, does not answer in time, or is something else.
    return null;
  }
}

async function boundedText(body: ReadableStream<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body) {
    length += part.length;
    if (length > MOST_BYTES) return '';
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
