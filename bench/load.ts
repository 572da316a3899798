/**
 * Requests in bursts over a few keep-alive connections, and what they took.
 */
import { Agent, request } from 'node:http';
import type { ServerProcess } from './server-process.ts';

export const CONNECTIONS = 4;

/** One request: a GET, or a POST of JSON where there is a body. */
export interface Target {
  /** Below the server's address, without the leading slash. */
  readonly path: string;
  readonly body?: string;
}

export interface Burst {
  readonly latenciesMs: readonly number[];
  /** Of the server process, per request. */
  readonly cpuMs: number;
  /** Of the processes that it runs slow reads in, per request. */
  readonly childCpuMs: number;
}

export class Client {
  readonly server: ServerProcess;

  constructor(server: ServerProcess) {
    this.server = server;
  }

  /** `count` requests, as many at a time as there are connections. Throws when one isn't answered with 200. */
  async burst(target: Target, count: number, lanes = CONNECTIONS): Promise<Burst> {
    const latenciesMs: number[] = [];
    // Connections of an earlier burst may have been idle for as long as a server keeps them.
    const agent = new Agent({ keepAlive: true, maxSockets: lanes });
    const before = this.server.usage();
    let left = count;
    const lane = async () => {
      while (left-- > 0) {
        const start = performance.now();
        await this.send(target, agent);
        latenciesMs.push(performance.now() - start);
      }
    };
    await Promise.all(Array.from({ length: Math.min(lanes, count) }, lane));
    agent.destroy();
    const after = this.server.usage();
    return {
      latenciesMs,
      cpuMs: (after.ownCpuMs - before.ownCpuMs) / count,
      childCpuMs: (after.childCpuMs - before.childCpuMs) / count,
    };
  }

  /** The text of the answer; without an agent over a connection of its own. */
  send({ path, body }: Target, agent: Agent | false = false): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const sent = request(new URL(path, this.server.url), { agent, method: body === undefined ? 'GET' : 'POST', headers });
      sent.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        response.on('end', () => {
          if (response.statusCode === 200) resolve(text);
          else reject(new Error(`${path} was answered with ${response.statusCode}: ${text.slice(0, 500)}`));
        });
        response.on('error', reject);
      });
      sent.on('error', (cause) => reject(new Error(`${path} got no answer`, { cause })));
      sent.end(body);
    });
  }
}

/** The value below which the given share of all lies; NaN of nothing. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The middle value, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}
