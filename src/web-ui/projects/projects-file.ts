/**
 * The Web UI's projects, `projects.json` (`spec/webui-sidecars.md` 13, `spec/webui-listing.md` 13). A file that is no list is taken for
 * empty and never written over. Entries keep the members that this server doesn't know.
 */
import { randomUUID } from 'node:crypto';
import { readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { InvalidInput } from '../../errors.ts';
import { systemCode } from '../../live/journal/open-journal.ts';
import { ROOT_PROFILE } from '../../profiles.ts';
import { isJsonObject } from '../../state-db/decode.ts';
import { trimSpace } from '../../state-db/whitespace.ts';
import { IntegralFloat, parsePythonJson } from '../../state-db/write/python-json-value.ts';
import { WriteRefused } from '../../write-refused.ts';
import { createFile, type MayReplace, replaceFile } from '../replace-file.ts';
import { epochSeconds, type Fields, trimmedWord, word } from '../sidecar/coercions.ts';
import { asFloat } from '../sidecar/edit-sidecar.ts';
import { inOrder } from '../sidecar/session-queue.ts';
import { sidecarJson } from '../sidecar/sidecar-json.ts';

export interface Project {
  readonly id: string;
  readonly name: string;
  /** `#` and 3 to 8 hex digits. */
  readonly color: string | null;
  /** Null for an entry of older versions, which names none: see `ownerOfLegacy`. */
  readonly profile: string | null;
  /** Epoch seconds. */
  readonly createdAt: number | null;
  readonly system: SystemProject | null;
}

export type SystemProject = 'CRON' | 'WEBHOOK';

export interface ProjectsReading {
  /** UNREADABLE: no list, or the system refuses; there may be projects that nobody sees. */
  readonly status: 'OK' | 'MISSING' | 'UNREADABLE';
  readonly projects: readonly Project[];
}

export interface ProjectInput {
  readonly name: string;
  readonly color?: string | null;
  /** 12 hex digits; default: new ones. */
  readonly id?: string;
}

export const LONGEST_PROJECT_NAME = 128;
export const SYSTEM_PROJECTS: Readonly<Record<SystemProject, { readonly name: string; readonly color: string }>> = {
  CRON: { name: 'Cron Jobs', color: '#6366f1' },
  WEBHOOK: { name: 'Webhooks', color: '#0ea5e9' },
};
const FILE = 'projects.json';
const COLOR = /^#[0-9a-fA-F]{3,8}$/;
const ID_DIGITS = 12;

/** `stateDir` is the Web UI's folder, which holds `sessions`. Throws nothing for what is wrong with the file. */
export async function readProjects(stateDir: string): Promise<ProjectsReading> {
  const { status, entries } = await readEntries(stateDir);
  return { status, projects: entries.flatMap(projectOf) };
}

/** Whether two profiles are the same: null, '' and `default` all name the root (13). */
export function isSameProfile(a: string | null, b: string | null): boolean {
  return (a || ROOT_PROFILE) === (b || ROOT_PROFILE);
}

/** Whom a project without an owner belongs to: the first session of it that has a profile, in the order of the index (13.2). */
export function ownerOfLegacy(
  projectId: string,
  sessions: Iterable<{ readonly projectId: string | null; readonly profile: string | null }>,
): string {
  for (const session of sessions) if (session.projectId === projectId && session.profile) return session.profile;
  return ROOT_PROFILE;
}

/** The projects with an owner each, as they will be once they are migrated (13.2). `sessions`: in the order of the index. */
export function withOwners(
  projects: readonly Project[],
  sessions: readonly { readonly projectId: string | null; readonly profile: string | null }[],
): Project[] {
  return projects.map((project) => (project.profile === null ? { ...project, profile: ownerOfLegacy(project.id, sessions) } : project));
}

/** Throws `InvalidInput`, `WriteRefused` (PROJECTS_UNREADABLE, CONFLICT, and those of `replaceFile`). `now` in epoch seconds. */
export async function createProject(
  stateDir: string,
  input: ProjectInput & { readonly profile: string | null },
  now = Date.now() / 1000,
): Promise<Project> {
  const entry = newEntry(checkedName(input.name), checkedColor(input.color ?? null), input.profile, now, input.id);
  return changeEntries(stateDir, (entries) => [[...entries, entry], projectIn(entry)]);
}

/** Only for the owner: to others it is NOT_FOUND. Without a colour the old one stays. Throws as `createProject`. */
export async function renameProject(stateDir: string, id: string, input: ProjectInput, profile: string | null): Promise<Project> {
  const name = checkedName(input.name);
  const color = input.color === undefined ? {} : { color: checkedColor(input.color) };
  return changeEntries(stateDir, (entries) => {
    const changed = { ...ownEntry(entries, id, profile), name, ...color };
    return [entries.map((entry) => (entry.project_id === id ? changed : entry)), projectIn(changed)];
  });
}

/** Gives what was deleted; its sessions are for the caller to take out of it. Throws as `renameProject`. */
export async function deleteProject(stateDir: string, id: string, profile: string | null): Promise<Project> {
  return changeEntries(stateDir, (entries) => {
    const gone = ownEntry(entries, id, profile);
    return [entries.filter((entry) => entry !== gone), projectIn(gone)];
  });
}

/** The profile's system project, when it has one (13.3): an entry of that name without an owner is taken for it. */
export function findSystemProject(projects: readonly Project[], system: SystemProject, profile: string | null): Project | null {
  const named = projects.filter(({ name }) => name === SYSTEM_PROJECTS[system].name);
  return (
    named.find((project) => project.profile !== null && isSameProfile(project.profile, profile)) ??
    named.find((p) => p.profile === null) ??
    null
  );
}

/** What it takes to have it: nothing, an owner for the one that is there, or a new one; NONE: cron gets none where the profile has no project of its own. */
export function systemProjectNeeds(
  projects: readonly Project[],
  system: SystemProject,
  profile: string | null,
): 'NOTHING' | 'OWNER' | 'NEW' | 'NONE' {
  const found = findSystemProject(projects, system, profile);
  if (found !== null) return found.profile === null ? 'OWNER' : 'NOTHING';
  const hasOwn = projects.some((p) => p.system === null && p.profile !== null && isSameProfile(p.profile, profile));
  return system === 'CRON' && !hasOwn ? 'NONE' : 'NEW';
}

/** Finds or makes it; null where there is to be none (13.3). Throws as `createProject`. */
export async function ensureSystemProject(
  stateDir: string,
  system: SystemProject,
  profile: string | null,
  now = Date.now() / 1000,
): Promise<Project | null> {
  const { projects } = await readProjects(stateDir);
  const needs = systemProjectNeeds(projects, system, profile);
  if (needs === 'NONE') return null;
  if (needs === 'NOTHING') return findSystemProject(projects, system, profile);
  const { name, color } = SYSTEM_PROJECTS[system];
  return changeEntries(stateDir, (entries) => {
    const present = findSystemProject(entries.flatMap(projectOf), system, profile);
    if (present === null) {
      const entry = newEntry(name, color, profile, now);
      return [[...entries, entry], projectIn(entry)];
    }
    const tagged = entries.map((entry) => (entry.project_id === present.id ? { ...entry, profile: profile || ROOT_PROFILE } : entry));
    return [tagged, { ...present, profile: present.profile ?? (profile || ROOT_PROFILE) }];
  });
}

/** Writes an owner into every entry that has none; how many there were (13.2). Throws as `createProject`. */
export async function migrateProjects(
  stateDir: string,
  sessions: readonly { readonly projectId: string | null; readonly profile: string | null }[],
): Promise<number> {
  const { projects } = await readProjects(stateDir);
  const legacy = projects.filter(({ profile }) => profile === null).length;
  if (legacy === 0) return 0;
  return changeEntries(stateDir, (entries) => [
    entries.map((entry) => {
      const [project] = projectOf(entry);
      return project === undefined || project.profile !== null ? entry : { ...entry, profile: ownerOfLegacy(project.id, sessions) };
    }),
    legacy,
  ]);
}

/** An id that no project has yet, as the Web UI makes them. */
export function newProjectId(): string {
  return randomUUID().replaceAll('-', '').slice(0, ID_DIGITS);
}

function newEntry(name: string, color: string | null, profile: string | null, now: number, id = newProjectId()): Fields {
  return { project_id: id, name, color, profile: profile || ROOT_PROFILE, created_at: asFloat(now) };
}

function checkedName(name: string): string {
  const trimmed = trimSpace(name.toWellFormed());
  if (trimmed === '') throw new InvalidInput('A project needs a name.');
  return [...trimmed].slice(0, LONGEST_PROJECT_NAME).join('');
}

function checkedColor(color: string | null): string | null {
  if (color !== null && !COLOR.test(color)) throw new InvalidInput('A colour is # and 3 to 8 hex digits.');
  return color;
}

function ownEntry(entries: readonly Fields[], id: string, profile: string | null): Fields {
  const own = entries.find((entry) => entry.project_id === id && isSameProfile(word(entry.profile), profile));
  if (own === undefined) throw new WriteRefused('NOT_FOUND', 'There is no such project in this profile.');
  return own;
}

function projectIn(entry: Fields): Project {
  const [project] = projectOf(entry);
  if (project === undefined) throw new Error('A project lost its id.');
  return project;
}

function projectOf(entry: Fields): Project[] {
  const id = trimmedWord(entry.project_id);
  if (id === null) return [];
  const name = trimmedWord(entry.name) ?? '';
  const createdAt = entry.created_at instanceof IntegralFloat ? entry.created_at.value : entry.created_at;
  const color = typeof entry.color === 'string' && COLOR.test(entry.color) ? entry.color : null;
  return [{ id, name, color, profile: word(entry.profile), createdAt: epochSeconds(createdAt), system: systemOf(name) }];
}

function systemOf(name: string): SystemProject | null {
  if (name === SYSTEM_PROJECTS.CRON.name) return 'CRON';
  return name === SYSTEM_PROJECTS.WEBHOOK.name ? 'WEBHOOK' : null;
}

interface Entries {
  readonly status: ProjectsReading['status'];
  readonly entries: readonly Fields[];
  readonly mayReplace: MayReplace;
}

async function readEntries(stateDir: string): Promise<Entries> {
  const path = join(stateDir, FILE);
  try {
    const before = await stat(path, { bigint: true });
    const value = parsePythonJson(await readFile(path, 'utf8'));
    const mayReplace: MayReplace = (now) =>
      now !== null && now.mtimeNs === before.mtimeNs && now.size === before.size && now.ino === before.ino;
    if (!Array.isArray(value) || !value.every(isJsonObject)) return { status: 'UNREADABLE', entries: [], mayReplace };
    return { status: 'OK', entries: value, mayReplace };
  } catch (error) {
    const code = systemCode(error);
    if (code === null) throw error;
    return { status: code === 'ENOENT' || code === 'ENOTDIR' ? 'MISSING' : 'UNREADABLE', entries: [], mayReplace: () => false };
  }
}

async function changeEntries<T>(stateDir: string, change: (entries: readonly Fields[]) => [readonly Fields[], T]): Promise<T> {
  const path = join(await realpath(stateDir), FILE);
  return inOrder(path, async () => {
    const { status, entries, mayReplace } = await readEntries(stateDir);
    if (status === 'UNREADABLE') throw new WriteRefused('PROJECTS_UNREADABLE');
    const [changed, result] = change(entries);
    const text = sidecarJson(changed);
    if (status === 'MISSING') await createFile(path, text);
    else await replaceFile(path, text, { mayReplace });
    return result;
  });
}
