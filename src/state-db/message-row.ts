/**
 * One row of `messages`, decoded (`spec/state-db.md` 4.2, 4.10, 5).
 */
import { type Content, decodeContent } from './content.ts';
import { type DataWarning, inWindow, isJsonObject, parseJson, RowReader, type SqlRow } from './decode.ts';

/** LIVE: what the model holds. ARCHIVED: summarised away, still history. REWOUND: taken back or superseded (`spec/state-db.md` 4.2). */
export type MessageState = 'LIVE' | 'ARCHIVED' | 'REWOUND';

export interface MessageRecord {
  /** Row id as decimal digits: ids can exceed 2^53 in a damaged store. */
  readonly rowId: string;
  readonly sessionId: string;
  readonly role: string;
  /** As stored, prefix included; null allowed. */
  readonly rawContent: string | null;
  readonly content: Content;
  readonly toolCallId: string | null;
  /** As stored. */
  readonly rawToolCalls: string | null;
  /** Parsed list; empty when the column is NULL, not JSON, or not a list. */
  readonly toolCalls: readonly unknown[];
  readonly toolName: string | null;
  readonly effectDisposition: string | null;
  /** Epoch seconds, null when outside the window. */
  readonly timestamp: number | null;
  readonly tokenCount: number | null;
  readonly finishReason: string | null;
  readonly reasoning: string | null;
  readonly reasoningContent: string | null;
  readonly rawReasoningDetails: string | null;
  readonly rawCodexReasoningItems: string | null;
  readonly rawCodexMessageItems: string | null;
  readonly platformMessageId: string | null;
  readonly observed: boolean;
  readonly compressedSummary: boolean;
  readonly active: boolean;
  readonly compacted: boolean;
  readonly state: MessageState;
  readonly apiContent: string | null;
  readonly displayKind: string | null;
  /** At most two string layers decoded; null when it is not an object. */
  readonly displayMetadata: Readonly<Record<string, unknown>> | null;
  readonly displayOrder: string | null;
  readonly messageUid: string | null;
  readonly rawAbsorbedMessageUids: string | null;
  readonly rawToolCallUids: string | null;
  readonly toolCallUid: string | null;
  readonly warnings: readonly DataWarning[];
}

/** Everything but display_identity, which readers do not need: they compare copies by what they hold. */
export const MESSAGE_COLUMNS = [
  'id',
  'session_id',
  'role',
  'content',
  'tool_call_id',
  'tool_calls',
  'tool_name',
  'effect_disposition',
  'timestamp',
  'token_count',
  'finish_reason',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'codex_reasoning_items',
  'codex_message_items',
  'platform_message_id',
  'observed',
  '_compressed_summary',
  'active',
  'compacted',
  'api_content',
  'display_kind',
  'display_metadata',
  'display_order',
  'message_uid',
  'absorbed_message_uids',
  'tool_call_uids',
  'tool_call_uid',
] as const;

/** Never throws; absent columns get the defaults of `spec/state-db.md` 4.2. */
export function decodeMessage(row: SqlRow): MessageRecord {
  const cells = new RowReader(row);
  const rawContent = cells.text('content');
  const rawToolCalls = cells.quietText('tool_calls');
  const active = cells.flag('active', true);
  const compacted = cells.flag('compacted');
  return {
    rowId: String(cells.raw('id') ?? ''),
    sessionId: cells.text('session_id') ?? '',
    role: cells.text('role') ?? '',
    rawContent,
    content: decodeContent(rawContent),
    toolCallId: cells.text('tool_call_id'),
    rawToolCalls,
    toolCalls: toolCallList(cells, rawToolCalls),
    toolName: cells.text('tool_name'),
    effectDisposition: cells.text('effect_disposition'),
    timestamp: cells.time('timestamp'),
    tokenCount: cells.number('token_count'),
    finishReason: cells.text('finish_reason'),
    reasoning: cells.text('reasoning'),
    reasoningContent: cells.text('reasoning_content'),
    rawReasoningDetails: cells.quietText('reasoning_details'),
    rawCodexReasoningItems: cells.quietText('codex_reasoning_items'),
    rawCodexMessageItems: cells.quietText('codex_message_items'),
    platformMessageId: cells.text('platform_message_id'),
    observed: cells.flag('observed'),
    compressedSummary: cells.flag('_compressed_summary'),
    active,
    compacted,
    state: active ? 'LIVE' : compacted ? 'ARCHIVED' : 'REWOUND',
    apiContent: cells.quietText('api_content'),
    displayKind: cells.text('display_kind'),
    displayMetadata: displayMetadata(cells),
    displayOrder: cells.quietText('display_order'),
    messageUid: cells.text('message_uid'),
    rawAbsorbedMessageUids: cells.quietText('absorbed_message_uids'),
    rawToolCallUids: cells.quietText('tool_call_uids'),
    toolCallUid: cells.text('tool_call_uid'),
    warnings: cells.warnings,
  };
}

function toolCallList(cells: RowReader, raw: string | null): readonly unknown[] {
  if (raw === null || raw === '') return [];
  const parsed = parseJson(raw);
  if (Array.isArray(parsed)) return parsed;
  cells.warn('INVALID_JSON', 'tool_calls', 'tool_calls is not a JSON list; no calls are shown, the raw text is kept.');
  return [];
}

/** Older writers encoded the object twice; anything but an object is null (`spec/state-db.md` 4.10). */
function displayMetadata(cells: RowReader): Record<string, unknown> | null {
  const raw = cells.quietText('display_metadata');
  if (raw === null || raw === '') return null;
  let value = parseJson(raw);
  if (typeof value === 'string') value = parseJson(value);
  if (isJsonObject(value)) return value;
  cells.warn('INVALID_JSON', 'display_metadata', 'display_metadata is not a JSON object; it shows as null.');
  return null;
}

/** One person's or agent's sign under a message. */
export interface Reaction {
  readonly emoji: string;
  readonly author: string;
  /** Epoch seconds. */
  readonly at: number | null;
  /** Whether the one who is meant has seen it; null where that isn't told. */
  readonly seen: boolean | null;
}

/** The reactions that display_metadata holds, one for each author (4.10); what is no reaction is left out. */
export function reactionsOf(message: Pick<MessageRecord, 'displayMetadata'>): Reaction[] {
  const list = message.displayMetadata?.reactions;
  if (!Array.isArray(list)) return [];
  return list.flatMap((reaction: unknown) => {
    if (!isJsonObject(reaction) || typeof reaction.emoji !== 'string') return [];
    const { emoji, author, at, seen } = reaction;
    return [
      {
        emoji,
        author: typeof author === 'string' ? author : '',
        at: typeof at === 'number' ? inWindow(at) : null,
        seen: typeof seen === 'boolean' ? seen : null,
      },
    ];
  });
}
