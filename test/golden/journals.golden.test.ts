/** Run journals and turn journals against upstream's readers and writers: every case is equal, or a deviation of the table below. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { boundArgs } from '../../src/live/journal/bounded-json.ts';
import type { RunName } from '../../src/live/journal/line.ts';
import { replaySession } from '../../src/live/journal/replay.ts';
import { readRunEvents } from '../../src/live/journal/run-events.ts';
import { sessionsOfRun, summarizeRun } from '../../src/live/journal/run-summary.ts';
import { terminalStateOf } from '../../src/live/journal/terminal.ts';
import { deriveTurnStates, readTurnJournal, type TurnJournalEvent } from '../../src/live/journal/turn-journal.ts';
import { isJsonObject } from '../../src/state-db/decode.ts';
import { fixturesDir, goldenDifference, loadGolden } from '../support/golden.ts';
import { journalLine } from '../support/journal-shape.ts';
import {
  decoded,
  rawLine,
  summaryToUpstream,
  toUpstream,
  type UpstreamRead,
  withMalformed,
  withoutOpenEnd,
} from '../support/journal-upstream.ts';

const FILE = 'webui-home journals';
const golden = loadGolden<GoldenJournalCase>('webui-home', 'journals');

interface GoldenJournalCase {
  readonly function: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: { readonly type: string };
  readonly projection?: unknown;
}

/** Where this server answers otherwise on purpose, with the number of cases of this file that each covers. */
const DEVIATIONS = {
  'journal-bad-id': {
    cases: 4,
    upstream: 'raises for an id outside the alphabet',
    ours: 'the run is absent',
    rule: 'webui-recovery 3.1: a bad id makes every read of that run absent, not an error',
  },
  'journal-bad-seq': {
    cases: 6,
    upstream: 'hands out an object without a number, and raises for it when a window is asked for',
    ours: 'the line is malformed, the others are read',
    rule: 'live-turns 8.3.6: an integer of 1 or more, anything else is malformed',
  },
  'journal-foreign-line': {
    cases: 4,
    upstream: 'takes lines that name another session',
    ours: 'malformed',
    rule: 'webui-recovery D18, live-turns 8.3.6',
  },
  'journal-open-end': {
    cases: 1,
    upstream: 'what follows the last newline is a malformed line',
    ours: 'it is no line yet: it may be in the middle of being written',
    rule: 'live-turns 8.3.3',
  },
  'journal-no-synthetic-end': {
    cases: 4,
    upstream: 'invents a numbered event when a dead run has no end',
    ours: 'no event without a line: liveness is judged from evidence',
    rule: 'live-turns 3.5: never persist or number such events',
  },
} as const;

type DeviationId = keyof typeof DEVIATIONS;

