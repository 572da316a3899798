/**
 * Message content: plain text, or the NUL sentinel and JSON for structured parts (`spec/state-db.md` 4.2, 4.10, 5).
 */
import { isJsonObject, parseJson } from './decode.ts';

/** Structured content starts with these six characters; SQL string functions stop at the first of them. */
export const STRUCTURED_PREFIX = '\u0000json:';
export const MULTIMODAL_PLACEHOLDER = '[multimodal content]';

/** A string, or the parsed value of structured content: a list of parts as a rule, but any JSON value occurs. */
export type Content = string | null | readonly unknown[] | Readonly<Record<string, unknown>> | number | boolean;

export type ContentPart =
  | { readonly type: string; readonly kind: 'text'; readonly text: string }
  | {
      readonly type: string;
      readonly kind: 'image';
      readonly mediaType: string | null;
      readonly bytes: number | null;
      readonly url: string | null;
    }
  | { readonly type: string; readonly kind: 'other'; readonly json: unknown };

/** No prefix: the string itself. Prefix and valid JSON: the value. Prefix and anything else: the raw string, prefix included. */
export function decodeContent(stored: string | null): Content {
  if (stored === null || !stored.startsWith(STRUCTURED_PREFIX)) return stored;
  const value = parseJson(stored.slice(STRUCTURED_PREFIX.length));
  return value === undefined ? stored : (value as Content);
}

/** Upstream's flattening, used by search context and previews: texts of `text` parts joined by one space. */
export function flattenContent(content: Content): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const texts = content
    .filter((part) => isJsonObject(part) && part.type === 'text')
    .map((part) => String((part as Record<string, unknown>).text ?? ''));
  return texts.join(' ').trim() || MULTIMODAL_PLACEHOLDER;
}

const TEXT_TYPES = new Set(['text', 'input_text', 'output_text']);
const IMAGE_TYPES = new Set(['image_url', 'input_image', 'image']);

/** The parts of a message, in order; unknown shapes survive as `other`. */
export function contentParts(content: Content): ContentPart[] {
  if (content === null || content === '') return [];
  if (typeof content === 'string') return [{ type: 'text', kind: 'text', text: content }];
  if (Array.isArray(content)) return content.map(toPart);
  return [toPart(content)];
}

/** All text of a message, parts joined by line breaks (`contract.graphql`, `Message.text`). */
export function contentText(content: Content): string {
  if (typeof content === 'string') return content;
  const texts = contentParts(content).flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  return texts.join('\n');
}

function toPart(part: unknown): ContentPart {
  if (typeof part === 'string') return { type: 'text', kind: 'text', text: part };
  if (!isJsonObject(part)) return { type: 'other', kind: 'other', json: part };
  const type = typeof part.type === 'string' ? part.type : 'other';
  if (TEXT_TYPES.has(type) && typeof part.text === 'string') return { type, kind: 'text', text: part.text };
  if (IMAGE_TYPES.has(type)) return imagePart(type, part);
  return { type, kind: 'other', json: part };
}

const DATA_URL = /^data:([^;,]*)(;base64)?,/;

/** An image by its size and media type; a data URL stays where it is, it can be megabytes. */
function imagePart(type: string, part: Record<string, unknown>): ContentPart {
  const reference = part.image_url ?? part.url ?? part.source;
  const url = typeof reference === 'string' ? reference : isJsonObject(reference) ? stringOrNull(reference.url ?? reference.data) : null;
  if (url === null) return { type, kind: 'image', mediaType: null, bytes: null, url: null };
  const data = DATA_URL.exec(url);
  if (data === null) return { type, kind: 'image', mediaType: null, bytes: null, url };
  const payload = url.length - data[0].length;
  const padding = url.endsWith('==') ? 2 : url.endsWith('=') ? 1 : 0;
  const bytes = data[2] === undefined ? payload : Math.max(0, Math.floor((payload * 3) / 4) - padding);
  return { type, kind: 'image', mediaType: data[1] || null, bytes, url: null };
}

function stringOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
