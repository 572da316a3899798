/**
 * What one new row tells: that it is there, the tools that it starts, the call that it answers (`spec/live-turns.md` 10, 12).
 */
import { contentText } from '../../state-db/content.ts';
import { isJsonObject, parseJson } from '../../state-db/decode.ts';
import type { LiveRow } from '../../state-db/live-rows.ts';
import { boundArgs, cutText } from '../journal/bounded-json.ts';
import { type AppendedRow, type CarriedRow, type RowEvent, rowEvent } from './events.ts';

const LONGEST_PREVIEW = 4000;
const LONGEST_TEXT = 65_536;
const UNNAMED = 'tool';

/** The row, and the tools that it speaks of unless it came too late to belong to what is going on. */
export function appendedEvents(row: LiveRow, carried: readonly CarriedRow[], late: boolean, now: number): RowEvent[] {
  const place = { sessionId: row.sessionId, at: row.timestamp ?? now };
  const added = rowEvent('MessagesAppended', `m:${row.rowId}`, place, { ids: [row.rowId], rows: [appendedRow(row)], carried });
  return late || carried.length > 0 ? [added] : [added, ...toolsOf(row, place)];
}

function toolsOf(row: LiveRow, place: { sessionId: string; at: number }): RowEvent[] {
  const messageId = row.rowId;
  if (row.role === 'tool') {
    const toolCallId = row.toolCallId ?? `row ${messageId}`;
    const preview = resultText(row);
    return [
      rowEvent('ToolFinished', `d:ToolFinished:${row.sessionId}:${messageId}`, place, {
        toolCallId,
        name: row.toolName ?? UNNAMED,
        resultPreview: preview === null ? null : cutText(preview, LONGEST_PREVIEW),
        isError: saysError(preview),
        durationMs: null,
        messageId,
      }),
    ];
  }
  if (row.role !== 'assistant') return [];
  return callsOf(row).map(({ id, name, args }, index) => {
    const preview = typeof args === 'string' ? (parseJson(args) ?? args) : args;
    return rowEvent('ToolStarted', `d:ToolStarted:${row.sessionId}:${messageId}.${index}`, place, {
      toolCallId: id,
      name,
      argsPreview: boundArgs(preview),
      argsComplete: JSON.stringify(boundArgs(preview)) === JSON.stringify(preview ?? {}),
      messageId,
    });
  });
}

export function appendedRow(row: LiveRow): AppendedRow {
  const { rowId: id, role, toolCallId, toolName, finishReason, displayKind, observed, summary, modelOnly } = row;
  const delegationId = row.displayMetadata?.delegation_id;
  return {
    id,
    role,
    at: row.timestamp,
    toolCallId,
    toolName,
    calls: callsOf(row).map((call) => ({ id: call.id, name: call.name })),
    finishReason,
    displayKind,
    observed,
    summary,
    modelOnly,
    delegationId: typeof delegationId === 'string' ? delegationId : null,
    text: role === 'assistant' ? cutText(contentText(row.content), LONGEST_TEXT) : null,
  };
}

/** The calls of an assistant's row; one without an id is named by its row and place, so that it still is one call. */
function callsOf(row: LiveRow): { id: string; name: string; args: unknown }[] {
  return row.toolCalls.flatMap((call, index) => {
    if (!isJsonObject(call)) return [];
    const called = isJsonObject(call.function) ? call.function : call;
    const id = [call.id, call.call_id].find((value) => typeof value === 'string' && value !== '');
    const name = typeof called.name === 'string' && called.name !== '' ? called.name : UNNAMED;
    return [{ id: typeof id === 'string' ? id : `row ${row.rowId}.${index}`, name, args: called.arguments }];
  });
}

function resultText(row: LiveRow): string | null {
  const text = contentText(row.content);
  return text === '' && row.content !== '' ? null : text;
}

/**
 * Whether a result says that its tool failed: an exit code, a word of success, or an error in its JSON; or a text that opens with
 * "Error". Null when it says neither.
 */
export function saysError(result: string | null): boolean | null {
  if (result === null) return null;
  const value = result.startsWith('{') ? parseJson(result) : undefined;
  if (!isJsonObject(value)) return /^(?:\[?error\b|traceback \(most recent call last\))/i.test(result) ? true : null;
  const { error, success, ok, exit_code: exitCode, is_error: flagged, status } = value;
  if (flagged === true || success === false || ok === false || status === 'error') return true;
  if ((typeof error === 'string' && error !== '') || isJsonObject(error)) return true;
  if (typeof exitCode === 'number') return exitCode !== 0;
  return flagged === false || success === true || ok === true ? false : null;
}
