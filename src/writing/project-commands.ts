/**
 * Commands on the Web UI's projects (`spec/webui-listing.md` 13).
 */
import { readIndex } from '../web-ui/index-file/index-file.ts';
import {
  createProject,
  deleteProject,
  ensureSystemProject,
  findSystemProject,
  isSameProfile,
  migrateProjects,
  newProjectId,
  type Project,
  readProjects,
  renameProject,
  type SystemProject,
  systemProjectNeeds,
  withOwners,
} from '../web-ui/projects/projects-file.ts';
import { word } from '../web-ui/sidecar/coercions.ts';
import { listSidecars } from '../web-ui/sidecar/list-sidecars.ts';
import { readMetadata } from '../web-ui/sidecar/read-metadata.ts';
import { saveMetadata } from '../web-ui/sidecar/save-sidecar.ts';
import { unlessUnreadable } from '../web-ui/sidecar-file.ts';
import { type RefusalCode, WriteRefused } from '../write-refused.ts';
import type { CommandHost } from './command.ts';
import { fileCommand, refusing, repeatedly, sessionsDirOf } from './file-command.ts';

export interface CreateProjectInput {
  readonly name: string;
  readonly color: string | null;
}

export interface RenameProjectInput {
  readonly projectId: string;
  readonly name: string;
  /** As `{ color }`; null leaves it. */
  readonly color: { readonly color: string | null } | null;
}

export interface ProjectResult {
  readonly projectId: string;
  readonly changed: boolean;
}

/** `projectId` is null where there is to be none, and after a dry run that would have made it. */
export interface SystemProjectResult {
  readonly projectId: string | null;
  readonly changed: boolean;
}

export interface DeletedProject {
  readonly projectId: string;
  readonly name: string;
  /** Sessions that were, or would be, taken out of it. */
  readonly sessionIds: readonly string[];
  /** Those whose files could not be changed: they name a project that is gone. */
  readonly failed: readonly { readonly sessionId: string; readonly code: RefusalCode }[];
}

export const PROJECT_COMMANDS = {
  createProject: fileCommand<CreateProjectInput, ProjectResult>('createProject', {
    work: async (host, { name, color }, dryRun, planned) => {
      const projectId = newProjectId();
      const result = { projectId, changed: true };
      if (dryRun) {
        await checkNew(host, name, color);
        return result;
      }
      planned(result);
      await repeatedly(false, () => createProject(host.webUiDir, { id: projectId, name, color, profile: host.profile }, host.now()));
      return result;
    },
    wasMade: async (host, { projectId }) => (await readProjects(host.webUiDir)).projects.some(({ id }) => id === projectId),
  }),

  ensureSystemProject: fileCommand<{ readonly system: SystemProject }, SystemProjectResult>('ensureSystemProject', {
    work: async (host, { system }, dryRun) => {
      const projects = await ownedProjects(host, dryRun);
      const needs = systemProjectNeeds(projects, system, host.profile);
      const project = dryRun ? findSystemProject(projects, system, host.profile) : await systemProjectOf(host, system);
      return { projectId: project?.id ?? null, changed: needs === 'NEW' };
    },
  }),

  renameProject: fileCommand<RenameProjectInput, ProjectResult>('renameProject', {
    work: async (host, { projectId, name, color }, dryRun) => {
      const before = ownProject(host, await ownedProjects(host, dryRun), projectId);
      if (dryRun) await checkNew(host, name, color?.color ?? null);
      const after = dryRun
        ? { ...before, name: name.trim(), color: color === null ? before.color : color.color }
        : await repeatedly(false, () => renameProject(host.webUiDir, projectId, { name, ...color }, host.profile));
      return { projectId, changed: before.name !== after.name || before.color !== after.color };
    },
  }),

  deleteProject: fileCommand<{ readonly projectId: string }, DeletedProject>('deleteProject', {
    work: async (host, { projectId }, dryRun, planned) => {
      const { name } = ownProject(host, await ownedProjects(host, dryRun), projectId);
      const sessionIds = await sessionsIn(host, projectId);
      if (dryRun) return { projectId, name, sessionIds, failed: [] };
      const failed: { sessionId: string; code: RefusalCode }[] = [];
      // The sessions first: who is stopped between the two finds the project, and can go on.
      for (const sessionId of sessionIds) {
        const code = await takeOut(host, sessionId);
        if (code !== null) failed.push({ sessionId, code });
      }
      const result = { projectId, name, sessionIds: sessionIds.filter((id) => !failed.some(({ sessionId }) => sessionId === id)), failed };
      planned(result);
      await repeatedly(false, () => deleteProject(host.webUiDir, projectId, host.profile));
      return result;
    },
    wasMade: async (host, { projectId }) => {
      const { status, projects } = await readProjects(host.webUiDir);
      return status === 'OK' && !projects.some(({ id }) => id === projectId);
    },
  }),
} as const;

