/** What a session's file and its rows tell together: anchors, deltas, payloads, work logs (`spec/webui-transcript.md` C16-C18, `spec/webui-sidecars.md` C30). */
import { describe, expect, it } from 'vitest';
import { type Fields, of } from '../support/session-fields.ts';
import { sidecarText } from '../support/sidecars.ts';
import { M, S } from '../support/stores.ts';
import { startWebUi } from '../support/web-ui-server.ts';
import { everythingOf } from './everything.ts';

describe('the anchor of a compaction (C18)', () => {
  const ANCHOR = 'compressionAnchor { role timestamp text verified rowId }';
  const TIME = 1_782_000_000.25;
  const anchored = (anchor: unknown) => ({ compression_anchor_message_key: anchor });

  it('is verified where the store has the message, and tells its row', async () => {
    const files = {
      there: anchored({ role: 'user', ts: TIME, text: 'where it began', attachments: 0 }),
      gone: anchored({ role: 'user', ts: TIME + 1, text: 'where it began', attachments: 0 }),
      none: {},
    };
    const rows = Object.keys(files).flatMap((id) => [S(id), M(id, { content: 'where it began', timestamp: TIME })]);
    const webUi = await startWebUi({ rows, files });
    const expected = { role: 'user', timestamp: '2026-06-21T00:00:00.250Z', text: 'where it began', verified: true, rowId: '1' };
    expect(await of(webUi, 'there', ANCHOR)).toEqual({ compressionAnchor: expected });
    expect(await of(webUi, 'gone', ANCHOR)).toMatchObject({ compressionAnchor: { verified: false, rowId: null } });
    expect(await of(webUi, 'none', ANCHOR)).toEqual({ compressionAnchor: null });
  });
});

describe('what is newer than the context of a file (C17)', () => {
  const DELTA = 'contextDelta { contextCount isCompressed messages { text } }';
  const said = (texts: readonly string[]) =>
    texts.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content, timestamp: 10 + at }));
  const stored = (id: string, texts: readonly string[]) => [S(id), ...said(texts).map((message) => M(id, message))];
  const ALL = ['one', 'two', 'three', 'four'];

  it('is what follows the part that the store mirrors', async () => {
    const summary = '[Context compaction] what was said before';
    const files = {
      mirrored: sidecarText('mirrored', {}, said(ALL), { context_messages: said(['one', 'two']) }),
      compacted: sidecarText('compacted', {}, said(ALL), { context_messages: said([summary]) }),
      messages: sidecarText('messages', {}, said(ALL)),
    };
    const rows = [
      ...stored('mirrored', ALL),
      ...stored('compacted', ALL),
      ...stored('messages', [...ALL, 'five']),
      ...stored('alone', ALL),
    ];
    const webUi = await startWebUi({ rows, files });
    expect(await of(webUi, 'mirrored', DELTA)).toEqual({
      contextDelta: { contextCount: 2, isCompressed: false, messages: [{ text: 'three' }, { text: 'four' }] },
    });
    const { contextDelta: compacted } = await of(webUi, 'compacted', DELTA);
    expect(compacted).toEqual({ contextCount: 1, isCompressed: true, messages: ALL.map((text) => ({ text })) });
    expect(await of(webUi, 'messages', DELTA)).toMatchObject({ contextDelta: { contextCount: 4, messages: [{ text: 'five' }] } });
    expect(await of(webUi, 'alone', DELTA)).toEqual({ contextDelta: null });
  });

  it('costs a list the same statements, however long it is', async () => {
    const ids = Array.from({ length: 6 }, (_, index) => `s${index}`);
    const files = Object.fromEntries(ids.map((id) => [id, sidecarText(id, {}, said(ALL))]));
    const webUi = await startWebUi({ rows: ids.flatMap((id) => stored(id, [...ALL, 'five'])), files });
    const statements = async (name: string, first: number) => {
      const query = `query ${name} { sessions(first: ${first}) { nodes { sessionId ${DELTA} } } }`;
      const { sessions } = await webUi.read<{ sessions: { nodes: Fields[] } }, object>(query);
      expect(sessions.nodes).toHaveLength(first);
      for (const node of sessions.nodes) expect(node.contextDelta).toMatchObject({ messages: [{ text: 'five' }] });
      return Number((await webUi.requestLine(name)).statements);
    };
    await statements('Warm', 6);
    const one = await statements('One', 1);
    expect(one).toBeGreaterThan(0);
    expect(await statements('Six', 6)).toBe(one);
  });

  it('is an error where the file is damaged, and the session stays what it is', async () => {
    const webUi = await startWebUi({ rows: stored('a', ALL), files: { a: '{"session_id": "a", "messages": [' } });
    const { data, errors } = await webUi.query<{ session: Fields }, object>(`{ session(sessionId: "a") { sessionId ${DELTA} } }`);
    expect(data?.session).toMatchObject({ sessionId: 'a', contextDelta: null });
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(['SIDECAR_CORRUPT']);
  });
});

