/**
 * The content of a row: text, or behind a sentinel a list of parts that the front end can show (`spec/webui-transcript.md` 3.2, 3.3).
 * Whatever is not supported stays raw text, so that no row silently disappears.
 */
import { STRUCTURED_PREFIX } from '../../state-db/content.ts';
import { isJsonObject, parseJson, type SqlValue } from '../../state-db/decode.ts';
import { isBlank } from '../../state-db/whitespace.ts';

/** The reference reads no deeper JSON. */
const DEEPEST = 900;

export const IMAGE_TYPES: ReadonlySet<unknown> = new Set(['image', 'image_url', 'input_image']);

export type StoredContent = string | number | null | readonly Readonly<Record<string, unknown>>[];

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Bytes as UTF-8 text with replacement characters; everything else as it is. */
export function withoutBytes(value: SqlValue): string | number | null {
  if (value instanceof Uint8Array) return utf8.decode(value);
  return typeof value === 'bigint' ? Number(value) : value;
}

/** Decodes a cell; the raw text, sentinel included, when the rest is no supported list of parts. */
export function storedContent(value: SqlValue): StoredContent {
  const content = withoutBytes(value);
  if (typeof content !== 'string' || !content.startsWith(STRUCTURED_PREFIX)) return content;
  const json = content.slice(STRUCTURED_PREFIX.length);
  const parts = parseJson(json);
  return isPartList(parts) && isExact(parts, 0) ? parts : content;
}

function isPartList(value: unknown): value is Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value) || !value.every((part) => isJsonObject(part) && isPart(part))) return false;
  return value.some((part) => part.type === 'text' && isWord(part.text));
}

function isPart(part: Readonly<Record<string, unknown>>): boolean {
  switch (part.type) {
    case 'text':
      return typeof part.text === 'string';
    case 'image_url':
      return hasImageUrl(part);
    case 'input_image':
      return hasImageUrl(part) || isWord(part.file_id);
    case 'image':
      return isJsonObject(part.source) && isImageSource(part.source);
    default:
      return false;
  }
}

function hasImageUrl({ image_url: image }: Readonly<Record<string, unknown>>): boolean {
  return isWord(image) || (isJsonObject(image) && isWord(image.url));
}

function isImageSource({ type, data, media_type: mediaType, url }: Readonly<Record<string, unknown>>): boolean {
  if (type === 'url') return isWord(url);
  return type === 'base64' && typeof data === 'string' && data !== '' && typeof mediaType === 'string';
}

function isWord(value: unknown): value is string {
  return typeof value === 'string' && !isBlank(value);
}

/** Whether JSON came through whole: no number that overflowed or lost digits, no half of a surrogate pair, no depth that breaks readers. */
function isExact(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value === 'number') return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  if (typeof value !== 'object' || value === null) return true;
  if (depth > DEEPEST) return false;
  if (Array.isArray(value)) return value.every((item) => isExact(item, depth + 1));
  return Object.entries(value).every(([key, field]) => key.isWellFormed() && isExact(field, depth + 1));
}
