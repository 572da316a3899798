/** Following a turn from outside, over real sockets and real ends of processes (`docs/live-protocol.md`, `spec/live-turns.md` 12 to 16). */
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type EventOf, FOLLOW_TURN, FOLLOWED_FRAME, FOLLOWED_SNAPSHOT, type Frame, type LiveEvent } from '../../examples/live-documents.ts';
import { liveIds } from '../../examples/transcript-view.ts';
import { printable } from '../../examples/turn-printer.ts';
import { applyFrame, emptyView, openTurn, type Turn, type View } from '../../examples/turn-view.ts';
import { printedAddress } from '../support/graphiql.ts';
import { type EventStream, eventStream } from '../support/http.ts';
import { playedHome } from '../support/played-home.ts';
import { eventually, type RunningProgram, runProgram, startTestServer, type TestServer } from '../support/server.ts';
import { createSocketClient, type Message, RawSocket, subscribe } from '../support/sockets.ts';
import { temporaryFolder } from '../support/stores.ts';
import type { WebUi } from '../support/web-ui-turn.ts';

interface PolledState {
  readonly liveState: EventOf<'LiveSnapshot'> & { readonly cursor: string };
}
const POLL_STATE = `${FOLLOWED_SNAPSHOT} query PollState($sessionId: String!) { liveState(sessionId: $sessionId) { __typename cursor id class sessionId depth runId late ...FollowedSnapshot } }`;
const POLL_EVENTS = `${FOLLOWED_FRAME} query PollEvents($sessionId: String!, $after: LiveCursor!, $first: Int) { liveEvents(sessionId: $sessionId, after: $after, first: $first) { ...FollowedFrame } }`;

/** The same address, another process. */
async function restarted(server: TestServer): Promise<TestServer> {
  await server.stop('SIGKILL');
  return startTestServer({ home: server.home, settings: { port: new URL(server.url).port } });
}

function followTurn(server: TestServer, ...args: string[]): RunningProgram {
  const program = runProgram(fileURLToPath(new URL('../../examples/follow-turn.ts', import.meta.url)), [
    's',
    printedAddress(server),
    ...args,
  ]);
  onTestFinished(() => void program.child.kill());
  return program;
}

const framesIn = (stdout: string): Frame[] =>
  stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Frame);
const eventsIn = (frames: readonly Frame[]): LiveEvent[] => frames.flatMap(({ events }) => events);
const ends = (events: readonly LiveEvent[]) => events.filter(({ __typename }) => __typename === 'TurnEnded').length;

/** What a reader would hold after the frames; turns that ended as well. */
function folded(frames: readonly Frame[]): { view: View; turns: Turn[] } {
  const view = emptyView();
  const turns = new Map<string, Turn>();
  for (const event of eventsIn(frames)) {
    applyFrame(view, { events: [event] });
    for (const turn of view.turns) turns.set(turn.turnId, turn);
  }
  return { view, turns: [...turns.values()] };
}

const textsOf = (turn: Turn | undefined) => turn?.text.map(({ text }) => text);
const spoken = (texts: readonly string[]) => texts.filter((text) => text !== '');

/** Facts that may be told once only. */
function contentIds(frames: readonly Frame[]): string[] {
  return eventsIn(frames).flatMap((event) => (event.class === 'CONTENT' ? [event.id] : []));
}

/** Frames up to the end of the first turn, asked for one by one. */
async function collected(next: (cursor: string) => Promise<Frame>, first?: Frame): Promise<Frame[]> {
  const frames = first === undefined ? [] : [first];
  while (ends(eventsIn(frames)) === 0) frames.push(await next(frames.at(-1)?.cursor ?? ''));
  return frames;
}

async function poll(server: TestServer, sessionId: string, after: string): Promise<Frame> {
  await sleep(20);
  return (await server.read<{ liveEvents: Frame }, unknown>(POLL_EVENTS, { sessionId, after, first: 3 })).liveEvents;
}

function frameIn(message: Message): Frame {
  return (message.payload as { data: { liveTurn: Frame } }).data.liveTurn;
}

async function frameOf(stream: EventStream): Promise<Frame> {
  const event = await stream.next();
  if (event === null) throw new Error('the stream ended');
  return (event.data as { data: { liveTurn: Frame } }).data.liveTurn;
}

