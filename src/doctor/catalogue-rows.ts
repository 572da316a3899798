/** Findings on rows of a store. */
import type { Kind } from './kind.ts';
import { DRY, onProfile, onSession } from './remedy.ts';

const WARNING = { area: 'ROWS', severity: 'WARNING' } as const;
const INFO = { area: 'ROWS', severity: 'INFO' } as const;

export const ROWS = {
  MODEL_CONFIG_INVALID: {
    ...WARNING,
    message:
      'model_config of the session is no JSON: lists of the Hermes Agent fail as a whole because of it. Here only its markers are unknown.',
  },
  PARENT_MISSING: { ...INFO, message: 'The session names a parent that is not in the store; it is shown as a root.' },
  PARENT_CYCLE: {
    ...WARNING,
    message: 'The session is its own ancestor. Walks end here at the repetition; those of other programs may not end.',
  },
  COMPRESSION_ORPHANED: {
    ...WARNING,
    message: 'A compression closed the session and nothing continues it, so that its conversation takes no messages.',
    remedy: onSession('reopenOrphanedCompressionParent'),
  },
  COMPRESSION_CHILD_EMPTY: {
    ...INFO,
    message: 'The session continues another that was compressed, and has no message: whoever made it may have stopped half-way.',
    remedy: onProfile('finalizeOrphanedCompressions', DRY),
  },
  TRANSCRIPT_ROWS_MISSING: {
    ...WARNING,
    message: 'The session counts messages and has no row of them: look into its session file, backups and spool before you write to it.',
  },
  MESSAGES_WITHOUT_SESSION: { ...INFO, message: 'Message rows belong to sessions that are not there; nothing shows them.' },
  SESSION_TIME_UNUSABLE: { ...INFO, message: 'The start of sessions is no time between 1970 and 2103; it is shown as unknown.' },
  COUNTERS_OFF: { ...INFO, message: 'The stored number of messages is another than that of the live rows; rows are what is shown.' },
  TEXT_NOT_UTF8: {
    ...WARNING,
    message: 'Text of messages is not UTF-8: it is shown with replacement characters, and other programs fail on it.',
  },
  MESSAGE_JSON_INVALID: {
    ...INFO,
    message: 'JSON of messages (tool calls, reasoning, display) can not be parsed; those parts are left out.',
  },
  DELEGATION_UNDELIVERED: { ...INFO, message: 'The result of delegated work was not delivered for more than an hour.' },
  ROUTE_TO_COMPRESSED: {
    area: 'ROWS',
    severity: 'WARNING',
    message: 'A gateway still routes a conversation to a session that a compression ended.',
    remedy: ({ profile, values: { sessionKey, scope, expectedSessionId } }) =>
      sessionKey === undefined
        ? null
        : onProfile('healCompressionRoute', {
            sessionKey,
            ...(scope === undefined ? {} : { scope }),
            expectedSessionId: expectedSessionId ?? '',
            ...DRY,
          })({ profile, subject: null, values: {} }),
  },
  ROUTE_TO_MISSING: { ...INFO, message: 'A gateway routes a conversation to a session that is not in the store.' },
} as const satisfies Record<string, Kind>;
