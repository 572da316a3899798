/**
 * Whether a session's backup is the better copy (`spec/webui-sidecars.md` 7.1). Pure, over the members of both files.
 */
import { type Fields, listOf, word } from './sidecar/coercions.ts';
import { shrinkGeneration } from './sidecar/decode-sidecar.ts';
import { isCompressionMarker } from './transcript/compaction-anchor.ts';

export interface BackupAdvice {
  readonly recommendation: 'RESTORE' | 'NO_ACTION' | 'NO_BACKUP';
  /** Why a backup with more messages is not to be restored. */
  readonly reason: 'INTENTIONAL_CLEAR_TRUNCATE' | 'INTENTIONAL_COMPRESS_SHRINK' | 'INTENTIONAL_MESSAGE_SHRINK' | null;
  /** -1: no session, or one whose messages are no list. */
  readonly liveMessages: number;
  /** The same; also -1 without a backup. */
  readonly backupMessages: number;
}

/** Null stands for a file that is no JSON object; `backup` is undefined when there is none. */
export function backupAdvice(live: Fields | null, backup: Fields | null | undefined): BackupAdvice {
  const liveMessages = countOf(live);
  if (backup === undefined) return { recommendation: 'NO_BACKUP', reason: null, liveMessages, backupMessages: -1 };
  const counts = { liveMessages, backupMessages: countOf(backup) };
  if (counts.backupMessages <= liveMessages) return { recommendation: 'NO_ACTION', reason: null, ...counts };
  const reason = live === null || backup === null ? null : intentOf(live, backup);
  return { recommendation: reason === null ? 'RESTORE' : 'NO_ACTION', reason, ...counts };
}

function countOf(fields: Fields | null): number {
  const messages = fields?.messages;
  return Array.isArray(messages) ? messages.length : -1;
}

function intentOf(live: Fields, backup: Fields): BackupAdvice['reason'] {
  if (isCleared(live, backup)) return 'INTENTIONAL_CLEAR_TRUNCATE';
  if (isCompressed(live) && predates(backup, live)) return 'INTENTIONAL_COMPRESS_SHRINK';
  return isShortened(live, backup) ? 'INTENTIONAL_MESSAGE_SHRINK' : null;
}

const NULLS = ['active_stream_id', 'pending_user_message', 'pending_started_at', 'pending_user_source'] as const;

function isCleared(live: Fields, backup: Fields): boolean {
  const generation = word(live.clear_generation);
  if (generation === null || backup.clear_generation === generation) return false;
  if (live.truncation_watermark !== 0 || live.truncation_boundary !== 0) return false;
  // Messages that are no list prove nothing: a backup with messages is the better copy then.
  if (!Array.isArray(live.messages)) return false;
  if (live.messages.length > 0) return true;
  return isEmptyList(live.context_messages) && isEmptyList(live.pending_attachments) && NULLS.every((key) => live[key] === null);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isCompressed(live: Fields): boolean {
  if (live.compression_anchor_mode === 'manual') return true;
  if (!Array.isArray(live.context_messages) || live.context_messages.length >= countOf(live)) return false;
  const hasAnchor = word(live.compression_anchor_summary) !== null && (live.compression_anchor_message_key ?? null) !== null;
  return hasAnchor || (live.truncation_watermark ?? null) !== null;
}

function predates(backup: Fields, live: Fields): boolean {
  const context = listOf(backup.context_messages);
  return context.length > listOf(live.context_messages).length && !context.some(isCompressionMarker);
}

function isShortened(live: Fields, backup: Fields): boolean {
  const generation = shrinkGeneration(live.intentional_shrink_generation);
  if (generation === null) return false;
  const before = backup.intentional_shrink_generation ?? null;
  return before === null || (shrinkGeneration(before) !== null && before !== generation);
}
