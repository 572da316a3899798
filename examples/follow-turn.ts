/**
 * Shows a conversation in the terminal while another program goes on with it: text as it is written, tools, ends of turns. A connection that
 * is lost is made again and goes on from the last cursor, also when the server was killed; nothing is shown twice and nothing is left out.
 *
 *   node examples/follow-turn.ts SESSION_ID 'http://127.0.0.1:4000/#token=…' [--json] [--state FILE]
 *
 * `--json`: each frame as a line of JSON, for programs. `--state FILE`: where it stands is kept in a file, and the next start goes on there.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createClient } from 'graphql-ws';
import { addressFrom, fail, plain } from './connect.ts';
import type { FollowTurnSubscription, FollowTurnSubscriptionVariables } from './generated/graphql.ts';
import { FOLLOW_TURN, type Frame } from './live-documents.ts';
import { TurnPrinter } from './turn-printer.ts';
import { applyFrame, emptyView, TextMissing, type Turn, type View } from './turn-view.ts';

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 10_000;
/** A server that is gone without a word is noticed within two of them. */
const PING_MS = 10_000;
const WRONG_TOKEN = 4403;
const NO_SUCH_CURSOR = 'CURSOR_INVALID';
const OTHER_CONVERSATION = 'CURSOR_FOREIGN';
/** Errors after which there is no use in trying again. */
const FINAL = new Set(['NOT_FOUND', 'INVALID_INPUT', 'GRAPHQL_VALIDATION_FAILED', 'BAD_USER_INPUT', OTHER_CONVERSATION]);

/** What the file of `--state` holds: the cursor, and what it stands for. */
interface State {
  readonly cursor: string;
  readonly turns: Turn[];
  readonly printed: readonly string[];
}

class Refused extends Error {
  readonly codes: readonly string[];

  constructor(errors: unknown) {
    const list = Array.isArray(errors) ? (errors as { message?: string; extensions?: { code?: string } }[]) : [];
    super(list.map(({ message }) => plain(message)).join('\n'));
    this.codes = list.flatMap(({ extensions }) => extensions?.code ?? []);
  }
}

const { values: flags, positionals } = parseArgs({
  options: { json: { type: 'boolean', default: false }, state: { type: 'string' } },
  allowPositionals: true,
});
const [sessionId, ...where] = positionals;
if (sessionId === undefined) fail('Give the id of a session, and the address that the server printed.');
const address = addressFrom(where);

const state = flags.state === undefined ? null : readState(flags.state);
let view: View = { ...emptyView(), turns: state?.turns ?? [] };
const printer = new TurnPrinter(process.stdout, state?.printed);
// The client subscribes with this very object again when it was cut off, hence from the newest cursor.
const variables: FollowTurnSubscriptionVariables = {
  sessionId,
  after: state?.cursor ?? null,
  options: { messages: flags.json ? 'IDS' : 'FULL' },
};

let failures = 0;
let wasConnected = false;
let unanswered: NodeJS.Timeout | undefined;
const client = createClient({
  url: address.graphql.replace(/^http/, 'ws'),
  connectionParams: { token: address.token },
  keepAlive: PING_MS,
  retryAttempts: Number.POSITIVE_INFINITY,
  shouldRetry: (event) => !isWrongToken(event),
  retryWait: (retries) => sleep(waitAfter(retries)),
  on: {
    connected: () => {
      notice(`Connected to ${address.graphql}.`);
      wasConnected = true;
    },
    closed: (event) => {
      clearTimeout(unanswered);
      if (!isWrongToken(event)) notice(wasConnected ? 'The connection is lost; trying again.' : `No server at ${address.graphql} yet.`);
      wasConnected = false;
    },
    ping: (received) => {
      if (!received) unanswered = setTimeout(() => client.terminate(), PING_MS);
    },
    pong: (received) => {
      if (received) clearTimeout(unanswered);
    },
  },
});

// A reader like head may have seen enough.
process.stdout.on('error', () => process.exit(0));
for (;;) {
  try {
    for await (const { data, errors } of client.iterate<FollowTurnSubscription>({ query: String(FOLLOW_TURN), variables })) {
      if (!data) throw new Refused(errors);
      take(data.liveTurn);
      failures = 0;
    }
    // The server has ended it, as when it is being stopped.
  } catch (error) {
    recover(error);
  }
  await sleep(waitAfter(failures++));
}

/** A frame is taken as a whole: shown, then its cursor is kept. */
function take(frame: Frame): void {
  if (flags.json) console.log(JSON.stringify(frame));
  for (const event of frame.events) {
    applyFrame(view, { events: [event] });
    if (!flags.json) printer.show(view, event);
  }
  if (!flags.json) printer.draw(view);
  variables.after = frame.cursor;
  if (flags.state !== undefined) writeState(flags.state, { cursor: frame.cursor, turns: view.turns, printed: printer.printed });
}

function notice(sentence: string): void {
  if (!flags.json) printer.clear();
  console.error(sentence);
}

/** What can be helped by subscribing again is; everything else ends the program with a sentence. */
function recover(error: unknown): void {
  if (isWrongToken(error)) fail('That is not the token of this server.');
  if (error instanceof TextMissing) {
    beginAnew();
    return;
  }
  const refused = error instanceof Refused ? error : Array.isArray(error) ? new Refused(error) : null;
  if (refused === null) {
    if (error instanceof Error) throw error;
    return;
  }
  if (refused.codes.includes(NO_SUCH_CURSOR) && variables.after != null) {
    beginAnew();
    return;
  }
  if (refused.codes.some((code) => FINAL.has(code))) fail(refused.message);
  notice(`${refused.message} Trying again.`);
}

function beginAnew(): void {
  view = emptyView();
  variables.after = null;
}

/** Not in step with other clients of a server that comes back. */
function waitAfter(times: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** times, LONGEST_WAIT_MS) * (0.5 + Math.random() / 2);
}

function isWrongToken(event: unknown): boolean {
  return typeof event === 'object' && event !== null && 'code' in event && event.code === WRONG_TOKEN;
}

function readState(path: string): State | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as State;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    return fail(`${path} can't be read: ${plain(String(error))}`);
  }
}

/** Written beside and renamed: it is whole at any moment. */
function writeState(path: string, kept: State): void {
  writeFileSync(`${path}.tmp`, JSON.stringify(kept), { mode: 0o600 });
  renameSync(`${path}.tmp`, path);
}
