/**
 * The transcript of a session from its sidecar and the rows of the store, as people see it or as the model is sent it
 * (`spec/webui-transcript.md` 17). Pure: nothing that comes in is changed (hazard H18), and everything can cross a process.
 */
import { findAnchor, isCompressedContext } from './compaction-anchor.ts';
import { contextDelta } from './context-delta.ts';
import { isRepeatOfOwner, repeatOwners } from './display-repeats.ts';
import { Identity } from './identity.ts';
import { type Merged, mergeTranscript, stateOnly } from './merge.ts';
import type { MergeDecision, Origin, RowDecision, TranscriptWarning } from './merge-decision.ts';
import { KeyCache } from './message-keys.ts';
import { type KeptRow, suppressNativeImages } from './native-images.ts';
import { withPayloads } from './payloads.ts';
import type { TranscriptRevision } from './revision.ts';
import { isEmpty, isMessage, type Message, payloadOf } from './values.ts';

/** DISPLAY is for people, CONTEXT for the model. */
export type TranscriptView = 'DISPLAY' | 'CONTEXT';

/**
 * MERGED: both stores were compared. SIDECAR_ONLY: nothing in the store, or the sidecar ends in an interrupted turn that the store would
 * replay. CONTEXT_FAIL_CLOSED: a compacted context whose place in the store can't be proven stands alone. STATE_DB_ONLY: no local messages.
 */
export type TranscriptSource = 'SIDECAR_ONLY' | 'MERGED' | 'CONTEXT_FAIL_CLOSED' | 'STATE_DB_ONLY';

export interface StateRows {
  readonly messages: readonly unknown[];
  readonly revision: TranscriptRevision | null;
}

export interface ReconciledTranscript {
  /** With private fields: `withoutPrivateFields` before anyone sees them. */
  readonly messages: unknown[];
  /** One for each message: its place in the local list of this view, or among the state messages. */
  readonly origins: Origin[];
  readonly source: TranscriptSource;
  /** Of the state messages, as it came in. */
  readonly revision: TranscriptRevision | null;
  /** One for each state message, in order. */
  readonly decisions: RowDecision[];
  readonly warnings: TranscriptWarning[];
}

/** Reconciles; `session` is the parsed sidecar, null where there is none. Never throws for what the two hold. */
export function reconcile(session: Message | null, state: StateRows, view: TranscriptView): ReconciledTranscript {
  const { revision } = state;
  if (session === null) return finish(stateOnly(state.messages), 'STATE_DB_ONLY', revision, [], state.messages);
  const context = listOf(session.context_messages);
  const display = listOf(session.messages);
  const fromContext = view === 'CONTEXT' && context.length > 0;
  let local = fromContext ? context : display;
  const kept = suppressNativeImages(session, state.messages, { keepPayloadRows: fromContext, hidePending: view === 'DISPLAY' });
  const early = decisionsOf(state.messages, 'SUPPRESSED');
  let rows: readonly KeptRow[] = kept;
  let paid: readonly unknown[] | null = null;
  if (view === 'CONTEXT' && local.length > 0) {
    if (fromContext && isClaimed(session, context, display)) local = display;
    else if (fromContext && isCompressedContext(context)) {
      const anchor = findAnchor(session.compression_anchor_message_key, messagesOf(rows));
      if (anchor === null) {
        for (const { index } of rows) early.set(index, 'CONTEXT_CLOSED');
        const alone = withEarly(mergeTranscript(local, []), [], early, state.messages.length);
        return finish(alone, 'CONTEXT_FAIL_CLOSED', revision, local, state.messages);
      }
      for (const { index } of rows.slice(0, anchor + 1)) early.set(index, 'IN_CONTEXT');
      rows = rows.slice(anchor + 1);
    }
    for (const { index } of rows) early.set(index, 'IN_CONTEXT');
    // Rows that the delta leaves out have payloads for the context all the same.
    paid = withPayloads(local, messagesOf(rows));
    rows = contextDelta(paid, messagesOf(rows)).flatMap((at) => rows[at] ?? []);
  }
  const options = { watermark: session.truncation_watermark, boundary: session.truncation_boundary, provenance: 'STATE_DB' } as const;
  const merged = mergeTranscript(paid ?? local, messagesOf(rows), options);
  const shown = view === 'DISPLAY' ? withoutRepeats(merged, local, messagesOf(rows)) : merged;
  const whole = withEarly(shown, rows, early, state.messages.length);
  return finish(whole, sourceOf(local, state.messages, whole.decisions), revision, local, state.messages);
}

function sourceOf(local: readonly unknown[], state: readonly unknown[], decisions: readonly RowDecision[]): TranscriptSource {
  if (state.length === 0 || decisions.some(({ decision }) => decision === 'INTERRUPTED_TURN')) return 'SIDECAR_ONLY';
  return local.length === 0 ? 'STATE_DB_ONLY' : 'MERGED';
}

