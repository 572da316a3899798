/** Every session of a whole Web UI home, opened through GraphQL, holds what the Web UI's own code merged. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { storedContent } from '../../../src/web-ui/transcript/structured-content.ts';
import { fixturesDir, type GoldenCase, loadGolden } from '../../support/golden.ts';
import { startInProcess, type TestServer } from '../../support/server.ts';
import { temporaryFolder } from '../../support/stores.ts';

interface Shown {
  readonly rawRole: string;
  readonly text: string;
  readonly timestamp: string | null;
  readonly toolCallId: string | null;
  readonly toolName: string | null;
  readonly reasoning: string | null;
  readonly toolCalls: readonly { readonly toolCallId: string | null; readonly name: string; readonly rawArguments: string | null }[];
}

const FIELDS = 'rawRole text timestamp toolCallId toolName reasoning toolCalls { toolCallId name rawArguments }';
const PAGES = `query Pages($id: String!, $view: MessageView!) {
  session(sessionId: $id) { messages(first: 200, view: $view, scope: SEGMENT, merged: true) { totalCount nodes { ${FIELDS} } } }
}`;
const WHOLE = `query Whole($id: String!) { session(sessionId: $id) { transcript { source nodes: messages { ${FIELDS} } } } }`;

type Paged = { session: { messages: { totalCount: number; nodes: Shown[] } } | null };
type Whole = { session: { transcript: { source: string; nodes: Shown[] } } | null };

let server: TestServer;
beforeAll(async () => {
  const home = join(temporaryFolder(), 'home');
  cpSync(join(fixturesDir(), 'stores', 'webui-home'), home, { recursive: true });
  server = await startInProcess({ home });
});

const { cases } = loadGolden('webui-home', 'merge');
const merged = cases.filter(({ function: name, args }) => name === 'reconciled_state_db_messages_for_session' && args.sid !== 'no_such');
const idOf = ({ args }: GoldenCase) => String(args.sid);

/** What upstream merged, as the graph names it. A row with parts is one message with the file's (`structured-rows-decoded`). */
function expected(messages: unknown): unknown[] {
  const seen = new Set<string>();
  return (messages as Record<string, unknown>[]).flatMap((message, at, all) => {
    const before = all[at - 1];
    // `spec/webui-sidecars.md` 4.2: partial answers that repeat another are shown once.
    if (message._partial === true && before?._partial === true && message.content === before.content) return [];
    const content = typeof message.content === 'string' ? storedContent(message.content) : message.content;
    const text = Array.isArray(content)
      ? content.flatMap((part: Record<string, unknown>) => (part.type === 'text' ? [part.text] : [])).join('\n')
      : (content ?? '');
    const repeated = JSON.stringify({ ...message, content });
    if (Array.isArray(content) && seen.has(repeated)) return [];
    seen.add(repeated);
    const time = message.timestamp ?? message._ts;
    const calls = Array.isArray(message.tool_calls) ? message.tool_calls : [];
    return [
      {
        rawRole: message.role,
        text,
        timestamp: time === undefined ? null : new Date(Number(time) * 1000).toISOString(),
        toolCallId: message.tool_call_id ?? null,
        toolName: message.tool_name ?? message.name ?? null,
        reasoning: message.reasoning ?? message.reasoning_content ?? null,
        toolCalls: calls.map(({ id, function: fn }) => ({ toolCallId: id ?? null, name: fn.name, rawArguments: fn.arguments })),
      },
    ];
  });
}

describe('sessions of the Web UI', () => {
  const whole = merged.filter(({ error }) => error === undefined);

  it.each(whole.filter(({ args }) => args.prefer_context === true).map((golden) => [idOf(golden), golden] as const))(
    'hold in the view LIVE what the model is sent: %s',
    async (id, { result }) => {
      const { session } = await server.read<Paged, unknown>(PAGES, { id, view: 'LIVE' });
      expect(session?.messages.nodes).toEqual(expected(result));
      expect(session?.messages.totalCount).toBe(session?.messages.nodes.length);
    },
  );

  it.each(whole.filter(({ args }) => args.prefer_context === false).map((golden) => [idOf(golden), golden] as const))(
    'hold in the view DISPLAY what a person sees: %s',
    async (id, { result }) => {
      const { session } = await server.read<Paged, unknown>(PAGES, { id, view: 'DISPLAY' });
      expect(session?.messages.nodes).toEqual(expected(result));
      const { session: opened } = await server.read<Whole, unknown>(WHOLE, { id });
      expect(opened?.transcript.nodes).toEqual(session?.messages.nodes);
    },
  );

  const inStore = new Set(
    loadGolden('webui-home', 'state_db')
      .cases.filter(({ function: name, result }) => name === 'state_db_has_session' && result === true)
      .map(idOf),
  );
  const loaded = loadGolden('webui-home', 'session_load').cases.filter(({ function: name, error }) => name === 'Session.load' && !error);
  const alone = loaded.filter((golden) => !inStore.has(idOf(golden)) && golden.result !== null);

  it('are told apart by whether the store has them', () => {
    expect(alone.length).toBeGreaterThan(3);
    expect(alone.length).toBeLessThan(loaded.length);
  });

  it.each(alone.map((golden) => [idOf(golden), golden] as const))(
    'that only a file has hold in the view AUDIT what the Web UI loads: %s',
    async (id, { result }) => {
      const { session } = await server.read<Paged, unknown>(PAGES, { id, view: 'AUDIT' });
      expect(session?.messages.nodes).toEqual(expected((result as { messages: unknown }).messages));
    },
  );

  it.each(merged.filter(({ error }) => error !== undefined).map((golden) => [idOf(golden), golden.args.prefer_context === true] as const))(
    'damaged-sidecar: whose file is damaged say so where the store does not have them: %s (for the model: %s)',
    async (id, forModel) => {
      const { data, errors } = await server.query<Paged, unknown>(PAGES, { id, view: forModel ? 'LIVE' : 'DISPLAY' });
      expect(inStore.has(id)).toBe(false);
      expect(errors.map(({ extensions }) => extensions.code)).toEqual(['SIDECAR_CORRUPT']);
      expect(data?.session).toEqual({ messages: null });
    },
  );
});
