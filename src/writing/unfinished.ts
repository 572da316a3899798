/** Which receipts say that something is left to do (`spec/state-db-writes.md` K18, K29; `spec/webui-transcript.md` 19.7). */
import type { Receipt, Receipts } from './receipts.ts';

/** The name that receipts of deletions by the Web UI's rules have. */
export const WEB_UI_DELETION = 'deleteWebUiSession';

/** Mutations after which nothing that waited may come back, and those that leave files behind. */
const FORGETFUL = ['rewindSession', 'rewriteTranscript', 'clearSession', 'deleteSession', 'deleteSessions'] as const;

export interface Unfinished {
  /** The change holds; what follows it may not be done. */
  readonly unsettled: readonly Receipt[];
  /** Deletions that were planned by a process that is gone. */
  readonly deletions: readonly Receipt[];
}

export function unfinished(receipts: Receipts, profile: string): Unfinished {
  return { unsettled: receipts.unsettled(profile, FORGETFUL), deletions: receipts.abandoned(profile, WEB_UI_DELETION) };
}
