/** Who may write to a session that came from elsewhere (`spec/webui-listing.md` 16.3). Decisions only. */
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
const OWN: ReadonlySet<string> = new Set(['webui', 'fork']);

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
  if (known !== null && [known.sourceTag, known.rawSource, known.sessionSource].some(isOwnSource)) return true;
  return isTombstoned && (isBlank(storeSource) || isOwnSource(storeSource));
}

/** Whether a source names the Web UI itself. */
export function isOwnSource(name: string | null): boolean {
  return OWN.has(fold(name));
}

/** Where a claimed session works: as listed, else where the agent worked, else where the profile did last. */
export function claimedWorkspace(listed: string | null, cwd: string | null, last: string | null): string | null {
  return [listed, cwd, last].find((path) => !isBlank(path)) ?? null;
}

function refused(reason: ClaimRefusal): Claim {
  return { ok: false, reason };
}
