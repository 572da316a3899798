/**
 * Reads of the rows of sessions as the Web UI reads them, as jobs for another process: each looks at every row of its sessions.
 */
import type {
  AnchorKey,
  FoundAnchor,
  PrefixKey,
  RoundsKey,
  ShownSnapshot,
  ShownTail,
  StateMessagesKey,
  TailKey,
} from '../session-history.ts';
import { findAnchor } from '../web-ui/transcript/compaction-anchor.ts';
import { type ContinuationChain, continuationChains } from '../web-ui/transcript/continuations.ts';
import { opaqueKey } from '../web-ui/transcript/opaque-key.ts';
import { regenerationTails } from '../web-ui/transcript/regeneration-tail.ts';
import { readRevisions, type TranscriptRevision } from '../web-ui/transcript/revision.ts';
import { conversationRounds } from '../web-ui/transcript/rounds.ts';
import {
  type PrefixSummary,
  prefixKeysOf,
  prefixSummaries,
  type SessionSummary,
  sessionSummaries,
} from '../web-ui/transcript/session-summaries.ts';
import { shownStateMessage } from '../web-ui/transcript/shown-state-message.ts';
import { readStateSnapshots, type StateSnapshot } from '../web-ui/transcript/state-messages.ts';
import type { StoreConnection } from './connection.ts';

export type HistoryJob =
  | { readonly kind: 'rounds'; readonly keys: readonly RoundsKey[] }
  | { readonly kind: 'messageSummaries'; readonly ids: readonly string[] }
  | { readonly kind: 'messagePrefixes'; readonly keys: readonly PrefixKey[] }
  | { readonly kind: 'messagePrefixKeys'; readonly keys: readonly PrefixKey[] }
  | { readonly kind: 'historyRevisions'; readonly ids: readonly string[] }
  | { readonly kind: 'continuationChains'; readonly ids: readonly string[] }
  | { readonly kind: 'stateMessages'; readonly keys: readonly StateMessagesKey[]; readonly largest: number }
  | { readonly kind: 'regenerationTails'; readonly keys: readonly TailKey[]; readonly largest: number }
  | { readonly kind: 'anchors'; readonly keys: readonly AnchorKey[]; readonly largest: number };

export interface HistoryJobResults {
  rounds: number[];
  messageSummaries: Map<string, SessionSummary>;
  messagePrefixes: (PrefixSummary | null)[];
  messagePrefixKeys: (string[] | null)[];
  historyRevisions: Map<string, TranscriptRevision | null>;
  continuationChains: Map<string, ContinuationChain>;
  stateMessages: (ShownSnapshot | 'TOO_LARGE')[];
  regenerationTails: (ShownTail | 'TOO_LARGE' | null)[];
  anchors: (FoundAnchor | 'TOO_LARGE' | null)[];
}

export function runHistoryJob(connection: StoreConnection, job: HistoryJob): HistoryJobResults[HistoryJob['kind']] {
  switch (job.kind) {
    case 'rounds':
      return rounds(connection, job.keys);
    case 'messageSummaries':
      return sessionSummaries(connection, job.ids);
    case 'messagePrefixes':
      return perTime(job.keys, (ids, before) => prefixSummaries(connection, ids, before));
    case 'messagePrefixKeys':
      return perTime(job.keys, (ids, before) => prefixKeysOf(connection, ids, before)).map((keys) => keys?.map(opaqueKey) ?? null);
    case 'historyRevisions':
      return readRevisions(connection, job.ids);
    case 'continuationChains':
      return continuationChains(connection, job.ids);
    case 'stateMessages':
      return stateMessages(connection, job.keys, job.largest);
    case 'regenerationTails':
      return tails(connection, job.keys, job.largest);
    case 'anchors':
      return anchors(connection, job.keys, job.largest);
  }
}

/** One statement for all that count the same rows. */
function rounds(connection: StoreConnection, keys: readonly RoundsKey[]): number[] {
  const [all, active] = [false, true].map((activeOnly) => {
    const asked = keys.filter((key) => key.activeOnly === activeOnly);
    return (asked.length === 0 ? [] : conversationRounds(connection, asked, activeOnly)).values();
  });
  return keys.map(({ activeOnly }) => (activeOnly ? active : all)?.next().value ?? 0);
}

/** One read for all that are asked for in the same way. */
function stateMessages(connection: StoreConnection, keys: readonly StateMessagesKey[], largest: number): (ShownSnapshot | 'TOO_LARGE')[] {
  return perGroup(
    keys,
    ({ sessionId, ...query }) => JSON.stringify(query),
    (asked) => {
      const [first] = asked;
      const ids = asked.map(({ sessionId }) => sessionId);
      return readStateSnapshots(connection, ids, first ?? {}, largest).map((found) =>
        found === 'TOO_LARGE' ? found : shownSnapshot(found),
      );
    },
  ).map((found) => found ?? 'TOO_LARGE');
}

function shownSnapshot({ messages, rowIds, revision, degraded, truncated }: StateSnapshot): ShownSnapshot {
  return { messages: messages.map((message, index) => shownStateMessage(message, rowIds[index] ?? null)), revision, degraded, truncated };
}

function tails(connection: StoreConnection, keys: readonly TailKey[], largest: number): (ShownTail | 'TOO_LARGE' | null)[] {
  return perGroup(
    keys,
    ({ floor }) => floor,
    (asked) => {
      const ids = asked.map(({ sessionId }) => sessionId);
      return regenerationTails(connection, ids, asked[0]?.floor ?? 0, largest).map((found) => {
        if (found === null || found === 'TOO_LARGE') return found;
        const { prefix, prefixKeys, tail, tailRowIds, tailKeys } = found;
        return {
          prefix,
          prefixKeys: prefixKeys.map(opaqueKey),
          tail: tail.map((message, index) => shownStateMessage(message, tailRowIds[index] ?? null)),
          tailKeys: tailKeys.map(opaqueKey),
        };
      });
    },
  );
}

/** Among live rows of the session alone (14). */
function anchors(connection: StoreConnection, keys: readonly AnchorKey[], largest: number): (FoundAnchor | 'TOO_LARGE' | null)[] {
  const ids = keys.map(({ sessionId }) => sessionId);
  const snapshots = readStateSnapshots(connection, ids, {}, largest);
  return keys.map(({ anchor }, index) => {
    const snapshot = snapshots[index] ?? 'TOO_LARGE';
    if (snapshot === 'TOO_LARGE') return snapshot;
    const at = findAnchor(anchor, snapshot.messages);
    return at === null ? null : { rowId: snapshot.rowIds[at] ?? null };
  });
}

/** One statement for each time that is asked for, which the store gets exactly; in a list it is the same for all. */
function perTime<V>(keys: readonly PrefixKey[], read: (ids: readonly string[], before: number) => ReadonlyMap<string, V>): (V | null)[] {
  return perGroup(
    keys,
    ({ before }) => before,
    (asked) => {
      const found = read(
        asked.map(({ sessionId }) => sessionId),
        asked[0]?.before ?? 0,
      );
      return asked.map(({ sessionId }) => found.get(sessionId) ?? null);
    },
  );
}

/** The answers to each group of keys, in the order of all keys. */
function perGroup<K, V>(keys: readonly K[], groupOf: (key: K) => unknown, read: (asked: readonly K[]) => readonly V[]): (V | null)[] {
  const found = new Map<K, V>();
  for (const asked of Map.groupBy(keys, groupOf).values()) {
    for (const [index, value] of read(asked).entries()) found.set(asked[index] as K, value);
  }
  return keys.map((key) => found.get(key) ?? null);
}
