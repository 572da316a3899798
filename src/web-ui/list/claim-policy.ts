/** Who may write to a session that came from elsewhere, and what an import does (`spec/webui-listing.md` 16.2, 16.3). Decisions only. */
import type { Claim, ClaimRefusal } from '../../state-db/beside.ts';
import { isBlank, type ListRow, type SourceFields } from './list-row.ts';
import { fold, MESSAGING_SOURCES } from './source-class.ts';

const REFUSED: ReadonlySet<string> = new Set([
  ...MESSAGING_SOURCES,
  'claude_code',
  'cron',
  'external_agent',
  'gateway',
  'messaging',
  'subagent',
  'unknown',
]);
const REFUSED_SESSION_SOURCES: ReadonlySet<string> = new Set(['messaging', 'external_agent']);
const OWN: ReadonlySet<string> = new Set(['', 'webui', 'fork']);

/** Whether the session may be claimed. `storeSource` is asked only when the row names no source. */
export function claimable(row: SourceFields & Pick<ListRow, 'readOnly'>, storeSource: string | null): Claim {
  if (row.readOnly) return refused('READ_ONLY');
  if (REFUSED_SESSION_SOURCES.has(fold(row.sessionSource)))
    return refused(fold(row.sessionSource) === 'messaging' ? 'MESSAGING' : 'SOURCE');
  const names = [row.sourceTag, row.rawSource].map(fold).filter((name) => name !== '');
  const asked = names.length > 0 ? names : [fold(storeSource)];
  if (asked.some((name) => MESSAGING_SOURCES.has(name))) return refused('MESSAGING');
  return asked.some((name) => REFUSED.has(name)) ? refused('SOURCE') : { ok: true, reason: null };
}

/**
 * Whether an id without a file is a session of the Web UI that was deleted, which no claim may bring back. `known` is its row in the
 * index, `storeSource` the source in state.db, null when it has no row there.
 */
export function isDeletedHere(known: SourceFields | null, isTombstoned: boolean, storeSource: string | null): boolean {
  if (fold(storeSource) === 'subagent') return false;
  if (known !== null && [known.sourceTag, known.rawSource, known.sessionSource].some((name) => ['webui', 'fork'].includes(fold(name))))
    return true;
  return isTombstoned && OWN.has(fold(storeSource));
}

/** A fork only reads its source: cron runs may be forked although nothing may be written to them. */
export function isForkable(row: SourceFields & Pick<ListRow, 'readOnly'>, storeSource: string | null): boolean {
  const names = [row.sourceTag, row.rawSource, row.sessionSource, storeSource].map(fold);
  return names.includes('cron') || claimable(row, storeSource).ok;
}

/** Where a claimed session works: as listed, else where the agent worked, else where the profile did last. */
export function claimedWorkspace(listed: string | null, cwd: string | null, last: string | null): string | null {
  return [listed, cwd, last].find((path) => !isBlank(path)) ?? null;
}

export type ImportAction = 'NOT_FOUND' | 'VIEW_ONLY' | 'IMPORT' | 'REPLACE_MESSAGES' | 'KEEP_MESSAGES';

export interface ImportQuestion {
  /** Messages in the existing file, as comparable texts; null when there is none. */
  readonly stored: readonly string[] | null;
  /** The same of the transcript elsewhere. */
  readonly external: readonly string[];
  /** The transcript elsewhere tells more of its tools. */
  readonly isRicher: boolean;
  readonly isOtherProfile: boolean;
  /** Claude Code and subagents are shown, never copied. */
  readonly isReadOnly: boolean;
}

/** 16.2: an existing file takes only a longer transcript that begins with its own, or an equally long one that tells more. */
export function importAction({ stored, external, isRicher, isOtherProfile, isReadOnly }: ImportQuestion): ImportAction {
  if (stored !== null) {
    if (isOtherProfile) return 'NOT_FOUND';
    const continues = external.length > stored.length && stored.every((text, index) => text === external[index]);
    return continues || (external.length === stored.length && isRicher) ? 'REPLACE_MESSAGES' : 'KEEP_MESSAGES';
  }
  if (external.length === 0) return 'NOT_FOUND';
  return isReadOnly ? 'VIEW_ONLY' : 'IMPORT';
}

function refused(reason: ClaimRefusal): Claim {
  return { ok: false, reason };
}
