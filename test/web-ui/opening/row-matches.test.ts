/** A message of a file is held by a row only where both say the same. */
import { describe, expect, it } from 'vitest';
import { markOf } from '../../../src/web-ui/transcript/file-message.ts';
import { type ReconciledTranscript, reconcile } from '../../../src/web-ui/transcript/reconcile.ts';
import { rowsOfMessages } from '../../../src/web-ui/transcript/row-matches.ts';

type Said = Readonly<Record<string, unknown>>;
const u = (content: string, timestamp: number, more: Said = {}): Said => ({ role: 'user', content, timestamp, ...more });

function matched(session: Said, state: readonly Said[], view: 'DISPLAY' | 'CONTEXT' = 'DISPLAY'): number[][] {
  const found: ReconciledTranscript = reconcile(session, { messages: state, revision: null }, view);
  const rowMarks = state.map((message) => markOf(message, 'STATE'));
  const marks = found.messages.map((message, at) => {
    const origin = found.origins[at];
    return origin?.from === 'STATE' ? (rowMarks[origin.index] ?? '') : markOf(message, 'LITERAL');
  });
  return rowsOfMessages({ origins: found.origins, decisions: found.decisions, marks, rowMarks });
}

describe('the rows of a message', () => {
  it('are those that say the same, in their order', () => {
    expect(matched({ messages: [u('go', 1), u('go', 3)] }, [u('go', 1), u('go', 3), u('stop here', 9)])).toEqual([[0], [1], [2]]);
  });

  it('are more than one where the store holds a message twice', () => {
    expect(matched({ messages: [u('brew the tea', 1)] }, [u('brew the tea', 1), u('brew the tea', 1)])).toEqual([[0, 1]]);
  });

  it('T39: are none where the row was taken for a message that says more', () => {
    expect(matched({ messages: [u('this is ok with me', 1)] }, [u('ok', 9)])).toEqual([[]]);
  });

  it('T43: include the one with the tag of the workspace', () => {
    expect(matched({ messages: [u('hi there', 1)] }, [u('[Workspace::v1: /srv]\nhi there', 1)])).toEqual([[0]]);
  });

  it('are found for the context of the model where as many rows as messages say the same', () => {
    const context = [u('alpha bravo', 1), u('same words', 2), u('same words', 3)];
    const state = [u('alpha bravo', 51), u('same words', 52), u('same words', 53)];
    expect(matched({ messages: [], context_messages: context }, state, 'CONTEXT')).toEqual([[0], [1], [2]]);
    const fewer = [state[0] ?? {}, state[1] ?? {}];
    expect(matched({ messages: [], context_messages: context }, fewer, 'CONTEXT')).toEqual([[0], [], []]);
  });

  it('do not depend on what is private', () => {
    expect(markOf(u('a', 1, { api_content: 'sent', _row_id: 7 }), 'LITERAL')).toBe(markOf(u('a', 2), 'STATE'));
    expect(markOf(u('a', 1), 'LITERAL')).not.toBe(markOf({ role: 'tool', content: 'a', tool_call_id: 'c' }, 'LITERAL'));
  });
});
