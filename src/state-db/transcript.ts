/**
 * A whole conversation at once: as a model would be given it, or as a person would read it (`spec/state-db.md` 9).
 */
import { createHash } from 'node:crypto';
import { CaduceusError } from '../errors.ts';
import { repairAlternation } from './alternation.ts';
import { idList, type StoreConnection } from './connection.ts';
import { STRUCTURED_PREFIX } from './content.ts';
import { assembleConversation, type ConversationMessage } from './conversation.ts';
import { messageColumns } from './display-plan.ts';
import { decodeMessage, type MessageRecord } from './message-row.ts';
import { inViewSql } from './visibility.ts';

/** DISPLAY: every segment, what a person reads. REPLAY: the live rows of one segment with their alternation repaired. */
export type TranscriptView = 'DISPLAY' | 'REPLAY';

export interface TranscriptRequest {
  readonly view: TranscriptView;
  /** The segments to read, root first; for REPLAY the one segment. */
  readonly sessionIds: readonly string[];
  /** More rows than this are refused (9.6); 0 is no limit. */
  readonly largest: number;
}

export interface Transcript {
  readonly messages: readonly MessageRecord[];
  /** Changes when any row of the transcript does. */
  readonly revision: string;
  readonly repairCount: number;
}

/** Throws TRANSCRIPT_TOO_LARGE with count and limit before anything is read. */
export function readTranscript(connection: StoreConnection, request: TranscriptRequest): Transcript {
  return connection.snapshot(() => {
    const where = `m.session_id IN (SELECT value FROM json_each(?)) AND ${inViewSql(connection.shape, request.view === 'REPLAY' ? 'LIVE' : 'DISPLAY', 'm')}`;
    const ids = idList(request.sessionIds);
    refuseTooLarge(connection, where, ids, request.largest);
    const rows = connection
      .all(`SELECT ${messageColumns(connection, 'm')} FROM messages m WHERE ${where} ORDER BY m.id`, [ids])
      .map(decodeMessage);
    const assembled = assembleConversation(rows, { replay: request.view === 'REPLAY' });
    const { messages, repairCount } = request.view === 'REPLAY' ? repairAlternation(assembled) : { messages: assembled, repairCount: 0 };
    const byId = new Map(rows.map((row) => [row.rowId, row]));
    return { messages: messages.flatMap((message) => toRecord(message, byId)), revision: revisionOf(rows), repairCount };
  });
}

function refuseTooLarge(connection: StoreConnection, where: string, ids: string, largest: number): void {
  if (largest === 0) return;
  const row = connection.get(`SELECT COUNT(*) AS n FROM (SELECT 1 FROM messages m WHERE ${where} LIMIT ?)`, [ids, largest + 1]);
  if (Number(row?.n ?? 0) <= largest) return;
  throw new CaduceusError(
    'TRANSCRIPT_TOO_LARGE',
    `The transcript has more than ${largest} messages. Page through messages instead, or raise --max-transcript-messages.`,
    {
      details: { count: largest + 1, limit: largest },
    },
  );
}

/** The stored row with what assembly and repair made of it. */
function toRecord(message: ConversationMessage, rows: ReadonlyMap<string, MessageRecord>): MessageRecord[] {
  const row = rows.get(message.rowIds[0] ?? '');
  if (row === undefined) return [];
  const rawContent =
    typeof message.content === 'string' || message.content === null ? message.content : STRUCTURED_PREFIX + JSON.stringify(message.content);
  return [
    {
      ...row,
      content: message.content,
      rawContent,
      toolCalls: message.toolCalls ?? [],
      rawToolCalls: message.toolCalls === null ? null : JSON.stringify(message.toolCalls),
      reasoning: message.reasoning,
      reasoningContent: message.reasoningContent,
      finishReason: message.finishReason,
      displayKind: message.displayKind,
      displayMetadata: message.displayMetadata,
      apiContent: message.apiContent,
    },
  ];
}

function revisionOf(rows: readonly MessageRecord[]): string {
  const hash = createHash('sha256');
  for (const row of rows) {
    for (const part of [row.rowId, row.role, row.rawContent, row.rawToolCalls, row.toolCallId, row.displayKind, row.state]) {
      hash.update(part === null ? '-;' : `${part.length}:${part};`);
    }
  }
  return hash.digest('base64url').slice(0, 22);
}
