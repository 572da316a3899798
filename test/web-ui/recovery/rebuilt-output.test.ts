/** What a run had said, rebuilt from its journal: `spec/webui-recovery.md` 26, T19 to T59c. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../support/journal-lines.ts';
import { assistant, user } from '../sidecar-folder.ts';
import { answer, type Fields, OLD, PROMPT, RUN, SID, STARTED, T0, TurnHome } from './turn-home.ts';

const token = (text: string): JournalEntry => ({ event: 'token', payload: { text } });
const reasoning = (text: string): JournalEntry => ({ event: 'reasoning', payload: { text } });
const interim = (text: string, streamed: boolean): JournalEntry => ({
  event: 'interim_assistant',
  payload: { text, already_streamed: streamed },
});
const tool = (name: string, payload: Fields = {}): JournalEntry => ({ event: 'tool', payload: { name, ...payload } });
const completed = (name: string | null, payload: Fields = {}): JournalEntry => ({
  event: 'tool_complete',
  payload: { ...(name === null ? {} : { name }), ...payload },
});
const METERING: JournalEntry = { event: 'metering', payload: {} };
const DONE: JournalEntry = { event: 'done', payload: {} };
const STREAM_END: JournalEntry = { event: 'stream_end', payload: {} };

/** m recovered: without a retry. */
const RECOVERED = expect.objectContaining({ type: 'interrupted', content: expect.stringContaining('rebuilt from the run journal') });
const RETRY = expect.objectContaining({ type: 'interrupted', _pending_journal_recovery: true });
const E = { role: 'assistant', content: 'Provider said: slow down', timestamp: T0 - 3400, _error: true };

function failed(more: Fields = {}, message: Fields = E, sessionId = SID): JournalEntry {
  const session = { session_id: sessionId, messages: [user('Hello', STARTED), message] };
  return { event: 'apperror', payload: { type: 'rate_limit', session_id: sessionId, session, terminal_session_persisted: false, ...more } };
}

function textsOf(rows: readonly Fields[]): unknown[] {
  return rows.map(({ content }) => content);
}

