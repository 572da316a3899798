import type { IncomingMessage } from 'node:http';

/** The body as text, or TOO_LARGE once more bytes than allowed are announced or come. What is left of a large one is not kept. */
export async function readBody(request: IncomingMessage, largest: number): Promise<string | 'TOO_LARGE'> {
  if (Number(request.headers['content-length'] ?? 0) > largest) {
    request.resume();
    return 'TOO_LARGE';
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > largest) resolve('TOO_LARGE');
      else chunks.push(chunk);
    });
    request.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    request.on('error', reject);
    request.on('aborted', () => reject(new Error('the client went away')));
  });
}
