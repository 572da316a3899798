/** What a reader holds after turns were played, against what the store and the journals hold. */
import { BODY_FIELDS, type Body, type LiveReader, type Told } from './live-reader.ts';
import type { TestServer } from './server.ts';
import type { Played } from './web-ui-turn.ts';

export interface PlayedRun extends Played {
  /** Epoch seconds; the end a little later than it was written. */
  readonly begunAt: number;
  readonly endedAt: number;
  readonly cancelled: boolean;
}

export interface Outcome {
  readonly reader: LiveReader;
  /** In the order in which they were played. */
  readonly runs: readonly PlayedRun[];
  /** The live end of the conversation. */
  readonly tip: string;
  /** Its live rows, from the file itself. */
  readonly liveRows: () => readonly { readonly id: number; readonly role: string; readonly content: string | null }[];
  /** The segments of text that the run's journal has. */
  readonly journaled: (run: Pick<Played, 'runId'>) => readonly string[];
}

/** A run's end is noted later than it was written, and a frame arrives later than it was made. */
const SLACK_SECONDS = 0.5;

/** Where what the reader holds and was told differs from what the store and the journals hold; [] when nowhere. */
export async function differences(chaos: Outcome, running: TestServer): Promise<string[]> {
  const { reader, runs } = chaos;
  const held = reader.liveIds.map((id) => reader.bodies.get(id) ?? id);
  const told = await everyBody(running, chaos.tip, 'LIVE', 'SEGMENT');
  const stored = chaos.liveRows().map(({ id, role, content }) => [String(id), role, content]);
  const ids = reader.liveIds;
  const found: (string | null)[] = [
    firstDifference(
      'live ids',
      ids,
      told.map(({ rowId }) => rowId),
    ),
    firstDifference('live messages', held, told),
    firstDifference(
      'rows of the file',
      ids.map((id) => [id, reader.bodies.get(id)?.rawRole, reader.bodies.get(id)?.text]),
      stored,
    ),
  ];
  // After a reset the copies of a message aren't known by their pairs any more.
  if (reader.resets.length === 0) {
    const shown = await everyBody(running, chaos.tip, 'DISPLAY', 'CONVERSATION');
    found.push(
      firstDifference(
        'shown messages',
        reader.shownIds,
        shown.map(({ rowId }) => rowId),
      ),
    );
  }
  found.push(firstDifference('content told twice', reader.repeated, []));
  found.push(trailDifference(reader.trail, runs));
  for (const run of runs) found.push(...turnDifferences(chaos, run));
  return found.filter((difference) => difference !== null);
}

/** The first place where two lists differ, as a sentence; null when they are equal. */
function firstDifference(what: string, held: readonly unknown[], wanted: readonly unknown[]): string | null {
  for (let index = 0; index < Math.max(held.length, wanted.length); index += 1) {
    const [one, other] = [JSON.stringify(held[index]), JSON.stringify(wanted[index])];
    if (one !== other) return `${what}, number ${index}: the reader has ${one}, the store ${other} (${held.length} and ${wanted.length})`;
  }
  return null;
}

async function everyBody(
  server: TestServer,
  sessionId: string,
  view: 'LIVE' | 'DISPLAY',
  scope: 'SEGMENT' | 'CONVERSATION',
): Promise<Body[]> {
  const bodies: Body[] = [];
  const query = `query Page($after: String) { session(sessionId: "${sessionId}") { messages(view: ${view}, scope: ${scope}, first: 200, after: $after) {
    pageInfo { hasNextPage endCursor } nodes { ${BODY_FIELDS} } } } }`;
  for (let after: string | null = null; ; ) {
    type Page = { session: { messages: { pageInfo: { hasNextPage: boolean; endCursor: string | null }; nodes: Body[] } } };
    const { messages }: Page['session'] = (await server.read<Page, unknown>(query, { after })).session;
    bodies.push(...messages.nodes);
    if (!messages.pageInfo.hasNextPage) return bodies;
    after = messages.pageInfo.endCursor;
  }
}

/** Of a run whose end was told the reader has all of the text. */
function turnDifferences(chaos: Outcome, run: PlayedRun): (string | null)[] {
  const { turns, trail } = chaos.reader;
  const turn = turns.get(run.runId);
  if (turn === undefined || !trail.some(({ kind, turnId }) => kind === 'ENDED' && turnId === run.runId)) return [];
  const of = `turn ${run.runId} (${run.cancelled ? 'cancelled' : 'complete'})`;
  const texts = turn.text.map(({ text }) => text);
  const thoughts = turn.reasoning.map(({ text }) => text);
  return [
    firstDifference(`text of ${of}`, texts, chaos.journaled(run)),
    run.cancelled
      ? null
      : firstDifference(
          `words of ${of}`,
          texts,
          run.texts.filter((text) => text !== ''),
        ),
    run.cancelled ? null : firstDifference(`thoughts of ${of}`, thoughts, run.reasonings),
  ];
}

/** Each run begins once and ends once, in the order in which they were played; only what was over before a snapshot may be missing. */
function trailDifference(trail: readonly Told[], runs: readonly PlayedRun[]): string | null {
  const wanted = runs.flatMap((run) => [
    { ...run, kind: 'STARTED' },
    { ...run, kind: 'ENDED' },
  ]);
  let next = 0;
  /** When a snapshot was told that may stand for what is missing. */
  let snapshotAt: number | null = null;
  for (const { kind, turnId, at } of trail) {
    if (kind === 'SNAPSHOT' && turnId === null) {
      snapshotAt = at;
      continue;
    }
    const index = wanted.findIndex((each) => each.runId === turnId && each.kind === (kind === 'SNAPSHOT' ? 'ENDED' : kind));
    const since = kind === 'SNAPSHOT' ? at : snapshotAt;
    const missing = wanted.slice(next, index).filter((each) => each.runId !== turnId || kind !== 'SNAPSHOT');
    const lost = since === null ? missing[0] : missing.find(({ endedAt }) => endedAt > since + SLACK_SECONDS);
    if (index < next || lost !== undefined) return `${kind} of ${turnId} was told, not ${wanted[next]?.kind} of ${wanted[next]?.runId}`;
    next = kind === 'SNAPSHOT' ? index : index + 1;
    snapshotAt = null;
  }
  const since = snapshotAt;
  const lost = wanted.slice(next).find(({ endedAt }) => since === null || endedAt > since + SLACK_SECONDS);
  return lost === undefined ? null : `${lost.kind} of ${lost.runId} was not told`;
}
