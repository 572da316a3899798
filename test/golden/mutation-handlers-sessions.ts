/**
 * Upstream's writers of sessions as a whole in terms of ours, and those that stay with the owning programs.
 */
import { StoreConnection } from '../../src/state-db/connection.ts';
import { delegateCascade, tip } from '../../src/state-db/lineage.ts';
import { SessionGraph } from '../../src/state-db/write/session-graph.ts';
import type { TitleSource } from '../../src/state-db/write/session-title.ts';
import { WriteRefused } from '../../src/write-refused.ts';
import type { TestHost } from '../support/command-host.ts';
import { type Answers, type MutationBench, type MutationHandler, quietly } from './mutation-runner.ts';

const SILENT = { NOT_FOUND: false } as const;

export const SESSION_HANDLERS: Readonly<Record<string, MutationHandler<TestHost>>> = {
  set_session_title: (host, { args: [id, title] }) => setTitle(host, id, title, 'user'),
  set_auto_title: (host, { args: [id, title], kwargs: { source } }) => {
    if (source !== 'llm' && source !== 'derived') throw new WriteRefused('VALIDATION');
    return setTitle(host, id, title, source);
  },
  end_session: async (host, { args: [id, reason] }) => {
    await quietly(() => host.run('endSession', { sessionId: String(id), reason: String(reason) }), SILENT);
  },
  promote_to_session_reset: (host, { args: [id, reason] }) =>
    quietly(
      async () => (await host.run('markSessionReset', { sessionId: String(id), reason: String(reason ?? 'session_reset') })).changed,
      SILENT,
    ),
  reopen_session: async (host, { args: [id] }) => {
    await host.run('reopenSession', { sessionId: String(id), explicitCloseOnly: false, expectedEndReason: null });
  },
  reopen_orphaned_compression_session: (host, { args: [id] }) =>
    quietly(async () => (await host.run('reopenOrphanedCompressionParent', { sessionId: String(id) })).reopened, {
      HAS_CONTINUATION: false,
      COMPRESSION_IN_PROGRESS: false,
    }),
  finalize_orphaned_compression_sessions: async (host) => (await host.run('finalizeOrphanedCompressions', {})).sessionIds.length,
  set_session_archived: (host, { args: [id, archived] }) =>
    quietly(async () => {
      await host.run('setSessionArchived', { sessionId: String(id), archived: archived === true, expectedCascade: null });
      return true;
    }, SILENT),
  set_session_pinned: (host, { args: [id, pinned] }) => setFlags(host, id, { pinned: pinned === true }),
  set_session_hidden: (host, { args: [id, hidden] }) => setFlags(host, id, { hidden: hidden === true }),
  set_session_read: (host, { args: [id, read] }) => setFlags(host, id, { read: read === true }),
  delete_session: (host, { args: [id], kwargs: { expected_delete_ids: expected } }) =>
    quietly(
      async () => {
        const expectedDeleteIds = Array.isArray(expected) ? expected.map(String) : null;
        await host.run('deleteSession', { sessionId: String(id), scope: 'SEGMENT', expectedDeleteIds, onlyIfEmpty: false });
        return true;
      },
      { NOT_FOUND: false, DELETE_SET_CHANGED: false },
    ),
  delete_session_if_empty: async (host, { args: [id] }) => {
    const input = { sessionId: String(id), scope: 'SEGMENT', expectedDeleteIds: null, onlyIfEmpty: true } as const;
    return (await host.run('deleteSession', input)).deletedIds.length > 0;
  },
  delete_sessions: async (host, { args: [ids] }) => {
    const named = Array.isArray(ids) ? ids.map(String) : [];
    const { deletedIds } = await host.run('deleteSessions', { ids: named, expectedDeleteIds: null });
    return deletedIds.filter((id) => named.includes(id)).length;
  },
  delete_empty_sessions: async (host) => (await host.run('deleteEmptySessions', { expectedDeleteIds: null })).deletedIds.length,
  clear_messages: async (host, { args: [id] }) => {
    await host.run('clearSession', { sessionId: String(id), confirm: true });
  },
  get_session_delete_targets: (host, { args: [id] }) =>
    graphRead(host, (graph) => {
      const session = graph.get(String(id));
      return session === undefined ? [] : [session.id, ...delegateCascade(graph, session).sort()];
    }),
  get_compression_tip: (host, { args: [id] }) =>
    graphRead(host, (graph) => {
      const session = graph.get(String(id));
      return session === undefined ? id : tip(graph, session).id;
    }),
};

/** Functions of a running agent: what it used, that it is alive, and the compressions that it makes. */
export const LEFT_TO_THE_AGENT: Readonly<Record<string, string>> = Object.fromEntries(
  [
    'update_token_counts',
    'get_dominant_session_model_route',
    'touch_session_activity',
    'get_session_activity',
    'clear_session_activity_labels',
    'archive_and_compact',
    'publish_compression_child',
  ].map((name) => [name, 'left-to-the-agent']),
);

/** A segment is not deleted while a turn runs in its conversation. */
const DELETE_GUARDED = {
  id: 'delete-guarded',
  adjust: (expected: unknown) => {
    const { steps, after } = expected as Answers;
    const refused = steps.map((step, index) =>
      index === 0 ? { error: 'SESSION_WRITE_GUARDED', result: null } : { ...step, result: 'm_A5' },
    );
    return { steps: refused, after: { ...after, sessions: [], messages: { removed: [], added: [], changed: [] }, totals: {} } };
  },
};

export const sessionRules: NonNullable<MutationBench<TestHost>['rules']> = ({ name }) =>
  name === 'delete a middle segment' ? [DELETE_GUARDED] : [];

function setTitle(host: TestHost, id: unknown, title: unknown, source: TitleSource): Promise<unknown> {
  return quietly(async () => {
    const text = typeof title === 'string' ? title : null;
    const { changed } = await host.run('setSessionTitle', { sessionId: String(id), title: text, source, expected: null });
    return source === 'user' || changed;
  }, SILENT);
}

function setFlags(
  host: TestHost,
  id: unknown,
  flags: { readonly pinned?: boolean; readonly hidden?: boolean; readonly read?: boolean },
): Promise<unknown> {
  return quietly(async () => {
    await host.run('setSessionFlags', { sessionId: String(id), pinned: null, hidden: null, read: null, ...flags });
    return true;
  }, SILENT);
}

function graphRead<T>(host: TestHost, work: (graph: SessionGraph) => T): T {
  const connection = StoreConnection.open(host.path, { lockWaitMs: 1000 });
  try {
    return work(new SessionGraph(connection));
  } finally {
    connection.close();
  }
}