const home = mkdtempSync(join(tmpdir(), 'caduceus-webui-home-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));
cpSync(join(fixturesDir(), 'stores', 'webui-home'), home, { recursive: true });
const runs = join(home, 'webui', 'sessions', '_run_journal');
const turns = join(home, 'webui', 'sessions', '_turn_journal');

type Verdict = readonly DeviationId[] | { readonly difference: string };

/** Equal, or equal once the golden answer is changed as the deviations say. */
function verdict(
  actual: unknown,
  expected: unknown,
  adjust: readonly (readonly [DeviationId, (value: unknown) => unknown])[] = [],
): Verdict {
  let wanted = expected;
  const used: DeviationId[] = [];
  let difference = goldenDifference(actual, wanted, { homeDir: home });
  for (const [id, change] of adjust) {
    if (difference === null) break;
    const changed = change(wanted);
    if (JSON.stringify(changed) === JSON.stringify(wanted)) continue;
    wanted = changed;
    used.push(id);
    difference = goldenDifference(actual, wanted, { homeDir: home });
  }
  return difference === null ? used : { difference };
}

const named = (args: GoldenJournalCase['args']): RunName => ({ sessionId: String(args.session_id), runId: String(args.run_id) });

const hasBadSeq = ({ seq }: Record<string, unknown>) => typeof seq !== 'number';
const isForeign = (session: string) => (event: Record<string, unknown>) => event.session_id !== undefined && event.session_id !== session;

async function readRun({ args, result, error, projection }: GoldenJournalCase): Promise<Verdict> {
  const { sessionId, runId } = named(args);
  const window = {
    ...(typeof args.after_seq === 'number' ? { afterSeq: args.after_seq } : {}),
    ...(typeof args.max_seq === 'number' ? { maxSeq: args.max_seq } : {}),
  };
  const page = await readRunEvents(runs, sessionId, runId, { limit: 4096, ...window });
  const path = join(runs, sessionId, `${runId}.jsonl`);
  const ours = {
    session_id: sessionId,
    run_id: runId,
    events: (page?.records ?? []).map((record) => toUpstream({ sessionId, runId }, record)),
    malformed: (page?.malformed ?? []).map(({ line }) => ({ line, raw: rawLine(path, line) })),
  };
  if (error !== undefined) {
    if (page === null) return ['journal-bad-id'];
    const whole = withMalformed(path, (event) => hasBadSeq(event) || isForeign(sessionId)(event))(readWhole(args));
    const inWindow = (whole as UpstreamRead).events.filter(
      ({ seq }) => Number(seq) > (window.afterSeq ?? 0) && Number(seq) <= (window.maxSeq ?? Number.MAX_SAFE_INTEGER),
    );
    return verdict(ours.events, inWindow).toString() === ''
      ? ['journal-bad-seq']
      : { difference: 'not the window of the records that are whole' };
  }
  if (projection !== undefined)
    return verdict(
      ours.events.map(({ seq }) => seq),
      result,
    );
  return verdict(ours, result, [
    ['journal-bad-seq', withMalformed(path, hasBadSeq)],
    ['journal-foreign-line', withMalformed(path, isForeign(sessionId))],
    ['journal-open-end', withoutOpenEnd(path)],
  ]);
}

/** The golden answer to the same run without a window. */
function readWhole(args: GoldenJournalCase['args']): unknown {
  const isWhole = (each: GoldenJournalCase) =>
    each.function === 'read_run_events' && each.args.run_id === args.run_id && Object.keys(each.args).length === 2;
  return golden.cases.find(isWhole)?.result;
}

/** Upstream's summary as it would be without the records that we don't take. */
function summaryRules(sessionId: string, runId: string) {
  const whole = readWhole({ session_id: sessionId, run_id: runId }) as UpstreamRead | undefined;
  const without = (drop: (event: Record<string, unknown>) => boolean) => (value: unknown) => {
    const summary = value as Record<string, unknown>;
    const kept = (whole?.events ?? []).filter((event) => !hasBadSeq(event) && !isForeign(sessionId)(event));
    const last = kept.at(-1);
    const count = Number(summary.event_count) - (whole?.events ?? []).filter(drop).length;
    return { ...summary, event_count: count, last_seq: last?.seq, last_event_id: last?.event_id, last_event: last?.event };
  };
  return [
    ['journal-bad-seq', without(hasBadSeq)],
    ['journal-foreign-line', without(isForeign(sessionId))],
  ] as const;
}

async function summarize({ args, result }: GoldenJournalCase): Promise<Verdict> {
  const { sessionId, runId } = named(args);
  return verdict(summaryToUpstream(await summarizeRun(runs, sessionId, runId)), result, summaryRules(sessionId, runId));
}

async function findRun({ args, result }: GoldenJournalCase): Promise<Verdict> {
  const runId = String(args.run_id);
  const [sessionId = ''] = await sessionsOfRun(runs, runId);
  const ours = { ...summaryToUpstream(await summarizeRun(runs, sessionId, runId)), path: join(runs, sessionId, `${runId}.jsonl`) };
  return verdict(ours, result, summaryRules(sessionId, runId));
}

/** No event of ours; but what upstream makes it of must be what we say of the run. */
async function staleEnd({ args, result }: GoldenJournalCase): Promise<Verdict> {
  const { sessionId, runId } = named(args);
  const summary = await summarizeRun(runs, sessionId, runId);
  const lacksEnd = summary !== null && summary.terminalState === 'running';
  if (result === null) return lacksEnd ? { difference: 'upstream sees an end, we see none' } : [];
  const told = isJsonObject(result) && isJsonObject(result.payload) ? Number(result.payload.journal_last_seq) : -1;
  if (!lacksEnd) return { difference: 'upstream sees no end, we see one' };
  const whole = readWhole(args) as UpstreamRead;
  const own = whole.events.filter((event) => !hasBadSeq(event) && !isForeign(sessionId)(event));
  const foreign = own.length === whole.events.length ? [] : (['journal-foreign-line'] as const);
  const sameLast = foreign.length === 0 ? told === summary.lastSeq : summary.lastSeq === own.at(-1)?.seq;
  return sameLast ? ['journal-no-synthetic-end', ...foreign] : { difference: `last number ${told}, ours is ${summary.lastSeq}` };
}

async function replay({ args, result }: GoldenJournalCase): Promise<Verdict> {
  const sessionId = String(args.session_id);
  const { status, events } = await replaySession(runs, sessionId, '');
  return verdict({ session_id: sessionId, cursor_run_id: null, cursor_seq: null, status: status.toLowerCase(), events }, result);
}

/** Our test writer goes on where the journal ends, and writes what upstream writes. */
async function append({ args, result }: GoldenJournalCase): Promise<Verdict> {
  const run = named(args);
  const lastSeq = (await summarizeRun(runs, run.sessionId, run.runId))?.lastSeq ?? 0;
  const entries = [
    { event: 'token', payload: { text: 'é' } },
    { event: 'done', payload: { terminal_state: 'tool_limit_reached' } },
  ];
  const lines = entries.map((entry, index) => journalLine(run, { ...entry, seq: lastSeq + index + 1, createdAt: golden.now }));
  const written = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const keys = (value: unknown) => (value as Record<string, unknown>[]).map((each) => Object.keys(each).join()).join(' ');
  if (keys(written) !== keys(result)) return { difference: 'other keys, or in another order' };
  if (lines.some((line) => /": |, "|\\u/.test(line))) return { difference: 'not compact, or escaped' };
  return verdict(written, result);
}

const malformedTurnLines = (malformed: readonly { readonly line: number; readonly shard: string }[]) =>
  malformed.map(({ line, shard }) => ({ line, raw: rawLine(join(turns, shard), line), shard }));

async function readTurns({ args, result }: GoldenJournalCase): Promise<Verdict> {
  const { events, malformed } = await readTurnJournal(turns, String(args.session_id));
  return verdict(
    { session_id: args.session_id, events: events.map(({ fields }) => fields), malformed: malformedTurnLines(malformed) },
    result,
  );
}

async function turnStates({ args, result }: GoldenJournalCase): Promise<Verdict> {
  const { events } = await readTurnJournal(turns, String(args.session_id));
  const { states, collisions } = deriveTurnStates(events);
  const fieldsOf = (each: readonly TurnJournalEvent[]) => each.map(({ fields }) => fields);
  const ours = {
    states: Object.fromEntries([...states].map(([turnId, { fields }]) => [turnId, fields])),
    collisions: collisions.map(({ turnId, events: ends }) => ({ turn_id: turnId, events: fieldsOf(ends) })),
  };
  return verdict(ours, result);
}

const HANDLERS: Readonly<Record<string, (golden: GoldenJournalCase) => Verdict | Promise<Verdict>>> = {
  read_run_events: readRun,
  latest_run_summary: summarize,
  find_run_summary: findRun,
  stale_interrupted_event: staleEnd,
  read_session_run_events: replay,
  'RunJournalWriter.append_sse_event': append,
  _terminal_state_for_event: ({ args, result }) =>
    verdict(terminalStateOf(String(args.event_name), isJsonObject(args.payload) ? args.payload : null), result),
  bound_run_journal_snapshot_args: ({ args, result }) => verdict(boundArgs(decoded(args.args)), result),
  read_turn_journal: readTurns,
  derive_turn_journal_states: turnStates,
};

it('upstream agrees on run journals and turn journals: every case is equal or a deviation of the table', async () => {
  const differences: string[] = [];
  const counts = new Map<DeviationId, number>();
  let equal = 0;
  let deviating = 0;
  for (const each of golden.cases) {
    const found = (await HANDLERS[each.function]?.(each)) ?? { difference: 'no function of ours answers this' };
    if ('difference' in found) {
      differences.push(`${each.function} ${JSON.stringify(each.args).slice(0, 200)}: ${found.difference}`);
      continue;
    }
    if (found.length === 0) equal++;
    else deviating++;
    for (const id of found) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  console.log(`${FILE}: ${equal} cases compared, ${deviating} by deviation`);
  for (const [id, { rule }] of Object.entries(DEVIATIONS)) console.log(`  ${id}: ${counts.get(id as DeviationId) ?? 0} (${rule})`);
  expect(differences).toEqual([]);
  expect(Object.fromEntries(counts)).toEqual(Object.fromEntries(Object.entries(DEVIATIONS).map(([id, { cases }]) => [id, cases])));
  expect(equal + deviating).toBe(golden.cases.length);
});
