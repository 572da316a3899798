/** Who is deleted with a session and who stays (`spec/webui-transcript.md` 19.4, T115 to T122), in the store and by the preview. */
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { lineageRow, removedWith } from '../../../src/web-ui/deletion/removed-lineage.ts';
import { WriteRefused } from '../../../src/write-refused.ts';
import type { TestHost } from '../../support/command-host.ts';
import { D, deleting, homeWith, hostOf, parentsOf, W } from '../../support/deletion.ts';
import type { Columns, Row } from '../../support/stores.ts';

let host: TestHost;
afterEach(() => host?.close());

/** The sessions that are left after the deletion of `p`, with their parents. */
async function left(...rows: readonly Row[]): Promise<Record<string, unknown>> {
  host = hostOf(homeWith(rows));
  await deleting(host, 'p');
  return parentsOf(host);
}
const both = (branch: string | null, delegate: string) => JSON.stringify({ _branched_from: branch, _delegate_from: delegate });
const child = (columns: Columns): Row => W('x', { parent_session_id: 'p', source: 'subagent', ...columns } as never);
const KEPT = { x: null };
const DELETED = {};

describe('a session that is deleted', () => {
  it('T115: takes delegates of delegates along, and leaves what is theirs no more', async () => {
    expect(await left(W('p'), D('d', 'p'), D('g', 'd'), W('k', { parent_session_id: 'g', source: 'cli' }))).toEqual({ k: null });
  });

  it('T116: leaves a branch with everything below it as it is', async () => {
    const rows = [
      W('b', { parent_session_id: 'p', model_config: both('p', 'p') }),
      W('bb', { parent_session_id: 'b', model_config: '{"_delegate_from": "p"}' }),
    ];
    expect(await left(W('p'), ...rows)).toEqual({ b: null, bb: 'b' });
  });

  it.each([
    ['""', KEPT],
    ['null', DELETED],
  ])('T117: a _branched_from of %s', async (marker, outcome) => {
    expect(await left(W('p'), child({ model_config: `{"_branched_from": ${marker}}` }))).toEqual(outcome);
  });

  it.each([
    ['subagent', DELETED],
    ['Subagent', KEPT],
    ['cli', KEPT],
  ])('T118: a child of source %s without markers', async (source, outcome) => {
    expect(await left(W('p'), child({ source }))).toEqual(outcome);
  });

  it('T119: leaves everything below it when a compression ended it', async () => {
    expect(await left(W('p', { end_reason: 'compression', ended_at: 4 }), D('x', 'p'))).toEqual(KEPT);
  });

  it.each<[string, number | string | null, number | string | null, object]>([
    ['after', 5, 4, KEPT],
    ['at', 4, 4, KEPT],
    ['before', 3, 4, DELETED],
    ['at an unknown time against', null, 4, KEPT],
    ['at a time without an offset against', '1970-01-01T00:00:03', 4, KEPT],
    ['at a time that is no number against', 'NaN', 4, KEPT],
    ['before, in numeric text,', '3.0', 4, DELETED],
    ['before, with an offset,', '1970-01-01T00:00:03Z', 4, DELETED],
    ['after, with an offset,', '1970-01-01T00:00:05+00:00', 4, KEPT],
    ['against an unknown', 3, null, KEPT],
  ])('T120: a child that began %s the branching end', (_, started, ended, outcome) => {
    const row = (id: string, columns: object) => lineageRow({ id, ...columns });
    const rows = [
      row('p', { end_reason: 'branched', ended_at: ended }),
      row('x', { parent_session_id: 'p', source: 'subagent', started_at: started }),
    ];
    expect(removedWith(rows, ['p'])).toEqual(outcome === KEPT ? ['p'] : ['p', 'x']);
  });

  it('T121: leaves a sub-agent whose configuration is damaged', async () => {
    expect(await left(W('p'), child({ model_config: '{bad' }))).toEqual(KEPT);
  });

  it('T122: leaves a row whose marker is a list, which keeps nobody else from being deleted', async () => {
    const rows = [
      child({ model_config: '{"_delegate_from": ["p"]}' }),
      D('d', 'p'),
      W('o', { model_config: '{"_delegate_from": {"a": 1}}' }),
    ];
    expect(await left(W('p'), ...rows)).toEqual({ o: null, x: null });
  });

  it.each<[string, Columns, object]>([
    ['another session', { model_config: '{"_delegate_from": "q"}' }, KEPT],
    ['nothing', { model_config: '{"_delegate_from": ""}' }, KEPT],
    ['a number', { model_config: '{"_delegate_from": 5}' }, KEPT],
    ['it, whatever its parent', { model_config: '{"_delegate_from": "p"}', parent_session_id: null, source: 'cli' }, DELETED],
  ])('a marker that names %s', async (_, columns, outcome) => {
    expect(await left(W('p'), child(columns))).toEqual(outcome);
  });
});

