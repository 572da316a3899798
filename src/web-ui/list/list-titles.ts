/** Titles that are made, shown or recognised (`spec/webui-listing.md` 12). Lengths are code points. */
import { isJsonObject } from '../../state-db/decode.ts';
import { isBlank } from './list-row.ts';

export const UNTITLED = 'Untitled';
const LONGEST_DERIVED = 64;
const ATTACHMENTS = /\n\n\[Attached files: [^\]]+\]$/;

/** 12.1: a title from the first user message with text; the fallback when there is none. */
export function titleFromMessages(messages: readonly unknown[], fallback: string): string {
  for (const message of messages) {
    if (!isJsonObject(message) || message.role !== 'user') continue;
    const title = titleFromContent(message.content);
    if (title !== '') return title;
  }
  return fallback;
}

/** 12.1 for one message; empty when it gives no title. */
export function titleFromContent(content: unknown): string {
  return cutCodePoints(withoutAttachments(contentText(content)), LONGEST_DERIVED);
}

function contentText(content: unknown): string {
  if (content === null || content === undefined) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return typeof content === 'object' ? JSON.stringify(content) : String(content);
  const texts = content.flatMap((part) => (isJsonObject(part) && part.type === 'text' && typeof part.text === 'string' ? [part.text] : []));
  return texts.join(' ');
}

function withoutAttachments(text: string): string {
  return text.replace(ATTACHMENTS, '').trim();
}

/** Cuts between code points, never inside a surrogate pair. */
export function cutCodePoints(text: string, most: number): string {
  if (text.length <= most) return text;
  let length = 0;
  let end = 0;
  for (const character of text) {
    if (length++ === most) return text.slice(0, end);
    end += character.length;
  }
  return text;
}

export function collapseWhitespace(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}

/** 12.2: what to show. */
export function shownTitle(row: { readonly displayTitle: string | null; readonly title: string }): string {
  const text = row.displayTitle !== null && !isBlank(row.displayTitle) ? row.displayTitle : row.title;
  return withoutAttachments(text) || UNTITLED;
}

const GENERIC = /^Hermes WebUI(?: #\d+)?$/;

/** 12.4: the name that the Web UI gives its own sessions. */
export function isGenericTitle(title: string): boolean {
  return GENERIC.test(collapseWhitespace(title));
}

const RUN_STAMP = /^\d+(?:_\d+)*$/;

/** 12.3: the name of the job that an untitled cron row ran for: the longest known id that the row's id has before its run stamp. */
export function cronJobName(sessionId: string, jobNames: ReadonlyMap<string, string>): string | null {
  return namedJob(sessionId, jobNames)?.name ?? null;
}

function namedJob(sessionId: string, jobNames: ReadonlyMap<string, string>): { readonly id: string; readonly name: string } | null {
  const parts = sessionId.split('_');
  if (parts[0] !== 'cron') return null;
  for (let end = parts.length - 1; end > 1; end--) {
    const id = parts.slice(1, end).join('_');
    const name = jobNames.get(id);
    if (name !== undefined && RUN_STAMP.test(parts.slice(end).join('_'))) return isBlank(name) ? null : { id, name };
  }
  return null;
}
