/**
 * The identity by which copies of one message are known to be one in display order (`spec/state-db-writes.md` D6).
 */
import { createHash } from 'node:crypto';
import { type Content, decodeContent, STRUCTURED_PREFIX } from '../content.ts';
import type { SqlRow, SqlValue } from '../decode.ts';
import { decodeMessage } from '../message-row.ts';
import { splitComposite } from '../summary-markers.ts';
import { NotJson, pythonJson } from './python-json.ts';
import { parsePythonJson } from './python-json-value.ts';
import { pythonTuple } from './python-literal.ts';

/** What an identity is made of; display_kind and display_metadata only say whether a row is a composite carrier. */
export const IDENTITY_COLUMNS = ['role', 'content', 'timestamp', 'tool_call_id', 'tool_calls', 'tool_name'] as const;
export const IDENTITY_SOURCE_COLUMNS = [...IDENTITY_COLUMNS, 'display_kind', 'display_metadata'] as const;

/** The 32 bytes of a row's identity. The row was read with safe integers; columns that a store lacks count as NULL. */
export function displayIdentity(row: SqlRow): Buffer {
  const cells = IDENTITY_COLUMNS.map((column) => (column === 'content' ? identifyingContent(row) : (row[column] ?? null)));
  return createHash('sha256').update(pythonTuple(cells)).digest();
}

/** The content as stored; of a row that carries a summary and a person's words, the words, encoded as if they stood alone. */
function identifyingContent(row: SqlRow): SqlValue {
  const stored = row.content ?? null;
  if (row.role !== 'user' || typeof stored !== 'string') return stored;
  const message = { ...decodeMessage(row), compressedSummary: false };
  if (!isComposite(splitComposite(message))) return stored;
  const { human } = splitComposite({ ...message, content: exactContent(stored) });
  return human === null ? stored : (encoded(human.content) ?? stored);
}

function isComposite({ handoff, human }: ReturnType<typeof splitComposite>): boolean {
  return handoff !== null && human !== null;
}

/** Structured content with its numbers and keys as they are written. */
function exactContent(stored: string): Content {
  if (!stored.startsWith(STRUCTURED_PREFIX)) return stored;
  const exact = parsePythonJson(stored.slice(STRUCTURED_PREFIX.length));
  return exact === undefined ? decodeContent(stored) : (exact as Content);
}

function encoded(content: Content): string | null {
  if (typeof content === 'string') return content;
  try {
    return STRUCTURED_PREFIX + pythonJson(content);
  } catch (error) {
    if (error instanceof NotJson) return null;
    throw error;
  }
}
