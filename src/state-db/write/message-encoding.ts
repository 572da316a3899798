/**
 * A message as the cells of a new row (`spec/state-db-writes.md` V1, V2): the columns that the store has, in the order of the owning
 * programs, and nothing that the path of writing doesn't keep.
 */
import type { StoreShape } from '../columns.ts';
import type { SqlValue } from '../decode.ts';
import { displayIdentity, IDENTITY_COLUMNS } from './display-identity.ts';
import { pythonJson } from './python-json.ts';
import * as stored from './stored-value.ts';
import { absorbedUidsCell, type ToolCallUids, toolCallUidsOf } from './tool-call-uids.ts';

/** A message with the keys that the owning programs store; every value is untrusted, other keys are not stored. */
export interface TranscriptMessage {
  readonly role?: unknown;
  readonly content?: unknown;
  readonly tool_calls?: unknown;
  readonly tool_call_id?: unknown;
  readonly tool_name?: unknown;
  readonly effect_disposition?: unknown;
  readonly timestamp?: unknown;
  readonly token_count?: unknown;
  readonly finish_reason?: unknown;
  readonly reasoning?: unknown;
  readonly reasoning_content?: unknown;
  readonly reasoning_details?: unknown;
  readonly codex_reasoning_items?: unknown;
  readonly codex_message_items?: unknown;
  readonly platform_message_id?: unknown;
  readonly message_id?: unknown;
  readonly observed?: unknown;
  readonly _compressed_summary?: unknown;
  readonly api_content?: unknown;
  readonly display_kind?: unknown;
  readonly display_metadata?: unknown;
  readonly message_uid?: unknown;
  readonly _absorbed_message_uids?: unknown;
  readonly absorbed_message_uids?: unknown;
  readonly _tool_call_uids?: unknown;
  readonly tool_call_uids?: unknown;
  readonly _tool_call_uid?: unknown;
  readonly tool_call_uid?: unknown;
  readonly [key: string]: unknown;
}

export interface EncodingOptions {
  readonly sessionId: string;
  readonly shape: StoreShape;
  /** Epoch seconds that stand in for a time that is missing or can't be trusted. */
  readonly now: number;
  /** GATEWAY: a single message, of which only the keys of V2 are kept. BATCH: a row of a whole turn. */
  readonly path: 'GATEWAY' | 'BATCH';
  /** A new uid: 32 lower-case hex digits. */
  readonly mintUid: () => string;
}

export interface EncodedMessage {
  /** Names for an INSERT, those that the store has; `session_id` is the first. */
  readonly columns: readonly string[];
  /** One for each column; whole numbers are bigints. */
  readonly values: readonly SqlValue[];
  /** What the caller's message is to carry from now on; null where the store keeps no uids. */
  readonly uid: string | null;
  /** Epoch seconds as stored. */
  readonly timestamp: number;
  /** What the message adds to the session's `tool_call_count` (W16). */
  readonly toolCallCount: number;
  /** The uids of the calls that the message makes, as its `_tool_call_uids`; null for other messages and where the store keeps none. */
  readonly toolCallUids: ToolCallUids | null;
  readonly toolCallUid: string | null;
  /** What was left out because it could not be trusted, in words that hold nothing of the message. */
  readonly warnings: readonly string[];
}

/** Keys that only the batch writer keeps; `message_uid` is kept on both paths, since queued messages bring theirs (A14 O5). */
const BATCH_KEYS: ReadonlySet<string> = new Set([
  'token_count',
  'finish_reason',
  'effect_disposition',
  '_compressed_summary',
  '_absorbed_message_uids',
  'absorbed_message_uids',
  '_tool_call_uids',
  'tool_call_uids',
  '_tool_call_uid',
  'tool_call_uid',
]);
const REASONING_KEYS: ReadonlySet<string> = new Set([
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'codex_reasoning_items',
  'codex_message_items',
]);

