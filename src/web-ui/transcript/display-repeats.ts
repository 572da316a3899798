/**
 * One turn with images that two writers stored with two payloads (`spec/webui-transcript.md` 17 step 6): the local message owns it, and its
 * second row isn't shown to people. The model's context keeps both payloads.
 */
import { UNMATCHED_MIRROR } from './display-metadata.ts';
import { areIdentitiesCompatible, Identity } from './identity.ts';
import { exactTimestamp } from './timestamps.ts';
import { isMessage, type Message, payloadOf, roleOf } from './values.ts';

export interface RepeatOwner {
  /** Its place among the local messages. */
  readonly local: number;
  readonly state: Message;
}

/** The owners of marked rows that show a local message with another payload. */
export function repeatOwners(local: readonly unknown[], state: readonly unknown[]): RepeatOwner[] {
  const marked = state.filter(isMessage).filter((row) => row[UNMATCHED_MIRROR] === true && isOwnable(row));
  if (marked.length === 0) return [];
  const localRows = byRowId(local);
  const stateRows = byRowId(state);
  return marked.flatMap((row): RepeatOwner[] => {
    const rowId = Identity.of(row).rowId.value ?? '';
    const [owner] = localRows.get(rowId) ?? [];
    if (owner === undefined || localRows.get(rowId)?.length !== 1 || stateRows.get(rowId)?.length !== 1) return [];
    const message = local[owner];
    const isOwner = isMessage(message) && isSameTurn(message, row) && payloadOf(message) !== null && payloadOf(message) !== payloadOf(row);
    return isOwner ? [{ local: owner, state: row }] : [];
  });
}

/** Whether a message of the transcript shows the owned turn once more. */
export function isRepeatOfOwner(message: unknown, { state }: RepeatOwner): boolean {
  return isMessage(message) && isSameTurn(message, state);
}

function isOwnable(row: Message): boolean {
  return payloadOf(row) !== null && Identity.of(row).rowId.value !== null && exactTimestamp(row).value !== null && roleOf(row) === 'user';
}

function isSameTurn(message: Message, row: Message): boolean {
  return (
    typeof row.content === 'string' &&
    message.content === row.content &&
    Identity.of(message).rowId.value === Identity.of(row).rowId.value &&
    exactTimestamp(message).value === exactTimestamp(row).value &&
    areIdentitiesCompatible(message, row)
  );
}

function byRowId(messages: readonly unknown[]): Map<string, number[]> {
  const rows = new Map<string, number[]>();
  for (const [index, message] of messages.entries()) {
    const rowId = isMessage(message) ? Identity.of(message).rowId.value : null;
    if (rowId === null) continue;
    const known = rows.get(rowId);
    if (known === undefined) rows.set(rowId, [index]);
    else known.push(index);
  }
  return rows;
}
