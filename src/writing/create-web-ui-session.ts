/**
 * A new session of the Web UI, a file with what the profile begins sessions with (`spec/webui-listing.md` 15). No worktree is made.
 */
import { randomBytes } from 'node:crypto';
import { isOnTerminal, LONGEST_PATH, lastWorkspace, sessionModel, wantsWorktree } from '../web-ui/session-defaults.ts';
import { readSidecar } from '../web-ui/sidecar/read-sidecar.ts';
import { refuseOverlay } from '../web-ui/sidecar/save-sidecar.ts';
import { checkedToolsets, titleMembers } from '../web-ui/sidecar/update-session.ts';
import { writeSidecar } from '../web-ui/sidecar/write-sidecar.ts';
import { clearTombstones } from '../web-ui/tombstones.ts';
import { findWorkspace } from '../web-ui/trusted-workspace.ts';
import { WriteRefused } from '../write-refused.ts';
import type { CommandHost } from './command.ts';
import { fileCommand, repeatedly, sessionsDirOf } from './file-command.ts';
import { type ProfileDefaults, profileDefaults } from './profile-defaults.ts';

/** Null everywhere: what the profile says. */
export interface CreateWebUiSessionInput {
  readonly title: string | null;
  readonly workspace: string | null;
  readonly model: string | null;
  readonly provider: string | null;
  /** Of the same profile, for the caller to see. */
  readonly projectId: string | null;
  readonly personality: string | null;
  readonly toolsets: readonly string[] | null;
}

/** What the new session does without. */
export type NewSessionWarning = 'PROFILE_CONFIG_UNREADABLE' | 'SERVER_CONFIG_UNREADABLE' | 'WORKTREE_SKIPPED' | 'NO_MODEL' | 'NO_WORKSPACE';

export interface NewWebUiSession {
  readonly sessionId: string;
  readonly title: string;
  readonly workspace: string | null;
  readonly model: string | null;
  readonly modelProvider: string | null;
  readonly warnings: readonly NewSessionWarning[];
}

/** 12 hex digits, as the Web UI's own. */
const ID_BYTES = 6;

/** Throws VALIDATION for a workspace that is not there or not trusted. */
export const createWebUiSession = fileCommand<CreateWebUiSessionInput, NewWebUiSession>('createWebUiSession', {
  work: async (host, input, dryRun, planned) => {
    const defaults = await profileDefaults(host);
    const toolsets = checkedToolsets(input.toolsets);
    const named = titleMembers(input.title);
    const choice = sessionModel(input, defaults.own.config, defaults.model);
    const workspace = await workspaceOf(input.workspace, defaults);
    const result = {
      title: String(named.title),
      workspace: workspace?.toWellFormed() ?? null,
      model: choice.model.toWellFormed() || null,
      modelProvider: choice.provider?.toWellFormed() ?? null,
    };
    const warnings = warningsOf(defaults, result);
    if (dryRun) {
      await refuseOverlay(sessionsDirOf(host), {});
      return { sessionId: newSessionId(), ...result, warnings };
    }
    const now = host.now();
    const fields = {
      ...named,
      workspace: result.workspace,
      // The owner keeps no model as text too.
      model: result.model ?? '',
      model_provider: result.modelProvider,
      created_at: now,
      updated_at: now,
      project_id: input.projectId,
      profile: host.profile,
      personality: input.personality?.toWellFormed() || null,
      enabled_toolsets: toolsets,
      messages: [],
    };
    // Another id where there is a file of that name.
    return repeatedly(false, () => write(host, fields, { sessionId: newSessionId(), ...result, warnings }, planned));
  },
  wasMade: async (host, { sessionId }) => (await readSidecar(sessionsDirOf(host), sessionId)) !== null,
});

async function write(
  host: CommandHost,
  fields: Parameters<typeof writeSidecar>[2],
  result: NewWebUiSession,
  planned: (result: NewWebUiSession) => void,
): Promise<NewWebUiSession> {
  planned(result);
  await writeSidecar(sessionsDirOf(host), result.sessionId, fields, { mustBeNew: true });
  await clearTombstones(sessionsDirOf(host), result.sessionId);
  return result;
}

function newSessionId(): string {
  return randomBytes(ID_BYTES).toString('hex');
}

async function workspaceOf(asked: string | null, { places }: ProfileDefaults): Promise<string | null> {
  if (asked === null) return lastWorkspace(places);
  if (places.remoteTerminal) {
    const isPath = asked.length <= LONGEST_PATH && !asked.includes('\u0000');
    if (isPath && isOnTerminal(asked, places.config)) return asked;
    throw new WriteRefused(
      'VALIDATION',
      "The terminal of this profile is on another machine; the workspace has to be in the terminal's own folder.",
    );
  }
  const { finding, path } = await findWorkspace(asked, places);
  if (path !== null) return path;
  throw new WriteRefused(
    'VALIDATION',
    finding === 'MISSING'
      ? 'There is no such folder.'
      : 'That folder may not be a workspace: it has to be one that this user can open, by its whole path, in the home folder or among the saved workspaces.',
  );
}

function warningsOf(
  { own, server }: ProfileDefaults,
  { model, workspace }: Pick<NewWebUiSession, 'model' | 'workspace'>,
): NewSessionWarning[] {
  const told: readonly [NewSessionWarning, boolean][] = [
    ['PROFILE_CONFIG_UNREADABLE', own.status === 'UNREADABLE'],
    ['SERVER_CONFIG_UNREADABLE', server !== own && server.status === 'UNREADABLE'],
    ['WORKTREE_SKIPPED', wantsWorktree(undefined, own.config)],
    ['NO_MODEL', model === null],
    ['NO_WORKSPACE', workspace === null],
  ];
  return told.flatMap(([warning, applies]) => (applies ? [warning] : []));
}
