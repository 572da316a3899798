import { STRUCTURED_PREFIX } from '../state-db/content.ts';

/**
 * JSON text as the owning agent writes it (`spec/state-db-writes.md` V4): a space after commas and colons, ASCII only. A number with
 * a fraction of zero is written as an integer, since JavaScript doesn't tell the two apart.
 */
export function ownerJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(ownerJson).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([key, member]) => `${ownerJson(key)}: ${ownerJson(member)}`)
      .join(', ')}}`;
  }
  const text = JSON.stringify(value ?? null);
  return text.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Structured content: the sentinel and the parts (`spec/state-db.md` 4.2). */
export function structuredContent(parts: readonly unknown[]): string {
  return `${STRUCTURED_PREFIX}${ownerJson(parts)}`;
}

/**
 * JSON text as the Web UI writes it into its journals (`spec/live-turns.md` 3.2): compact, non-ASCII raw, and the words of its encoder
 * for numbers that JSON doesn't know. A number with a fraction of zero is written as an integer.
 */
export function compactJson(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
  if (Array.isArray(value)) return `[${value.map(compactJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}:${compactJson(member)}`)
    .join(',')}}`;
}
