/**
 * One gate for every transport: Host, Origin, authentication, and that a browser can't be made to send the request by a foreign page
 * (`field-cases` F70 to F72). Pure decisions over headers.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { TokenCheck } from './token.ts';

export interface GateOptions {
  /** Null: no token is asked for. */
  readonly token: TokenCheck | null;
  /** The address that the server listens on. */
  readonly host: string;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
}

export interface Refusal {
  readonly status: 401 | 403 | 415 | 421;
  readonly code: string;
  readonly message: string;
}

const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

export class Gate {
  readonly #options: GateOptions;
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#hosts = new Set([...LOOPBACK_NAMES, options.host.toLowerCase(), ...options.allowedHosts.map((name) => name.toLowerCase())]);
    this.#origins = new Set(options.allowedOrigins.map((origin) => origin.toLowerCase().replace(/\/$/, '')));
  }

  /** A foreign Host is a name that somebody pointed at this machine; a foreign Origin is a page that should not be here. */
  refuseAddress(headers: IncomingHttpHeaders): Refusal | null {
    const host = hostName(headers.host);
    if (host === null || !this.#hosts.has(host)) {
      return {
        status: 421,
        code: 'FOREIGN_HOST',
        message: 'This server is not reached under that host name. Use the printed address, or allow the name with --allowed-hosts.',
      };
    }
    const { origin } = headers;
    if (origin !== undefined && !this.#isOwnOrigin(origin, headers.host) && !this.isAllowedOrigin(origin)) {
      return {
        status: 403,
        code: 'FOREIGN_ORIGIN',
        message: 'Pages of that origin may not use this server. Allow it with --allowed-origins if it is yours.',
      };
    }
    return null;
  }

  isAllowedOrigin(origin: string): boolean {
    return this.#origins.has(origin.toLowerCase());
  }

  /** Whether the headers carry the token, or the cookie of a page that signed in. */
  isSignedIn(headers: IncomingHttpHeaders): boolean {
    const { token } = this.#options;
    if (token === null) return true;
    const bearer = bearerOf(headers.authorization);
    if (bearer !== null) return token.isToken(bearer);
    const cookie = cookieOf(headers.cookie, token.cookieName);
    return cookie !== null && token.isCookie(cookie);
  }

  isToken(text: unknown): boolean {
    const { token } = this.#options;
    if (token === null) return true;
    return typeof text === 'string' && token.isToken(bearerOf(text) ?? text);
  }

  refuseUnsigned(headers: IncomingHttpHeaders): Refusal | null {
    if (this.isSignedIn(headers)) return null;
    return {
      status: 401,
      code: 'UNAUTHENTICATED',
      message: 'Send the token as "Authorization: Bearer …", or open the address that the server printed.',
    };
  }

  /** Only requests that no plain form or link can make: JSON, or with a header that a browser asks permission for (F70). */
  refuseForgeable(method: string | undefined, headers: IncomingHttpHeaders): Refusal | null {
    const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
    if (method === 'POST' && type !== 'application/json') {
      return { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', message: 'Send GraphQL requests as application/json.' };
    }
    const custom = headers.authorization ?? headers['x-graphql-yoga-csrf'] ?? headers['apollo-require-preflight'] ?? headers['x-caduceus'];
    if (method === 'POST' || custom !== undefined || headers['sec-fetch-site'] === 'same-origin') return null;
    return {
      status: 403,
      code: 'CSRF',
      message: 'A GET request needs a header of its own, for example "Authorization" or "x-caduceus: 1".',
    };
  }

  #isOwnOrigin(origin: string, host: string | undefined): boolean {
    return (
      host !== undefined &&
      (origin.toLowerCase() === `http://${host.toLowerCase()}` || origin.toLowerCase() === `https://${host.toLowerCase()}`)
    );
  }
}

/** The name without the port; null for what is no host. */
function hostName(host: string | undefined): string | null {
  const match = /^(\[[0-9a-f:]+\]|[^:/@\s]+)(?::\d{1,5})?$/i.exec(host ?? '');
  return match?.[1]?.toLowerCase() ?? null;
}

function bearerOf(header: string | undefined): string | null {
  return /^Bearer\s+(\S+)$/i.exec(header ?? '')?.[1] ?? null;
}

function cookieOf(header: string | undefined, wanted: string): string | null {
  for (const part of (header ?? '').split(';')) {
    const [name, value] = part.trim().split('=', 2);
    if (name === wanted && value !== undefined) return value;
  }
  return null;
}