/** The profile's system project, made where it is to have one; null where it is not. Entries of older versions get their owners first. */
export async function systemProjectOf(host: CommandHost, system: SystemProject): Promise<Project | null> {
  await ownedProjects(host, false);
  return repeatedly(false, () => ensureSystemProject(host.webUiDir, system, host.profile, host.now()));
}

/** What a dry run refuses: the same as the write. */
async function checkNew(host: CommandHost, name: string, color: string | null): Promise<void> {
  await readable(host);
  if (name.trim() === '') throw new WriteRefused('VALIDATION', 'A project needs a name.');
  if (color !== null && !/^#[0-9a-fA-F]{3,8}$/.test(color)) throw new WriteRefused('VALIDATION', 'A colour is # and 3 to 8 hex digits.');
}

async function readable(host: CommandHost): Promise<readonly Project[]> {
  const { status, projects } = await readProjects(host.webUiDir);
  if (status === 'UNREADABLE') throw new WriteRefused('PROJECTS_UNREADABLE');
  return projects;
}

function ownProject(host: CommandHost, projects: readonly Project[], projectId: string): Project {
  const found = projects.find(({ id, profile }) => id === projectId && isSameProfile(profile, host.profile));
  if (found === undefined) throw new WriteRefused('NOT_FOUND', 'There is no such project in this profile.');
  return found;
}

/** With their owners. Entries of older versions name none: the index says whose sessions they have, and a write settles it (13.2). */
async function ownedProjects(host: CommandHost, dryRun: boolean): Promise<readonly Project[]> {
  const projects = await readable(host);
  if (projects.every(({ profile }) => profile !== null)) return projects;
  const { rows } = await readIndex(sessionsDirOf(host));
  const sessions = [...rows.values()].map((row) => ({ projectId: word(row.project_id), profile: word(row.profile) }));
  if (dryRun) return withOwners(projects, sessions);
  await repeatedly(false, () => migrateProjects(host.webUiDir, sessions));
  return readable(host);
}

/** By the files, since the index may lag; and by its rows, which a writer that was stopped may have left behind. */
async function sessionsIn(host: CommandHost, projectId: string): Promise<string[]> {
  const { rows } = await readIndex(sessionsDirOf(host));
  const found: string[] = [];
  for (const id of (await listSidecars(sessionsDirOf(host))).ids) {
    const isIn = (await readMetadata(sessionsDirOf(host), id).catch(unlessUnreadable))?.projectId === projectId;
    if (isIn || rows.get(id)?.project_id === projectId) found.push(id);
  }
  return found;
}

/** Null, or why it could not be done. A session that is read-only may leave its project too. */
async function takeOut(host: CommandHost, id: string): Promise<RefusalCode | null> {
  try {
    const request = { id, set: { project_id: null }, updatedAt: null, refuse: { readOnly: false, underWay: false } };
    await repeatedly(false, () => refusing(() => saveMetadata(sessionsDirOf(host), request, { now: host.now })));
    return null;
  } catch (error) {
    if (!(error instanceof WriteRefused)) throw error;
    // One that is gone is in no project.
    return error.code === 'SIDECAR_MISSING' ? null : error.code;
  }
}