const EVERYTHING = { maxCost: '10000000', maxDepth: '50', maxTokens: '100000', maxAliases: '1000' };

describe('payloads of merged transcripts (C16)', () => {
  it('are told of as there, whether the file has them or a row', async () => {
    const file = [
      { role: 'user', content: 'from the file', timestamp: 1, api_content: 'SECRET' },
      { role: 'assistant', content: 'plain', timestamp: 2 },
    ];
    const rows = [
      S('a'),
      M('a', { role: 'assistant', content: 'plain', timestamp: 2 }),
      M('a', { content: 'from a row', timestamp: 3, api_content: 'SECRET' }),
    ];
    const webUi = await startWebUi({ rows, files: { a: sidecarText('a', {}, file) }, settings: EVERYTHING });
    const found = await of(webUi, 'a', 'transcript { messages { text hasProviderPayload } }');
    expect(found.transcript).toEqual({
      messages: [
        { text: 'from the file', hasProviderPayload: true },
        { text: 'plain', hasProviderPayload: false },
        { text: 'from a row', hasProviderPayload: true },
      ],
    });
    const everything = `${everythingOf('Session', { args: { 'Session.messages': '(first: 5, merged: true)' } })}`;
    const { errors, data } = await webUi.query<Fields, object>(`{ session(sessionId: "a") ${everything} }`);
    expect(errors).toEqual([]);
    expect(JSON.stringify(data)).not.toContain('SECRET');
  });
});

describe('work logs (webui-sidecars C30)', () => {
  const SCENES = {
    older: { message_index: 1, message_ref: 'ref', stream_id: 'run', scene: { rows: [{ tool: 'terminal' }] }, updated_at: '5' },
    newer: { message_index: 3, scene: [], updated_at: 1_782_000_000 },
    n: { updated_at: 'x' },
    bad: 3,
  };
  const file = sidecarText('a', {}, [], { anchor_activity_scenes: SCENES }).replace(
    '"anchor_scene_index": {}',
    '"anchor_scene_index": {"older": 5, "newer": 1782000000, "n": 0}',
  );
  const scenes = (keys: readonly string[]) =>
    `sidecar { activityScenes(keys: ${JSON.stringify(keys)}) { key messageIndex messageRef streamId updatedAt scene } }`;

  it('T70: are listed by key with their times, newest first', async () => {
    const webUi = await startWebUi({ files: { a: file } });
    expect(await of(webUi, 'a', 'sidecar { sceneIndex { key storedAt } }')).toEqual({
      sidecar: {
        sceneIndex: [
          { key: 'newer', storedAt: '2026-06-21T00:00:00.000Z' },
          { key: 'older', storedAt: '1970-01-01T00:00:05.000Z' },
          { key: 'n', storedAt: null },
        ],
      },
    });
  });

  it('are read by their keys, and what has none is left out', async () => {
    const webUi = await startWebUi({ files: { a: file, broken: '{"session_id": "broken", "messages": [' } });
    expect(await of(webUi, 'a', scenes(['older', 'bad', 'gone', '__proto__', 'older']))).toEqual({
      sidecar: {
        activityScenes: [
          {
            key: 'older',
            messageIndex: 1,
            messageRef: 'ref',
            streamId: 'run',
            updatedAt: '1970-01-01T00:00:05.000Z',
            scene: { rows: [{ tool: 'terminal' }] },
          },
        ],
      },
    });
    const codes = async (id: string, keys: readonly string[]) =>
      (await webUi.error(`{ session(sessionId: "${id}") { ${scenes(keys)} } }`)).extensions.code;
    expect(await codes('a', [])).toBe('BAD_USER_INPUT');
    expect(await codes('a', Array.from({ length: 21 }, String))).toBe('BAD_USER_INPUT');
    expect(await codes('broken', ['older'])).toBe('SIDECAR_CORRUPT');
  });
});