/** 17 step 4a: a transcript of the command line that was claimed is in the sidecar whole, and the context is its beginning. */
function isClaimed(session: Message, context: readonly unknown[], display: readonly unknown[]): boolean {
  if (isEmpty(session.is_cli_session) || !isEmpty(session.read_only) || display.length <= context.length) return false;
  const cache = new KeyCache();
  return context.every((message, index) => cache.of(message, 'LITERAL').merge === cache.of(display[index], 'LITERAL').merge);
}

/** 17 step 6: one turn that two writers stored with two payloads is shown once. */
function withoutRepeats(merged: Merged, local: readonly unknown[], state: readonly unknown[]): Merged {
  const owners = repeatOwners(local, state);
  if (owners.length === 0) return merged;
  const positions: (number | null)[] = [];
  const kept: number[] = [];
  for (const [at, message] of merged.messages.entries()) {
    const origin = merged.origins[at];
    const isRepeat = owners.some((owner) => !(origin?.from === 'LOCAL' && origin.index === owner.local) && isRepeatOfOwner(message, owner));
    positions.push(isRepeat ? null : kept.push(at) - 1);
  }
  return {
    messages: kept.map((at) => merged.messages[at]),
    origins: kept.flatMap((at) => merged.origins[at] ?? []),
    decisions: merged.decisions.map((decision) => {
      const position = decision.position === null ? null : (positions[decision.position] ?? null);
      const isHidden = decision.shown && position === null;
      return isHidden ? { ...decision, position, shown: false, decision: 'SUPPRESSED' } : { ...decision, position };
    }),
  };
}

/** The merge saw a part of the rows; each of all gets its decision, and indexes are those of the whole list again. */
function withEarly(merged: Merged, rows: readonly KeptRow[], early: ReadonlyMap<number, MergeDecision>, count: number): Merged {
  const byIndex = new Map(merged.decisions.map((decision) => [rows[decision.index]?.index ?? -1, decision]));
  const decisions = Array.from({ length: count }, (_, index): RowDecision => {
    const decided = byIndex.get(index);
    if (decided !== undefined) return { ...decided, index };
    const decision = early.get(index) ?? 'SUPPRESSED';
    return { index, decision, shown: false, position: null, outOfOrder: false, danglingToolCall: false };
  });
  const origins = merged.origins.map(
    (origin): Origin => (origin.from === 'STATE' ? { from: 'STATE', index: rows[origin.index]?.index ?? origin.index } : origin),
  );
  return { messages: merged.messages, origins, decisions };
}

function finish(
  merged: Merged,
  source: TranscriptSource,
  revision: TranscriptRevision | null,
  local: readonly unknown[],
  state: readonly unknown[],
): ReconciledTranscript {
  return { ...merged, source, revision, warnings: warningsOf(merged, source, local, state) };
}

function warningsOf(
  { origins, decisions }: Merged,
  source: TranscriptSource,
  local: readonly unknown[],
  state: readonly unknown[],
): TranscriptWarning[] {
  const unmet = unmetPayloads({ origins, decisions }, local);
  const isUnpaidTwin = ({ index, shown }: RowDecision) => {
    const message = state[index];
    const visible = shown && unmet.size > 0 && isMessage(message) && payloadOf(message) === null ? Identity.of(message).visible : null;
    return visible !== null && unmet.has(visible);
  };
  const found: readonly TranscriptWarning[] = [
    { code: 'PAYLOAD_ONLY_LOCAL', count: decisions.filter(isUnpaidTwin).length },
    { code: 'DANGLING_TOOL_CALL', count: decisions.filter(({ danglingToolCall }) => danglingToolCall).length },
    { code: 'OUT_OF_ORDER', count: decisions.filter(({ outOfOrder }) => outOfOrder).length },
    { code: 'LATE_ROWS_DROPPED', count: decisions.filter(({ decision }) => decision === 'LATE_DROPPED').length },
    { code: 'CONTEXT_FAIL_CLOSED', count: source === 'CONTEXT_FAIL_CLOSED' ? Math.max(1, decisions.length) : 0 },
  ];
  return found.filter(({ count }) => count > 0);
}

/** What local messages with a payload show, where no row was taken for them. */
function unmetPayloads({ origins, decisions }: Pick<Merged, 'origins' | 'decisions'>, local: readonly unknown[]): Set<string> {
  const met = new Set<number>();
  for (const { position, shown } of decisions) {
    const origin = shown || position === null ? undefined : origins[position];
    if (origin?.from === 'LOCAL') met.add(origin.index);
  }
  const unmet = local.filter((message, index) => !met.has(index) && isMessage(message) && payloadOf(message) !== null) as Message[];
  return new Set(unmet.flatMap((message) => Identity.of(message).visible ?? []));
}

function decisionsOf(state: readonly unknown[], decision: MergeDecision): Map<number, MergeDecision> {
  return new Map(state.map((_, index) => [index, decision]));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

function messagesOf(rows: readonly KeptRow[]): unknown[] {
  return rows.map(({ message }) => message);
}
