/**
 * Reads of the rows of sessions as the Web UI reads them, as jobs for another process: each looks at every row of its sessions.
 */
import type { PrefixKey, RoundsKey } from '../session-history.ts';
import { opaqueKey } from '../web-ui/transcript/opaque-key.ts';
import { readRevisions, type TranscriptRevision } from '../web-ui/transcript/revision.ts';
import { conversationRounds } from '../web-ui/transcript/rounds.ts';
import {
  type PrefixSummary,
  prefixKeysOf,
  prefixSummaries,
  type SessionSummary,
  sessionSummaries,
} from '../web-ui/transcript/session-summaries.ts';
import type { StoreConnection } from './connection.ts';

export type HistoryJob =
  | { readonly kind: 'rounds'; readonly keys: readonly RoundsKey[] }
  | { readonly kind: 'messageSummaries'; readonly ids: readonly string[] }
  | { readonly kind: 'messagePrefixes'; readonly keys: readonly PrefixKey[] }
  | { readonly kind: 'messagePrefixKeys'; readonly keys: readonly PrefixKey[] }
  | { readonly kind: 'historyRevisions'; readonly ids: readonly string[] };

export interface HistoryJobResults {
  rounds: number[];
  messageSummaries: Map<string, SessionSummary>;
  messagePrefixes: (PrefixSummary | null)[];
  messagePrefixKeys: (string[] | null)[];
  historyRevisions: Map<string, TranscriptRevision | null>;
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

/** The time of a list is the same for all that is in it: one statement for each that is asked for, which gets it exactly. */
function perTime<V>(keys: readonly PrefixKey[], read: (ids: readonly string[], before: number) => ReadonlyMap<string, V>): (V | null)[] {
  const byTime = Map.groupBy(keys, ({ before }) => before);
  const found = new Map(
    [...byTime].map(([before, asked]) => [
      before,
      read(
        asked.map(({ sessionId }) => sessionId),
        before,
      ),
    ]),
  );
  return keys.map(({ sessionId, before }) => found.get(before)?.get(sessionId) ?? null);
}
