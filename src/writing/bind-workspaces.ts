/**
 * Where sessions work, as the Web UI would resolve their folders (`spec/webui-listing.md` 17.2). Changes nothing: here since it takes the
 * profile's configuration.
 */
import { isBlank } from '../web-ui/list/list-row.ts';
import { bindWorkspace, type TerminalBackend, type WorkspaceBinding } from '../web-ui/list/workspace-binding.ts';
import { lastWorkspace } from '../web-ui/session-defaults.ts';
import { findWorkspace } from '../web-ui/trusted-workspace.ts';
import type { CommandHost } from './command.ts';
import { fileCommand } from './file-command.ts';
import { type ProfileDefaults, profileDefaults } from './profile-defaults.ts';

export interface BindWorkspacesInput {
  /** As the files say. */
  readonly stored: readonly (string | null)[];
}

export interface BoundWorkspaces {
  /** For each path, in their order. */
  readonly bindings: readonly WorkspaceBinding[];
  /** Of a session that has no file: it would work where the profile worked last (17.1). */
  readonly withoutFile: WorkspaceBinding;
}

export const bindWorkspaces = fileCommand<BindWorkspacesInput, BoundWorkspaces>('bindWorkspaces', {
  work: (host, { stored }) => boundWorkspaces(host, stored),
});

/** The same for other commands. */
export async function boundWorkspaces(host: CommandHost, stored: readonly (string | null)[]): Promise<BoundWorkspaces> {
  const defaults = await profileDefaults(host);
  const { places } = defaults;
  const terminal = terminalOf(defaults);
  const last = await lastWorkspace(places);
  const findingOf = async (path: string | null) =>
    path === null || isBlank(path) ? 'MISSING' : (await findWorkspace(path, places)).finding;
  const lastFinding = await findingOf(last);
  const binding = async (path: string | null) =>
    bindWorkspace({ stored: path, finding: await findingOf(path), terminal, last, lastFinding });
  return { bindings: await Promise.all(stored.map(binding)), withoutFile: { ...(await binding(last)), stored: null } };
}

function terminalOf({ own, places }: ProfileDefaults): TerminalBackend {
  if (own.status === 'UNREADABLE') return 'UNREADABLE';
  return places.remoteTerminal ? 'REMOTE' : 'LOCAL';
}