describe('text and reasoning', () => {
  it('T19', async () => {
    const home = new TurnHome().journal(token('Hel'), token('lo world.'));
    expect(await home.repair()).toMatchObject({ outcome: 'RECOVERED_OUTPUT', contextRowsAdded: 2 });
    const rebuilt = answer('Hello world.', T0 - 3500);
    expect(home.messages).toEqual([PROMPT, rebuilt, RECOVERED]);
    expect(home.messages[2]).not.toHaveProperty('_pending_journal_recovery');
    expect(home.context).toEqual([PROMPT, rebuilt]);
  });

  it.each<[string, JournalEntry[], string[]]>([
    ['T22', [token('abc'), interim('XYZ', false), token('def'), interim('def', true), token('ghi')], ['abc\n\nXYZ', 'def', 'ghi']],
    ['D17: what the segment before said is not said again', [token('abc'), tool('t'), interim('abc', true), token('x')], ['abc', 'x']],
    ['tokens are one text', [token('one'), token(' two')], ['one two']],
    ['T25', [token('a\u2028b'), token('tail')], ['a\u2028btail']],
  ])('%s', async (_, lines, texts) => {
    const home = new TurnHome().journal(...lines);
    await home.repair();
    expect(textsOf(home.messages.slice(1, -1))).toEqual(texts);
    expect(home.messages.at(-1)).toEqual(RECOVERED);
  });

  it('T22b: streamed text whose tokens are not in the journal', async () => {
    const home = new TurnHome({ messages: OLD }).journal(reasoning('r'), interim('visible', true), token('x'));
    await home.repair();
    expect(home.messages.slice(3, -1)).toMatchObject([{ content: 'visible', reasoning: 'r' }, { content: 'x' }]);
  });

  it('T23: reasoning alone', async () => {
    const home = new TurnHome().journal(reasoning('hm'));
    await home.repair();
    expect(home.messages).toEqual([PROMPT, answer('', T0 - 3500, { reasoning: 'hm' }), RECOVERED]);
    expect(home.context).toEqual([PROMPT]);
  });

  it('T24: around a line that is broken', async () => {
    const home = new TurnHome().journal(token('one'));
    const path = join(home.sessionsDir, '_run_journal', SID, `${RUN}.jsonl`);
    const second = { version: 1, event_id: `${RUN}:3`, seq: 3, run_id: RUN, session_id: SID, event: 'token', payload: { text: ' two' } };
    appendFileSync(path, `{"broken": \n${JSON.stringify(second)}\n`);
    await home.repair();
    expect(textsOf(home.messages)).toEqual(['Hello', 'one two', expect.any(String)]);
  });

  it('T26: before a line that is cut inside a character', async () => {
    const home = new TurnHome().journal(token('good'));
    appendFileSync(join(home.sessionsDir, '_run_journal', SID, `${RUN}.jsonl`), Buffer.from([0x7b, 0x22, 0xe2, 0x82]));
    await home.repair();
    expect(home.messages).toEqual([PROMPT, answer('good', T0 - 3500), RECOVERED]);
  });

  it('with the last line of a run that never came to its end', async () => {
    const home = new TurnHome().journal(token('said '));
    const last = { version: 1, event_id: `${RUN}:2`, seq: 2, run_id: RUN, session_id: SID, event: 'token', payload: { text: 'it' } };
    appendFileSync(join(home.sessionsDir, '_run_journal', SID, `${RUN}.jsonl`), JSON.stringify(last));
    await home.repair();
    expect(home.messages[1]).toMatchObject({ content: 'said it' });
  });

  it('with the whole text of a line that is very long', async () => {
    const text = 'long '.repeat(100_000).trim();
    const home = new TurnHome().journal(token(text));
    await home.repair();
    expect(home.messages[1]?.content === text).toBe(true);
  });

  it('T59: foreign lines are dropped; T59c: white space is no row', async () => {
    const foreign = new TurnHome();
    foreign.journalOf(RUN, []);
    const line = {
      version: 1,
      event_id: 'other:1',
      seq: 1,
      run_id: 'other',
      session_id: 'x',
      event: 'token',
      payload: { text: 'not ours' },
    };
    appendFileSync(join(foreign.sessionsDir, '_run_journal', SID, `${RUN}.jsonl`), `${JSON.stringify(line)}\n`);
    expect(await foreign.repair()).toMatchObject({ outcome: 'MARKED_RETRY' });
    expect(foreign.messages).toEqual([PROMPT, RETRY]);
    const blank = new TurnHome({ messages: OLD }).journal(token('  \n'));
    expect(await blank.repair()).toMatchObject({ outcome: 'MARKED_RETRY' });
    expect(blank.messages).toEqual([...OLD, PROMPT, RETRY]);
  });

  it('T59b: an event twice counts once', async () => {
    const home = new TurnHome({ messages: OLD }).journal({ ...token('twice'), seq: 1 }, { ...token('twice'), seq: 1 });
    await home.repair();
    expect(home.messages[3]).toMatchObject({ content: 'twice' });
  });
});

