/**
 * Which project a session of the Web UI is in (`spec/webui-sidecars.md` 13, `spec/webui-listing.md` 13.4).
 */
import { InvalidInput } from '../../errors.ts';
import { WriteRefused } from '../../write-refused.ts';
import { readMetadata } from '../sidecar/read-metadata.ts';
import type { SavedSidecar, SaveOptions } from '../sidecar/save-sidecar.ts';
import type { SidecarRow } from '../sidecar/sidecar-row.ts';
import { updateSession } from '../sidecar/update-session.ts';
import { deleteProject, isSameProfile, ownerOfLegacy, type Project, readProjects } from './projects-file.ts';

export interface WebUiFolders {
  readonly stateDir: string;
  readonly sessionsDir: string;
}

/**
 * Puts a session into a project of its profile, or with null out of any. Throws as `updateSession`; NOT_FOUND without such a project,
 * `InvalidInput` for one of another profile.
 */
export async function moveSession(
  { stateDir, sessionsDir }: WebUiFolders,
  id: string,
  projectId: string | null,
  options: SaveOptions = {},
): Promise<SavedSidecar> {
  if (projectId !== null) {
    const session = await readMetadata(sessionsDir, id);
    if (session === null) throw new WriteRefused('SIDECAR_MISSING');
    const project = (await readProjects(stateDir)).projects.find((one) => one.id === projectId);
    if (project === undefined) throw new WriteRefused('NOT_FOUND', 'There is no such project.');
    if (!isSameProfile(project.profile, session.profile))
      throw new InvalidInput('The project belongs to another profile than the session.');
  }
  return updateSession(sessionsDir, id, { projectId }, options);
}

export interface DeletedProject {
  readonly project: Project;
  /** Sessions that are in no project now. */
  readonly unassigned: readonly string[];
  /** Sessions whose files could not be written, with the code of the reason; they name a project that is gone. */
  readonly left: readonly { readonly id: string; readonly code: string }[];
}

/** Deletes a project of the profile and takes its sessions out of it. `rows`: all sessions. Throws as `deleteProject`. */
export async function deleteProjectWithSessions(
  { stateDir, sessionsDir }: WebUiFolders,
  projectId: string,
  profile: string | null,
  rows: Iterable<SidecarRow>,
  options: Omit<SaveOptions, 'ifSignature'> = {},
): Promise<DeletedProject> {
  const project = await deleteProject(stateDir, projectId, profile);
  const unassigned: string[] = [];
  const left: { id: string; code: string }[] = [];
  for (const row of rows) {
    if (row.projectId !== projectId) continue;
    try {
      await updateSession(sessionsDir, row.id, { projectId: null }, options);
      unassigned.push(row.id);
    } catch (error) {
      if (!(error instanceof WriteRefused)) throw error;
      left.push({ id: row.id, code: error.code });
    }
  }
  return { project, unassigned, left };
}

/** The projects with an owner each, as they will be once they are migrated (13.2). `sessions`: in the order of the index. */
export function withOwners(projects: readonly Project[], sessions: readonly Pick<SidecarRow, 'projectId' | 'profile'>[]): Project[] {
  return projects.map((project) => (project.profile === null ? { ...project, profile: ownerOfLegacy(project.id, sessions) } : project));
}
