/** Where a session's files are, and when another folder may stand in (`spec/webui-listing.md` 17.2). Decisions only: the caller looks. */
import { isBlank } from './list-row.ts';

/** What looking at a path gave. */
export type PathFinding = 'TRUSTED' | 'UNTRUSTED' | 'MISSING' | 'FAILED';

export type TerminalBackend = 'LOCAL' | 'REMOTE' | 'UNREADABLE';

export interface WorkspaceBinding {
  readonly stored: string | null;
  readonly resolved: string | null;
  readonly state: 'OK' | 'MISSING' | 'UNTRUSTED' | 'REMOTE';
  /** Another folder stands in for the stored one; `recoverWorkspace` writes it down. */
  readonly recovered: boolean;
}

export interface WorkspaceQuestion {
  readonly stored: string | null;
  readonly finding: PathFinding;
  readonly terminal: TerminalBackend;
  readonly last: string | null;
  readonly lastFinding: PathFinding;
}

/** Only a local path that is truly gone falls back to the last workspace of the profile, which must be trusted itself. */
export function bindWorkspace({ stored, finding, terminal, last, lastFinding }: WorkspaceQuestion): WorkspaceBinding {
  if (finding === 'TRUSTED') return { stored, resolved: stored, state: 'OK', recovered: false };
  if (terminal === 'REMOTE') return { stored, resolved: null, state: 'REMOTE', recovered: false };
  const isMissing = finding === 'MISSING' && !isBlank(stored);
  const mayRecover = isMissing && terminal === 'LOCAL' && lastFinding === 'TRUSTED' && !isBlank(last);
  if (mayRecover) return { stored, resolved: last, state: 'MISSING', recovered: true };
  return { stored, resolved: null, state: isMissing || isBlank(stored) ? 'MISSING' : 'UNTRUSTED', recovered: false };
}

export interface TrustRoots {
  readonly home: string;
  /** Workspaces that the user saved. */
  readonly saved: readonly string[];
  readonly bootDefault: string | null;
}

const SYSTEM_ROOTS: readonly string[] = [
  '/',
  '/bin',
  '/boot',
  '/dev',
  '/etc',
  '/lib',
  '/lib64',
  '/proc',
  '/root',
  '/sbin',
  '/sys',
  '/usr',
  '/var',
];

/** Whether an existing folder, given as its real path, may be a workspace. A home below a system root is trusted as a home. */
export function isTrustedPath(realPath: string, { home, saved, bootDefault }: TrustRoots): boolean {
  if (realPath === '/' || SYSTEM_ROOTS.includes(realPath)) return realPath === home;
  if (isUnder(realPath, home) || saved.includes(realPath)) return true;
  return bootDefault !== null && isUnder(realPath, bootDefault);
}

function isUnder(path: string, folder: string): boolean {
  const root = folder.endsWith('/') ? folder.slice(0, -1) : folder;
  return root !== '' && (path === root || path.startsWith(`${root}/`));
}
