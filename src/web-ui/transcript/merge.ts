/**
 * The append-only merge of a sidecar's messages with rows of the store (`spec/webui-transcript.md` 15): every local message stays, in its
 * order; a row is added, or taken for a message that is there, or left out, and each decision is told. Pure: what it changes are copies.
 * Always merge from the stored messages; a merged list merged again may change (I7).
 */

import { addDisplayMetadata } from './display-metadata.ts';
import type { MergeDecision, Origin, RowDecision } from './merge-decision.ts';
import { type Absorbed, MergeRun, type Row } from './merge-run.ts';
import { KeyCache } from './message-keys.ts';
import { attachPayloads } from './payloads.ts';
import { mergeTimestamp } from './timestamps.ts';
import { finiteNumber, isEmpty, isMessage, roleOf } from './values.ts';

export interface MergeOptions {
  /** The sidecar's `truncation_watermark` and `truncation_boundary` as stored: numbers or numeric text, anything else is none. */
  readonly watermark?: unknown;
  readonly boundary?: unknown;
  /** UNVERIFIED: the order of the second list is its own; nothing is inserted by time except rescued rows. Default. */
  readonly provenance?: 'STATE_DB' | 'UNVERIFIED';
}

export interface Merged {
  readonly messages: unknown[];
  /** One for each message. */
  readonly origins: Origin[];
  /** One for each state row, in their order. */
  readonly decisions: RowDecision[];
}

/** Merges; a local message gains at most a payload and missing display metadata, a row enters as it is. */
export function mergeTranscript(local: readonly unknown[], state: readonly unknown[], options: MergeOptions = {}): Merged {
  const kept = local.map((row) => (isMessage(row) ? { ...row } : row));
  const localRows = kept.map((message, index): Row => ({ message, origin: { from: 'LOCAL', index } }));
  if (state.length === 0)
    return merged(
      local.map((message, index) => ({ message, origin: { from: 'LOCAL', index } })),
      [],
    );
  attachPayloads(kept, state);
  const watermark = finiteNumber(options.watermark);
  const boundary = finiteNumber(options.boundary);
  if (local.length === 0) return onlyState(state, watermark, boundary);
  if (endsInterrupted(local)) {
    return merged(
      localRows,
      state.map(() => ({ decision: 'INTERRUPTED_TURN', into: null, shown: false })),
    );
  }
  const run = new MergeRun(localRows, state, { watermark, boundary, isVerified: options.provenance === 'STATE_DB' });
  return merged(run.rows(), run.decisions());
}

/** The state messages as they are, for a session that has no sidecar. */
export function stateOnly(state: readonly unknown[]): Merged {
  const rows = state.map((message, index): Row => ({ message, origin: { from: 'STATE', index } }));
  return merged(
    rows,
    rows.map((row) => ({ decision: 'APPENDED', into: row, shown: true })),
  );
}

/** 15.2 C: what the truncation lets through, each row once. */
function onlyState(state: readonly unknown[], watermark: number | null, boundary: number | null): Merged {
  const isKept = truncation(watermark, boundary);
  const cache = new KeyCache();
  const first = new Map<string, Row>();
  const rows: Row[] = [];
  const decisions = state.map((stored, index): Absorbed => {
    if (!isKept(mergeTimestamp(stored))) return { decision: 'ABOVE_WATERMARK', into: null, shown: false };
    const key = cache.of(stored, 'STATE').dedup;
    const known = first.get(key);
    if (known !== undefined) {
      if (isMessage(known.message) && isMessage(stored)) addDisplayMetadata(known.message, stored);
      return { decision: 'DUPLICATE', into: known, shown: false };
    }
    const row: Row = { message: isMessage(stored) ? { ...stored } : stored, origin: { from: 'STATE', index } };
    first.set(key, row);
    rows.push(row);
    return { decision: 'APPENDED', into: row, shown: true };
  });
  return merged(rows, decisions);
}

function truncation(watermark: number | null, boundary: number | null): (time: number | null) => boolean {
  if (watermark === null) return () => true;
  if (watermark === 0) return () => false;
  if (boundary !== null && boundary < watermark) return (time) => time !== null && (time <= boundary || time >= watermark);
  return (time) => time !== null && time <= watermark;
}

/** 15.2 E: the sidecar ends in a partial answer with its error; the store would replay the raw version of the same turn. */
function endsInterrupted(local: readonly unknown[]): boolean {
  const error = local.findLastIndex((row) => isMessage(row) && roleOf(row) === 'assistant' && !isEmpty(row._error));
  if (error < 0) return false;
  if (local.slice(error + 1).some((row) => ['user', 'assistant'].includes(roleOf(row)))) return false;
  for (let at = error - 1; at >= 0; at -= 1) {
    const row = local[at];
    const role = roleOf(row);
    if (role === 'user') return false;
    if (isMessage(row) && role === 'assistant' && !isEmpty(row._partial)) return true;
  }
  return false;
}

function merged(rows: readonly Row[], decisions: readonly Absorbed[]): Merged {
  const positions = new Map(rows.map((row, index) => [row, index]));
  return {
    messages: rows.map(({ message }) => message),
    origins: rows.map(({ origin }) => origin),
    decisions: decisions.map(
      ({ decision, into, shown, outOfOrder = false, danglingToolCall = false }, index): RowDecision => ({
        index,
        decision,
        shown,
        position: into === null ? null : (positions.get(into) ?? null),
        outOfOrder,
        danglingToolCall,
      }),
    ),
  };
}

export type { MergeDecision };
