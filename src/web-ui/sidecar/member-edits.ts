/**
 * Members of a JSON object replaced where they stand, every other byte as it is (`spec/webui-sidecars.md` 6, 15). Pure.
 */
import { isJsonObject } from '../../state-db/decode.ts';
import { keyOrder, orderedObject, parsePythonJson } from '../../state-db/write/python-json-value.ts';
import type { Member, TopLevelScan } from '../top-level-scan.ts';
import { type Fields, truthy } from './coercions.ts';
import { listElements, type Span } from './list-elements.ts';
import { sidecarJson } from './sidecar-json.ts';
import { COUNT_KEYS, SIDECAR_KEYS } from './sidecar-keys.ts';

/** A row of a list as it is to be written: one of the file, with members set or taken away, or a new one. */
export type ArrangedRow = { readonly from: number; readonly set: Fields; readonly unset: readonly string[] } | { readonly value: unknown };

interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Among those at one place the order of the keys. */
  readonly rank: number;
}

export class MemberEdits {
  readonly #bytes: Buffer;
  readonly #members = new Map<string, Member & { readonly end: number }>();
  readonly #replacements: Replacement[] = [];
  /** What was asked to change, also where the file says the same already. */
  readonly keys: string[] = [];

  constructor(bytes: Buffer, scan: TopLevelScan) {
    this.#bytes = bytes;
    for (const key of scan.keys()) {
      const member = scan.member(key);
      if (member !== null && member.end !== null) this.#members.set(key, { ...member, end: this.#endOfValue(member.start, member.end) });
    }
  }

  get isEmpty(): boolean {
    return this.#replacements.length === 0;
  }

  /** Nothing happens when the file says the same already. */
  put(key: string, value: unknown): void {
    this.keys.push(key);
    const member = this.#members.get(key);
    const text = sidecarJson(value, 1);
    if (member !== undefined) {
      if (sidecarJson(this.#valueOf(member), 1) !== text) {
        this.#replacements.push({ start: member.start, end: member.end, text, rank: 0 });
      }
    } else if (truthy(value) || COUNT_KEYS.some((count) => count === key)) this.#insert(key, text);
  }

  merge(key: string, fields: Fields): void {
    const member = this.#members.get(key);
    const old = member === undefined ? {} : this.#valueOf(member);
    const kept = isJsonObject(old) ? keyOrder(old).map((name) => [name, old[name]] as const) : [];
    this.put(key, orderedObject([...kept, ...Object.entries(fields)]));
  }

  /** Elements of a list, by their indexes. */
  dropElements(key: string, indexes: readonly number[]): void {
    const member = this.#members.get(key);
    if (member === undefined) return;
    const elements = listElements(this.#bytes, member.start);
    for (const index of indexes) {
      const [before, element] = [elements[index - 1], elements[index]];
      // What repeats another is never the first of its list.
      if (before !== undefined && element !== undefined)
        this.#replacements.push({ start: before.end, end: element.end, text: '', rank: 0 });
    }
  }

  /** The rows of a list, in their new order; those that stay as they are keep their bytes. */
  arrange(key: string, rows: readonly ArrangedRow[]): void {
    const member = this.#members.get(key);
    if (member === undefined || this.#bytes[member.start] !== OPENING_BRACKET) {
      this.put(
        key,
        rows.flatMap((row) => ('value' in row ? [row.value] : [])),
      );
      return;
    }
    this.keys.push(key);
    const elements = listElements(this.#bytes, member.start);
    const texts = rows.map((row) => ('value' in row ? sidecarJson(row.value, 2) : this.#rowText(elements[row.from], row)));
    const text = texts.length === 0 ? '[]' : `[\n    ${texts.join(',\n    ')}\n  ]`;
    this.#replacements.push({ start: member.start, end: member.end, text, rank: 0 });
  }

  apply(): Buffer {
    const parts: (Buffer | string)[] = [];
    let at = 0;
    for (const { start, end, text } of [...this.#replacements].sort((a, b) => a.start - b.start || a.end - b.end || a.rank - b.rank)) {
      parts.push(this.#bytes.subarray(at, start), text);
      at = end;
    }
    parts.push(this.#bytes.subarray(at));
    return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  }

  #rowText(element: Span | undefined, { set, unset }: Exclude<ArrangedRow, { readonly value: unknown }>): string {
    if (element === undefined) throw new Error('A row was arranged that the file does not have.');
    const text = this.#bytes.toString('utf8', element.start, element.end);
    if (unset.length === 0 && Object.keys(set).length === 0) return text;
    const old = parsePythonJson(text);
    const fields = isJsonObject(old) ? old : {};
    const kept = keyOrder(fields).filter((name) => !unset.includes(name));
    const added = Object.keys(set).filter((name) => !kept.includes(name));
    return sidecarJson(orderedObject([...kept, ...added].map((name) => [name, name in set ? set[name] : fields[name]] as const)), 2);
  }

  /** Before the first member that comes later in the owner's order, so that what reads only the beginning finds it. */
  #insert(key: string, text: string): void {
    const rank = SIDECAR_KEYS.indexOf(key);
    const inFile = [...this.#members].sort(([, a], [, b]) => a.keyStart - b.keyStart);
    const next = inFile.find(([name]) => SIDECAR_KEYS.indexOf(name) > rank)?.[1];
    const last = inFile.at(-1)?.[1];
    if (next !== undefined) this.#replacements.push({ start: next.keyStart, end: next.keyStart, text: `"${key}": ${text},\n  `, rank });
    else if (last !== undefined) this.#replacements.push({ start: last.end, end: last.end, text: `,\n  "${key}": ${text}`, rank });
  }

  #valueOf(member: Member & { readonly end: number }): unknown {
    return parsePythonJson(this.#bytes.toString('utf8', member.start, member.end));
  }

  #endOfValue(start: number, end: number): number {
    let at = end;
    while (at > start && BLANKS.has(this.#bytes[at - 1] ?? 0)) at -= 1;
    return at;
  }
}

const OPENING_BRACKET = 0x5b;
const BLANKS = new Set([0x20, 0x09, 0x0a, 0x0d]);
