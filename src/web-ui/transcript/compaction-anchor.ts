/**
 * How the Web UI tells a compacted context, and the message up to which it was compacted (`spec/webui-transcript.md` 14). These openings are
 * the Web UI's own, wider than those of the agent's summaries.
 */
import { collapseSpace, trimStartSpace } from '../../state-db/whitespace.ts';
import { exactTimestamp, isoSeconds } from './timestamps.ts';
import { finiteNumber, isEmpty, isMessage, type Message, plainText, roleOf, textOf } from './values.ts';

const COMPACTION = '[context compaction';
const BARE_COMPACTION = 'context compaction';
const OTHER_MARKERS = ['[your active task list was preserved across context compression]', '[session arc summary'] as const;

/** Characters of an anchor's text. */
const ANCHOR_LENGTH = 160;
/** Seconds that an anchor may be off. */
const TOLERANCE = 0.000001;

/** Whether compression wrote the message. */
export function isCompressionMarker(message: unknown): boolean {
  const role = roleOf(message);
  if (!isMessage(message) || role === '' || role === 'tool') return false;
  const start = opening(message);
  if (start.startsWith(COMPACTION) || OTHER_MARKERS.some((marker) => start.startsWith(marker))) return true;
  return !isEmpty(message._compressed_summary) && start.startsWith(BARE_COMPACTION);
}

/** Whether a summary stands for what was compacted; arc summaries and preserved task lists stand for nothing. */
export function isCompressedContext(context: readonly unknown[]): boolean {
  return context.some((message) => {
    if (!isMessage(message) || !isCompressionMarker(message)) return false;
    const start = opening(message);
    return start.startsWith(COMPACTION) || start.startsWith(BARE_COMPACTION);
  });
}

function opening(message: Message): string {
  return trimStartSpace(plainText(message).toLowerCase());
}

/** The time of an anchor in epoch seconds: a number, numeric text or ISO-8601 with an offset; null when there is none. */
export function anchorTime(anchor: Message): number | null {
  return finiteNumber(anchor.ts) ?? (typeof anchor.ts === 'string' ? isoSeconds(anchor.ts, 'REFUSED') : null);
}

/**
 * The index of the anchored message, the last of those that fit; null when it can't be found. Text alone is never enough. The anchor's text
 * was cut before its whitespace was collapsed, the row's is cut after: hazard H16, kept as the reference has it.
 */
export function findAnchor(anchor: unknown, state: readonly unknown[]): number | null {
  const role = roleOf(anchor);
  if (!isMessage(anchor) || role === '') return null;
  const time = anchorTime(anchor);
  if (time === null) return null;
  const text = beginning(textOf(anchor.text));
  const attachments = Math.trunc(finiteNumber(anchor.attachments) ?? 0);
  const index = state.findLastIndex((message) => {
    if (!isMessage(message) || roleOf(message) !== role || attachmentsOf(message) !== attachments) return false;
    const at = exactTimestamp(message).value;
    if (at === null || Math.abs(at - time) > TOLERANCE) return false;
    return text === '' || beginning(plainText(message)) === text;
  });
  return index < 0 ? null : index;
}

function beginning(text: string): string {
  // No character is longer than two units: the rest of a long text needn't be taken apart.
  return [...collapseSpace(text).slice(0, 2 * ANCHOR_LENGTH)].slice(0, ANCHOR_LENGTH).join('');
}

function attachmentsOf({ attachments }: Message): number {
  return Array.isArray(attachments) ? attachments.length : 0;
}
