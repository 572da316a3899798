/** What a transcript says of itself beside its messages, for people and programs. */
import type { DataWarning } from '../../state-db/decode.ts';
import type { TranscriptWarning } from './merge-decision.ts';

const INSTEAD = {
  SIDECAR_CORRUPT: 'The session file is no JSON object. Shown is what the store has of the session.',
  SIDECAR_UNREADABLE: 'The session file can not be used. Shown is what the store has of the session.',
  SIDECAR_GONE: 'The session file has gone. Shown is what the store has of the session.',
} as const;

export type Instead = keyof typeof INSTEAD;

/** The store's rows are shown in the place of the file. */
export function instead(code: Instead): DataWarning {
  return { code, field: null, message: INSTEAD[code] };
}

export const DAMAGED: DataWarning = {
  code: 'SIDECAR_DAMAGED_ENCODING',
  field: null,
  message: 'The session file holds bytes that are no UTF-8; they are left out.',
};

const ABOUT: Readonly<Record<TranscriptWarning['code'], string>> = {
  PAYLOAD_ONLY_LOCAL: 'messages may be shown twice, because only the file knows what was sent to the provider.',
  DANGLING_TOOL_CALL: 'calls of tools are shown without their results, which came too late for their place.',
  OUT_OF_ORDER: 'rows of the store stand at the end although they are older.',
  LATE_ROWS_DROPPED: 'rows of the store are not shown, because they are no newer than the file, which does not have them.',
  CONTEXT_FAIL_CLOSED: 'rows of the store are left out: where the compacted context ends among them could not be proven.',
};

export function toWarning({ code, count }: TranscriptWarning): DataWarning {
  return { code, field: null, message: `${count} ${ABOUT[code]}` };
}
