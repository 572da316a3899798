/**
 * What a user changes of a session that the Web UI keeps in a file (`spec/webui-sidecars.md` 3.9, 6.2, 12.2; `spec/webui-listing.md` 12.5,
 * 13.5). Titles and toolsets move the session in lists, as in the Web UI; pins, projects and drafts do not.
 */
import { InvalidInput } from '../../errors.ts';
import { isJsonObject } from '../../state-db/decode.ts';
import { trimSpace } from '../../state-db/whitespace.ts';
import { WriteRefused } from '../../write-refused.ts';
import type { Fields } from './coercions.ts';
import type { EditRequest } from './edit-sidecar.ts';
import { type SavedSidecar, type SaveOptions, saveMetadata } from './save-sidecar.ts';

/** A member that is undefined stays as it is; null empties it. */
export interface SessionChanges {
  /** At most 80 characters are kept; blank is `Untitled`. */
  readonly title?: string | null;
  /** Who chose the title; default USER. */
  readonly titleBy?: 'USER' | 'PROGRAM';
  readonly pinned?: boolean;
  readonly archived?: boolean;
  /** Null takes the session out of its project. That the project exists and is of the session's profile is for the caller to see. */
  readonly projectId?: string | null;
  readonly personality?: string | null;
  readonly enabledToolsets?: readonly string[] | null;
  readonly composerDraft?: { readonly text?: string; readonly files?: readonly unknown[] };
}

export const LONGEST_TITLE = 80;
export const LONGEST_DRAFT = 50_000;
export const MOST_DRAFT_FILES = 50;
const UNTITLED = 'Untitled';
const AUTO_TITLES = new Set(['untitled', 'new chat']);
const MOST_TOOLSETS = 256;

type Draft = NonNullable<SessionChanges['composerDraft']>;
type Part = Pick<EditRequest, 'set'> & Partial<Pick<EditRequest, 'merge'>> & { readonly touches: boolean };

/** Makes the changes as one write. Throws as `saveMetadata`, and `InvalidInput` for what is over a limit. */
export async function updateSession(
  sessionsDir: string,
  id: string,
  changes: SessionChanges,
  options: SaveOptions = {},
): Promise<SavedSidecar> {
  const parts: Part[] = [];
  if (changes.title !== undefined) parts.push({ set: titleMembers(changes.title, changes.titleBy), touches: true });
  if (changes.pinned !== undefined) parts.push({ set: { pinned: changes.pinned }, touches: false });
  if (changes.archived !== undefined) parts.push({ set: { archived: changes.archived }, touches: false });
  if (changes.projectId !== undefined) parts.push({ set: { project_id: changes.projectId || null }, touches: false });
  if (changes.personality !== undefined) parts.push({ set: { personality: changes.personality || null }, touches: true });
  if (changes.enabledToolsets !== undefined) {
    parts.push({ set: { enabled_toolsets: checkedToolsets(changes.enabledToolsets) }, touches: true });
  }
  if (changes.composerDraft !== undefined) {
    parts.push({ set: {}, merge: { composer_draft: checkedDraft(changes.composerDraft) }, touches: false });
  }
  const request = {
    id,
    set: Object.assign({}, ...parts.map(({ set }) => set)) as EditRequest['set'],
    merge: Object.assign({}, ...parts.map(({ merge }) => merge ?? {})) as NonNullable<EditRequest['merge']>,
    updatedAt: parts.some(({ touches }) => touches) ? timeOf(options) : null,
    refuse: { readOnly: true, underWay: false },
  };
  return saveMetadata(sessionsDir, request, options);
}

/** What renaming writes: a title that is one of the automatic ones is no choice of the user's. */
export function titleMembers(title: string | null, by: 'USER' | 'PROGRAM' = 'USER'): EditRequest['set'] {
  const kept = [...trimSpace((title ?? '').toWellFormed())].slice(0, LONGEST_TITLE).join('') || UNTITLED;
  const isChosen = !AUTO_TITLES.has(kept.toLowerCase());
  return { title: kept, manual_title: isChosen && by === 'USER', llm_title_generated: isChosen && by === 'PROGRAM' };
}

/** Ends the pause of automatic turns, also one that is not in force any more. Unchanged when there is none (12.2). */
export async function clearWakeupPause(sessionsDir: string, id: string, options: SaveOptions = {}): Promise<SavedSidecar> {
  const request = { id, set: { process_wakeup_pause: {} }, updatedAt: null, refuse: { readOnly: true, underWay: false } };
  return saveMetadata(sessionsDir, request, options);
}

/**
 * Takes partial answers that repeat another out of the file, which keeps the old one as its backup (4.2). `isLive`: whether a turn is under
 * way, when the caller knows better than the marks in the file. Throws SESSION_BUSY then.
 */
export async function persistCollapsedPartials(
  sessionsDir: string,
  id: string,
  options: SaveOptions & { readonly isLive?: boolean } = {},
): Promise<SavedSidecar> {
  if (options.isLive === true) throw new WriteRefused('SESSION_BUSY');
  const refuse = { readOnly: true, underWay: options.isLive === undefined };
  return saveMetadata(sessionsDir, { id, set: {}, collapsePartials: true, updatedAt: null, refuse }, options);
}

/** Well-formed names, or null. Throws `InvalidInput` for too many. */
export function checkedToolsets(toolsets: readonly string[] | null): readonly string[] | null {
  if (toolsets === null) return null;
  if (toolsets.length > MOST_TOOLSETS) throw new InvalidInput(`At most ${MOST_TOOLSETS} toolsets.`, { limit: MOST_TOOLSETS });
  return toolsets.map((name) => name.toWellFormed());
}

function checkedDraft({ text, files }: Draft): Fields {
  if (text !== undefined && [...text].length > LONGEST_DRAFT) {
    throw new InvalidInput(`A draft has at most ${LONGEST_DRAFT} characters.`, { limit: LONGEST_DRAFT });
  }
  if (files !== undefined && files.length > MOST_DRAFT_FILES) {
    throw new InvalidInput(`A draft has at most ${MOST_DRAFT_FILES} files.`, { limit: MOST_DRAFT_FILES });
  }
  return {
    ...(text === undefined ? {} : { text: text.toWellFormed() }),
    ...(files === undefined ? {} : { files: files.map(wellFormed) }),
  };
}

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]));
}

function timeOf({ now }: SaveOptions): number {
  return now?.() ?? Date.now() / 1000;
}
