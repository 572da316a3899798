/** The rewind below turns: a target that the caller names (`spec/state-db-writes.md` 10.1). */
import { afterEach, describe, expect, it } from 'vitest';
import { END, SUM } from '../../../src/state-db/summary-markers.ts';
import { type RewindToMessageInput, rewindToMessage } from '../../../src/state-db/write/rewind-to-message.ts';
import { operationCommand } from '../../../src/writing/command.ts';
import { commandHost, type TestHost } from '../../support/command-host.ts';
import { buildStore, M, type Row, S } from '../../support/stores.ts';

let host: TestHost;
afterEach(() => host.close());

const command = operationCommand('rewindToMessage', rewindToMessage);
function open(...rows: readonly Row[]): void {
  host = commandHost(buildStore({ schema: 31, rows: [S('s'), S('t'), ...rows] }));
}
function rewind(targetId: string, more: Partial<RewindToMessageInput> = {}) {
  return command(host, { sessionId: 's', targetId, ...more }, { dryRun: false, clientMutationId: null });
}
const rewindCount = () => host.rows("SELECT rewind_count AS n FROM sessions WHERE id = 's'")[0]?.n;
const live = () => host.rows('SELECT id FROM messages WHERE active = 1 ORDER BY id').map(({ id }) => id);

describe('a rewind to a message', () => {
  it('T95: whose target was undone by somebody else hides nothing and counts, unless its text is pinned', async () => {
    open(M('s', { content: 'a' }), M('s', { content: 'b', active: 0 }));
    await expect(rewind('2', { expectedTargetContent: 'b' })).rejects.toMatchObject({ code: 'VALIDATION' });
    expect(rewindCount()).toBe(0);
    expect(await rewind('2')).toMatchObject({ rewoundCount: 0, newHeadId: '1', retiredIds: [] });
    expect(rewindCount()).toBe(1);
    expect(live()).toEqual([1]);
  });

  it('T84: whose target holds another text by now is refused; blanks and recalled memory make no other text', async () => {
    open(M('s', { content: ' <memory-context>x</memory-context>hi ' }));
    await expect(rewind('1', { expectedTargetContent: 'ho' })).rejects.toMatchObject({ code: 'TRANSCRIPT_CHANGED' });
    expect(live()).toEqual([1]);
    expect(await rewind('1', { expectedTargetContent: 'hi' })).toMatchObject({ rewoundCount: 1 });
  });

  it('pins the words of a composite, not its summary', async () => {
    open(M('s', { content: `${SUM}body ${END} ask` }));
    expect(await rewind('1', { expectedTargetContent: 'ask', preserveHandoff: true })).toMatchObject({
      rewoundCount: 1,
      replacementId: '2',
    });
  });

  it.each<[string, Partial<RewindToMessageInput>, string]>([
    ['1', {}, 'NOT_FOUND'],
    ['999', {}, 'NOT_FOUND'],
    ['-2', {}, 'NOT_FOUND'],
    ["2' OR 1", {}, 'NOT_FOUND'],
    ['99999999999999999999', {}, 'NOT_FOUND'],
    ['3', {}, 'VALIDATION'],
    ['2', { preserveHandoff: true }, 'VALIDATION'],
    ['4', { expectedTargetContent: 'note' }, 'VALIDATION'],
    ['2', { sessionId: 'nobody' }, 'NOT_FOUND'],
  ])('refuses the target %s with %j: %s', async (targetId, more, code) => {
    open(
      M('t', { content: 'elsewhere' }),
      M('s', { content: 'a' }),
      M('s', { role: 'assistant', content: 'b' }),
      M('s', { content: 'note', display_kind: 'model_switch' }),
    );
    await expect(rewind(targetId, more)).rejects.toMatchObject({ code });
    expect(rewindCount()).toBe(0);
    expect(live()).toEqual([1, 2, 3, 4]);
  });
});