/** What was told but for text, which comes in pieces: each fact with all that was said of it, since a later state may be joined to it. */
function facts(frames: readonly Frame[]): LiveEvent[] {
  const told = new Map<string, LiveEvent>();
  for (const event of eventsIn(frames)) {
    const isPiece = event.__typename === 'TextDelta' || event.__typename === 'ReasoningDelta';
    if (!isPiece && (event.class === 'CONTENT' || told.has(event.id))) told.set(event.id, { ...event, class: 'CONTENT' });
  }
  return [...told.values()];
}

let server: TestServer;
let ui: WebUi;
/** How a client that answers no ping is left, and after how many milliseconds. */
let halfOpen: Promise<{ code: number; ms: number }>;
/** One that has stopped reading, while more is told than the system's buffers take. */
let stalled: RawSocket;
let stalledAt = 0;
beforeAll(async () => {
  const place = await playedHome();
  ui = place.ui;
  server = await startTestServer({ home: place.home });
  const raw = await RawSocket.connect(server);
  raw.subscribe('1', FOLLOW_TURN, { sessionId: 's' });
  await raw.next();
  // As if its machine had lost power: the connection stands, and nobody answers.
  raw.socket.pong = () => {};
  const since = performance.now();
  halfOpen = raw.closed().then(({ code }) => ({ code, ms: performance.now() - since }));
  await ui.createSession('unread');
  await ui.submit({ sessionId: 'unread', runId: 'unread-run', text: 'Go on.' });
  stalled = await RawSocket.connect(server);
  stalledAt = performance.now();
  stalled.subscribe('1', FOLLOW_TURN, { sessionId: 'unread' });
  await ui.journal('unread', 'unread-run', [{ event: 'token', payload: { text: 'It begins. ' } }]);
  await eventually(() => stalled.received >= 1);
  stalled.socket.pause();
  await ui.journal('unread', 'unread-run', UNREAD);
});

/** Less than the server keeps of a conversation. */
const UNREAD = Array.from({ length: 350 }, (_, index) => ({ event: 'token', payload: { text: `${index} `.padEnd(20_000, 'a word ') } }));