describe('tools', () => {
  it('T20', async () => {
    const home = new TurnHome().journal(
      reasoning('think A '),
      reasoning('B'),
      token('Let me check.'),
      tool('terminal', { args: { command: 'ls', a: 1, b: true, c: null, d: 'x' } }),
      completed('terminal', { preview: 'file1', duration: 0.5 }),
      tool('read', { args: { p: 'x'.repeat(130) } }),
      token('Done part'),
      METERING,
    );
    await home.repair();
    expect(home.messages).toEqual([
      PROMPT,
      answer('Let me check.', T0 - 3500, { reasoning: 'think A B' }),
      answer('Done part', T0 - 3494),
      RECOVERED,
    ]);
    const recovered = { _recovered_from_run_journal: true, _recovered_stream_id: RUN, assistant_msg_idx: 1 };
    expect(home.cards).toEqual([
      {
        name: 'terminal',
        preview: 'file1',
        snippet: 'file1',
        tid: 'journal-4',
        args: { command: 'ls', a: '1', b: 'True', c: 'None' },
        done: true,
        duration: 0.5,
        is_error: false,
        ...recovered,
      },
      { name: 'read', preview: '', snippet: '', tid: 'journal-6', args: { p: `${'x'.repeat(120)}...` }, done: false, ...recovered },
    ]);
    expect(home.context).toEqual([PROMPT, answer('Let me check.', T0 - 3500), answer('Done part', T0 - 3494)]);
  });

  it('arguments are told as the owner writes them', async () => {
    const home = new TurnHome();
    const line = `{"version":1,"event_id":"${RUN}:1","seq":1,"run_id":"${RUN}","session_id":"${SID}","event":"tool","created_at":${T0},
      "payload":{"name":"t","args":{"f":1.0,"l":[1,"a"],"o":{"q":null},"s":"plain"}}}`.replaceAll('\n', '');
    home.journalOf(RUN, [], `${line}\n`);
    await home.repair();
    expect(home.cards[0]?.args).toEqual({ f: '1.0', l: "[1, 'a']", o: "{'q': None}", s: 'plain' });
  });

  it('T21', async () => {
    const home = new TurnHome().journal(
      tool('a'),
      tool('b'),
      completed(null, { is_error: true, preview: 'res2' }),
      reasoning('later'),
      tool('c'),
    );
    await home.repair();
    expect(home.messages).toEqual([PROMPT, answer('', T0 - 3500), answer('', T0 - 3497, { reasoning: 'later' }), RECOVERED]);
    expect(home.cards).toMatchObject([
      { name: 'a', done: false, assistant_msg_idx: 1 },
      { name: 'b', done: true, is_error: true, preview: 'res2', assistant_msg_idx: 1 },
      { name: 'c', done: false, assistant_msg_idx: 2 },
    ]);
    expect(home.context).toEqual([PROMPT]);
  });

  it('T58: each end goes to its own start', async () => {
    const home = new TurnHome().journal(
      tool('x', { tid: 'c1' }),
      tool('x', { tid: 'c2' }),
      completed('x', { tid: 'c1', preview: 'r1' }),
      completed('x', { tid: 'c2', preview: 'r2' }),
    );
    await home.repair();
    expect(home.cards).toMatchObject([{ preview: 'r1' }, { preview: 'r2' }]);
  });
});

describe('the transcript of the agent', () => {
  const CORE = [user('q1', T0 - 3700), assistant('a1', T0 - 3690)];
  const CORE_FILE = { messages: CORE, tool_calls: [{ name: 'x' }], input_tokens: 11, output_tokens: 0 };
  const LONG = 'This is the recovered answer text, complete.';

  it('T27', async () => {
    const home = new TurnHome().core(CORE_FILE);
    expect(await home.repair()).toMatchObject({ outcome: 'CORE_SYNCED', source: 'CORE', promptAppended: false });
    expect(home.file).toMatchObject({ messages: CORE, tool_calls: [{ name: 'x' }], input_tokens: 11, output_tokens: 0 });
  });

  it('T28', async () => {
    const home = new TurnHome().core(CORE_FILE).journal(token('partial text'));
    expect(await home.repair()).toMatchObject({ outcome: 'RECOVERED_OUTPUT', source: 'CORE' });
    expect(home.messages).toEqual([...CORE, PROMPT, answer('partial text', T0 - 3500), RECOVERED]);
  });

  it('T29', async () => {
    const messages = [user('Hello', STARTED), assistant(LONG, T0 - 3590)];
    const home = new TurnHome().core({ messages }).journal(token('This is the recovered answer text'));
    expect(await home.repair()).toMatchObject({ outcome: 'CORE_SYNCED' });
    expect(home.messages).toEqual(messages);
  });

  it('T30', async () => {
    const home = new TurnHome().core({ messages: [user('Hello', STARTED)] }).journal(token('body'));
    await home.repair();
    expect(home.messages).toEqual([user('Hello', STARTED), answer('body', T0 - 3500), RECOVERED]);
  });

  it('T31', async () => {
    const home = new TurnHome().core({ messages: [] });
    expect(await home.repair()).toMatchObject({ outcome: 'MARKED_RETRY', source: 'SIDECAR' });
    expect(home.messages).toEqual([PROMPT, RETRY]);
  });

  it('T32', async () => {
    const home = new TurnHome().core('{bad');
    const before = home.bytes;
    expect(await home.repair()).toMatchObject({ outcome: 'CORE_UNREADABLE', applied: false });
    expect(home.bytes).toBe(before);
    expect(await home.repair({ ignoreCore: true })).toMatchObject({ outcome: 'MARKED_RETRY' });
    expect(home.messages).toEqual([PROMPT, RETRY]);
  });

  it('T33', async () => {
    const home = new TurnHome().core({ messages: CORE }).journal(METERING);
    expect(await home.repair()).toMatchObject({ outcome: 'CORE_SYNCED' });
    expect(home.messages).toEqual(CORE);
  });

  it('T55: a tool that it has already', async () => {
    const messages = [user('Hello', STARTED), assistant('', T0 - 3590, { tool_calls: [{ id: 'c' }] })];
    const home = new TurnHome()
      .core({ messages, tool_calls: [{ name: 'terminal', preview: 'ls' }] })
      .journal(tool('terminal', { preview: 'ls' }));
    expect(await home.repair()).toMatchObject({ outcome: 'CORE_SYNCED' });
    expect(home.messages).toEqual(messages);
    expect(home.cards).toEqual([{ name: 'terminal', preview: 'ls' }]);
  });
});

