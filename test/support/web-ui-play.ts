/** A whole turn of the Web UI at a pace, with content that a seed decides about: for chaos, latency and load. */
import { setTimeout as sleep } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import { playTurn, tipOf } from '../../src/demo/live-turn.ts';
import { SeededRandom } from '../../src/demo/random.ts';
import type { RunJournalLine, RunJournalWriter, RunName } from '../../src/demo/run-journal-writer.ts';
import type { Script, ScriptStep, ToolUse } from '../../src/demo/script.ts';
import type { WebUiFiles } from '../../src/demo/web-ui-files.ts';
import { WebUiRun } from '../../src/demo/web-ui-run.ts';

export interface PlayOptions {
  /** The same seed says the same (default 1); ids of calls and runs differ with it. */
  readonly seed?: number;
  /** Default: 32 digits. */
  readonly runId?: string;
  readonly text?: string;
  /** Calls of the model that ask for tools, before the answer (default 2). */
  readonly rounds?: number;
  /** Words of each text on average (default 20). */
  readonly words?: number;
  /** One beat, in milliseconds: a token comes every 1/150 to 1/50 of it, a row about once in it (default 150: 1 to 3 ms for a token). */
  readonly beatMs?: number;
  readonly compress?: 'ROTATE' | 'COMPACT';
  /** Stops after so many steps (lines, files, commits), as a click on Stop does: sidecar cleared, `cancel`. */
  readonly cancelAfter?: number;
  /** Puts the time of writing (epoch ms) into `payload.at` of every line. */
  readonly stamp?: boolean;
}

export interface Played {
  readonly runId: string;
  /** Where the turn ended: another session after a rotation. */
  readonly sessionId: string;
  /** What the assistant said, one text for each of its rows, in order. */
  readonly texts: readonly string[];
  readonly reasonings: readonly string[];
  readonly lastSeq: number;
  readonly steps: number;
}

/** Plays it in the session or, when that was compressed, at its tip. Throws TurnLost when the session vanishes meanwhile. */
export async function playWebUiTurn(db: Database.Database, files: WebUiFiles, sessionId: string, options: PlayOptions): Promise<Played> {
  const { seed = 1, beatMs = 150, compress, cancelAfter = Number.POSITIVE_INFINITY, stamp = false } = options;
  const random = new SeededRandom(seed);
  const script = scriptOf(random, options);
  const owner = tipOf(db, sessionId);
  const run = new WebUiRun(stamp ? stamping(files) : files, random, options.runId);
  const turn = { script, sessionId: owner, webUi: run, random, rotate: compress === 'ROTATE', compact: compress === 'COMPACT' };
  let end = owner;
  let steps = 0;
  let due = performance.now();
  for (const step of playTurn(db, turn)) {
    end = step.sessionId;
    steps += 1;
    if (steps >= cancelAfter) break;
    due = Math.max(due, performance.now() - beatMs) + step.beats * beatMs;
    const wait = due - performance.now();
    // A timer can't be finer than a millisecond: short pauses add up until they are worth one, and others get their turn meanwhile.
    if (wait >= 1) await sleep(wait);
    else await new Promise(setImmediate);
  }
  const said = script.steps.flatMap((step) => (step.kind === 'calls' || step.kind === 'answer' ? [step.text] : []));
  const thought = script.steps.flatMap((step) => (step.kind === 'thought' ? [step.text] : []));
  const lastSeq = files.runs.lastSeq({ sessionId: owner, runId: run.runId });
  return { runId: run.runId, sessionId: end, texts: said, reasonings: thought, lastSeq, steps };
}

/** The same files, with a run journal that stamps its lines; numbers are counted in the original. */
function stamping(files: WebUiFiles): WebUiFiles {
  const runs: RunJournalWriter = Object.create(files.runs, {
    append: {
      value: (run: RunName, line: RunJournalLine) =>
        files.runs.append(run, { ...line, payload: { ...line.payload, at: performance.timeOrigin + performance.now() } }),
    },
  });
  return Object.create(files, { runs: { value: runs } });
}

const WORDS = 'tea garden über ship 山 lantern code\u2028line "quoted" 🫖 slow river naïve two\nlines paper \\ crane'.split(' ');
const TOOLS = ['terminal', 'read_file', 'search_files', 'patch'];

function scriptOf(random: SeededRandom, { text = 'Please look at it.', rounds = 2, words = 20 }: PlayOptions): Script {
  const pick = (from: readonly string[]): string => from[Math.floor(random.next() * from.length)] ?? '';
  const speech = (): string => {
    const count = Math.max(1, Math.round(random.between(0.5, 1.5) * words));
    return Array.from({ length: count }, () => pick(WORDS)).join(' ');
  };
  const use = (): ToolUse => ({ tool: pick(TOOLS), args: { command: speech().slice(0, 60) }, result: speech() });
  const thought = (): ScriptStep[] => (random.next() < 0.6 ? [{ kind: 'thought', text: speech() }] : []);
  const steps: ScriptStep[] = [{ kind: 'user', text }];
  for (let round = 0; round < rounds; round += 1) {
    const calls = Array.from({ length: random.next() < 0.4 ? 2 : 1 }, use);
    steps.push(...thought(), { kind: 'calls', text: random.next() < 0.7 ? speech() : '', calls });
  }
  steps.push(...thought(), { kind: 'answer', text: speech() });
  return { key: 'played', source: 'webui', model: 'openai/gpt-5', hoursAgo: 0, title: null, settings: new Map(), steps };
}