describe('follow-turn', () => {
  it('ends with exactly what was said, though the server is killed in the middle, and tells nothing twice', async () => {
    const { home, ui } = await playedHome();
    let server = await startTestServer({ home });
    const json = followTurn(server, '--json');
    const plain = followTurn(server);
    await eventually(() => json.stdout() !== '' && plain.stderr().includes('Connected'), 15_000);
    const playing = ui.play('s', { seed: 11, rounds: 4, words: 40, beatMs: 300 });
    await eventually(() => json.stdout().includes('"TextDelta"'), 15_000);
    expect(json.stdout()).not.toContain('"TurnEnded"');
    server = await restarted(server);
    const before = json.stdout().length;
    await eventually(() => json.stdout().length > before, 15_000);
    server = await restarted(server);
    const played = await playing;
    await eventually(() => ends(eventsIn(framesIn(json.stdout()))) === 1 && plain.stdout().endsWith('— completed\n'), 20_000);
    const frames = framesIn(json.stdout());
    const { turns, view } = folded(frames);
    expect(turns.map(textsOf)).toEqual([spoken(played.texts)]);
    expect(openTurn(view)).toBeNull();
    const ids = contentIds(frames);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(frames.flatMap(({ events }) => events.map(({ __typename }) => __typename)).filter((kind) => kind === 'LiveSnapshot')).toEqual([
      'LiveSnapshot',
    ]);
    const lines = plain.stdout();
    let at = 0;
    for (const text of spoken(played.texts)) {
      const found = lines.indexOf(`\n${printable(text)}\n`, at);
      expect(found, text).toBeGreaterThanOrEqual(at);
      at = found + 1;
    }
    expect(lines.match(/— completed/g)).toHaveLength(1);
  });

  it('goes on where it was after its own end, with a file that keeps the cursor', async () => {
    const { home, ui } = await playedHome();
    const server = await startTestServer({ home });
    const state = join(temporaryFolder(), 'state.json');
    const first = followTurn(server, '--json', '--state', state);
    await eventually(() => existsSync(state), 15_000);
    const playing = ui.play('s', { seed: 12, rounds: 2, words: 40, beatMs: 200 });
    await eventually(() => first.stdout().includes('"TextDelta"'), 15_000);
    first.child.kill('SIGKILL');
    await once(first.child, 'close');
    const { texts } = await playing;
    const second = followTurn(server, '--json', '--state', state);
    await eventually(() => second.stdout().includes('"TurnEnded"'), 15_000);
    // The last line may have been printed without its cursor having been kept: then it comes again.
    const before = framesIn(first.stdout());
    const kept = () => (JSON.parse(readFileSync(state, 'utf8')) as { cursor: string }).cursor;
    await eventually(() => framesIn(second.stdout()).at(-1)?.cursor === kept());
    const after = framesIn(second.stdout());
    const { turns } = folded([...before, ...after]);
    expect(turns.map(textsOf)).toEqual([spoken(texts)]);
    const ids = contentIds([...before, ...after]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('prints nothing that could change a terminal', async () => {
    const { home, ui } = await playedHome();
    const server = await startTestServer({ home });
    const plain = followTurn(server);
    await eventually(() => plain.stderr().includes('Connected'), 15_000);
    const hostile = '\u001b[2J\u001b]0;owned\u0007safe\u009b31m \u202eevil\u0000\r\nnext';
    await sleep(300);
    await ui.submit({ sessionId: 's', runId: 'r', text: `ask ${hostile}` });
    await ui.rows('s', [{ role: 'user', content: `ask ${hostile}` }]);
    await ui.journal('s', 'r', [{ event: 'token', payload: { text: hostile } }]);
    await ui.rows('s', [{ role: 'assistant', content: hostile }]);
    await ui.settle({ sessionId: 's', runId: 'r' });
    await ui.journal('s', 'r', [
      { event: 'done', payload: {} },
      { event: 'stream_end', payload: { session_id: 's' } },
    ]);
    await eventually(() => plain.stdout().includes('— completed'), 15_000);
    expect(plain.stdout()).toBe('> ask safe31m evil\nnext\nsafe31m evil\nnext\n— completed\n');
  });

  it('ends with a sentence when the token is wrong', async () => {
    const { home } = await playedHome();
    const server = await startTestServer({ home });
    const path = fileURLToPath(new URL('../../examples/follow-turn.ts', import.meta.url));
    const program = runProgram(path, ['s', server.url, 'not-the-token-of-this']);
    const [code] = (await once(program.child, 'close')) as unknown[];
    expect([code, program.stdout(), program.stderr()]).toEqual([1, '', 'That is not the token of this server.\n']);
  });
});

describe('liveTurn', () => {
  it('gives the same events over WebSocket, over SSE and to those who poll', async () => {
    const client = createSocketClient(server);
    const socket = subscribe<{ liveTurn: Frame }>(client, FOLLOW_TURN, { sessionId: 's' });
    const stream = await eventStream(server, FOLLOW_TURN, { sessionId: 's' });
    const state = (await server.read<PolledState, unknown>(POLL_STATE, { sessionId: 's' })).liveState;
    const overSocket = collected(async () => (await socket.next()).liveTurn);
    const overEvents = collected(() => frameOf(stream));
    const polled = collected((cursor) => poll(server, 's', cursor), { cursor: state.cursor, catchUp: false, events: [state] });
    const played = await ui.play('s', { seed: 21, rounds: 3, words: 20, beatMs: 100 });
    const all = await Promise.all([overSocket, overEvents, polled]);
    for (const frames of all) {
      const { turns, view } = folded(frames);
      expect(turns.map(textsOf)).toEqual([spoken(played.texts)]);
      expect(turns[0]?.reasoning.map(({ text }) => text)).toEqual(played.reasonings);
      expect([openTurn(view), view.transcript.tip]).toEqual([null, 's']);
    }
    const [first, ...others] = all.map(facts);
    expect(first?.length).toBeGreaterThan(10);
    for (const told of others) expect(told).toEqual(first);
    stream.leave();
    await client.dispose();
  });

  it('refuses a cursor that it did not make, and one of another conversation, whichever way it comes', async () => {
    await ui.createSession('other', { title: 'Other', rows: [{ role: 'user', content: 'hi' }] });
    const { cursor } = (await server.read<PolledState, unknown>(POLL_STATE, { sessionId: 's' })).liveState;
    const cases = [
      ['nonsense', 's', 'CURSOR_INVALID'],
      [`${cursor.slice(0, 20)}${cursor[20] === 'A' ? 'B' : 'A'}${cursor.slice(21)}`, 's', 'CURSOR_INVALID'],
      [cursor, 'other', 'CURSOR_FOREIGN'],
    ] as const;
    for (const [after, sessionId, code] of cases) {
      const error = await server.error(POLL_EVENTS, { sessionId, after });
      expect([error.extensions.code, error.path]).toEqual([code, ['liveEvents']]);
      const raw = await RawSocket.connect(server);
      raw.subscribe('1', FOLLOW_TURN, { sessionId, after });
      expect(JSON.stringify(await raw.next())).toContain(`"code":"${code}"`);
      raw.socket.terminate();
      const stream = await eventStream(server, FOLLOW_TURN, { sessionId, after });
      expect(JSON.stringify(await stream.next())).toContain(`"code":"${code}"`);
      stream.leave();
    }
    expect((await server.read<{ liveEvents: Frame }, unknown>(POLL_EVENTS, { sessionId: 's', after: cursor })).liveEvents.events).toEqual(
      [],
    );
  });

  it('waits for a session that is not there yet', async () => {
    expect((await server.read<{ liveState: null }, unknown>(POLL_STATE, { sessionId: 'later' })).liveState).toBeNull();
    const client = createSocketClient(server);
    const feed = subscribe<{ liveTurn: Frame }>(client, FOLLOW_TURN, { sessionId: 'later' });
    const first = (await feed.next()).liveTurn;
    expect(first.events).toMatchObject([{ __typename: 'LiveSnapshot', reason: 'INITIAL', turn: null, head: null }]);
    const frames = collected(async () => (await feed.next()).liveTurn, first);
    await ui.createSession('later', { title: 'Later' });
    const played = await ui.play('later', { seed: 22, rounds: 1, words: 10, beatMs: 60 });
    const { turns, view } = folded(await frames);
    expect(turns.map(textsOf)).toEqual([spoken(played.texts)]);
    const { session } = await server.read<{ session: { messages: { nodes: { rowId: string }[] } } }, unknown>(
      '{ session(sessionId: "later") { messages(view: LIVE) { nodes { rowId } } } }',
    );
    expect(liveIds(view.transcript)).toEqual(session.messages.nodes.map(({ rowId }) => rowId));
    await client.dispose();
  });

  it('leaves a client that answers no ping within 40 seconds', async () => {
    const { code, ms } = await halfOpen;
    expect(code).toBe(1006);
    expect(ms).toBeLessThan(40_000);
  });

  it('74: leaves one that reads nothing as well, and he goes on exactly where he had come to', async () => {
    // A little longer than two pings: when it is read too early it answers them.
    await sleep(Math.max(0, stalledAt + 26_000 - performance.now()));
    stalled.socket.resume();
    const frames: Frame[] = [];
    for (let message = await stalled.next().catch(() => null); message !== null; message = await stalled.next().catch(() => null))
      frames.push(frameIn(message));
    expect((await stalled.closed()).code).toBe(1006);
    expect(folded(frames).turns[0]?.ended).toBeNull();
    await ui.settle({ sessionId: 'unread', runId: 'unread-run' });
    await ui.journal('unread', 'unread-run', [{ event: 'done', payload: {} }]);
    const back = await RawSocket.connect(server);
    back.subscribe('1', FOLLOW_TURN, { sessionId: 'unread', after: frames.at(-1)?.cursor });
    const all = [...frames, ...(await collected(async () => frameIn(await back.next())))];
    back.socket.close();
    expect(textsOf(folded(all).turns[0])).toEqual([`It begins. ${UNREAD.map(({ payload }) => payload.text).join('')}`]);
    const ids = contentIds(all);
    expect(ids.length).toBe(new Set(ids).size);
  });
});
