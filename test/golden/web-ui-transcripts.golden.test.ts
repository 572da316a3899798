/** The Web UI's reading of rows, and its merge of sidecars with them, on a whole home and on small pairs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoreConnection } from '../../src/state-db/connection.ts';
import { isJsonObject, parseJson } from '../../src/state-db/decode.ts';
import { contextDelta } from '../../src/web-ui/transcript/context-delta.ts';
import { mergeTranscript } from '../../src/web-ui/transcript/merge.ts';
import { reconcile } from '../../src/web-ui/transcript/reconcile.ts';
import { sessionSummaries, sessionsWithRows } from '../../src/web-ui/transcript/session-summaries.ts';
import { readStateMessages, type StateQuery } from '../../src/web-ui/transcript/state-messages.ts';
import { storedContent } from '../../src/web-ui/transcript/structured-content.ts';
import { copyStore, fixturesDir } from '../support/golden.ts';
import { answersInstead, goldenKind, type Rule, verdict } from './compare.ts';

const SESSIONS = join(fixturesDir(), 'stores', 'webui-home', 'webui', 'sessions');

const open = async () => StoreConnection.open(copyStore('webui-home/state'), { lockWaitMs: 1000 });

/** What the store holds as a list of parts is a list of parts. */
const STRUCTURED: Rule = {
  id: 'structured-rows-decoded',
  adjust: (expected) => (Array.isArray(expected) ? expected.map(decoded) : expected),
};

/** A row that is the local message once it is decoded isn't shown a second time. */
const STRUCTURED_ONCE: Rule = {
  id: 'structured-rows-decoded',
  adjust: (expected) => {
    if (!Array.isArray(expected)) return expected;
    const seen = new Set<string>();
    return expected.map(decoded).filter((message) => {
      const text = JSON.stringify(message);
      const isKnown = Array.isArray((message as { content?: unknown }).content) && seen.has(text);
      seen.add(text);
      return !isKnown;
    });
  },
};

function decoded(message: unknown): unknown {
  return isJsonObject(message) && typeof message.content === 'string' ? { ...message, content: storedContent(message.content) } : message;
}

/** As sidecars are read (`spec/webui-sidecars.md` 4.2); the partials here have text alone. */
function collapsedPartials(messages: unknown): unknown {
  if (!Array.isArray(messages)) return messages;
  return messages.filter((message, index) => {
    const [one, before] = [message as Record<string, unknown>, messages[index - 1] as Record<string, unknown> | undefined];
    return !(one._partial === true && before?._partial === true && one.content === before.content);
  });
}

const list = (value: unknown) => value as readonly unknown[];

goldenKind<StoreConnection>('state_db', ['webui-home'], open, {
  get_state_db_session_messages: (store, { args, result, ...more }) => {
    const query: StateQuery = {
      stitch: args.stitch_continuations === true,
      includeInactive: args.include_inactive === true,
      since: typeof args.since_timestamp === 'number' ? args.since_timestamp : null,
      limit: typeof args.limit === 'number' ? args.limit : null,
    };
    const { messages, revision } = readStateMessages(store, String(args.sid), query);
    if (!('returns' in more)) return verdict(messages, result, [STRUCTURED]);
    const named = revision && {
      session_id: revision.sessionId,
      active_message_count: revision.activeMessageCount,
      max_active_message_id: revision.maxActiveMessageId,
      active_rows_digest: revision.activeRowsDigest,
    };
    return verdict(named, result);
  },
  get_state_db_session_summary: (store, { args, result }) => {
    const summary = sessionSummaries(store, [String(args.sid)]).get(String(args.sid));
    return verdict({ message_count: summary?.messageCount, last_message_at: summary?.lastMessageAt }, result);
  },
  state_db_has_session: (store, { args, result }) => verdict(sessionsWithRows(store, [String(args.sid)]).has(String(args.sid)), result),
  agent_session_rows_existing: (store, { args, result }) =>
    verdict([...sessionsWithRows(store, args.session_ids as string[])].sort(), result),
  agent_session_zero_message_sids: (store, { args, result }) => {
    const known = sessionsWithRows(store, args.session_ids as string[]);
    const summaries = sessionSummaries(store, [...known]);
    return verdict(
      [...known].filter((id) => summaries.get(id)?.messageCount === 0),
      result,
    );
  },
});

goldenKind<StoreConnection>('merge', ['webui-home'], open, {
  reconciled_state_db_messages_for_session: (store, golden) => {
    const sessionId = String(golden.args.sid);
    const parsed = parseJson(readFileSync(join(SESSIONS, `${sessionId}.json`), 'utf8'));
    const session = isJsonObject(parsed) ? { ...parsed, messages: collapsedPartials(parsed.messages) } : null;
    const rows = readStateMessages(store, sessionId);
    const { messages, source } = reconcile(session, rows, golden.args.prefer_context === true ? 'CONTEXT' : 'DISPLAY');
    if (session === null) {
      const errorType = parsed === undefined ? 'JSONDecodeError' : 'AttributeError';
      return answersInstead('damaged-sidecar', golden, source === 'STATE_DB_ONLY' && messages.length === rows.messages.length, errorType);
    }
    return verdict(messages, golden.result, [STRUCTURED_ONCE]);
  },
  // Rows are decoded before they are merged.
  merge_session_messages_append_only: (_, { args, result }) => {
    const options = { watermark: args.truncation_watermark, boundary: args.truncation_boundary };
    return verdict(mergeTranscript(list(args.sidecar_messages), list(args.state_messages).map(decoded), options).messages, result);
  },
  state_db_delta_after_context: (_, { args, result }) => {
    const state = list(args.state_messages).map(decoded);
    return verdict(
      contextDelta(list(args.sidecar_context), state).map((index) => state[index]),
      result,
      [STRUCTURED],
    );
  },
});
