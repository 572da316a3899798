/**
 * The secret that every request carries: made once, kept in a file that only its owner can read, compared in constant time.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmod, mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CaduceusError } from '../errors.ts';

const TOKEN_FILE = 'token';
/** As `--token` takes it: it travels in a header. */
const USABLE = /^[!-~]{16,}$/;
const WRITE_TRIES = 20;
const WRITE_WAIT_MS = 50;

/** The token of this state folder; made with mode 0600 when there is none. Two servers that start at once end up with one token. */
export async function loadToken(stateDir: string): Promise<string> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  const path = join(stateDir, TOKEN_FILE);
  try {
    const file = await open(path, 'wx', 0o600);
    const token = randomBytes(32).toString('base64url');
    await file.writeFile(`${token}\n`);
    await file.close();
    return token;
  } catch (error) {
    if (!isExisting(error)) throw error;
  }
  await chmod(path, 0o600);
  const token = await readToken(path);
  if (USABLE.test(token)) return token;
  throw new CaduceusError('TOKEN_FILE_DAMAGED', `${path} holds no usable token. Remove the file, and the next start makes a new one.`);
}

/** A file without content is one that another start is writing at this moment. */
async function readToken(path: string): Promise<string> {
  for (let tries = 0; ; tries++) {
    const token = (await readFile(path, 'utf8')).trim();
    if (token !== '' || tries === WRITE_TRIES) return token;
    await sleep(WRITE_WAIT_MS);
  }
}

function isExisting(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}

/** Checks what a client sent. The session cookie is derived from the token, so that the page never holds the token itself. */
export class TokenCheck {
  readonly #digest: Buffer;
  /** Browsers keep cookies by host, not by port: servers of different tokens need different names. */
  readonly cookieName: string;
  readonly cookieValue: string;

  constructor(token: string) {
    this.#digest = digest(token);
    this.cookieName = `caduceus_${createHash('sha256').update(`caduceus cookie name\n${token}`).digest('hex').slice(0, 12)}`;
    this.cookieValue = createHash('sha256').update(`caduceus browser session\n${token}`).digest('base64url');
  }

  isToken(text: string): boolean {
    return timingSafeEqual(digest(text), this.#digest);
  }

  isCookie(text: string): boolean {
    return timingSafeEqual(digest(text), digest(this.cookieValue));
  }
}

/** Equal lengths for the comparison, whatever was sent. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