const ids = ['p', 'a', 'b', 'c', 'd', 'e'] as const;
const config = fc.oneof(
  fc.constant(null),
  fc.constant('{bad'),
  fc.constantFrom(...ids).map((id) => JSON.stringify({ _delegate_from: id })),
  fc.constantFrom(...ids, null).map((id) => JSON.stringify({ _branched_from: id })),
  fc.constantFrom(...ids).map((id) => both(id, id)),
  fc.constant('{"_delegate_from": []}'),
);
const columns = fc.record({
  parent_session_id: fc.option(fc.constantFrom(...ids)),
  source: fc.constantFrom('webui', 'subagent', 'cli', 'fork'),
  model_config: config,
  end_reason: fc.constantFrom(null, 'compression', 'branched', 'user'),
  started_at: fc.nat(9),
  ended_at: fc.option(fc.nat(9)),
});

/** A segment of the conversation may be a run of a sub-agent, which is refused. */
function codeOf(error: unknown): string {
  if (error instanceof WriteRefused) return error.code;
  throw error;
}

describe('any lineage', () => {
  it('ends as its preview says: who stays keeps its rows, and its place below who stays', async () => {
    await fc.assert(
      fc.asyncProperty(fc.tuple(...ids.map(() => columns)), fc.constantFrom('SEGMENT', 'LINEAGE'), async (all, scope) => {
        const rows = ids.map((id, index) => W(id, { ...all[index], ...(id === 'p' ? { source: 'webui' } : {}) }));
        host = hostOf(homeWith(rows));
        try {
          const before = parentsOf(host);
          const asked = { scope: scope as 'SEGMENT' };
          const preview = await deleting(host, 'p', asked, { dryRun: true }).catch(codeOf);
          expect(parentsOf(host)).toEqual(before);
          const outcome = await deleting(host, 'p', asked).catch(codeOf);
          if (typeof preview === 'string' || typeof outcome === 'string') {
            expect(outcome).toBe(preview);
            expect(parentsOf(host)).toEqual(before);
            return;
          }
          const { deletedIds, orphanedIds } = outcome;
          expect({ deletedIds, orphanedIds }).toEqual({ deletedIds: preview.deletedIds, orphanedIds: preview.orphanedIds });
          const stays = Object.entries(before).filter(([id]) => !deletedIds.includes(id));
          const parentAfter = (parent: unknown) => (deletedIds.includes(String(parent)) ? null : parent);
          expect(parentsOf(host)).toEqual(Object.fromEntries(stays.map(([id, parent]) => [id, parentAfter(parent)])));
          const orphans = stays.filter(([, parent]) => deletedIds.includes(String(parent))).map(([id]) => id);
          expect(orphanedIds.toSorted()).toEqual(orphans.toSorted());
          expect(deletedIds).toContain('p');
        } finally {
          host.close();
        }
      }),
      { numRuns: 40, seed: 1 },
    );
  });
});