describe('a prompt that the transcript has', () => {
  it('T34', async () => {
    const home = new TurnHome({ messages: [...OLD, user('Hello', STARTED)] });
    await home.repair();
    expect(home.messages).toEqual([...OLD, user('Hello', STARTED), RETRY]);
    expect(textsOf(home.context)).toEqual(['old q', 'old a', 'Hello']);
  });

  it('T35', async () => {
    const home = new TurnHome({ messages: [...OLD, user('Hello ', T0 - 4599)] });
    await home.repair();
    expect(textsOf(home.messages)).toEqual(['old q', 'old a', 'Hello ', expect.any(String)]);
    expect(home.context.at(-1)).toEqual(PROMPT);
  });

  it('T36', async () => {
    const home = new TurnHome({ messages: [user('Hello', T0 - 3700), assistant('a', T0 - 3690)] });
    await home.repair();
    expect(home.messages.slice(2)).toEqual([PROMPT, RETRY]);
  });

  it('T37', async () => {
    const home = new TurnHome({ messages: [...OLD, user('multi line text')], pending_user_message: '  multi\n line  text ' });
    expect(await home.repair()).toMatchObject({ promptAppended: false });
    expect(home.messages).toEqual([...OLD, user('multi line text'), RETRY]);
  });

  it('F37: with its whole answer is settled without a marker', async () => {
    const messages = [...OLD, user('Hello', STARTED), assistant('Yes.', T0 - 3590)];
    const home = new TurnHome({ messages });
    expect(await home.repair()).toMatchObject({ outcome: 'CLEARED_COMPLETED' });
    expect(home.messages).toEqual(messages);
    expect(home.file.pending_user_message).toBeNull();
  });
});

describe('a run that was completed', () => {
  const ENDED = [token('Answer body'), DONE, STREAM_END];

  it('T38', async () => {
    const home = new TurnHome({ messages: OLD }).journal(...ENDED);
    expect(await home.repair()).toMatchObject({ outcome: 'CLEARED_COMPLETED' });
    expect(home.messages).toEqual([...OLD, PROMPT, answer('Answer body', T0 - 3500)]);
  });

  it('T38b', async () => {
    const messages = [user('Hello', T0 - 3700), assistant('old a', T0 - 3690)];
    const home = new TurnHome({ messages }).journal(token('new answer'), DONE);
    await home.repair();
    expect(home.messages).toEqual([...messages, PROMPT, answer('new answer', T0 - 3500)]);
  });

  it.each<[string, Fields, JournalEntry[], Fields]>([
    ['T39', {}, ENDED, {}],
    ['T40', {}, [reasoning('why'), ...ENDED], { reasoning: 'why' }],
    ['T41', { reasoning: 'have' }, [reasoning('why'), ...ENDED], { reasoning: 'have' }],
  ])('%s', async (_, saved, lines, more) => {
    const said = assistant('Answer body', T0 - 3590);
    const home = new TurnHome({ messages: [...OLD, user('Hello', STARTED), { ...said, ...saved }] }).journal(...lines);
    expect(await home.repair()).toMatchObject({ outcome: 'CLEARED_COMPLETED' });
    expect(home.messages).toEqual([...OLD, user('Hello', STARTED), { ...said, ...more }]);
    expect(home.context).toEqual([...OLD, user('Hello', STARTED), said]);
    expect(home.file.active_stream_id).toBeNull();
  });

  it('T42', async () => {
    const messages = [user('other', T0 - 3700), assistant('Answer body', T0 - 3690)];
    const home = new TurnHome({ messages }).journal(token('Answer body'), DONE);
    await home.repair();
    expect(home.messages).toEqual([...messages, PROMPT, answer('Answer body', T0 - 3500)]);
  });

  it.each<[string, JournalEntry, string]>([
    ['T43', { event: 'done', payload: { terminal_state: 'tool_limit_reached' } }, 'tool_limit_reached'],
    ['T44', { event: 'cancel', payload: {} }, 'interrupted-by-user'],
  ])('%s: another end has a marker', async (_, end, terminalState) => {
    const home = new TurnHome({ messages: OLD }).journal(token('a'), end);
    expect(await home.repair()).toMatchObject({ outcome: 'RECOVERED_OUTPUT', judged: { terminalState } });
    expect(home.messages).toEqual([...OLD, PROMPT, answer('a', T0 - 3500), RECOVERED]);
  });

  it('T45: with nothing to show', async () => {
    const home = new TurnHome({ messages: OLD }).journal(STREAM_END);
    await home.repair();
    expect(home.messages).toEqual([...OLD, PROMPT]);
  });

  it('T46: over an empty transcript', async () => {
    const home = new TurnHome().journal(token('a'), DONE);
    await home.repair();
    expect(home.messages).toEqual([PROMPT, answer('a', T0 - 3500)]);
  });

  it('T47: by a line of another run', async () => {
    const home = new TurnHome({ messages: OLD }).journal(token('a'));
    const line = { event_id: 'other:2', seq: 2, run_id: RUN, session_id: SID, event: 'done', terminal: true, terminal_state: 'completed' };
    appendFileSync(join(home.sessionsDir, '_run_journal', SID, `${RUN}.jsonl`), `${JSON.stringify(line)}\n`);
    await home.repair();
    expect(home.messages).toEqual([...OLD, PROMPT, answer('a', T0 - 3500), RECOVERED]);
  });
});

