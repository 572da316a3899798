/** The runner of the recorded changes, with writers in plain SQL: what is equal passes, and nothing else does. */
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { WriteRefused } from '../../src/write-refused.ts';
import { loadMutations, type MutationCase } from './mutation-cases.ts';
import {
  type Answers,
  type MutationBench,
  type MutationHandler,
  mutationHandler,
  mutationVerdict,
  openMutations,
  quietly,
} from './mutation-runner.ts';

interface Writer {
  readonly db: Database.Database;
  readonly now: () => number;
}

const basic = loadMutations('basic');

function named(name: string): MutationCase {
  const golden = basic.cases.find((one) => one.name === name);
  if (golden === undefined) throw new Error(`no case ${name}`);
  return golden;
}

function bench(handlers: MutationBench<Writer>['handlers'], more: Partial<MutationBench<Writer>> = {}): MutationBench<Writer> {
  return {
    open: (path, now) => ({ db: new Database(path), now }),
    close: ({ db }) => {
      db.close();
    },
    handlers,
    ...more,
  };
}

const end: MutationHandler<Writer> = ({ db, now }, { args: [id, reason] }) => {
  db.prepare('UPDATE sessions SET ended_at = ?, end_reason = ? WHERE id = ? AND ended_at IS NULL').run(now(), reason, id);
};
const reopen: MutationHandler<Writer> = ({ db }, { args: [id] }) => {
  db.prepare('UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = ?').run(id);
};
const HANDLERS = { end_session: end, reopen_session: reopen };
const ENDING = named('end and reopen');
const REFUSING = named('rewind refused: no such row');

describe('the runner of recorded changes', () => {
  it('agrees with a writer that does what upstream did, with a clock that moves one second before each step', async () => {
    expect(await mutationVerdict(bench(HANDLERS), basic, ENDING)).toEqual({ deviations: [] });
  });

  it('runs each case on a fresh state.db that is alone in its folder', async () => {
    const seen = new Set<string>();
    const open = (path: string, now: () => number): Writer => {
      seen.add(path);
      return { db: new Database(path), now };
    };
    await mutationVerdict(bench(HANDLERS, { open }), basic, ENDING);
    expect(await mutationVerdict(bench(HANDLERS, { open }), basic, ENDING)).toEqual({ deviations: [] });
    expect([...seen].filter((path) => /caduceus-store-\w+\/state\.db$/.test(path))).toHaveLength(2);
  });

  it.each<[string, MutationHandler<Writer>, string]>([
    ['a wrong answer', (writer, step) => [end(writer, step), true][1], 'steps[0].result'],
    [
      'a wrong change',
      ({ db }, { args: [id, reason] }) => void db.prepare('UPDATE sessions SET end_reason = ? WHERE id = ?').run(reason, id),
      'after',
    ],
    [
      'a change of a session that nothing names',
      (writer, step) => void [end(writer, step), writer.db.exec("UPDATE sessions SET pinned = 1 WHERE id = 'm_read'")],
      'm_read',
    ],
    [
      'a failure of ours',
      () => {
        throw new TypeError('a slip');
      },
      'a slip',
    ],
    [
      'a refusal where upstream went on',
      () => {
        throw new WriteRefused('NOT_FOUND');
      },
      'NOT_FOUND',
    ],
  ])('tells %s', async (_, wrong, where) => {
    const found = await mutationVerdict(bench({ ...HANDLERS, end_session: wrong }), basic, ENDING);
    expect('difference' in found && found.difference).toContain(where);
    expect('difference' in found && found.difference).toContain(ENDING.name);
  });

  it('takes a refusal for the error of upstream when its code means that error, and only then', async () => {
    const refuse = (code: 'NOT_FOUND' | 'SESSION_CLOSED') => () => {
      throw new WriteRefused(code);
    };
    expect(await mutationVerdict(bench({ rewind_to_message: refuse('NOT_FOUND') }), basic, REFUSING)).toEqual({ deviations: [] });
    expect(await mutationVerdict(bench({ rewind_to_message: refuse('SESSION_CLOSED') }), basic, REFUSING)).toHaveProperty('difference');
    expect(await mutationVerdict(bench({ rewind_to_message: () => null }), basic, REFUSING)).toHaveProperty('difference');
  });

  it('fails a case with a step that nothing does, unless the step is left to the owning programs', async () => {
    const half = { end_session: end };
    expect(await mutationVerdict(bench(half), basic, ENDING)).toHaveProperty('difference', expect.stringContaining('reopen_session'));
    const elsewhere = { reopen_session: 'writes-elsewhere' };
    expect(await mutationVerdict(bench(half, { elsewhere }), basic, ENDING)).toEqual({ deviations: ['writes-elsewhere'] });
  });

  it('holds a deviation against the whole answer, and does not count one that is not needed', async () => {
    const rule = {
      id: 'time-window',
      adjust: (expected: unknown) => {
        const answers = expected as Answers;
        return { ...answers, steps: answers.steps.map(() => ({ error: null, result: true })) };
      },
    };
    const rules = () => [rule];
    const yes: MutationHandler<Writer> = (writer, step) => [end(writer, step), true][1];
    const again: MutationHandler<Writer> = (writer, step) => [reopen(writer, step), true][1];
    expect(await mutationVerdict(bench({ end_session: yes, reopen_session: again }, { rules }), basic, ENDING)).toEqual({
      deviations: ['time-window'],
    });
    expect(await mutationVerdict(bench(HANDLERS, { rules }), basic, ENDING)).toEqual({ deviations: [] });
    expect(await mutationVerdict(bench({ ...HANDLERS, end_session: yes }, { rules }), basic, ENDING)).toHaveProperty('difference');
  });

  it('finds the case that the file names', async () => {
    const mutations = await openMutations('basic');
    const cases = basic.cases.map(() => ({ args: {} }));
    const at = basic.cases.indexOf(ENDING);
    const golden = cases[at] ?? { args: {} };
    expect(await mutationHandler(bench(HANDLERS))(mutations, golden, cases)).toEqual({ deviations: [] });
  });

  it('gives the silence of upstream for the refusals that are named, and throws the others on', async () => {
    const refuse = () => {
      throw new WriteRefused('NOT_FOUND');
    };
    expect(await quietly(refuse, { NOT_FOUND: false })).toBe(false);
    await expect(quietly(refuse, { STORE_BUSY: false })).rejects.toThrow(WriteRefused);
    expect(await quietly(() => 7, { NOT_FOUND: false })).toBe(7);
  });
});
