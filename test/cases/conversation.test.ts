/** Cases 45 to 55 of `spec/state-db.md` 17: rows as a model is given them again, and as a person reads them. */
import { describe, expect, it } from 'vitest';
import type { StoredMessage } from '../../src/session-store.ts';
import { END, SUM, splitComposite } from '../../src/state-db/summary-markers.ts';
import type { TranscriptView } from '../../src/state-db/transcript.ts';
import { calls } from '../support/message-rows.ts';
import { M, type Row, S } from '../support/stores.ts';
import { CaseStore } from './case-store.ts';

async function transcript(view: TranscriptView, rows: readonly Row[], sessionId = 's') {
  const { store } = await CaseStore.open(rows.some(({ table }) => table === 'sessions') ? rows : [S('s'), ...rows]);
  const [found] = await store.transcripts([{ sessionId, view }]);
  if (found === undefined || found instanceof Error) throw new Error('no transcript');
  return found;
}

const shown = ({ role, content, toolCallId, rowId }: StoredMessage) => [
  role,
  content ?? '',
  ...(toolCallId === null ? [] : [toolCallId]),
  Number(rowId),
];
const user = (content: string) => M('s', { content });
const assistant = (content: string | null, columns = {}) => M('s', { role: 'assistant', content, ...columns });
const result = (tool_call_id: string) => M('s', { role: 'tool', content: 'done', tool_call_id });
const callIds = ({ toolCalls }: StoredMessage) => toolCalls.map((call) => (call as { id: string }).id);

describe('a replay', () => {
  it('#45 merges users in a row, and is stable', async () => {
    const { messages, repairCount } = await transcript('REPLAY', [user('u0'), assistant('a'), user('u1'), user('u2'), assistant('b')]);
    expect(messages.map(shown)).toEqual([
      ['user', 'u0', 1],
      ['assistant', 'a', 2],
      ['user', 'u1\n\nu2', 3],
      ['assistant', 'b', 5],
    ]);
    expect(repairCount).toBe(1);
    const again = messages.map(({ role, content }) => M('s', { role, content: String(content) }));
    expect((await transcript('REPLAY', again)).repairCount).toBe(0);
  });

  it('#46 drops a second result of one call', async () => {
    const rows = [user('go'), assistant('', { tool_calls: calls('c1') }), result('c1'), result('c1')];
    expect((await transcript('REPLAY', rows)).messages.map(({ rowId }) => rowId)).toEqual(['1', '2', '3']);
  });

  it('#47 drops a result without a call, a display keeps it', async () => {
    const rows = [user('go'), result('c9')];
    expect((await transcript('REPLAY', rows)).messages.map(({ rowId }) => rowId)).toEqual(['1']);
    expect((await transcript('DISPLAY', rows)).messages.map(({ rowId }) => rowId)).toEqual(['1', '2']);
  });

  it('#48 drops calls that were not answered', async () => {
    const rows = [user('go'), assistant('', { tool_calls: calls('c1', 'c2') }), result('c1'), user('next')];
    const { messages } = await transcript('REPLAY', rows);
    expect(messages.map(({ rowId }) => rowId)).toEqual(['1', '2', '3', '4']);
    expect(messages[1] && callIds(messages[1])).toEqual(['c1']);
  });

  it('#49 drops a message that had nothing but unanswered calls', async () => {
    const rows = [user('go'), assistant(null, { tool_calls: calls('c1') }), user('next')];
    expect((await transcript('REPLAY', rows)).messages.map(shown)).toEqual([['user', 'go\n\nnext', 1]]);
  });

  it('#50 an answer replaces the one that asked for verification', async () => {
    const rows = [user('go'), assistant('a', { finish_reason: 'verification_required' }), assistant('b')];
    expect((await transcript('REPLAY', rows)).messages.map(({ content }) => content)).toEqual(['go', 'b']);
  });

  it('#51 an interim message stays apart', async () => {
    const rows = [user('go'), assistant('a', { finish_reason: 'incomplete' }), assistant('b')];
    expect((await transcript('REPLAY', rows)).messages.map(({ content }) => content)).toEqual(['go', 'a', 'b']);
  });
});

describe('every conversation', () => {
  it('#52 is without injected memory', async () => {
    const rows = [user('x<memory-context>secret</memory-context> ')];
    for (const view of ['REPLAY', 'DISPLAY'] as const) expect((await transcript(view, rows)).messages[0]?.content).toBe('x');
  });

  it('#53 is without the prompts of background reviews and their answers', async () => {
    const rows = [user('Review the conversation above and update the skill library now'), assistant('done'), user('hi')];
    for (const view of ['REPLAY', 'DISPLAY'] as const)
      expect((await transcript(view, rows)).messages.map(({ content }) => content)).toEqual(['hi']);
  });

  it('#54 does not show a bare tool marker beside the call', async () => {
    const rows = [user('go'), assistant('[memory]', { tool_calls: calls('c1') }), result('c1')];
    expect((await transcript('DISPLAY', rows)).messages[1]).toMatchObject({ content: '', toolCalls: [{ id: 'c1' }] });
  });

  it('#55 shows once what a person asked at a rotation: in the carrier of the new segment', async () => {
    const { messages } = await transcript(
      'DISPLAY',
      [
        S('p', { ended_at: 6, end_reason: 'compression' }),
        S('c', { parent_session_id: 'p' }),
        M('p', { content: 'q', timestamp: 5 }),
        M('c', { content: `${SUM}earlier talk\n${END}\n\nq`, timestamp: 5 }),
      ],
      'c',
    );
    expect(messages.map(({ sessionId, rowId }) => [sessionId, rowId])).toEqual([['c', '2']]);
    expect(messages[0] && splitComposite(messages[0]).human?.content).toBe('q');
  });
});