describe('an error that was not saved', () => {
  const PART = answer('part', T0 - 3500);
  const ERROR = { ...E, _recovered_from_run_journal: true, _recovered_stream_id: RUN, _recovered_event_id: `${RUN}:2` };

  it.each<[string, JournalEntry[]]>([
    ['T48', [failed()]],
    ['T51', [failed(), STREAM_END]],
  ])('%s', async (_, ends) => {
    const home = new TurnHome({ messages: OLD }).journal(token('part'), ...ends);
    expect(await home.repair()).toMatchObject({ outcome: 'RECOVERED_TERMINAL_ERROR', marker: null, error: ERROR });
    expect(home.messages).toEqual([...OLD, PROMPT, PART, ERROR]);
    expect(home.context).toEqual([...OLD, PROMPT, PART]);
  });

  it.each<[string, JournalEntry]>([
    ['T49', failed({ terminal_session_persisted: true, terminal_session_persisted_session_id: SID })],
    ['T50', failed({}, E, 'zz')],
    ['T54', failed({}, assistant('no error', T0 - 3400))],
  ])('%s', async (_, end) => {
    const home = new TurnHome({ messages: OLD }).journal(token('part'), end);
    await home.repair();
    expect(home.messages).toEqual([...OLD, PROMPT, PART, RECOVERED]);
  });

  it('T52: of a run that was completed after all', async () => {
    const home = new TurnHome({ messages: OLD }).journal(failed(), DONE);
    await home.repair();
    expect(home.messages).toEqual([...OLD, PROMPT]);
  });

  it('T53: that the transcript has', async () => {
    const home = new TurnHome({ messages: [...OLD, user('Hello', STARTED), E] }).journal(failed());
    await home.repair();
    expect(home.messages).toEqual([...OLD, user('Hello', STARTED), { ...ERROR, _recovered_event_id: `${RUN}:1` }]);
  });
});

describe('beside the messages', () => {
  it.each([
    [T0 - 4100, STARTED],
    [0, 0],
    [null, null],
  ])('T56: a watermark of %j', async (watermark, expected) => {
    const home = new TurnHome({ messages: OLD, truncation_watermark: watermark });
    await home.repair();
    expect(home.file.truncation_watermark).toBe(expected);
  });

  it('T57: what the model is sent goes on', async () => {
    const home = new TurnHome({ messages: OLD, context_messages: [user('ctx')] }).journal(token('body'));
    await home.repair();
    expect(home.context).toEqual([user('ctx'), PROMPT, answer('body', T0 - 3500)]);
  });
});
