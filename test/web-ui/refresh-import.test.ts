/** `refreshImport` of `src/web-ui/refresh-import.ts`, by `spec/webui-listing.md` 16.2. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { refreshImport } from '../../src/web-ui/refresh-import.ts';
import { type Fields, sidecarText } from '../support/sidecars.ts';

type Message = Readonly<Record<string, unknown>>;

const user = (content: unknown, timestamp: number, more: Message = {}): Message => ({ role: 'user', content, timestamp, ...more });
const answer = (content: unknown, timestamp: number, more: Message = {}): Message => ({ role: 'assistant', content, timestamp, ...more });
const CALL = [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }];
const TALK = [user('Where is the tea?', 10), answer('Here.', 11)];
const MORE = [user('And the milk?', 20), answer('There.', 21)];
const IMPORTED = { source_tag: 'cli', raw_source: 'cli', session_source: 'cli', source_label: 'CLI', is_cli_session: true };

interface Case {
  readonly file?: Fields;
  readonly messages?: readonly Message[];
  readonly elsewhere: readonly Message[];
  readonly source?: string | null;
  readonly parentSessionId?: string | null;
}

function refresh({ file = IMPORTED, messages = TALK, elsewhere, source = 'cli', parentSessionId = null }: Case) {
  const bytes = Buffer.from(sidecarText('s', { workspace: '/w', ...file }, messages));
  const outcome = refreshImport(bytes, { id: 's', source, parentSessionId, messages: elsewhere });
  const after = outcome.status === 'CHANGED' ? Buffer.from(outcome.bytes) : bytes;
  const before = JSON.parse(bytes.toString()) as Fields;
  const now = JSON.parse(after.toString()) as Fields & { readonly messages: readonly Message[] };
  const changed = Object.keys(now).filter((key) => JSON.stringify(now[key]) !== JSON.stringify(before[key]));
  return { status: outcome.status, code: outcome.status === 'REFUSED' ? outcome.code : null, now, changed, bytes, after };
}

describe('messages', () => {
  it('come to the end where the transcript elsewhere goes on from the file, and nothing else changes', () => {
    const { now, changed, bytes, after } = refresh({ elsewhere: [...TALK, ...MORE] });
    expect(now.messages).toEqual([...TALK, ...MORE]);
    expect(changed).toEqual(['message_count', 'messages']);
    expect(after.toString()).toContain(bytes.toString().slice(0, 200));
  });

  it.each<readonly [name: string, given: Case]>([
    ['an equal transcript', { elsewhere: TALK }],
    ['a shorter one', { elsewhere: TALK.slice(0, 1) }],
    ['none', { elsewhere: [] }],
    ['one that begins otherwise', { elsewhere: [user('Where is the rum?', 10), ...TALK.slice(1), ...MORE] }],
    ['one in which another spoke', { elsewhere: [answer('Where is the tea?', 10), ...TALK.slice(1), ...MORE] }],
    [
      'one with another tool call',
      { messages: [answer('', 1, { tool_calls: CALL })], elsewhere: [answer('', 1, { tool_calls: [{ id: 'c2' }] }), ...MORE] },
    ],
    [
      'one that calls no tool where the file does',
      { messages: [answer('', 1, { tool_calls: CALL })], elsewhere: [answer('', 1), ...MORE] },
    ],
    [
      "one with another tool's result",
      {
        messages: [{ role: 'tool', content: 'x', tool_call_id: 'c1' }],
        elsewhere: [{ role: 'tool', content: 'x', tool_call_id: 'c2', timestamp: 3 }, ...MORE],
      },
    ],
    [
      'rows that were taken back in the Web UI',
      { file: { ...IMPORTED, truncation_watermark: 11 }, elsewhere: [...TALK, user('No.', 10.5)] },
    ],
    ['an archived segment', { file: { ...IMPORTED, pre_compression_snapshot: true }, elsewhere: [...TALK, ...MORE] }],
    ['a message of the file that is none', { messages: ['torn' as unknown as Message], elsewhere: [...TALK, ...MORE] }],
  ])('stay as they are beside %s', (_, given) => {
    const { status, after, bytes } = refresh(given);
    expect(status).toBe('UNCHANGED');
    expect(after.equals(bytes)).toBe(true);
  });

  it('get what an equally long transcript tells of tools, and keep what only the file says', () => {
    const poor = [answer('Looking.', 1, { note: 'mine' }), { role: 'tool', content: 'tea', timestamp: 2 }];
    const rich = [
      answer('Looking.', 1, { tool_calls: CALL, reasoning: 'Hm.' }),
      { role: 'tool', content: 'tea', timestamp: 2, tool_call_id: 'c1', tool_name: 'look', name: 'look' },
    ];
    const { now, changed } = refresh({ messages: poor, elsewhere: rich });
    expect(changed).toEqual(['messages']);
    expect(now.messages).toEqual([
      { ...poor[0], tool_calls: CALL },
      { ...poor[1], tool_call_id: 'c1', tool_name: 'look', name: 'look' },
    ]);
    expect(refresh({ messages: now.messages, elsewhere: rich }).status).toBe('UNCHANGED');
  });

  it('are told apart without the tag of the workspace, which only the store has', () => {
    const elsewhere = [user('[Workspace: /srv/tea]\nWhere is the tea?', 10), ...TALK.slice(1), ...MORE];
    expect(refresh({ elsewhere }).now.messages).toEqual([...TALK, ...MORE]);
  });

  it('fill a file without any', () => {
    expect(refresh({ messages: [], elsewhere: TALK }).now.messages).toEqual(TALK);
  });

  it('never name rows of the store', () => {
    const elsewhere = [...TALK, user('Look', 30, { api_content: 'Look!', _state_db_row_id: 7 })];
    expect(refresh({ elsewhere }).now.messages.at(-1)).toEqual(user('Look', 30, { api_content: 'Look!' }));
  });

  it('wait while a turn is under way; then nothing is changed', () => {
    const running = { ...IMPORTED, active_stream_id: 'r1', pending_user_message: 'Hm?', pending_started_at: 30 };
    expect(refresh({ file: running, elsewhere: [...TALK, ...MORE] })).toMatchObject({ status: 'REFUSED', code: 'SESSION_BUSY' });
    expect(refresh({ file: running, elsewhere: TALK }).status).toBe('UNCHANGED');
  });
});

describe('where it came from', () => {
  it('is filled in where the file says nothing, and time stands still', () => {
    const { now, changed } = refresh({
      file: { source_tag: 'tui', session_source: '' },
      elsewhere: TALK,
      source: 'cli',
      parentSessionId: 'p',
    });
    expect(now).toMatchObject({
      source_tag: 'tui',
      raw_source: 'cli',
      session_source: 'cli',
      source_label: 'CLI',
      parent_session_id: 'p',
      is_cli_session: true,
    });
    expect(changed).not.toContain('updated_at');
    expect(changed).not.toContain('messages');
  });

  it('of a sub-agent is one that can only be looked at', () => {
    const { now } = refresh({ file: { is_cli_session: true }, elsewhere: TALK, source: 'subagent' });
    expect(now).toMatchObject({ is_cli_session: false, read_only: true, source_tag: 'subagent' });
  });

  it.each<readonly [name: string, given: Omit<Case, 'elsewhere'>]>([
    ['the store', { file: {}, source: 'webui' }],
    ['its file', { file: { session_source: 'fork' }, source: 'cli' }],
    ['nobody, when nobody names another', { file: {}, source: null }],
  ])("is the Web UI's own by %s: it stays as it is", (_, given) => {
    expect(refresh({ ...given, elsewhere: [...TALK, ...MORE] }).status).toBe('UNCHANGED');
  });
});

it.each([
  ['SIDECAR_CORRUPT', Buffer.from('[1]')],
  ['SIDECAR_CORRUPT', Buffer.from('{"session_id": "s", "messages": {}}')],
  ['SIDECAR_ENCODING', Buffer.from([0x7b, 0xff])],
])('refuses with %s what is no session', (code, bytes) => {
  expect(refreshImport(bytes, { id: 's', source: 'cli', parentSessionId: null, messages: TALK })).toMatchObject({
    status: 'REFUSED',
    code,
  });
});

it('keeps every message of the file in its place, and says nothing new when done again', () => {
  const role = fc.constantFrom('user', 'assistant', 'tool', 'system');
  const content = fc.oneof(fc.string(), fc.constant(null), fc.array(fc.record({ type: fc.constant('text'), text: fc.string() })));
  const message = fc.record(
    { role, content, timestamp: fc.integer({ min: 1, max: 50 }), tool_call_id: fc.constantFrom('a', 'b') },
    { requiredKeys: ['role', 'content'] },
  );
  const transcript = fc.array(message, { maxLength: 8 });
  fc.assert(
    fc.property(transcript, transcript, fc.boolean(), (mine, rest, continues) => {
      const elsewhere = continues ? [...mine, ...rest] : rest;
      const { now } = refresh({ messages: mine, elsewhere });
      expect(now.messages.slice(0, mine.length).map(({ role: r, content: c }) => [r, c])).toEqual(mine.map((m) => [m.role, m.content]));
      expect(now.message_count).toBe(now.messages.length);
      const again = refresh({ messages: now.messages, elsewhere });
      expect(again.status).toBe('UNCHANGED');
      if (continues) expect(now.messages).toHaveLength(elsewhere.length);
    }),
  );
});