/** The cells of a message. Throws `WriteRefused` with `VALIDATION` for a value that no cell can hold. */
export function encodeMessage(message: TranscriptMessage, options: EncodingOptions): EncodedMessage {
  const { shape, mintUid } = options;
  const has = (column: string): boolean => shape.hasColumn('messages', column);
  const kept = keptKeys(message, options.path);
  const timestamp = stored.epochSeconds(kept.timestamp) ?? options.now;
  const metadata = stored.displayMetadataCell(kept.display_metadata);
  const uid = has('message_uid') ? (stored.nonEmptyString(kept.message_uid) ?? mintUid()) : null;
  const toolCallUids = has('tool_call_uids') ? toolCallUidsOf(kept, mintUid) : null;
  const toolCallUid = has('tool_call_uid')
    ? (stored.nonEmptyString(kept._tool_call_uid) ?? stored.nonEmptyString(kept.tool_call_uid))
    : null;
  const cells: Record<string, SqlValue> = {
    session_id: options.sessionId,
    role: stored.scalarCell(kept.role ?? 'unknown', 'role'),
    content: stored.contentCell(kept.content),
    tool_call_id: stored.scalarCell(kept.tool_call_id, 'tool_call_id'),
    tool_calls: stored.toolCallsCell(kept.tool_calls),
    tool_name: stored.scalarCell(kept.tool_name, 'tool_name'),
    effect_disposition: stored.scalarCell(kept.effect_disposition, 'effect_disposition'),
    timestamp,
    token_count: stored.scalarCell(kept.token_count, 'token_count'),
    finish_reason: stored.scalarCell(kept.finish_reason, 'finish_reason'),
    reasoning: stored.scalarCell(kept.reasoning, 'reasoning'),
    reasoning_content: stored.scalarCell(kept.reasoning_content, 'reasoning_content'),
    reasoning_details: stored.structuredCell(kept.reasoning_details, 'reasoning_details'),
    codex_reasoning_items: stored.structuredCell(kept.codex_reasoning_items, 'codex_reasoning_items'),
    codex_message_items: stored.structuredCell(kept.codex_message_items, 'codex_message_items'),
    platform_message_id: stored.scalarCell(platformId(kept), 'platform_message_id'),
    observed: stored.isGiven(kept.observed) ? 1n : 0n,
    _compressed_summary: stored.isGiven(kept._compressed_summary) ? 1n : 0n,
    active: 1n,
    api_content: stored.textOrNull(kept.api_content),
    display_kind: stored.textOrNull(kept.display_kind),
    display_metadata: metadata.cell,
    display_identity: null,
    message_uid: uid,
    absorbed_message_uids: absorbedUidsCell(kept),
    tool_call_uids: toolCallUids === null ? null : pythonJson(toolCallUids),
    tool_call_uid: toolCallUid,
  };
  if (has('display_identity')) cells.display_identity = identityOf(cells);
  const columns = Object.keys(cells).filter(has);
  return {
    columns,
    values: columns.map((column) => cells[column] ?? null),
    uid,
    timestamp,
    toolCallCount: stored.toolCallCount(cells.tool_calls),
    toolCallUids,
    toolCallUid,
    warnings: warningsOf(metadata.isRefused, stored.isGiven(kept.tool_calls) && cells.tool_calls === null),
  };
}

function warningsOf(metadataRefused: boolean, callsDropped: boolean): string[] {
  return [
    ...(metadataRefused ? ['display_metadata of a message is text that holds no JSON object; it was not stored.'] : []),
    ...(callsDropped ? ['tool_calls of a message held no calls; they were not stored.'] : []),
  ];
}

function keptKeys(message: TranscriptMessage, path: EncodingOptions['path']): TranscriptMessage {
  const isDropped = (key: string): boolean =>
    (path === 'GATEWAY' && BATCH_KEYS.has(key)) || (message.role !== 'assistant' && REASONING_KEYS.has(key));
  return Object.fromEntries(Object.entries(message).filter(([key]) => !isDropped(key)));
}

function platformId(message: TranscriptMessage): unknown {
  return stored.isGiven(message.platform_message_id) ? message.platform_message_id : (message.message_id ?? null);
}

/**
 * The identity of the row as it will read back: TEXT columns turn integers into digits. How they write floats is SQLite's affair, so a row
 * with one is left for the completion of the index (D12).
 */
function identityOf(cells: Readonly<Record<string, SqlValue>>): Uint8Array | null {
  const row: Record<string, SqlValue> = { ...cells };
  for (const column of IDENTITY_COLUMNS) {
    const cell = cells[column];
    if (column === 'timestamp') continue;
    if (typeof cell === 'number') return null;
    if (typeof cell === 'bigint') row[column] = String(cell);
  }
  return displayIdentity(row);
}
